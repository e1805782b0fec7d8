"""Repairs of the faults that :func:`zarr.tools.verify` finds, as far as nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from zarr.buffer.core import default_buffer_prototype
from zarr.errors import NodeNotFoundError, ReadOnlyError, ZarrUserWarning, label_of
from zarr.groups.members import consolidate_steps
from zarr.metadata.documents import dump_document
from zarr.notices import warn
from zarr.runners.choose import runner_for
from zarr.steps.documents import node_key
from zarr.steps.requests import Delete, Get, ListDir, Put, Steps, ask_steps
from zarr.storage.keys import REPAIR_FOLDER, ancestors
from zarr.storage.local.files import move_file
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.contents.canonical import one_line
from zarr.tools.contents.nodes import open_place
from zarr.tools.verification.report import Fault
from zarr.tools.verification.run import search
from zarr.tools.verification.survey import Survey

Action: TypeAlias = Literal["move", "write", "consolidate"]

_DAMAGED: Final = frozenset(("document-unreadable", "document-invalid", "document-nonconforming"))
_MOVED: Final = frozenset(("key-stray", "key-misplaced", "chunk-outside-grid", "left-over-value", "left-over-locks"))


@dataclass(frozen=True)
class Change:
    """One change of a repair, done or planned.

    Parameters
    ----------
    action : str
        ``"move"``: the value is set aside. ``"write"``: a document is stored. ``"consolidate"``: consolidated metadata
        is made anew.
    key : str
        The key in the store.
    target : str
        For a move: the new key of the value below ``.zarr-repair``.
    reason : str
        The fault that it mends.

    Examples
    --------
    >>> import zarr
    >>> zarr.tools.repair(zarr.array([1, 2]), dry_run=True)
    []
    """

    action: Action
    key: str
    target: str
    reason: str

    def __str__(self) -> str:
        return one_line(f"{self.action} {self.key}{f' to {self.target}' if self.target else ''}: {self.reason}")


def repair(store_or_path: Any, *, path: str = "", dry_run: bool = True) -> list[Change]:
    """Mend the faults of a hierarchy that can be mended without a loss; by default only list the changes.

    Nothing is deleted. Values that are replaced, or are in the way, move to ``.zarr-repair/<number>/`` in the root of
    the hierarchy, under their old keys; delete that folder when you are content with the repair. Do not write to the
    hierarchy while it runs.

    Parameters
    ----------
    store_or_path : StoreLike, Array or Group
        A path, a URL, a store, a mapping, or a node.
    path : str, default ""
        The root of the hierarchy, below the store.
    dry_run : bool, default True
        If True, the default, nothing is changed.

    Returns
    -------
    list of Change
        The changes that were done, or would be done, in order.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file.
    NodeNotFoundError
        If there is no node at the path or below it.
    ReadOnlyError
        If changes are to be made, and the store is read-only or cannot delete keys.
    ValueError
        If the store cannot list its keys.

    Notes
    -----
    These faults are mended: a missing or damaged document of which consolidated metadata has a copy; a missing group
    between two nodes (it is created, without attributes); consolidated metadata that is stale or cannot be read (made
    anew, if the documents are correct); stray keys of arrays, misplaced ones of chunks that have their own key, too,
    chunks outside of the grid, values that were not written to their end, and lock files without a lock (set aside).
    Files in groups stay: they may belong to another program. A misplaced chunk without another stays: the document may
    have lost its separator. Damaged chunks and shards stay as they are: their contents are unknown.

    Examples
    --------
    >>> from zarr.tools import repair
    >>> import zarr
    >>> store = zarr.storage.MemoryStore()
    >>> array = zarr.create_array(store, data=[1, 2])
    >>> zarr.core.sync.sync(store.set("c/9", zarr.core.buffer.cpu.Buffer.from_bytes(b"?")))
    >>> for change in repair(store):
    ...     print(change.action, change.key, change.target)
    move c/9 .zarr-repair/1/c/9
    >>> len(repair(store, dry_run=False)), repair(store)
    (1, [])
    """
    report, survey = search(open_place(store_or_path, path), None, values=False)
    if not survey.listed:
        raise ValueError(f"{survey.label} cannot be mended: the store cannot list its keys")
    if missing := [fault for fault in report.faults if fault.kind == "no-node"]:
        raise NodeNotFoundError(f"{survey.label} has nothing to mend at /{path}: {missing[0].text}")
    repairer = _Repairer(survey)
    changes = list(repairer.plan([fault for fault in report.faults if fault.mendable]))
    if changes and not dry_run:
        repairer.carry_out(changes, _writable(store_or_path, path))
    return changes


def _writable(store_or_path: Any, path: str) -> StorePath:
    place: StorePath = resolve_store_path(getattr(store_or_path, "store_path", store_or_path), path=path)
    if place.store.read_only or not place.store.supports_deletes:
        why = "is read-only" if place.store.read_only else "cannot delete keys"
        raise ReadOnlyError(f"{label_of(place.store)!r} {why}, so the object in the way cannot be set aside")
    return place


class _Repairer:
    """One repair: its changes, and the places of the values that they replace."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self._root = f"{survey.path}/" if survey.path else ""
        self._aside = f"{self._root}{REPAIR_FOLDER}/{self._number()}/"
        self._documents: dict[str, bytes] = {}

    def _number(self) -> int:
        """Return a number that no earlier repair has."""
        names = self.survey.runner.run(ask_steps(ListDir(f"{self._root}{REPAIR_FOLDER}")))
        return max((int(name) for name in names if name.isascii() and name.isdigit()), default=0) + 1

    def plan(self, faults: list[Fault]) -> Iterator[Change]:
        """Yield the changes that mend faults: documents first, since consolidated metadata is made from them."""
        for fault in faults:
            if fault.kind == "parent-missing":
                yield self._write(fault.key, _GROUPS[fault.key.rpartition("/")[2]], fault)
        for path in dict.fromkeys(fault.path for fault in faults if fault.kind.startswith("document-")):
            yield from self._from_copy(path, [fault for fault in faults if fault.path == path])
        for fault in faults:
            if fault.kind in _MOVED:
                yield self._move(fault.key, fault)
        yield from self._copies(faults)

    def _from_copy(self, path: str, faults: list[Fault]) -> Iterator[Change]:
        """Yield the changes that restore missing and damaged documents of a node; damaged ones are set aside.

        Sound ones stay: they may be newer than the copy.
        """
        copied = self.survey.healthy_copies[path]
        there = self.survey.documents.get(path, frozenset()) - {".zmetadata"}
        wrong = {fault.key for fault in faults if fault.kind in _DAMAGED}
        replaced = {"zarr.json"} if "zarr.json" in copied else {".zarray", ".zgroup", ".zattrs"}
        damaged = {name for name in there & replaced if node_key(path, name) in wrong}
        for name in sorted(damaged):
            yield self._move(node_key(path, name), faults[0])
        for name, document in sorted(copied.items(), key=lambda item: item[0] != ".zattrs"):
            if name in damaged or name not in there:
                yield self._write(node_key(path, name), document, faults[0])

    def _copies(self, faults: list[Fault]) -> Iterator[Change]:
        """Yield the changes that make consolidated metadata anew; a document ``.zmetadata`` is set aside first."""
        stale = {fault.key: fault for fault in faults if fault.kind in ("copy-stale", "copy-unreadable")}
        for fault in faults:
            if fault.kind == "parent-missing":  # all nodes below it are copied, too
                above = set(ancestors(fault.path))
                keys = [key for key, path in self.survey.copies.items() if path in above]
                stale = {**dict.fromkeys(keys, fault), **stale}
        for key, fault in stale.items():
            if key.endswith(".zmetadata"):
                yield self._move(key, fault)
            yield Change("consolidate", key, "", fault.text)

    def _write(self, key: str, document: dict[str, Any], fault: Fault) -> Change:
        self._documents[key] = dump_document(document)
        return Change("write", key, "", fault.text)

    def _move(self, key: str, fault: Fault) -> Change:
        return Change("move", key, self._aside + key[len(self._root) :], fault.text)

    # ------------------------------------------------------------------------------------ the changes

    def carry_out(self, changes: list[Change], place: StorePath) -> None:
        """Make changes, one after the other; if one of them fails, the earlier ones stay."""
        runner = runner_for(place.store)
        for change in changes:
            if change.action == "move":
                self._carry_out_move(change, place)
            elif change.action == "write":
                document = default_buffer_prototype().buffer.from_bytes(self._documents[change.key])
                runner.run(ask_steps(Put(change.key, document)))
            else:
                self._consolidate(change, place)

    def _carry_out_move(self, change: Change, place: StorePath) -> None:
        store = place.store
        if isinstance(store, LocalStore):  # keys that the store does not list are moved, too, without reading them
            root = os.fspath(store.root)
            try:
                move_file(os.path.join(root, change.key), os.path.join(root, change.target))
            except FileNotFoundError:
                _warn_of_gone(change.key)
        else:
            runner_for(store).run(_move_steps(change.key, change.target))

    def _consolidate(self, change: Change, place: StorePath) -> None:
        path, _, name = change.key.rpartition("/")
        runner = runner_for(place.store)
        if name == "zarr.json":  # the replaced part belongs to a document that stays in its place
            runner.run(_copy_steps(change.key, self._aside + change.key[len(self._root) :]))
        runner.run(consolidate_steps(StorePath(place.store, path), 3 if name == "zarr.json" else 2))


_GROUPS: Final[dict[str, dict[str, Any]]] = {
    "zarr.json": {"zarr_format": 3, "node_type": "group", "attributes": {}},
    ".zgroup": {"zarr_format": 2},
}
"""The documents of groups without attributes."""


def _copy_steps(key: str, target: str) -> Steps[bool]:
    """Copy a value; return True if there is one."""
    raw = yield Get(key)
    if raw is not None:
        yield Put(target, raw)
    return raw is not None


def _move_steps(key: str, target: str) -> Steps[None]:
    """Move a value: for a moment it exists twice, and it is never missing."""
    if (yield from _copy_steps(key, target)):
        yield Delete(key)
    else:
        _warn_of_gone(key)


def _warn_of_gone(key: str) -> None:
    warn(f"{key!r} was to be set aside, but is gone: another program changes the store", ZarrUserWarning)
