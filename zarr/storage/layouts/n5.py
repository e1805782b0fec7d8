"""Hierarchies of N5, shown as hierarchies of format 3."""

from __future__ import annotations

import json
import re
from typing import Any

from zarr.errors import MetadataValidationError
from zarr.storage.keys import child_names, dir_prefix, join
from zarr.storage.layouts.base import Asking, LayoutStore, ask, read
from zarr.storage.layouts.draft3_documents import to_bytes
from zarr.storage.layouts.n5_documents import is_n5_array, n5_array_document, n5_group_document

DOCUMENT = "attributes.json"

_CHUNK = re.compile(r"\d+(\.\d+)*")
_BLOCK = re.compile(r"\d+")


class N5Store(LayoutStore):
    """A hierarchy of N5, for reading: every folder is a group, and one whose attributes tell of dimensions an array.

    Axes are in NumPy's order: the shape of an array is N5's ``dimensions`` reversed. Where no block is, all is zero.

    Parameters
    ----------
    store : Store
        The store that holds the hierarchy.
    path : str
        Where in the store it begins.

    Notes
    -----
    https://github.com/saalfeldlab/n5

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> N5Store(MemoryStore()).read_only
    True
    """

    def chunk_key(self, key: str) -> str | None:
        """The key of a block: coordinates in N5's order, a folder each."""
        path, _, name = key.rpartition("/")
        if not _CHUNK.fullmatch(name):
            return None
        return self._below(path, *reversed(name.split(".")))

    def _attributes_of(self, path: str) -> Asking[dict[str, Any] | None]:
        key = self._below(path, DOCUMENT)
        raw = yield from read(key)
        if raw is None:
            return None
        try:
            attributes = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise MetadataValidationError(f"The document {key!r} is not valid JSON: {error}.") from error
        if not isinstance(attributes, dict):
            raise MetadataValidationError(f"The document {key!r} must be a JSON object.")
        return attributes

    def document_of(self, path: str) -> Asking[bytes | None]:
        """The document of an array, or of a group: of any folder that has something in it."""
        attributes = yield from self._attributes_of(path)
        if attributes is None:
            if path and not (yield ask("list_dir", dir_prefix(self._below(path)))):
                return None
            attributes = {}
        if is_n5_array(attributes):
            return to_bytes(n5_array_document(attributes, self._below(path, DOCUMENT)))
        return to_bytes(n5_group_document(attributes))

    def names_of(self, path: str) -> Asking[list[str]]:
        """The names below a group; below an array, those of its chunks."""
        attributes = yield from self._attributes_of(path)
        if attributes is not None and is_n5_array(attributes):
            return child_names((yield from self.keys_of(dir_prefix(path))), path)
        found = yield ask("list_dir", dir_prefix(self._below(path)))
        return sorted({*(name for name in found if name != DOCUMENT), "zarr.json"})

    def keys_of(self, prefix: str) -> Asking[list[str]]:
        """All keys as format 3 has them."""
        start, folder = dir_prefix(self.path), prefix.rpartition("/")[0]
        found = yield ask("list_prefix", dir_prefix(self._below(folder)))
        split = [key[len(start) :].rpartition("/")[::2] for key in found]
        nodes = {path for path, name in split if name == DOCUMENT}
        keys = {join(path, "zarr.json") for path in nodes}
        for path, name in split:
            if name != DOCUMENT:
                keys.update(_chunks_of(join(path, name), nodes))
        return sorted(key for key in keys if key.startswith(prefix))


def _chunks_of(key: str, nodes: set[str]) -> list[str]:
    """The key of a chunk, of the key of a block; nothing for other files."""
    parts = key.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        path, coords = "/".join(parts[:depth]), parts[depth:]
        if path in nodes:
            return [join(path, ".".join(reversed(coords)))] if all(map(_BLOCK.fullmatch, coords)) else []
    return []
