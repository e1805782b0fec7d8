"""Questions about what is stored of an array: the chunks, their number and bytes, a checksum of all values."""

from __future__ import annotations

import math

from zarr._lazy import hashlib
from zarr.arrays.documents import node_keys
from zarr.arrays.handle import ArrayHandle
from zarr.chunks.shapes import cells
from zarr.steps.requests import Gather, Get, List, Size, Steps, ask_steps


def stored_chunks_steps(handle: ArrayHandle) -> Steps[list[tuple[int, ...]]]:
    """Return the coordinates of the stored chunks (or shards), found by one listing."""
    layout = handle.state.layout
    keys = yield List(layout.key_folder)
    found = (layout.coords_of(key) for key in keys)
    return [coords for coords in found if coords is not None]


def nchunks_initialized_steps(handle: ArrayHandle) -> Steps[int]:
    """Return the number of stored chunks; a stored shard counts for all its inner chunks."""
    stored = yield from stored_chunks_steps(handle)
    layout = handle.state.layout
    inner = layout.inner
    if inner is None:
        return len(stored)
    total = 0
    for coords in stored:
        axes = zip(layout.outer.axes, coords, inner, strict=True)
        total += math.prod(axis.chunk_length(i) // n for axis, i, n in axes)
    return total


def nshards_initialized_steps(handle: ArrayHandle) -> Steps[int]:
    """Return the number of stored objects with chunk data."""
    return len((yield from stored_chunks_steps(handle)))


def nbytes_stored_steps(handle: ArrayHandle) -> Steps[int]:
    """Return the number of bytes of all keys of the array, metadata included."""
    keys = yield List(handle.store_path.path)
    sizes = yield Gather(ask_steps(Size(key)) for key in keys)
    return sum(size for size in sizes if size is not None)


def digest_steps(handle: ArrayHandle, hashname: str) -> Steps[bytes]:
    """Return the checksum of all stored values of an array, in the order of their places, and of its documents."""
    checksum = hashlib.new(hashname)
    layout = handle.layout
    keys = map(layout.key, cells([range(n) for n in layout.outer.cdata_shape]))
    for key in (*keys, *node_keys(handle).values()):
        value = yield Get(key)
        checksum.update(b"" if value is None else value.to_bytes())
    return checksum.digest()
