"""What a mistyped path asks for, and nobody means: to overwrite a home folder, or the root of the file system."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.storage import FsspecStore, LocalStore, ObjectStore
from zarr.storage.checks import check_clearable


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with something in it."""
    place = tmp_path / "me"
    (place / ".config").mkdir(parents=True)
    (place / "thesis.txt").write_text("years of work")
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("USERPROFILE", str(place))
    return place


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def clear_remote(home: Path) -> None:
    pytest.importorskip("fsspec")
    asyncio.run(FsspecStore.from_url(f"file://{home}").clear())


def clear_objects(home: Path) -> None:
    stores = pytest.importorskip("obstore.store")
    asyncio.run(ObjectStore(stores.LocalStore(home)).clear())


WAYS: list[Callable[[Path], Any]] = [
    lambda home: zarr.open_group(home, mode="w"),
    lambda home: zarr.open_group(f"{home}//", mode="w"),
    lambda home: zarr.create_array(home, shape=3, dtype="i4", overwrite=True),
    lambda home: zarr.open_group(LocalStore(home), mode="w"),
    lambda home: asyncio.run(LocalStore(home).clear()),
    lambda home: asyncio.run(LocalStore(home).delete_dir("")),
    lambda home: zarr.open_group(f"file://{home}", mode="w"),
    clear_remote,
    clear_objects,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_home_folder_is_not_emptied(way: Callable[[Path], Any], home: Path) -> None:
    before = files_in(home)
    with pytest.raises(PermissionError, match="home folder would be removed"):
        way(home)
    assert files_in(home) == before


def test_a_link_to_it_is_not_emptied_either(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    before = files_in(home)
    with pytest.raises(PermissionError, match="home folder"):
        zarr.open_group(tmp_path / "link", mode="w")
    assert files_in(home) == before


def test_the_root_of_the_file_system_is_refused() -> None:
    with pytest.raises(PermissionError, match="root of the file system"):
        check_clearable(os.path.abspath(os.sep))


def test_folders_in_them_and_empty_ones_are_as_any_other(home: Path, tmp_path: Path) -> None:
    zarr.open_group(home / "data", mode="w").create_array("x", shape=3, dtype="i4")
    assert list(zarr.open_group(home / "data", mode="w")) == []
    zarr.create_group(home)  # nothing goes
    assert (home / "thesis.txt").exists()


def test_an_empty_home_folder_may_be_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    zarr.open_group(tmp_path, mode="w")
    assert (tmp_path / "zarr.json").exists()
