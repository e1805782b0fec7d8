"""Assertions and markers for tests."""

from __future__ import annotations

import importlib.util
from typing import Any, TypeVar

import pytest

from zarr.abc.buffer import Buffer
from zarr.types import BytesLike

F = TypeVar("F")


def assert_bytes_equal(b1: Buffer | BytesLike | None, b2: Buffer | BytesLike | None) -> None:
    """Fail unless two values hold the same bytes.

    Parameters
    ----------
    b1, b2 : Buffer, bytes or None

    Raises
    ------
    AssertionError

    Examples
    --------
    >>> assert_bytes_equal(b"abc", b"abc")
    """
    first = b1.to_bytes() if isinstance(b1, Buffer) else b1
    second = b2.to_bytes() if isinstance(b2, Buffer) else b2
    assert first == second, f"{first!r} != {second!r}"


def has_cupy() -> bool:
    """Return True if CuPy and a graphics card are available.

    Examples
    --------
    >>> has_cupy() in (True, False)
    True
    """
    if importlib.util.find_spec("cupy") is None:
        return False
    cupy: Any = importlib.import_module("cupy")
    try:
        return bool(cupy.cuda.runtime.getDeviceCount() > 0)
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


gpu_mark = pytest.mark.gpu
skip_if_no_gpu = pytest.mark.skipif(not has_cupy(), reason="CuPy not installed or no GPU available")


def gpu_test(func: F) -> F:
    """Mark a test that needs a graphics card; it is skipped if there is none.

    Parameters
    ----------
    func : callable

    Returns
    -------
    callable

    Examples
    --------
    >>> @gpu_test
    ... def test_on_the_card():
    ...     pass
    """
    marked: Any = gpu_mark(skip_if_no_gpu(func))
    found: F = marked
    return found
