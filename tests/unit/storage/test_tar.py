"""The store over a tar archive: what tar packed is read as it lies, and nothing else is."""

from __future__ import annotations

import gzip
import os
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.errors import BrokenReferenceError, ReadOnlyError, StoreDamagedError
from zarr.storage import LocalStore, TarStore

DATA = np.arange(60, dtype="i4").reshape(6, 10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    group = zarr.create_group(LocalStore(tmp_path / "data"), attributes={"unit": "m"})
    group.create_array("x", data=DATA, chunks=(3, 4))
    group.create_array("deep/shards", data=DATA, chunks=(3, 2), shards=(6, 4))
    return tmp_path / "data"


def packed(folder: Path, name: str = "data.tar", **options: Any) -> Path:
    path = folder.parent / name
    with tarfile.open(path, "w", **options) as archive:
        archive.add(folder, ".")
    return path


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_a_hierarchy_is_read_from_its_archive(folder: Path, form: int) -> None:
    path = packed(folder, format=form)
    for place in (path, str(path), f"file://{path}", TarStore(path)):
        group = zarr.open_group(place, mode="r")
        assert group.attrs.asdict() == {"unit": "m"}
        assert sorted(group) == ["deep", "x"]
        np.testing.assert_array_equal(group["x"][1:5, ::3], DATA[1:5, ::3])
        np.testing.assert_array_equal(group["deep/shards"][2:, 3:7], DATA[2:, 3:7])
    assert sorted(TarStore(path).list_sync()) == sorted(LocalStore(folder).list_sync())


def test_values_and_their_parts_are_those_of_the_files(folder: Path) -> None:
    store, files = TarStore(packed(folder)), LocalStore(folder)
    for key in files.list_sync():
        assert store.getsize_sync(key) == files.getsize_sync(key)
        for part in (None, RangeByteRequest(2, 9), OffsetByteRequest(5), SuffixByteRequest(4)):
            found, wanted = store.get_sync(key, byte_range=part), files.get_sync(key, byte_range=part)
            assert found is not None
            assert wanted is not None
            assert found.to_bytes() == wanted.to_bytes()
    assert store.get_sync("x/c/9/9") is None
    assert not store.exists_sync("x/c/9/9")


def test_an_archive_at_a_url(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://archives/data.tar", "wb") as file:
        file.write(packed(folder).read_bytes())
    store = TarStore("memory://archives/data.tar")
    np.testing.assert_array_equal(zarr.open_array(store, path="x", mode="r")[:], DATA)


def test_nothing_is_written(folder: Path) -> None:
    path = packed(folder)
    before = path.read_bytes()
    with pytest.raises((ReadOnlyError, ValueError)):
        zarr.create_group(TarStore(path), path="new")
    with pytest.raises(ReadOnlyError):
        TarStore(path).delete_sync("zarr.json")
    assert path.read_bytes() == before


def test_a_pickle_reads_the_same_file_wherever_it_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(packed(folder).parent)
    raw = pickle.dumps(TarStore("data.tar"))
    monkeypatch.chdir(folder)
    assert list(zarr.open_group(pickle.loads(raw), mode="r").array_keys()) == ["x"]


def test_the_last_of_two_members_of_a_name_counts(folder: Path, tmp_path: Path) -> None:
    path = packed(folder)
    (tmp_path / "new").write_bytes(b"new")
    with tarfile.open(path, "a") as archive:
        archive.add(tmp_path / "new", "x/c/0/0")
    found = TarStore(path).get_sync("x/c/0/0")
    assert found is not None
    assert found.to_bytes() == b"new"


def test_names_that_lead_out_are_no_keys(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"v")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("../up", "a/../../up", "a//b", "fine/key"):
            archive.add(tmp_path / "v", name)
    assert list(TarStore(tmp_path / "a.tar").list_sync()) == ["fine/key"]


def test_links_are_refused_and_lead_nowhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "x/c/0/0").unlink()
    (folder / "x/c/0/0").symlink_to(tmp_path / "secret")
    os.link(folder / "x/c/0/1", folder / "x/c/0/3")
    store = TarStore(packed(folder))
    with pytest.raises(BrokenReferenceError, match="--dereference"):
        store.get_sync("x/c/0/0")
    with pytest.raises(BrokenReferenceError, match="--dereference"):
        zarr.open_array(store, path="x", mode="r")[:]


def test_an_archive_that_changed_is_opened_again(folder: Path) -> None:
    path = packed(folder)
    array = zarr.open_array(TarStore(path), path="x", mode="r")
    np.testing.assert_array_equal(array[:3], DATA[:3])
    with tarfile.open(path, "a") as archive:
        archive.add(folder / "zarr.json", "another")
    with pytest.raises(BrokenReferenceError, match="open it again"):
        array[3:]


@pytest.mark.parametrize("size", [100, 512, 700, 1024, 5000])
def test_archives_that_are_cut_off(folder: Path, size: int) -> None:
    path = packed(folder)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(StoreDamagedError):
        TarStore(path)


def test_a_damaged_header_is_not_the_end(folder: Path) -> None:
    path = packed(folder)
    raw = bytearray(path.read_bytes())
    with tarfile.open(path) as archive:
        start = archive.getmembers()[3].offset
    raw[start : start + 20] = b"damaged" * 3
    path.write_bytes(raw)
    with pytest.raises(StoreDamagedError, match=f"byte {start}"):
        TarStore(path)


def test_what_is_no_archive(folder: Path, tmp_path: Path) -> None:
    path = packed(folder)
    (tmp_path / "b.tar").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "c.tar").write_bytes(b"no archive" * 100)
    for name in ("b.tar", "c.tar"):
        with pytest.raises(StoreDamagedError, match="uncompressed"):
            zarr.open_group(tmp_path / name, mode="r")
    with pytest.raises(FileNotFoundError):
        TarStore(tmp_path / "none.tar")
    with pytest.raises(FileNotFoundError):
        zarr.open_group(tmp_path / "none.tar", mode="r")


def test_a_size_below_zero(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"v" * 2000)
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        archive.add(tmp_path / "v", "a")
        archive.add(tmp_path / "v", "b")
    raw = bytearray((tmp_path / "a.tar").read_bytes())
    raw[124:136] = b"\xff" * 10 + (65536 - 2560).to_bytes(2, "big")
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    (tmp_path / "a.tar").write_bytes(raw)
    with pytest.raises(StoreDamagedError, match="size"):
        TarStore(tmp_path / "a.tar")
