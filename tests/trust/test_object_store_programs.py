"""Random programs of processes that change one object store at once: what each of them stores is there at the end.

A program is made from a seed: two to four processes write elements of their own, append, let arrays grow, count, set
attributes, create and delete nodes, in every way that the library has for it. No two of them set one thing, so what
must be there is known beforehand, whatever comes first. Before and after a request a process may wait.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partialmethod
from random import Random
from typing import Any

import numpy as np
import pytest

import zarr
import zarr.api.asynchronous
from tests.trust.test_compared_versions import Process, stores
from tests.trust.together import rounds, run_together
from zarr.errors import TransactionConflictError

FILL, ROWS = -1, 6
KINDS = [*["write", "append"] * 2, "read", "row", "grow", "attribute", "create", "delete", "count", "several"]
WAYS = ["kept open", "opened", "batch", "transaction", "batch in a transaction", "async"]
SEEDS = [13, 32, 39, 43, 47, 55, *range(100, 100 + rounds(2, 1500))]
"""The first ones are of programs that found losses, or planted faults, most often."""
Call = tuple[str, str, Any]


@dataclass(frozen=True)
class Step:
    """What a process does: a method of an array, or of the group, which has no name."""

    way: str
    node: str
    method: str
    arguments: Any
    expected: Any = field(default=None, repr=False)


def numbers(shape: tuple[int, ...], first: int) -> Any:
    """Values to write: all different, or all the fill value."""
    return np.full(shape, FILL) if first == FILL else first + np.arange(np.prod(shape)).reshape(shape)


class Program:
    """The steps of each process, and what must be there after them."""

    def __init__(self, seed: int) -> None:
        self.seed, self.random = seed, Random(seed)
        self.pick, self.between = self.random.choice, self.random.randint
        self.zarr_format, self.consolidated = self.pick([2, 3, 3]), self.pick([True, False])
        self.shape = tuple(self.between(4, 12) for _ in range(self.pick([1, 1, 2])))
        self.axes = self.pick([[0], [len(self.shape) - 1], range(len(self.shape))])
        first = {"data": numbers(self.shape, self.pick([FILL, 1000])), "grid": numbers((ROWS, ROWS), FILL)}
        self.first = {**first, "counts": np.zeros(4, int)}
        self.layouts = {name: self.layout(values.ndim) for name, values in self.first.items()}
        self.last = {name: values.copy() for name, values in self.first.items()}
        self.attributes: dict[str, dict[str, int]] = {"data": {}, "": {}}
        self.nodes: dict[str, list[int]] = {}
        self.appended: list[int] = []
        self.kinds, self.ways = self.some(KINDS), self.some(WAYS)
        count, self.axis = self.pick([2, 3, 4]), self.random.randrange(len(self.shape))
        self.owners = [self.random.randrange(count) for _ in range(self.shape[self.axis])]
        self.steps = [[self.step(number, self.kinds) for _ in range(self.pick([4, 8, 14]))] for number in range(count)]

    def __str__(self) -> str:
        steps = [f"process {number}: {step}" for number, steps in enumerate(self.steps) for step in steps]
        arrays = [f"{name}: {values.shape}, {self.layouts[name]}" for name, values in self.first.items()]
        return "\n".join([f"run(Program({self.seed})), format {self.zarr_format}", *arrays, *steps])

    def layout(self, dimensions: int) -> dict[str, Any]:
        chunks = tuple(self.between(1, 5) for _ in range(dimensions))
        layout = {"chunks": chunks, "config": {"write_empty_chunks": self.pick([True, False])}}
        if self.zarr_format == 2:
            return layout | {"order": self.pick("CF")}
        return layout | {"shards": self.pick([None, tuple(size * self.between(1, 4) for size in chunks)])}

    def some(self, items: list[str]) -> list[str]:
        """Draw a part of the possibilities: where few things are done, they meet more often."""
        return self.random.sample(items, self.between(1, len(items)))

    def step(self, number: int, kinds: list[str], way: str = "") -> Step:
        """Draw a step of one process, and note what it changes."""
        kind = self.pick(kinds)
        if (kind in ("write", "read") and number not in self.owners) or (kind == "grow" and number > 0):
            kind = "row"  # only the first process lets the grid grow
        node, method, arguments = getattr(self, kind)(number)
        expected = self.last["data"][arguments].copy() if kind == "read" else None
        ways = ["transaction"] if kind in ("count", "several") else self.ways if node else ["opened", "transaction"]
        return Step(way or self.pick(ways), node, method, arguments, expected)

    def several(self, number: int) -> Call:
        kinds = ["write", "append", "attribute", "count"]
        return "", "several", [self.step(number, kinds, "transaction") for _ in range(self.between(2, 4))]

    def read(self, number: int) -> Call:
        """Read elements that no other process writes: an index, cut at random along the other axis."""
        first = self.pick([i for i, owner in enumerate(self.owners) if owner == number])
        last = first + 1
        while self.owners[last : last + 1] == [number] and self.random.random() < 0.8:
            last += 1
        begins = [self.random.randrange(size) for size in self.shape]
        place = [slice(begin, self.between(begin + 1, size)) for begin, size in zip(begins, self.shape, strict=True)]
        place[self.axis] = slice(first, last)
        return "data", "__getitem__", tuple(place)

    def write(self, number: int) -> Call:
        place, first = self.read(number)[2], self.pick([FILL, *range(2, 1000, 100)])
        self.last["data"][place] = numbers(self.last["data"][place].shape, first)
        return "data", "__setitem__", (place, self.last["data"][place].copy())

    def append(self, number: int) -> Call:
        self.appended.append(10**6 + len(self.appended))
        return "data", "append", (self.appended[-1], self.pick([1, 2, 3, 4, 7]), self.pick(self.axes))

    def attribute(self, number: int) -> Call:
        node, changed = self.pick(list(self.attributes)), {f"{number}-{self.between(0, 2)}": self.between(0, 999)}
        self.attributes[node].update(changed)
        return node, "update_attributes", (changed,)

    def row(self, number: int) -> Call:
        row, value = self.pick(range(number, ROWS, 4)), self.pick([FILL, *range(2, 1000, 100)])
        self.last["grid"][row, :ROWS] = value
        return "grid", "__setitem__", ((row, slice(0, ROWS)), value)

    def grow(self, number: int) -> Call:
        added = [(0, self.between(0, 4)) for _ in range(2)]
        self.last["grid"] = np.pad(self.last["grid"], added, constant_values=FILL)
        return "grid", "resize", (self.last["grid"].shape,)

    def count(self, number: int) -> Call:
        element = self.between(0, 3)
        self.last["counts"][element] += 1
        return "counts", "count", element

    def create(self, number: int) -> Call:
        values = self.nodes[f"node {number}"] = list(range(self.between(1, 9)))
        return "", "create_array", (f"node {number}", len(values))

    def delete(self, number: int) -> Call:
        if f"node {number}" not in self.nodes:
            return self.create(number)
        del self.nodes[f"node {number}"]
        return "", "__delitem__", (f"node {number}",)


async def after_a_wait(store: WaitingProcess, *arguments: Any, of: Callable[..., Any], **options: Any) -> Any:
    """Send a request; before and after it, wait now and then."""
    await store.wait()
    found = await of(store, *arguments, **options)
    await store.wait()
    return found


class WaitingProcess(Process):
    """A process whose requests take a random time."""

    def __init__(self, memory: Any, seed: int) -> None:
        super().__init__(memory)
        self.random = Random(seed)
        self.share = self.random.choice([0.1, 0.3, 0.6])

    async def wait(self) -> None:
        if self.random.random() < self.share:
            await asyncio.sleep(self.random.random() * self.random.choice([0.003] * 19 + [0.03]))


for method in ("get", "get_versioned", "set", "set_if_version", "put_if_absent", "delete"):
    setattr(WaitingProcess, method, partialmethod(after_a_wait, of=getattr(Process, method)))


class Worker:
    """One process: it does its steps one after the other, those in transactions again after a conflict."""

    def __init__(self, memory: Any, program: Program, number: int) -> None:
        self.store = WaitingProcess(memory, 100 * program.seed + number)
        self.steps, self.sizes, self.doubtful = program.steps[number], dict[int, int](), set[int]()
        self.kept = {name: zarr.open_array(self.store, path=name, mode="r+") for name in program.first}

    def work(self) -> None:
        for step in self.steps:
            while not self.is_done(step):
                pass

    def is_done(self, step: Step) -> bool:
        """Try it; an append may meet another shape than that of its data, as no transaction is a snapshot."""
        try:
            if step.way == "async":
                asyncio.run(self.do_async(step))
            elif "transaction" in step.way:
                with zarr.transaction(self.store) as changes:
                    self.do(step, changes)
            else:
                self.do(step, self.store)
        except TransactionConflictError:
            assert "transaction" in step.way
            self.doubtful.update(part.arguments[0] for part in parts_of(step) if part.method == "append")
            return False
        except ValueError as error:
            if "shape of data to append" not in str(error):
                raise
            return False
        return True

    def do(self, step: Step, store: Any) -> None:
        for part in parts_of(step):
            if not part.node:
                self.call(part, zarr.open_group(store, mode="r+", use_consolidated=False))
                continue
            kept = part.way == "kept open"
            array = self.kept[part.node] if kept else zarr.open_array(store, path=part.node, mode="r+")
            with array.batch() if "batch" in part.way else nullcontext():
                check(self.call(part, array), part)

    async def do_async(self, step: Step) -> None:
        array = await zarr.api.asynchronous.open_array(store=self.store, path=step.node, mode="r+")
        check(await self.call(step, array), step)

    def call(self, step: Step, node: Any) -> Any:
        """Do a step; an asynchronous array returns what is to be awaited."""
        if step.method == "append":
            value, length, axis = step.arguments
            shape = [length if i == axis else size for i, size in enumerate(node.shape)]
            self.sizes[value] = int(np.prod(shape))
            return node.append(np.full(shape, value), axis=axis)
        if step.method == "count":
            node[step.arguments] = node[step.arguments] + 1
            return None
        if step.method == "create_array":
            name, length = step.arguments
            return node.create_array(name, data=np.arange(length), chunks=3, overwrite=True)
        method = getattr(node, step.method if hasattr(node, step.method) else step.method.strip("_"))
        return method(step.arguments) if step.method == "__getitem__" else method(*step.arguments)


def parts_of(step: Step) -> list[Step]:
    return step.arguments if step.method == "several" else [step]


def check(found: Any, step: Step) -> None:
    assert step.expected is None or np.array_equal(found, step.expected), f"{step} read {found}, not {step.expected}"


def run(program: Program) -> list[str]:
    """Run a program; return what is not as it must be."""
    memory = stores.MemoryStore()
    root = zarr.create_group(Process(memory), zarr_format=program.zarr_format)
    for name, values in program.first.items():
        array = root.create_array(name, shape=values.shape, dtype="i8", fill_value=FILL, **program.layouts[name])
        array[...] = values
    if program.consolidated:
        zarr.consolidate_metadata(root.store)
    workers = [Worker(memory, program, number) for number in range(len(program.steps))]
    try:
        run_together([worker.work for worker in workers])
    except Exception as error:
        return ["".join(traceback.format_exception(error))]
    return differences(program, memory, workers)


def documents(group: Any) -> dict[str, Any]:
    """Attributes and shapes of a hierarchy."""
    return {"": dict(group.attrs)} | {name: (array.shape, dict(array.attrs)) for name, array in group.arrays()}


def differences(program: Program, memory: Any, workers: list[Worker]) -> list[str]:
    """Compare what another process finds with what must be there.

    What a transaction appended before it conflicted may be there, or fill values, if another append came after it.
    """
    group, copy = (zarr.open_group(Process(memory), mode="r", use_consolidated=use) for use in (False, None))
    last, data = program.last, group["data"][...]
    sizes = {value: size for worker in workers for value, size in worker.sizes.items()}
    doubtful = set().union(*(worker.doubtful for worker in workers))
    there = {value: int(np.count_nonzero(data == value)) for value in program.appended}
    appended = {value: min(count, sizes[value]) if value in doubtful else count for value, count in there.items()}
    all_known = len(program.axes) == 1 and not doubtful  # appends along two axes leave corners that belong to none
    pairs = {
        "written": (data[tuple(map(slice, program.shape))], last["data"]),
        "appended": (appended, sizes),
        "number of elements": (data.size, last["data"].size + sum(sizes.values()) if all_known else data.size),
        "rows": (group["grid"][...], last["grid"]),
        "counts": (group["counts"][...], last["counts"]),
        "attributes": ({"data": dict(group["data"].attrs), "": dict(group.attrs)}, program.attributes),
        "nodes": ({name: group[name][...].tolist() for name in group if name not in last}, program.nodes),
        "consolidated documents": (documents(copy), documents(group)),
    }
    wrong = {what: pair for what, pair in pairs.items() if not np.array_equal(*pair)}
    return [f"{what}: {found}\nare not {expected}" for what, (found, expected) in wrong.items()]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("first", range(4))
def test_programs_lose_nothing(first: int) -> None:
    for seed in SEEDS[first::4]:
        program = Program(seed)
        wrong = run(program)
        assert not wrong, "\n".join([*wrong, str(program)])


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_a_loss_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here values are replaced that are no longer those that were read."""

    async def set_without_comparison(self: Process, key: str, value: Any, version: Any) -> bool:
        await self.set(key, value)
        return True

    monkeypatch.setattr(WaitingProcess, "set_if_version", set_without_comparison)
    found = next(filter(None, (run(Program(seed)) for seed in range(30, 80))), [""])
    assert "are not" in found[0], found
