"""Create an array like another one, and copy its elements, a block of chunks at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import product
from math import prod
from typing import Any, Final

from zarr.abc.stores.changes import stages
from zarr.arrays.create.parameters import CREATE_ARRAY, FROM_ARRAY, KEPT, DefaultFillValue
from zarr.arrays.create.steps import create_array_steps, refuse_beside_data
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.reading import get_selection_steps
from zarr.arrays.io.selection import elements_of
from zarr.arrays.io.writing import set_selection_steps
from zarr.arrays.layout import ArrayLayout
from zarr.arrays.methods.properties import ArrayFace, split_codecs
from zarr.chunks.spec import ArrayConfigLike
from zarr.errors import ZarrUserWarning
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.notices import warn
from zarr.runners.places import true_place
from zarr.steps.requests import Await, Gather, Steps
from zarr.storage.path import StorePath

MAX_BLOCK_BYTES = 16 << 20
"""Chunks are copied together up to this number of bytes."""

MAX_COPIED_BYTES = 8 * MAX_BLOCK_BYTES
"""Number of bytes in memory at once if several blocks are under way; a single larger block may exceed it."""

_CHOSEN: Final[dict[str, Any]] = {name: CREATE_ARRAY[name] for name in KEPT}
"""Parameters that a copy may take from its source, with the values that choose them anew."""

_CHUNK_NAME: Final = re.compile(r"c[./]|\d")
"""The beginning of the names of chunks, as the usual encodings of chunk keys make them."""

_OF_DOCUMENT: Final[dict[str, Any]] = {
    name: default
    for name, default in FROM_ARRAY.items()
    if name not in ("storage_options", "overwrite", "config")
}
"""The parameters of the metadata document of a copy, with their defaults."""

PARAMETERS_OF_COPIES: Final = frozenset(("store", "name", "write_data", *FROM_ARRAY))
"""The parameters of ``zarr.from_array``."""


def from_array_steps(
    store_path: StorePath,
    *,
    data: Any,
    write_data: bool = True,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    **parameters: Any,
) -> Steps[ArrayHandle]:
    """Create an array like ``data`` and copy its elements.

    Parameters
    ----------
    store_path : StorePath
    data : Array, AsyncArray or array-like
        A stored array gives all parameters with the value ``"keep"``, as far as the formats allow it.
    write_data : bool
        If True, copy the elements.
    **parameters
        As for ``create_array``, or ``"keep"``.

    Raises
    ------
    ValueError
        If the new array would overwrite its own source.
    """
    given = {**_OF_DOCUMENT, **parameters}
    if not isinstance(data, ArrayFace):
        parameters = {name: _CHOSEN[name] if _kept(name, value) else value for name, value in given.items()}
        if given["zarr_format"] is None:
            # Independent of the configuration: this function keeps the format of its source; the default is 3.
            parameters["zarr_format"] = getattr(store_path.store, "default_zarr_format", 3)
        parameters.update(overwrite=overwrite, config=config, write_data=write_data)
        return create_array_steps(store_path, data=data, **parameters)
    source = data._handle
    if overwrite and write_data:
        refuse_self_overwrite(store_path, source)
    made = create_array_steps(store_path, overwrite=overwrite, config=config, **kept_parameters(source, given))
    return _copy_into_steps(made, source) if write_data else made


def _copy_into_steps(made: Steps[ArrayHandle], source: ArrayHandle) -> Steps[ArrayHandle]:
    handle = yield from made
    yield from copy_elements_steps(source, handle)
    return handle


def create_or_copy_steps(
    store_path: StorePath, *, data: Any = None, shape: Any = None, dtype: Any = None, **parameters: Any
) -> Steps[ArrayHandle]:
    """Create an array by the parameters of ``create_array``, also if its data are a stored array.

    A stored array is copied block by block. Its fill value, attributes and names of dimensions are kept; codecs and
    chunks are chosen anew, unless the caller gives them.

    Raises
    ------
    ValueError
        If shape or data type are given beside the data.
    """
    if not isinstance(data, ArrayFace):
        return create_array_steps(store_path, data=data, shape=shape, dtype=dtype, **parameters)
    refuse_beside_data(shape, dtype)
    return from_array_steps(store_path, data=data, **{**_CHOSEN, **parameters})


def _kept(name: str, value: Any) -> bool:
    return name in _CHOSEN and isinstance(value, str) and value == "keep"


def refuse_self_overwrite(store_path: StorePath, source: ArrayHandle) -> None:
    """Refuse to delete an array that is about to be copied; a place below it without its chunks is allowed."""
    target, own = (f"{true_place(place)}/" for place in (store_path, source.store_path))
    if own.startswith(target) or (target.startswith(own) and _may_be_chunk(target[len(own) :], source)):
        raise ValueError(
            f"/{store_path.path} cannot be overwritten by a copy of /{source.store_path.path}: the paths overlap, so "
            "the array that is to be copied would be deleted first. Choose another path, or write_data=False."
        )


def _may_be_chunk(name: str, source: ArrayHandle) -> bool:
    known = source.metadata.chunk_key_encoding.name in ("default", "v2")
    return not known or _CHUNK_NAME.match(name) is not None


def kept_parameters(source: ArrayHandle, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an array like another; those given as ``"keep"`` come from it."""
    metadata = source.metadata
    new_format = given["zarr_format"] or metadata.zarr_format
    same = new_format == metadata.zarr_format
    filters, serializer, compressors = split_codecs(metadata)
    inherited: dict[str, Any] = {"chunks": kept_chunks(metadata), "shards": kept_shards(metadata)}
    if same:
        inherited.update(filters=filters or None, compressors=compressors or None)
        inherited["serializer"] = "auto" if serializer is None else serializer
    else:
        inherited.update(filters="auto", compressors="auto", serializer="auto")
    parameters = {name: inherited[name] if _kept(name, value) else value for name, value in given.items()}
    parameters.update(shape=metadata.shape, dtype=metadata.dtype, zarr_format=new_format)
    if isinstance(given["fill_value"], DefaultFillValue):
        parameters["fill_value"] = metadata.fill_value
    if given["attributes"] is None:
        parameters["attributes"] = deepcopy(dict(metadata.attributes))
    if same:
        _keep_names(parameters, metadata)
    elif isinstance(metadata, ArrayV2Metadata) and metadata.order == "F" and given["order"] is None:
        warn(
            "The 'order' attribute of a Zarr format 2 array does not have a direct analogue in Zarr format 3. "
            "The existing order='F' of the source Zarr format 2 array will be ignored.",
            ZarrUserWarning,
        )
    return parameters


