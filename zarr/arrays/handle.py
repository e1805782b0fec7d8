"""One open array: the handle that both faces share, and the steps that open it.

Its state is replaced in one assignment, so no reader sees a half-done change.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from zarr import chunks as grids
from zarr._lazy import LazyModule, instance_of
from zarr.abc.codec import CodecPipeline
from zarr.abc.store import Store
from zarr.abc.stores.abilities import bulk_kind
from zarr.arrays.layout import ArrayLayout, foreign_pipeline_class
from zarr.buffer.core import Buffer
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, parse_array_config
from zarr.defaults import settings
from zarr.errors import BaseZarrError, label_of
from zarr.metadata import v3
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.registry.tables import OWN_PIPELINES
from zarr.runners.choose import async_runner_for, runner_for
from zarr.runners.inline import InlineRunner
from zarr.steps.nodes import read_array_steps
from zarr.steps.requests import Await, Steps
from zarr.storage.path import StorePath
from zarr.types import ZarrFormat

if TYPE_CHECKING:
    from zarr.chunks import ChunkGrid
    from zarr.metadata import v2
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.runners.asynchronous import LoopRunner
    from zarr.storage.wrappers import transformed
else:
    transformed = LazyModule("zarr.storage.wrappers.transformed")
    v2 = LazyModule("zarr.metadata.v2")

T = TypeVar("T")


class ArrayState:
    """The metadata of an array and its layout; never changed, only replaced.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    path : str
    config : ArrayConfig
    documents : mapping of name to Buffer, optional
    layout : ArrayLayout, optional
    store : Store, optional
        The store, for messages.
    """

    __slots__ = ("_chunk_grid", "_layout", "config", "documents", "metadata", "path", "store")

    def __init__(
        self,
        metadata: ArrayV2Metadata | ArrayV3Metadata,
        path: str,
        config: ArrayConfig,
        documents: Mapping[str, Buffer | None] | None = None,
        layout: ArrayLayout | None = None,
        store: Any = None,
    ) -> None:
        self.metadata = metadata
        self.path = path
        self.config = config
        self.documents = documents
        """The documents as last stored or read, if known; a document with equal bytes is not parsed again."""
        self.store = store
        """The store that errors name; it is used for nothing else."""
        self._layout = layout
        self._chunk_grid: ChunkGrid | None = None

    @property
    def layout(self) -> ArrayLayout:
        """The layout, bound at its first use: listing a thousand arrays binds no codec."""
        layout = self._layout
        if layout is None:
            try:
                layout = ArrayLayout(self.metadata, self.path, self.config)
            except BaseZarrError as error:
                error.add_note(f"in the metadata of /{self.path} of {label_of(self.store)}")
                raise
            layout.store = self.store
            self._layout = layout
        return layout

    @property
    def chunk_grid(self) -> ChunkGrid:
        """The grid of stored objects as users see it; made at its first use."""
        grid = self._chunk_grid
        if grid is None:
            grid = self._chunk_grid = grids.ChunkGrid.from_metadata(self.metadata)
        return grid

    def replaced(
        self, metadata: ArrayV2Metadata | ArrayV3Metadata, documents: Mapping[str, Buffer | None] | None = None
    ) -> ArrayState:
        """Return the state with entirely new metadata."""
        return ArrayState(metadata, self.path, self.config, documents, store=self.store)

    def reshaped(self, metadata: ArrayV2Metadata | ArrayV3Metadata) -> ArrayState:
        """Return the state with another shape or other attributes; bound codecs are kept."""
        layout = None if self._layout is None else self._layout.reshaped(metadata)
        return ArrayState(metadata, self.path, self.config, None, layout, self.store)


def served_from(store: Store, path: str, metadata: ArrayV2Metadata | ArrayV3Metadata) -> Store:
    """Return the store that serves an array whose chunks lie in ``store``."""
    transformers = getattr(metadata, "storage_transformers", ())
    return transformed.transformed_store(store, path, transformers) if transformers else store


class ArrayHandle:
    """An open array: its place, its state, and the runners over its store."""

    __slots__ = (
        "__weakref__",
        "_async_run",
        "_bulk",
        "_run",
        "batch",
        "bound_pipeline",
        "perhaps_unstored",
        "pipeline",
        "serving",
        "state",
        "store_path",
    )

    def __init__(self, store_path: StorePath, metadata: ArrayV2Metadata | ArrayV3Metadata, config: ArrayConfig) -> None:
        self.store_path = store_path
        self.state = ArrayState(metadata, store_path.path, config, store=store_path.store)
        self.perhaps_unstored = False
        """True if it was made from metadata that may not be stored yet."""
        self.batch: Any = None
        """The open batch that receives writes (see ``io/batch.py``)."""
        self.pipeline: Any = None
        """The last codec pipeline, with the state it was made for (see ``io/foreign_pipeline.py``)."""
        own = settings.values["codec_pipeline"]["path"] in OWN_PIPELINES  # the usual case, without a call
        self.bound_pipeline: type[CodecPipeline] | None = None if own else foreign_pipeline_class()
        """The pipeline of another package that was configured when the array was opened: it stays with the array."""
        self._run: Any = None
        self._async_run: Any = None
        self._bulk: str | None = ""
        transformers, store = getattr(metadata, "storage_transformers", ()), store_path.store
        self.serving: Store = served_from(store, store_path.path, metadata) if transformers else store
        """The store of this array: the store of the user, or the result of the storage transformers over it."""

    @property
    def bulk(self) -> str | None:
        """The way of a bulk transfer to chunks: "files", "memory", or whole "buffers"; None: no bulk transfer."""
        kind = self._bulk
        if kind == "":  # looked up at the first transfer: many arrays are opened only for their metadata
            kind = self._bulk = bulk_kind(self.serving)
        return kind

    def serve(self, store: Store) -> None:
        """Use another store from now on."""
        self.serving, self._bulk, self.pipeline = store, bulk_kind(store), None
        self._run = self._async_run = None

    def use_runner(self, runner: InlineRunner | LoopRunner) -> None:
        """Use an existing runner, if its store is the one that serves this array."""
        if runner.store is self.serving:
            self._run = runner.run

    def bound_run(self) -> Any:
        """Return the runner's own method: one frame less for each operation."""
        run = self._run
        if run is None:
            run = self._run = runner_for(self.serving).run
        return run

    def run(self, steps: Steps[T]) -> T:
        """Run one operation and wait for it."""
        result: T = self.bound_run()(steps)
        return result

    def async_run(self, steps: Steps[T]) -> Coroutine[Any, Any, T]:
        """Run one operation in the caller's event loop."""
        run = self._async_run
        if run is None:
            run = self._async_run = async_runner_for(self.serving).run
        coroutine: Coroutine[Any, Any, T] = run(steps)
        return coroutine

    def from_outside_steps(self, steps: Steps[T]) -> Steps[T]:
        """Run steps of this array over a runner of the user's store; storage transformers are applied in between."""
        if self.serving is self.store_path.store:
            return (yield from steps)
        result: T = yield Await(lambda: self.async_run(steps))
        return result

    @property
    def layout(self) -> ArrayLayout:
        """The layout of the present state."""
        return self.state.layout

    @property
    def metadata(self) -> ArrayV2Metadata | ArrayV3Metadata:
        """The metadata of the present state."""
        return self.state.metadata

    @property
    def config(self) -> ArrayConfig:
        """The configuration of the present state."""
        return self.state.config

    def with_config(self, config: ArrayConfig) -> ArrayHandle:
        """Return a second handle on the same array with another configuration."""
        handle = ArrayHandle(self.store_path, self.metadata, config)
        handle.batch, handle.perhaps_unstored = self.batch, self.perhaps_unstored
        return handle

    def describe(self) -> str:
        """Describe the array for an error message."""
        return f"array /{self.store_path.path} in {label_of(self.store_path.store, str)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (ArrayHandle, (self.store_path, self.metadata, self.config))


