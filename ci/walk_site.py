"""Walk all pages of the built site in a headless Chromium: ``python ci/walk_site.py [--keep FOLDER]``.

Each page must have one heading, no error in the console, only links and anchors that lead somewhere, and pictures that
load and have an alternative text. On a phone no page may be wider than the screen. ``--keep`` stores a screenshot of
each page, on a wide screen and, of the dark ones, on a phone. Needs playwright and a Chromium on the path; without one
of them it says so and ends well.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

SITE = Path(__file__).resolve().parents[1] / ".docs"
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LOOK_AT_PAGE = """() => ({
    headings: [...document.querySelectorAll('h1')].map(each => each.innerText.trim()),
    anchors: [...document.querySelectorAll('[id]')].map(each => each.id),
    links: [...document.querySelectorAll('a[href]')].map(each => each.href),
    pictures: [...document.querySelectorAll('article img')].map(each => [each.src, each.alt, each.naturalWidth]),
})"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class QuietServer(http.server.ThreadingHTTPServer):
    """A server that says nothing where the browser leaves a page before all of it is there."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print errors but those of closed connections."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Walk:
    """One walk over the site.

    Parameters
    ----------
    browser
        A browser of playwright.
    root : str
        The address of the site, with a slash at its end.
    keep : Path, optional
        Where screenshots are stored.
    """

    def __init__(self, browser: Any, root: str, keep: Path | None) -> None:
        self.root, self.keep = root, keep
        self.wide = browser.new_context(viewport=WIDE, color_scheme="light")
        self.phone = browser.new_context(viewport=PHONE, color_scheme="dark")
        self.anchors: dict[str, set[str]] = {}
        self.links: dict[str, list[str]] = {}
        self.faults: list[str] = []

    def visit(self, path: str) -> None:
        """Look at a page on a wide and on a narrow screen."""
        page = self.wide.new_page()
        page.on(
            "console", lambda said: said.type in ("error", "warning") and self.faults.append(f"{path}: {said.text}")
        )
        page.on("pageerror", lambda error: self.faults.append(f"{path}: {error}"))
        page.on("requestfailed", lambda request: self.faults.append(f"{path}: {request.url} was not loaded"))
        page.goto(self.root + path, wait_until="load")
        found = page.evaluate(LOOK_AT_PAGE)
        if len(found["headings"]) != 1 or not found["headings"][0]:
            self.faults.append(f"{path}: the headings are {found['headings']}, one is expected")
        for source, text, width in found["pictures"]:
            if not width or len(text) < 20:
                self.faults.append(f"{path}: {source} is {width} pixels wide, its text is {text!r}")
        self.anchors[self.root + path] = set(found["anchors"])
        self.links[path] = found["links"]
        self.screenshot(page, path, "wide")
        page.close()
        self.visit_by_phone(path)

    def visit_by_phone(self, path: str) -> None:
        """Look at a page on a narrow screen."""
        page = self.phone.new_page()
        page.goto(self.root + path, wait_until="load")
        if wider := page.evaluate(TOO_WIDE):
            self.faults.append(f"{path}: {wider} pixels wider than a phone")
        self.screenshot(page, path, "phone")
        page.close()

    def screenshot(self, page: Any, path: str, kind: str) -> None:
        """Keep what a page looks like."""
        if self.keep is not None:
            name = path.strip("/").replace("/", "_") or "home"
            page.screenshot(path=self.keep / f"{name}_{kind}.png")

    def dead_links(self) -> Iterator[str]:
        """Yield the links of the site that lead nowhere."""
        for path, links in self.links.items():
            for link in links:
                address, anchor = urldefrag(urljoin(self.root + path, link))
                if not address.startswith(self.root):
                    continue
                there = self.anchors.get(address)
                is_file = (SITE / unquote(address.removeprefix(self.root))).is_file()
                if (there is None and not is_file) or (anchor and there is not None and unquote(anchor) not in there):
                    yield f"{path}: the link to {link} is dead"


def pages() -> list[str]:
    """Return the paths of all pages of the site."""
    found = sorted(SITE.rglob("index.html"))
    return [str(each.parent.relative_to(SITE)) + "/" if each.parent != SITE else "" for each in found]


def main(arguments: list[str]) -> int:
    """Walk, print what is wrong, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--keep", type=Path, help="a folder for screenshots")
    keep = parser.parse_args(arguments).keep
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("walk: skipped, it needs playwright and a Chromium")
        return 0
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    server = QuietServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        walk = Walk(browser, f"http://127.0.0.1:{server.server_port}/", keep)
        for path in pages():
            walk.visit(path)
        browser.close()
    server.shutdown()
    faults = [*walk.faults, *walk.dead_links()]
    print(*faults, sep="\n", end="\n" if faults else "")
    links = sum(len(each) for each in walk.links.values())
    print(f"walk: {len(walk.links)} pages, {links} links, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
