"""Parts of shards for pipelines: reading only the inner chunks that a selection touches, replacing a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.codecs.base.sync_methods import wrap_array, wrap_bytes
from zarr.codecs.shards.level import EMPTY

if TYPE_CHECKING:
    import asyncio

    from zarr.abc.store import ByteGetter, ByteSetter
    from zarr.buffer import Buffer, NDBuffer
    from zarr.chunks.spec import ArraySpec
    from zarr.codecs.base.bound import AnyArray
    from zarr.codecs.sharding import BoundSharding
    from zarr.codecs.shards.level import ShardIndex
    from zarr.types import SelectorTuple
else:
    asyncio = LazyModule("asyncio")


def plan_part(grid: zarr_core.Grid, selection: SelectorTuple) -> zarr_core.Plan | None:
    """Return the plan of a numpy selection on a grid, or None for one that mixes kinds of indexes.

    Parameters
    ----------
    grid
        The inner chunks of a shard.
    selection
        Ints, slices and integer arrays, with the meaning that they have in numpy.

    Examples
    --------
    >>> grid = zarr_core.Grid([zarr_core.RegularAxis(8, 2)])
    >>> plan_part(grid, (slice(0, 3),)).nslots
    2
    """
    if len(selection) != grid.ndim:
        return zarr_core.plan_basic(grid, selection) if not selection else None
    arrays = [entry for entry in selection if not isinstance(entry, (int, np.integer, slice))]
    if not arrays:
        return zarr_core.plan_basic(grid, selection)
    if not all(isinstance(entry, np.ndarray) and entry.dtype.kind in "iu" for entry in arrays):
        return None
    if len(arrays) == grid.ndim:
        return zarr_core.plan_points(grid, selection)
    if len(arrays) == 1 and arrays[0].ndim == 1 and all(isinstance(e, (slice, np.ndarray)) for e in selection):
        return zarr_core.plan_orthogonal(grid, selection)
    return None


async def decode_part(
    codec: BoundSharding, byte_getter: ByteGetter, selection: SelectorTuple, spec: ArraySpec
) -> NDBuffer | None:
    """Return a part of a shard, fetching its index and the inner chunks touched; None where there is no shard.

    Parameters
    ----------
    codec
        The sharding codec, bound to the shard.
    byte_getter
        Where to get the bytes of the shard.
    selection
        The part, as a numpy selection.
    spec
        The description of the shard.
    """
    plan = plan_part(codec.level.grid, selection)
    if plan is None:
        raw = await byte_getter.get(prototype=spec.prototype)
        return None if raw is None else wrap_array((await _decode(codec, raw))[selection], spec)
    index = await _fetch_index(codec, byte_getter, spec)
    if index is None:
        return None
    out = np.empty(plan.shape, dtype=codec._dtype)
    counts = codec.level.chunks_per_shard
    places = [int(np.ravel_multi_index(plan.coords(i), counts)) if counts else 0 for i in range(plan.nslots)]
    chunks = await asyncio.gather(*(_fetch_chunk(codec, byte_getter, index[place].tolist(), spec) for place in places))
    for i, chunk in enumerate(chunks):
        if chunk is None:
            zarr_core.fill(out, plan.slot(i), codec._fill)
        else:
            zarr_core.scatter(chunk, plan.slot(i), out)
    return wrap_array(out, spec)


async def encode_part(
    codec: BoundSharding, byte_setter: ByteSetter, value: NDBuffer, selection: SelectorTuple, spec: ArraySpec
) -> None:
    """Replace a part of a stored shard; a shard that becomes empty is deleted unless the array keeps such chunks.

    Parameters
    ----------
    codec
        The sharding codec, bound to the shard.
    byte_setter
        Where to get and set the bytes of the shard.
    value
        The elements.
    selection
        The part, as a numpy selection.
    spec
        The description of the shard.
    """
    raw = await byte_setter.get(prototype=spec.prototype)
    if raw is None:
        shard = np.full(spec.shape, codec._fill, dtype=codec._dtype)
    else:
        shard = np.array(await _decode(codec, raw))
    shard[selection] = value.as_numpy_array()
    if not spec.config.write_empty_chunks and zarr_core.is_filled(shard, codec._fill):
        await byte_setter.delete()
        return
    encoded = await codec.encode_async(shard) if codec.asynchronous else codec.encode(shard)
    await byte_setter.set(wrap_bytes(encoded, spec))


async def _decode(codec: BoundSharding, raw: Buffer) -> AnyArray:
    data: Any = raw.as_numpy_array()
    return await codec.decode_async(data) if codec.asynchronous else codec.decode(data)


async def _fetch_index(codec: BoundSharding, byte_getter: ByteGetter, spec: ArraySpec) -> ShardIndex | None:
    nbytes = codec.level.index_nbytes()
    at_start = codec.level.index_location == "start"
    request = RangeByteRequest(0, nbytes) if at_start else SuffixByteRequest(nbytes)
    raw = await byte_getter.get(prototype=spec.prototype, byte_range=request)
    return None if raw is None else codec.level.parse_index(raw)


async def _fetch_chunk(
    codec: BoundSharding, byte_getter: ByteGetter, row: list[int], spec: ArraySpec
) -> AnyArray | None:
    offset, length = row
    if offset == EMPTY and length == EMPTY:
        return None
    raw = await byte_getter.get(prototype=spec.prototype, byte_range=RangeByteRequest(offset, offset + length))
    if raw is None:
        raise FileNotFoundError("a shard went away while it was read")
    return await codec.level.chain.decode_async(raw)
