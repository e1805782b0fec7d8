"""Documents that were read before, and what came of them.

A thousand arrays of one kind have documents that differ in nothing, or in their attributes only; and who opens an
array again finds the bytes of before. What is parsed is frozen, so it is shared; what a user may change (attributes)
is made anew each time. Nothing is remembered that an extension has a hand in, or that gives a warning when it is read;
and everything is forgotten when a registry or the configuration of codecs changes.
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
"""Larger documents are not remembered."""

MAX_DOCUMENTS: Final = 4096
"""The number of documents at which all are forgotten."""

_QUIET_KINDS: Final = "biufcmMUT"  # data types that are read without a warning
_OWN: Final = ("zarr.codecs.", "zarr.dtype.", "zarr.chunks.keys")
_PLAIN: Final = 0  # the form of marshal in which equal values have equal bytes


Documents: TypeAlias = dict[bytes, tuple[dict[str, Any], bytes]]


class _Known:
    """The documents that are remembered, and the state of registries and configuration in which it holds."""

    documents: Documents = {}
    changes: int = -1
    codecs: Any = None


def known_documents() -> Documents:
    """Return what is remembered and still holds. Call it before a document is parsed, and :func:`keep` after it.

    Examples
    --------
    >>> known_documents() is known_documents()
    True
    """
    codecs = settings.values.get("codecs")
    if _Known.changes != Changes.count or codecs != _Known.codecs:
        # A new table: who is still parsing by the old state of things adds to the old one, where nobody looks.
        _Known.documents = {}
        _Known.changes, _Known.codecs = Changes.count, deepcopy(codecs)
    return _Known.documents


def structure_key(document: Mapping[str, Any]) -> bytes | None:
    """Return what documents of one kind share as bytes: all save shape, grid and attributes; None if it is no JSON.

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
    """Return the members that a document was parsed to; the attributes among them are the caller's own."""
    found = None if key is None else known.get(key)
    if found is None:
        return None
    members, attributes = found
    return {**members, "attributes": marshal.loads(attributes) if attributes else {}, "extra_fields": {}}


def keep(known: Documents, members: Mapping[str, Any], *keys: tuple[bytes | None, dict[str, Any] | None]) -> None:
    """Keep the members that a document was parsed to; they must be such that :func:`is_sharable` is true.

    Parameters
    ----------
    known : dict
        As :func:`known_documents` gave it before the document was parsed.
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
    """Return whether all parts are this library's own, cannot be changed, and were read without a warning.

    Members of which :func:`has_whole_shards` is true are read with a warning; ask that first.
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


def has_whole_shards(codecs: Sequence[Any]) -> bool:
    """Return whether shards can only be read and written as a whole, since another codec stands beside theirs."""
    if len(codecs) < 2:
        return False
    sharding = getattr(sys.modules.get("zarr.codecs.sharding"), "ShardingCodec", ())
    for codec in codecs:  # noqa: SIM110  (a generator takes twice as long)
        if isinstance(codec, sharding):
            return True
    return False
