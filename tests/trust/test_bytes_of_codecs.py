"""Stored bytes that no codec writes: booleans of other numbers, dictionaries of gigabytes, chunks of a wrong length."""

from __future__ import annotations

import json
import lzma
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.moulds import template
from tests.trust.test_memory import LINUX
from zarr.buffer.cpu import Buffer
from zarr.codecs import numcodecs as v3
from zarr.errors import ChunkDecodeError
from zarr.runners.locks.table import GIL
from zarr.storage import MemoryStore

ODD = np.array([0, 1, 2, 255, 0, 1], dtype="u1")
WANTED = [0, 1, 1, 1, 0, 1]
SIZES = [None, numcodecs.Zlib(1)]


def bytes_of(found: Any) -> Any:
    return np.atleast_1d(np.asarray(found)).view("u1").tolist()


@pytest.mark.parametrize("compressor", SIZES)
@pytest.mark.parametrize("place", ["memory", "folder"])
def test_booleans_are_0_or_1(compressor: Any, place: str, tmp_path: Path) -> None:
    store: Any = MemoryStore() if place == "memory" else str(tmp_path / "a")
    numbers = zarr.create_array(
        store, shape=6, chunks=3, dtype="u1", compressors=compressor, zarr_format=2, fill_value=0
    )
    numbers[:] = ODD
    document = json.loads(numbers.store.get_sync(".zarray").to_bytes())  # type: ignore[attr-defined]
    document.update(dtype="|b1", fill_value=False)
    numbers.store.set_sync(".zarray", Buffer.from_bytes(json.dumps(document).encode()))  # type: ignore[attr-defined]
    truth: Any = zarr.open_array(store, mode="r")
    assert bytes_of(truth[:]) == WANTED
    assert [bytes_of(truth[i])[0] for i in range(6)] == WANTED
    assert bytes_of(truth[::2]) == WANTED[::2]
    assert bytes_of(truth.oindex[[2, 3]]) == [1, 1]
    assert bytes_of(truth.vindex[[3, 2]]) == [1, 1]
    assert bytes_of(truth.blocks[1]) == WANTED[3:]
    out = np.zeros(6, dtype=bool)
    truth.get_basic_selection(slice(None), out=out)
    assert bytes_of(out) == WANTED
    assert [bytes_of(part) for part in zarr.read_many([(truth, slice(1, 4))])] == [WANTED[1:4]]
    assert np.arange(6)[truth[:]].tolist() == [1, 2, 3, 5]


def test_many_booleans_and_those_of_records() -> None:
    raw = np.zeros(10_000, dtype="u1")
    raw[7] = 9
    numbers = zarr.create_array({}, shape=raw.shape, dtype=[("a", "u1"), ("b", "<i2")], zarr_format=2, compressors=None)
    records = np.zeros(raw.shape, dtype=[("a", "u1"), ("b", "<i2")])
    records["a"] = raw
    numbers[:] = records
    for dtype, chunk in (("|b1", raw.tobytes()), ([["a", "|b1"], ["b", "<i2"]], records.tobytes())):
        document = {
            "zarr_format": 2, "shape": [10_000], "chunks": [10_000], "dtype": dtype, "compressor": None,
            "fill_value": None, "order": "C", "filters": None,
        }  # fmt: skip
        files = {".zarray": json.dumps(document).encode(), "0": chunk}
        array: Any = zarr.open_array(MemoryStore({key: Buffer.from_bytes(value) for key, value in files.items()}))
        found = array[:]
        found = found if dtype == "|b1" else found["a"]
        assert np.ascontiguousarray(found).view("u1").tolist() == (raw > 0).astype(int).tolist()


XZ = {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None}
SIX = np.arange(6, dtype="<i4")


def asking_for(bits: int) -> bytes:
    """A sound xz stream whose header asks for a dictionary of another size."""
    stream = bytearray(lzma.compress(SIX.tobytes(), format=lzma.FORMAT_XZ))
    size = (stream[12] + 1) * 4
    stream[16] = bits
    stream[8 + size : 12 + size] = struct.pack("<I", zlib.crc32(bytes(stream[12 : 8 + size])))
    return bytes(stream)


def compressed(config: dict[str, Any], raw: bytes) -> Any:
    document = {
        "zarr_format": 2, "shape": [6], "chunks": [6], "dtype": "<i4", "compressor": config, "fill_value": 0,
        "order": "C", "filters": None,
    }  # fmt: skip
    files = {"a/.zarray": json.dumps(document).encode(), "a/0": raw}
    return zarr.open_array(MemoryStore({key: Buffer.from_bytes(value) for key, value in files.items()}), path="a")


@pytest.mark.parametrize(("config", "raw"), [
    (XZ, asking_for(40)), (XZ, asking_for(39)),
    ({**XZ, "format": 3, "filters": [{"id": 33, "dict_size": 2**32 - 1}]},
     lzma.compress(SIX.tobytes(), format=lzma.FORMAT_RAW, filters=[{"id": 33, "dict_size": 4096}])),
])  # fmt: skip
def test_a_dictionary_of_gigabytes_is_not_made(config: Any, raw: bytes) -> None:
    with pytest.raises(ChunkDecodeError, match=r"codec 'lzma'.*chunk '0' of array /a .*key 'a/0'"):
        compressed(config, raw)[:]


def test_the_largest_dictionary_that_encoders_make() -> None:
    assert compressed(XZ, asking_for(37))[:].tolist() == SIX.tolist()


SHORT = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from tests.trust.test_bytes_of_codecs import XZ, asking_for, compressed
array = compressed(XZ, asking_for(37))
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
try:
    array[:]
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not LINUX, reason="limits of memory are those of Linux")
@pytest.mark.skipif(not GIL, reason="without the GIL, Python reserves more address space than this limit")
def test_memory_that_is_short_says_for_what() -> None:
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-c", SHORT, root], capture_output=True, text=True, check=True)
    assert "codec 'lzma': there is no memory to decode" in done.stdout
    assert "chunk '0' of array /a of" in done.stdout
    assert "key 'a/0'" in done.stdout


def lengths(raw: bytes) -> list[bytes]:
    odd = [raw[:-n] for n in (1, 2, 4, 8)] + [raw + fill * n for n in (1, 2, 4, 8, len(raw)) for fill in (b"\0", b"\1")]
    return [b"", *odd, raw[: len(raw) // 2]]


def filters(zarr_format: int, given: str, stored: str | None) -> list[Any]:
    return [numcodecs.Delta(given, stored) if zarr_format == 2 else v3.Delta(dtype=given, astype=stored or given)]


@pytest.mark.parametrize("dtype", ["<i4", "<i2", "<f8"])
@pytest.mark.parametrize("stored", [None, "<i2", "<i8"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_deltas_of_a_wrong_length(dtype: str, stored: str | None, zarr_format: Any) -> None:
    made = template("delta", dtype=dtype, zarr_format=zarr_format, filters=filters(zarr_format, dtype, stored))
    key = made.keys[0]
    for raw in lengths(made.store._store_dict[key].to_bytes()):
        made.store._store_dict[key] = Buffer.from_bytes(raw)
        for selection in (Ellipsis, (0, 0), (slice(0, 2), slice(1, 3))):
            with pytest.raises(ChunkDecodeError, match="chunk"):
                zarr.open_array(made.store, path="a/b", mode="r")[selection]