def parse_metadata(metadata: Any, place: object = None) -> ArrayV2Metadata | ArrayV3Metadata:
    """Return array metadata from an object or its JSON form; the place is for warnings.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the format is neither 2 nor 3.
    """
    if instance_of(metadata, "zarr.metadata.v3", "ArrayV3Metadata"):
        return cast("ArrayV3Metadata", metadata)
    if instance_of(metadata, "zarr.metadata.v2", "ArrayV2Metadata"):
        return cast("ArrayV2Metadata", metadata)
    if isinstance(metadata, dict):
        if "node_type" in metadata or "chunk_grid" in metadata:
            return v3.ArrayV3Metadata.from_dict(metadata, place=place)
        if "zarr_format" in metadata and metadata["zarr_format"] not in (2, 3):
            raise ValueError(f"Invalid zarr_format: {metadata['zarr_format']}. Expected 2 or 3")
        return v2.ArrayV2Metadata.from_dict(metadata, place=place)
    raise TypeError(f"array metadata is needed, got {type(metadata).__name__}")


def open_array_steps(
    store_path: StorePath, zarr_format: ZarrFormat | None = None, config: ArrayConfigLike | None = None
) -> Steps[ArrayHandle]:
    """Open the array at a path.

    Raises
    ------
    ArrayNotFoundError
        If there is no array.
    """
    metadata = yield from read_array_steps(store_path, zarr_format)
    return ArrayHandle(store_path, metadata, parse_array_config(config))
