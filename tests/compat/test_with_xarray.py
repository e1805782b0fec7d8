"""A user's work with xarray, as its pages on Zarr describe it: write, append, fill regions, open lazily, trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.storage import LocalStore, MemoryStore

xr = pytest.importorskip("xarray", reason="xarray is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

TIMES = pd.date_range("2024-01-01", periods=12, freq="D")


def dataset(start: int = 0, stop: int = 12) -> Any:
    """Temperatures with a gap, counts, and coordinates in time and space."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(12, 4, 6))
    values[3, 1:, 2] = np.nan
    counts = rng.integers(0, 99, (12, 4, 6), dtype="i4")
    coordinates = {"time": TIMES, "y": np.arange(4) * 0.5, "x": np.arange(6)}
    axes = ("time", "y", "x")
    whole = xr.Dataset(
        {"t": (axes, values, {"units": "K"}), "n": (axes, counts)}, coordinates, attrs={"title": "weather"}
    )
    return whole.isel(time=slice(start, stop))


@pytest.fixture(params=["path", "memory", "zip", "fsspec"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "path":
        return str(tmp_path / "a.zarr")
    if request.param == "memory":
        return MemoryStore()
    if request.param == "zip":
        return f"{tmp_path}/a.zip"
    pytest.importorskip("fsspec")
    return f"memory://{tmp_path}"


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("consolidated", [True, False])
def test_write_and_open(store: Any, zarr_format: int, consolidated: bool) -> None:
    expected = dataset()
    expected.to_zarr(store, zarr_format=zarr_format, consolidated=consolidated)
    for options in ({"consolidated": consolidated}, {"chunks": None}):
        with xr.open_zarr(store, **options) as found:
            xr.testing.assert_identical(found.load(), expected)
    with xr.open_dataset(store, engine="zarr", consolidated=consolidated) as lazy:
        part = lazy.t.isel(time=[7, 2, 2], x=slice(None, None, -2)).sel(y=0.5)
        xr.testing.assert_equal(part.load(), expected.t.isel(time=[7, 2, 2], x=slice(None, None, -2)).sel(y=0.5))


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("consolidated", [True, False])
def test_append_along_time(tmp_path: Path, zarr_format: int, consolidated: bool) -> None:
    store = tmp_path / "a.zarr"
    dataset(0, 5).to_zarr(store, zarr_format=zarr_format, consolidated=consolidated)
    for start in (5, 10):
        dataset(start, min(start + 5, 12)).to_zarr(store, append_dim="time", consolidated=consolidated)
    xr.testing.assert_identical(xr.open_zarr(store, consolidated=consolidated).load(), dataset())


def test_modes(tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    dataset().to_zarr(store, mode="w-", consolidated=False)
    with pytest.raises(FileExistsError):
        dataset().to_zarr(store, mode="w-", consolidated=False)
    dataset()[["t"]].rename(t="u").to_zarr(store, mode="a", consolidated=False)
    assert sorted(xr.open_zarr(store, consolidated=False).data_vars) == ["n", "t", "u"]
    with pytest.raises(ValueError, match="append"):
        dataset(0, 3).to_zarr(store, append_dim="nowhere", consolidated=False)
    (dataset()[["t"]] * 2).drop_vars(["time", "y", "x"]).to_zarr(store, mode="r+", consolidated=False)
    xr.testing.assert_equal(xr.open_zarr(store, consolidated=False).t.load(), dataset().t * 2)
    dataset(0, 2).to_zarr(store, mode="w", consolidated=False)
    assert xr.open_zarr(store, consolidated=False).sizes["time"] == 2
    with pytest.raises(FileNotFoundError):
        xr.open_zarr(tmp_path / "typo.zarr", consolidated=False)
    assert not (tmp_path / "typo.zarr").exists()


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("named", ["auto", "explicit"])
def test_regions_of_a_template(tmp_path: Path, zarr_format: int, named: str) -> None:
    pytest.importorskip("dask")
    store, whole = tmp_path / "a.zarr", dataset()
    waiting = whole.chunk(time=4).to_zarr(store, zarr_format=zarr_format, compute=False)
    assert waiting is not None
    assert zarr.open_group(store, mode="r")["t"].shape == whole.t.shape  # type: ignore[union-attr]
    for start in (8, 0, 4):
        piece = dataset(start, start + 4)
        if named == "auto":
            piece.to_zarr(store, region="auto", mode="r+")
        else:
            piece.drop_vars(["y", "x"]).to_zarr(store, region={"time": slice(start, start + 4)}, mode="r+")
    xr.testing.assert_identical(xr.open_zarr(store).load(), whole)


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_lazily_with_dask(tmp_path: Path, zarr_format: int, scheduler: str) -> None:
    dask = pytest.importorskip("dask")
    store, whole = tmp_path / "a.zarr", dataset()
    with dask.config.set(scheduler=scheduler):
        whole.chunk(time=5, x=3).to_zarr(store, zarr_format=zarr_format)
        found = xr.open_zarr(store)
        assert found.t.chunks == ((5, 5, 2), (4,), (3, 3))
        xr.testing.assert_allclose(found.t.mean("time").compute(), whole.t.mean("time"))
        auto = xr.open_dataset(store, engine="zarr", chunks="auto")
        xr.testing.assert_identical(auto.compute(), whole)
        delayed = (found + 1).to_zarr(tmp_path / "b.zarr", compute=False, zarr_format=zarr_format)
        delayed.compute()
        xr.testing.assert_equal(xr.open_zarr(tmp_path / "b.zarr").compute(), whole + 1)


def test_sharded_encoding(tmp_path: Path) -> None:
    codec = zarr.codecs.BloscCodec(cname="zstd", clevel=3)
    encoding = {"t": {"chunks": (2, 2, 3), "shards": (4, 4, 6), "compressors": [codec]}}
    dataset().to_zarr(tmp_path / "a.zarr", encoding=encoding, zarr_format=3, consolidated=False)
    array: Any = zarr.open_array(tmp_path / "a.zarr", path="t", mode="r")
    assert (array.shards, array.chunks) == ((4, 4, 6), (2, 2, 3))
    assert array.compressors[0].cname == codec.cname
    found = xr.open_zarr(tmp_path / "a.zarr", consolidated=False)
    assert found.t.encoding["shards"] == (4, 4, 6)
    xr.testing.assert_identical(found.load(), dataset())


def test_encodings_of_format_2(tmp_path: Path) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    encoding = {
        "t": {"compressors": numcodecs.Zstd(level=2), "filters": [numcodecs.Delta("f8")]},
        "n": {"compressors": None, "chunks": (6, 4, 6)},
    }
    dataset().fillna(0).to_zarr(tmp_path / "a.zarr", encoding=encoding, zarr_format=2, consolidated=True)
    array: Any = zarr.open_group(tmp_path / "a.zarr", mode="r")["t"]
    assert array.filters[0].codec_id == "delta"
    xr.testing.assert_allclose(xr.open_zarr(tmp_path / "a.zarr").load(), dataset().fillna(0))


def test_missing_data_and_scales(tmp_path: Path, zarr_format: int) -> None:
    packed = {"t": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 1.0, "_FillValue": -9999}}
    dataset().to_zarr(tmp_path / "a.zarr", encoding=packed, zarr_format=zarr_format, consolidated=False)
    found = xr.open_zarr(tmp_path / "a.zarr", consolidated=False).load()
    np.testing.assert_array_equal(np.isnan(found.t), np.isnan(dataset().t))
    np.testing.assert_allclose(found.t, dataset().t, atol=0.006)
    raw = xr.open_zarr(tmp_path / "a.zarr", consolidated=False, mask_and_scale=False)
    assert raw.t.dtype == "int16"
    assert int(raw.t[3, 1, 2]) == -9999


def kinds() -> Any:
    when = np.array(["2024-01-01T06", "NaT", "1999-12-31T23"], "datetime64[ns]")
    return xr.Dataset(
        {
            "name": ("i", np.array(["a", "łódź", ""], dtype=object)),
            "fixed": ("i", np.array(["ab", "c", "def"])),
            "when": ("i", when),
            "lag": ("i", np.array([1, 5, -3], "timedelta64[s]").astype("timedelta64[ns]")),
            "flag": ("i", np.array([True, False, True])),
            "wave": ("i", np.array([1 + 2j, 0, -1j])),
            "kind": ("i", pd.Categorical(["x", "y", "x"]).codes, {"categories": ["x", "y"]}),
            "single": ((), 7.5),
            "none": ("z", np.zeros(0, "f4")),
        }
    )


@pytest.mark.filterwarnings("ignore:The data type")
@pytest.mark.filterwarnings("ignore:Numcodecs codecs")
def test_variables_of_many_kinds(store: Any, zarr_format: int) -> None:
    expected = kinds()
    expected.to_zarr(store, zarr_format=zarr_format, consolidated=False)
    found = xr.open_zarr(store, consolidated=False, decode_timedelta=True).load()
    assert list(found.name.values) == list(expected.name.values)
    assert list(found.fixed.values) == list(expected.fixed.values)
    for name in ("when", "lag", "flag", "wave", "kind", "single", "none"):
        xr.testing.assert_equal(found[name], expected[name])
    assert found.kind.attrs["categories"] == ["x", "y"]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("consolidated", [True, False])
def test_trees(store: Any, zarr_format: int, consolidated: bool) -> None:
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"a": 1}), "/fine": dataset(), "/coarse/late": dataset(8)})
    tree.to_zarr(store, zarr_format=zarr_format, consolidated=consolidated)
    found = xr.open_datatree(store, engine="zarr", consolidated=consolidated)
    xr.testing.assert_identical(found.load(), tree)
    groups = xr.open_groups(store, engine="zarr", consolidated=consolidated)
    assert {"/", "/fine", "/coarse", "/coarse/late"} <= set(groups)
    one = xr.open_zarr(store, group="coarse/late", consolidated=False).load()
    xr.testing.assert_identical(one, dataset(8))


