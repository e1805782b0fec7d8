"""Assertions and markers for tests."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, TypeVar

from zarr.abc.buffer import Buffer
from zarr.types import BytesLike

if TYPE_CHECKING:
    import pytest

    gpu_mark: pytest.MarkDecorator
    skip_if_no_gpu: pytest.MarkDecorator

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


def __getattr__(name: str) -> Any:
    # Assertions need no pytest, markers do.
    if name not in ("gpu_mark", "skip_if_no_gpu"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    mark: Any = importlib.import_module("pytest").mark
    if name == "gpu_mark":
        return mark.gpu
    return mark.skipif(not has_cupy(), reason="CuPy not installed or no GPU available")


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
    found: F = __getattr__("gpu_mark")(__getattr__("skip_if_no_gpu")(func))
    return found
