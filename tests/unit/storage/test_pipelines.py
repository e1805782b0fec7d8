"""URL pipelines (ZEP 8): what opens, and what the errors say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr
from zarr.errors import GroupNotFoundError
from zarr.storage import ManagedMemoryStore, ZipStore
from zarr.storage.resolve import make_store_path, resolve_store, resolve_store_path

if TYPE_CHECKING:
    from pathlib import Path

DATA = np.arange(12, dtype="i4").reshape(3, 4)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "a b|c.zip"
    with ZipStore(path, mode="w") as store:
        group = zarr.open_group(store, mode="w", path="inner/path")
        group.create_array("sub/array", data=DATA, chunks=(2, 2))
    return path


def url_of(path: Path) -> str:
    return "file://" + str(path).replace(" ", "%20").replace("|", "%7C")


@pytest.mark.parametrize(
    "rest",
    [
        "zip:inner/path|zarr3:sub/array",
        "zip:inner/path/|zarr:sub/array/",
        "zip:inner%2Fpath|zarr3:/sub/array",
        "zip:|zarr3:inner/path/sub/array",
        "zip:inner/path/sub/array",
    ],
)
def test_arrays_in_zip_files(archive: Path, rest: str) -> None:
    url = f"{url_of(archive)}|{rest}"
    array = zarr.open(url, mode="r")
    assert isinstance(array, zarr.Array)
    np.testing.assert_array_equal(array[:], DATA)
    np.testing.assert_array_equal(zarr.open_array(url)[:], DATA)


def test_groups_and_paths_below(archive: Path) -> None:
    url = f"{url_of(archive)}|zip:inner|zarr3:"
    assert list(zarr.open_group(url, mode="r", path="path")) == ["sub"]
    np.testing.assert_array_equal(zarr.open_array(url, path="path/sub/array")[:], DATA)
    assert resolve_store_path(url, path="x").path == "inner/x"


async def test_make_store_path(archive: Path) -> None:
    place = await make_store_path(f"{url_of(archive)}|zip:inner/path")
    assert (type(place.store), place.path) == (ZipStore, "inner/path")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_format_that_is_named_is_the_one_that_is_opened(tmp_path: Path, zarr_format: Any) -> None:
    zarr.create_array(tmp_path / "x", data=DATA, zarr_format=zarr_format)
    url = f"file://{tmp_path}|"
    np.testing.assert_array_equal(zarr.open(f"{url}zarr{zarr_format}:x", mode="r")[:], DATA)
    np.testing.assert_array_equal(zarr.open(f"{tmp_path}|zarr{zarr_format}:x", mode="r")[:], DATA)
    for opening in (zarr.open, zarr.open_group, zarr.open_array):
        with pytest.raises((GroupNotFoundError, FileNotFoundError)):
            opening(f"{url}zarr{5 - zarr_format}:x", mode="r")
    with pytest.raises(ValueError, match="contradicts"):
        zarr.open(f"{url}zarr{zarr_format}:x", mode="r", zarr_format=5 - zarr_format)


def test_writing_through_a_pipeline(tmp_path: Path) -> None:
    zarr.open_group(f"file://{tmp_path}/new|zarr2:a/b", mode="w")
    assert (tmp_path / "new" / "a" / "b" / ".zgroup").exists()


def test_memory() -> None:
    store = ManagedMemoryStore("pipelines")
    zarr.create_array(store, name="a/x", data=DATA)
    np.testing.assert_array_equal(zarr.open("memory://pipelines/a|zarr3:x", mode="r")[:], DATA)


def test_archives_in_archives_and_at_urls(archive: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    fsspec.filesystem("memory").pipe("/pipes/a.zip", archive.read_bytes())
    url = "memory://pipes/a.zip|zip:inner/path|zarr3:sub/array"
    np.testing.assert_array_equal(zarr.open(url, mode="r")[:], DATA)
    from zarr.buffer.cpu import Buffer

    with ZipStore(tmp_path / "outer.zip", mode="w") as store:
        store.set_sync("deep/a.zip", Buffer.from_bytes(archive.read_bytes()))
    url = f"{tmp_path}/outer.zip|zip:deep/a.zip|zip:inner|zarr:path/sub/array"
    np.testing.assert_array_equal(zarr.open(url, mode="r")[:], DATA)


def test_n5(tmp_path: Path) -> None:
    block = b"\0\0\0\2\0\0\0\4\0\0\0\3" + DATA.astype(">i4").tobytes()
    (tmp_path / "h" / "d" / "0").mkdir(parents=True)
    attributes = {"dimensions": [4, 3], "blockSize": [4, 3], "dataType": "int32", "compression": {"type": "raw"}}
    (tmp_path / "h" / "d" / "attributes.json").write_text(json.dumps(attributes))
    (tmp_path / "h" / "d" / "0" / "0").write_bytes(block)
    np.testing.assert_array_equal(zarr.open(f"file://{tmp_path}/h|n5:d", mode="r")[:], DATA)
    assert list(zarr.open_group(f"file://{tmp_path}|n5:h", mode="r")) == ["d"]


def test_icechunk(tmp_path: Path) -> None:
    icechunk = pytest.importorskip("icechunk", reason="icechunk is not installed")
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
    session = repo.writable_session("main")
    zarr.create_array(session.store, name="x", data=DATA)
    snapshot = session.commit("first")
    repo.create_tag("v1", snapshot)
    for version in ("", "@branch.main/", "@tag.v1/", f"@{snapshot}/"):
        found = zarr.open(f"file://{tmp_path}/repo|icechunk:{version}|zarr3:x", mode="r")
        np.testing.assert_array_equal(found[:], DATA)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("zap:x", r"'zap:x', at position 7 .*zip:, zarr:, zarr2:"),
        ("zip:a|gzip:", r"'gzip:', at position 13 "),
        ("zarr3:a|zip:b", r"nothing can follow 'zarr3', but 'zip:b' does, at position 15 "),
    ],
)
def test_adapters_that_are_none(rest: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        zarr.open(f"file:a|{rest}", mode="r")


def test_archives_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no zip file") as caught:
        zarr.open(f"file://{tmp_path}/none.zip|zip:a", mode="r")
    assert "at position" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="segments"):
        zarr.open(f"file://{tmp_path}|zarr3:../x", mode="r")
    with pytest.raises(ValueError, match="where a store is asked for"):
        resolve_store(f"file://{tmp_path}|zarr3:x")


def test_a_folder_whose_name_looks_like_a_pipeline(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a|zip:", data=DATA)
    np.testing.assert_array_equal(zarr.open(f"{tmp_path}/a|zip:", mode="r")[:], DATA)
    zarr.create_array(f"{tmp_path}/a|b", data=DATA)
    np.testing.assert_array_equal(zarr.open(f"{tmp_path}/a|b", mode="r")[:], DATA)
