"""Programs read what is served: this library by fsspec and obstore, xarray; other layouts are shown as format 3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.serving import Format2Store, serve
from zarr.storage import LocalStore, MemoryStore, ObjectStore, ZipStore

from .client import ask

VALUES = np.random.default_rng(0).normal(size=(50, 40)).astype("f4")


def fill(store: Any, **layout: Any) -> zarr.Group:
    root = zarr.create_group(store, attributes={"title": "served"}, zarr_format=layout.pop("zarr_format", 3))
    root.create_array("temp", data=VALUES, chunks=(10, 20), **layout)
    root.create_group("more").create_array("scale", data=np.arange(5), chunks=(2,))
    return root


@pytest.mark.parametrize("layout", [{}, {"shards": (20, 40)}, {"zarr_format": 2}], ids=["plain", "sharded", "v2"])
def test_by_fsspec(tmp_path: Path, layout: dict[str, Any]) -> None:
    pytest.importorskip("aiohttp", reason="aiohttp, which fsspec needs for the web, is not installed")
    fill(tmp_path, **layout)
    with serve(tmp_path) as url:
        root = zarr.open_group(url, mode="r")
        assert sorted(root) == ["more", "temp"]
        assert sorted(name for name, _ in root.members(None)) == ["more", "more/scale", "temp"]
        np.testing.assert_array_equal(root["temp"][...], VALUES)
        np.testing.assert_array_equal(root["temp"][11:33:3, 7], VALUES[11:33:3, 7])
        assert zarr.tools.checksum(url) == zarr.tools.checksum(tmp_path)


@pytest.mark.parametrize("layout", [{}, {"shards": (20, 40)}], ids=["plain", "sharded"])
def test_by_obstore(tmp_path: Path, layout: dict[str, Any]) -> None:
    stores = pytest.importorskip("obstore.store")
    with ZipStore(tmp_path / "x.zip", mode="w") as archive:
        fill(archive, **layout)
    with serve(tmp_path / "x.zip") as url:
        remote = ObjectStore(stores.HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)
        np.testing.assert_array_equal(zarr.open_array(remote, path="temp", mode="r")[...], VALUES)
        np.testing.assert_array_equal(zarr.open_array(remote, path="temp", mode="r")[11:13, ::7], VALUES[11:13, ::7])


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_by_xarray(tmp_path: Path, zarr_format: Any, consolidated: bool) -> None:
    """Also format 2 shown as format 3, where names of dimensions must become those of format 3."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("aiohttp")
    dataset = xarray.Dataset(
        {"t": (("time", "x"), VALUES, {"units": "K"})}, coords={"x": np.linspace(0, 1, 40)}, attrs={"title": "a"}
    )
    dataset.to_zarr(tmp_path, zarr_format=zarr_format, consolidated=consolidated)
    with serve(tmp_path, show_as="v3") as url:
        assert (zarr.open_group(url, mode="r").metadata.consolidated_metadata is not None) == consolidated
        with xarray.open_zarr(url, consolidated=consolidated, chunks=None) as found:
            xarray.testing.assert_identical(found.load(), dataset)
    with serve(tmp_path) as url, xarray.open_zarr(url, consolidated=consolidated, chunks=None) as found:
        xarray.testing.assert_identical(found.load(), dataset)


@pytest.mark.parametrize("options", [{}, {"order": "F"}, {"compressors": None}, {"fill_value": None}], ids=str)
@pytest.mark.parametrize("dtype", ["i4", ">f8", "U5", "M8[s]", "bool"])
def test_format_2_as_format_3(options: dict[str, Any], dtype: str) -> None:
    memory = MemoryStore()
    old = zarr.create_group(memory, path="in/here", zarr_format=2, attributes={"title": "served"})
    data = np.arange(24).reshape(4, 6).astype(dtype)
    old.create_array("a/x", shape=data.shape, dtype=data.dtype, chunks=(3, 4), **options)[...] = data
    shown = zarr.open_group(Format2Store(memory, "in/here"), mode="r")
    assert shown.metadata.zarr_format == shown["a/x"].metadata.zarr_format == 3
    assert dict(shown.attrs) == {"title": "served"}
    assert [name for name, _ in shown.members(None)] == ["a", "a/x"]
    np.testing.assert_array_equal(shown["a/x"][...], data)
    assert sorted(Format2Store(memory, "in/here").list_prefix_sync("a/")) == sorted(
        ["a/zarr.json", "a/x/zarr.json", *(f"a/x/{i}.{j}" for i in range(2) for j in range(2))]
    )


