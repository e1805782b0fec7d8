"""Locks on a node and all nodes below it: who removes, replaces or moves a node keeps the documents below as they are.

A tree is a name in the table of locks that ends with a slash, so that it sorts before the names of all documents below
its node, with nothing else in between: it takes its place in the one order of all locks. Who wants a document first
takes its key and then looks for trees above it; where there is one, he lets go and waits. Who wants a tree first notes
it down and then waits for those who hold a key below: one of the two sees the other. Who holds a key below when the
tree is noted goes on to his end and may take further ones. Where nobody has a tree, a document costs one look at an
empty dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from zarr.runners.locks.table import LOCKS

if TYPE_CHECKING:
    from zarr.runners.locks.operation import Holder


def stem_of(prefix: str, path: str) -> str:
    """What the names of the documents of a node, and of all nodes below, begin with.

    Examples
    --------
    >>> stem_of("memory", "a/b"), stem_of("memory", "")
    ('node:memory/a/b/', 'node:memory/')
    """
    return f"node:{prefix}/{path}/" if path else f"node:{prefix}/"


def outermost(prefix: str, paths: Iterable[str]) -> list[str]:
    """The trees of some nodes, in order, without those that lie in another one of them.

    Examples
    --------
    >>> outermost("memory", ["b", "a/b", "a"])
    ['node:memory/a/', 'node:memory/b/']
    """
    found: list[str] = []
    for stem in sorted({stem_of(prefix, path) for path in paths}):
        if not stem.startswith(tuple(found)):
            found.append(stem)
    return found


def _above(names: Sequence[str], holder: Holder) -> str | None:
    """A tree of somebody else that covers one of some names that were just taken; not where nothing is to wait for."""
    for stem in tuple(LOCKS.trees):
        if any(name.startswith(stem) for name in names) and not holder.is_inside(stem, names):
            return stem
    return None


def _below(stem: str, holder: Holder) -> str | None:
    """A key in a tree that somebody else holds."""
    own = holder.all_names()
    return next((name for name in LOCKS.held() if name.startswith(stem) and name not in own), None)


def heed(holder: Holder, names: Sequence[str]) -> None:
    """Wait until nobody has a tree above some keys that were just taken, and take them again."""
    while (stem := _above(names, holder)) is not None:
        for name in reversed(names):
            holder.drop(name)
        holder.take(stem)
        holder.drop(stem)
        for name in names:
            holder.take(name)


def fell(holder: Holder, stems: Sequence[str], names: Sequence[str]) -> None:
    """Take trees, waiting until nobody else holds a key in them, and keys beside them; all in one order."""
    for taken in sorted((*stems, *names)):
        holder.take(taken)
        heed(holder, (taken,))
        if taken in stems:
            with _Noted(holder, taken):
                while (name := _below(taken, holder)) is not None:
                    holder.take(name)
                    holder.drop(name)


async def heed_async(holder: Holder, names: Sequence[str]) -> None:
    """The same as :func:`heed`, letting the event loop run."""
    while (stem := _above(names, holder)) is not None:
        for name in reversed(names):
            holder.drop(name)
        await holder.take_async(stem)
        holder.drop(stem)
        for name in names:
            await holder.take_async(name)


async def fell_async(holder: Holder, stems: Sequence[str], names: Sequence[str]) -> None:
    """The same as :func:`fell`, letting the event loop run."""
    for taken in sorted((*stems, *names)):
        await holder.take_async(taken)
        await heed_async(holder, (taken,))
        if taken in stems:
            with _Noted(holder, taken):
                while (name := _below(taken, holder)) is not None:
                    await holder.take_async(name)
                    holder.drop(name)


class _Noted:
    """A tree is noted down; after an error it is forgotten and let go, for the operation may be put off now."""

    __slots__ = ("_holder", "_stem")

    def __init__(self, holder: Holder, stem: str) -> None:
        self._holder = holder
        self._stem = stem

    def __enter__(self) -> None:
        self._holder.note_tree(self._stem)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._holder.end_tree(self._stem)
            self._holder.drop(self._stem)


