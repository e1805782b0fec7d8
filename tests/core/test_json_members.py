"""Where the members of an object lie: the compiled walk and the parser of the standard library agree."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from zarr_core import find_json_members
from zarr_core.reference.json_members import find_json_members as reference

NAMES = ["t", "a", "b/c", "é", 'q"', "back\\", "{", "x" * 40, "", "a/b"]
SCALARS: list[Any] = [0, -1.5e300, True, None, "", 'a"b\\', "}{][,:", "x" * 100, float("nan")]


def value(choose: random.Random, depth: int = 0) -> Any:
    kind = choose.random()
    if depth > 3 or kind < 0.4:
        return choose.choice(SCALARS)
    if kind < 0.6:
        return [value(choose, depth + 1) for _ in range(choose.randint(0, 4))]
    return {choose.choice(NAMES): value(choose, depth + 1) for _ in range(choose.randint(0, 5))}


def same(raw: bytes, way: tuple[bytes, ...]) -> None:
    found, wanted = find_json_members(raw, way), reference(raw, way)
    assert (found is None) == (wanted is None), raw
    if found is None or wanted is None:
        return
    assert found[:2] == wanted[:2]
    np.testing.assert_array_equal(found[2], wanted[2])
    assert found[3:] == wanted[3:], raw


@pytest.mark.parametrize("seed", range(60))
def test_both_find_the_same(seed: int) -> None:
    choose = random.Random(seed)
    table = {choose.choice(NAMES): value(choose) for _ in range(choose.randint(0, 8))}
    document = {"before": value(choose), "t": {"k": value(choose), "t": table}, "after": value(choose)}
    separators = choose.choice([None, (",", ":"), (" ,\t", " :\r\n ")])
    text = json.dumps(document, indent=choose.choice([None, 0, 2, 17]), separators=separators, ensure_ascii=False)
    raw = text.encode()
    for way in ((), (b"t",), (b"t", b"t"), (b"t", b"k"), (b"none",), (b"t", b"t", b"t")):
        same(raw, way)
    found = find_json_members(raw, (b"t", b"t"))
    assert found is not None
    assert {
        json.loads(b'"%s"' % raw[start:stop]): json.dumps(
            json.loads(raw[stop + 1 : end].lstrip(b" \t\r\n").lstrip(b":"))
        )
        for start, stop, end in found[2].tolist()
    } == {name: json.dumps(each) for name, each in table.items()}


@pytest.mark.parametrize("seed", range(30))
def test_cut_texts_are_none(seed: int) -> None:
    choose = random.Random(seed)
    raw = json.dumps({"t": {name: value(choose) for name in NAMES}}, indent=choose.choice([None, 2])).encode()
    for stop in range(len(raw)):
        assert find_json_members(raw[:stop], (b"t",)) is None


def test_order_is_that_of_trees() -> None:
    for names, ordered in (
        (["a", "b", "a/a", "a/b"], True),
        (["a/a", "b"], False),
        (["a", "a"], False),
        (["b", "a"], False),
    ):
        raw = b"{%s}" % b",".join(b'"%s":1' % name.encode() for name in names)
        found = find_json_members(raw, ())
        assert found is not None
        assert found[3:] == (True, ordered)
        same(raw, ())
    with pytest.raises(ValueError, match="at most 4"):
        find_json_members(b"{}", (b"a",) * 5)