def test_groups_beside_one_another(tmp_path: Path, zarr_format: int) -> None:
    store = LocalStore(tmp_path / "a.zarr")
    for name in ("first", "second/deep"):
        dataset().to_zarr(store, group=name, mode="a", zarr_format=zarr_format, consolidated=False)
    assert sorted(zarr.open_group(store, mode="r").group_keys()) == ["first", "second"]
    for name in ("first", "second/deep"):
        xr.testing.assert_identical(xr.open_zarr(store, group=name, consolidated=False).load(), dataset())


async def test_loading_in_a_running_loop(tmp_path: Path, zarr_format: int) -> None:
    dataset().to_zarr(tmp_path / "a.zarr", zarr_format=zarr_format, consolidated=False)
    found = xr.open_zarr(tmp_path / "a.zarr", consolidated=False, chunks=None)
    if not hasattr(found, "load_async"):
        pytest.skip("this xarray loads in no loop")
    xr.testing.assert_identical(await found.load_async(), dataset())


def test_an_array_without_a_name_is_stored(tmp_path: Path) -> None:
    """Its name begins with two underscores, which format 3 reserves: such nodes are made and read all the same."""
    xr.DataArray([1, 2, 3]).to_zarr(tmp_path / "a.zarr", zarr_format=3)
    assert list(zarr.open_group(tmp_path / "a.zarr", mode="r").array_keys()) == ["__xarray_dataarray_variable__"]
