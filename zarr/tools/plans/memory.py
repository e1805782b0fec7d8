"""Memory that the tasks of one thread use one after the other.

The system must clear every page of newly allocated memory. For regions of some hundred megabytes this takes about as
long as decoding the region.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from zarr.arrays.array import Array

NUMBERS = "biufcmM"
"""Kinds of data types whose elements are plain bytes."""


class _Kept(threading.local):
    memory: np.ndarray[Any, Any] | None = None
    """Bytes; None if no memory is kept."""


_KEPT = _Kept()


@contextmanager
def keep_memory() -> Iterator[None]:
    """Let the tasks of this thread read into the same memory, which is freed at the end."""
    _KEPT.memory = np.empty(0, np.uint8)
    try:
        yield
    finally:
        _KEPT.memory = None


def read_region(array: Array[Any], region: tuple[slice, ...]) -> Any:
    """Return the elements of a region; under :func:`keep_memory` they are valid until the next call.

    Parameters
    ----------
    array : Array
    region : tuple of slices
        Slices with a start and a stop within the array.

    Examples
    --------
    >>> import zarr
    >>> with keep_memory():
    ...     read_region(zarr.array([1, 2, 3]), (slice(1, 3),)).tolist()
    [2, 3]
    """
    dtype = array.dtype
    if _KEPT.memory is None or not region or dtype.kind not in NUMBERS:
        return array[region]
    shape = tuple(part.stop - part.start for part in region)
    nbytes = math.prod(shape) * dtype.itemsize
    if _KEPT.memory.nbytes < nbytes:
        _KEPT.memory = None  # free the old memory before the new one is allocated
        _KEPT.memory = np.empty(nbytes, np.uint8)
    out = _KEPT.memory[:nbytes].view(dtype).reshape(shape)
    array.get_basic_selection(region, out=out)
    return out
