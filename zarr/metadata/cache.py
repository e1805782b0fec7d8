"""Cache of parsed metadata documents.

The documents of a thousand arrays of one kind are equal, or differ in their attributes only; and an array that is
opened again has the same bytes as before. Parsed documents are frozen, so they are shared; attributes, which a user may
change, are copied each time. Documents with extensions, or with warnings, are not kept; and the cache is cleared when a
registry or the configuration of codecs changes.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, TypeAlias

from zarr.chunks.base import RegularChunkGridMetadata
from zarr.defaults import settings
from zarr.registry.tables import Changes

MAX_DOCUMENT_BYTES: Final = 4096
"""Larger documents are not kept."""

MAX_DOCUMENTS: Final = 4096
"""Number of documents at which the cache is cleared."""

_QUIET_KINDS: Final = "biufcmMUT"  # data types that are read without a warning
_OWN: Final = ("zarr.codecs.", "zarr.dtype.", "zarr.chunks.keys")
_PLAIN: Final = 0  # the form of marshal in which equal values have equal bytes


Documents: TypeAlias = dict[bytes, tuple[dict[str, Any], bytes]]


class _Known:
    """The kept documents, and the state of registries and configuration for which they are valid."""

    state: tuple[int, Any, Documents] = (-1, None, {})  # the count of changes, the configuration, the documents


def known_documents() -> Documents:
    """Return the kept documents that are still valid. Call it before a document is parsed, and :func:`keep` after it.

    Examples
    --------
    >>> known_documents() is known_documents()
    True
    """
    codecs, changes = settings.values.get("codecs"), Changes.count
    known_changes, known_codecs, documents = _Known.state
    if known_changes != changes or codecs != known_codecs:
        # A new table: a thread that still parses with the old state adds to the old table, which is not used any more.
        documents = {}
        _Known.state = (changes, deepcopy(codecs), documents)
    return documents


def structure_key(document: Mapping[str, Any]) -> bytes | None:
    """Return the common bytes of documents of one kind: all but shape, grid and attributes; None if it is no JSON.

    Examples
    --------
    >>> structure_key({"shape": [1], "fill_value": 0}) == structure_key({"shape": [2], "fill_value": 0})
    True
    """
    shared = dict(document)
    for name in ("shape", "chunk_grid", "attributes"):
        shared.pop(name, None)
    try:
        key = marshal.dumps(shared, _PLAIN)
    except ValueError:
        return None
    return key if len(key) <= MAX_DOCUMENT_BYTES else None


def find_members(known: Documents, key: bytes | None) -> dict[str, Any] | None:
    """Return the parsed members of a document; the attributes among them are a copy."""
    found = None if key is None or len(key) > MAX_DOCUMENT_BYTES else known.get(key)
    if found is None:
        return None
    members, attributes = found
    fresh = {**members, "attributes": marshal.loads(attributes) if attributes else {}}
    if "extra_fields" in members:
        fresh["extra_fields"] = {}
    return fresh


def name_of_v2(array: bytes, attributes: bytes | None) -> bytes:
    """Return the name under which the documents of an array of format 2 are kept: no document ``zarr.json``.

    Examples
    --------
    >>> name_of_v2(b"{}", None)
    b'.zarray {} .zattrs '
    """
    return b".zarray %b .zattrs %b" % (array, attributes or b"")


def keep(known: Documents, members: Mapping[str, Any], *keys: tuple[bytes | None, dict[str, Any] | None]) -> None:
    """Keep the parsed members of a document; :func:`is_sharable` must be True for them.

    Parameters
    ----------
    known : dict
        The result of :func:`known_documents` before the document was parsed.
    members : mapping
        The fields of the metadata object.
    *keys : pairs
        The bytes of the document and its attributes; or :func:`structure_key` of it, and None.
    """
    for key, attributes in keys:
        if key is None or len(key) > MAX_DOCUMENT_BYTES:
            continue
        try:
            kept = marshal.dumps(attributes, _PLAIN) if attributes else b""
        except ValueError:
            continue
        if len(known) >= MAX_DOCUMENTS:
            known.clear()
        known[key] = (dict(members), kept)


def is_sharable(members: Mapping[str, Any]) -> bool:
    """Return True if all parts belong to this library, cannot be changed, and were read without a warning.

    Members for which :func:`has_whole_shards` is True are read with a warning; check that first.
    """
    if members["extra_fields"] or members["storage_transformers"] or "_stored_document" in members:
        return False
    if type(members["chunk_grid"]) is not RegularChunkGridMetadata:
        return False
    dtype = members["data_type"]
    for part in (dtype, members["chunk_key_encoding"], *members["codecs"]):
        module = type(part).__module__
        if not module.startswith(_OWN) or module.startswith("zarr.codecs.numcodecs"):
            return False
    return dtype.to_native_dtype().kind in _QUIET_KINDS


def is_quiet(dtype: Any) -> bool:
    """Return True if a data type belongs to this library, and is read without a warning.

    Examples
    --------
    >>> from zarr.dtype import Int8
    >>> is_quiet(Int8())
    True
    """
    return type(dtype).__module__.startswith(_OWN) and dtype.to_native_dtype().kind in _QUIET_KINDS


def has_whole_shards(codecs: Sequence[Any]) -> bool:
    """Return True if shards can only be read and written as a whole, since there is another codec beside theirs."""
    if len(codecs) < 2:
        return False
    sharding = getattr(sys.modules.get("zarr.codecs.sharding"), "ShardingCodec", ())
    for codec in codecs:  # noqa: SIM110  (a generator takes twice as long)
        if isinstance(codec, sharding):
            return True
    return False
