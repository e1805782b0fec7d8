"""Codecs settled for an array: filled in, and each checked against what the codecs before it leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayArrayCodec, Codec
from zarr.codecs.base.bound import replace_spec

if TYPE_CHECKING:
    from zarr.chunks.spec import ArraySpec


def settle(codecs: Iterable[Codec], spec: ArraySpec, shape: tuple[int, ...], chunk_grid: Any) -> tuple[Codec, ...]:
    """Fill in what codecs take from the array, and let each check that it can be used.

    Parameters
    ----------
    codecs
        In the order of encoding.
    spec
        The description of a chunk.
    shape, chunk_grid
        Of the array.

    Raises
    ------
    TypeError, ValueError
        When a codec does not fit the array.
    """
    settled: list[Codec] = []
    for codec in codecs:
        evolved = codec.evolve_from_array_spec(spec)
        evolved.validate(shape=shape, dtype=spec.dtype, chunk_grid=chunk_grid)
        settled.append(evolved)
        if isinstance(evolved, ArrayArrayCodec):
            whole, spec = replace_spec(spec, shape=shape), evolved.resolve_metadata(spec)
            shape = _encoded_shape(evolved, whole, spec.shape)
            # A codec that moves axes moves those of the grid too: a shard after it is cut along the moved axes.
            encode_grid = getattr(evolved, "encode_grid", None)
            chunk_grid = chunk_grid if encode_grid is None else encode_grid(chunk_grid)
    return tuple(settled)


def _encoded_shape(codec: ArrayArrayCodec, whole: ArraySpec, chunk_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the array behind a codec; that of a chunk, if what the codec does suits chunks only."""
    try:
        return codec.resolve_metadata(whole).shape
    except ValueError:
        return chunk_shape
