"""The page of ``zarr view`` in a browser: what it draws is compared with the values, pixel by pixel.

They need the page (``bash ci/viewer.sh``), playwright and a Chromium on the path.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import zarr

playwright = pytest.importorskip("playwright.sync_api", reason="the tests in a browser need playwright")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
image = pytest.importorskip("PIL.Image", reason="the tests in a browser need pillow")

from zarr.serving import make_view_app  # noqa: E402
from zarr.serving.server import Server, serve  # noqa: E402
from zarr.serving.viewer import PAGE  # noqa: E402
from zarr.storage import FsspecStore, LocalStore, ZipStore  # noqa: E402
from zarr.storage.path import StorePath  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path"),
    pytest.mark.skipif(not (PAGE / "index.html").exists(), reason="the page has not been built: bash ci/viewer.sh"),
]
GRAY = "colors=gray&low=0&high=256"
Y, X = np.mgrid[0:300, 0:400]
VALUES = ((Y * 3 + X * 7) % 256).astype("u1")
WAVE = np.round(np.sin(np.arange(1000) / 50), 3).astype("f8")
VIRIDIS = "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as runner:
        found = runner.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def fill(root: zarr.Group) -> None:
    """Make one array of each kind that the page shows in its own way."""
    names = ("y", "x")
    root.create_array("plane", data=VALUES, chunks=(64, 100), dimension_names=names, attributes={"units": "m"})
    root.create_array("stack", data=np.stack([VALUES, 255 - VALUES]), chunks=(1, 64, 100), shards=(1, 128, 200))
    root.create_array("color", data=np.stack([VALUES, 255 - VALUES, VALUES // 2], -1), chunks=(100, 100, 3))
    root.create_array("wave", data=WAVE, chunks=(100,), dimension_names=("time",), attributes={"units": "mV"})
    root.create_array("days", data=np.array(["2020-01-01", "2021-05-06"], dtype="M8[D]"))
    root.create_array("records", data=np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f4")]))
    root.create_group("inner/deep")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "data.zarr"
    root = zarr.open_group(path, mode="w")
    fill(root)
    zarr.tools.coarsen(root["plane"], path / "pyramid", method="nearest")
    return path


class Page:
    """A page of the browser that shows a node."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.page = browser.new_page(viewport={"width": 1000, "height": 900}, **options)
        self.told: list[str] = []
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on(
            "console",
            lambda said: said.type == "error" and "Failed to load" not in said.text and self.told.append(said.text),
        )
        self.url = url

    def show(self, state: str) -> None:
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}/view/#{state}")
        self.settle()
        assert self.told == []

    def settle(self) -> None:
        """Wait until all that is on the screen has been read and drawn."""
        self.page.wait_for_timeout(100)
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_selector("canvas[data-waiting='0'], .scroll, dl")
        if self.page.query_selector(".map canvas"):
            self.page.wait_for_selector("canvas[data-waiting='0']")

    def state(self) -> dict[str, str]:
        return {name: value[0] for name, value in parse_qs(urlsplit(self.page.url).fragment).items()}

    def pixels(self) -> np.ndarray[Any, Any]:
        """Return the colours of the picture, as the canvas holds them."""
        text = self.page.evaluate("document.querySelector('.map canvas').toDataURL('image/png').split(',')[1]")
        return np.asarray(image.open(io.BytesIO(base64.b64decode(text))))

    def at(self, row: int, column: int) -> tuple[int, ...]:
        """Return the colour of the middle of an element of the finest level."""
        pixels, state = self.pixels(), self.state()
        zoom = float(state["zoom"])
        y = (row + 0.5 - float(state["row"])) * zoom + pixels.shape[0] / 2
        x = (column + 0.5 - float(state["column"])) * zoom + pixels.shape[1] / 2
        return tuple(pixels[int(y), int(x)].tolist())


@contextmanager
def shown(browser: Any, place: Any, **options: Any) -> Iterator[Page]:
    """Open a page on data; at the end its screenshot is kept, where ``ZARR_SCREENSHOTS`` names a folder."""
    with Server(make_view_app(place)) as url:
        found = Page(browser, url, **options)
        yield found
        if keep := os.environ.get("ZARR_SCREENSHOTS"):
            name = re.sub(r"[^\w-]+", "_", os.environ["PYTEST_CURRENT_TEST"].split("::")[-1].split(" (")[0])
            found.page.screenshot(path=Path(keep) / f"{name}.png")
        found.page.close()


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Page]:
    with shown(browser, folder) as found:
        yield found


