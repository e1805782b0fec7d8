"""Code for Windows and macOS, with the platform faked: what they refuse, and what they need besides."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from zarr.errors import FolderInPlaceError
from zarr.runners.locks import processes
from zarr.storage import LocalStore, url
from zarr.storage.local import files, folders, names


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WINDOWS", True)
    monkeypatch.setattr(folders, "WINDOWS", True)


def refuse(*arguments: Any) -> Any:
    error = PermissionError(errno.EACCES, "it is open in another program")
    error.winerror = 32  # a sharing violation
    raise error


def test_a_rename_is_tried_again_while_somebody_has_the_file_open(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals, real = [refuse, refuse, refuse], os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: refusals.pop()() if refusals else real(old, new))
    assert files.write_file(str(tmp_path / "value"), memoryview(b"new"), fsync=True)
    assert not refusals
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"value": b"new"}


def test_a_rename_that_stays_refused_is_an_error(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(files.time, "sleep", pauses.append)
    with pytest.raises(PermissionError, match="another program"):
        files.move_with_retry("one", "other", refuse)
    assert pauses == list(files.RETRY_DELAYS)
    assert sum(pauses) < 1


def test_of_two_that_claim_a_name_one_gets_it(windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(old: str, new: str) -> None:  # Windows replaces nothing
        if os.path.exists(new):
            raise FileExistsError(errno.EEXIST, "there", new)
        os.replace(old, new)

    monkeypatch.setattr(os, "rename", rename)
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    place = str(tmp_path / "place")
    assert files.claim(str(tmp_path / "one"), place)
    assert not files.claim(str(tmp_path / "two"), place)
    assert (Path(place).read_text(), sorted(os.listdir(tmp_path))) == ("one", ["place"])


def test_a_folder_in_the_place_of_a_file(windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", refuse)  # so Windows answers
    with pytest.raises(FolderInPlaceError):
        files.open_regular(str(tmp_path))


def test_folders_are_not_synced_and_processes_not_asked(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "kill", refuse)  # there it would end the process
    files.sync_directory("anywhere")
    assert folders.is_alive(1)


def test_drive_letters_are_no_schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    found = url.parse_store_url("C:/data/a.zarr")
    assert (found.scheme, found.path) == ("", "C:/data/a.zarr")


@pytest.mark.parametrize("refused", [False, True])
def test_on_macos_the_cache_of_the_disk_is_emptied(refused: bool, tmp_path: Path, monkeypatch: Any) -> None:
    calls: list[str] = []

    def full(fd: int, command: int) -> None:
        calls.append(f"fcntl {command}")
        if refused:
            raise OSError(errno.ENOTSUP, "not on this file system")

    monkeypatch.setattr(files, "fcntl", types.SimpleNamespace(F_FULLFSYNC=51, fcntl=full))
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append("fsync"))
    files.write_file(str(tmp_path / "value"), memoryview(b"x"), fsync=True)
    assert calls == ["fcntl 51", "fsync"][: 1 + refused] * 2  # the file, then the name in its folder


def test_locks_of_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    held: set[int] = set()

    def locking(fd: int, mode: str, count: int) -> None:
        inode = os.fstat(fd).st_ino
        if mode == "lock" and inode in held:
            raise OSError(errno.EACCES, "locked")
        (held.add if mode == "lock" else held.discard)(inode)

    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK="lock", LK_UNLCK="free"))
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("processes_of_windows", str(processes.__file__))
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    path = tmp_path / "lock"
    path.touch()
    one, two = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    try:
        assert module._try_lock(one)
        assert not module._try_lock(two)
        module._unlock(one)
        assert module._try_lock(two)
        assert not module._SHARES
    finally:
        os.close(one)
        os.close(two)


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_file_is_replaced_when_the_block_ends(tmp_path: Path, exclusive: bool) -> None:
    from zarr.storage._local import _atomic_write

    place = tmp_path / "value"
    with pytest.raises(RuntimeError), _atomic_write(place, "wb", exclusive=exclusive):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with _atomic_write(place, "wb", exclusive=exclusive) as file:
        file.write(b"one")
    if exclusive:
        with pytest.raises(FileExistsError), _atomic_write(place, "wb", exclusive=True) as file:
            file.write(b"two")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"value": b"one"}


@pytest.mark.parametrize(
    ("path", "long"),
    [
        ("C:/data/a.zarr", "\\\\?\\C:\\data\\a.zarr"),
        ("C:\\data\\b\\..\\a.zarr\\", "\\\\?\\C:\\data\\a.zarr"),
        ("//server/share/a.zarr", "\\\\?\\UNC\\server\\share\\a.zarr"),
        ("\\\\?\\C:\\data\\a.zarr", "\\\\?\\C:\\data\\a.zarr"),
    ],
)
def test_long_paths_of_windows(path: str, long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "WINDOWS", True)
    assert names.extended(path) == names.below(path, "") == long
    assert names.below(path, "c/0/1") == f"{long}\\c\\0\\1"


@pytest.mark.parametrize("answers", [True, False])
def test_on_macos_a_folder_has_one_name(answers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two names that differ in case the system gives the one that the folder was made with: locks have that name."""
    true = tmp_path / "Data.zarr"

    def ask(fd: int, question: int, room: bytes) -> bytes:
        assert question == 50
        if not answers:
            raise OSError(errno.ENOTSUP, "not on this file system")
        return os.fsencode(true).ljust(len(room), b"\0")

    for name in ("Data.zarr", "data.zarr"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(names, "ASK_FOR_PATH", 50)
    monkeypatch.setattr(names, "fcntl", types.SimpleNamespace(fcntl=ask))
    stores = [LocalStore(tmp_path / name) for name in ("Data.zarr", "data.zarr")]
    found = [store.lock_prefix for store in stores]
    assert found == [f"file:{true}", f"file:{true if answers else tmp_path / 'data.zarr'}"]
    assert LocalStore(tmp_path / "later.zarr").lock_prefix == f"file:{tmp_path / 'later.zarr'}"
