"""Running calls in this thread, and the faces of what they open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr.api.opened import Call, Opened
from zarr.arrays.array import Array
from zarr.groups.handle import NodeRecord
from zarr.runners.choose import runner_for

if TYPE_CHECKING:
    from zarr.groups import group as synchronous
    from zarr.groups.group import Group
    from zarr.runners.inline import InlineRunner
    from zarr.runners.loop import LoopRunner
else:
    synchronous = LazyModule("zarr.groups.group")


T = TypeVar("T")


def run(call: Call[T]) -> T:
    """Run the steps of a call in this thread."""
    return runner_for(call.store).run(call.steps)


def run_array(call: Call[Opened]) -> Array[Any]:
    """Run a call that opens an array; the runner lives on in the array, so that no second one is made."""
    runner = runner_for(call.store)
    return as_array(runner.run(call.steps), runner)


def run_group(call: Call[Opened]) -> Group:
    """Run a call that opens a group."""
    return as_group(run(call))


def run_node(call: Call[Opened]) -> Array[Any] | Group:
    """Run a call that opens a node."""
    runner = runner_for(call.store)
    opened = runner.run(call.steps)
    return as_group(opened) if opened.record.is_group else as_array(opened, runner)


def as_array(opened: Opened, runner: InlineRunner | LoopRunner | None = None) -> Array[Any]:
    """The synchronous face of an array that was opened; who opened it serves it, if the store is the same."""
    handle = opened.array_handle()
    if runner is not None:
        handle.adopt(runner)
    return Array.from_handle(handle)


def as_group(opened: Opened) -> Group:
    """The synchronous face of a group that was opened."""
    return synchronous.Group.from_handle(opened.record.handle())


def as_members(records: list[NodeRecord]) -> list[tuple[str, Array[Any] | Group]]:
    """The synchronous faces of nodes, with their paths."""
    return [(record.name, synchronous.wrap(record)) for record in records]
