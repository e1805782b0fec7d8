"""Chunk coordinates to store keys."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from zarr_core.reference.plan import Plan, ShardGroups


class KeyFormat:
    """The spelling of the key of a chunk: ``a/b/c/0/1`` (style "default") or ``a/b/0.1`` (style "v2")."""

    def __init__(self, prefix: str, separator: str, style: str) -> None:
        if separator not in ("/", "."):
            raise ValueError(f"separator must be '/' or '.', got {separator!r}")
        if style not in ("default", "v2"):
            raise ValueError(f"style must be 'default' or 'v2', got {style!r}")
        self.prefix = prefix
        self.separator = separator
        self.style = style

    def key(self, coords: Sequence[int]) -> str:
        """Return the key of one chunk."""
        numbers = [str(_coordinate(c)) for c in coords]
        if self.style == "default":
            name = self.separator.join(["c", *numbers])
        else:
            name = self.separator.join(numbers) or "0"
        return f"{self.prefix}/{name}" if self.prefix else name

    def coords(self, key: str, counts: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the coordinates of the chunk of a key; None if it is not the key of a chunk of such a grid."""
        numbers = key.removeprefix(f"{self.prefix}/" if self.prefix else "").split(self.separator)
        numbers = numbers[self.style == "default" :] if counts else []
        if len(numbers) != len(counts) or not all(text.isascii() and text.isdecimal() for text in numbers):
            return None
        coords = tuple(map(int, numbers))
        inside = all(c < n for c, n in zip(coords, counts, strict=True))
        return coords if inside and self.key(coords) == key else None

    def keys(self, source: Plan | ShardGroups | NDArray[Any]) -> list[str]:
        """Return the keys of all slots of a plan, of all shards of its groups, or of coordinates, a row each."""
        rows = source if isinstance(source, np.ndarray) else source.all_coords()
        return [self.key(coords) for coords in rows.tolist()]


def _coordinate(value: int) -> int:
    value = index(value)
    if value < 0:
        raise ValueError(f"chunk coordinates must not be negative, got {value}")
    return value
