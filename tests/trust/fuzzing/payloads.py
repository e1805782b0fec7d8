"""Damaged chunks of every codec and container, through whole arrays: the plain way and the bulk way."""

from __future__ import annotations

import asyncio
import random
import warnings
from typing import Any

import numpy as np

import zarr_core
from tests.core.guard_page import GuardedMemory
from tests.trust.fuzzing.cases import Report
from tests.trust.fuzzing.moulds import Template, templates
from zarr.buffer.cpu import Buffer

ROOM = 1 << 16
ASYNC_EVERY = 7
"""Every so many cases are read by the asynchronous face, too: an event loop costs more than the case."""
BORDERS = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 127, 128, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63)


class Mutator:
    """Damages stored chunks, the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.signed = False

    def spot(self, size: int) -> int:
        """A place: often in the header or in what stands at the end."""
        pick = self.random.random()
        if pick < 0.4:
            return self.random.randrange(min(size, 32))
        if pick < 0.6:
            return max(0, size - 1 - self.random.randrange(min(size, 40)))
        return self.random.randrange(size)

    def number(self, data: bytearray) -> None:
        """Write another number where one may stand."""
        width = self.random.choice([1, 2, 4, 8])
        at = min(self.spot(len(data)), max(0, len(data) - width))
        if self.random.random() < 0.7:
            at -= at % 4
        old = int.from_bytes(data[at : at + width], "little")
        near = [old + 1, old - 1, old * 2, len(data), len(data) + 1, len(data) - at]
        value = self.random.choice([*BORDERS, *near]) % (1 << 8 * width)
        data[at : at + width] = value.to_bytes(width, self.random.choice(["little", "little", "big"]))

    def once(self, data: bytearray, other: bytes) -> bytearray:
        """Damage some bytes once."""
        kind, rnd = self.random.randrange(9), self.random
        if not data or kind == 0:
            return bytearray(rnd.randbytes(rnd.randrange(60)))
        if kind == 1:
            return data[: rnd.randrange(len(data))]
        if kind == 2:
            return data + rnd.randbytes(rnd.choice([1, 4, 16, 100]))
        if kind == 3:
            at, width = self.spot(len(data)), rnd.choice([1, 4, 20])
            del data[at : at + width]
        elif kind == 4:
            at = self.spot(len(data))
            data[at:at] = data[rnd.randrange(len(data)) :][: rnd.choice([1, 4, 20])]
        elif kind == 5:
            cut = rnd.randrange(len(data))
            return data[:cut] + bytearray(other[cut:])
        elif kind == 6:
            at = self.spot(len(data))
            data[at] ^= 1 << rnd.randrange(8)
        else:
            self.number(data)
        return data

    def damage(self, raw: bytes, other: bytes) -> bytes:
        """Damage some bytes."""
        data = bytearray(raw)
        for _ in range(self.random.choice([1, 1, 2, 4])):
            data = self.once(data, other)
        self.signed = self.random.random() < 0.15 and len(data) > 4
        if self.signed:  # a right checksum behind wrong bytes
            data[-4:] = bytes(zarr_core.encode("crc32c", bytes(data[:-4])))[-4:]
        return bytes(data)


def equal(first: Any, second: Any) -> bool:
    """Whether two results are the same, byte for byte."""
    if first.dtype.hasobject or first.dtype.kind == "T":
        return repr(first.tolist()) == repr(second.tolist())
    return bool(first.tobytes() == second.tobytes())


def part_of(result: Any) -> Any:
    """The elements that `read_parts` reads."""
    return result[1:5, 2:9]


def judge(report: Report, label: str, mould: Template, checked: bool, whole: Any, part: Any) -> None:
    """Hold the ways of reading against each other, and against the checksum."""
    if whole is not None and part is not None and not equal(np.asarray(part_of(whole)), np.asarray(part)):
        report.breach(label, f"{mould.label}: the whole array and a part of it read differently")
    if checked and whole is not None and not equal(np.asarray(whole), np.asarray(mould.sound)):
        report.breach(label, f"{mould.label}: damaged data read in spite of the checksum")


async def coroutine(mould: Template) -> Any:
    """The whole array, by its asynchronous face."""
    return await mould.array.async_array.getitem(...)


def judge_faces(report: Report, label: str, whole: Any, later: Any) -> None:
    """Hold the two faces against each other."""
    if (whole is None) != (later is None) or (whole is not None and not equal(np.asarray(whole), np.asarray(later))):
        report.breach(label, "the two faces read differently")


def run(count: int, seed: int, report: Report) -> None:
    """Try some damaged chunks."""
    mutator, moulds = Mutator(seed), templates()
    memory = GuardedMemory(ROOM)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(count):
            mould = moulds[number % len(moulds)]
            key = mutator.random.choice(mould.keys[:1])
            other = moulds[mutator.random.randrange(len(moulds))]
            sound = mould.store._store_dict[key]
            stored = mutator.damage(sound.to_bytes(), other.store._store_dict[other.keys[0]].to_bytes())[:ROOM]
            mould.store._store_dict[key] = Buffer.from_array_like(memory.hold(stored))
            label = f"payload {seed}:{number} {mould.label}"
            said = ("a/b", key[len("a/b/") :])
            try:
                whole = report.attempt(label, lambda m=mould: m.array[...], said)  # type: ignore[misc]
                part = report.attempt(label, lambda m=mould: m.array[1:5, 2:9], said)  # type: ignore[misc]
                if number % ASYNC_EVERY == 0:
                    later = report.attempt(label, lambda m=mould: asyncio.run(coroutine(m)), said)  # type: ignore[misc]
                    judge_faces(report, label, whole, later)
            finally:
                mould.store._store_dict[key] = sound
            report.count -= 2 if number % ASYNC_EVERY == 0 else 1
            judge(report, label, mould, mould.checked and not mutator.signed, whole, part)
