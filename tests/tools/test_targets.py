"""What tools do with the places where they write: what is replaced, what is refused, and what goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.storage import FsspecStore, LocalStore, MemoryStore, ObjectStore

ROWS = np.arange(64 * 48, dtype="i4").reshape(64, 48)
TOOLS: dict[str, dict[str, Any]] = {
    "copy": {}, "rechunk": {"chunks": (64, 1)}, "reencode": {}, "coarsen": {}, "convert": {"zarr_format": 2},
}  # fmt: skip


class Stopping:
    """Stop a job when a number of its tasks have ended."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, ended: int, total: int) -> None:
        if ended == self.after:
            raise KeyboardInterrupt


def stopped(tool: Callable[..., Any], *places: Any, after: int = 1, **options: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        tool(*places, progress=Stopping(after), **options)


def array_at(folder: Path, **options: Any) -> zarr.Array[Any]:
    return zarr.create_array(folder, **({"data": ROWS, "chunks": (1, 48)} | options))


@pytest.mark.parametrize("tool", TOOLS)
def test_a_folder_of_other_files_is_not_replaced(tool: str, tmp_path: Path) -> None:
    array_at(tmp_path / "a")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/text").write_text("x")
    with pytest.raises(FileExistsError, match="no node of Zarr"):
        getattr(zarr.tools, tool)(tmp_path / "a", tmp_path / "thesis", overwrite=True, **TOOLS[tool])
    assert os.listdir(tmp_path / "thesis") == ["text"]
    getattr(zarr.tools, tool)(tmp_path / "a", tmp_path / "new", overwrite=True, **TOOLS[tool])


@pytest.mark.parametrize("tool", ["copy", "rechunk"])
def test_what_a_stopped_job_has_left_is_replaced(tool: str, tmp_path: Path) -> None:
    array_at(tmp_path / "a", shape=(2000, 1), data=None, dtype="i4", chunks=(1, 1), fill_value=0)[:] = 1
    options = TOOLS[tool] | ({"memory": 1024} if tool == "rechunk" else {})
    stopped(getattr(zarr.tools, tool), tmp_path / "a", tmp_path / "b", **options)
    made = getattr(zarr.tools, tool)(tmp_path / "a", tmp_path / "b", overwrite=True, **options)
    assert (made[:] == 1).all()


def test_nothing_is_removed_before_a_refusal(tmp_path: Path) -> None:
    target = array_at(tmp_path / "b", data=np.ones(3), chunks=(3,))
    with zarr.config.set({"array.rectilinear_chunks": True}):
        source = array_at(tmp_path / "a", chunks=[[16, 48], [48]])
        with pytest.raises((ValueError, NotImplementedError), match="rectilinear"):
            zarr.tools.coarsen(source, tmp_path / "b", overwrite=True)
        with pytest.raises(ValueError, match="rectilinear"):
            zarr.tools.reencode(source, tmp_path / "b", overwrite=True, zarr_format=2)
    assert (target[:] == 1).all()


def test_zarr_copy_removes_nothing_before_a_refusal() -> None:
    dest = zarr.create_group({}, zarr_format=2)
    dest.create_array("x", data=np.ones(3))
    with zarr.config.set({"array.rectilinear_chunks": True}):
        source = zarr.create_array({}, data=ROWS, chunks=[[16, 48], [48]])
        with pytest.raises(ValueError, match="rectilinear"):
            zarr.copy(source, dest, "x", if_exists="replace", zarr_format=2)
    assert (dest["x"][:] == 1).all()


def test_a_job_that_cannot_begin_leaves_no_notes(tmp_path: Path) -> None:
    array_at(tmp_path / "a")
    zarr.create_group(tmp_path / "s").create_array("x", data=ROWS)
    with pytest.raises(ValueError, match="parent"):
        zarr.tools.reencode(tmp_path / "a", tmp_path / "s", path="x/y")
    assert zarr.tools.verify(tmp_path / "s")


def test_a_target_that_holds_its_source(tmp_path: Path) -> None:
    array_at(tmp_path / "s")
    np.save(tmp_path / "s/a.npy", ROWS)
    with pytest.raises(ValueError, match="lies in it"):
        zarr.tools.convert(tmp_path / "s/a.npy", tmp_path / "s", overwrite=True)
    assert (tmp_path / "s/a.npy").exists()


# -------------------------------------------------------------------------------------------------- one place


def other_names(folder: Path) -> dict[str, Callable[[], Any]]:
    """The names of a folder that lead to the same files."""
    link = folder.parent / "link"
    if not link.exists():
        link.symlink_to(folder)
    return {
        "link": lambda: link,
        "relative": lambda: os.path.relpath(folder),
        "url": lambda: f"file://{folder}",
        "fsspec": lambda: FsspecStore.from_url(f"file://{folder}"),
        "fsspec by a link": lambda: FsspecStore.from_url(f"file://{link}"),
        "obstore": lambda: ObjectStore(pytest.importorskip("obstore.store").LocalStore(folder)),
    }


@pytest.mark.parametrize("name", ["link", "relative", "url", "fsspec", "fsspec by a link", "obstore"])
def test_a_copy_onto_itself_by_another_name(name: str, tmp_path: Path) -> None:
    root = zarr.create_group(tmp_path / "a")
    root.create_array("x", data=ROWS)
    place = other_names(tmp_path / "a")[name]()
    for tool, options in TOOLS.items():
        if tool not in ("coarsen", "convert"):
            with pytest.raises(ValueError, match="source"):
                getattr(zarr.tools, tool)(root["x"], place, path="x", overwrite=True, **options)
    again = zarr.open_group(place, mode="r+")
    for source, dest in ((root, again), (again, root)):
        with pytest.raises(ValueError, match="lies within"):
            zarr.copy(source["x"], dest, if_exists="replace")
        assert zarr.copy(source["x"], dest, if_exists="skip")[1] == 1
        with pytest.raises(ValueError, match="overlap"):
            zarr.from_array(dest.store_path / "x", data=source["x"], overwrite=True)
    np.testing.assert_array_equal(root["x"][:], ROWS)


def test_a_link_within_a_store(tmp_path: Path) -> None:
    root = zarr.create_group(tmp_path / "a")
    root.create_array("x", data=ROWS)
    (tmp_path / "a/y").symlink_to(tmp_path / "a/x")
    with pytest.raises(ValueError, match="lies within"):
        zarr.copy(root["x"], root, "y", if_exists="replace")
    with pytest.raises(ValueError, match="source"):
        zarr.tools.copy(root["x"], tmp_path / "a", path="y", overwrite=True)
    np.testing.assert_array_equal(root["x"][:], ROWS)


# ------------------------------------------------------------------------------------------------------ resume


def test_another_source_is_another_job(tmp_path: Path) -> None:
    """The source was replaced by an array of another data type between the two calls."""
    options: dict[str, Any] = {"chunks": (64, 1), "memory": 2 * 4 * 64 * 4}
    array_at(tmp_path / "a")
    stopped(zarr.tools.rechunk, tmp_path / "a", tmp_path / "b", **options)
    array_at(tmp_path / "a", data=ROWS.astype("f4") + 0.5, overwrite=True)
    with pytest.raises(zarr.errors.ContainsArrayError, match="Another job"):
        zarr.tools.rechunk(tmp_path / "a", tmp_path / "b", resume=True, **options)
    made = zarr.tools.rechunk(tmp_path / "a", tmp_path / "b", resume=True, overwrite=True, **options)
    np.testing.assert_array_equal(made[:], ROWS.astype("f4") + 0.5)


def test_two_files_of_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, value in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", np.full((64, 48), value))
    monkeypatch.chdir(tmp_path / "one")
    stopped(zarr.tools.convert, "a.npy", tmp_path / "b", chunks=(1, 48), memory=1024)
    monkeypatch.chdir(tmp_path / "two")
    with pytest.raises(zarr.errors.ContainsArrayError, match="Another job"):
        zarr.tools.convert("a.npy", tmp_path / "b", chunks=(1, 48), memory=1024, resume=True)


def test_notes_of_a_job_end_with_the_next_job_there(tmp_path: Path) -> None:
    options: dict[str, Any] = {"chunks": (64, 1), "memory": 2 * 4 * 64 * 4}
    source = array_at(tmp_path / "a")
    stopped(zarr.tools.rechunk, source, tmp_path / "s", path="b", after=4, **options)
    zarr.tools.reencode(source, tmp_path / "s", path="b", overwrite=True)
    assert zarr.tools.verify(tmp_path / "s")
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.tools.rechunk(source, tmp_path / "s", path="b", resume=True, **options)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "s", path="b")[:], ROWS)


