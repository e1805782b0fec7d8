"""Keep consolidated metadata up to date: code that writes or removes documents of a node records the change here.

A group may have consolidated metadata: copies of the documents of all nodes below it. After every change of a node, the
consolidated metadata of the groups above it is updated; a group without any costs one small read. A counter informs
open groups, so that they read it again only if it has changed.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from zarr._lazy import LazyModule
from zarr._process import at_fork
from zarr.abc.store import Store
from zarr.abc.stores.abilities import AT_HAND, bulk_kind, gives_fresh_stamps
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import MetadataValidationError, ZarrUserWarning, label_of
from zarr.metadata.copies import ASIDE, INLINE, CopyText, find_copy, kept_copy
from zarr.metadata.documents import load_document
from zarr.notices import warn
from zarr.steps.documents import hold_node, node_key
from zarr.steps.requests import (
    ChangedMeanwhileError,
    FreshStamp,
    Gather,
    Get,
    GetMany,
    GetVersions,
    Put,
    Steps,
    ask_steps,
)
from zarr.storage.keys import ancestors

if TYPE_CHECKING:
    from zarr.abc.stores import protocols
else:
    protocols = LazyModule("zarr.abc.stores.protocols")

T = TypeVar("T")

Documents = Mapping[str, Buffer]
"""The documents of one node by name, as ``metadata.to_buffer_dict`` returns them; empty for a removed node."""

Carrier: TypeAlias = tuple[str, str]
"""A document that may have consolidated metadata: the path of its group, and its name."""


class Above(NamedTuple):
    """Keep the documents above a node that may have consolidated metadata, as read while the node was stored."""

    found: dict[Carrier, Buffer | None]
    versions: dict[Carrier, Any]
    """Their versions; none for those without."""
    touched: int
    """``Noted.touched`` before the reading."""

    def is_fresh(self) -> bool:
        """Return True if no consolidated metadata has changed in this process since then."""
        return self.touched == Noted.touched

    def fresh(self, carrier: Carrier) -> Buffer | None:
        """Return one document if nothing has changed since then."""
        return self.found.get(carrier) if self.is_fresh() else None


class StoredDocuments(dict[str, Buffer]):
    """The documents of one node by name, and what was read above the node while they were stored."""

    above: Above | None = None


Members: TypeAlias = dict[str, dict[str, Any] | None]
"""The new entries of consolidated metadata by name; None for one to remove."""

_PARTS = {INLINE: (INLINE,), ASIDE: (".zarray", ".zgroup", ".zattrs")}
_EMPTY: dict[str, Any] = {"kind": "inline", "must_understand": False, "metadata": {}}

_versions: dict[str, int] = {}
carrying: dict[int, frozenset[Carrier]] = {}
"""By the id of a store, documents in which a copy was changed through it: they are locked and read at once, the others
are read first. Another store with the same id later costs a lock, and no more."""
_changes = itertools.count(1)
_MOST_VERSIONS = 10_000
_GROUP_END: Final = re.compile(rb',\s*"node_type"\s*:\s*"group"\s*\}\s*\Z')
"""The end of the document of a group by most writers: in JSON, these quotes are not inside of a string."""
_END_BYTES: Final = 64
_MOST_STORES = 100
_NONE: frozenset[Carrier] = frozenset()
_touching = threading.RLock()  # reentrant: a finalizer may change a node at any allocation


def _renew() -> None:
    global _touching
    _touching = threading.RLock()


at_fork(renew=_renew)


class Noted:
    """What was noted last in this process."""

    changes = 0
    numbers = itertools.count(1)
    touched = 0
    """The newest version of any consolidated metadata."""


def version(store: Store, path: str) -> int:
    """Return a number that differs after each update of the consolidated metadata of this group in this process.

    Parameters
    ----------
    store : Store
    path : str
        The path of the group with consolidated metadata.

    Returns
    -------
    int

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> version(MemoryStore(), "")
    0
    """
    return _versions.get(f"{label_of(store, str)}/{path}", _versions.get("", 0))


def version_before(store: Store, path: str, touched: int) -> int | None:
    """Return the version of the consolidated metadata of this group; None if it is newer than ``Noted.touched`` was.

    Parameters
    ----------
    store : Store
    path : str
    touched : int
        ``Noted.touched`` before the group was read.
    """
    found = version(store, path)
    return found if found <= touched else None


def changes_noted() -> int:
    """Return a number that each change of a node in this process replaces, before the update above it."""
    return Noted.changes


def note_change() -> None:
    """Record a change of nodes; call this before the consolidated metadata above them is searched."""
    Noted.changes = next(Noted.numbers)  # of two threads, each sets another number


def touch(store: Store, path: str) -> tuple[int, int]:
    """Record for all open groups that this consolidated metadata has changed; return the old and the new version."""
    with _touching:
        before = version(store, path)
        if len(_versions) >= _MOST_VERSIONS:
            _versions[""] = next(_changes)  # for all forgotten ones: a holder of another version reads again
            for name in list(_versions):
                if name:
                    _versions.pop(name, None)
        after = Noted.touched = _versions[f"{label_of(store, str)}/{path}"] = next(_changes)
        return before, after


def store_and_look_steps(
    store: Store, path: str, documents: StoredDocuments, put: Steps[T], replaced: Collection[str] = ()
) -> Steps[T]:
    """Store the documents of a node, and read at the same time what may have consolidated metadata above it.

    A service answers both in the time of one request. Other stores are read by :func:`record_changes_steps`, later.

    Parameters
    ----------
    store : Store
    path : str
        The path of the node.
    documents : StoredDocuments
        Its documents; they keep what was read for :func:`record_changes_steps`.
    put : steps
        Stores them.
    replaced : collection of str
        As in :func:`record_changes_steps`.
    """
    if bulk_kind(store) != "buffers" or getattr(store, "noted_nodes", None) is not None:
        return (yield from put)
    keys = _sorted_carriers({path: documents}, replaced)
    if not keys:
        return (yield from put)
    note_change()
    touched = Noted.touched
    result, read = yield Gather((put, ask_steps(GetVersions([node_key(*key) for key in keys]))))
    found = {key: raw for key, (raw, _) in zip(keys, read, strict=True)}
    versions = {key: version for key, (_, version) in zip(keys, read, strict=True) if version is not None}
    documents.above = Above(found, versions, touched)
    stored: T = result
    return stored


def record_changes_steps(
    store: Store,
    changes: Mapping[str, Collection[str]],
    *,
    replaced: Collection[str] = (),
    locking: str = "thread",
    note: bool = True,
) -> Steps[dict[str, tuple[int, int]]]:
    """Update all consolidated metadata that lists one of these nodes.

    Parameters
    ----------
    store : Store
        Only named, for the open groups; the runner makes the requests.
    changes : mapping of path to documents
        The present documents of each node, or their names; a node without documents is removed, with all below it.
    replaced : collection of str
        The paths of those nodes that may have been removed before, with all below them. The default is none.
    locking : str
        The lock scope of the update; see :class:`zarr.chunks.spec.ArrayConfig`.
    note : bool
        If True, the default, a transaction only notes the changes; see :func:`settle`.

    Returns
    -------
    dict
        For the path of each group whose consolidated metadata was changed: the old and the new version.
    """
    noted: NotedNodes | None = getattr(store, "noted_nodes", None) if note else None
    if noted is not None:
        noted.add(changes, replaced)
        return {}
    keys = _sorted_carriers(changes, replaced)
    if not keys:
        return {}
    note_change()
    known = carrying.get(id(store), _NONE)
    stale = sorted(known.intersection(keys))
    unknown = sorted(set(keys).difference(stale)) if stale else keys
    above: Above | None = None
    for documents in changes.values():
        if type(documents) is StoredDocuments:
            above, documents.above = documents.above, None
    if above is not None and above.is_fresh():
        found = [above.found[key] for key in unknown]
    else:
        names = [f"{path}/{name}" if path else name for path, name in unknown]
        found = [(yield Get(names[0]))] if len(names) == 1 else (yield GetMany(names)) if names else []
    for key, raw in zip(unknown, found, strict=True):
        if raw is not None and (key[1] == ASIDE or b'"consolidated_metadata"' in raw.to_bytes()):
            stale.append(key)
    if not stale:
        return {}
    while True:
        try:
            edited = yield Gather(
                _rewrite_steps(store, path, name, changes, replaced, locking, above) for path, name in stale
            )
            break
        except ChangedMeanwhileError:
            above = None
    versions = {key: pair for key, pair in zip(stale, edited, strict=True) if pair is not None}
    changed = frozenset(versions)
    if len(carrying) > _MOST_STORES:
        carrying.clear()
    carrying[id(store)] = known.difference(stale) | changed if len(known) < _MOST_VERSIONS else changed
    return {path: pair for (path, _), pair in versions.items()}


def large_groups_steps(store: Store, paths: Sequence[str]) -> Steps[list[str]]:
    """Return those of these groups whose copy was changed through this store and whose documents end as of groups.

    So a creation below them reads the end of a document alone. A service is not asked: it would be one more request.
    """
    known, found = carrying.get(id(store), _NONE), []
    for path in paths if bulk_kind(store) in AT_HAND else ():
        if (path, INLINE) in known:
            end = yield Get(node_key(path, INLINE), protocols.SuffixByteRequest(_END_BYTES))
            if end is not None and _GROUP_END.search(end.to_bytes()):
                found.append(path)
    return found


class NotedNodes:
    """Changes of nodes that a transaction has noted, so that they are one edit of the consolidated metadata.

    Parameters
    ----------
    run : callable
        Runs steps over the transaction.

    Examples
    --------
    >>> noted = NotedNodes(list)
    >>> noted.add({"a": {"zarr.json"}})
    >>> noted.taken()
    {'a': (frozenset({'zarr.json'}), False)}
    """

    def __init__(self, run: Callable[[Steps[Any]], Any]) -> None:
        self._run = run
        self._nodes: dict[str, tuple[frozenset[str], bool]] = {}
        # Both reentrant: a finalizer may change a node at any allocation. Who only notes waits for no settling, which
        # acquires nodes.
        self._lock, self._settling = threading.RLock(), threading.RLock()

    def add(self, changes: Mapping[str, Collection[str]], replaced: Collection[str] = ()) -> None:
        """Note changes, as those of :func:`record_changes_steps`; what was noted of these nodes before stays."""
        with self._lock:
            for path, names in changes.items():
                known, again = self._nodes.get(path, (frozenset(), False))
                again = again or not names or path in replaced
                self._nodes[path] = known.union(names), again

    def taken(self) -> dict[str, tuple[frozenset[str], bool]]:
        """Take the changes away: for each path the names of documents, and True if the node may have been removed."""
        with self._lock:
            nodes, self._nodes = self._nodes, {}
        return nodes

    def settle(self, store: Store) -> None:
        """Carry out the changes; if that fails, they stay noted. Return when those taken by another thread are too."""
        with self._settling:
            taken = self.taken()
            if not taken:
                return
            changes = {path: names for path, (names, _) in taken.items()}
            replaced = {path for path, (_, again) in taken.items() if again}
            try:
                self._run(record_changes_steps(store, changes, replaced=replaced, note=False))
            except BaseException:
                self.add(changes, replaced)
                raise


def settle(store: Store) -> None:
    """Carry out the changes that a transaction has noted: before a copy is read, and before it is stored.

    This is no request: all that a transaction has is at hand for the thread that runs the steps.
    """
    noted = getattr(store, "noted_nodes", None)
    if noted is not None:
        noted.settle(store)


def _sorted_carriers(changes: Mapping[str, Collection[str]], replaced: Collection[str]) -> Sequence[Carrier]:
    """Return the documents that may have consolidated metadata with one of these nodes, in order."""
    if len(changes) == 1 and not replaced:
        ((path, names),) = changes.items()
        if len(names) == 1 and INLINE in names:  # the usual case: a node of format 3 was stored
            return _inline_above(path)
    return sorted(_carriers(changes, replaced))


@lru_cache(256)
def _inline_above(path: str) -> tuple[Carrier, ...]:
    return tuple(sorted(zip(ancestors(path), repeat(INLINE))))


def _carriers(changes: Mapping[str, Collection[str]], replaced: Collection[str]) -> set[Carrier]:
    """Return the documents that may have consolidated metadata with one of these nodes."""
    found: set[Carrier] = set()
    for path, names in changes.items():
        above, again = ancestors(path), not names or path in replaced
        if again or INLINE in names:
            found.update(zip(above, repeat(INLINE)))
        if again or len(names) > 1 or INLINE not in names:
            found.update(zip(above, repeat(ASIDE)))
        if ".zgroup" in names:
            found.add((path, ASIDE))
    return found


def _rewrite_steps(
    store: Store,
    path: str,
    name: str,
    changes: Mapping[str, Collection[str]],
    replaced: Collection[str],
    locking: str,
    above: Above | None,
) -> Steps[tuple[int, int] | None]:
    """Change one copy; return its old and new version, or None if there is none, or none that can be read."""
    key, has_stamps = node_key(path, name), gives_fresh_stamps(store)
    place = f"{label_of(store, str)}/{key}"
    raw = yield from _hold_copy_steps(path, name, locking, above)
    finding = _find_copy_steps(place, name, key, has_stamps)
    reading = _stored_steps([changed for changed in changes if not path or f"{changed}/".startswith(f"{path}/")], name)
    stored: Mapping[str, Documents]
    try:
        if raw is not None:
            copy, stored = _copy_of(raw, place, name, key), changes  # type: ignore[assignment]
        elif bulk_kind(store) == "buffers":  # a service answers both in the time of one request
            copy, stored = yield Gather((finding, reading))
        else:
            copy = yield from finding
            stored = {} if copy is None else (yield from reading)
    except MetadataValidationError as error:  # the node itself is stored: a copy of it must not undo that
        again = f"consolidate_metadata of the group /{path} writes it anew"
        warn(f"consolidated metadata was not updated. {error} {again}", ZarrUserWarning)
        return None
    if copy is None:
        return None
    remade = [changed for changed in stored if stored[changed] and (changed in replaced or not changes[changed])]
    members = yield from _remade_below_steps(copy, path, name, remade)
    for changed, documents in stored.items():
        relative = changed[len(path) :].strip("/")
        if not documents and relative:
            members.update(dict.fromkeys((relative, *copy.below(relative))))
    for changed, documents in stored.items():
        relative = changed[len(path) :].strip("/")
        if documents:
            members.update(_members(name, relative, documents))
        yield from _add_between_steps(copy, members, path, name, relative)
    edited = copy.edited(members)
    yield Put(key, default_buffer_prototype().buffer.from_bytes(edited.raw))
    if has_stamps:
        stamp = yield FreshStamp(key)
        # A program that takes no lock may have come in between: text of another size is not taken for ours.
        edited.stamp = stamp if stamp is not None and stamp[0] == len(edited.raw) else None
    return touch(store, path)  # while the group is held: who holds it next sees that the copy has changed


def _hold_copy_steps(path: str, name: str, locking: str, above: Above | None) -> Steps[Buffer | None]:
    """Hold a group; return its copy as it was read before, if no other writer can have changed it unnoticed since."""
    key = node_key(path, name)
    version = None if above is None else above.versions.get((path, name))
    matched = yield hold_node(path, locking, compared=(key,), versions=None if version is None else {key: version})
    if above is None or locking.startswith("process") or (matched and version is None):
        return None
    return above.fresh((path, name))


def _find_copy_steps(place: str, name: str, key: str, has_stamps: bool) -> Steps[CopyText | None]:
    """Return the stored text of a copy: the text that is kept of it, if that is still stored."""
    known = kept_copy(place)
    if known is not None and has_stamps and known.stamp is not None and (yield FreshStamp(key)) == known.stamp:
        return known
    raw = yield Get(key)
    return None if raw is None else _copy_of(raw, place, name, key)


def _copy_of(raw: Buffer, place: str, name: str, key: str) -> CopyText | None:
    copy = find_copy(raw.to_bytes(), name, key)
    if copy is not None:
        copy.place = place
    return copy


def _stored_steps(paths: Sequence[str], name: str) -> Steps[dict[str, Documents]]:
    """Return the stored documents of nodes while consolidated metadata is locked; none for a removed node.

    If several operations create, change or remove a node, the first of them may be the last to update.
    """
    parts = _PARTS[name]
    if not paths:
        return {}
    found = yield GetMany([node_key(path, part) for path in paths for part in parts])
    stored: dict[str, Documents] = {}
    for number, path in enumerate(paths):
        values = found[number * len(parts) : (number + 1) * len(parts)]
        documents = {part: raw for part, raw in zip(parts, values, strict=True) if raw is not None}
        stored[path] = documents if documents.keys() & {INLINE, ".zarray", ".zgroup"} else {}
    return stored


def _remade_below_steps(copy: CopyText, path: str, name: str, remade: Sequence[str]) -> Steps[Members]:
    """Return the present entries below nodes that were removed and created again, perhaps with members."""
    tops = {changed[len(path) :].strip("/") for changed in remade}
    listed = {entry for top in tops for entry in (copy.below(top) if top else copy)}
    below = sorted({entry.rpartition("/")[0] if name == ASIDE else entry for entry in listed} - {""})
    stored = yield from _stored_steps([node_key(path, entry) for entry in below], name)
    members: Members = {}
    for node, documents in stored.items():
        relative = node[len(path) :].strip("/")
        members.update(_members(name, relative, documents) or {relative: None})
    return members


def _add_between_steps(copy: CopyText, members: Members, path: str, name: str, relative: str) -> Steps[None]:
    """List also the groups between the group and a node: they may have been created together with the node."""
    parts = (".zgroup", ".zattrs") if name == ASIDE else (INLINE,)
    for between in ancestors(relative):
        entry = f"{between}/.zgroup" if name == ASIDE else between
        if between and not members.get(entry) and (entry in members or entry not in copy):
            found: dict[str, Buffer] = {}
            for part in parts:
                raw = yield Get(node_key(node_key(path, between), part))
                if raw is not None:
                    found[part] = raw
            if parts[0] in found:
                members.update(_members(name, between, found))


def _members(name: str, relative: str, documents: Documents) -> Members:
    """Return the entries of a node with these documents; None for those to remove."""
    if name == ASIDE:
        prefix = f"{relative}/" if relative else ""
        parts: Members = {prefix + part: None for part in (".zarray", ".zgroup", ".zattrs")}
        for part in documents.keys() - {ASIDE}:
            parts[prefix + part] = load_document(documents[part].to_bytes(), prefix + part)
        return parts
    if not relative or INLINE not in documents:
        return {}
    document = load_document(documents[INLINE].to_bytes(), node_key(relative, INLINE))
    if document.get("node_type") == "group":
        document["consolidated_metadata"] = _EMPTY
    return {relative: document}
