"""``zarr.tools.diff`` names each thing in which two hierarchies differ, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.places import fill
from zarr.dtype import Int32
from zarr.dtype.types.nullable import Nullable
from zarr.storage import LocalStore, MemoryStore
from zarr.tools import checksum, diff

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning", "ignore::FutureWarning")


def make(**how: Any) -> Any:
    root = zarr.create_group({}, zarr_format=how.pop("zarr_format", 3), attributes=how.pop("attributes", {"k": 1}))
    data = how.pop("data", np.arange(12.0).reshape(4, 3))
    parameters = {"shape": data.shape, "dtype": data.dtype, "chunks": (2, 2), **how}
    root.create_array("x", **parameters)[...] = data
    return root


def aspects(left: Any, right: Any, **how: Any) -> list[tuple[str, str, str]]:
    found = diff(left, right, **how)
    assert all("\n" not in str(each) and str(each).startswith(f"/{each.path}: ") for each in found)
    return [(each.path, each.aspect, each.name) for each in found]


def test_same() -> None:
    one = make()
    assert diff(one, one) == []
    assert diff(make(), make()) == []
    assert not diff(make(), make())


CHANGES: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    ({"chunks": (4, 3)}, [("x", "chunks", "")]),
    ({"chunks": (2, 1), "shards": (2, 2)}, [("x", "chunks", ""), ("x", "shards", ""), ("x", "codecs", "")]),
    ({"compressors": None}, [("x", "codecs", "")]),
    ({"fill_value": 5.0}, [("x", "fill value", "")]),
    ({"dimension_names": ("y", "x")}, [("x", "dimension names", "")]),
    ({"data": np.arange(15.0).reshape(5, 3)}, [("x", "shape", "")]),
    ({"dtype": "f4"}, [("x", "data type", ""), ("x", "fill value", "")]),
    ({"attributes": {"k": 2}}, [("", "attribute", "k")]),
    ({"attributes": {}}, [("", "attribute", "k")]),
    ({"attributes": {"k": 1, "l": None}}, [("", "attribute", "l")]),
    ({"zarr_format": 2}, [("", "format", ""), ("x", "format", "")]),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES, ids=lambda value: str(value)[:40])
def test_each_aspect(change: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert aspects(make(), make(**change)) == expected


def test_codecs_of_format_2() -> None:
    assert aspects(make(zarr_format=2), make(zarr_format=2, compressors=None)) == [("x", "codecs", "")]
    assert aspects(make(zarr_format=2), make(zarr_format=2, order="F")) == [("x", "codecs", "")]
    assert aspects(make(zarr_format=2), make(zarr_format=2, dtype=">f8")) == [("x", "codecs", "")]


def test_nodes() -> None:
    one, other = make(), make()
    one.create_group("only/left")
    other.create_array("kind", shape=1, dtype="i1")
    one.create_group("kind")
    assert aspects(one, other) == [("kind", "node type", ""), ("only", "node", ""), ("only/left", "node", "")]
    line = str(diff(one, other)[1])
    assert line == "/only: node: 'group' on the left, nothing on the right"


def test_values() -> None:
    data = np.arange(12.0).reshape(4, 3)
    changed = data.copy()
    changed[1, 2], changed[3, 0] = 5.5, -1
    (found,) = diff(make(data=data), make(data=changed))
    assert (found.aspect, found.count, found.first, found.greatest) == ("values", 2, (1, 2), 10.0)
    assert (found.left, found.right) == (5.0, 5.5)
    assert str(found).endswith("at (1, 2); 2 elements differ, by at most 10.0")
    assert diff(make(data=data), make(data=changed), values=False) == []


def array(data: Any, dtype: Any = None, **how: Any) -> Any:
    data = np.asarray(data)
    made = zarr.create_array({}, shape=data.shape, dtype=dtype or data.dtype, **how)
    made[...] = data
    return made


@pytest.mark.parametrize(
    ("left", "right", "count", "greatest"),
    [
        ([1.0, np.nan], [1.0, np.nan], 0, None),
        ([1.0, np.nan], [1.0, 2.0], 1, None),
        ([np.inf, 1.0], [-np.inf, 1.0], 1, np.inf),
        (np.array([-128, 3], "i1"), np.array([127, 3], "i1"), 1, 255),
        (np.array([2**63 - 1], "i8"), np.array([-(2**63)], "i8"), 1, 2**64 - 1),
        (np.array([0], "u8"), np.array([2**64 - 1], "u8"), 1, 2**64 - 1),
        (np.array([True, False]), np.array([True, True]), 1, 1),
        (np.array([1 + 1j, 2]), np.array([1 - 1j, 2]), 1, 2.0),
        (np.array(["a", "b"]), np.array(["a", "c"]), 1, None),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), np.array(["2020-01-03", "NaT"], "M8[D]"), 1, np.timedelta64(2, "D")),
        (np.array([(1, 2.0)], "i4,f4"), np.array([(1, 3.0)], "i4,f4"), 1, None),
        (np.array([b"ab", b"cd"], "V2"), np.array([b"ab", b"ce"], "V2"), 1, None),
        (np.array([0.0]), np.array([-0.0]), 0, None),
    ],
)
def test_kinds_of_elements(left: Any, right: Any, count: int, greatest: Any) -> None:
    one, other = array(left), array(right)
    found = [each for each in diff(one, other) if each.aspect == "values"]
    assert [each.count for each in found] == ([count] if count else [])
    if count:
        assert found[0].greatest == greatest
    assert (checksum(one) == checksum(other)) is (not diff(one, other))


def test_text() -> None:
    one = array(np.array(["a", "bb"], dtype=np.dtypes.StringDType()))
    other = array(np.array(["a", "bc"], dtype=np.dtypes.StringDType()), zarr_format=2)
    assert [each.first for each in diff(one, other) if each.aspect == "values"] == [(1,)]


def test_different_numbers_are_compared() -> None:
    one, other = array(np.arange(5, dtype="i4")), array(np.arange(5) + 0.25)
    assert [(each.count, each.greatest) for each in diff(one, other) if each.aspect == "values"] == [(5, 0.25)]


def test_missing_elements() -> None:
    arrays = [zarr.create_array({}, shape=3, dtype=Nullable(inner=Int32())) for _ in range(2)]
    arrays[0][:] = [1, None, 3]
    arrays[1][:] = [1, 2, None]
    (found,) = diff(*arrays)
    assert (found.count, found.first) == (2, (1,))


def test_what_is_not_stored() -> None:
    one = zarr.create_array({}, shape=(10**9, 10**9), chunks=(100, 100), dtype="i4")
    other = zarr.create_array({}, shape=(10**9, 10**9), chunks=(90, 100), dtype="i4")
    one[7, 7] = 1
    assert [(each.aspect, each.count) for each in diff(one, other)] == [("chunks", 0), ("values", 1)]
    filled = zarr.create_array({}, shape=(10**9, 10**9), chunks=(100, 100), dtype="i4", fill_value=3)
    (_, found) = diff(one, filled)
    assert (found.count, found.first, found.greatest) == (10**18, (0, 0), 3)


def compare_with_numpy(left: Any, right: Any) -> None:
    found = [each for each in diff(array(left, chunks=(3, 4)), array(right, chunks=(5, 2))) if each.aspect == "values"]
    places = np.argwhere(left != right)
    assert sum(each.count for each in found) == len(places)
    if len(places):
        assert found[0].first == tuple(places[0])
        assert found[0].greatest == np.abs(left - right).max()


@pytest.mark.parametrize("seed", range(5))
def test_against_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    left = random.integers(-5, 5, (11, 9))
    right = np.where(random.random(left.shape) < 0.1 * seed, random.integers(-5, 5, left.shape), left)
    compare_with_numpy(left, right)


def test_blocks_in_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zarr.tools.contents.blocks.BLOCK_ELEMENTS", 16)
    for seed in range(4):
        test_against_numpy(seed)


def test_paths_and_other_formats(tmp_path: Path) -> None:
    stores: list[Callable[[], Any]] = [lambda: LocalStore(tmp_path / "x"), MemoryStore]
    one, other = (make_store() for make_store in stores)
    for store in (one, other):
        fill(store, 3)
    assert diff(tmp_path / "x", other) == []
    zarr.open_array(other, path="g/b")[3] = 0
    assert aspects(str(tmp_path / "x"), other) == [("g/b", "values", "")]
    with pytest.raises(FileNotFoundError):
        diff(other, MemoryStore())


def test_codecs_are_shown_by_name_and_parameters() -> None:
    left = zarr.create_array({}, data=np.arange(4), compressors=zarr.codecs.GzipCodec(level=1))
    right = zarr.create_array({}, data=np.arange(4), compressors=zarr.codecs.GzipCodec(level=2))
    texts = [f"bytes(endian=little), gzip(level={level}) on the {side}" for level, side in ((1, "left"), (2, "right"))]
    assert [str(each) for each in diff(left, right)] == [f"/: codecs: {texts[0]}, {texts[1]}"]
