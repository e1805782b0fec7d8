"""Arrays of a kind that was made before are what they would be without the memory of it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.arrays.create import steps as create
from zarr.arrays.create.parameters import DEFAULT_FILL_VALUE
from zarr.arrays.create.steps import kind_key
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec, ZstdCodec

CHOICES: dict[str, list[Any]] = {
    "shape": [(6, 4), [6, 4], (6, 5), (np.int64(6), 4)],
    "dtype": ["f4", "float32", np.float32, np.dtype("<f4"), ">f4", "int8", bool, np.dtype("i8")],
    "chunks": [(3, 2), "auto", [[1, 2, 3], [4]], 3],
    "compressors": [
        "auto", None, ZstdCodec(level=3), BloscCodec(cname="lz4"), BloscCodec(cname="lz4", typesize=1), [GzipCodec()],
        {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
    ],
    "filters": ["auto", None, (TransposeCodec(order=(1, 0)),)],
    "serializer": ["auto", BytesCodec(endian="big")],
    "fill_value": [0, True, 1, 1.0, None, np.float32(1)],
    "attributes": [None, {}, {"unit": "m"}],
    "checksum": [False, True],
    "dimension_names": [None, ("y", "x")],
}  # fmt: skip


def outcome(make: Any, parameters: dict[str, Any]) -> Any:
    try:
        metadata = make(**parameters)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    prototype = zarr.buffer.default_buffer_prototype()
    return {name: buffer.to_bytes() for name, buffer in metadata.to_buffer_dict(prototype).items()}, metadata


def test_with_and_without_memory() -> None:
    defaults = {
        "shape": (6, 4), "dtype": "f4", "chunks": (3, 2), "shards": None, "filters": "auto", "compressors": "auto",
        "serializer": "auto", "fill_value": DEFAULT_FILL_VALUE, "order": None, "zarr_format": 3,
        "attributes": None, "chunk_key_encoding": None, "dimension_names": None, "checksum": False,
        "storage_transformers": None,
    }  # fmt: skip
    cases = []
    for one, other in itertools.combinations(CHOICES, 2):
        cases += [{**defaults, one: a, other: b} for a in CHOICES[one] for b in CHOICES[other]]
    np.random.default_rng(3).shuffle(cases)  # type: ignore[arg-type]
    for case in cases * 2:
        assert outcome(create.new_array_metadata, case) == outcome(create._make_metadata, case), case


@pytest.mark.parametrize(
    "pair",
    [(0, False), (1, 1.0), (0.0, -0.0), ("1", 1), ((1,), [1])],
)
def test_what_only_looks_equal_is_told_apart(pair: tuple[Any, Any]) -> None:
    first, second = (kind_key({"shape": (1,), "dtype": "f8", "fill_value": value}) for value in pair)
    assert first is not None
    assert first != second


def test_what_may_change_has_no_key() -> None:
    assert kind_key({"compressors": {"name": "zstd"}}) is None
    assert kind_key({"fill_value": np.float32(1)}) is None
    assert kind_key({"dtype": np.dtype([("a", "i4")])}) is None


def test_attributes_belong_to_one_array() -> None:
    group = zarr.group()
    made = [group.create_array(f"a{n}", shape=4, chunks=(2,), dtype="i4", attributes={"n": [n]}) for n in range(3)]
    made[0].attrs["n"] = "changed"
    made[1].resize((6,))
    again = [zarr.open_array(group.store, path=f"a{n}") for n in range(3)]
    assert [(array.attrs.asdict(), array.shape) for array in again] == [
        ({"n": "changed"}, (4,)), ({"n": [1]}, (6,)), ({"n": [2]}, (4,)),
    ]  # fmt: skip


def test_the_document_follows_the_indent() -> None:
    texts = []
    for indent in (2, None, 2):
        with zarr.config.set({"json_indent": indent}):
            store = zarr.storage.MemoryStore()
            zarr.create_array(store, shape=4, chunks=(2,), dtype="i4")
            texts.append(store.get_sync("zarr.json").to_bytes())  # type: ignore[union-attr]
    assert texts[0] == texts[2] != texts[1]
    assert b"\n" not in texts[1]
