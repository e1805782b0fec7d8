"""Keeping consolidated metadata true: whoever writes or removes a node's documents records it here.

A group may carry a copy of the documents of all nodes below it. After every change of a node, the copies in the
groups above it are brought up to date; groups without a copy cost one small read each. Open groups learn of it by a
counter, so that a copy in memory is read again only when it has changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.defaults import settings
from zarr.errors import label_of
from zarr.metadata.consolidated import WrittenCopy, kept_copy, tree_order, write_copy
from zarr.metadata.documents import dump_document, load_document
from zarr.steps.documents import ancestors, hold_node, node_key
from zarr.steps.requests import Gather, Get, GetMany, Put, Steps

if TYPE_CHECKING:
    from zarr.abc.store import Store

Documents = Mapping[str, Buffer]
"""The documents of one node by name, as ``metadata.to_buffer_dict`` gives them; empty for a node that is gone."""

INLINE = "zarr.json"
ASIDE = ".zmetadata"
_PARTS = {INLINE: (INLINE,), ASIDE: (".zarray", ".zgroup", ".zattrs")}
_EMPTY: dict[str, Any] = {"kind": "inline", "must_understand": False, "metadata": {}}

_versions: dict[str, int] = {}
_changes = itertools.count(1)
_MOST_VERSIONS = 10_000
_MOST_SPLICED = 8  # of more nodes at once, a copy is parsed and written as a whole


class _Noted:
    changes = 0


def version(store: Store, path: str) -> int:
    """Return a number that is another one whenever this process has brought the copy in this group up to date.

    Parameters
    ----------
    store : Store
    path : str
        Of the group that carries the copy.

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


def changes_noted() -> int:
    """Return a number that grows with each change of a node in this process, before copies above it are looked for."""
    return _Noted.changes


def note_change() -> None:
    """To be called by who is about to change nodes, or has, before looking for the copies above them."""
    _Noted.changes += 1


def touch(store: Store, path: str) -> None:
    """Tell all open groups that the copy in this group has changed."""
    if len(_versions) >= _MOST_VERSIONS:
        _versions[""] = next(_changes)  # that of all that is forgotten: whoever holds another one looks again
        for name in list(_versions):
            if name:
                _versions.pop(name, None)
    _versions[f"{label_of(store, str)}/{path}"] = next(_changes)


def record_changes_steps(
    store: Store, changes: Mapping[str, Documents], *, replaced: bool = False, locking: str = "thread"
) -> Steps[None]:
    """Bring every consolidated copy up to date that lists one of these nodes.

    Parameters
    ----------
    store : Store
        Only named, to tell open groups; nothing is asked of it but by the runner.
    changes : mapping of path to documents
        What is stored for each node now; a node without documents is gone, with all below it.
    replaced : bool
        Whether all that was below these nodes before is gone, too.
    locking : str
        Who else must not change a copy meanwhile; see :class:`zarr.chunks.spec.ArrayConfig`.
    """
    keys = sorted(_carriers(changes))
    if not keys:
        return
    _Noted.changes += 1
    names = [f"{path}/{name}" if path else name for path, name in keys]
    found = [(yield Get(names[0]))] if len(names) == 1 else (yield GetMany(names))
    stale = []
    for key, raw in zip(keys, found, strict=True):
        if raw is not None and (key[1] == ASIDE or b'"consolidated_metadata"' in raw.to_bytes()):
            stale.append(key)
    if not stale:
        return
    yield Gather(_rewrite_steps(path, name, changes, replaced, locking) for path, name in stale)
    for path, _ in stale:
        touch(store, path)


def _carriers(changes: Mapping[str, Documents]) -> set[tuple[str, str]]:
    """Return which documents may carry a copy of one of these nodes."""
    found: set[tuple[str, str]] = set()
    for path, documents in changes.items():
        above = ancestors(path)
        if INLINE in documents or not documents:
            found.update(zip(above, repeat(INLINE)))
        if INLINE not in documents:
            found.update(zip(above, repeat(ASIDE)))
        if ".zgroup" in documents:
            found.add((path, ASIDE))
    return found


def _rewrite_steps(path: str, name: str, changes: Mapping[str, Documents], replaced: bool, locking: str) -> Steps[None]:
    key = node_key(path, name)
    yield hold_node(path, locking)
    raw = yield Get(key)
    if raw is None:
        return
    kept = kept_copy(raw.to_bytes()) if name == INLINE and not replaced else None
    copy = None if kept is None else (yield from _spliced_steps(kept, path, changes))
    if copy is not None:
        yield Put(key, default_buffer_prototype().buffer.from_bytes(copy.raw))
        return
    document = load_document(raw.to_bytes(), key)
    entries = _entries(document, name)
    if entries is None:
        return
    stored = yield from _stored_steps([changed for changed in changes if _below(path, changed) is not None], name)
    remade = [changed for changed in stored if stored[changed] and (replaced or not changes[changed])]
    yield from _check_below_steps(entries, path, name, remade)
    for changed, documents in stored.items():
        relative = changed[len(path) :].strip("/")
        if relative or documents:
            _replace(entries, name, relative, documents)
        if documents:
            yield from _add_between_steps(entries, path, name, relative)
    ordered = {entry: entries[entry] for entry in sorted(entries, key=tree_order)}
    entries.clear()
    yield Put(key, default_buffer_prototype().buffer.from_bytes(_dump(document, entries, ordered, name)))


