"""The rows that TensorStore can do, too: the same arrays, made and read by it alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from growth_rows.places import new_folder
from growth_rows.row import Call, Row, sizes
from growth_rows.shards import LENGTH, shard_bytes


def _spec(place: dict[str, Any] | None, shape: int, chunk: int, codecs: list[Any], dtype: str = "int32") -> Any:
    import tensorstore as ts

    metadata = {
        "shape": [shape],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}},
        "codecs": codecs,
        "data_type": dtype,
    }
    spec = {"driver": "zarr3", "kvstore": place or {"driver": "memory"}, "metadata": metadata}
    return ts.open(spec, create=True, open=True).result()


_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_PLAIN = [_BYTES]
_ZSTD = [_BYTES, {"name": "zstd", "configuration": {"level": 0}}]


def element(cache_bytes: int) -> Any:
    """Return what makes the reading of an element of a shard in a folder; with its cache, if it has bytes."""

    def made(count: int) -> Call:
        import tensorstore as ts

        folder = new_folder()
        sharding = {
            "chunk_shape": [LENGTH],
            "codecs": _PLAIN,
            "index_codecs": [_BYTES, {"name": "crc32c"}],
            "index_location": "end",
        }
        codecs = [{"name": "sharding_indexed", "configuration": sharding}]
        _spec({"driver": "file", "path": folder}, LENGTH * count, LENGTH * count, codecs)
        Path(folder, "c").mkdir(exist_ok=True)
        Path(folder, "c", "0").write_bytes(shard_bytes(count))
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": folder}}
        context = ts.Context({"cache_pool": {"total_bytes_limit": cache_bytes}})
        recheck: Any = {"recheck_cached_data": False, "recheck_cached_metadata": False} if cache_bytes else {}
        array = ts.open(spec | recheck, context=context).result()
        place = 7 * count + 5
        assert array[place].read().result() == place
        return lambda: array[place].read().result()

    return made


def chunks(count: int) -> Any:
    """Return an array of so many chunks of ten elements, in memory."""
    return _spec(None, 10 * count, 10, _PLAIN)


def all_chunks(count: int) -> Call:
    """Return what reads an array of so many chunks, all stored."""
    array = chunks(count)
    array[:].write(np.arange(10 * count, dtype="i4")).result()
    return lambda: array.read().result()


def write_all(count: int) -> Call:
    """Return what writes an array of so many chunks."""
    array, values = chunks(count), np.arange(1, 10 * count + 1, dtype="i4")
    return lambda: array[:].write(values).result()


def one_chunk(count: int) -> Call:
    """Return what reads one element of an array of so many chunks, of which one is stored."""
    array = chunks(count)
    array[70:80].write(np.ones(10, "i4")).result()
    return lambda: array[75].read().result()


def points(count: int) -> Call:
    """Return what reads so many points at random places."""
    array = _spec(None, 10_000_000, 100_000, _ZSTD)
    array[:].write(np.arange(10_000_000, dtype="i4")).result()
    places = np.random.default_rng(0).integers(0, 10_000_000, count)
    return lambda: array[places].read().result()


def mask(count: int) -> Call:
    """Return what reads by a mask of so many elements, of which a hundred are wanted."""
    array = _spec(None, count, count // 10, _ZSTD, "int8")
    wanted = np.zeros(count, bool)
    wanted[:: count // 100] = True
    return lambda: array[wanted].read().result()


def large_chunk(count: int) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return an array of one chunk of so many bytes in a folder, and values that compress well."""
    values = np.resize(np.arange(1, 1000, dtype="i4"), count // 4)
    return _spec({"driver": "file", "path": new_folder()}, len(values), len(values), _ZSTD), values


def read_large(count: int) -> Call:
    """Return what reads one chunk of so many bytes."""
    array, values = large_chunk(count)
    array[:].write(values).result()
    return lambda: array.read().result()


def write_large(count: int) -> Call:
    """Return what writes one chunk of so many bytes."""
    array, values = large_chunk(count)
    return lambda: array[:].write(values).result()


ROWS = {
    "an element, local; inner chunks in a shard": Row(element(0), sizes(10_000)),
    "an element, local, immutable=True; inner chunks in a shard": Row(element(1 << 30), sizes(10_000)),
    "an element; chunks in an array": Row(one_chunk, sizes(10_000)),
    "read all; chunks in an array": Row(all_chunks, sizes(10_000)),
    "write all; chunks in an array": Row(write_all, sizes(10_000)),
    "vindex; points": Row(points, sizes(100_000)),
    "vindex by a mask; elements": Row(mask, sizes(10_000_000)),
    "read a chunk; bytes": Row(read_large, sizes(10_000_000)),
    "write a chunk; bytes": Row(write_large, sizes(10_000_000)),
}
