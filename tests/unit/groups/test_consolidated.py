"""Consolidated metadata: read in one go, and never untrue after a write through this library."""

from __future__ import annotations

import contextlib
import json
import os
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import zarr
import zarr_core
from zarr.buffer import default_buffer_prototype
from zarr.errors import ContainsArrayError, ZarrUserWarning
from zarr.storage import MemoryStore

from .counting import CountingStore


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently", category=ZarrUserWarning)
        yield


def seen(group: zarr.Group) -> dict[str, object]:
    """All nodes below a group, with what tells them apart."""
    return {
        name: (node.attrs.asdict(), getattr(node, "shape", None), getattr(node, "dtype", None))
        for name, node in group.members(max_depth=None)
    }


def check_true(store: zarr.abc.store.Store, path: str = "") -> None:
    """The copy says what the store holds."""
    copied = zarr.open_group(store, path=path, use_consolidated=True)
    listed = zarr.open_group(store, path=path, use_consolidated=False)
    assert copied.attrs.asdict() == listed.attrs.asdict()
    assert seen(copied) == seen(listed)


@pytest.fixture
def consolidated(root: zarr.Group) -> zarr.Group:
    root.create_array("a/x", shape=(4,), dtype="int8", attributes={"k": 1})
    root.create_group("a/b/c", attributes={"l": 2})
    root.create_array("y", shape=(2,), dtype="float64")
    root.attrs["title"] = "t"
    return zarr.consolidate_metadata(root.store)


def test_consolidate(consolidated: zarr.Group) -> None:
    check_true(consolidated.store)
    assert list(consolidated.metadata.consolidated_metadata.flattened_metadata) == ["a", "a/b", "a/b/c", "a/x", "y"]
    assert consolidated["a"].metadata.consolidated_metadata is not None
    assert consolidated["a/x"].attrs["k"] == 1
    assert "No. members : 5" in repr(consolidated.info)


def test_which_copy_is_used(root: zarr.Group, zarr_format: int) -> None:
    store = root.store
    for insisting in ({"use_consolidated": True}, {"use_consolidated": True, "zarr_format": zarr_format}):
        with pytest.raises(ValueError, match=r"[Cc]onsolidated"):
            zarr.open_group(store, **insisting)
    with pytest.raises(ValueError, match=r"[Cc]onsolidated"):
        zarr.open_consolidated(store)
    root.create_group("a")
    zarr.consolidate_metadata(store)
    assert zarr.open_group(store).metadata.consolidated_metadata is not None
    assert zarr.open_group(store, use_consolidated=False).metadata.consolidated_metadata is None
    assert list(zarr.open_consolidated(store)) == ["a"]
    assert list(zarr.open(store, use_consolidated=True)) == ["a"]
    with pytest.raises(TypeError, match="open_consolidated"):
        zarr.open_consolidated(store, use_consolidated=False)


def test_a_string_names_the_copy_of_format_2() -> None:
    store = MemoryStore()
    zarr.create_group(store, zarr_format=2).create_group("a")
    zarr.consolidate_metadata(store)
    store._store_dict[".other"] = store._store_dict.pop(".zmetadata")
    assert zarr.open_group(store).metadata.consolidated_metadata is None
    assert list(zarr.open_group(store, use_consolidated=".other", zarr_format=2)) == ["a"]
    with pytest.raises(ValueError, match="nowhere"):
        zarr.open_group(store, use_consolidated=".nowhere", zarr_format=2)
    zarr.create_group(store, overwrite=True)
    with pytest.raises(TypeError, match="bool or None"):
        zarr.open_group(store, use_consolidated=".zmetadata")


def test_a_copy_is_read_in_one_request() -> None:
    store = MemoryStore()
    root = zarr.create_group(store)
    for i in range(20):
        root.create_array(f"a{i}", shape=(4,), dtype="int8")
    zarr.consolidate_metadata(store)
    counting = CountingStore(store._store_dict)
    group = zarr.open_group(counting, mode="r+", zarr_format=3)
    assert len(group.members(max_depth=None)) == 20
    assert counting.read == ["zarr.json"]
    assert counting.listed == []


