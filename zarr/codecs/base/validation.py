"""Codecs settled for an array: filled in, and each checked against what the codecs before it leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayArrayCodec, Codec
from zarr.codecs.base.bound import replace_spec
from zarr.registry import get_numcodec

if TYPE_CHECKING:
    from zarr.abc.numcodec import Numcodec
    from zarr.chunks.spec import ArraySpec
    from zarr.dtype.base import ZDType


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


def settle_shuffle(codec: Numcodec, dtype: ZDType[Any, Any]) -> Numcodec:
    """Give a shuffle of elements of size 0, as netCDF-C writes it, the size that this stands for: the data type's.

    Examples
    --------
    >>> from numcodecs import Shuffle
    >>> from zarr.dtype import Int32
    >>> settle_shuffle(Shuffle(0), Int32()).elementsize
    4
    """
    if getattr(codec, "codec_id", None) != "shuffle" or getattr(codec, "elementsize", None) != 0:
        return codec
    settings: Any = {"id": "shuffle", "elementsize": dtype.to_native_dtype().itemsize}
    return get_numcodec(settings)


def _encoded_shape(codec: ArrayArrayCodec, whole: ArraySpec, chunk_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the array behind a codec; that of a chunk, if what the codec does suits chunks only."""
    try:
        return codec.resolve_metadata(whole).shape
    except ValueError:
        return chunk_shape
