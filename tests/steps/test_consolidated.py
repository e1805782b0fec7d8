"""Which requests keep the copies true, without a store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zarr.buffer import default_buffer_prototype
from zarr.steps.consolidated import carrying, record_changes_steps, version
from zarr.steps.requests import Gather, Get, GetMany, Hold, Put
from zarr.storage.keys import ancestors


@pytest.fixture(autouse=True)
def no_store_is_known() -> None:
    """A store may get the id of one that is gone, which had copies: that costs a lock, which these tests count."""
    carrying.clear()


class Named:
    """Stands for a store: nothing but its name is asked for."""

    def __str__(self) -> str:
        return f"named-{id(self)}"


def buffer(document: Any) -> Any:
    return default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())


def run(steps: Any, values: dict[str, Any], seen: list[Any]) -> Any:
    """Answer requests of a dictionary and note them."""
    reply = None
    while True:
        try:
            request = steps.send(reply)
        except StopIteration as stop:
            return stop.value
        reply = None
        if isinstance(request, Gather):
            reply = [run(child, values, seen) for child in request.steps]
            continue
        if isinstance(request, GetMany):
            reply = [values.get(key) for key in request.keys]
            seen.extend(("Get", key) for key in request.keys)
            continue
        seen.append((type(request).__name__, getattr(request, "key", None) or getattr(request, "keys", None)))
        if isinstance(request, Get):
            reply = values.get(request.key)
        elif isinstance(request, Put):
            values[request.key] = request.value
        else:
            assert isinstance(request, Hold)


ARRAY = {"zarr_format": 3, "node_type": "array", "shape": [1]}
GROUP = {"zarr_format": 3, "node_type": "group"}


def test_ancestors() -> None:
    assert list(ancestors("a/b")) == ["a", ""]
    assert list(ancestors("")) == []


def test_groups_without_copy_cost_one_read_each() -> None:
    store, seen = Named(), []
    values = {"zarr.json": buffer(GROUP), "a/zarr.json": buffer(GROUP)}
    run(record_changes_steps(store, {"a/x": {"zarr.json": buffer(ARRAY)}}), values, seen)  # type: ignore[arg-type]
    assert sorted(seen) == [("Get", "a/zarr.json"), ("Get", "zarr.json")]
    assert version(store, "") == 0  # type: ignore[arg-type]


def test_the_root_costs_nothing() -> None:
    seen: list[Any] = []
    run(record_changes_steps(Named(), {"": {"zarr.json": buffer(GROUP)}}), {}, seen)  # type: ignore[arg-type]
    assert seen == []


def test_a_copy_is_changed_under_a_lock() -> None:
    store, seen = Named(), []
    inline = {"kind": "inline", "must_understand": False, "metadata": {"y": ARRAY, "gone": ARRAY, "gone/deep": ARRAY}}
    values = {
        "zarr.json": buffer({**GROUP, "consolidated_metadata": inline}),
        "a/zarr.json": buffer({**GROUP, "attributes": {"k": 1}}),
        "a/x/zarr.json": buffer(ARRAY),
    }
    changes = {"a/x": {"zarr.json": buffer(ARRAY)}, "gone": {}}
    before = version(store, "")  # type: ignore[arg-type]
    run(record_changes_steps(store, changes), values, seen)  # type: ignore[arg-type]
    assert [entry for entry in seen if entry[0] in ("Hold", "Put")] == [("Hold", ("zarr.json",)), ("Put", "zarr.json")]
    entries = json.loads(values["zarr.json"].to_bytes())["consolidated_metadata"]["metadata"]
    assert list(entries) == ["a", "y", "a/x"]
    assert entries["a/x"] == ARRAY
    assert entries["a"]["attributes"] == {"k": 1}
    assert entries["a"]["consolidated_metadata"]["metadata"] == {}
    assert version(store, "") != before  # type: ignore[arg-type]


def test_the_copy_of_format_2_lists_documents() -> None:
    store, seen = Named(), []
    values = {".zmetadata": buffer({"zarr_consolidated_format": 1, "metadata": {"a/.zgroup": {"zarr_format": 2}}})}
    documents = {".zarray": buffer({"shape": [1]}), ".zattrs": buffer({"k": 1})}
    values.update({f"a/{name}": document for name, document in documents.items()})
    run(record_changes_steps(store, {"a": documents}), values, seen)  # type: ignore[arg-type]
    entries = json.loads(values[".zmetadata"].to_bytes())["metadata"]
    assert entries == {"a/.zarray": {"shape": [1]}, "a/.zattrs": {"k": 1}}


def test_the_copy_gets_what_is_stored_now_not_what_was_stored_then() -> None:
    """Two change one node; the first to store its document is the last to come to the copy."""
    store, seen = Named(), []
    inline = {"kind": "inline", "must_understand": False, "metadata": {"x": ARRAY}}
    older, newer = ({**ARRAY, "attributes": {"n": n}} for n in (1, 2))
    values = {"zarr.json": buffer({**GROUP, "consolidated_metadata": inline}), "x/zarr.json": buffer(newer)}
    for document in (newer, older):
        run(record_changes_steps(store, {"x": {"zarr.json": buffer(document)}}), values, seen)  # type: ignore[arg-type]
        copy = json.loads(values["zarr.json"].to_bytes())["consolidated_metadata"]["metadata"]
        assert copy["x"]["attributes"] == {"n": 2}


def test_a_node_that_is_made_again_stays_with_all_below_it() -> None:
    """Who removed it is the last to come to the copy: what others have made there since is listed already."""
    listed = {"a": GROUP, "a/x": ARRAY, "a/gone": ARRAY, "a/gone/y": ARRAY, "b": ARRAY}
    inline = {"kind": "inline", "must_understand": False, "metadata": listed}
    values = {
        "zarr.json": buffer({**GROUP, "consolidated_metadata": inline}),
        "a/zarr.json": buffer(GROUP),
        "a/x/zarr.json": buffer(ARRAY),
    }
    run(record_changes_steps(Named(), {"a": {}}), values, [])  # type: ignore[arg-type]
    assert list(json.loads(values["zarr.json"].to_bytes())["consolidated_metadata"]["metadata"]) == ["a", "b", "a/x"]


def test_a_node_that_is_gone_by_now_is_not_listed() -> None:
    inline = {"kind": "inline", "must_understand": False, "metadata": {}}
    values = {"zarr.json": buffer({**GROUP, "consolidated_metadata": inline})}
    run(record_changes_steps(Named(), {"x": {"zarr.json": buffer(ARRAY)}}), values, [])  # type: ignore[arg-type]
    assert json.loads(values["zarr.json"].to_bytes())["consolidated_metadata"]["metadata"] == {}


def test_a_node_of_format_2_that_is_made_again_stays_with_all_below_it() -> None:
    group = {"zarr_format": 2}
    listed = {"a/.zgroup": group, "a/x/.zarray": {}, "a/x/.zattrs": {"k": 1}, "a/y/.zarray": {}, "a/y/.zattrs": {}}
    values = {
        ".zmetadata": buffer({"zarr_consolidated_format": 1, "metadata": listed}),
        "a/.zgroup": buffer(group),
        "a/x/.zarray": buffer({}),
        "a/x/.zattrs": buffer({"k": 1}),
        "a/y/.zattrs": buffer({}),
    }
    run(record_changes_steps(Named(), {"a": {}}), values, [])  # type: ignore[arg-type]
    entries = json.loads(values[".zmetadata"].to_bytes())["metadata"]
    assert entries == {"a/.zgroup": group, "a/x/.zarray": {}, "a/x/.zattrs": {"k": 1}}
