"""Threads and tasks that share one group object: each sees the attributes that it has stored."""

from __future__ import annotations

from typing import Any

import pytest

import zarr
from zarr.groups.members import fresh_steps
from zarr.groups.operations import update_attributes_steps
from zarr.runners.choose import runner_for
from zarr.steps.requests import Gather, Steps, ask_steps
from zarr.storage import MemoryStore

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")


@pytest.fixture(params=[False, True], ids=["plain", "consolidated"])
def group(request: pytest.FixtureRequest) -> Any:
    made = zarr.create_group(MemoryStore())
    made.create_array("x", shape=(2,), dtype="i4")
    return zarr.consolidate_metadata(made.store) if request.param else made


def rest(steps: Steps[Any], reply: Any) -> Steps[Any]:
    """Go on with steps whose first request was answered."""
    try:
        request = steps.send(reply)
        while True:
            request = steps.send((yield request))
    except StopIteration as stop:
        return stop.value


def test_a_change_that_ends_later_does_not_hide_the_next_one(group: Any) -> None:
    run = runner_for(group.store).run
    first = update_attributes_steps(group._handle, {"a": 1})
    request = next(first)
    assert isinstance(request, Gather)
    reply = [run(steps) for steps in request.steps]  # stored, and the lock is free again
    group.attrs["b"] = 2
    run(rest(first, reply))
    assert dict(group.attrs) == {"a": 1, "b": 2}


def test_what_was_read_before_a_change_does_not_hide_it() -> None:
    group = zarr.create_group(MemoryStore())
    group = zarr.consolidate_metadata(group.store)
    zarr.open_group(group.store).create_group("x")
    run = runner_for(group.store).run
    reading = fresh_steps(group._handle)
    reply = run(ask_steps(next(reading)))
    group.attrs["b"] = 2
    run(rest(reading, reply))
    assert dict(group.attrs) == {"b": 2}
    assert list(group) == ["x"]


def test_a_removed_member_does_not_hide_a_change(group: Any) -> None:
    del group["x"]
    group.attrs["a"] = 1
    assert (dict(group.attrs), list(group)) == ({"a": 1}, [])
    group.attrs.refresh()
    assert dict(group.attrs) == {"a": 1}
