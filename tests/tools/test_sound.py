"""``zarr.tools.verify`` reports nothing on what this library, and other implementations, have written."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numcodecs import LZ4, Blosc, Delta, GZip, PackBits, Quantize, Shuffle, Zlib, Zstd

import zarr
from tests.tools.places import STORES, make_store
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarr.dtype import Int32, VariableLengthBytes
from zarr.dtype.types.nullable import Nullable
from zarr.storage import LocalStore, MemoryStore
from zarr.tools import checksum, diff, repair, verify

FIXTURES = Path(__file__).resolve().parents[3] / "shared" / "formats" / "fixtures"
OTHERS = ("jzarr", "n5-zarr", "zarr-extensions", "zarr.js", "zarr_implementations", "zarrita.js")
DTYPES: list[Any] = ["i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "bool", "M8[s]", "m8[ms]", "U3", "S4", "str"]
COMPRESSORS_3: list[Any] = [
    None, "auto", GzipCodec(level=1), ZstdCodec(level=1), BloscCodec(), [ZstdCodec(checksum=True), Crc32cCodec()],
    [Crc32cCodec()], [GzipCodec(), Crc32cCodec()],
]  # fmt: skip
COMPRESSORS_2: list[Any] = [None, "auto", GZip(1), Zlib(1), Zstd(1), LZ4(), Blosc(), Blosc(cname="zlib", shuffle=0)]
FILTERS_2: list[Any] = [None, [Shuffle(4)], [Delta("i4")], [Delta("i4"), Shuffle(4)]]


def data_for(array: Any, chance: random.Random) -> Any:
    numbers = np.random.default_rng(chance.randrange(1 << 30)).integers(0, 100, array.shape)
    kind = array.dtype.kind
    if kind in "mM":
        return numbers.astype("i8").view(array.dtype)
    return numbers.astype("U3") if kind in "TUS" else numbers.astype(array.dtype)


def add_array(root: Any, name: str, chance: random.Random) -> None:
    rank = chance.randrange(4)
    shape = tuple(chance.choice([0, 1, 3, 7, 10]) for _ in range(rank))
    chunks = tuple(chance.choice([1, 2, 3, 5]) for _ in range(rank))
    dtype = chance.choice(DTYPES)
    how: dict[str, Any] = {"shape": shape, "chunks": chunks, "dtype": dtype, "attributes": {"n": chance.random()}}
    how["config"] = {"write_empty_chunks": chance.random() < 0.5}
    if root.metadata.zarr_format == 2:
        how["order"] = chance.choice("CF")
        how["chunk_key_encoding"] = {"name": "v2", "separator": chance.choice("./")}
        how["compressors"] = chance.choice(COMPRESSORS_2)
        if dtype == "i4":
            how["filters"] = chance.choice(FILTERS_2)
    else:
        separator = chance.choice("./")
        how["chunk_key_encoding"] = {"name": chance.choice(["default", "v2"]), "separator": separator}
        how["compressors"] = chance.choice(COMPRESSORS_3)
        how["dimension_names"] = chance.choice([None, tuple(f"d{i}" for i in range(rank))])
        if rank and chance.random() < 0.4:
            how["shards"] = tuple(chunk * chance.choice([1, 2, 3]) for chunk in chunks)
        if rank > 1 and dtype != "str" and chance.random() < 0.3:
            how["filters"] = [TransposeCodec(order=tuple(reversed(range(rank))))]
    array = root.create_array(name, **how)
    if chance.random() < 0.8 and array.size:
        array[...] = data_for(array, chance)
    if rank and chance.random() < 0.3:
        array.resize(tuple(max(1, length // 2) for length in shape))


def random_hierarchy(store: Any, chance: random.Random) -> None:
    form: Any = chance.choice([2, 3])
    root = zarr.create_group(store, zarr_format=form, attributes={"seed": 1})
    groups = [root]
    for number in range(chance.randrange(1, 6)):
        above = chance.choice(groups)
        if chance.random() < 0.3:
            groups.append(above.create_group(f"g{number}", attributes={"x": [1, {"y": None}]}))
        else:
            add_array(above, f"a{number}", chance)
    if chance.random() < 0.5:
        zarr.consolidate_metadata(store, zarr_format=form)
        if chance.random() < 0.5:
            zarr.open_group(store, zarr_format=form).attrs["later"] = 2


@pytest.mark.parametrize("seed", range(300))
def test_random_hierarchies(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    store = make_store(STORES[seed % 3] if seed < 60 else "memory", tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random_hierarchy(store, chance)
        report = verify(store)
        assert report, str(report)
        assert repair(store) == []
        if seed % 6 == 1:
            assert diff(store, store) == []
            assert checksum(store) == checksum(store)


SPECIAL: list[dict[str, Any]] = [
    {"shape": 6, "chunks": 2, "dtype": VariableLengthBytes()},
    {"shape": 6, "chunks": 2, "dtype": Nullable(inner=Int32())},
    {"shape": (8, 8), "chunks": (2, 2), "shards": {"shape": (4, 4), "index_location": "start"}, "dtype": "i4"},
    {
        "shape": (8, 8), "chunks": (8, 8), "dtype": "i4", "compressors": None,
        "serializer": ShardingCodec(chunk_shape=(4, 4), codecs=[ShardingCodec(chunk_shape=(2, 2))]),
    },
    {
        "shape": (8, 8), "chunks": (4, 4), "dtype": "i4", "compressors": [GzipCodec()],
        "serializer": ShardingCodec(chunk_shape=(2, 2), codecs=[BytesCodec(), Crc32cCodec()]),
    },
    {"shape": 6, "chunks": [[1, 2, 3]], "dtype": "i4"},
    {"shape": 6, "chunks": 2, "dtype": "i4", "chunk_key_encoding": {"name": "fanout"}},
    {"shape": 6, "chunks": 2, "dtype": [("a", "i4"), ("b", "f8")]},
    {"shape": 6, "chunks": 2, "dtype": "i4", "zarr_format": 2, "compressors": PackBits(), "filters": None},
    {"shape": 6, "chunks": 2, "dtype": "f8", "zarr_format": 2, "filters": [Quantize(3, "f8")]},
    {"shape": 6, "chunks": 2, "dtype": "str", "zarr_format": 2},
]  # fmt: skip


@pytest.mark.parametrize("how", SPECIAL, ids=range(len(SPECIAL)))
def test_special_arrays(how: dict[str, Any]) -> None:
    store = MemoryStore()
    with warnings.catch_warnings(), zarr.config.set({"array.rectilinear_chunks": True}):
        warnings.simplefilter("ignore")
        array = zarr.create_array(store, **how)
        array[...] = b"x" if isinstance(how["dtype"], VariableLengthBytes) else array[...]
        if array.dtype.kind in "iuf":
            array[...] = 1
        report = verify(store)
    assert report, str(report)


def test_migrated_nodes_of_two_formats_are_the_only_finding() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, shape=4, chunks=2, dtype="i4", zarr_format=2)
    array[:] = 1
    from zarr.metadata.migrate_v3 import migrate_v2_to_v3

    migrate_v2_to_v3(input_store=store)
    assert [fault.kind for fault in verify(store).faults] == ["two-formats"]


@pytest.mark.skipif(not FIXTURES.exists(), reason="needs the fixtures beside the repository")
@pytest.mark.parametrize("name", OTHERS)
def test_other_implementations(name: str) -> None:
    report = verify(LocalStore(FIXTURES / name, read_only=True))
    # One file there is the entry point of a draft of format 3, which is neither an array nor a group.
    faults = [fault for fault in report.faults if fault.key != "examples/zarrita.zr3/zarr.json"]
    assert faults == []
    assert report.nodes >= 3