def test_notes_of_a_job_below_end_with_it(tmp_path: Path) -> None:
    options: dict[str, Any] = {"chunks": (8, 48), "memory": 2 * 4 * 8 * 48}
    source = array_at(tmp_path / "a")
    zarr.create_group(tmp_path / "s", path="g")
    stopped(zarr.tools.rechunk, source, tmp_path / "s", path="g/b", after=4, **options)
    zarr.create_group(tmp_path / "t").create_array("b", data=ROWS + 1, chunks=(8, 48))
    zarr.tools.copy(tmp_path / "t", tmp_path / "s", path="g", overwrite=True)
    assert zarr.tools.verify(tmp_path / "s")
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.tools.rechunk(source, tmp_path / "s", path="g/b", resume=True, **options)


def test_a_target_that_was_replaced_meanwhile(tmp_path: Path) -> None:
    options: dict[str, Any] = {"chunks": (64, 1), "memory": 2 * 4 * 64 * 4}
    source = array_at(tmp_path / "a")
    stopped(zarr.tools.rechunk, source, tmp_path / "s", path="b", after=4, **options)
    zarr.create_array(tmp_path / "s", name="b", data=ROWS.astype("f8"), overwrite=True)
    with pytest.raises(ValueError, match="changed"):
        zarr.tools.rechunk(source, tmp_path / "s", path="b", resume=True, **options)


