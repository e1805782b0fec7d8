"""Chunks that are not there yet: asked for again, some times, before they count as fill values or as lost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import load
from zarr.chunks.spec import LONGEST_DELAY
from zarr.errors import ChunkNotFoundError
from zarr.steps.requests import Await, Steps

if TYPE_CHECKING:
    from zarr.arrays.layout import ArrayLayout

T = TypeVar("T")


def patient_steps(layout: ArrayLayout, read: Callable[[ArrayLayout], Steps[T]]) -> Steps[T]:
    """Read until no chunk is missing, up to the number of retries of the array's configuration.

    Parameters
    ----------
    layout : ArrayLayout
        Of a configuration with ``missing_chunk_retries``.
    read : callable
        Makes the steps that read by a layout; they raise ``ChunkNotFoundError`` where that does not read missing
        chunks as fill values.

    Raises
    ------
    ChunkNotFoundError
        If a chunk is missing in the end and ``read_missing_chunks`` is false.
    """
    config = layout.config
    once = layout.with_missing(reads_missing=False, retries=0)
    for number in range(config.missing_chunk_retries):
        try:
            return (yield from read(once))
        except ChunkNotFoundError:
            seconds = min(LONGEST_DELAY, config.missing_chunk_delay * 2.0**number)
            yield Await(partial(_sleep, seconds))
    return (yield from read(layout.with_missing(reads_missing=config.read_missing_chunks, retries=0)))


async def _sleep(seconds: float) -> None:
    asyncio: Any = load("asyncio")  # arrays that are read without a loop need not load it
    await asyncio.sleep(seconds)
