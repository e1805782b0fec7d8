"""Copy nodes between groups and keys between stores: ``zarr.copy``, ``copy_all`` and ``copy_store``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Literal, TypeAlias

from zarr._lazy import asyncio
from zarr.abc.store import Store
from zarr.abc.stores.changes import in_node_order
from zarr.api.opening import create_group
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.errors import CopyError
from zarr.groups.async_group import AsyncGroup
from zarr.groups.group import Group
from zarr.runners.choose import runner_for
from zarr.runners.job_notes import Notes
from zarr.runners.places import overlap, true_place
from zarr.steps.requests import Get, List, Put, ask_steps
from zarr.storage.payloads import MappingStore
from zarr.storage.resolve import StoreLike, resolve_store_path

Counts: TypeAlias = tuple[int, int, int]
IfExists: TypeAlias = Literal["raise", "replace", "skip", "skip_initialized"]
Log: TypeAlias = Callable[[str], Any]

IF_EXISTS = ("raise", "replace", "skip", "skip_initialized")
BLOCK_ROWS_BYTES = 16 << 20
_TOOL = "zarr.copy"


@contextmanager
def logging_to(log: Any, dry_run: bool) -> Iterator[Log]:
    """Open the object that was given as a log.

    Raises
    ------
    TypeError
        If it is neither callable nor a path nor a file.
    """
    note = "dry run: " if dry_run else ""
    if log is None:
        yield lambda message: None
    elif callable(log):
        yield lambda message: log(note + message)
    elif isinstance(log, str | os.PathLike):
        with open(log, "w", encoding="utf-8") as file:
            yield lambda message: print(note + message, file=file)
    elif hasattr(log, "write"):
        yield lambda message: print(note + message, file=log)
    else:
        raise TypeError(f"log must be a callable, a path or a file, not {type(log).__name__}")


def say_summary(say: Log, dry_run: bool, copied: int, skipped: int, nbytes: int) -> None:
    """Say how much was done, in the last line of a log."""
    counts = f"{copied:,} copied, {skipped:,} skipped"
    say(counts if dry_run else f"all done: {counts}, {nbytes:,} bytes copied")


def check_if_exists(if_exists: str, valid: Iterable[str]) -> None:
    """Refuse an unknown policy."""
    if if_exists not in valid:
        raise ValueError(f"if_exists must be one of {tuple(valid)}, not {if_exists!r}")


# -------------------------------------------------------------------------------------------------- nodes


def copy(
    source: Any,
    dest: Any,
    name: str | None = None,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: IfExists = "raise",
    dry_run: bool = False,
    **create_kws: Any,
) -> Counts:
    """Copy an array, or a group with all below it, into a group.

    Values are decoded and encoded again, and nodes join what the group holds. :func:`zarr.tools.copy` copies stored
    bytes as they are to a new place: it is faster, shows its progress, runs on clusters, and goes on after a stop.

    Parameters
    ----------
    source : Array, Group or h5py object
        The node to copy.
    dest : Group
        The group that receives the copy.
    name : str, optional
        By default the name of the source.
    shallow : bool
        If True, copy only the arrays directly in a group, not the groups below it.
    without_attrs : bool
        If True, do not copy attributes. Default: False.
    log : callable, str, path or file, optional
        Where each copy is logged. Default: nowhere.
    if_exists : {"raise", "replace", "skip", "skip_initialized"}
    dry_run : bool
        If True, store nothing; only count and log. Default: False.
    **kwargs
        Parameters of the new arrays.
    **create_kws
        Parameters of :func:`zarr.create_array` for the new arrays.

    Returns
    -------
    (copied, skipped, bytes)
        Number of copied nodes (of keys, for :func:`copy_store`), number of skipped ones, and number of bytes of data
        copied.

    Raises
    ------
    ValueError
        If there is a node at the destination and ``if_exists`` is "raise".
    TypeError
        If the source has no name of its own, and ``name`` gives none.

    Examples
    --------
    >>> import zarr
    >>> source, dest = zarr.group(), zarr.group()
    >>> made = source.create_array("x", data=__import__("numpy").arange(3))
    >>> zarr.copy(source["x"], dest)
    (1, 0, 24)
    """
    copier = _Copier(shallow, without_attrs, if_exists, dry_run, create_kws)
    if name is None:
        name = str(source.name).rstrip("/").rpartition("/")[2]
        if not name:
            raise TypeError("the source has no name of its own: give the copy one by name=…")
    return copier.copy([(name, source)], dest, log, top=True)


def copy_all(
    source: Any,
    dest: Any,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: IfExists = "raise",
    dry_run: bool = False,
    **create_kws: Any,
) -> Counts:
    """Copy all members of a group into another group.

    Parameters
    ----------
    source, dest : Group
        The group whose members are copied, and the group that receives them.
    shallow, without_attrs, log, if_exists, dry_run, **kwargs
        See :func:`copy`.
    **create_kws
        Parameters of :func:`zarr.create_array` for the new arrays.

    Returns
    -------
    (copied, skipped, bytes)
        Number of copied nodes (of keys, for :func:`copy_store`), number of skipped ones, and number of bytes of data
        copied.

    Raises
    ------
    ValueError
        If there is a node at the destination and ``if_exists`` is "raise".

    Examples
    --------
    >>> import zarr
    >>> zarr.copy_all(zarr.group(), zarr.group())
    (0, 0, 0)
    """
    copier = _Copier(shallow, without_attrs, if_exists, dry_run, create_kws)
    return copier.copy(list(_members(source)), dest, log, attributes_of=source)


def _are_stored(source: Any, dest: Any) -> bool:
    return isinstance(source, Array | Group) and isinstance(dest, Group)


def _is_itself(source: Any, dest: Any, name: str) -> bool:
    """Return True if a node is copied onto itself: harmless with "skip", else an error."""
    return _are_stored(source, dest) and true_place(source.store_path) == true_place(dest.store_path / name)


def _refuse_overlap(source: Any, dest: Any, name: str) -> None:
    """Refuse a copy onto its source, which would be deleted first, or into its source, which would never end."""
    if _are_stored(source, dest) and overlap(source.store_path, dest.store_path / name):
        raise ValueError(
            f"cannot copy {source.store_path} to {dest.store_path / name} of the same store: the one is, or lies "
            "within, the other"
        )


def _members(group: Any) -> Iterable[tuple[str, Any]]:
    return group.members() if isinstance(group, Group) else group.items()


def _is_array(node: Any) -> bool:
    return hasattr(node, "shape") and hasattr(node, "dtype")


class _Copier:
    """One run of ``copy`` or ``copy_all``: its settings, and what has been done so far."""

    say: Log

    def __init__(
        self, shallow: bool, without_attrs: bool, if_exists: IfExists, dry_run: bool, create_kws: dict[str, Any]
    ) -> None:
        check_if_exists(if_exists, IF_EXISTS)
        self.shallow, self.without_attrs, self.if_exists, self.dry_run = shallow, without_attrs, if_exists, dry_run
        self.create_kws = create_kws
        self.copied = self.skipped = self.nbytes = 0

    def copy(
        self, members: list[tuple[str, Any]], dest: Any, log: Any, *, top: bool = False, attributes_of: Any = None
    ) -> Counts:
        """Copy members into a group, and the attributes of the group that they come from, if it is given."""
        if not hasattr(dest, "require_group"):
            raise ValueError(f"the destination of a copy is a group, not {dest!r}")
        for name, member in members:
            if self.if_exists not in ("raise", "skip") or not _is_itself(member, dest, name):
                _refuse_overlap(member, dest, name)
        if self.if_exists == "skip_initialized" and not isinstance(dest, Group):
            raise ValueError("if_exists='skip_initialized' asks for stored chunks: the destination must be of Zarr")
        with logging_to(log, self.dry_run) as self.say:
            for name, member in members:
                self.node(member, dest, name, top)
            if attributes_of is not None and not self.without_attrs and not self.dry_run:
                dest.attrs.update(dict(attributes_of.attrs))
            say_summary(self.say, self.dry_run, self.copied, self.skipped, self.nbytes)
        return self.copied, self.skipped, self.nbytes

    def node(self, source: Any, dest: Any, name: str, top: bool = False) -> None:
        """Copy one node into a group; ``dest`` is None below a group that a dry run did not create."""
        if _is_array(source):
            self._array(source, dest, name)
        elif top or not self.shallow:
            self._group(source, dest, name)

    def _clear(self, source: Any, dest: Any, name: str) -> bool:
        """Return True if an array is to be copied; decide by the node in its place."""
        there = None if dest is None else dest.get(name)
        if there is None:
            return True
        if self.if_exists == "raise":
            raise CopyError(f"there is a node at {there.name!r} in the destination; see if_exists")
        skips = self.if_exists == "skip" or (
            self.if_exists == "skip_initialized"
            and isinstance(there, Array)
            and there.nchunks_initialized == there.nchunks
        )
        if skips and not _is_unfinished(dest, name):
            self.say(f"skip {source.name}")
            self.skipped += 1
            return False
        if not self.dry_run:
            if isinstance(dest, Group) and _is_array(source):  # what cannot be made is refused before the removal
                self._like(source, create_group({}, zarr_format=dest.metadata.zarr_format), "copy")
            del dest[name]
        return True

    def _array(self, source: Any, dest: Any, name: str) -> None:
        if not self._clear(source, dest, name):
            return
        self.say(f"copy {source.name} {tuple(source.shape)} {source.dtype}")
        self.copied += 1
        if self.dry_run:
            return
        with _noted(dest, name):
            made = self._like(source, dest, name)
            for block in _blocks(source):
                made[block] = source[block]
            if not self.without_attrs:
                made.attrs.update(dict(source.attrs))
        self.nbytes += int(source.size) * source.dtype.itemsize

    def _like(self, source: Any, dest: Any, name: str) -> Any:
        if not isinstance(dest, Group):
            how = {**_lent_to_h5py(source), **self.create_kws}
            return dest.create_dataset(name, shape=source.shape, dtype=source.dtype, **how)
        parameters = dict(self.create_kws)
        if not isinstance(source, Array):
            fill_value = getattr(source, "fillvalue", None)
            if fill_value is not None and source.dtype.kind not in "VO":
                parameters.setdefault("fill_value", fill_value)
        elif dest.metadata.zarr_format == 3 and parameters.get("zarr_format") != 2:
            parameters.setdefault("dimension_names", getattr(source.metadata, "dimension_names", None))
        return dest.empty_like(name=name, data=source, **parameters)

    def _group(self, source: Any, dest: Any, name: str) -> None:
        there = None if dest is None else dest.get(name)
        if there is not None and _is_array(there):
            if not self._clear(source, dest, name):
                return
            there = None
        self.say(f"copy {source.name}")
        self.copied += 1
        made = there
        if not self.dry_run:
            made = dest.require_group(name)
            if not self.without_attrs:
                made.attrs.update(dict(source.attrs))
        for member_name, member in _members(source):
            self.node(member, made, member_name)


@contextmanager
def _noted(dest: Any, name: str) -> Iterator[None]:
    """Keep a note beside an array until its copy is complete: its document is stored first."""
    if not isinstance(dest, Group) or not dest.store.supports_deletes:
        yield
        return
    notes = Notes(dest.store_path / name)
    notes.begin({"tool": _TOOL})
    try:
        yield
    except Exception:
        if name not in dest:
            notes.clear()
        raise
    notes.clear()


def _is_unfinished(dest: Any, name: str) -> bool:
    """Return True if a copy of an array was stopped.

    Raises
    ------
    CopyError
        If it was a job of ``zarr.tools``, which can go on.
    """
    begun = Notes(dest.store_path / name).begun() if isinstance(dest, Group) else None
    if begun is not None and begun.get("tool") != _TOOL:
        raise CopyError(
            f"the array {name!r} in the destination is not complete: end the job that makes it with resume=True, or "
            "copy with if_exists='replace'"
        )
    return begun is not None


def _lent_to_h5py(source: Any) -> dict[str, Any]:
    """Return what a dataset of h5py takes over from an array: chunks and fill value; codecs, if it is of h5py, too."""
    if not source.shape:
        return {}
    lent = {"chunks": getattr(source, "chunks", None), "fillvalue": getattr(source, "fill_value", None)}
    for name in ("compression", "compression_opts", "shuffle", "fletcher32", "fillvalue"):
        if hasattr(source, name):
            lent[name] = getattr(source, name)
    return {name: value for name, value in lent.items() if value is not None}


def _blocks(source: Any) -> Iterator[Any]:
    """Cut an array along its first dimension, at the borders of chunks, into blocks of moderate size."""
    if not source.shape or 0 in source.shape:
        yield Ellipsis
        return
    if isinstance(source, Array):
        step = max(source.write_chunk_sizes[0], default=1)
    else:
        step = (getattr(source, "chunks", None) or (1,))[0]
    row_bytes = max(1, int(source.size) // source.shape[0] * source.dtype.itemsize)
    rows = max(step, BLOCK_ROWS_BYTES // row_bytes // step * step)
    for start in range(0, source.shape[0], rows):
        yield slice(start, min(start + rows, source.shape[0]))


# --------------------------------------------------------------------------------------------------- keys


def copy_store(
    source: StoreLike,
    dest: StoreLike,
    source_path: str = "",
    dest_path: str = "",
    excludes: str | Iterable[str] | None = None,
    includes: str | Iterable[str] | None = None,
    flags: int = 0,
    if_exists: Literal["raise", "replace", "skip"] = "raise",
    dry_run: bool = False,
    log: Any = None,
) -> Counts:
    """Copy the values of a store into another store, byte for byte.

    Parameters
    ----------
    source, dest : StoreLike
        Where the values are read, and where they are written.
    source_path, dest_path : str
        Only keys below these paths are copied.
    excludes, includes : str or list of str, optional
        Regular expressions: keys to leave out, and exceptions from these.
    flags : int
        Flags of the regular expressions.
    if_exists : {"raise", "replace", "skip"}
    dry_run : bool
        If True, store nothing; only count and log. Default: False.
    log : callable, str, path or file, optional
        Where each copy is logged. Default: nowhere.

    Returns
    -------
    (copied, skipped, bytes)
        Number of copied keys, number of skipped ones, and number of bytes of data copied.

    Raises
    ------
    CopyError (a ValueError)
        If a key is there already and ``if_exists`` is "raise".

    Examples
    --------
    >>> import zarr
    >>> source, dest = {}, {}
    >>> made = zarr.group(source)
    >>> zarr.copy_store(source, dest)[0]
    1
    """
    check_if_exists(if_exists, IF_EXISTS[:3])
    taken = resolve_store_path(_as_store(source), path=source_path)
    given = resolve_store_path(_as_store(dest), path=dest_path)
    reader, writer = runner_for(taken.store), runner_for(given.store)
    prefix = f"{taken.path}/" if taken.path else ""
    names = sorted(key[len(prefix) :] for key in reader.run(ask_steps(List(taken.path))))
    names = [name for name in names if _is_wanted(name, _patterns(excludes, flags), _patterns(includes, flags))]
    target = f"{given.path}/" if given.path else ""
    there = set(writer.run(ask_steps(List(given.path))))
    skipped = nbytes = copied = 0
    with logging_to(log, dry_run) as say:
        for name in names:
            if target + name in there and if_exists == "raise":
                raise CopyError(f"the key {target + name!r} exists in the destination; see if_exists")
        for name in in_node_order(given.store, names):
            if target + name in there and if_exists == "skip":
                say(f"skip {name}")
                skipped += 1
                continue
            say(f"copy {name}")
            copied += 1
            if not dry_run:
                value = reader.run(ask_steps(Get(prefix + name)))
                if value is not None:
                    nbytes += len(value)
                    writer.run(ask_steps(Put(target + name, value)))
        say_summary(say, dry_run, copied, skipped, nbytes)
    return copied, skipped, nbytes


def _as_store(store: StoreLike) -> StoreLike:
    """Return a store of bytes for a mapping, which is to hold what a program reads by its keys."""
    return MappingStore(store) if isinstance(store, MutableMapping) and not isinstance(store, Store) else store


def _patterns(patterns: str | Iterable[str] | None, flags: int) -> list[re.Pattern[str]]:
    listed = [patterns] if isinstance(patterns, str) else list(patterns or ())
    return [re.compile(pattern, flags) for pattern in listed]


def _is_wanted(name: str, excludes: list[re.Pattern[str]], includes: list[re.Pattern[str]]) -> bool:
    excluded = any(pattern.search(name) for pattern in excludes)
    return not excluded or any(pattern.search(name) for pattern in includes)


# ----------------------------------------------------------------------------------------- from coroutines


def _synchronous(node: Any) -> Any:
    if isinstance(node, AsyncGroup):
        return Group(node)
    return Array(node) if isinstance(node, AsyncArray) else node


def in_thread(copying: Callable[..., Counts]) -> Callable[..., Coroutine[Any, Any, Counts]]:
    """Return a coroutine function that copies in a thread; it accepts asynchronous arrays and groups, too."""

    @wraps(copying)
    async def copy(*args: Any, **kwargs: Any) -> Counts:
        named = {name: _synchronous(value) for name, value in kwargs.items()}
        return await asyncio.to_thread(copying, *map(_synchronous, args), **named)

    return copy