def _keep_names(parameters: dict[str, Any], metadata: ArrayV2Metadata | ArrayV3Metadata) -> None:
    """Take chunk key encoding, dimension names and order from an array of the same format."""
    for name in ("chunk_key_encoding", "order" if isinstance(metadata, ArrayV2Metadata) else "dimension_names"):
        if parameters[name] is None:
            parameters[name] = getattr(metadata, name)


def kept_chunks(metadata: ArrayV2Metadata | ArrayV3Metadata) -> Any:
    """Return the chunks of an array in the form of the parameter of ``create_array``."""
    try:
        return metadata.chunks
    except NotImplementedError:
        return metadata.chunk_grid


def kept_shards(metadata: ArrayV2Metadata | ArrayV3Metadata) -> Any:
    """Return the shards of an array in the form of the parameter of ``create_array``."""
    try:
        shape = metadata.shards
    except NotImplementedError:
        return metadata.chunk_grid
    codec = getattr(metadata, "sharding_codec", None)
    if shape is None or codec is None:
        return shape
    return {"shape": shape, "index_location": codec.index_location}


# ----------------------------------------------------------------------------------------------- elements


def blocks_of(layout: ArrayLayout) -> Iterator[tuple[slice, ...]]:
    """Cut an array along its stored objects into blocks of moderate size."""
    axes = layout.outer.axes
    if any(axis.nchunks == 0 for axis in axes):
        return
    itemsize = max(1, layout.dtype.itemsize)
    counts = [1] * len(axes)
    nbytes = itemsize * prod(axis.valid_length(0) for axis in axes)
    for d in reversed(range(len(axes))):
        room = max(1, MAX_BLOCK_BYTES // max(1, nbytes))
        counts[d] = min(axes[d].nchunks, room)
        nbytes *= counts[d]
        if counts[d] < axes[d].nchunks:
            break
    cuts = [
        [elements_of(axis, first, min(first + count, axis.nchunks)) for first in range(0, axis.nchunks, count)]
        for axis, count in zip(axes, counts, strict=True)
    ]
    yield from product(*cuts)


def copy_elements_steps(source: ArrayHandle, target: ArrayHandle) -> Steps[None]:
    """Copy all elements from one array to another of the same shape."""
    for blocks in _groups_that_fit(blocks_of(target.layout), target.layout.dtype.itemsize):
        yield Gather([_copy_block_steps(source, target, block) for block in blocks])


def _groups_that_fit(blocks: Iterator[tuple[slice, ...]], itemsize: int) -> Iterator[list[tuple[slice, ...]]]:
    """Yield blocks that fit in memory together: a loop runs many steps at once, however large their blocks are."""
    group: list[tuple[slice, ...]] = []
    nbytes = 0
    for block in blocks:
        size = itemsize * prod(part.stop - part.start for part in block)
        if group and nbytes + size > MAX_COPIED_BYTES:
            yield group
            group, nbytes = [], 0
        group.append(block)
        nbytes += size
    if group:
        yield group


def _copy_block_steps(source: ArrayHandle, target: ArrayHandle, block: tuple[slice, ...]) -> Steps[None]:
    read = partial(get_selection_steps, source, "basic", block)
    store = target.store_path.store
    if source.serving is store and not stages(store):  # a stage shows written values, not copied ones
        values = yield from read()
    else:
        values = yield Await(lambda: source.async_run(read()))
    yield from target.from_outside_steps(set_selection_steps(target, "basic", block, values))
