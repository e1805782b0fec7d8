"""zfp with all four of its parameters chosen: calls to libzfp itself, which ``zfpy`` brings but has no function for."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from zarr.codecs.base.bound import AnyArray, Bytes

_POINTER: Final = ctypes.c_void_p
_SIZE: Final = ctypes.c_size_t
_SIGNATURES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "stream_open": (_POINTER, (_POINTER, _SIZE)),
    "stream_close": (None, (_POINTER,)),
    "zfp_stream_open": (_POINTER, (_POINTER,)),
    "zfp_stream_close": (None, (_POINTER,)),
    "zfp_stream_set_params": (ctypes.c_int, (_POINTER, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_int)),
    "zfp_stream_set_bit_stream": (None, (_POINTER, _POINTER)),
    "zfp_stream_rewind": (None, (_POINTER,)),
    "zfp_stream_maximum_size": (_SIZE, (_POINTER, _POINTER)),
    "zfp_field_free": (None, (_POINTER,)),
    "zfp_compress": (_SIZE, (_POINTER, _POINTER)),
    "zfp_decompress": (_SIZE, (_POINTER, _POINTER)),
    **{f"zfp_field_{n}d": (_POINTER, (_POINTER, ctypes.c_int, *[_SIZE] * n)) for n in (1, 2, 3, 4)},
}


class Expert(NamedTuple):
    """The parameters of a zfp stream.

    Attributes
    ----------
    minbits, maxbits
        The least and the greatest number of bits of a block of ``4**ndim`` values.
    maxprec
        How many bit planes are kept, at most.
    minexp
        The exponent of the least bit plane that is kept.
    """

    minbits: int
    maxbits: int
    maxprec: int
    minexp: int


@cache
def _library(path: str) -> Any:
    """libzfp, found through the extension module that is linked to it."""
    library = ctypes.CDLL(path)
    try:
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise ValueError(
            f"zfp mode 'expert' needs the functions of libzfp, and {path} does not show them ({error}); install zfpy "
            "from a wheel, or store the array with another mode"
        ) from error
    return library


@contextmanager
def _opened(zfpy: Any, array: AnyArray, parameters: Expert) -> Iterator[tuple[Any, Any, Any]]:
    """libzfp, a stream with the parameters that has no memory yet, and a field that is the array."""
    library = _library(zfpy.__file__)
    zfp = library.zfp_stream_open(None)
    lengths = reversed(array.shape)  # zfp names the axis that varies fastest first
    make_field = getattr(library, f"zfp_field_{array.ndim}d")
    field = make_field(array.ctypes.data, zfpy.dtype_to_ztype(array.dtype), *lengths)
    try:
        if not zfp or not field:
            raise MemoryError("zfp has no memory for a stream")
        if not library.zfp_stream_set_params(zfp, *parameters):
            raise ValueError(f"zfp refuses the parameters {parameters}")
        yield library, zfp, field
    finally:
        library.zfp_field_free(field)
        library.zfp_stream_close(zfp)


def _run(library: Any, function: Any, zfp: Any, field: Any, memory: AnyArray) -> int:
    """Compress or decompress, from or to some memory; return the number of bytes that were used."""
    bits = library.stream_open(memory.ctypes.data, memory.nbytes)
    try:
        library.zfp_stream_set_bit_stream(zfp, bits)
        library.zfp_stream_rewind(zfp)
        return int(function(zfp, field))
    finally:
        library.stream_close(bits)


def compress_expert(zfpy: Any, array: AnyArray, parameters: Expert) -> Bytes:
    """Return the stream of a contiguous array of one to four dimensions.

    Raises
    ------
    ValueError
        When zfp refuses the parameters, or the array.
    """
    with _opened(zfpy, array, parameters) as (library, zfp, field):
        words = np.zeros(-(-library.zfp_stream_maximum_size(zfp, field) // 8) + 1, dtype=np.uint64)
        used = _run(library, library.zfp_compress, zfp, field, words)
    if not used:
        raise ValueError(f"zfp cannot compress an array of shape {array.shape}")
    stream: Bytes = words.view(np.uint8)[:used].copy()
    return stream


def decompress_expert(zfpy: Any, stream: Bytes, array: AnyArray, parameters: Expert) -> None:
    """Fill a contiguous array of one to four dimensions from a stream.

    Parameters
    ----------
    zfpy
        The package.
    stream
        The bytes, and behind them as many zeros as a stream of such an array may have bytes at most.
    array
        What is filled.
    parameters
        Those that the stream was made with.

    Raises
    ------
    ValueError
        When zfp refuses the parameters, or the stream.
    """
    words = np.zeros(-(-stream.size // 8), dtype=np.uint64)
    words.view(np.uint8)[: stream.size] = stream
    with _opened(zfpy, array, parameters) as (library, zfp, field):
        if not _run(library, library.zfp_decompress, zfp, field, words):
            raise ValueError(f"zfp cannot decompress {stream.size} bytes to shape {array.shape}")
