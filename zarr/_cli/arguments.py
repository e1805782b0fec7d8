"""Parse the arguments of a command: places, options of stores, values, lengths, selections."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Annotated, Any

import typer

import zarr
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.conversion.virtual import open_in_place
from zarr.tools.plans.plan import parse_bytes
from zarr.types import AccessModeLiteral

Store = Annotated[str, typer.Argument(help="A folder, a zip file or a URL; a node in it follows after ::.")]
NodePath = Annotated[str | None, typer.Argument(help="The path of a node in the store; by default its root.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the store of a URL, such as anon=true. Repeat."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Memory = Annotated[str, typer.Option(help="The memory that a task may use.")]
Workers = Annotated[int, typer.Option(min=0, help="Run the tasks in so many processes; 0: in this one.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before something is removed.")]

_WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Place:
    """A node, existing or new: a store, a path in it, and the options of the store.

    Parameters
    ----------
    store : str
        A path of the file system, or a URL.
    path : str
        Path of the node in the store, without slashes at its ends; empty for the root.
    options : dict or None
        The ``storage_options`` of a URL.
    """

    store: str
    path: str = ""
    options: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.store}::{self.path}" if self.path else self.store

    @property
    def root(self) -> Place:
        """The root of the store."""
        return Place(self.store, "", self.options)

    @contextmanager
    def opened(self, mode: AccessModeLiteral = "r") -> Iterator[Array[Any] | Group]:
        """Open the node, and close its store at the end: a zip file is complete only then."""
        store = self._readable() if mode == "r" else self.store
        node = zarr.open(store, mode=mode, path=self.path or None, storage_options=self.options)
        try:
            yield node
        finally:
            node.store.close()

    @contextmanager
    def located(self, mode: AccessModeLiteral = "r") -> Iterator[StorePath]:
        """Open the store alone: its nodes may be damaged or missing."""
        store = self._readable() if mode == "r" else self.store
        place = resolve_store_path(store, path=self.path, mode=mode, storage_options=self.options)
        try:
            yield place
        finally:
            place.store.close()

    def _readable(self) -> Any:
        """Return what is opened to read: files of HDF5 and TIFF are read in place."""
        return open_in_place(self.store) or self.store


def parse_place(store: str, path: str | None = None, options: Sequence[str] | None = None) -> Place:
    """Split a place; the path follows ``::``, or is an argument of its own.

    The text after the last ``::`` is no path if it has ``://``: such chains are URLs of fsspec.

    Examples
    --------
    >>> parse_place("data.zarr::/a/x")
    Place(store='data.zarr', path='a/x', options=None)
    >>> parse_place("simplecache::s3://bucket/data.zarr", "a").path
    'a'
    """
    head, colons, tail = store.rpartition("::")
    if not colons or "://" in tail:
        head, tail = store, ""
    elif path is not None:
        raise typer.BadParameter(f"the path of the node is given twice: {tail!r} after :: and {path!r}")
    if not head:
        raise typer.BadParameter(f"{store!r} names no store: write STORE::PATH")
    return Place(head, (tail or path or "").strip("/"), parse_pairs(options, "--option") or None)


def parse_value(text: str) -> Any:
    """Return a JSON value, or the text itself if it is none.

    Examples
    --------
    >>> parse_value("[1, 2]"), parse_value("metre")
    ([1, 2], 'metre')
    """
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_pairs(texts: Sequence[str] | None, where: str) -> dict[str, Any]:
    """Return the values of arguments such as ``key=value``.

    Examples
    --------
    >>> parse_pairs(["units=K", "valid=[0, 400]"], "--attr")
    {'units': 'K', 'valid': [0, 400]}
    """
    pairs: dict[str, Any] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"{text!r} is not of the form KEY=VALUE", param_hint=where)
        pairs[key] = parse_value(value)
    return pairs


def parse_lengths(text: str, where: str) -> tuple[int, ...]:
    """Return a shape.

    Examples
    --------
    >>> parse_lengths("100,10", "--shape")
    (100, 10)
    """
    parts = [part.strip() for part in text.strip("() ").split(",")]
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    if parts == [""]:
        return ()
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"{text!r} is no list of lengths: write them as in 100,10", param_hint=where)
    return tuple(map(int, parts))


def parse_chunks(text: str, where: str) -> tuple[int, ...] | dict[str, int]:
    """Return chunk lengths, by axis or by the names of dimensions; -1 is a whole axis.

    Examples
    --------
    >>> parse_chunks("100,-1", "--chunks"), parse_chunks("time=100,lat=-1", "--chunks")
    ((100, -1), {'time': 100, 'lat': -1})
    """
    parts = [part.strip() for part in text.strip("() ").split(",") if part.strip()]
    names, lengths = zip(*(part.rpartition("=")[::2] for part in parts), strict=True) if parts else ((), ())
    if not parts or not all(map(_WHOLE.fullmatch, lengths)) or (any(names) and not all(names)):
        raise typer.BadParameter(
            f"{text!r} is no list of lengths: write them as in 100,-1 or time=100,lat=-1", param_hint=where
        )
    numbers = tuple(map(int, lengths))
    return dict(zip(names, numbers, strict=True)) if any(names) else numbers


def parse_selection(text: str) -> tuple[Any, ...]:
    """Return a selection in the notation of NumPy.

    Parameters
    ----------
    text : str
        For each dimension an integer, a slice or a list of integers; ``...`` for all others.

    Examples
    --------
    >>> parse_selection("0:10,5,[1,3]")
    (slice(0, 10, None), 5, [1, 3])
    """
    # A comma within brackets belongs to a list.
    parts = [part.strip() for part in re.split(r",(?![^\[]*\])", text)]
    return tuple(_parse_index(part, text) for part in parts)


def _parse_index(part: str, text: str) -> Any:
    if part == "...":
        return ...
    if part.startswith("[") and part.endswith("]"):
        items = [item.strip() for item in part[1:-1].split(",")]
        if all(_WHOLE.fullmatch(item) for item in items):
            return list(map(int, items))
    elif ":" in part:
        bounds = [bound.strip() for bound in part.split(":")]
        if len(bounds) <= 3 and all(not bound or _WHOLE.fullmatch(bound) for bound in bounds):
            return slice(*(int(bound) if bound else None for bound in bounds))
    elif _WHOLE.fullmatch(part):
        return int(part)
    raise typer.BadParameter(
        f"{part!r} of {text!r} is no integer, slice or list of integers: write a selection as in 0:10,5,[1,3]",
        param_hint="--select",
    )


def parse_memory(text: str) -> int:
    """Return the bytes of ``--memory``.

    Examples
    --------
    >>> parse_memory("512 MiB")
    536870912
    """
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--memory") from None


@contextmanager
def pool_of(workers: int) -> Iterator[Executor | None]:
    """Yield the pool of processes for ``--workers``; None for no workers."""
    if not workers:
        yield None
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool
