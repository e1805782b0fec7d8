"""The chunks that many selections of one array touch, each read and decoded once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.bulk import DONE, FAILED, MISSING, TODO, Job, ReadJob, check_span, place_chunk, read_regular
from zarr_core.reference.chunks import scatter
from zarr_core.reference.keys import KeyFormat


class SharedReadJob(Job):
    """Read the chunks of several plans on one grid, each chunk once."""

    def __init__(self, readers: Sequence[ReadJob], owners: Any, slots: Any, starts: Any) -> None:
        self.readers = tuple(readers)
        if not self.readers:
            raise ValueError("at least one reader is needed")
        if not all(isinstance(reader, ReadJob) for reader in self.readers):
            raise TypeError("readers must be read jobs")
        first = self.readers[0]
        if any(r.program is not first.program or r.plan.grid is not first.plan.grid for r in self.readers):
            raise ValueError("all readers must have one program, and plans on one grid")
        self.program = first.program
        entries = np.asarray(owners, np.int64), np.asarray(slots, np.int64)
        self._entries = _grouped(entries, np.asarray(starts, np.int64), self.readers)
        self.count = len(self._entries)
        self._status = np.full(self.count, TODO, np.uint8)

    @property
    def missing(self) -> NDArray[np.int64]:
        """Chunks that are not stored."""
        return np.flatnonzero(self._status == MISSING).astype(np.int64)

    @property
    def failed(self) -> NDArray[np.int64]:
        """Chunks that could not be read or decoded."""
        return np.flatnonzero(self._status == FAILED).astype(np.int64)

    def from_files(self, root: str, keys: KeyFormat) -> None:
        """Read each chunk from a file under ``root``."""
        for position, ((reader, slot), *_) in enumerate(self._entries):
            if self._status[position] != TODO or self._stopped:
                continue
            try:
                payload = read_regular(os.path.join(root, keys.key(reader.plan.coords(slot))))
            except OSError:
                self._status[position] = FAILED
            else:
                self._status[position] = _place(self._entries[position], payload)
        self._check_stopped()

    def from_buffers(self, payloads: Sequence[Any], first: int = 0) -> None:
        """Read chunks from memory; payload k belongs to chunk ``first + k``."""
        check_span(first, len(payloads), self.count)
        for k, payload in enumerate(payloads):
            if not self._stopped:
                self._status[first + k] = _place(self._entries[first + k], payload)
        self._check_stopped()


def _grouped(entries: Any, starts: NDArray[np.int64], readers: list[ReadJob]) -> list[list[tuple[ReadJob, int]]]:
    owners, slots = (numbers.tolist() for numbers in entries)
    if len(owners) != len(slots):
        raise ValueError("owners and slots differ in length")
    if any(not 0 <= owner < len(readers) for owner in owners):
        raise IndexError(f"owners must lie in 0 .. {len(readers) - 1}")
    if any(not 0 <= slot < readers[owner].plan.nslots for owner, slot in zip(owners, slots, strict=True)):
        raise IndexError("a slot that its plan does not have")
    if not len(starts) or starts[0] != 0 or starts[-1] != len(owners):
        raise ValueError("starts must begin with 0 and end with the number of entries")
    if (np.diff(starts) <= 0).any():
        raise ValueError("starts must increase")
    bounds = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    groups = [[(readers[owners[i]], slots[i]) for i in range(first, stop)] for first, stop in bounds]
    if any(len({reader.plan.coords(slot) for reader, slot in group}) > 1 for group in groups):
        raise ValueError("the entries of a chunk are of different chunks")
    return groups


def _place(group: list[tuple[ReadJob, int]], payload: Any) -> int:
    """Decode once, scatter to every place."""
    (reader, index), *others = group
    status = place_chunk(reader, index, payload)
    if status == MISSING:
        for other, slot in others:
            place_chunk(other, slot, None)
    elif status == DONE and others:
        chunk = reader.program.read_chunk(payload, reader.plan.slot(index).chunk_shape, reader.out.dtype)
        for other, slot in others:
            scatter(chunk, other.plan.slot(slot), other.out)
    return status
