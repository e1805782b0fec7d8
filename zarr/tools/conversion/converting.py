"""Convert a file of another format to Zarr, Zarr to such a file, and one format of Zarr to another."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import zarr
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.runners.places import true_place
from zarr.storage.keys import join
from zarr.storage.layouts.base import LayoutStore
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.contents.nodes import open_node
from zarr.tools.conversion.codecs import documents_of
from zarr.tools.conversion.contents import (
    ArrayContents,
    Contents,
    GroupContents,
    borders_of_chunks,
    change_arrays,
    walk_contents,
)
from zarr.tools.conversion.formats import (
    FORMATS,
    Format,
    format_named,
    format_of_file,
    format_of_name,
    function_of,
)
from zarr.tools.conversion.nodes import array_parameters, contents_of
from zarr.tools.conversion.virtual import refer
from zarr.tools.copies.jobs import SHARE, FillJob, below, check_apart, options_of_ends
from zarr.tools.copies.layouts import Borders, check_wanted, wanted_shape
from zarr.tools.copies.regions import Region
from zarr.tools.plans.plan import MEMORY, human, parse_bytes
from zarr.tools.plans.progress import Progress


@dataclass(frozen=True)
class Conversion:
    """The result of :func:`convert`.

    Parameters
    ----------
    result : Array, Group, Path or None
        The node, or the path of the file; None if nothing was created (``dry_run``).
    losses : tuple of str
        The losses: the path of a node, the lost thing, and the reason.
    plan : str
        The actions that were done, or would be done, as text.

    Examples
    --------
    >>> from zarr.tools import Conversion
    >>> Conversion(None, (), "write a.npy").plan
    'write a.npy'
    """

    result: Any
    losses: tuple[str, ...]
    plan: str


def convert(
    source: Any,
    target: Any,
    *,
    to: str | None = None,
    path: str | None = None,
    chunks: Any = "keep",
    shards: Any = "keep",
    compressors: Any = "keep",
    filters: Any = "keep",
    zarr_format: Literal[2, 3] = 3,
    virtual: bool = False,
    overwrite: bool = False,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    resume: bool = False,
    dry_run: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Conversion:
    """Convert a file to Zarr, Zarr to a file, a file to a file, or Zarr to the other format of Zarr.

    Files are HDF5, NetCDF-4, npy, npz, TIFF, OME-TIFF, GeoTIFF, Parquet and CSV. Zarr is read in format 2, in format 3,
    from N5 and from tables of references. Groups, attributes, names of dimensions, chunks, codecs and fill values are
    kept if the target has them. The result lists everything that is lost.

    Parameters
    ----------
    source : path, URL, Array, Group or store
        The source. ``"a.h5::/group"`` is a part of a file or of a store.
    target : path, URL or store
        The place of the result.
    to : str, optional
        The format of the target: ``"zarr"`` or the name of a format of files. Default: by the suffix of the target,
        Zarr if it is unknown.
    path : str, optional
        The path of the node in a target of Zarr. Default: its root.
    chunks : tuple of int, mapping, "keep" or "auto"
        The chunk shape, as in :func:`rechunk`. Default: that of the source, or a chosen one if it has none; ``"auto"``
        always chooses.
    shards : tuple of int, mapping, "keep" or None
        The shard shape, as in :func:`rechunk`. Default: that of the source, if the chunks are kept; None: no shards.
    compressors, filters : optional
        As in :func:`zarr.create_array`. Default: codecs that are equivalent to those of the source.
    zarr_format : 2 or 3, default 3
        The format of a target of Zarr.
    virtual : bool, default False
        If True, copy nothing, and make a table of references to the bytes of the source: a file ``.json`` of kerchunk,
        which can be opened like any other store. The chunks must be stored as in Zarr. If the table and the source are
        in different folders, ``storage_options={"allow_outside": True}`` opens it.
    overwrite : bool, default False
        If True, replace the node or file at the place of the target.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit.
    executor, progress, resume, storage_options
        As in :func:`rechunk`; this thread always writes files.
    dry_run : bool, default False
        If True, create nothing, and return the plan and the losses that are known in advance.

    Returns
    -------
    Conversion
        The new node or the path of the file, and the losses.

    Raises
    ------
    FileExistsError, ContainsArrayError, ContainsGroupError
        If there is something at the place of the target, and ``overwrite`` is False.
    ImportError
        If the library that the format needs is missing; the message names the extra.
    ValueError
        If a format is unknown, or no part of the source can be converted.

    Examples
    --------
    >>> import numpy as np, tempfile, zarr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.arange(6))
    ...     made = zarr.tools.convert(f"{folder}/x.npy", f"{folder}/x.zarr", chunks=(4,))
    ...     made.result.chunks, made.result[:].tolist(), made.losses
    ((4,), [0, 1, 2, 3, 4, 5], ())
    """
    losses: list[str] = []
    if virtual:
        if (chunks, shards, compressors, filters, zarr_format) != ("keep", "keep", "keep", "keep", 3):
            raise ValueError("virtual=True copies nothing: chunks, shards, codecs and format stay those of the file")
        node, text = refer(source, target, losses, overwrite=overwrite, dry_run=dry_run)
        return Conversion(node, tuple(losses), text)
    options, target_options = options_of_ends(source, target, storage_options)
    found = _read(source, losses, options)
    row = _target_format(target, to)
    if row is None and isinstance(found, Array | Group):
        _refuse_same(found, zarr_format)
    contents = contents_of(found, losses) if isinstance(found, Array | Group) else found
    _check_wanted(contents, chunks, shards)
    contents = change_arrays(contents, partial(_relaid, chunks=chunks, shards=shards))
    codecs = {name: value for name, value in (("filters", filters), ("compressors", compressors)) if value != "keep"}
    if row is not None:
        return _write(contents, target, row, codecs, losses, overwrite, dry_run)
    where, below = _split(target, path)
    place = resolve_store_path(where, path=below or "", mode="a", storage_options=target_options)
    if isinstance(found, Array | Group):
        check_apart(found, place)
    else:
        _check_outside(_split(source)[0], place)
    what, limit = _identity(source, found), parse_bytes(memory)
    job = MakeJob(contents, place, zarr_format, codecs, overwrite, limit, losses, what)
    plan = job.plan(f"convert to Zarr format {zarr_format}")
    made = None if dry_run else plan.run(executor, progress, resume)
    return Conversion(made, tuple(losses), plan.explain())


# -------------------------------------------------------------------------------------------------- sources


def _check_outside(file: Any, place: StorePath) -> None:
    """Refuse a target that is replaced with the file in it that is the source."""
    if f"file:{os.path.realpath(file)}".startswith(f"{true_place(place)}/"):
        raise ValueError(f"the copy cannot be made at {place}: the source {file} lies in it")


def _identity(source: Any, found: Array[Any] | Group | Contents) -> str:
    """Return the name of a source in any working directory; for a file with its size and time of change."""
    if isinstance(found, Array | Group):
        return str(found.store_path)
    place, path = _split(source)
    status = os.stat(place)
    return repr((os.path.realpath(place), path, status.st_size, status.st_mtime_ns))


def _split(place: Any, path: str | None = None) -> tuple[Any, str | None]:
    """Split the name of a source into the place, and the path after ``::``."""
    if isinstance(place, str):
        head, colons, tail = place.rpartition("::")
        if colons and "://" not in tail and head:
            return head, join(tail.strip("/"), (path or "").strip("/"))
    return place, path


def _read(source: Any, losses: list[str], storage_options: dict[str, Any] | None) -> Array[Any] | Group | Contents:
    place, path = _split(source)
    if isinstance(place, str | os.PathLike) and os.path.isfile(place):
        file = os.fspath(place)
        if (row := format_of_file(file)) is not None:
            return _part(function_of(row, "reader")(os.path.abspath(file), losses), path, file, losses)
        if not file.endswith((".zip", ".json")):
            raise ValueError(f"{file} is of no known format: there are {', '.join(FORMATS)} and zarr")
    return open_node(place, path, storage_options)


def _part(contents: Contents, path: str | None, file: str, losses: list[str]) -> Contents:
    """Return the part of a file at a path, and keep the losses of this part only."""
    for name in (path or "").split("/") if path else ():
        if not isinstance(contents, GroupContents) or name not in contents.members:
            there = ", ".join(contents.members) if isinstance(contents, GroupContents) else "an array"
            raise FileNotFoundError(f"{file} has no {path}: at {name!r} there is {there or 'an empty group'}")
        contents = contents.members[name]
    if path:
        own = [text for text in losses if text.startswith((f"/{path}:", f"/{path}/"))]
        losses[:] = [f"/{text[len(path) + 1:].lstrip('/')}" for text in own]
    return contents


def _refuse_same(node: Array[Any] | Group, zarr_format: int) -> None:
    if node.metadata.zarr_format == zarr_format and not isinstance(node.store, LayoutStore):
        raise ValueError(
            f"{node.store_path} is of Zarr format {zarr_format} already: use copy, rechunk or reencode, or name "
            "another format of the target"
        )


# -------------------------------------------------------------------------------------------------- targets


def _target_format(target: Any, to: str | None) -> Format | None:
    """Return the format of the file to write; None for Zarr."""
    named = isinstance(target, str | os.PathLike)
    if to is not None:
        if to == "zarr":
            return None
        row = format_named(to)
        if not named:
            raise TypeError(f"a file of {row.title} is written to a path, not to {target!r}")
        return row
    return format_of_name(os.fspath(target)) if named and "::" not in str(target) else None


def _write(
    contents: Contents, target: Any, row: Format, codecs: dict[str, Any], losses: list[str], overwrite: bool,
    dry_run: bool,
) -> Conversion:  # fmt: skip
    """Write a file beside the target, and give it its name when it is complete."""
    file = Path(target)
    if file.exists() and not overwrite:
        raise FileExistsError(f"there is a file {file}: convert with overwrite=True to replace it")
    write = function_of(row, "writer")
    arrays = [each for _, each in walk_contents(contents) if isinstance(each, ArrayContents)]
    size = sum(_bytes_of(array) for array in arrays)
    plan = f"write {file} as {row.title}: {len(arrays)} array{'' if len(arrays) == 1 else 's'}, {human(size)}"
    if dry_run:
        return Conversion(None, tuple(losses), plan)
    with tempfile.TemporaryDirectory(prefix=".zarr-convert-", dir=file.absolute().parent) as folder:
        made = Path(folder) / file.name
        documents = {name: documents_of(value) for name, value in codecs.items()}
        write(change_arrays(contents, lambda _, array: replace(array, **documents)), str(made), losses)
        os.replace(made, file)
    return Conversion(file, tuple(losses), plan)


def _bytes_of(array: ArrayContents) -> int:
    return math.prod(array.shape, start=int(getattr(array.dtype, "itemsize", 0)))


# -------------------------------------------------------------------------------------------------- layouts


def _check_wanted(contents: Contents, chunks: Any, shards: Any) -> None:
    """Refuse words that mean nothing, and chunks and shards that are meant for none of the arrays."""
    if isinstance(chunks, str) and chunks not in ("keep", "auto"):
        raise ValueError(f"chunks={chunks!r}: give a chunk shape, 'keep' or 'auto'")
    if isinstance(shards, str) and shards != "keep":
        raise ValueError(f"shards={shards!r}: give a shard shape, 'keep' or None")
    arrays = {
        path: each.dimension_names or (None,) * len(each.shape)
        for path, each in walk_contents(contents)
        if isinstance(each, ArrayContents)
    }
    for shapes in (chunks, shards):
        if shapes is not None and not isinstance(shapes, str):
            check_wanted(arrays, shapes)


def _relaid(path: str, contents: ArrayContents, chunks: Any, shards: Any) -> ArrayContents:
    """Return an array with the chunks and shards of the caller."""
    if isinstance(chunks, str):
        own = contents.chunks if chunks == "keep" else None
    else:
        own = _shape_for(path, contents, chunks) or contents.chunks
    if isinstance(shards, str) or shards is None:
        outer = contents.shards if shards == "keep" and own == contents.chunks else None
    else:
        outer = _shape_for(path, contents, shards)
    return replace(contents, chunks=own, shards=outer)


def _shape_for(path: str, contents: ArrayContents, wanted: Any) -> tuple[int, ...] | None:
    ndim = len(contents.shape)
    names = contents.dimension_names or (None,) * ndim
    return wanted_shape(path, contents.shape, contents.chunks or contents.shape, names, wanted)


class MakeJob(FillJob):
    """One conversion to Zarr: a task writes whole chunks or shards, so that no two tasks write one stored value.

    Parameters
    ----------
    contents : Contents
    place : StorePath
        The place of the new node.
    zarr_format : 2 or 3
    codecs : dict
        Parameters of :func:`zarr.create_array` for all arrays, in place of those of the contents.
    overwrite : bool
    memory : int
    losses : list of str
        Receives the losses of the format.
    source : str
        What is converted, as text.
    """

    verb = "convert"

    def __init__(
        self,
        contents: Contents,
        place: StorePath,
        zarr_format: Literal[2, 3],
        codecs: dict[str, Any],
        overwrite: bool,
        memory: int,
        losses: list[str],
        source: str,
    ) -> None:
        self.place, self.zarr_format, self.overwrite = place, zarr_format, overwrite
        self.source, self.like, self.limit = source, {}, int(memory * SHARE)
        self.groups: dict[str, Any] = {}
        self.arrays: dict[str, tuple[ArrayContents, dict[str, Any]]] = {}
        for path, each in walk_contents(contents):
            if not isinstance(each, ArrayContents):
                self.groups[path] = each.attributes
            elif (parameters := array_parameters(path, each, zarr_format, losses)) is not None:
                self.arrays[path] = each, parameters | codecs
        if not self.groups and not self.arrays:
            raise ValueError(f"nothing can be converted: {losses[-1]}")

    def _reader(self, name: str) -> tuple[Callable[[Region], Any], Sequence[Borders] | None]:
        contents = self.arrays[name][0]
        return contents.read, borders_of_chunks(contents)

    def _make(self, place: StorePath, overwrite: bool) -> dict[str, Array[Any]]:
        for path, attributes in self.groups.items():
            zarr.create_group(
                below(place, path),
                overwrite=overwrite and not path,
                zarr_format=self.zarr_format,
                attributes=dict(attributes),
            )
        return {
            path: zarr.create_array(below(place, path), overwrite=overwrite and not path, **parameters)
            for path, (_, parameters) in self.arrays.items()
        }

    def _complete(self) -> None:
        if self.zarr_format == 2 and self.groups:
            zarr.consolidate_metadata(self.place.store, path=self.place.path, zarr_format=2)
