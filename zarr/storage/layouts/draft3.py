"""Hierarchies in the layouts of the drafts of format 3 from 2019 and 2020, shown as hierarchies of format 3."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store
from zarr.errors import MetadataValidationError, ReadOnlyError
from zarr.storage.keys import child_names, dir_prefix, join
from zarr.storage.layouts.base import Asking, LayoutStore, ask, read, split_document
from zarr.storage.layouts.draft3_documents import (
    Draft3Layout,
    array_document,
    draft_of,
    group_document,
    to_bytes,
)

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype

_CHUNK = re.compile(r"(.*/)?c((?:[./]\d+)*)", re.DOTALL)
_NAME = re.compile(r"[-_.A-Za-z0-9]+")


def _load(raw: bytes, name: str) -> dict[str, Any]:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise MetadataValidationError(f"The document {name!r} is not valid JSON: {error}.") from error
    if not isinstance(document, dict):
        raise MetadataValidationError(f"The document {name!r} must be a JSON object.")
    return document


class Draft3Store(LayoutStore):
    """A hierarchy of a draft of format 3: ``zarr.json`` with a URI, ``meta/root/<path>.array``, ``data/<path>/0.0``.

    Parameters
    ----------
    store : Store
        The store that holds the hierarchy.
    path : str
        Where in the store it begins.
    layout : Draft3Layout
        Which of the drafts it is of, from the bootstrap document.
    read_only : bool
        If False, what is written as format 3 is stored in the draft's layout. :func:`zarr.draft3.create` makes such
        stores; nothing else does.

    Notes
    -----
    The names below a group are found with one listing, ``list_dir("meta/root/<path>/")``, and all nodes with one,
    ``list_prefix("meta/")``.
    """

    implicit_groups: bool = True

    def __init__(
        self, store: Store, path: str = "", layout: Draft3Layout | None = None, *, read_only: bool = True
    ) -> None:
        super().__init__(store, path)
        self.layout = Draft3Layout() if layout is None else layout
        self._writes = not read_only

    def _with_store(self, store: Store) -> Draft3Store:
        return type(self)(store, self.path, self.layout, read_only=not self._writes)

    def with_read_only(self, read_only: bool = False) -> Draft3Store:
        """Return the same hierarchy, to be written to or not.

        Raises
        ------
        ReadOnlyError
            If it shall be written to, and was opened for reading.
        """
        if not read_only and not self._writes:
            raise ReadOnlyError(
                f"{self} is in the layout of a draft of format 3, which is only read: zarr.draft3.migrate makes a "
                "hierarchy of format 3 of it"
            )
        return type(self)(self._store, self.path, self.layout, read_only=read_only)

    @property
    def read_only(self) -> bool:
        """Whether the hierarchy refuses to be written to."""
        return not self._writes or self._store.read_only

    # Keys

    def _meta(self, path: str) -> str:
        return self._below("meta", join("root", path))

    def _node_key(self, path: str, kind: str) -> str:
        return f"{self._meta(path)}.{kind}{self.layout.suffix}"

    def _data(self, path: str) -> str:
        return self._below("data", "root" if self.layout.rooted else "", path)

    def chunk_key(self, key: str) -> str | None:
        """The key below ``data/`` of a chunk whose key is in the default encoding."""
        match = _CHUNK.fullmatch(key)
        if match is None:
            return None
        path, coords = (match[1] or "").rstrip("/"), match[2][1:]
        coords = coords or "0"
        return join(self._data(path), f"c{coords}" if self.layout.rooted else coords)

    # Reading

    def document_of(self, path: str) -> Asking[bytes | None]:
        """The document of a node: rewritten, or made up for a group that only its members tell of."""
        for kind in ("array", "group"):
            key = self._node_key(path, kind)
            raw = yield from read(key)
            if raw is not None:
                draft = _load(raw, key)
                return to_bytes(array_document(draft, key) if kind == "array" else group_document(draft, key))
        if path and not (yield ask("list_dir", f"{self._meta(path)}/")):
            return None
        return to_bytes(group_document(None, path))

    def _get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None) -> Asking[Buffer | None]:
        found = yield from super()._get(key, prototype, byte_range)
        if found is None and self.layout.rooted and (key == "c" or key.endswith("/c")):
            # The one chunk of an array without axes: some writers call it c0, some c.
            below = join(self._data(key[:-1].rstrip("/")), "c")
            found = yield ask("get", below, prototype=prototype, byte_range=byte_range)
        return found

    def _node_of(self, key: str) -> tuple[str, str] | None:
        """The path and kind of a node, from the key of its document below ``meta/``."""
        start = self._below("meta/root")
        if not key.startswith(start):
            return None
        for kind in ("array", "group"):
            end = f".{kind}{self.layout.suffix}"
            path = key[len(start) :].removesuffix(end)
            if key.endswith(end) and (not path or path.startswith("/")):
                return path[1:], kind
        return None

    def names_of(self, path: str) -> Asking[list[str]]:
        """The names below a group, by one listing; below an array, of its chunks."""
        found = yield ask("list_dir", f"{self._meta(path)}/")
        names = set()
        for name in found:
            node = self._node_of(f"{self._meta(path)}/{name}")
            names.add(name if node is None else node[0].rpartition("/")[2])
        if names or not path:
            return sorted({*names, "zarr.json"})
        return child_names((yield from self.keys_of(f"{path}/")), path)

    def keys_of(self, prefix: str) -> Asking[list[str]]:
        """All keys as format 3 has them, by a listing of all documents and, where there are arrays, one of chunks."""
        listed = yield ask("list_prefix", self._below("meta") + "/")
        nodes = dict(node for node in map(self._node_of, listed) if node is not None)
        groups = {"", *(parent for path in nodes for parent in _parents(path))}
        keys = {join(path, "zarr.json") for path in groups | nodes.keys()}
        arrays = {path for path, kind in nodes.items() if kind == "array"}
        wanted = {path for path in arrays if f"{path}/".startswith(prefix) or prefix.startswith(f"{path}/") or not path}
        forms = {}
        for path in sorted(wanted):
            raw = yield from read(self._node_key(path, "array"))
            forms[path] = _form_of(_load(raw or b"{}", path))
        for top in _tops(wanted):
            chunks = yield ask("list_prefix", dir_prefix(self._data(top)))
            keys.update(filter(None, (self._key_of(key, forms) for key in chunks)))
        return sorted(key for key in keys if key.startswith(prefix))

    def _key_of(self, below: str, forms: Mapping[str, tuple[int, str]]) -> str | None:
        """The key of a chunk as format 3 has it, from its key below ``data/`` and the forms of keys, by array."""
        rest = below.removeprefix(dir_prefix(self._data("")))
        path = next((path for path in reversed(_parents(rest)) if path in forms), None)
        if path is None:
            return None
        ndim, separator = forms[path]
        name = rest.removeprefix(dir_prefix(path))
        if self.layout.rooted:
            if name[:1] != "c":
                return None
            name = name[1:]
        return join(path, f"c{separator}{name}" if ndim else "c")

    # Writing

    def _set(self, key: str, value: Buffer) -> Asking[None]:
        self._check_writable()
        named = split_document(key)
        if named is None:
            below = self.chunk_key(key)
            if below is None:
                raise ValueError(f"{key!r} is no key of a chunk: {self} takes those of the default encoding")
            yield ask("set", below, value)
            return
        path, document = named
        for name in path.split("/") if path else ():
            if not _NAME.fullmatch(name):
                raise ValueError(f"the name {name!r} (in {path!r}) has other characters than A-Z, a-z, 0-9, '-_.'")
        if document != "zarr.json":
            raise ValueError(f"{key!r} is a document of format 2; {self} takes those of format 3")
        node: Mapping[str, Any] = _load(value.to_bytes(), key)
        kind = "group" if node.get("node_type") == "group" else "array"
        yield ask("set", self._node_key(path, kind), type(value).from_bytes(to_bytes(draft_of(node))))

    def _delete(self, key: str) -> Asking[None]:
        self._check_writable()
        named = split_document(key)
        if named is None:
            below = self.chunk_key(key)
            if below is not None:
                yield ask("delete", below)
        elif named[1] == "zarr.json":
            for kind in ("array", "group"):
                yield ask("delete", self._node_key(named[0], kind))

    def _delete_dir(self, prefix: str) -> Asking[None]:
        self._check_writable()
        path = prefix.strip("/")
        yield from self._delete(join(path, "zarr.json"))
        yield ask("delete_dir", self._meta(path))
        yield ask("delete_dir", self._data(path))


def _form_of(draft: Mapping[str, Any]) -> tuple[int, str]:
    """How many coordinates the keys of an array's chunks have, and what is between them."""
    grid = draft.get("chunk_grid")
    return len(draft.get("shape", ())), grid.get("separator", ".") if isinstance(grid, Mapping) else "."


def _parents(path: str) -> list[str]:
    """The root, and every folder above a path.

    Examples
    --------
    >>> _parents("a/b/c")
    ['', 'a', 'a/b']
    """
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts))]


def _tops(paths: set[str]) -> list[str]:
    """Those paths that lie below no other."""
    return sorted(path for path in paths if not any(parent in paths for parent in _parents(path) if parent != path))
