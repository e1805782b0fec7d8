"""What a group says of itself at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from zarr.arrays.show.html import table
from zarr.types import ZarrFormat, printable


@dataclass(frozen=True, kw_only=True)
class GroupInfo:
    """A summary of a group, printed one field a line.

    Examples
    --------
    >>> print(GroupInfo(_name="a", _zarr_format=3, _read_only=False, _store_type="MemoryStore"))
    Name        : a
    Type        : Group
    Zarr format : 3
    Read-only   : False
    Store type  : MemoryStore
    """

    _name: str
    _type: Literal["Group"] = "Group"
    _zarr_format: ZarrFormat
    _read_only: bool
    _store_type: str
    _count_members: int | None = None
    _count_arrays: int | None = None
    _count_groups: int | None = None

    def __repr__(self) -> str:
        return "\n".join(f"{name:<12}: {printable(str(value))}" for name, value in self._rows() if value is not None)

    def _repr_html_(self) -> str:
        return table(self._rows())

    def _rows(self) -> list[tuple[str, object]]:
        return [
            ("Name", self._name),
            ("Type", self._type),
            ("Zarr format", self._zarr_format),
            ("Read-only", self._read_only),
            ("Store type", self._store_type),
            ("No. members", self._count_members),
            ("No. arrays", self._count_arrays),
            ("No. groups", self._count_groups),
        ]
