"""Store arrays and hierarchies anew in other chunks, shards or codecs, within a limit of memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from zarr._lazy import load_extra
from zarr.arrays.array import Array
from zarr.arrays.show.cf import dimension_names
from zarr.groups.group import Group
from zarr.tools.contents.nodes import arrays_of, open_node, refuse_group
from zarr.tools.copies.jobs import CopyJob, chunk_borders, open_ends
from zarr.tools.copies.layouts import check_wanted, choose_route, wanted_shape
from zarr.tools.copies.regions import longest
from zarr.tools.plans.plan import MEMORY, Plan, parse_bytes
from zarr.tools.plans.progress import Progress

Chunks = Sequence[int] | Mapping[str, Any]


def rechunk(
    source: Any,
    target: Any,
    *,
    chunks: Chunks,
    shards: Chunks | None = None,
    compressors: Any = "keep",
    filters: Any = "keep",
    serializer: Any = "keep",
    path: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    overwrite: bool = False,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    resume: bool = False,
    dry_run: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Array[Any] | Group | Plan:
    """Copy an array, or all arrays of a hierarchy, into other chunks.

    Attributes, dimension names, fill values and data types stay. If the old and the new chunks cross each other and
    the memory is too small for regions of whole chunks of both, the array is stored once in between, in the target
    store below a folder ``.zarr-job-…``, if that is cheaper than reading chunks several times.

    Parameters
    ----------
    source : Array, Group, store, path or URL
        The node to copy.
    target : store, path or URL
        The place of the copy; another one than the source.
    chunks : tuple of int, or mapping
        The chunk shape of each array with this number of dimensions; -1 is a whole axis. A mapping has the paths of
        arrays, each with its chunk shape, or names of dimensions, each with its length. An array that is not in it
        keeps its chunks and shards. A length of a dimension does not cut its coordinates into smaller chunks.
    shards : tuple of int, or mapping, optional
        The shard shapes, in the same way. Default: no shards.
    compressors, filters, serializer : optional
        As in :func:`zarr.create_array`. Default: those of each array.
    path : str, optional
        The path of the copy in the target store. Default: its root.
    zarr_format : 2 or 3, optional
        The format of the copy. Default: that of the source.
    overwrite : bool, default False
        If True, delete first the node at the place of the copy.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit. One half of it is for the elements of a region.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread, one task after the other; each task uses all processors.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of finished tasks, and that of all.
    resume : bool, default False
        If True, continue an earlier call with the same arguments that was killed.
    dry_run : bool, default False
        If True, return the plan and change nothing.
    storage_options : dict, optional
        Options for URLs of fsspec.

    Returns
    -------
    Array or Group
        The copy; with ``dry_run`` a :class:`Plan`, whose ``explain()`` describes the actions.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is something at the place of the copy, and ``overwrite`` is False.
    ValueError
        If chunks do not fit an array or are for none of them, or one chunk or shard needs more memory than allowed.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> store = zarr.storage.MemoryStore()
    >>> source = zarr.array(np.arange(12).reshape(3, 4), chunks=(1, 4))
    >>> copy = zarr.tools.rechunk(source, store, chunks=(-1, 2))
    >>> copy.chunks, copy[:, 1].tolist()
    ((3, 2), [1, 5, 9])
    """
    node, place = open_ends(source, target, path, storage_options)
    kept = {"compressors": compressors, "filters": filters, "serializer": serializer, "zarr_format": zarr_format}
    for wanted in (chunks, shards or {}):
        check_wanted({name: dimension_names(array) for name, array in arrays_of(node)}, wanted)
    layout_of = partial(_layout_of, chunks=chunks, shards=shards)
    job = CopyJob(node, place, layout_of, kept, overwrite, parse_bytes(memory))
    plan = job.plan(f"rechunk to chunks {_short(chunks)}")
    return plan if dry_run else plan.run(executor, progress, resume)


def reencode(
    source: Any,
    target: Any,
    *,
    compressors: Any = "auto",
    filters: Any = "keep",
    serializer: Any = "keep",
    path: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    overwrite: bool = False,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    resume: bool = False,
    dry_run: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Array[Any] | Group | Plan:
    """Copy an array, or all arrays of a hierarchy, with other codecs and the same chunks and shards.

    Parameters
    ----------
    source, target, path, zarr_format, overwrite, memory, executor, progress, resume, dry_run, storage_options
        As in :func:`rechunk`.
    compressors : optional
        As in :func:`zarr.create_array`. Default: "auto", the default compressor of each data type.
    filters, serializer : optional
        As in :func:`zarr.create_array`. Default: those of each array.

    Returns
    -------
    Array or Group
        The copy; with ``dry_run`` a :class:`Plan`.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is something at the place of the copy, and ``overwrite`` is False.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> source = zarr.create_array({}, data=np.arange(12), chunks=(4,), compressors=None)
    >>> copy = zarr.tools.reencode(source, {}, compressors=zarr.codecs.ZstdCodec(level=5))
    >>> copy.compressors, copy.chunks
    ((ZstdCodec(level=5, checksum=False),), (4,))
    """
    node, place = open_ends(source, target, path, storage_options)
    kept = {"compressors": compressors, "filters": filters, "serializer": serializer, "zarr_format": zarr_format}
    plan = CopyJob(node, place, lambda *_: ("keep", "keep"), kept, overwrite, parse_bytes(memory)).plan("reencode")
    return plan if dry_run else plan.run(executor, progress, resume)


def to_dask(array: Any, memory: int | str = "128 MiB") -> Any:
    """Return a dask array over an array, in blocks of whole shards or chunks.

    Parameters
    ----------
    array : Array, store, path or URL
        The array to read.
    memory : int or str, default "128 MiB"
        The largest size of a block, unless one chunk or shard is larger.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    ImportError
        If dask is not installed.
    ValueError
        If a group is there.

    Examples
    --------
    >>> import zarr
    >>> zarr.tools.to_dask(zarr.zeros((100, 100), chunks=(10, 10)), memory="40 kB").chunksize
    (50, 100)
    """
    dask_array = load_extra("dask.array", "dask", "to_dask")
    array = refuse_group(open_node(array), "to_dask")
    own = chunk_borders(array, written=True)
    limit = max(parse_bytes(memory), math.prod(longest(axis) for axis in own) * array.dtype.itemsize)
    regions = choose_route(own, own, array.dtype.itemsize, limit).first
    chunks = tuple(tuple(b - a for a, b in pairwise(axis)) or (0,) for axis in regions.borders)
    return dask_array.from_array(array, chunks=chunks, name=False)


# ------------------------------------------------------------------------------------------------------- layouts


def _layout_of(name: str, array: Array[Any], chunks: Chunks, shards: Chunks | None) -> tuple[Any, Any]:
    """Return chunks and shards of the copy of an array; each is "keep" if it stays."""
    found = chunk_shape_for(name, array, chunks)
    if found is None:
        return "keep", "keep"
    return found, None if shards is None else chunk_shape_for(name, array, shards)


def chunk_shape_for(name: str, array: Array[Any], wanted: Any) -> tuple[int, ...] | None:
    """Return the chunk shape for an array; None if there is none for it.

    Examples
    --------
    >>> import zarr
    >>> chunk_shape_for("", zarr.zeros((10, 8)), (-1, 2))
    (10, 2)
    """
    return wanted_shape(name, array.shape, chunk_shape(array), dimension_names(array), wanted)


def chunk_shape(array: Array[Any]) -> tuple[int, ...]:
    """Return the lengths of the largest chunk that can be read alone.

    Examples
    --------
    >>> import zarr
    >>> chunk_shape(zarr.zeros((10, 8), chunks=(4, 8)))
    (4, 8)
    """
    return tuple(max(axis, default=1) for axis in array.read_chunk_sizes)


def _short(chunks: Any) -> str:
    return str(dict(chunks) if isinstance(chunks, Mapping) else tuple([chunks] if isinstance(chunks, int) else chunks))