def test_n5_as_format_3(tmp_path: Path) -> None:
    (tmp_path / "d" / "0").mkdir(parents=True)
    (tmp_path / "attributes.json").write_text('{"n5": "2.0.0"}')
    described = {"dimensions": [3, 2], "blockSize": [3, 2], "dataType": "uint8", "compression": {"type": "raw"}}
    (tmp_path / "d" / "attributes.json").write_text(json.dumps(described))
    (tmp_path / "d" / "0" / "0").write_bytes(bytes.fromhex("0000 0002 00000003 00000002") + bytes(range(6)))
    pytest.importorskip("aiohttp")
    with serve(tmp_path, show_as="v3") as url:
        assert json.loads(ask(url, "/d/zarr.json").body)["shape"] == [2, 3]
        np.testing.assert_array_equal(zarr.open_array(f"{url}/d", mode="r")[...], [[0, 1, 2], [3, 4, 5]])
    with serve(tmp_path) as url:
        assert ask(url, "/d/zarr.json").status == 404
        assert ask(url, "/d/attributes.json").headers["content-type"] == "application/json"


def test_what_cannot_be_shown_in_format_3_says_so(tmp_path: Path) -> None:
    zarr.create_array(tmp_path, shape=(4,), dtype="i4", zarr_format=2)
    document = json.loads((tmp_path / ".zarray").read_text())
    (tmp_path / ".zarray").write_text(json.dumps({**document, "compressor": {"id": "no such"}}))
    with serve(tmp_path, show_as="v3") as url:
        answer = ask(url, "/zarr.json")
        assert answer.status == 422
        assert b"no such" in answer.body


@pytest.mark.parametrize(
    ("dtype", "why"), [([("a", ">i2"), ("b", "<i2")], b"byte orders"), ([("a", "<i2", (2, 3))], b"shape (2, 3)")]
)
def test_records_that_format_3_does_not_have_are_not_shown(dtype: Any, why: bytes) -> None:
    array = zarr.create_array({}, shape=(4,), dtype=np.dtype(dtype), zarr_format=2)
    with serve(array.store, show_as="v3") as url:
        answer = ask(url, "/zarr.json")
        assert (answer.status, why in answer.body) == (422, True)


def test_a_part_of_a_store() -> None:
    memory = MemoryStore()
    fill(memory)
    with serve(memory, path="more") as url:
        assert json.loads(ask(url, "/", Accept="application/json").body) == {
            "path": "", "folders": ["scale"], "keys": ["zarr.json"],
        }  # fmt: skip
        np.testing.assert_array_equal(np.frombuffer(ask(url, "/scale/zarr.json").body[:1], "u1"), [ord("{")])
        assert ask(url, "/temp/zarr.json").status == 404


def test_web_pages_may_read(tmp_path: Path) -> None:
    fill(LocalStore(tmp_path))
    with serve(tmp_path) as url:
        answer = ask(url, "/zarr.json", Origin="https://viewer.example")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "ETag" in answer.headers["access-control-expose-headers"]
        asked = {"Access_Control_Request_Method": "GET", "Access_Control_Request_Headers": "range"}
        answer = ask(url, "/zarr.json", "OPTIONS", Origin="https://viewer.example", **asked)
        assert answer.status == 200
        assert "range" in answer.headers["access-control-allow-headers"].lower()
    with serve(tmp_path, origins=["https://mine.example"]) as url:
        assert "access-control-allow-origin" not in ask(url, "/zarr.json", Origin="https://viewer.example").headers
        mine = ask(url, "/zarr.json", Origin="https://mine.example")
        assert mine.headers["access-control-allow-origin"] == "https://mine.example"
