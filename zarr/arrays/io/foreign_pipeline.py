"""Read and write through a foreign codec pipeline, by zarr-python's interface; move arrays of a device to the host.

This module is used if the user configured another pipeline class (``codec_pipeline.path``), or gave buffers of another
kind (a prototype). Such a pipeline does its own I/O: it receives one entry for each stored chunk, with a byte getter,
the chunk's description, and the places where its elements come from and go to. A shard is one chunk here, and a codec.

With buffers of ``zarr.buffer.gpu``, and codecs that the core knows, the elements of a whole selection are copied to or
from the device at once, and their chunks are decoded and encoded in host memory, without a pipeline.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import zarr_core
from zarr.abc.codec import CodecPipeline
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.chunks import check_missing, retry_missing_steps
from zarr.arrays.layout import ArrayLayout, codecs_of, is_edge
from zarr.buffer import gpu
from zarr.buffer.core import BufferPrototype, NDBuffer, default_buffer_prototype
from zarr.defaults import settings
from zarr.registry import get_pipeline_class
from zarr.registry.tables import OWN_PIPELINES
from zarr.steps.requests import Await, Gather, Hold, Steps
from zarr.storage.path import StorePath

Entry = tuple[Any, Any, Any, Any, bool]


def pipeline_of(handle: ArrayHandle, layout: ArrayLayout) -> CodecPipeline:
    """Return the configured pipeline for the chunks of this array: one object while metadata and configuration stay."""
    cls: type[CodecPipeline] = handle.bound_pipeline or get_pipeline_class()
    kept = handle.pipeline
    if kept is None or kept[0] is not cls or kept[1] is not layout.metadata:
        kept = handle.pipeline = (cls, layout.metadata, make_pipeline(cls, handle, layout))
    return kept[2]  # type: ignore[no-any-return]


def make_pipeline(cls: type[CodecPipeline], handle: ArrayHandle, layout: ArrayLayout) -> CodecPipeline:
    """Return a new pipeline, evolved for the chunks of this array."""
    if hasattr(cls, "from_array_metadata_and_store"):
        try:
            return cls.from_array_metadata_and_store(array_metadata=layout.metadata, store=handle.serving)
        except NotImplementedError:
            pass  # the pipeline takes codecs instead
    pipeline = cls.from_codecs(codecs_of(layout.metadata))
    return pipeline.evolve_from_array_spec(layout.outer_chain.spec)


def entries(
    handle: ArrayHandle, layout: ArrayLayout, plan: zarr_core.Plan, prototype: BufferPrototype
) -> Iterator[Entry]:
    """Yield the entry of each chunk of a plan for a pipeline."""
    cut = len(handle.store_path.path) + 1 if handle.store_path.path else 0
    plain = handle.serving is handle.store_path.store
    place = handle.store_path if plain else StorePath(handle.serving, handle.store_path.path)
    for i in range(plan.nslots):
        slot = plan.slot(i)
        spec = layout.spec_for(slot.chunk_shape, prototype)
        getter = place / layout.key(slot.coords)[cut:]
        whole = slot.whole and not is_edge(layout.edges, slot.coords)
        yield getter, spec, slot.chunk_selection, slot.out_selection, whole


def pipeline_read_steps(
    handle: ArrayHandle, layout: ArrayLayout, plan: zarr_core.Plan, out: NDBuffer, prototype: BufferPrototype
) -> Steps[None]:
    """Read a plan on stored chunks through the configured pipeline."""
    if plan.nslots == 0:
        return
    if layout.retries:
        yield from retry_missing_steps(layout, lambda once: pipeline_read_steps(handle, once, plan, out, prototype))
        return
    batch = list(entries(handle, layout, plan, prototype))
    pipeline = pipeline_of(handle, layout)
    results = yield Await(partial(pipeline.read, batch, out, drop_axes=()))
    if layout.reads_missing or results is None:
        return
    check_missing(layout, [plan.coords(i) for i, result in enumerate(results) if result.get("status") == "missing"])


def pipeline_write_steps(
    handle: ArrayHandle, layout: ArrayLayout, plan: zarr_core.Plan, value: NDBuffer, prototype: BufferPrototype
) -> Steps[None]:
    """Write a plan on stored chunks through the configured pipeline."""
    if plan.nslots == 0:
        return
    batch = list(entries(handle, layout, plan, prototype))
    pipeline = pipeline_of(handle, layout)
    yield Gather([_write_locked_steps(layout, plan, partial(pipeline.write, batch, value, drop_axes=()))])


def _write_locked_steps(layout: ArrayLayout, plan: zarr_core.Plan, write: Callable[[], Awaitable[None]]) -> Steps[None]:
    """Hold all chunks of a pipeline together, because it reads and writes by itself."""
    yield Hold([layout.key(plan.coords(i)) for i in range(plan.nslots)], "chunk", layout.scope)
    yield Await(write)


# ------------------------------------------------------------------------------------------------- arrays of a device


def device_prototype(layout: ArrayLayout, prototype: BufferPrototype | None) -> BufferPrototype | None:
    """Return the prototype if its buffers lie on a device, and the core runs all codecs of the array; else None."""
    prototype = prototype or default_buffer_prototype()
    if prototype.buffer is not gpu.Buffer or prototype.nd_buffer is not gpu.NDBuffer or layout.program is None:
        return None
    return prototype if settings.values["codec_pipeline"]["path"] in OWN_PIPELINES else None


def to_device(elements: Any, prototype: BufferPrototype) -> Any:
    """Copy elements that were read to the device; a scalar stays on the host."""
    if not isinstance(elements, np.ndarray):
        return elements
    return prototype.nd_buffer.from_numpy_array(elements).as_ndarray_like()


def to_host(value: Any) -> Any:
    """Copy a value that lies on a device to the host; return any other value as it is."""
    if isinstance(value, gpu.NDBuffer):
        return value.as_numpy_array()
    return gpu.NDBuffer(value).as_numpy_array() if hasattr(value, "__cuda_array_interface__") else value
