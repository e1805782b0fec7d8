"""Folders are removed with all in them, and nothing beside them; the core and the standard library do the same."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import zarr_core
from zarr.storage.local import folders


@pytest.fixture(params=["core", "standard library"])
def remove(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    if request.param != "core":
        monkeypatch.setattr(zarr_core, "remove_folder", lambda path: -errno.ENOSYS)
    return lambda path: folders.remove_folder(str(path))


def test_a_folder_goes_with_all_in_it_and_its_links_lead_nowhere(
    tmp_path: Path, remove: Callable[[str], None]
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "value").write_text("kept")
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "value").write_text("1")
    (folder / "a" / ".hidden").write_text("2")
    os.mkfifo(folder / "a" / "pipe")
    (folder / "to_folder").symlink_to(kept)
    (folder / "to_file").symlink_to(kept / "value")
    (folder / "to_nothing").symlink_to(tmp_path / "nothing")
    os.link(kept / "value", folder / "same")
    remove(str(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (kept / "value").read_text() == "kept"


def test_a_link_to_a_folder_is_refused(tmp_path: Path, remove: Callable[[str], None]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "value").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(OSError) as raised:  # of some versions of Python the text of it is empty
        remove(str(tmp_path / "link"))
    assert "symbolic link" in str(raised.value.args)
    assert (tmp_path / "folder" / "value").read_text() == "kept"
    with pytest.raises(FileNotFoundError):
        remove(str(tmp_path / "nothing"))
    with pytest.raises(NotADirectoryError):
        remove(str(tmp_path / "folder" / "value"))


def test_folders_deeper_than_the_core_goes(tmp_path: Path, remove: Callable[[str], None]) -> None:
    deep = tmp_path / "folder"
    for _ in range(200):
        deep /= "a"
    deep.mkdir(parents=True)
    (deep / "value").write_text("1")
    remove(str(tmp_path / "folder"))
    assert not (tmp_path / "folder").exists()


def test_more_entries_than_one_call_removes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in "ab":
        (tmp_path / "folder" / part).mkdir(parents=True)
        for number in range(6000):
            (tmp_path / "folder" / part / str(number)).touch()
    codes: list[int] = []

    def noted(path: bytes) -> int:
        codes.append(real(path))
        return codes[-1]

    real = zarr_core.remove_folder
    monkeypatch.setattr(zarr_core, "remove_folder", noted)
    folders.remove_folder(str(tmp_path / "folder"))
    assert not (tmp_path / "folder").exists()
    assert codes == ([1, 0] if zarr_core.IMPLEMENTATION == "compiled" else [-errno.ENOSYS])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove everything")
def test_an_error_names_the_file(tmp_path: Path, remove: Callable[[str], None]) -> None:
    (tmp_path / "folder" / "locked").mkdir(parents=True)
    (tmp_path / "folder" / "locked" / "value").touch()
    (tmp_path / "folder" / "locked").chmod(0o500)
    with pytest.raises(PermissionError, match="value"):
        remove(str(tmp_path / "folder"))
    (tmp_path / "folder" / "locked").chmod(0o700)
