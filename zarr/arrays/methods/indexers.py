"""The small objects behind ``oindex``, ``vindex`` and ``blocks``, of both faces.

They call the public methods of their array, as in zarr-python: a subclass that overrides these changes the brackets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zarr.arrays.io.selection import pop_fields, vectorized_kind
from zarr.arrays.methods.array_api import StandardMethods


@dataclass(frozen=True)
class OIndex:
    """Orthogonal indexing: each axis by itself, as ``array.oindex[[0, 2], [1, 3]]``."""

    array: StandardMethods

    def __getitem__(self, selection: Any) -> Any:
        fields, selection = pop_fields(selection)
        return self.array.get_orthogonal_selection(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = pop_fields(selection)
        self.array.set_orthogonal_selection(selection, value, fields=fields)


@dataclass(frozen=True)
class VIndex:
    """Vectorized indexing: points, as ``array.vindex[[0, 2], [1, 3]]``, or a mask."""

    array: StandardMethods

    def __getitem__(self, selection: Any) -> Any:
        fields, selection = pop_fields(selection)
        if vectorized_kind(selection, self.array.shape) == "mask":
            return self.array.get_mask_selection(selection, fields=fields)
        return self.array.get_coordinate_selection(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = pop_fields(selection)
        if vectorized_kind(selection, self.array.shape) == "mask":
            self.array.set_mask_selection(selection, value, fields=fields)
        else:
            self.array.set_coordinate_selection(selection, value, fields=fields)


@dataclass(frozen=True)
class BlockIndex:
    """Block indexing: whole stored chunks by their place in the grid, as ``array.blocks[0, 1:3]``."""

    array: StandardMethods

    def __getitem__(self, selection: Any) -> Any:
        fields, selection = pop_fields(selection)
        return self.array.get_block_selection(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = pop_fields(selection)
        self.array.set_block_selection(selection, value, fields=fields)


@dataclass(frozen=True)
class AsyncOIndex:
    """Orthogonal indexing of an :class:`AsyncArray`."""

    array: Any

    async def getitem(self, selection: Any) -> Any:
        """Read a selection that indexes each axis by itself."""
        fields, selection = pop_fields(selection)
        return await self.array.get_orthogonal_selection(selection, fields=fields)


@dataclass(frozen=True)
class AsyncVIndex:
    """Vectorized indexing of an :class:`AsyncArray`."""

    array: Any

    async def getitem(self, selection: Any) -> Any:
        """Read points or a mask."""
        fields, selection = pop_fields(selection)
        if vectorized_kind(selection, self.array.shape) == "mask":
            return await self.array.get_mask_selection(selection, fields=fields)
        return await self.array.get_coordinate_selection(selection, fields=fields)