def _dump(document: dict[str, Any], table: dict[str, Any], entries: dict[str, Any], name: str) -> bytes:
    """Write a document whose copy is empty, with these entries in the table of the copy."""
    indent = settings.get("json_indent", 2)
    if name == INLINE and type(indent) is int and indent > 0:
        texts = {entry: dump_document(value, indent=indent) for entry, value in entries.items()}
        return write_copy(document, texts, indent).raw
    table.update(entries)
    return dump_document(document)


def _spliced_steps(kept: WrittenCopy, path: str, changes: Mapping[str, Documents]) -> Steps[WrittenCopy | None]:
    """Put nodes that were made or changed into a copy as it was written; None where more is to be done, or other."""
    below = {changed: member for changed in changes if (member := _below(path, changed)) is not None}
    if len(below) > _MOST_SPLICED or not all(changes[changed] and member for changed, member in below.items()):
        return None
    copy = kept if kept.step == settings.get("json_indent", 2) else None
    stored = yield from _stored_steps(list(below), INLINE)
    for changed, documents in stored.items():
        above = ancestors(below[changed])[:-1]
        if copy is None or INLINE not in documents or not all(map(copy.holds, above)):
            return None
        copy = copy.with_member(below[changed], dump_document(_member(documents, changed), indent=copy.step))
    return copy


def _stored_steps(paths: Sequence[str], name: str) -> Steps[dict[str, Documents]]:
    """Return the documents of nodes as they are stored now, while the copy is held; none of a node that is gone.

    Of several that make, change or remove a node, the first to do so may be the last to come to the copy.
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


def _check_below_steps(entries: dict[str, Any], path: str, name: str, remade: Sequence[str]) -> Steps[None]:
    """Of what the copy lists below nodes that were removed and are there again, keep what is there again, too."""
    listed = sorted({entry.rpartition("/")[0] if name == ASIDE else entry for entry in entries})
    below = [node_key(path, entry) for entry in listed if entry]
    below = [node for node in below if any(_below(top, node) for top in remade)]
    for node, documents in (yield from _stored_steps(below, name)).items():
        if not documents:
            _replace(entries, name, node[len(path) :].strip("/"), documents)


def _add_between_steps(entries: dict[str, Any], path: str, name: str, relative: str) -> Steps[None]:
    """List the groups between the carrying group and a node, too: they may have been made together with the node."""
    parts = (".zgroup", ".zattrs") if name == ASIDE else (INLINE,)
    for between in ancestors(relative):
        if between and (f"{between}/.zgroup" if name == ASIDE else between) not in entries:
            found: dict[str, Buffer] = {}
            for part in parts:
                raw = yield Get(node_key(node_key(path, between), part))
                if raw is not None:
                    found[part] = raw
            if parts[0] in found:
                _replace(entries, name, between, found)


def _entries(document: dict[str, Any], name: str) -> dict[str, Any] | None:
    holder = document if name == ASIDE else document.get("consolidated_metadata")
    entries = holder.get("metadata") if isinstance(holder, dict) else None
    return entries if isinstance(entries, dict) else None


def _below(path: str, changed: str) -> str | None:
    """Return the changed path relative to the carrying group; None where it does not lie below it."""
    if not path or changed == path:
        return changed[len(path) :]
    return changed[len(path) + 1 :] if changed.startswith(path + "/") else None


def _replace(entries: dict[str, Any], name: str, relative: str, documents: Documents) -> None:
    """Put a node's documents in the place of those that the copy has for it."""
    prefix = f"{relative}/" if relative else ""
    if not documents:
        for entry in [entry for entry in entries if entry == relative or entry.startswith(prefix)]:
            del entries[entry]
    elif name == ASIDE:
        for old in (".zarray", ".zgroup", ".zattrs"):
            entries.pop(prefix + old, None)
        entries.update(
            (prefix + part, load_document(raw.to_bytes(), prefix + part))
            for part, raw in documents.items()
            if part != ASIDE
        )
    elif relative and INLINE in documents:
        entries[relative] = _member(documents, relative)


def _member(documents: Documents, path: str) -> dict[str, Any]:
    """Return the parsed document of a node as it stands in a copy."""
    document = load_document(documents[INLINE].to_bytes(), node_key(path, INLINE))
    if document.get("node_type") == "group":
        document["consolidated_metadata"] = _EMPTY
    return document