def check_values(page: Page, values: np.ndarray[Any, Any], factor: int = 1) -> None:
    """Compare some places of the picture with the values, which are drawn as shades of grey."""
    for row, column in ((150, 200), (149, 201), (160, 190), (140, 215)):
        value = int(values[row // factor, column // factor])
        assert page.at(row, column) == (value, value, value, 255), (row, column)


def test_the_tree_lists_all_nodes_and_a_choice_shows_one(page: Page) -> None:
    page.show("node=")
    names = [text.split()[0] for text in page.page.locator("#tree button.node").all_inner_texts()]
    assert names == ["/", "color", "days", "inner", "plane", "pyramid", "records", "stack", "wave"]
    page.page.get_by_role("button", name="inner group").click()
    page.page.wait_for_timeout(300)
    assert "deep" in page.page.locator("#tree").inner_text()
    page.page.locator("#tree button.node", has_text="plane").click()
    page.settle()
    assert page.state()["node"] == "plane"
    assert "300 × 400 uint8" in page.page.locator("#page").inner_text()


@pytest.mark.parametrize("zoom", [1, 8])
def test_pixels_are_the_colours_of_the_values(page: Page, zoom: int) -> None:
    page.show(f"node=plane&{GRAY}&zoom={zoom}&row=150&column=200")
    check_values(page, VALUES)


def test_another_index_along_a_third_axis(page: Page) -> None:
    page.show(f"node=stack&{GRAY}&at=1,0,0&zoom=4&row=150&column=200")
    check_values(page, 255 - VALUES)
    page.page.locator("input[type=range]").fill("0")
    page.settle()
    check_values(page, VALUES)


def test_axes_may_be_exchanged(page: Page) -> None:
    page.show(f"node=plane&{GRAY}&rows=1&columns=0&zoom=4&row=200&column=150")
    for row, column in ((200, 150), (205, 140)):
        value = int(VALUES[column, row])
        assert page.at(row, column)[:3] == (value, value, value)


def test_red_green_and_blue(page: Page) -> None:
    page.show("node=color&zoom=4&row=150&column=200")
    for row, column in ((150, 200), (155, 190)):
        value = int(VALUES[row, column])
        assert page.at(row, column) == (value, 255 - value, value // 2, 255)


def test_a_pyramid_shows_the_level_that_suits_the_screen(page: Page) -> None:
    page.show(f"node=pyramid&{GRAY}&zoom=0.5&row=150&column=200")
    check_values(page, VALUES[::2, ::2], 2)
    page.show(f"node=pyramid&{GRAY}&zoom=2&row=150&column=200")
    check_values(page, VALUES)


def test_the_keyboard_pans_and_zooms(page: Page) -> None:
    page.show(f"node=plane&{GRAY}&zoom=2&row=150&column=200")
    canvas = page.page.locator(".map canvas")
    canvas.focus()
    for key in ("ArrowRight", "ArrowDown", "+"):
        canvas.press(key)
    state = page.state()
    assert float(state["zoom"]) == 4
    assert float(state["column"]) > 200
    assert float(state["row"]) > 150
    page.settle()
    row, column = int(float(state["row"])), int(float(state["column"]))
    value = int(VALUES[row, column])
    assert page.at(row, column)[:3] == (value, value, value)


def test_the_value_under_the_pointer(page: Page) -> None:
    page.show(f"node=plane&{GRAY}&zoom=2&row=150&column=200")
    box = page.page.locator(".map canvas").bounding_box()
    page.page.mouse.move(box["x"] + box["width"] / 2 + 1, box["y"] + box["height"] / 2 + 1)
    assert page.page.locator("output.status").inner_text() == f"y 150, x 200: {VALUES[150, 200]} m"


@pytest.mark.parametrize(("node", "text"), [("days", "2021-05-06"), ("records", "4.5")])
def test_dates_and_structures_are_tables(page: Page, node: str, text: str) -> None:
    page.show(f"node={node}")
    assert text in page.page.locator("table").inner_text()


def test_a_group_lists_what_lies_below(page: Page) -> None:
    page.show("node=")
    table = page.page.locator("table.members")
    rows = [row.split("\t") for row in table.inner_text().splitlines() if "plane" in row]
    assert [cell.strip() for cell in rows[0]] == ["plane", "300 × 400 uint8", "117.2 KiB", "m"]
    table.get_by_role("button", name="plane").click()
    page.settle()
    assert page.state()["node"] == "plane"


def test_a_line_tells_its_values(page: Page) -> None:
    page.show("node=wave")
    canvas = page.page.locator("canvas.series")
    page.page.wait_for_selector("table")  # it comes after the line
    canvas.focus()
    for _ in range(4):
        canvas.press("ArrowRight")
    assert page.page.locator("output.status").inner_text() == f"time 3: {WAVE[3]} mV"
    box = canvas.bounding_box()
    page.page.mouse.move(box["x"] + box["width"] - 11, box["y"] + 50)
    assert page.page.locator("output.status").inner_text() == f"time 999: {WAVE[999]} mV"


def test_dark_pages_are_dark(browser: Any, folder: Path) -> None:
    with shown(browser, folder, color_scheme="dark") as page:
        page.show("node=plane")
        red, green, blue = map(
            int, re.findall(r"\d+", page.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        )
        assert max(red, green, blue) < 64


def test_a_phone_is_wide_enough(browser: Any, folder: Path) -> None:
    with Server(make_view_app(folder)) as url:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        for node in ("plane", "stack", "wave", "records", ""):
            page.goto(f"{url}/view/#node={node}")
            page.reload()
            page.wait_for_selector("dl")
            assert page.evaluate("document.documentElement.scrollWidth") == 390, node
        page.close()


@pytest.mark.parametrize("kind", ["format 2", "zip", "remote"])
def test_other_stores(browser: Any, tmp_path: Path, kind: str) -> None:
    if kind == "zip":
        with ZipStore(tmp_path / "data.zip", mode="w") as store:
            fill(zarr.create_group(store))
        place = StorePath(ZipStore(tmp_path / "data.zip", read_only=True))
    else:
        root = zarr.open_group(tmp_path / "data.zarr", mode="w", zarr_format=2 if kind == "format 2" else 3)
        root.create_array("plane", data=VALUES, chunks=(64, 100), order="F" if kind == "format 2" else None)
        zarr.consolidate_metadata(root.store)
        place = StorePath(LocalStore(tmp_path / "data.zarr", read_only=True))
    if kind == "remote":
        pytest.importorskip("aiohttp")
        with serve(place) as far, Server(make_view_app(FsspecStore.from_url(far, read_only=True))) as url:
            look_at_plane(Page(browser, url))
        return
    with Server(make_view_app(place)) as url:
        look_at_plane(Page(browser, url))


def look_at_plane(page: Page) -> None:
    page.show(f"node=plane&{GRAY}&zoom=2&row=150&column=200")
    check_values(page, VALUES)
    page.page.close()


def color_of(value: float, low: float, high: float) -> tuple[int, ...]:
    """Return the colour of a value in the first colour map of the page."""
    anchors = np.array([[int(text[part : part + 2], 16) for part in (0, 2, 4)] for text in VIRIDIS.split()])
    step = min(255, int((value - low) / (high - low) * 256))
    return tuple(int(np.interp(step / 255 * 9, np.arange(10), anchors[:, part]) + 0.5) for part in range(3))


@pytest.fixture(scope="module")
def demo_stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the stores that ``ci/demo.sh`` makes of measured grids."""
    pytest.importorskip("sklearn", reason="the demo's photograph comes with scikit-learn")
    pytest.importorskip("matplotlib")
    path = Path(__file__).parents[2] / "ci" / "demo.py"
    spec = importlib.util.spec_from_file_location("demo", path)
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = demo  # its dataclass looks for its module
    spec.loader.exec_module(demo)
    folder = tmp_path_factory.mktemp("demo")
    data = demo.read_inputs()
    demo.write_v3(folder / "grids_v3.zarr", data, demo.Log())
    demo.write_v2(folder / "grids_v2.zarr", data, demo.Log())
    return folder


def check_colors(page: Page, level: Any, factor: int) -> None:
    """Compare colours on the screen with those of the values of a level, between 236 and 1076 metres."""
    values = level[...]
    for row, column in ((10, 12), (20, 25), (33, 41), (5, 40)):
        expected = color_of(float(values[row, column]), 236, 1076)
        got = page.at(row * factor + factor // 2, column * factor + factor // 2)[:3]
        assert got == expected, (row, column)


def test_the_terrain_of_the_demo(browser: Any, demo_stores: Path) -> None:
    """The tree, the pyramid at each of its levels, panning by the mouse and zooming by the wheel."""
    root = zarr.open_group(demo_stores / "grids_v3.zarr", mode="r")
    with shown(browser, demo_stores / "grids_v3.zarr") as page:
        page.show("node=terrain&low=236&high=1076")
        names = [text.split()[0] for text in page.page.locator("#tree button.node").all_inner_texts()]
        assert names == ["/", "bathymetry", "photograph", "stations", "terrain"]
        for number, zoom in enumerate((1, 0.5, 0.25, 0.125)):
            page.show(f"node=terrain&low=236&high=1076&zoom={zoom}&row=172&column=200")
            check_colors(page, root[f"terrain/{number}"], 2**number)
        page.show("node=terrain&low=236&high=1076&zoom=1&row=172&column=200")
        box = page.page.locator(".map canvas").bounding_box()
        page.page.mouse.move(box["x"] + 300, box["y"] + 200)
        page.page.mouse.down()
        page.page.mouse.move(box["x"] + 240, box["y"] + 220, steps=6)
        page.page.mouse.up()
        assert (float(page.state()["column"]), float(page.state()["row"])) == (260, 152)
        page.page.mouse.wheel(0, -300)
        page.settle()
        assert float(page.state()["zoom"]) == 2
        check_colors(page, root["terrain/0"], 1)


def test_the_older_format_of_the_demo(browser: Any, demo_stores: Path) -> None:
    root = zarr.open_group(demo_stores / "grids_v2.zarr", mode="r")
    with shown(browser, demo_stores / "grids_v2.zarr") as page:
        page.show("node=terrain&low=236&high=1076&zoom=4&row=20&column=30")
        check_colors(page, root["terrain"], 1)
        page.show("node=photograph&zoom=4&row=200&column=300")
        assert page.at(201, 303)[:3] == tuple(root["photograph"][201, 303].tolist())
