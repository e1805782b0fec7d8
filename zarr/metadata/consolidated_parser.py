"""A document with a copy of many others, read in pieces: those that are known by their bytes are not parsed again.

A copy of the documents of a thousand arrays holds few that differ by more than their names. What this library, and
most others, write is indented, so that the members of the copy begin and end on lines of their own; there it is cut.
Cutting by the look of lines is safe, because every piece must be a JSON object by itself: then the text is what it
would be if it were put together of these objects, and JSON has one reading only. Where anything is not as expected,
the document is read as a whole.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zarr.errors import MetadataValidationError
from zarr.metadata.cache import Documents, find_members, known_documents
from zarr.metadata.documents import MAX_DOCUMENT_BYTES, load_document

MIN_BYTES: Final = 4096
"""Smaller documents are read as a whole."""

_MOST_BRACKETS: Final = 400  # a piece with more of them could be nested more deeply than documents may be
_HOLDER: Final = b'"consolidated_metadata": {'
_TABLE: Final = b'"metadata": {\n'


class Piece(NamedTuple):
    """One member of a copy.

    Attributes
    ----------
    key : bytes
        Its text between the braces.
    members : dict or None
        What it was parsed to before, if it is known.
    document : dict or None
        What the text says, if it is not.
    known : dict
        Where it is to be remembered.
    """

    key: bytes
    members: dict[str, Any] | None
    document: dict[str, Any] | None
    known: Documents


def load_with_copy(raw: bytes, name: str) -> dict[str, Any]:
    """Parse the document of a group; if it carries a copy of many documents, these may stand in it as pieces.

    Parameters
    ----------
    raw, name
        As for :func:`zarr.metadata.documents.load_document`.

    Returns
    -------
    dict
        The values of ``document["consolidated_metadata"]["metadata"]`` are either all :class:`Piece` or plain.

    Raises
    ------
    MetadataValidationError
        As :func:`zarr.metadata.documents.load_document` has it.

    Examples
    --------
    >>> load_with_copy(b'{"zarr_format": 3}', "zarr.json")
    {'zarr_format': 3}
    """
    found = _in_pieces(raw, name) if MIN_BYTES <= len(raw) <= MAX_DOCUMENT_BYTES and _HOLDER in raw else None
    return load_document(raw, name) if found is None else found


def _in_pieces(raw: bytes, name: str) -> dict[str, Any] | None:
    opening = raw.find(_TABLE, raw.find(_HOLDER) + len(_HOLDER)) + len(_TABLE)
    if opening < len(_TABLE):
        return None
    indent = raw[opening : opening + 64].partition(b'"')[0]
    closing = raw.find(b"\n" + indent + b"}\n", opening)
    if indent.strip(b" \t") or closing < 0:
        return None
    tail = raw[closing + len(indent) + 2 :]
    pieces = _pieces(raw[opening + len(indent) + 1 : closing].split(b"\n" + indent + b"},\n" + indent + b'"'))
    return None if pieces is None else _with_table(raw[:opening], pieces, tail, name)


def _pieces(texts: list[bytes]) -> dict[str, Piece] | None:
    """The pieces by name; None if one of them is no JSON object by itself."""
    known = known_documents()
    pieces: dict[str, Piece] = {}
    try:
        for text in texts:
            name, separator, key = text.partition(b'": {')
            if not separator or b'"' in name or b"\\" in name or not (decoded := name.decode()).isprintable():
                return None
            members = find_members(known, key)
            pieces[decoded] = Piece(key, members, None if members is not None else _parsed(key), known)
    except ValueError:
        return None
    return pieces


def _parsed(key: bytes) -> dict[str, Any]:
    if key.count(b"{") + key.count(b"[") > _MOST_BRACKETS:
        raise ValueError("possibly nested too deeply")
    return load_document(b"{" + key + b"}", "a piece")


def _with_table(head: bytes, pieces: dict[str, Piece], tail: bytes, name: str) -> dict[str, Any] | None:
    """The document around the pieces; None if the place where they were cut out is another than it seemed."""
    token = "pieces"
    while token.encode() in head or token.encode() in tail:
        token += "'"
    try:
        document = load_document(head + b'"' + token.encode() + b'": 0' + tail, name)
    except MetadataValidationError:
        return None
    holder = document.get("consolidated_metadata")
    if not isinstance(holder, dict) or holder.get("metadata") != {token: 0}:
        return None
    holder["metadata"] = pieces
    return document
