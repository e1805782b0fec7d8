"""The chunks of a dataset, as slices."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

__all__ = ["walk_chunks"]


def walk_chunks(shape: tuple[int, ...], chunks: tuple[int, ...], sel: Any) -> Iterator[tuple[slice, ...]]:
    """Return the parts of a selection (slices of step 1 and integers; None for all) that lie in one chunk each.

    Raises
    ------
    ValueError
        If the selection has another rank than the dataset.
    TypeError
        If it has a step, or something else than slices and integers.
    """
    parts = sel if isinstance(sel, tuple) else (sel,) if sel is not None else (slice(None),) * len(shape)
    if len(parts) != len(shape):
        raise ValueError(f"a selection of {len(parts)} axes does not fit a dataset of {len(shape)}")
    bounds = [_bounds(part, length) for part, length in zip(parts, shape, strict=True)]
    pieces = [_cut(start, stop, size) for (start, stop), size in zip(bounds, chunks, strict=True)]
    return itertools.product(*pieces)


def _bounds(part: Any, length: int) -> tuple[int, int]:
    if isinstance(part, slice):
        start, stop, step = part.indices(length)
        if step != 1:
            raise TypeError(f"chunks are walked with step 1, not {step}")
        return start, stop
    if isinstance(part, int):
        return part, part + 1
    raise TypeError(f"chunks are selected by slices and integers, not by {part!r}")


def _cut(start: int, stop: int, size: int) -> list[slice]:
    edges = range(start - start % size, stop, size)
    return [slice(max(edge, start), min(edge + size, stop), 1) for edge in edges]
