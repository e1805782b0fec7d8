"""URLs that are malformed, or that their file systems can make nothing of: one documented error, that names the URL.

Everything here is opened for reading only, or lies in a temporary folder.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.errors import FolderInPlaceError, KeyNotAllowedError, StoreUrlError
from zarr.storage import FsspecStore, LocalStore, ReferenceStore, ZipStore
from zarr.storage.keys import normalize_path
from zarr.storage.url import naming_url, parse_pipeline, parse_store_url


@pytest.mark.parametrize("url", ["memory://[x", "s3://[", "http://[::1/a", "//[", "x://a]b"])
def test_what_cannot_be_taken_apart(url: str) -> None:
    with pytest.raises(StoreUrlError) as caught:
        parse_store_url(url)
    assert repr(url) in str(caught.value)


def test_malformed_pipelines() -> None:
    for url in ("a|gzip:", "a|zarr3:b|zip:c", "a|n5:|zarr3:"):
        with pytest.raises(StoreUrlError, match="position"):
            parse_pipeline(url)
    with pytest.raises(StoreUrlError, match="contradicts"):
        zarr.open("nowhere|zarr2:", mode="r", zarr_format=3)


@pytest.mark.parametrize(
    "url",
    ["reference://", "reference://x", "unknown://x", "1x://x", "generic://x", "dbfs://x", "jupyter://x/y",
     "simplecache://x", "unknown://a/t.json", "reference://a/t.json", "memory://[x", "dir://a/y.json",
     "unknown://x|zip:", "generic://x|zarr3:a", "reference://x|zip:a|zip:b", "data://x"],
)  # fmt: skip
def test_what_its_file_system_refuses(url: str) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    with pytest.raises((StoreUrlError, ImportError)) as caught:
        zarr.open(url, mode="r")
    if not isinstance(caught.value, StoreUrlError):
        pytest.skip("needs a package that is not installed")
    said = str(caught.value)
    assert url.partition("|")[0] in said or "FileSystem" in said
    assert said.rstrip(": ") == said  # more than the class of what went wrong


def test_files_that_are_no_archives_or_tables(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    (tmp_path / "t.json").write_text("[]")
    for url in (f"zip::file://{tmp_path}/t.json", f"tar::file://{tmp_path}/t.json"):
        with pytest.raises(StoreUrlError, match=r"t\.json"):
            FsspecStore.from_url(url, read_only=True)
        with pytest.raises(StoreUrlError, match=r"t\.json"):
            zarr.open(url, mode="r")


@pytest.mark.parametrize("name", ["a\0b", "a\0b.zip", "a\0b.json", "a\0b|zip:", "a\0b|zarr3:", "\ud800", "\ud800.parq"])
@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_names_that_no_file_can_have(scheme: str, name: str) -> None:
    with pytest.raises(StoreUrlError, match="invalid"):
        zarr.open(scheme + name, mode="r")
    if "|" not in name:
        with pytest.raises(StoreUrlError, match="invalid"):
            LocalStore(name, read_only=True)


@pytest.mark.parametrize("path", ["a/../b", ".", "a\0b", "a/\ud800"])
def test_paths_that_no_node_can_have(path: str) -> None:
    with pytest.raises(KeyNotAllowedError, match="invalid"):
        normalize_path(path)
    with pytest.raises(KeyNotAllowedError, match="invalid"):
        zarr.open({}, path=path, mode="r")
    with pytest.raises(KeyNotAllowedError, match="invalid"):
        zarr.open(f"memory://none|zarr3:{path}", mode="r")


@pytest.mark.parametrize("url", ["a\0b", "\ud800", "unknown://x", "file:a\0b"])
def test_references_that_name_no_file(url: str, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    for folder in (str(tmp_path), None):
        store = ReferenceStore({"a/0": [url, 0, 4], "a/1": [url]}, folder=folder, allow_outside=True)
        for key in ("a/0", "a/1"):
            with pytest.raises(StoreUrlError):
                store.get_sync(key)
        with pytest.raises(StoreUrlError):
            store.getsize_sync("a/1")


def test_a_file_system_that_fails_later() -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")

    class Broken(fsspec.AbstractFileSystem):  # type: ignore[misc, name-defined]
        protocol = "broken"

        def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
            raise KeyError(path)

        def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
            raise NotImplementedError

    store = FsspecStore(Broken(), path="x", read_only=True)
    with pytest.raises(StoreUrlError, match=r"(zarr\.json|\.zarray|\.zgroup).*KeyError"):
        zarr.open(store, mode="r")
    with pytest.raises(StoreUrlError, match="NotImplementedError"):
        list(zarr.core.sync.sync(_listed(store)))


async def _listed(store: FsspecStore) -> list[str]:
    return [name async for name in store.list_dir("")]


def test_what_stays_what_it_is() -> None:
    for error in (ImportError("x"), FileNotFoundError("x"), MemoryError(), RuntimeError("x"), KeyNotAllowedError("x")):
        with pytest.raises(type(error)) as caught, naming_url("a://b"):
            raise error
        assert caught.value is error


@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "w-"])
def test_a_folder_is_no_archive(mode: Any, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises((StoreUrlError, FileNotFoundError), match="zip file"):
        zarr.open_group(f"{tmp_path}/x|zip:", mode=mode)
    if mode not in ("r+", "w-"):
        store = ZipStore(tmp_path / "x", mode=mode)
        with pytest.raises(FolderInPlaceError, match="not a zip file"):
            zarr.open_group(store, mode=mode)
        store.close()
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert not list((tmp_path / "x").iterdir())
