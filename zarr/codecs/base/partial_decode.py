"""Parts of chunks: a few elements of a blosc frame, without decoding the blocks that hold none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import zarr_core

if TYPE_CHECKING:
    from zarr.codecs.base.bound import NativeForm

Ndarray = np.ndarray[Any, Any]

MIN_NBYTES: Final = 32 << 10
"""Smaller chunks are a block or two, and are decoded whole."""

MAX_SHARE: Final = 2
"""Parts that span more than one in so many bytes of a chunk are not worth the search for blocks."""

_HEADER: Final = 16


def takes_parts(form: NativeForm, nbytes: int | None) -> bool:
    """Return whether chunks encoded in this way can be decoded in part: large ones that are blosc and nothing else."""
    return (
        nbytes is not None
        and nbytes >= MIN_NBYTES
        and len(form.stages) == 1
        and form.stages[0][0] == "blosc"
        and form.order is None
        and not form.swap_width
    )


def span_of(selection: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[int, int, list[int], list[int]] | None:
    """Return where a selection by integers and slices lies in a chunk in C order.

    Parameters
    ----------
    selection : tuple of int and slice
        One a dimension; slices with all three numbers, going up.
    shape : tuple of int

    Returns
    -------
    (first, end, lengths, steps) or None
        The first element and the one behind the last, and for each slice how many elements it picks and how far apart
        they lie; all in elements. None for a selection of another kind, or of nothing.

    Examples
    --------
    >>> span_of((1, slice(0, 4, 2)), (3, 4))
    (4, 7, [2], [2])
    """
    first = last = 0
    stride = 1
    lengths: list[int] = []
    steps: list[int] = []
    for part, length in zip(reversed(selection), reversed(shape), strict=True):
        if type(part) is slice:
            count = len(range(part.start, part.stop, part.step))
            if part.step < 1 or not count:
                return None
            lengths.append(count)
            steps.append(part.step * stride)
            first += part.start * stride
            last += (part.start + (count - 1) * part.step) * stride
        elif type(part) is int:
            first += part * stride
            last += part * stride
        else:
            return None
        stride *= length
    return first, last + 1, lengths[::-1], steps[::-1]


def decode_part(data: Ndarray, selection: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return the selected elements of a blosc frame; None where the whole frame must be decoded.

    Parameters
    ----------
    data : numpy.ndarray
        The frame, uint8.
    selection : tuple of int and slice
    shape, dtype
        Of the chunk; see :func:`takes_parts`.
    """
    span = span_of(selection, shape)
    if span is None:
        return None
    first, end, lengths, steps = span
    width = dtype.itemsize
    nbytes = width
    for length in shape:
        nbytes *= length
    if (end - first) * width * MAX_SHARE > nbytes:
        return None
    if data.size < _HEADER or int.from_bytes(data[4:8].tobytes(), "little") != nbytes:
        return None
    try:
        part = zarr_core.decode_blosc_range(data, first * width, end * width)
    except (ValueError, IndexError):
        return None  # decoded whole, the error has a name
    if dtype.kind == "b":  # stored bytes may be others than 0 and 1
        part = part != 0
    return np.ndarray(lengths, dtype, part, 0, [step * width for step in steps])
