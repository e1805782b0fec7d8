"""Random damage: no tool raises or hangs; what is not found can be read; repairs lose nothing and come to an end."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import pytest

import zarr
from tests.tools.places import delete, fill, get, keys, put
from zarr.storage import MemoryStore
from zarr.tools import checksum, repair, stats, verify

ODD: list[Any] = [None, -1, 0, 1, 2**63, 1.5, "x", [], {}, True, [1], {"name": "x"}, float("nan")]
FOLDERS = ("", "g/", "a/", "a/c/")
NAMES = ("x", "zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata", "0", "c", "c/0/0", "a/b/c")


def change_member(value: Any, chance: random.Random) -> None:
    """Put something odd in the place of a random member of a document, or take it away."""
    places: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not places:
        return
    place = chance.choice(places)
    if isinstance(value[place], dict | list) and value[place] and chance.random() < 0.5:
        change_member(value[place], chance)
    elif isinstance(value, dict) and chance.random() < 0.3:
        del value[place]
    else:
        value[place] = chance.choice(ODD)


def damage(store: Any, chance: random.Random) -> None:
    key = chance.choice(keys(store))
    data = bytearray(get(store, key))
    how = chance.randrange(7)
    if how == 0:
        delete(store, key)
    elif how == 1 and data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        put(store, key, bytes(data))
    elif how == 2:
        put(store, key, bytes(data[: chance.randrange(len(data) + 1)]))
    elif how == 3:
        put(store, key, bytes(data) + chance.randbytes(5))
    elif how == 4:
        put(store, chance.choice(FOLDERS) + chance.choice(NAMES), bytes(data))
    elif how == 5:
        put(store, key, get(store, chance.choice(keys(store))))
    elif data.startswith(b"{"):
        with contextlib.suppress(ValueError):  # what is damaged already is no JSON
            document = json.loads(bytes(data))
            change_member(document, chance)
            put(store, key, json.dumps(document))


def contents(store: Any) -> dict[str, bytes]:
    return {key: get(store, key) for key in keys(store)}


def meaning(value: bytes) -> Any:
    """What a value says, for documents that are written anew."""
    try:
        return json.dumps(json.loads(value), sort_keys=True)
    except ValueError:
        return value


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.filterwarnings("ignore")
def test_random_damage(seed: int) -> None:
    chance = random.Random(seed)
    store = MemoryStore()
    fill(store, chance.choice([2, 3]), chance.random() < 0.7)
    for _ in range(chance.randrange(1, 4)):
        damage(store, chance)
    before = contents(store)
    report = verify(store)
    plan = repair(store)
    assert contents(store) == before
    assert json.loads(json.dumps(report.to_json()))["sound"] == bool(report)
    assert not (report and plan)
    if report:
        try:
            zarr.open(store, mode="r")
        except FileNotFoundError:  # the document of the root is gone, and all the others are roots now
            return
        assert checksum(store).nodes == report.nodes
        stats(store)
    assert repair(store, dry_run=False) == plan
    kept = {meaning(value) for value in contents(store).values()}
    assert all(meaning(value) in kept for value in before.values())
    for _ in range(3):  # what a damaged document had hidden is found when it is mended
        plan = repair(store, dry_run=False)
    assert plan == []
