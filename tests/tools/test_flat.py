"""Tools go through hierarchies of many arrays in the order of paths, and keep little of each."""

from __future__ import annotations

import contextlib
import gc
import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zarr
from tests.tools.places import keys, make_store
from zarr._cli.cli import main
from zarr.groups import members
from zarr.storage import MemoryStore
from zarr.tools import checksum, copy, diff, stats, verify
from zarr.tools.contents import nodes
from zarr.tools.contents.nodes import open_node, walk

NAMES = st.text("ab-/0é", min_size=1, max_size=8).map(lambda name: "/".join(filter(None, name.split("/"))))


@given(st.sets(NAMES.filter(bool), max_size=12), st.booleans(), st.sampled_from([None, 0, 1]), st.integers(1, 3))
def test_nodes_come_by_path(paths: set[str], consolidated: bool, depth: int | None, at_once: int) -> None:
    root = zarr.create_group(MemoryStore())
    for path in paths:
        if not any(other.startswith(f"{path}/") for other in paths):
            root.create_array(path, shape=1, dtype="i1")
    if consolidated:
        root = zarr.consolidate_metadata(root.store)
    before, nodes.AT_ONCE = nodes.AT_ONCE, at_once  # type: ignore[misc]
    try:
        found = [(path, type(node)) for path, node in walk(root, depth)]
    finally:
        nodes.AT_ONCE = before  # type: ignore[misc]
    wanted = [(path, type(node)) for path, node in root.members(max_depth=depth)]
    assert found == [("", zarr.Group), *sorted(wanted, key=lambda member: member[0])]


def test_copies_below_are_not_used() -> None:
    root = zarr.create_group(MemoryStore())
    root.create_group("g")
    zarr.consolidate_metadata(root.store, path="g")
    root.create_array("g/later", shape=1, dtype="i1")
    group = dict(walk(open_node(root)))["g"]
    assert isinstance(group, zarr.Group)
    assert group.metadata.consolidated_metadata is None
    assert [path for path, _ in walk(open_node(root))] == ["", "g", "g/later"]


def test_a_drawn_tree_reads_no_more_than_it_shows() -> None:
    root = zarr.create_group(MemoryStore())
    for number in range(7):
        root.create_group(f"g{number}/h").create_array("a", shape=1, dtype="i1")
    whole = str(root.tree())
    assert str(root.tree(max_nodes=21)) == whole
    drawn = str(root.tree(max_nodes=9))
    assert drawn.startswith("Truncated at max_nodes=9")
    assert drawn.count("──") == 9
    assert drawn.count("── h") == 2


def command(*words: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(list(words)) == 0


TOOLS: dict[str, Callable[[str, str], Any]] = {
    "tree": lambda place, other: zarr.open_group(place, mode="r").tree(max_nodes=50),
    "du": lambda place, other: command("du", place, "--depth", "0"),
    "verify": lambda place, other: verify(place),
    "copy": lambda place, other: copy(place, other, progress=False),
    "stats": lambda place, other: stats(place),
    "diff": lambda place, other: diff(place, place),
    "checksum": lambda place, other: checksum(place),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    folder = tmp_path_factory.mktemp("hierarchies")
    made = {}
    for count in (20, 100, 500):
        root = zarr.create_group(folder / str(count))
        for number in range(count):
            path = f"g{number // 50}/a{number}"
            root.create_array(path, shape=(4, 4), chunks=(2, 4), dtype="f4")[:] = number + 1
        made[count] = str(folder / str(count))
    return made


@pytest.mark.parametrize("name", TOOLS)
def test_memory_is_flat(name: str, places: dict[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "AT_ONCE", 2)
    TOOLS[name](places[20], str(tmp_path / "20"))  # loads what it needs
    peaks = {}
    for count in (100, 500):
        gc.collect()
        tracemalloc.start()
        TOOLS[name](places[count], str(tmp_path / str(count)))
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # An opened array with its layout takes 30 kB, a document that is parsed 2 kB.
    assert peaks[500] - peaks[100] < 400 * 1200, peaks


@pytest.mark.parametrize("kind", ["folder", "memory", "zip"])
def test_copies_within_a_store(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zarr.tools.copies.copying.KEYS_PER_TASK", 3)
    store = make_store(kind, tmp_path)
    zarr.create_array(store, name="g/a", shape=20, chunks=1, dtype="i1")[:] = range(1, 21)
    copied = copy(zarr.open(store, path="g"), store, path="other")
    assert isinstance(copied, zarr.Group)
    array = copied["a"]
    assert isinstance(array, zarr.Array)
    assert array[:].tolist() == list(range(1, 21))
    assert len([key for key in keys(store) if key.startswith("other/")]) == 22
    store.close()
