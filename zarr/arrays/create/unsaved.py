"""Arrays that are created in memory and saved later.

An unsaved array has its place already (a store and a path); a store in memory serves it until it is saved. All
operations work on it: reading, writing, resizing, attributes. Saving builds the node at its place, with the encoded
chunks as they are; after that the store of the place serves the array.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any

from zarr.arrays.create.steps import new_array_metadata
from zarr.arrays.handle import ArrayHandle, served_from
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, parse_array_config
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.choose import async_runner_for, runner_for
from zarr.steps.consolidated import record_changes_steps
from zarr.steps.nodes import write_node_steps
from zarr.steps.requests import Gather, Put, Steps, ask_steps
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.types import METADATA_NAMES


class Draft:
    """The state that all handles of one unsaved array share.

    Parameters
    ----------
    memory : MemoryStore
        The store with the chunks until they are saved.
    """

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory
        self.handles: list[UnsavedHandle] = []


class UnsavedHandle(ArrayHandle):
    """A handle of an array that is not saved yet; after saving it is a handle like any other.

    Parameters
    ----------
    store_path : StorePath
        The place where the array will be saved.
    metadata : ArrayV2Metadata or ArrayV3Metadata
    config : ArrayConfig
    draft : Draft
    """

    __slots__ = ("draft",)

    def __init__(
        self,
        store_path: StorePath,
        metadata: ArrayV2Metadata | ArrayV3Metadata,
        config: ArrayConfig,
        draft: Draft,
    ) -> None:
        super().__init__(store_path, metadata, config)
        self.draft: Draft | None = draft
        draft.handles.append(self)
        self.serve(served_from(draft.memory, store_path.path, metadata))

    def bound_run(self) -> Any:
        """Return the runner's own method; while the array is not saved, one that looks up the store at each call."""
        return super().bound_run() if self.draft is None else self.run

    # The runner is looked up at each call: one that is kept by a thread while another saves the array would be that of
    # the memory for ever.

    def run(self, steps: Steps[Any]) -> Any:
        """Run one operation and wait for it."""
        run = super().bound_run() if self.draft is None else runner_for(self.serving).run
        return run(steps)

    def async_run(self, steps: Steps[Any]) -> Coroutine[Any, Any, Any]:
        """Run one operation in the caller's event loop."""
        return super().async_run(steps) if self.draft is None else async_runner_for(self.serving).run(steps)

    def with_config(self, config: ArrayConfig) -> ArrayHandle:
        """Return a second handle on the same array with another configuration."""
        if self.draft is None:
            return super().with_config(config)
        return UnsavedHandle(self.store_path, self.metadata, config, self.draft)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.draft is None:
            return super().__reduce__()
        return (_restored, (self.store_path, self.metadata, self.config, dict(self.draft.memory._store_dict)))


def _restored(store_path: StorePath, metadata: Any, config: ArrayConfig, values: dict[str, Any]) -> UnsavedHandle:
    return UnsavedHandle(store_path, metadata, config, Draft(MemoryStore(values)))


def unsaved_handle(store_path: StorePath, config: ArrayConfigLike | None = None, **parameters: Any) -> UnsavedHandle:
    """Create an array in memory.

    Parameters
    ----------
    store_path : StorePath
        The place where it will be saved.
    config : ArrayConfig or dict, optional
    **parameters
        As for :func:`zarr.arrays.create.steps.new_array_metadata`.
    """
    metadata = new_array_metadata(**parameters)
    memory = MemoryStore()
    place = StorePath(memory, store_path.path)
    runner_for(memory).run(write_node_steps(place, metadata))
    return UnsavedHandle(store_path, metadata, parse_array_config(config), Draft(memory))


def save_steps(handle: ArrayHandle, overwrite: bool = False) -> Steps[None]:
    """Save an array at its place; run this over the store of that place. Do nothing if it is saved already.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If a node is there and ``overwrite`` is False.
    """
    draft = getattr(handle, "draft", None)
    if draft is None:
        return
    place = handle.store_path
    below = f"{place.path}/" if place.path else ""
    stored = dict(draft.memory._store_dict)  # at one moment: other threads may write meanwhile
    values = [(key, value) for key, value in stored.items() if key.startswith(below)]
    chunks = [item for item in values if item[0][len(below) :] not in METADATA_NAMES]

    def contents() -> Steps[None]:
        yield Gather(ask_steps(Put(key, value)) for key, value in chunks)

    locking = handle.config.locking
    documents = yield from write_node_steps(
        place, handle.metadata, overwrite=overwrite, contents=contents if chunks else None, locking=locking
    )
    if place.path:
        changes = {place.path: documents}
        yield from record_changes_steps(place.store, changes, replaced=changes if overwrite else (), locking=locking)
    for each in draft.handles:
        each.serve(served_from(place.store, place.path, each.metadata))
        each.draft = None
    draft.handles.clear()


def save_many_steps(handles: Iterable[ArrayHandle], overwrite: bool = False) -> Steps[None]:
    """Save several arrays of one store; together, if the store can do that."""
    yield Gather([save_steps(handle, overwrite) for handle in handles])
