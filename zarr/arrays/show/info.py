"""The summary of an array, and its page in a notebook; the store is read for it only if that is cheap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from zarr.abc.stores.abilities import AT_HAND
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.show.html import attributes_table, chunk_grid_svg, page, table
from zarr.arrays.stored import nbytes_stored_steps, stored_chunks_steps
from zarr.steps.requests import Steps
from zarr.types import MemoryOrder, ZarrFormat, printable

_UNITS = ("", "K", "M", "G", "T", "P")


def human_readable_size(size: int) -> str:
    """Return a number of bytes in a readable unit.

    Examples
    --------
    >>> human_readable_size(2320)
    '2.3K'
    """
    if size < 1024:
        return str(size)
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    return f"{value:.1f}{_UNITS[unit]}"


def byte_info(size: int) -> str:
    """Return a number of bytes, and again in a readable unit.

    Examples
    --------
    >>> byte_info(2320)
    '2320 (2.3K)'
    """
    return str(size) if size < 1024 else f"{size} ({human_readable_size(size)})"


@dataclass(frozen=True, kw_only=True)
class ArrayInfo:
    """A summary of an array, printed one field a line.

    Examples
    --------
    >>> import zarr
    >>> "Chunk shape        : (3,)" in repr(zarr.create_array({}, shape=3, dtype="int8").info)
    True
    """

    _type: Literal["Array"] = "Array"
    _zarr_format: ZarrFormat
    _data_type: Any
    _fill_value: object
    _shape: tuple[int, ...]
    _shard_shape: tuple[int, ...] | str | None = None
    _chunk_shape: tuple[int, ...] | str | None = None
    _order: MemoryOrder
    _read_only: bool
    _store_type: str
    _filters: tuple[Any, ...] = ()
    _serializer: Any = None
    _compressors: tuple[Any, ...] = ()
    _count_bytes: int | None = None
    _count_bytes_stored: int | None = None
    _count_chunks_initialized: int | None = None
    _draw: Callable[[], str] | None = field(default=None, compare=False)
    """Draws the grid of stored chunks."""

    def _repr_html_(self) -> str:
        return page(table(self._rows()), "" if self._draw is None else self._draw())

    def __repr__(self) -> str:
        rows = [(name, value) for name, value in self._rows() if value is not None or name == "Fill value"]
        return "\n".join(f"{name:<19}: {printable(str(value))}" for name, value in rows)

    def _rows(self) -> list[tuple[str, object]]:
        counted = "Chunks Initialized" if self._shard_shape is None else "Shards Initialized"
        ratio = stored = None
        if self._count_bytes is not None and self._count_bytes_stored is not None:
            stored = byte_info(self._count_bytes_stored)
            ratio = f"{self._count_bytes / self._count_bytes_stored:.1f}" if self._count_bytes_stored else None
        return [
            ("Type", self._type),
            ("Zarr format", self._zarr_format),
            ("Data type", self._data_type),
            ("Fill value", self._fill_value),
            ("Shape", self._shape),
            ("Shard shape", self._shard_shape),
            ("Chunk shape", self._chunk_shape),
            ("Order", self._order),
            ("Read-only", self._read_only),
            ("Store type", self._store_type),
            ("Filters", _codecs_text(self._filters)),
            ("Serializer", None if self._serializer is None else _codecs_text(self._serializer)),
            ("Compressors", _codecs_text(self._compressors)),
            ("No. bytes", None if self._count_bytes is None else byte_info(self._count_bytes)),
            ("No. bytes stored", stored),
            ("Storage ratio", ratio),
            (counted, self._count_chunks_initialized),
        ]


def _codecs_text(codecs: Any) -> str:
    """Return codecs as text by their own ``repr``; a codec with other parameters in its document, by these."""
    try:
        return str(codecs)
    except Exception:
        listed = codecs if isinstance(codecs, tuple) else (codecs,)
        return str(tuple([codec.get_config() for codec in listed]))


# ----------------------------------------------------------------------------------------------- notebooks

MAX_LISTED = 4096
"""Number of chunks above which the page of a notebook does not show the stored ones."""


class Stored(NamedTuple):
    """The stored chunks of an array, and the bytes of all its values."""

    nbytes: int
    chunks: list[tuple[int, ...]]
    """Coordinates of chunks; with shards, of shards."""


def stored_steps(handle: ArrayHandle) -> Steps[Stored]:
    """Find the stored chunks by a listing."""
    nbytes = yield from nbytes_stored_steps(handle)
    return Stored(nbytes, (yield from stored_chunks_steps(handle)))


def chunks_at_hand_steps(handle: ArrayHandle) -> Steps[list[tuple[int, ...]] | None]:
    """Return the stored chunks if it is cheap to find them; else None."""
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
    """Return the HTML of an array for a notebook."""
    drawing = drawing_of(handle, stored)()
    if drawing and stored is None:
        drawing += "<div>info_complete() shows which chunks are stored</div>"
    path = [("Path", f"/{handle.store_path.path}")]
    return page(table([*path, *info._rows()]) + attributes_table(handle.metadata.attributes), drawing)
