"""A local store on a Windows that is faked: paths of any length, names that differ in case only, colons."""

from __future__ import annotations

import errno
import ntpath
import os
import shutil
import types
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
import pytest

import zarr
import zarr.tools
import zarr_core
from zarr.buffer.cpu import Buffer
from zarr.errors import ContainsArrayError, KeyNotAllowedError
from zarr.storage import LocalStore, MemoryStore, resolve
from zarr.storage.local import changes, files, folders, names, store

LONGEST = 259
ROOT = "C:\\data\\"


class Entry:
    """An entry of a folder, under its name on Windows."""

    def __init__(self, entry: os.DirEntry[str], folder: str) -> None:
        self._entry, self.name, self.path = entry, entry.name, ntpath.join(folder, entry.name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


class Entries(list[Entry]):
    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()


class Windows:
    """The modules ``os`` and ``os.path`` of a Windows whose drive C: is a folder here.

    Of paths it takes what Windows does: more than 259 characters in the extended form only, where a slash is no
    separator; no names that end with a dot or a space in the other form.
    """

    def __init__(self, drive: Path, folds: bool) -> None:
        self.drive, self.folds, self.longest, self.sep = drive, folds, 0, "\\"
        self.path = types.SimpleNamespace(
            **{name: getattr(ntpath, name) for name in ("join", "split", "dirname", "basename", "normpath")},
            abspath=ntpath.normpath, realpath=ntpath.normpath, expanduser=lambda path: "C:\\users\\me",
        )  # fmt: skip
        for name in ("isdir", "isfile", "islink", "lexists", "exists"):
            setattr(self.path, name, self.given_one(getattr(os.path, name)))
        for name in ("open", "stat", "lstat", "mkdir", "rmdir", "unlink", "access", "listdir", "makedirs"):
            setattr(self, name, self.given_one(getattr(os, name)))
        for name in ("rename", "replace", "link"):
            setattr(self, name, self.given_two(getattr(os, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def here(self, path: str) -> str:
        """Return the place here, or refuse the path as Windows would."""
        plain = path.removeprefix("\\\\?\\")
        self.longest = max(self.longest, len(path))
        if plain == path and len(path) > LONGEST:
            raise FileNotFoundError(errno.ENOENT, "the path is too long", path)
        if plain != path and "/" in plain:
            raise OSError(errno.EINVAL, "the name is invalid", path)
        assert plain[:3].replace("/", "\\") == "C:\\", path
        inside = plain[3:].replace("\\", "/").strip("/")
        assert ":" not in inside, path
        return str(self.drive / (inside.lower() if self.folds else inside))

    def given_one(self, function: Any) -> Any:
        return lambda path, *more, **named: function(self.here(path), *more, **named)

    def given_two(self, function: Any) -> Any:
        def call(one: str, two: str) -> None:
            if function is not os.replace and os.path.lexists(self.here(two)):
                raise FileExistsError(errno.EEXIST, "there", two)
            function(self.here(one), self.here(two))

        return call

    def scandir(self, path: str) -> Entries:
        with os.scandir(self.here(path)) as found:
            return Entries(Entry(entry, path) for entry in found)


@pytest.fixture(params=["keeps case", "folds case"])
def system(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Windows:
    made = Windows(tmp_path, request.param == "folds case")
    for module in (files, folders, changes, store, names, resolve):
        monkeypatch.setattr(module, "os", made)
    monkeypatch.setattr(files, "WINDOWS", True)
    monkeypatch.setattr(folders, "WINDOWS", True)
    monkeypatch.setattr(names, "WINDOWS", True)
    monkeypatch.setattr(folders, "shutil", types.SimpleNamespace(rmtree=made.given_one(shutil.rmtree)))
    monkeypatch.setattr(changes, "shutil", types.SimpleNamespace(copymode=made.given_two(shutil.copymode)))
    drive_path = type("DrivePath", (PureWindowsPath,), {"absolute": lambda self: self})
    monkeypatch.setattr(store, "Path", drive_path)
    # As the core of Windows answers.
    monkeypatch.setattr(zarr_core, "read_file", lambda path: -errno.ENOSYS)
    monkeypatch.setattr(zarr_core, "read_files", lambda base, keys: [-errno.ENOSYS] * len(keys))
    monkeypatch.setattr(zarr_core, "put_file", lambda path, data, exclusive: -errno.ENOSYS)
    monkeypatch.setattr(zarr_core, "exchange_files", lambda one, other: -errno.ENOSYS)
    monkeypatch.setattr(zarr_core, "remove_folder", lambda path: -errno.ENOSYS)
    monkeypatch.setattr(LocalStore, "locks_folders", False)
    monkeypatch.setattr(LocalStore, "bulk_access", lambda self: None)
    return made


def test_paths_of_any_length(system: Windows) -> None:
    data = np.arange(24).reshape(4, 6)
    place = LocalStore(ROOT + "deep\\" + "f" * 150)
    path = "/".join(["group" * 9] * 5)
    array = zarr.create_array(place, name=path, data=data, chunks=(2, 3))
    array[1:3] = 7
    data[1:3] = 7
    np.testing.assert_array_equal(zarr.open_array(place, path=path, mode="r")[:], data)
    assert f"{path}/c/1/1" in set(place.list_sync())
    assert place.list_dir_sync(f"{path}/c") == ["0", "1"]
    zarr.create_array(place, name=path, shape=(2,), dtype="i1", overwrite=True)[:] = 5
    np.testing.assert_array_equal(zarr.open_array(place, path=path)[:], 5)
    with zarr.transaction(place) as aside:
        zarr.open_array(aside, path=path)[0] = 6
        zarr.open_array(aside, path=path).attrs["unit"] = "m"
    np.testing.assert_array_equal(zarr.open_array(place, path=path)[:], [6, 5])
    place.delete_dir_sync(path)
    assert not [key for key in place.list_sync() if key.startswith(path)]
    assert system.longest > LONGEST + 100


def test_links_are_followed_within_the_folder(system: Windows) -> None:
    zarr.create_array(LocalStore(ROOT + "a"), name="x", shape=(2,), dtype="i1")[:] = 1
    place = LocalStore(ROOT + "a", links="inside")
    np.testing.assert_array_equal(zarr.open_array(place, path="x", mode="r")[:], 1)
    assert not folders.lies_inside("C:\\data\\ab", "C:\\data\\a")


def test_a_colon_is_no_part_of_a_name(system: Windows) -> None:
    place = LocalStore(ROOT + "a")
    with pytest.raises(KeyNotAllowedError, match="':'"):
        place.set_sync("x/zarr.json:more", Buffer.from_bytes(b"x"))
    with pytest.raises(KeyNotAllowedError, match=r"'time:0/zarr\.json'"):
        zarr.create_array(place, name="time:0", shape=(1,), dtype="i1")
    assert list(place.list_sync()) == []


def test_names_that_differ_in_case_only(system: Windows) -> None:
    place = LocalStore(ROOT + "a")
    zarr.create_array(place, name="Depth", shape=(2,), dtype="i1")[:] = 1
    if not system.folds:
        zarr.create_array(place, name="depth", shape=(3,), dtype="i1")[:] = 2
        assert sorted(zarr.open_group(place, mode="r").array_keys()) == ["Depth", "depth"]
        return
    with pytest.raises(ContainsArrayError, match="depth"):
        zarr.create_array(place, name="depth", shape=(3,), dtype="i1")
    np.testing.assert_array_equal(zarr.open_array(place, path="Depth", mode="r")[:], [1, 1])


def test_a_copy_does_not_merge_names_that_differ_in_case_only(system: Windows) -> None:
    source = MemoryStore()
    group = zarr.create_group(source)
    for number, name in enumerate(["Depth", "depth"]):
        group.create_array(name, data=np.full(3, number))
    place = LocalStore(ROOT + "copy")
    if system.folds:
        with pytest.raises(ValueError, match=r"takes '[Dd]epth' and '[Dd]epth' for one name"):
            zarr.tools.copy(group, place)
        assert list(place.list_sync()) == []
        return
    zarr.tools.copy(group, place)
    for number, name in enumerate(["Depth", "depth"]):
        np.testing.assert_array_equal(zarr.open_array(place, path=name)[:], number)
