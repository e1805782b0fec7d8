"""Chains of stages: compiled and plain, in threads, pickled, and on damage."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.guard_page import GuardedMemory
from tests.core.test_decoders import DATA, sample
from zarr_core import program
from zarr_core.reference import program as plain

MEMORY = GuardedMemory()
SIDES = pytest.mark.parametrize("side", [program, plain])
STAGE = st.sampled_from(
    [
        ("zstd", {"level": 1}),
        ("gzip", {"level": 1}),
        ("zlib", {"level": 1}),
        ("lz4", {}),
        ("blosc", {"typesize": 4, "blocksize": 256}),
        ("blosc", {"cname": "zstd", "shuffle": 2, "typesize": 2}),
        ("crc32c", {}),
        ("crc32c", {"location": "start"}),
        ("shuffle", {"elementsize": 4}),
        ("delta", {"dtype": "u1"}),
    ]
)
STAGES = st.lists(STAGE, max_size=4)


def fits(chain: Any, data: bytes) -> bool:
    """Say whether every shuffle of the chain gets whole elements."""
    try:
        chain.encode(data)
    except ValueError:
        return False
    return True


@given(STAGES, DATA)
def test_what_one_side_stores_the_other_reads(stages: list[tuple[str, dict[str, Any]]], data: bytes) -> None:
    ours, theirs = program.Program(1, 0, None, stages), plain.Program(1, 0, None, stages)
    if not (fits(ours, data) and fits(theirs, data)):  # two builds of a compressor give other sizes
        assert any(name == "shuffle" for name, _ in stages)
        return
    assert bytes(ours.decode(MEMORY.hold(theirs.encode(data)), len(data))) == data
    assert bytes(theirs.decode(ours.encode(data), len(data))) == data
    assert bytes(ours.decode(MEMORY.hold(ours.encode(data)), len(data))) == data


@given(STAGES, DATA, st.data())
@settings(max_examples=300)
def test_damage_is_refused_or_harmless(
    stages: list[tuple[str, dict[str, Any]]], data: bytes, draw: st.DataObject
) -> None:
    chain = program.Program(1, 0, None, stages)
    if not fits(chain, data):
        return
    stored = bytearray(chain.encode(data))
    if draw.draw(st.booleans()):
        del stored[draw.draw(st.integers(0, len(stored))) :]
    if stored:
        stored[draw.draw(st.integers(0, len(stored) - 1))] ^= draw.draw(st.integers(0, 255))
    try:
        assert len(chain.decode(MEMORY.hold(stored), len(data))) == len(data)
    except ValueError:
        return


@SIDES
@pytest.mark.parametrize("stages", [[], [("zstd", {})], [("zstd", {}), ("gzip", {})], [("crc32c", {}), ("crc32c", {})]])
def test_the_size_must_be_right(side: Any, stages: list[tuple[str, dict[str, Any]]]) -> None:
    chain = side.Program(1, 0, None, stages)
    for size in (0, 99, 101):
        with pytest.raises(ValueError):
            chain.decode(chain.encode(bytes(100)), size)
    with pytest.raises(ValueError, match="negative"):
        chain.decode(b"", -1)


@SIDES
def test_guards(side: Any) -> None:
    wrong: list[tuple[Any, ...]] = [
        (0, 0, None, []),
        (4, 3, None, []),
        (2, 4, None, []),
        (1, 0, (0, 0), []),
        (1, 0, (0, 2), []),
        (1, 0, tuple(range(65)), []),
        (1, 0, None, [("nothing", {})]),
        (1, 0, None, [("zstd", {"level": 99})]),
        (1, 0, None, [("crc32c", {})] * 17),
    ]
    for args in wrong:
        with pytest.raises(ValueError):
            side.Program(*args)


@SIDES
def test_programs_travel(side: Any) -> None:
    chain = side.Program(4, 2, (1, 0), [("zstd", {"level": 3}), ("crc32c", {})])
    again = pickle.loads(pickle.dumps(chain))
    assert (again.itemsize, again.swap_width, again.order) == (4, 2, (1, 0))
    assert again.stages == chain.stages == (("zstd", {"level": 3}), ("crc32c", {}))
    assert bytes(again.decode(chain.encode(b"abcd"), 4)) == b"abcd"


def test_results_are_independent_of_kept_memory() -> None:
    chain = program.Program(1, 0, None, [("shuffle", {"elementsize": 4}), ("zstd", {})])
    first = chain.decode(chain.encode(bytes(1000)), 1000)
    chain.decode(chain.encode(b"\1" * 1000), 1000)
    assert not first.any()


def test_many_threads_share_a_program() -> None:
    data = [sample(seed, 100_000) for seed in range(8)]
    chain = program.Program(1, 0, None, [("shuffle", {"elementsize": 4}), ("zstd", {"level": 1}), ("gzip", {})])

    def there_and_back(k: int) -> bool:
        return bytes(chain.decode(chain.encode(data[k % 8]), 100_000)) == data[k % 8]

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(there_and_back, range(96)))


def test_a_data_set_too_large_to_keep() -> None:
    chain = program.Program(8, 0, None, [("blosc", {"typesize": 8}), ("crc32c", {})])
    data = np.arange(3 << 20, dtype="<u8")
    for _ in range(2):
        np.testing.assert_array_equal(chain.decode(chain.encode(data), data.nbytes).view("<u8"), data)
