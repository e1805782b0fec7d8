"""Progress notes of a long job that makes a node (a copy, a conversion), so that it can continue after a crash.

The notes lie in the store of the node, in a folder of their own, until the node is complete.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zarr.abc.store import Store
from zarr.buffer import default_buffer_prototype
from zarr.runners.sync import collect_aiterator, sync
from zarr.storage.keys import JOB_PREFIX
from zarr.storage.path import StorePath

_BEGUN = "begun"


class Notes:
    """The notes of the job that makes the node at a place: each place has those of one job.

    Parameters
    ----------
    target : StorePath
        The new node.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> notes = Notes(StorePath(MemoryStore(), "a"))
    >>> notes.begin({"tool": "copy"})
    >>> notes.add("0.1")
    >>> sorted(notes.read()), notes.begun()
    (['0.1', 'begun'], {'path': 'a', 'tool': 'copy'})
    >>> notes.clear()
    >>> notes.read(), notes.begun()
    (set(), None)
    """

    def __init__(self, target: StorePath) -> None:
        self.target = target
        name = hashlib.sha256(target.path.encode()).hexdigest()[:16]
        self.place = StorePath(target.store, f"{JOB_PREFIX}{name}")

    def read(self) -> set[str]:
        """Return all notes."""
        return set(collect_aiterator(self.place.store.list_dir(f"{self.place.path}/notes")))

    def add(self, note: str, text: str = "") -> None:
        """Add a note."""
        value = default_buffer_prototype().buffer.from_bytes(text.encode())
        sync((self.place / "notes" / note).set(value))

    def begin(self, what: Mapping[str, Any]) -> None:
        """Note that the job has begun, and what it does."""
        self.add(_BEGUN, json.dumps({"path": self.target.path, **what}))

    def begun(self) -> dict[str, Any] | None:
        """Return what the job does; None if it has not begun."""
        return _read(self.place)

    def clear(self) -> None:
        """Remove all notes, and the arrays in between."""
        sync(self.place.delete_dir())

    def clear_below(self) -> None:
        """Remove the notes of jobs whose nodes lie below this one, and go with it."""
        names = collect_aiterator(self.target.store.list_dir(""))
        for name in unfinished(self.target.store, names, self.target.path):
            place = StorePath(self.target.store, name)
            begun = _read(place)
            if begun is not None and begun["path"].startswith(f"{self.target.path}/".lstrip("/")):
                sync(place.delete_dir())


def unfinished(store: Store, names: Iterable[str], path: str = "") -> Iterator[str]:
    """Yield the folders of jobs that make a node at a path, below it or above it.

    Parameters
    ----------
    store : Store
    names : iterable of str
        The names in its root.
    path : str
    """
    for name in names:
        if name.startswith(JOB_PREFIX):
            made = (_read(StorePath(store, name)) or {"path": ""})["path"]
            if f"{made}/".startswith(f"{path}/".lstrip("/")) or f"{path}/".startswith(f"{made}/".lstrip("/")):
                yield name


def _read(place: StorePath) -> dict[str, Any] | None:
    raw = sync((place / "notes" / _BEGUN).get())
    try:
        found = None if raw is None else json.loads(raw.to_bytes())
    except ValueError:  # of a version that left it empty, or damaged
        return None
    return found if isinstance(found, dict) and isinstance(found.get("path"), str) else None
