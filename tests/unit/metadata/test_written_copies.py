"""A copy that gets a member says, byte for byte, what it would say had it been written as a whole."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import pytest

import zarr
from zarr.metadata.consolidated import kept_copy, load_without_copy, tree_order, write_copy
from zarr.metadata.documents import dump_document
from zarr.steps import consolidated
from zarr.storage import LocalStore, MemoryStore

NAMES = ["a", "b", "g", "g/a", "ü", "a b", 'q"uote', 'colon": {', "back\\slash", "metadata", "\x7f", "x" * 80, "g/b/c"]
VALUES: list[Any] = [{}, {"n": 1}, {"text": '}\n      },\n      "a": {'}, {"deep": [[{"metadata": {}}]]}, 5, None]
HEAD = {"attributes": {"consolidated_metadata": {"metadata": {}}}, "zarr_format": 3}


def written(members: dict[str, Any], step: int) -> Any:
    texts = {name: dump_document(members[name], indent=step) for name in sorted(members, key=tree_order)}
    table: dict[str, Any] = {"kind": "inline", "metadata": {}}
    return write_copy({**HEAD, "consolidated_metadata": table, "node_type": "group"}, texts, step)


@pytest.mark.parametrize("step", [1, 2, 4])
@pytest.mark.parametrize("seed", range(20))
def test_a_member_is_put_in_its_place(seed: int, step: int) -> None:
    choose = random.Random(seed)
    members: dict[str, Any] = {}
    copy = written(members, step)
    for _ in range(20):
        name, value = choose.choice(NAMES), choose.choice(VALUES)
        assert copy.holds(name) == (name in members)
        members[name] = value
        copy = copy.with_member(name, dump_document(value, indent=step))
        assert copy == written(members, step)
    assert copy.raw == json.dumps(json.loads(copy.raw), indent=step).encode()
    assert kept_copy(copy.raw) == copy
    assert load_without_copy(copy.raw, "zarr.json") == {**HEAD, "node_type": "group"}


def test_a_change_below_a_group_parses_no_copy(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path)):
        root = zarr.create_group(store)
        root.create_group("g").create_array("x", shape=(4,), dtype="int8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root = zarr.consolidate_metadata(store)
        with monkeypatch.context() as watched:
            watched.setattr(consolidated, "_entries", lambda *_: pytest.fail("the copy was parsed"))
            root.create_array("g/a", shape=(4,), dtype="int8")
            root.create_array("b", shape=(4,), dtype="int8").attrs["k"] = 1
            root["g/x"].resize((8,))
        stored = json.loads(store.get_sync("zarr.json").to_bytes())["consolidated_metadata"]["metadata"]
        assert list(stored) == ["b", "g", "g/a", "g/x"]
        assert stored["b"]["attributes"] == {"k": 1}
        assert stored["g/x"] == json.loads(store.get_sync("g/x/zarr.json").to_bytes())


def test_what_another_process_has_stored_stays() -> None:
    store = MemoryStore()
    root = zarr.create_group(store)
    root.create_array("a", shape=(4,), dtype="int8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.consolidate_metadata(store)
    document = json.loads(store.get_sync("zarr.json").to_bytes())
    document["consolidated_metadata"]["metadata"]["foreign"] = {"zarr_format": 3, "node_type": "group"}
    store.set_sync("zarr.json", zarr.buffer.default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode()))
    root.create_array("b", shape=(4,), dtype="int8")
    stored = json.loads(store.get_sync("zarr.json").to_bytes())["consolidated_metadata"]["metadata"]
    assert list(stored) == ["a", "b", "foreign"]
