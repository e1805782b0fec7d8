"""Changes of the attributes of a group that carries consolidated metadata: its text stays, however it was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.storage import MemoryStore


def reversed_keys(document: dict[str, Any]) -> str:
    return json.dumps(dict(reversed(document.items())))


def twice(document: dict[str, Any]) -> str:
    """A name that stands twice: the last one counts."""
    return json.dumps(document)[:-1] + ', "attributes": {"old": 2}}'


FORMS: dict[str, Callable[[dict[str, Any]], str]] = {
    "as written": lambda document: json.dumps(document, indent=2),
    "compact": lambda document: json.dumps(document, separators=(",", ":")),
    "tabs": lambda document: json.dumps(document, indent="\t"),
    "reversed": reversed_keys,
    "twice": twice,
}


@pytest.mark.parametrize("members", [0, 1, 40])
@pytest.mark.parametrize("form", FORMS)
def test_the_copy_stays(form: str, members: int) -> None:
    store = MemoryStore()
    group = zarr.create_group(store, attributes={"old": 1})
    for number in range(members):
        group.create_array(f"g{number % 3}/ä{number}", shape=(2,), dtype="i4", attributes={"n": number, "s": "}{\""})
    zarr.consolidate_metadata(store)
    document = json.loads(store.get_sync("zarr.json").to_bytes())
    store.set_sync("zarr.json", Buffer.from_bytes(FORMS[form](document).encode()))
    group = zarr.open_group(store)
    old = dict(group.attrs)
    for opened in (group, zarr.open_group(store, use_consolidated=False)):
        opened.attrs["new"] = {"metadata": {}, "consolidated_metadata": 3}
        opened.attrs["consolidated_metadata"] = {"metadata": {"x": 1}}
        stored = json.loads(store.get_sync("zarr.json").to_bytes())
        assert stored["consolidated_metadata"] == document["consolidated_metadata"]
        assert stored["attributes"].pop("new") == {"metadata": {}, "consolidated_metadata": 3}
        assert stored["attributes"].pop("consolidated_metadata") == {"metadata": {"x": 1}}
        assert stored["attributes"] == old
    found = zarr.open_consolidated(store)
    assert sum(1 for _ in found.members(max_depth=None)) == len(document["consolidated_metadata"]["metadata"])
    del group.attrs["consolidated_metadata"]
    assert "consolidated_metadata" not in zarr.open_consolidated(store).attrs


def test_a_large_group_without_a_copy_gets_none() -> None:
    store = MemoryStore()
    group = zarr.create_group(store, attributes={"consolidated_metadata": {"metadata": {}}, "long": "x" * 10_000})
    group.attrs["a"] = 1
    stored = json.loads(store.get_sync("zarr.json").to_bytes())
    assert "consolidated_metadata" not in stored
    assert stored["attributes"]["a"] == 1
