"""Moving nodes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.groups.operations import move_steps
from zarr.steps.requests import Delete, DeletePrefix, Put
from zarr.storage import LocalStore


def fill(root: zarr.Group) -> zarr.Group:
    root.create_array("a/x", data=np.arange(10), chunks=(3,))
    root.create_group("a/b", attributes={"k": 1})
    root.create_array("y", shape=(2,), dtype="int8")
    return root


@pytest.fixture
def filled(root: zarr.Group) -> zarr.Group:
    return fill(root)


def test_move_a_group(filled: zarr.Group) -> None:
    filled.move("a", "p/q")
    assert [name for name, _ in filled.members(max_depth=None)] == ["p", "p/q", "p/q/b", "p/q/x", "y"]
    np.testing.assert_array_equal(filled["p/q/x"][:], np.arange(10))
    assert filled["p/q/b"].attrs.asdict() == {"k": 1}


def test_move_an_array(filled: zarr.Group) -> None:
    filled["a"].move("x", "z")
    np.testing.assert_array_equal(filled["a/z"][:], np.arange(10))
    assert "x" not in filled["a"]


def test_moves_that_make_no_sense(filled: zarr.Group) -> None:
    with pytest.raises(KeyError, match="nowhere"):
        filled.move("nowhere", "b")
    with pytest.raises(ContainsArrayError):
        filled.move("a", "y")
    with pytest.raises(ContainsGroupError):
        filled.move("y", "a")
    for source, dest in (("a", "a/b/c"), ("", "q"), ("a", ""), ("a", "a")):
        with pytest.raises(ValueError, match="move"):
            filled.move(source, dest)
    with pytest.raises(ValueError, match="array"):
        filled.move("a", "y/below")
    assert [name for name, _ in filled.members(max_depth=None)] == ["a", "a/b", "a/x", "y"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_source_goes_last_and_the_document_arrives_last(zarr_format: Literal[2, 3]) -> None:
    store = zarr.storage.MemoryStore()
    fill(zarr.create_group(store, zarr_format=zarr_format))
    seen: list[object] = []

    class Noting(zarr.storage.MemoryStore):
        async def set(self, key, value):  # type: ignore[no-untyped-def]
            raise AssertionError

        def set_sync(self, key, value):  # type: ignore[no-untyped-def]
            seen.append(Put(key, value))
            super().set_sync(key, value)

        async def delete_dir(self, prefix):  # type: ignore[no-untyped-def]
            raise AssertionError

        def delete_dir_sync(self, prefix):  # type: ignore[no-untyped-def]
            seen.append(DeletePrefix(prefix))
            super().delete_dir_sync(prefix)

        async def delete(self, key):  # type: ignore[no-untyped-def]
            raise AssertionError

        def delete_sync(self, key):  # type: ignore[no-untyped-def]
            seen.append(Delete(key))
            super().delete_sync(key)

    group = zarr.open_group(Noting(store._store_dict), mode="r+")
    group._run(move_steps(group._handle, "a/x", "z"))
    keys = [step.key if isinstance(step, Put) else "gone" for step in seen]
    documents = {"z/zarr.json", "z/.zarray"}
    chunks = [i for i, key in enumerate(keys) if key.startswith("z/") and key not in documents]
    published = [i for i, key in enumerate(keys) if key in documents]
    assert max(chunks) < min(published) <= max(published) < keys.index("gone")


def test_a_folder_gets_another_name_and_keeps_its_files(tmp_path: Path) -> None:
    root = fill(zarr.create_group(LocalStore(tmp_path)))
    zarr.consolidate_metadata(root.store)
    before = {path.name: path.stat().st_ino for path in (tmp_path / "a" / "x").rglob("*")}
    root["a"].move("x", "/p/x")
    root["p"].move("x", "z")
    assert {path.name: path.stat().st_ino for path in (tmp_path / "p" / "z").rglob("*")} == before
    assert not (tmp_path / "a" / "x").exists()
    listed = [name for name, _ in zarr.open_consolidated(root.store).members(max_depth=None)]
    assert listed == ["a", "a/b", "p", "p/z", "y"]
    np.testing.assert_array_equal(zarr.open_consolidated(root.store)["p/z"][:], np.arange(10))


def test_a_node_is_copied_where_the_place_has_other_files(tmp_path: Path) -> None:
    root = fill(zarr.create_group(LocalStore(tmp_path)))
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "notes.txt").write_text("kept")
    root.move("a", "z")
    assert (tmp_path / "z" / "notes.txt").read_text() == "kept"
    assert not (tmp_path / "a").exists()
    np.testing.assert_array_equal(root["z/x"][:], np.arange(10))


def test_an_open_array_that_was_moved_is_gone_at_its_old_place(tmp_path: Path) -> None:
    """Another object of the array does not write into the moved one by a file that it holds open."""
    root = fill(zarr.create_group(LocalStore(tmp_path)))
    old = root["a/x"]
    old[0] = 5
    root.move("a/x", "z")
    old[0] = 7
    assert root["z"][0] == 5
    assert "a/x" not in root


def test_moving_by_coroutines(tmp_path: Path) -> None:
    root = fill(zarr.create_group(LocalStore(tmp_path)))
    asyncio.run(root._async_group.move("a", "z"))
    assert [name for name, _ in root.members(max_depth=None)] == ["y", "z", "z/b", "z/x"]


@pytest.mark.parametrize("below", [1, 200])
def test_no_node_is_moved_onto_a_group_with_damaged_consolidated_metadata(below: int) -> None:
    store = zarr.storage.MemoryStore()
    root = zarr.create_group(store)
    for number in range(below):
        root.create_group(f"g/h/{number}")
    root.create_group("other")
    zarr.consolidate_metadata(store, path="g")

    def stored() -> bytes:
        raw = store.get_sync("g/zarr.json")
        assert raw is not None
        return raw.to_bytes()

    damaged = stored().replace(b'"h": ', b'"z": ')
    assert damaged != stored()
    store.set_sync("g/zarr.json", Buffer.from_bytes(damaged))
    with pytest.raises(ContainsGroupError):
        root.move("other", "g")
    assert stored() == damaged
    zarr.open_group(store, path="g", use_consolidated=False).attrs["k"] = 1
    assert zarr.open_group(store, path="g", use_consolidated=False).attrs["k"] == 1
