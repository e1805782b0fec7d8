"""The other file systems of fsspec, by URL: memory, files, the web, archives and lists of references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.storage import LocalStore, MemoryStore, ZipStore

from .web import WebServer

pytest.importorskip("fsspec", reason="fsspec is not installed")
VALUES = np.arange(60 * 50, dtype="f4").reshape(60, 50)
LAYOUTS: Any = pytest.mark.parametrize("layout", [{}, {"shards": (40, 50)}], ids=["plain", "sharded"])


def fill(store: Any, **layout: Any) -> zarr.Array[Any]:
    root = zarr.create_group(store, overwrite=True)
    array = root.create_array("a", shape=(60, 50), chunks=(20, 25), dtype="f4", **layout)
    array[...] = VALUES
    return array


def stored(memory: MemoryStore) -> dict[str, bytes]:
    return {key: value.to_bytes() for key, value in memory._store_dict.items()}


@LAYOUTS
@pytest.mark.parametrize("scheme", ["memory", "file", "local"])
def test_written_and_read(scheme: str, layout: dict[str, Any], tmp_path: Path) -> None:
    url = f"{scheme}://{tmp_path}/x.zarr"
    array = fill(url, **layout)
    array[5:50, 3] = -1
    expected = VALUES.copy()
    expected[5:50, 3] = -1
    np.testing.assert_array_equal(zarr.open_array(url, path="a", mode="r")[...], expected)
    assert list(zarr.open_group(url, mode="r")) == ["a"]


@LAYOUTS
def test_a_web_server(layout: dict[str, Any]) -> None:
    pytest.importorskip("aiohttp", reason="aiohttp, which fsspec needs for the web, is not installed")
    memory = MemoryStore()
    fill(memory, **layout)
    with WebServer(stored(memory)) as server:
        array = zarr.open_array(f"{server.url}/a", mode="r")
        np.testing.assert_array_equal(array[...], VALUES)
        np.testing.assert_array_equal(array[25:31, 7], VALUES[25:31, 7])
        with pytest.raises(FileNotFoundError):
            zarr.open_array(f"{server.url}/nowhere", mode="r")


@LAYOUTS
def test_an_archive(layout: dict[str, Any], tmp_path: Path) -> None:
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        fill(store, **layout)
    url = f"zip::file://{tmp_path}/x.zip"
    np.testing.assert_array_equal(zarr.open_group(url, mode="r")["a"][25:], VALUES[25:])  # type: ignore[index]


@LAYOUTS
def test_references(layout: dict[str, Any], tmp_path: Path) -> None:
    fill(LocalStore(tmp_path / "x.zarr"), **layout)
    files = {p.relative_to(tmp_path / "x.zarr").as_posix(): p for p in (tmp_path / "x.zarr").rglob("*") if p.is_file()}
    references = {
        key: path.read_text() if key.endswith(".json") else [f"file://{path}", 0, path.stat().st_size]
        for key, path in files.items()
    }
    (tmp_path / "references.json").write_text(json.dumps({"version": 1, "refs": references}))
    options = {"fo": str(tmp_path / "references.json"), "remote_protocol": "file", "asynchronous": True}
    group = zarr.open_group("reference://", mode="r", storage_options=options, use_consolidated=False)
    np.testing.assert_array_equal(group["a"][...], VALUES)  # type: ignore[index]
    np.testing.assert_array_equal(group["a"][25:31, 7], VALUES[25:31, 7])  # type: ignore[index]
