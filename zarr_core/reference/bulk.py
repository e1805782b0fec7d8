"""Many chunks of one plan, read or written one after the other: what the compiled jobs do in one loop."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.chunks import fill as fill_slot
from zarr_core.reference.chunks import gather, scatter
from zarr_core.reference.fill_values import is_filled
from zarr_core.reference.keys import KeyFormat
from zarr_core.reference.plan import Plan
from zarr_core.reference.program import Program

TODO, DONE, MISSING, FAILED = range(4)


def check_array(name: str, array: NDArray[Any], plan: Plan, program: Program) -> None:
    """Guard an output or a value."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(array).__name__}")
    if array.shape != plan.shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {plan.shape}")
    if array.dtype.hasobject or array.dtype.kind == "T":
        raise TypeError(f"{name} of {array.dtype} has no fixed width")
    if array.dtype.itemsize != program.itemsize:
        raise ValueError(f"{name} has items of {array.dtype.itemsize} bytes, the program of {program.itemsize}")
    if program.order is not None and len(program.order) != plan.ndim:
        raise ValueError(f"the program transposes {len(program.order)} axes, the plan has {plan.ndim}")


def check_fill(fill: NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Guard a fill value: 0-d, of the array's dtype."""
    if not isinstance(fill, np.ndarray):
        raise TypeError(f"fill must be a 0-d NumPy array, got {type(fill).__name__}")
    if fill.ndim or fill.dtype != dtype:
        raise ValueError(f"fill must be 0-d and of {dtype}, got shape {fill.shape} and {fill.dtype}")


def check_slots(slots: NDArray[np.int64] | None, plan: Plan) -> NDArray[np.int64]:
    """Return the slots that a job works on."""
    if slots is None:
        return np.arange(plan.nslots, dtype=np.int64)
    array = np.ascontiguousarray(slots, dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(f"slots must be one-dimensional, got shape {array.shape}")
    if len(array) and (array.min() < 0 or array.max() >= plan.nslots):
        raise IndexError(f"slots must lie in 0 .. {plan.nslots - 1}, got {array.min()} .. {array.max()}")
    return array


def check_span(first: int, count: int, total: int) -> None:
    """Guard a run of positions."""
    if first < 0 or count < 0 or first + count > total:
        raise IndexError(f"{count} positions from {first} on do not lie in a job of {total}")


def read_regular(path: str) -> bytes | None:
    """Read a regular file, None if there is no such file; never wait on a fifo."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read()


def replace_file(path: str, data: bytes, fsync: bool) -> None:
    """Write beside, then rename into place."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid():x}-{id(data):x}.partial")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            if fsync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def remove_file(path: str) -> None:
    """Delete a file that may be missing."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


class Job:
    """Work that can be ended before its time."""

    _stopped = False

    def stop(self) -> None:
        """Have the job end after the chunk that it is at; what is not done failed."""
        self._stopped = True

    def _check_stopped(self) -> None:
        if self._stopped:
            raise InterruptedError("the job was stopped")


class ReadJob(Job):
    """Read the chunks of a plan into an output array."""

    def __init__(
        self,
        plan: Plan,
        program: Program,
        out: NDArray[Any],
        fill: NDArray[Any] | None,
        slots: NDArray[np.int64] | None = None,
    ) -> None:
        check_array("out", out, plan, program)
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        if fill is not None:
            check_fill(fill, out.dtype)
        self.plan, self.program, self.out, self.fill = plan, program, out, fill
        self._slots = check_slots(slots, plan)
        self._status = np.full(len(self._slots), TODO, np.uint8)

    @property
    def missing(self) -> NDArray[np.int64]:
        """Slots with no stored chunk."""
        return np.extract(self._status == MISSING, self._slots)

    @property
    def failed(self) -> NDArray[np.int64]:
        """Slots whose chunk could not be read or decoded."""
        return np.extract(self._status == FAILED, self._slots)

    def from_files(self, root: str, keys: KeyFormat) -> None:
        """Read each slot's chunk from a file under ``root``."""
        for position in range(len(self._slots)):
            if self._status[position] != TODO or self._stopped:
                continue
            key = keys.key(self.plan.coords(int(self._slots[position])))
            try:
                payload = read_regular(os.path.join(root, key))
            except OSError:
                self._status[position] = FAILED
            else:
                self._accept(position, payload)
        self._check_stopped()

    def from_buffers(self, payloads: Sequence[Any], first: int = 0) -> None:
        """Read chunks from memory; payload k belongs to slot ``first + k`` of the job."""
        check_span(first, len(payloads), len(self._slots))
        for k, payload in enumerate(payloads):
            self._accept(first + k, payload)
        self._check_stopped()

    def _accept(self, position: int, payload: Any) -> None:
        slot = self.plan.slot(int(self._slots[position]))
        self._status[position] = place_chunk(self, slot.index, payload)


def place_chunk(job: Any, index: int, payload: Any) -> int:
    """Decode and scatter one chunk of a read job, or fill its place."""
    slot = job.plan.slot(index)
    if payload is None:
        if job.fill is not None:
            fill_slot(job.out, slot, job.fill)
        return MISSING
    try:
        chunk = job.program.read_chunk(payload, slot.chunk_shape, job.out.dtype)
    except ValueError:
        return FAILED
    scatter(chunk, slot, job.out)
    return DONE


class WriteJob(Job):
    """Write whole chunks of a plan from a value."""

    def __init__(
        self,
        plan: Plan,
        program: Program,
        value: NDArray[Any],
        fill: NDArray[Any],
        skip_filled: bool,
        slots: NDArray[np.int64] | None = None,
    ) -> None:
        check_array("value", value, plan, program)
        check_fill(fill, value.dtype)
        self.plan, self.program, self.value, self.fill, self.skip_filled = plan, program, value, fill, skip_filled
        self._slots = check_slots(slots, plan)
        self._status = np.full(len(self._slots), TODO, np.uint8)
        self._errors: list[tuple[int, int]] = []

    @property
    def failed(self) -> NDArray[np.int64]:
        """Slots that were not written."""
        return np.extract(self._status == FAILED, self._slots)

    @property
    def errors(self) -> list[tuple[int, int]]:
        """(slot, errno) of the file calls that failed."""
        return list(self._errors)

    def encode(self, first: int, count: int) -> list[bytes | EllipsisType | None]:
        """Encode the chunks of some slots; None where the chunk is all fill and skipped, Ellipsis where it failed."""
        check_span(first, count, len(self._slots))
        chunks = [self._encode(first + k) for k in range(count)]
        self._check_stopped()
        return chunks

    def _encode(self, position: int) -> bytes | EllipsisType | None:
        slot = int(self._slots[position])
        if not self.plan.slot(slot).whole:
            self._status[position] = FAILED
            return ...
        self._status[position] = DONE
        return encode_chunk(self, slot)

    def to_files(self, root: str, keys: KeyFormat, fsync: bool = False) -> None:
        """Write each slot's chunk to a file under ``root``; delete the file of a skipped chunk."""
        for position in range(len(self._slots)):
            if self._status[position] != TODO:
                continue
            if self._stopped:
                self._status[position] = FAILED
                continue
            slot = int(self._slots[position])
            stored = self._encode(position)
            if isinstance(stored, EllipsisType):
                continue
            code = store_file(os.path.join(root, keys.key(self.plan.coords(slot))), stored, fsync)
            if code:
                self._status[position] = FAILED
                self._errors.append((slot, code))
                self.stop()


def store_file(path: str, data: bytes | None, fsync: bool) -> int:
    """Replace or delete a file; 0 or the error number."""
    try:
        if data is None:
            remove_file(path)
        else:
            replace_file(path, data, fsync)
    except OSError as error:
        return error.errno or -1
    return 0


def encode_chunk(job: Any, index: int) -> bytes | None:
    """One chunk of a write job, None if it is all fill and skipped."""
    slot = job.plan.slot(index)
    chunk = np.full(slot.chunk_shape, job.fill, job.value.dtype)
    gather(job.value, slot, chunk)
    if job.skip_filled and is_filled(chunk, job.fill):
        return None
    return bytes(job.program.write_chunk(chunk))
