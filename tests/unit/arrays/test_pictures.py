"""Pictures hold the values, places and chunks that NumPy has; matplotlib draws them."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.arrays.show.pictures import choose_shown, parse_items
from zarr.storage import MemoryStore

matplotlib: Any = pytest.importorskip("matplotlib", reason="pictures need the extra plot")
matplotlib.use("Agg")
from matplotlib import dates, pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    pyplot.close("all")


def drawn(ax: Any) -> None:
    """Draw, so that what matplotlib refuses is noticed."""
    ax.figure.canvas.draw()


def image_of(ax: Any) -> Any:
    (image,) = ax.images
    return np.ma.filled(image.get_array().astype(float), np.nan)


def test_a_line() -> None:
    values = np.random.default_rng(0).normal(size=100)
    array = zarr.array(values, chunks=(30,))
    ax = array.plot(color="red")
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_ydata(), values)
    np.testing.assert_array_equal(line.get_xdata(), np.arange(100))
    ax = zarr.tools.plot(array, slice(20, 60, 3))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(20, 60, 3))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), values[20:60:3])
    assert ax.get_xlabel() == "dimension 0"
    drawn(ax)


@pytest.mark.parametrize("dtype", ["i2", "u1", "f2", "f4", ">f8", "bool"])
def test_an_image(dtype: str) -> None:
    values = np.arange(12).reshape(3, 4).astype(dtype)
    _, given = pyplot.subplots()
    ax = zarr.array(values).plot(ax=given)
    assert ax is given
    np.testing.assert_array_equal(image_of(ax), values)
    assert ax.images[0].get_extent() == [-0.5, 3.5, 2.5, -0.5]
    assert len(ax.figure.axes) == 2  # the colour bar
    drawn(ax)


def test_the_middle_of_other_dimensions() -> None:
    values = np.arange(5 * 6 * 7 * 8).reshape(5, 6, 7, 8)
    array = zarr.create_array({}, data=values, dimension_names=("t", "z", "y", "x"))
    ax = array.plot()
    np.testing.assert_array_equal(image_of(ax), values[2, 3])
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("t = 2, z = 3", "x", "y")
    np.testing.assert_array_equal(image_of(array.plot((0, ..., slice(2, 5)))), values[0, 3, :, 2:5])
    np.testing.assert_array_equal(image_of(array.plot((slice(None), -1, 2))), values[:, -1, 2])
    np.testing.assert_array_equal(array.plot((1, 2, 3)).lines[0].get_ydata(), values[1, 2, 3])


def dataset(zarr_format: Any = 3) -> zarr.Group:
    """A forecast whose packed temperatures have coordinates beside them."""
    root = zarr.create_group(MemoryStore(), path="model/run", zarr_format=zarr_format)

    def put(name: str, values: Any, names: tuple[str, ...], **attributes: Any) -> None:
        options: dict[str, Any] = {"dimension_names": names}
        if zarr_format == 2:
            options, attributes = {"fill_value": None}, {**attributes, "_ARRAY_DIMENSIONS": list(names)}
        root.create_array(name, data=values, attributes=attributes, **options)

    packed = np.arange(-2, 22, dtype="i2").reshape(2, 3, 4)
    put(
        "t2m",
        packed,
        ("time", "lat", "lon"),
        scale_factor=0.5,
        add_offset=270,
        _FillValue=3,
        units="K",
        long_name="heat",
    )
    put("time", np.array([0, 12]), ("time",), units="hours since 2020-02-28 18:00:00", calendar="standard")
    put("lat", np.array([60.0, 50.0, 40.0]), ("lat",), units="degrees_north")
    put("lon", np.array([0, 1, 2, 4], "f4"), ("lon",), units="degrees_east")
    return root


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_and_coordinates(zarr_format: int) -> None:
    root = dataset(zarr_format)
    expected = np.arange(-2, 22, dtype="f8").reshape(2, 3, 4) * 0.5 + 270
    expected[0, 1, 1] = np.nan
    ax = root["t2m"].plot((slice(None), slice(None), 1))
    np.testing.assert_array_equal(image_of(ax), expected[:, :, 1])
    times = dates.date2num(np.array(["2020-02-28T18", "2020-02-29T06"], "M8[ns]"))
    assert ax.images[0].get_extent() == pytest.approx([65, 35, times[0] - 0.25, times[1] + 0.25])
    assert (ax.get_xlim(), ax.get_xlabel(), ax.get_ylabel()) == ((35, 65), "lat [degrees_north]", "time")
    assert ax.get_title() == "model/run/t2m, lon = 1"
    assert ax.figure.axes[1].get_ylabel() == "heat [K]"
    drawn(ax)
    ax = root["t2m"].plot((1, 0))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 1, 2, 4])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), expected[1, 0])
    assert ax.get_title() == "model/run/t2m, time = 2020-02-29T06:00:00, lat = 60"
    assert ax.get_ylabel() == "heat [K]"
    ax = root["time"].plot()
    np.testing.assert_array_equal(
        ax.lines[0].get_ydata(orig=True), np.array(["2020-02-28T18", "2020-02-29T06"], "M8[ns]")
    )
    drawn(ax)


def test_uneven_coordinates() -> None:
    root = dataset()
    ax = root["t2m"].plot(1)
    assert not ax.images
    mesh = ax.collections[0]
    np.testing.assert_array_equal(
        np.ma.getdata(mesh.get_array()).reshape(3, 4), np.arange(10, 22).reshape(3, 4) * 0.5 + 270
    )
    corners = mesh.get_coordinates()
    np.testing.assert_array_equal(corners[0, :, 0], [-0.5, 0.5, 1.5, 3, 5])
    drawn(ax)


def test_arrays_that_are_no_coordinates() -> None:
    root = zarr.create_group({})
    root.create_array("v", data=np.arange(12.0).reshape(3, 4), dimension_names=("short", "text"))
    root.create_array("short", data=np.arange(2))
    root.create_array("text", data=np.array(["a", "b", "c", "d"]))
    ax = root["v"].plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("text", "short")
    assert ax.images[0].get_extent() == [-0.5, 3.5, 2.5, -0.5]
    root.create_array("gap", data=np.array([1, np.nan, 3]))
    root.create_array("u", data=np.arange(3), dimension_names=("gap",))
    np.testing.assert_array_equal(root["u"].plot().lines[0].get_xdata(), [0, 1, 2])
    root.create_array("w", data=np.arange(3), dimension_names=("../v",))
    assert root["w"].plot().get_xlabel() == "../v"


@pytest.mark.parametrize(
    ("attributes", "missing"),
    [
        ({"_FillValue": -9}, [0]),
        ({"missing_value": [-9, 5]}, [0, 2]),
        ({"_FillValue": base64.b64encode(struct.pack("<d", -9.0)).decode()}, [0]),
        ({"_FillValue": "not a number"}, []),
        ({"_FillValue": None}, []),
        ({}, []),
    ],
)
def test_missing_values(attributes: dict[str, Any], missing: list[int]) -> None:
    values = np.array([-9, 4, 5, 6])
    array = zarr.create_array({}, data=values, attributes=attributes)
    expected = values.astype("f8")
    expected[missing] = np.nan
    np.testing.assert_array_equal(array.plot().lines[0].get_ydata(), expected)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ("days since 1970-1-1", "1970-01-03"),
        ("seconds since 2000-01-01T12:00:00Z", "2000-01-01T12:00:02"),
        ("minutes since 1999-12-31 23:59:00.0 UTC", "2000-01-01T00:01"),
        ("days since the flood", None),
        ("days since 2000-01-01 +05:00", None),
        ("metres", None),
    ],
)
def test_dates(units: str, expected: str | None) -> None:
    from zarr.arrays.show.cf import decode

    array = zarr.create_array({}, data=np.array([2]), attributes={"units": units})
    found = decode(array, array[...])
    assert found[0] == (2 if expected is None else np.datetime64(expected))
    other = zarr.create_array({}, data=np.array([2]), attributes={"units": units, "calendar": "360_day"})
    assert decode(other, other[...])[0] == 2


@pytest.mark.parametrize(
    ("units", "calendar", "number", "expected"),
    [
        ("days since 1800-1-1", "standard", 70_000, "1991-08-28"),
        ("days since 1850-01-01", "standard", 91_250, "2099-11-01"),
        ("hours since 1-1-1 00:00:0.0", "gregorian", 17_522_904, "2000-01-01"),
        ("hours since 1-1-1 00:00:0.0", "proleptic_gregorian", 17_522_904, "2000-01-03"),
        ("days since 0001-01-01", "standard", 1, None),
        ("days since 1850-01-01", "noleap", 365 * 140 + 58, "1990-02-28"),
        ("days since 1850-01-01", "noleap", 365 * 146 + 59, "1996-03-01"),
        ("days since 1996-03-01 12:00", "365_day", 365, "1997-03-01T12:00"),
        ("days since 0000-01-01", "noleap", 730_000, "2000-01-01"),
    ],
)
def test_dates_of_calendars(units: str, calendar: str, number: int, expected: str | None) -> None:
    from zarr.arrays.show.cf import decode

    array = zarr.create_array({}, data=np.array([number]), attributes={"units": units, "calendar": calendar})
    assert decode(array, array[...])[0] == (number if expected is None else np.datetime64(expected))


def test_large_arrays_are_read_in_steps() -> None:
    shown = choose_shown((3, 20_000, 30_000), None)
    assert shown.items == (1, range(0, 20_000, 16), range(0, 30_000, 16))
    assert choose_shown((10_000_001,), None).items == (range(0, 10_000_001, 4),)
    assert choose_shown((2, 10**9), None).items[0] == range(2)
    values = np.arange(100 * 200).reshape(100, 200)
    ax = zarr.array(values).plot(max_elements=5000)
    np.testing.assert_array_equal(image_of(ax), values[::2, ::2])
    assert ax.images[0].get_extent() == [-1, 199, 99, -1]


def test_selections_are_those_of_numpy() -> None:
    values = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    for selection in (
        None,
        ...,
        1,
        -1,
        slice(1, 3),
        (slice(None, None, 2), ..., -2),
        (0, slice(-3, None)),
        (..., slice(9, 99)),
    ):
        items = parse_items(values.shape, selection)
        ours = values[tuple(i if isinstance(i, int) else slice(i.start, i.stop, i.step) for i in items)]
        np.testing.assert_array_equal(ours, values if selection is None else values[selection])


def test_what_cannot_be_shown() -> None:
    array = zarr.create_array({}, shape=(4, 4), dtype="i4")
    for selection, kind in (
        ((0, 0), ValueError), (slice(2, 2), ValueError), (slice(None, None, -1), ValueError), (4, IndexError),
        ((0, 0, 0), IndexError), ([0, 1], TypeError), ("a", IndexError),
    ):  # fmt: skip
        with pytest.raises(kind):
            array.plot(selection)
    for dtype in ("c8", "U4", [("a", "i4")], "M8[s]"):
        with pytest.raises(TypeError, match="cannot be drawn"):
            zarr.create_array({}, shape=(2, 2), dtype=np.dtype(dtype)).plot()
    assert not pyplot.get_fignums()


# ------------------------------------------------------------------------------------------- chunks


def boxes(ax: Any, label: str) -> set[tuple[float, ...]]:
    """Return (left, right, top, bottom) of each polygon of a label."""
    found = [collection for collection in ax.collections if collection.get_label() == label]
    return {
        (path.vertices[:, 0].min(), path.vertices[:, 0].max(), path.vertices[:, 1].min(), path.vertices[:, 1].max())
        for collection in found
        for path in collection.get_paths()
    }


def test_chunks() -> None:
    array = zarr.create_array({}, shape=(10, 9), chunks=(5, 4), dtype="i4", dimension_names=("y", "x"))
    array[6:, :5] = 1
    ax = zarr.plot_chunks(array, (slice(3, 6), 4))
    assert boxes(ax, "stored") == {(0, 4, 5, 10), (4, 8, 5, 10)}
    assert boxes(ax, "not stored") == {(0, 4, 0, 5), (4, 8, 0, 5), (8, 9, 0, 5), (8, 9, 5, 10)}
    assert boxes(ax, "read") == {(4, 8, 0, 5), (4, 8, 5, 10)}
    assert ax.get_title() == "reads 2 of 6 chunks; 2 of 6 are stored"
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xlim(), ax.get_ylim()) == ("x", "y", (0, 9), (10, 0))
    assert zarr.plot_chunks(array).get_title() == "2 of 6 chunks are stored"
    drawn(ax)


def test_shards_and_other_dimensions() -> None:
    array = zarr.create_array({}, shape=(6, 8, 8), chunks=(1, 2, 2), shards=(3, 4, 4), dtype="i4")
    array[5, 0, 7] = 1
    ax = zarr.plot_chunks(array, (slice(3, None), slice(0, 8, 7), slice(0, 3)))
    assert boxes(ax, "stored") == {(4, 8, 0, 4)}
    assert len(boxes(ax, "not stored")) == 3
    assert len(boxes(ax, "chunks")) == 16
    assert boxes(ax, "read") == {(x, x + 2, y, y + 2) for x in (0, 2) for y in (0, 6)}
    assert ax.get_title() == "reads 12 of 96 chunks; 1 of 8 shards are stored"
    assert boxes(zarr.plot_chunks(array, 0), "stored") == set()


def test_one_dimension_and_rectilinear_chunks(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, shape=(10,), chunks=[[2, 5, 3]], dtype="i4")
    array[8] = 1
    ax = zarr.plot_chunks(array, slice(1, 4))
    assert boxes(ax, "stored") == {(7, 10, 0, 1)}
    assert boxes(ax, "read") == {(0, 2, 0, 1), (2, 7, 0, 1)}
    drawn(ax)


def test_random_selections_read_the_chunks_that_a_store_is_asked_for() -> None:
    random = np.random.default_rng(3)
    for _ in range(30):
        shape, chunks = random.integers(1, 30, 2), random.integers(1, 9, 2)
        array = zarr.create_array({}, shape=tuple(map(int, shape)), chunks=tuple(map(int, chunks)), dtype="i4")
        start, step = random.integers(0, shape), random.integers(1, 9, 2)
        selection = tuple(slice(int(a), None, int(s)) for a, s in zip(start, step))
        array[selection] = 1
        ax = zarr.plot_chunks(array, selection)
        assert boxes(ax, "read") == boxes(ax, "stored") != set()
        pyplot.close("all")


def test_chunks_that_cannot_be_shown() -> None:
    for shape, chunks in (((), ()), ((0, 4), (1, 4)), ((1000, 1000), (2, 2))):
        with pytest.raises(ValueError, match="chunk"):
            zarr.plot_chunks(zarr.create_array({}, shape=shape, chunks=chunks, dtype="i1"))
    with pytest.raises(IndexError):
        zarr.plot_chunks(zarr.create_array({}, shape=(4,), dtype="i1"), 9)


def test_the_fill_value_of_xarray_in_format_2_is_missing() -> None:
    values = np.array([-1, 2, 3])
    options: dict[str, Any] = {"data": values, "fill_value": -1, "zarr_format": 2}
    written = zarr.create_array({}, attributes={"_ARRAY_DIMENSIONS": ["x"]}, **options)
    np.testing.assert_array_equal(written.plot().lines[0].get_ydata(), [np.nan, 2, 3])
    np.testing.assert_array_equal(zarr.create_array({}, **options).plot().lines[0].get_ydata(), values)


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "tools" / "plots.md"
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(page), "exec"), names)
    assert (tmp_path / "line.png").stat().st_size > 5000
