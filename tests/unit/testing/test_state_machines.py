"""The state machines hold for our stores, and find out a store that lies."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from zarr.abc.buffer import Buffer
from zarr.storage import LocalStore, MemoryStore
from zarr.testing.stateful import (
    ZarrHierarchyStateMachine,
    ZarrStoreStateMachine,
    split_prefix_name,
    with_frequency,
)

SETTINGS = settings(
    max_examples=10, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck), database=None
)


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("machine", [ZarrStoreStateMachine, ZarrHierarchyStateMachine])
@pytest.mark.parametrize("kind", ["memory", "local"])
def test_our_stores(machine: Any, kind: str, tmp_path: Path) -> None:
    turns = itertools.count()

    def make() -> Any:
        return machine(MemoryStore() if kind == "memory" else LocalStore(tmp_path / str(next(turns))))

    run_state_machine_as_test(make, settings=SETTINGS)


def test_a_store_that_lies_is_found_out() -> None:
    class Lying(MemoryStore):
        async def set(self, key: str, value: Buffer) -> None:
            await super().set(key, type(value).from_bytes(value.to_bytes()[:3]))

    with pytest.raises(AssertionError):
        run_state_machine_as_test(lambda: ZarrStoreStateMachine(Lying()), settings=SETTINGS)


def test_how_often() -> None:
    class Machine:
        @with_frequency(0.25)
        def rare(self) -> None: ...

    due = Machine.rare.hypothesis_stateful_preconditions[0]
    machine = Machine()
    assert sum(due(machine) for _ in range(100)) == 25


def test_split_prefix_name() -> None:
    assert split_prefix_name("a/b") == ("a", "b")
    assert split_prefix_name("b") == ("", "b")
