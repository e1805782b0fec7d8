"""How arrays show themselves in a notebook, and what they ask of the store for it: nothing, unless it is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zarr.arrays.change.operations import nbytes_stored_steps, stored_chunks_steps
from zarr.arrays.show.html import attributes_table, chunk_grid_svg, page, table
from zarr.steps.requests import Steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr.arrays.handle import ArrayHandle
    from zarr.arrays.show.info import ArrayInfo

MAX_LISTED = 4096
"""Chunks of an array beyond which a notebook's page does not look which of them are stored."""
AT_HAND = ("files", "memory")
"""How chunks are reached in stores that a page may list: folders and memory; others only where a user asks."""


class Stored(NamedTuple):
    """What is stored of an array."""

    nbytes: int
    chunks: list[tuple[int, ...]]
    """Coordinates of chunks, of shards where there are some."""


def stored_steps(handle: ArrayHandle) -> Steps[Stored]:
    """Find what is stored, by listing."""
    nbytes = yield from nbytes_stored_steps(handle)
    return Stored(nbytes, (yield from stored_chunks_steps(handle)))


def chunks_at_hand_steps(handle: ArrayHandle) -> Steps[list[tuple[int, ...]] | None]:
    """Return the stored chunks, where looking for them is cheap; else None."""
    if handle.bulk not in AT_HAND or handle.layout.outer.nchunks > MAX_LISTED:
        return None
    try:
        return (yield from stored_chunks_steps(handle))
    except OSError:
        return None


def drawing_of(handle: ArrayHandle, stored: Sequence[tuple[int, ...]] | None) -> Callable[[], str]:
    """Return a function that draws the chunks of an array."""
    layout = handle.layout
    known = None if stored is None else np.array(stored, dtype=np.int64).reshape(len(stored), layout.ndim)
    names = getattr(handle.metadata, "dimension_names", None)
    return partial(chunk_grid_svg, layout.shape, layout.outer.cdata_shape, names, known)


def array_page(handle: ArrayHandle, info: ArrayInfo, stored: Sequence[tuple[int, ...]] | None) -> str:
    """Return the HTML that a notebook shows of an array."""
    drawing = drawing_of(handle, stored)()
    if drawing and stored is None:
        drawing += "<div>info_complete() shows which chunks are stored</div>"
    path = [("Path", f"/{handle.store_path.path}")]
    return page(table([*path, *info._rows()]) + attributes_table(handle.metadata.attributes), drawing)
