"""What an array says of itself at a glance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from zarr.arrays.show.html import page, table
from zarr.types import MemoryOrder, ZarrFormat, printable

_UNITS = ("", "K", "M", "G", "T", "P")


def human_readable_size(size: int) -> str:
    """Return a number of bytes in a unit that can be read.

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
    """Return a number of bytes, and again in a unit that can be read.

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
        told = [(name, value) for name, value in self._rows() if value is not None or name == "Fill value"]
        return "\n".join(f"{name:<19}: {printable(str(value))}" for name, value in told)

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
    """Codecs as they show themselves; one that a document gave parameters that it cannot show, by these."""
    try:
        return str(codecs)
    except Exception:
        listed = codecs if isinstance(codecs, tuple) else (codecs,)
        return str(tuple([codec.get_config() for codec in listed]))