def test_a_job_that_dies_when_it_begins_leaves_no_older_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"chunks": (8, 48), "memory": 2 * 4 * 8 * 48}
    source = array_at(tmp_path / "a")
    stopped(zarr.tools.rechunk, source, tmp_path / "s", path="b", after=4, **options)
    plan = zarr.tools.rechunk(source, tmp_path / "s", path="b", overwrite=True, dry_run=True, **options)
    begin = plan._begin

    def die() -> None:
        begin()
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "_begin", die)
    with pytest.raises(KeyboardInterrupt):
        plan.run()
    made = zarr.tools.rechunk(source, tmp_path / "s", path="b", overwrite=True, resume=True, **options)
    np.testing.assert_array_equal(made[:], ROWS)


def test_a_listing_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = array_at(tmp_path / "a", shape=(2500,), data=None, dtype="i4", chunks=(1,), fill_value=0)
    source[:] = 1
    stopped(zarr.tools.copy, source, tmp_path / "b")
    own = LocalStore.list_sync
    monkeypatch.setattr(LocalStore, "list_sync", lambda self: iter(list(own(self))[::-1]))
    with pytest.raises(zarr.errors.ContainsGroupError, match="Another job"):
        zarr.tools.copy(source, tmp_path / "b", resume=True)


def test_jobs_below_the_root(tmp_path: Path) -> None:
    source = array_at(tmp_path / "a")
    zarr.create_group(tmp_path / "s").create_group("g")
    zarr.create_group(tmp_path / "s", path="h")
    stopped(zarr.tools.rechunk, source, tmp_path / "s", path="g/b", chunks=(64, 1), memory=2 * 4 * 64 * 4)
    for path, found in (("", 1), ("g", 1), ("g/b", 1), ("h", 0)):
        faults = zarr.tools.verify(tmp_path / "s", path=path, values=False).faults
        assert [fault.kind for fault in faults] == ["left-over-job"] * found, path


# ------------------------------------------------------------------------------------------------------ pools


def test_processes_that_do_not_reach_the_target(tmp_path: Path) -> None:
    source = array_at(tmp_path / "a")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for target in (MemoryStore(), {}):
            with pytest.raises(ValueError, match="do not write to"):
                zarr.tools.rechunk(source, target, chunks=(64, 1), executor=pool)
        target = MemoryStore()
        zarr.create_array(target, data=ROWS)
        with pytest.raises(ValueError, match="do not write to"):
            zarr.tools.copy(source, target, overwrite=True, executor=pool)
        np.testing.assert_array_equal(zarr.open_array(target)[:], ROWS)
        made = zarr.tools.rechunk(source, tmp_path / "b", chunks=(64, 1), executor=pool)
    np.testing.assert_array_equal(made[:], ROWS)


# -------------------------------------------------------------------------------------------- consolidated metadata


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("tool", ["copy", "reencode"])
def test_nodes_that_consolidated_metadata_lack(tool: str, zarr_format: Any, tmp_path: Path) -> None:
    root = zarr.create_group(tmp_path / "a", zarr_format=zarr_format)
    root.create_array("x", data=ROWS)
    other = zarr.create_group(tmp_path / "b", zarr_format=zarr_format)
    zarr.consolidate_metadata(root.store)
    other.create_array("y", data=ROWS)
    os.rename(tmp_path / "b/y", tmp_path / "a/y")  # by a program that knows nothing of consolidated metadata
    for number, source in enumerate((tmp_path / "a", zarr.open_group(tmp_path / "a", mode="r"))):
        made = getattr(zarr.tools, tool)(source, tmp_path / f"c{number}")
        assert sorted(zarr.open_group(tmp_path / f"c{number}", use_consolidated=False)) == ["x", "y"]
        assert made.metadata.consolidated_metadata is not None
