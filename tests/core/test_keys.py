"""Chunk keys: compiled equals reference."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarr_core import grid, keys, planners
from zarr_core.reference import grid as reference_grid
from zarr_core.reference import keys as reference
from zarr_core.reference import planners as reference_planners
from zarr_core.reference.plan import ShardGroups as PlainGroups
from zarr_core.shard_groups import ShardGroups

formats = st.tuples(
    st.sampled_from(["", "a", "a/b", "données/雪", "x" * 600]),
    st.sampled_from("/."),
    st.sampled_from(["default", "v2"]),
)
both = pytest.mark.parametrize("module", [keys, reference], ids=["compiled", "reference"])


@given(formats, st.lists(st.integers(0, 2**63 - 1), max_size=6))
def test_key(arguments: tuple[str, str, str], coords: list[int]) -> None:
    assert keys.KeyFormat(*arguments).key(coords) == reference.KeyFormat(*arguments).key(coords)


@both
def test_by_hand(module: Any) -> None:
    for arguments, coords, key in [
        (("", "/", "default"), (), "c"),
        (("a", "/", "default"), (), "a/c"),
        (("", ".", "v2"), (), "0"),
        (("a/b", ".", "v2"), (), "a/b/0"),
        (("", "/", "default"), (0, 12), "c/0/12"),
        (("a/b", ".", "default"), (7,), "a/b/c.7"),
        (("", ".", "v2"), (1, 0), "1.0"),
        (("a", "/", "v2"), (1, 0), "a/1/0"),
        (("", "/", "v2"), (2**63 - 1,) * 64, "/".join([str(2**63 - 1)] * 64)),
    ]:
        assert module.KeyFormat(*arguments).key(coords) == key


@given(formats)
def test_keys_of_plans_and_shards(arguments: tuple[str, str, str]) -> None:
    lists = []
    for grids, plans, module, groups in [
        (grid, planners, keys, ShardGroups),
        (reference_grid, reference_planners, reference, PlainGroups),
    ]:
        chunks: Any = grids.Grid([grids.RegularAxis(70, 3), grids.RegularAxis(9, 2)])
        plan = plans.plan_basic(chunks, (slice(5, 60, 7), slice(None)))
        key_format: Any = module.KeyFormat(*arguments)
        lists.append([key_format.keys(plan), key_format.keys(groups(plan, [4, 2]))])
    assert lists[0] == lists[1]
    assert len(set(lists[0][0])) == len(lists[0][0]) == 40


@both
def test_guards(module: Any) -> None:
    with pytest.raises(ValueError, match=r"separator must be '/' or '\.', got '-'"):
        module.KeyFormat("", "-", "default")
    with pytest.raises(ValueError, match="style must be 'default' or 'v2', got 'v3'"):
        module.KeyFormat("", "/", "v3")
    key_format = module.KeyFormat("", "/", "default")
    with pytest.raises(ValueError, match="got -1"):
        key_format.key((0, -1))
    with pytest.raises(TypeError):
        key_format.key((0.5,))


def test_compiled_guards() -> None:
    key_format = keys.KeyFormat("", "/", "default")
    with pytest.raises(ValueError, match="at most 64 coordinates, got 65"):
        key_format.key((0,) * 65)
    with pytest.raises(ValueError, match="got 9223372036854775808"):
        key_format.key((2**63,))
    with pytest.raises(TypeError, match="got list"):
        key_format.keys([(0,)])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        keys.KeyFormat(None, "/", "default")  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        keys.KeyFormat("\udc80", "/", "default")
    assert repr(pickle.loads(pickle.dumps(key_format))) == "KeyFormat('', '/', 'default')"


@given(formats, st.lists(st.integers(0, 2**63 - 2), max_size=6))
def test_the_coordinates_of_a_key(arguments: tuple[str, str, str], coords: list[int]) -> None:
    for module in (keys, reference):
        made: Any = module.KeyFormat(*arguments)
        key, place = made.key(coords), tuple(coords)
        assert made.coords(key, tuple(c + 1 for c in coords)) == place
        if coords:
            assert made.coords(key, place) is None
        # In format 2 the key without coordinates is that of the first chunk of a line, too.
        for other in ((*place, 1), place[1:]):
            if coords and made.key((0,) * len(other)) != key:
                assert made.coords(key, other) is None


@given(formats, st.text("c0123456789/.a٣é\ud800-+ _", max_size=24), st.integers(0, 3))
def test_what_is_no_key_has_no_coordinates(arguments: tuple[str, str, str], text: str, ndim: int) -> None:
    key = f"{arguments[0]}/{text}" if arguments[0] else text
    found = [module.KeyFormat(*arguments).coords(key, (15,) * ndim) for module in (keys, reference)]
    assert found[0] == found[1]
    assert found[0] is None or keys.KeyFormat(*arguments).key(found[0]) == key


@both
def test_numbers_of_keys_are_spelled_in_one_way(module: Any) -> None:
    made = module.KeyFormat("", "/", "default")
    wrong = ["c/01", "c/+1", "c/ 1", "c/1_0", "c/", "c", "c/1/", "d/1", f"c/{2**63}", "c/" + "9" * 20]
    assert [made.coords(key, (2**63 - 1,)) for key in [*wrong, "c/0", "c/9223372036854775806"]] == [
        *[None] * len(wrong),
        (0,),
        (2**63 - 2,),
    ]
