"""Many shards of one plan over inner chunks: read by index, or written whole."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.bulk import (
    DONE,
    FAILED,
    MISSING,
    TODO,
    Job,
    check_array,
    check_fill,
    check_span,
    encode_chunk,
    place_chunk,
    read_regular,
    store_file,
)
from zarr_core.reference.grid import morton_order
from zarr_core.reference.index_cache import IndexCache
from zarr_core.reference.keys import KeyFormat
from zarr_core.reference.plan import Plan, ShardGroups
from zarr_core.reference.program import Program
from zarr_core.reference.shard_index import MISSING as NO_CHUNK
from zarr_core.reference.shard_index import IndexFormat, build_index, parse_index
from zarr_core.reference.shuffle import as_bytes

WRITE_ORDERS = ("morton", "unordered", "lexicographic", "colexicographic")


def check_groups(groups: ShardGroups, plan: Plan, which: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the groups that a job works on."""
    if groups.plan is not plan:
        raise ValueError("groups belong to another plan")
    if which is None:
        return np.arange(groups.ngroups, dtype=np.int64)
    array = np.ascontiguousarray(which, dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(f"which must be one-dimensional, got shape {array.shape}")
    if len(array) and (array.min() < 0 or array.max() >= groups.ngroups):
        raise IndexError(f"groups must lie in 0 .. {groups.ngroups - 1}, got {array.min()} .. {array.max()}")
    return array


class ShardReadJob(Job):
    """Read the inner chunks of a plan out of their shards."""

    def __init__(
        self,
        plan: Plan,
        groups: ShardGroups,
        program: Program,
        out: NDArray[Any],
        fill: NDArray[Any] | None,
        index: IndexFormat,
        which: NDArray[np.int64] | None = None,
        *,
        max_gap_bytes: int = 16384,
        max_bytes: int = 1 << 20,
        indexes: IndexCache | None = None,
    ) -> None:
        check_array("out", out, plan, program)
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        if fill is not None:
            check_fill(fill, out.dtype)
        self.plan, self.groups, self.program, self.out, self.fill, self.index = plan, groups, program, out, fill, index
        self._which = check_groups(groups, plan, which)
        self.parts = 1
        self._started = np.zeros(len(self._which), bool)
        self._status = np.full(plan.nslots, TODO, np.uint8)

    @property
    def missing(self) -> NDArray[np.int64]:
        """Slots with no stored chunk."""
        return np.flatnonzero(self._status == MISSING).astype(np.int64)

    @property
    def failed(self) -> NDArray[np.int64]:
        """Slots whose chunk could not be read or decoded."""
        return np.flatnonzero(self._status == FAILED).astype(np.int64)

    def from_files(self, root: str, keys: KeyFormat) -> None:
        """Read each shard from a file under ``root``."""
        for position in range(len(self._which)):
            if self._started[position] or self._stopped:
                continue
            group = int(self._which[position])
            try:
                payload = read_regular(os.path.join(root, keys.key(self.groups.coords(group))))
            except OSError:
                self._started[position] = True
                self._status[self.groups.slots(group)] = FAILED
            else:
                self._accept(position, payload)
        self._check_stopped()

    def from_buffers(self, payloads: Sequence[Any], first: int = 0) -> None:
        """Read whole shards from memory; payload k belongs to group ``first + k`` of the job."""
        check_span(first, len(payloads), len(self._which))
        for k, payload in enumerate(payloads):
            self._accept(first + k, payload)
        self._check_stopped()

    def _accept(self, position: int, payload: Any) -> None:
        group = int(self._which[position])
        self._started[position] = True
        slots, inner = self.groups.slots(group).tolist(), self.groups.inner(group).tolist()
        try:
            pieces = [None] * len(slots) if payload is None else self._pieces(payload, group, inner)
        except ValueError:
            self._status[slots] = FAILED
            return
        for slot, piece in zip(slots, pieces):
            self._status[slot] = FAILED if piece is DAMAGED_PIECE else place_chunk(self, slot, piece)

    def _pieces(self, payload: Any, group: int, inner: list[int]) -> list[Any]:
        raw = as_bytes(payload)
        nchunks = math.prod(self.groups.chunks_per_shard(group))
        size = self.index.nbytes(nchunks)
        if size > len(raw):
            raise ValueError(f"a shard of {len(raw)} bytes is too short for an index of {size} bytes")
        stored = raw[:size] if self.index.location == "start" else raw[len(raw) - size :]
        pairs = parse_index(stored, nchunks, self.index).tolist()
        return [piece_of(raw, *pairs[i]) for i in inner]


DAMAGED_PIECE = object()


def piece_of(raw: NDArray[np.uint8], offset: int, length: int) -> Any:
    """Cut out an inner chunk; None if there is none, DAMAGED_PIECE where the range is not in the shard."""
    if offset == NO_CHUNK and length == NO_CHUNK:
        return None
    return raw[offset : offset + length] if offset + length <= len(raw) else DAMAGED_PIECE


class ShardWriteJob(Job):
    """Write whole shards of a plan over inner chunks."""

    def __init__(
        self,
        plan: Plan,
        groups: ShardGroups,
        program: Program,
        value: NDArray[Any],
        fill: NDArray[Any],
        skip_filled: bool,
        index: IndexFormat,
        write_order: str = "morton",
        which: NDArray[np.int64] | None = None,
    ) -> None:
        check_array("value", value, plan, program)
        check_fill(fill, value.dtype)
        if write_order not in WRITE_ORDERS:
            raise ValueError(f"write_order must be one of {', '.join(WRITE_ORDERS)}, got {write_order!r}")
        self.plan, self.groups, self.program, self.value, self.fill = plan, groups, program, value, fill
        self.skip_filled, self.index, self.write_order = skip_filled, index, write_order
        self._which = check_groups(groups, plan, which)
        self.parts = 1
        self._status = np.full(len(self._which), TODO, np.uint8)
        self._errors: list[tuple[int, int]] = []

    @property
    def failed(self) -> NDArray[np.int64]:
        """Groups that were not written."""
        return np.extract(self._status == FAILED, self._which)

    @property
    def errors(self) -> list[tuple[int, int]]:
        """(group, errno) of the file calls that failed."""
        return list(self._errors)

    def share(self, parts: int | None = None) -> None:
        """Several threads may work on each shard; here each shard is encoded in one go."""
        if parts is not None and parts < 1:
            raise ValueError(f"parts must be at least 1, got {parts}")

    def prepare(self, first: int, count: int) -> None:
        """Encode shards for :meth:`encode` to hand out; here that does it itself."""
        check_span(first, count, len(self._which))
        self._check_stopped()

    def encode(self, first: int, count: int) -> list[bytes | EllipsisType | None]:
        """Encode the shards of some groups; None where all are fill and skipped, Ellipsis where it failed."""
        check_span(first, count, len(self._which))
        shards = [self._encode(first + k) for k in range(count)]
        self._check_stopped()
        return shards

    def to_files(self, root: str, keys: KeyFormat, fsync: bool = False) -> None:
        """Write each shard to a file under ``root``; delete the file of a shard without chunks."""
        for position in range(len(self._which)):
            if self._status[position] != TODO:
                continue
            if self._stopped:
                self._status[position] = FAILED
                continue
            group = int(self._which[position])
            stored = self._encode(position)
            if isinstance(stored, EllipsisType):
                continue
            code = store_file(os.path.join(root, keys.key(self.groups.coords(group))), stored, fsync)
            if code:
                self._status[position] = FAILED
                self._errors.append((group, code))
                self.stop()

    def _encode(self, position: int) -> bytes | EllipsisType | None:
        group = int(self._which[position])
        slots = dict(zip(self.groups.inner(group).tolist(), self.groups.slots(group).tolist()))
        counts = self.groups.chunks_per_shard(group)
        if not all(self.plan.whole(slot) for slot in slots.values()) or len(slots) != self._inside(group):
            self._status[position] = FAILED
            return ...
        self._status[position] = DONE
        chunks = {i: encode_chunk(self, slots[i]) for i in write_sequence(counts, self.write_order) if i in slots}
        return self._assemble({i: chunk for i, chunk in chunks.items() if chunk is not None}, math.prod(counts))

    def _inside(self, group: int) -> int:
        """Return how many inner chunks of a shard lie inside the array."""
        inside = 1
        for axis, starts, c in zip(self.plan.grid.axes, self.groups._starts, self.groups.coords(group)):
            inside *= min(int(starts[c + 1]), axis.nchunks) - int(starts[c])
        return inside

    def _assemble(self, chunks: dict[int, bytes], nchunks: int) -> bytes | None:
        if not chunks and self.skip_filled:
            return None
        pairs = np.full((nchunks, 2), NO_CHUNK, np.uint64)
        at = self.index.nbytes(nchunks) if self.index.location == "start" else 0
        for i, chunk in chunks.items():
            pairs[i] = at, len(chunk)
            at += len(chunk)
        body, table = b"".join(chunks.values()), build_index(pairs, self.index)
        return table + body if self.index.location == "start" else body + table


def write_sequence(counts: tuple[int, ...], order: str) -> list[int]:
    """C-order indexes of a shard's inner chunks in the order in which they are stored."""
    n = math.prod(counts)
    if order == "morton" and counts:
        return [int(np.ravel_multi_index(tuple(c), counts)) for c in morton_order(counts)]
    if order == "colexicographic" and counts:
        return [int(i) for i in np.arange(n).reshape(counts).T.reshape(-1)]
    return list(range(n))