CHANGES = {
    "create array": lambda g: g.create_array("new", shape=(3,), dtype="int16"),
    "create array deep": lambda g: g.create_array("p/q/new", shape=(3,), dtype="int16"),
    "create group": lambda g: g.create_group("a/new", attributes={"n": 1}),
    "require": lambda g: g.require_groups("a", "r/s"),
    "overwrite array": lambda g: g.create_array("y", shape=(9,), dtype="int8", overwrite=True),
    "array instead of group": lambda g: g.create_array("a", shape=(9,), dtype="int8", overwrite=True),
    "group instead of group": lambda g: g.create_group("a", overwrite=True),
    "setitem": lambda g: g.__setitem__("z", np.arange(3)),
    "delete array": lambda g: g.__delitem__("y"),
    "delete group": lambda g: g.__delitem__("a"),
    "own attributes": lambda g: g.attrs.update({"title": "u", "new": 1}),
    "array attributes": lambda g: g["a/x"].attrs.update({"k": 7}),
    "group attributes": lambda g: g["a/b/c"].attrs.put({"m": 3}),
    "resize": lambda g: g["a/x"].resize((9,)),
    "append": lambda g: g["y"].append(np.zeros(3)),
    "move": lambda g: g.move("a", "moved/a"),
    "hierarchy": lambda g: g.create_hierarchy({"h/i": g["a/b"].metadata, "h/x": g["a/x"].metadata}),
    "through the child": lambda g: g["a"].create_array("deep", shape=(1,), dtype="int8"),
    "zarr.create_array": lambda g: zarr.create_array(g.store, name="a/w", shape=(1,), dtype="int8",
                                                     zarr_format=g.metadata.zarr_format),
    "zarr.open_array": lambda g: zarr.open_array(g.store, path="a/x", mode="r+").attrs.update({"via": "path"}),
    "zarr.save": lambda g: zarr.save(g.store, np.arange(2), path="saved", zarr_format=g.metadata.zarr_format),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_copy_stays_true(consolidated: zarr.Group, change: str) -> None:
    CHANGES[change](consolidated)
    check_true(consolidated.store)
    # The group that was open all the time sees it, too.
    assert seen(consolidated) == seen(zarr.open_group(consolidated.store, use_consolidated=False))


@pytest.mark.parametrize("change", CHANGES)
def test_another_open_group_sees_the_change(consolidated: zarr.Group, change: str) -> None:
    other = zarr.open_group(consolidated.store, mode="r+")
    child = other["a"]
    CHANGES[change](consolidated)
    assert seen(other) == seen(zarr.open_group(consolidated.store, use_consolidated=False))
    del child


def test_copies_in_groups_below_stay_true_as_well(consolidated: zarr.Group) -> None:
    store = consolidated.store
    zarr.consolidate_metadata(store, path="a")
    zarr.open_array(store, path="a/x", mode="r+").attrs["k"] = 5
    zarr.open_group(store, path="a", use_consolidated=False).create_group("b/d")
    check_true(store)
    check_true(store, "a")


def test_a_group_without_copy_gets_none(root: zarr.Group) -> None:
    root.create_array("x", shape=(3,), dtype="int8").attrs["k"] = 1
    assert zarr.open_group(root.store).metadata.consolidated_metadata is None


def test_consolidate_what_is_no_group(root: zarr.Group, zarr_format: int) -> None:
    root.create_array("x", shape=(3,), dtype="int8")
    with pytest.raises(FileNotFoundError):
        zarr.consolidate_metadata(root.store, path="nowhere")
    with pytest.raises(ContainsArrayError if zarr_format == 3 else FileNotFoundError):
        zarr.consolidate_metadata(root.store, path="x")
    with pytest.raises(ValueError, match="read-only"):
        zarr.consolidate_metadata(root.store.with_read_only(read_only=True))


def test_a_store_may_want_no_copy() -> None:
    class Plain(MemoryStore):
        supports_consolidated_metadata = False

    root = zarr.create_group(Plain())
    with pytest.raises(TypeError, match="Plain"):
        zarr.consolidate_metadata(root.store)


def test_a_node_in_the_copy_that_cannot_be_read_is_named() -> None:
    store = MemoryStore()
    root = zarr.create_group(store)
    root.create_array("good", shape=(3,), dtype="int8")
    root.create_array("bad", shape=(3,), dtype="int8")
    zarr.consolidate_metadata(store)
    text = store._store_dict["zarr.json"].to_bytes().replace(b'"data_type": "int8"', b'"data_type": "int9"', 1)
    store._store_dict["zarr.json"] = default_buffer_prototype().buffer.from_bytes(text)
    group = zarr.open_group(store)
    for call in (lambda: list(group), lambda: group["bad"], lambda: "bad" in group):
        with pytest.raises(ValueError, match=r"int9.*bad"):
            call()
    assert group["good"].shape == (3,)
    group.attrs["k"] = 1
    assert b"int9" in store._store_dict["zarr.json"].to_bytes()


names = st.sampled_from(["a", "b", "a/b", "a/b/c", "d"])


@settings(max_examples=40, deadline=None)
@given(
    zarr_format=st.sampled_from([2, 3]),
    steps=st.lists(st.tuples(st.sampled_from(["group", "array", "delete", "attrs", "move"]), names, names), max_size=8),
)
def test_whatever_is_done_the_copy_stays_true(zarr_format: int, steps: list[tuple[str, str, str]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store = MemoryStore()
        zarr.create_group(store, zarr_format=zarr_format).create_group("a")
        root = zarr.consolidate_metadata(store)
        for kind, name, other in steps:
            try:
                if kind == "group":
                    root.require_group(name)
                elif kind == "array":
                    root.create_array(name, shape=(2,), dtype="int8")
                elif kind == "delete":
                    del root[name]
                elif kind == "attrs" and name in root:
                    root[name].attrs[other] = 1
                elif kind == "move":
                    root.move(name, other)
            except (ValueError, TypeError, KeyError):
                pass  # not every step is possible everywhere
            check_true(store)
            assert seen(root) == seen(zarr.open_group(store, use_consolidated=False))


@pytest.mark.parametrize(("zarr_format", "name"), [(2, ".zmetadata"), (3, "zarr.json")])
@pytest.mark.parametrize("damage", [b"no JSON", b"[1]", b'"consolidated_metadata"'])
def test_a_damaged_copy_stops_no_change(zarr_format: int, name: str, damage: bytes) -> None:
    """The node is stored by then: an error would leave a node that the program believes it has not made."""
    store = MemoryStore()
    group = zarr.open_group(store, mode="w", zarr_format=zarr_format)  # type: ignore[arg-type]
    array = group.create_array("x", shape=4, dtype="i4")
    zarr.consolidate_metadata(store)
    group = zarr.open_group(store, use_consolidated=False)
    store.set_sync(name, default_buffer_prototype().buffer.from_bytes(damage))
    shown = pytest.warns(ZarrUserWarning, match=r"not updated.*consolidate_metadata of the group / writes it anew")
    with shown if zarr_format == 2 or b"consolidated" in damage else contextlib.nullcontext():
        array.attrs["a"] = 1
        array.resize(5)
    assert array.attrs["a"] == 1
    if zarr_format == 2:
        with shown:
            group.create_array("y", shape=4, dtype="i4")
            del group["x"]
        zarr.consolidate_metadata(store)
        check_true(store)
        assert list(zarr.open_group(store)) == ["y"]


@pytest.mark.skipif(zarr_core.IMPLEMENTATION != "compiled", reason="the twin in Python makes copies of its own")
def test_a_change_takes_the_memory_of_one_new_text(tmp_path: Path) -> None:
    """The text that was read is no longer kept while the new one is made: in large hierarchies, memory costs time."""
    root = zarr.create_group(tmp_path)
    root.create_array("large", shape=4, dtype="i4", attributes={"text": "x" * 4_000_000})
    array = root.create_array("small", shape=4, dtype="i4")
    zarr.consolidate_metadata(tmp_path)
    array.attrs["number"] = 1
    tracemalloc.start()
    try:
        array.attrs["number"] = 2
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def large_group(folder: Path) -> zarr.Group:
    """Return a group whose consolidated metadata was changed in this process."""
    root = zarr.create_group(folder)
    root.create_array("large", shape=4, dtype="i4", attributes={"text": "x" * 100_000})
    root = zarr.consolidate_metadata(folder)
    root.create_array("first", shape=4, dtype="i4")
    return root


@pytest.mark.parametrize("way", ["replaced", "written in place", "removed"])
def test_a_change_of_another_program_is_seen(tmp_path: Path, way: str) -> None:
    """The text that is kept of a document is used only if the document still has it, to the last byte."""
    root = zarr.create_group(tmp_path)
    root.create_array("a", shape=4, dtype="i4", attributes={"n": 1})
    root = zarr.consolidate_metadata(tmp_path)
    root.create_array("b", shape=4, dtype="i4")
    document = tmp_path / "zarr.json"
    status, text = document.stat(), document.read_bytes().replace(b'"n": 1', b'"n": 2')
    if way == "replaced":
        (tmp_path / "new").write_bytes(text)
        (tmp_path / "new").replace(document)
    elif way == "written in place":
        document.write_bytes(text)
        os.utime(document, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        document.write_text('{"zarr_format": 3, "node_type": "group"}')
    root.create_array("c", shape=4, dtype="i4")
    found = json.loads(document.read_text()).get("consolidated_metadata")
    if way == "removed":
        assert found is None
    else:
        assert [*found["metadata"]] == ["a", "b", "c"]
        assert found["metadata"]["a"]["attributes"] == {"n": 2}


def test_a_creation_reads_large_copies_at_most_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, sizes = large_group(tmp_path), []
    read_file, read_files = zarr_core.read_file, zarr_core.read_files

    def one(path: str) -> Any:
        found = read_file(path)
        sizes.append(len(found) if isinstance(found, bytes) else 0)
        return found

    def several(base: str, keys: list[str]) -> Any:
        found = read_files(base, keys)
        sizes.extend(len(raw) for raw in found if isinstance(raw, bytes))
        return found

    monkeypatch.setattr(zarr_core, "read_file", one)
    monkeypatch.setattr(zarr_core, "read_files", several)
    root.create_array("second", shape=4, dtype="i4")
    assert [size > 100_000 for size in sizes].count(True) <= 1
    check_true(root.store)


@pytest.mark.parametrize("end", ['"attributes": {"a": 1, "node_type": "group"}}', '"node_type": "array"}', None])
def test_nothing_is_created_below_what_another_program_put_in_place_of_a_group(tmp_path: Path, end: str | None) -> None:
    root = large_group(tmp_path / "g")
    if end is None:
        (tmp_path / "g/zarr.json").unlink()
        zarr.create_array(root.store, name="x", shape=4, dtype="i4")
        assert set(zarr.open_group(tmp_path / "g")) == {"first", "large", "x"}  # the group is made anew
        return
    document = zarr.create_array(MemoryStore(), shape=4, dtype="i4").metadata.to_dict()
    document = {**document, "attributes": {"long": "y" * 10_000}}
    name = end[1:].partition('"')[0]
    text = json.dumps({key: value for key, value in document.items() if key != name})
    (tmp_path / "g/zarr.json").write_text(f"{text[:-1]}, {end}")
    with pytest.raises(ValueError, match="only groups may have child nodes"):
        zarr.create_array(root.store, name="x", shape=4, dtype="i4")
