"""Whole files by path: the compiled reader, the plain one and the operating system agree."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import zarr_core
from zarr_core.reference import documents as reference


@pytest.mark.parametrize("size", [0, 1, 700, 16383, 16384, 16385, 300_000])
def test_the_bytes_of_a_file(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    path = tmp_path / "naïve name"
    path.write_bytes(data)
    assert zarr_core.read_file(str(path)) == reference.read_file(str(path)) == data


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    for name, answer in (("none", None), ("", -errno.EISDIR), ("pipe", -errno.EINVAL), ("file/below", -errno.ENOTDIR)):
        path = f"{tmp_path}/{name}"
        assert zarr_core.read_file(path) == answer
        assert reference.read_file(path) == answer


def test_many_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).write_bytes(b"x" * number * 10_000)
    names = ["3", "none", "0", "4", "1"]
    found = zarr_core.read_files(f"{tmp_path}/", names)
    assert found == reference.read_files(f"{tmp_path}/", names)
    assert [None if data is None else len(data) for data in found] == [30_000, None, 0, 40_000, 10_000]  # type: ignore[arg-type]


def test_paths_that_are_none() -> None:
    for module in (zarr_core, reference):
        with pytest.raises(ValueError, match="NUL"):
            module.read_file("a\0b")
        with pytest.raises(ValueError, match="NUL"):
            module.read_files("/", ["a\0b"])
    with pytest.raises(TypeError):
        zarr_core.read_file(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        zarr_core.read_files("/", [1])  # type: ignore[list-item]


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").write_bytes(b"y")
    assert zarr_core.read_file("here") == b"y"


@pytest.mark.parametrize("put", [zarr_core.put_file, reference.put_file])
def test_a_value_is_put_in_its_place(put: Callable[..., int], tmp_path: Path) -> None:
    for place in ("a", "deep/er/naïve", "x" * 200):
        path = str(tmp_path / place)
        for size in (0, 1, 70_000):
            data = os.urandom(size)
            assert put(path, memoryview(data)) == 0
            assert zarr_core.read_file(path) == data
        assert put(path, b"late", exclusive=True) == 1
        assert zarr_core.read_file(path) == data
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["a", "naïve", "x" * 200]


@pytest.mark.parametrize("put", [zarr_core.put_file, reference.put_file])
def test_what_cannot_be_put_leaves_no_trace(put: Callable[..., int], tmp_path: Path) -> None:
    (tmp_path / "folder" / "full").mkdir(parents=True)
    (tmp_path / "file").write_bytes(b"x")
    assert put(f"{tmp_path}/folder", b"y") < 0
    assert put(f"{tmp_path}/folder", b"y", exclusive=True) == 1
    assert put(f"{tmp_path}/file/below", b"y") < 0
    assert put(f"{tmp_path}/{'n' * 300}", b"y") < 0
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder", "full"]
    with pytest.raises(ValueError, match="NUL"):
        put("a\0b", b"y")


def test_a_very_long_path_is_left_to_the_caller() -> None:
    assert zarr_core.put_file("/x" * 3000, b"y") == -errno.ENAMETOOLONG


def test_of_many_who_put_at_once_one_succeeds(tmp_path: Path) -> None:
    for number in range(20):
        path = f"{tmp_path}/new{number}/value"
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda who: zarr_core.put_file(path, bytes([who]) * 100, True), range(8)))  # noqa: B023
        assert sorted(answers) == [0] + [1] * 7
        assert zarr_core.read_file(path) == bytes([answers.index(0)]) * 100
        assert os.listdir(os.path.dirname(path)) == ["value"]


def test_paths_without_links(tmp_path: Path) -> None:
    base = os.path.realpath(tmp_path)
    os.makedirs(f"{base}/a/b")
    Path(f"{base}/a/file").write_bytes(b"x")
    os.symlink("a", f"{base}/link")
    os.symlink("nowhere", f"{base}/a/dangling")
    parts = ["a", "b", "link", "dangling", "file", "none", ".", "..", "", "x" * 300]
    paths = [f"{base}/{one}/{two}" for one in parts for two in parts]
    paths += [f"{base}/{one}/none/{two}" for one in parts for two in parts] + [*parts, "/", f"{base}/a/b/"]
    for path in paths:
        plain = zarr_core.has_no_links(path)
        assert plain == reference.has_no_links(path), path
        assert not plain or os.path.realpath(path) == path
    assert zarr_core.has_no_links(f"{base}/a/b")
    assert zarr_core.has_no_links(f"{base}/a/none/deeper")
    assert not zarr_core.has_no_links(f"{base}/link/b")
    assert not zarr_core.has_no_links("/" + "long/" * 2000 + "path")
    with pytest.raises(ValueError, match="NUL"):
        zarr_core.has_no_links("/a\0b")
