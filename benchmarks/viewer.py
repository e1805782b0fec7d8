"""Measure the page of ``zarr view`` in a headless Chromium: the first picture, and frames while a pyramid is panned.

    python benchmarks/viewer.py [--side 20000] [--rounds 3] [--screenshot FILE]

It makes a pyramid of ``side`` x ``side`` elements in a temporary folder, serves it, and opens the page. The first
picture is there when all tiles on the screen are drawn. Then the page itself drags the picture for three seconds, a
step for each frame, over tiles that it has not read yet, and counts the frames. Needs the page (``bash ci/viewer.sh``),
playwright and a Chromium on the path.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import zarr
from zarr.serving import make_view_app
from zarr.serving.server import Server

DRAG = """async ({ seconds, step }) => {
    const canvas = document.querySelector('.map canvas');
    const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
        pointerId: 1, clientX: canvas.getBoundingClientRect().x + x, clientY: canvas.getBoundingClientRect().y + y,
    }));
    canvas.setPointerCapture = () => {};
    const frames = [];
    let [x, y] = [600, 300];
    send('pointerdown', x, y);
    const begin = performance.now();
    while (performance.now() - begin < seconds * 1000) {
        x -= step; y -= step / 3;
        send('pointermove', x, y);
        await new Promise(requestAnimationFrame);
        frames.push(performance.now());
    }
    send('pointerup', x, y);
    const gaps = frames.slice(1).map((time, frame) => time - frames[frame]).sort((a, b) => a - b);
    return { frames: frames.length / seconds, slowest: gaps[Math.floor(gaps.length * 0.95)] };
}"""


def make_pyramid(folder: Path, side: int) -> Path:
    """Store waves and noise of 16 bits, and their pyramid."""
    source = zarr.create_array(folder / "source", shape=(side, side), chunks=(512, 512), dtype="u2",
                               dimension_names=("y", "x"))  # fmt: skip
    random = np.random.default_rng(0)
    columns = np.sin(np.arange(side) / 900)
    for row in range(0, side, 512):
        rows = np.cos(np.arange(row, min(side, row + 512)) / 700)
        noise = random.integers(0, 40, (len(rows), side), dtype="u2")
        source[row : row + 512] = (np.add.outer(rows, columns) * 9000 + 20000).astype("u2") + noise
    zarr.tools.coarsen(source, folder / "pyramid", progress=False, memory="1 GiB")
    return folder / "pyramid"


def first_picture(browser: Any, url: str) -> tuple[Any, float]:
    """Return a page that shows the pyramid, and the seconds until its first picture was whole."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    begin = time.perf_counter()
    page.goto(f"{url}/view/#node=")
    page.wait_for_selector("canvas[data-waiting='0']")
    return page, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--side", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--screenshot", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as runner:
        pyramid = make_pyramid(Path(folder), options.side)
        browser = runner.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with Server(make_view_app(pyramid)) as url:
            for number in range(options.rounds):
                page, seconds = first_picture(browser, url)
                print(f"round {number + 1}: first picture after {seconds:.2f} s")
                for zoom in (0.1, 1):
                    middle = options.side / 2
                    page.goto(f"{url}/view/#node=&zoom={zoom}&row={middle}&column={middle - 4000}")
                    page.reload()
                    page.wait_for_selector("canvas[data-waiting='0']")
                    told = page.evaluate(DRAG, {"seconds": 3, "step": 8})
                    print(f"  zoom {zoom}: {told['frames']:.0f} frames a second, 95 % of the gaps below "
                          f"{told['slowest']:.0f} ms")  # fmt: skip
                if options.screenshot:
                    page.screenshot(path=options.screenshot)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
