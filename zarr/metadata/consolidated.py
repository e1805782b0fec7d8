"""Read and write consolidated metadata: one document with a copy of the documents of many nodes.

The class ``ConsolidatedMetadata`` stands beside the group metadata, in ``group.py``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from json import JSONDecoder
from typing import Any, Final, NamedTuple

from zarr.errors import MetadataValidationError
from zarr.metadata.cache import Documents, find_members, known_documents
from zarr.metadata.documents import MAX_DOCUMENT_BYTES, MissingParentError, dump_document, encode_string, load_document


def tree_order(path: str) -> tuple[int, str]:
    """Return the sorting key of a path: parents before members, and by name within a level.

    Examples
    --------
    >>> sorted(["b", "a/c", "a"], key=tree_order)
    ['a', 'b', 'a/c']
    """
    return path.count("/"), path


def nest_paths(
    paths: Iterable[str], is_group: Mapping[str, bool], unreadable: Container[str] = ()
) -> dict[str, dict[str, str]]:
    """Find the members of each group.

    Parameters
    ----------
    paths
        Paths of nodes.
    is_group
        Which of them are groups.
    unreadable
        Paths of nodes besides, whose documents cannot be read.

    Returns
    -------
    dict
        For each group, and for the root ``""``, a table from the relative path of a member to its full path. A node
        whose parent is an array, or cannot be read, is a member, under its longer relative path, of the nearest group
        above it.

    Raises
    ------
    MissingParentError
        If the parent of a node is not listed.

    Examples
    --------
    >>> nest_paths(["g", "g/a", "x/y"], {"g": True}, ["x"])
    {'': {'g': 'g', 'x/y': 'x/y'}, 'g': {'a': 'g/a'}}
    """
    members: dict[str, dict[str, str]] = {"": {}}
    for path in paths:
        if is_group.get(path):
            members.setdefault(path, {})
        above = path.rpartition("/")[0]
        while above and not is_group.get(above):
            if above not in is_group and above not in unreadable:
                raise MissingParentError(f"consolidated metadata list the node {path!r} but not its parent {above!r}")
            above = above.rpartition("/")[0]
        members.setdefault(above, {})[path[len(above) + 1 :] if above else path] = path
    return members


def zmetadata_document(attributes: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Build the document ``.zmetadata``: the documents of all nodes of a hierarchy of format 2, by their keys.

    Parameters
    ----------
    attributes
        Those of the group that carries the document.
    nodes
        The members of the documents of the nodes below it, attributes among them, by path.

    Returns
    -------
    dict

    Examples
    --------
    >>> zmetadata_document({}, {})
    {'metadata': {'.zgroup': {'zarr_format': 2}, '.zattrs': {}}, 'zarr_consolidated_format': 1}
    """
    documents: dict[str, Any] = {".zgroup": {"zarr_format": 2}, ".zattrs": attributes}
    for path in sorted(nodes, key=tree_order):
        node = nodes[path]
        if not isinstance(node, Mapping):  # a damaged one is kept as it was found
            documents[f"{path}/.zarray"] = node
            continue
        documents[f"{path}/.zattrs"] = node.get("attributes", {})
        if "shape" in node:
            documents[f"{path}/.zarray"] = {key: value for key, value in node.items() if key != "attributes"}
        else:
            # The format allows no other member; a copy inside of a copy would be one.
            documents[f"{path}/.zgroup"] = {"zarr_format": 2}
    return {"metadata": documents, "zarr_consolidated_format": 1}


def split_zmetadata(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Take the document ``.zmetadata`` apart.

    Parameters
    ----------
    document
        The parsed document.

    Returns
    -------
    tuple
        The attributes of the group that carries it, and by path the members of the documents of the nodes below it.
        Documents that belong to no node (attributes of a node that has no document) are left out.

    Raises
    ------
    ValueError, TypeError
        If it has no object ``metadata``, or is of another version than 1.

    Examples
    --------
    >>> split_zmetadata({"zarr_consolidated_format": 1, "metadata": {"g/.zgroup": {"zarr_format": 2}}})
    ({}, {'g': {'zarr_format': 2, 'attributes': {}}})
    """
    documents = document.get("metadata")
    if not isinstance(documents, Mapping):
        kind = ValueError if documents is None else TypeError
        raise kind(f"The document '.zmetadata' has no object 'metadata' but {documents!r}.")
    version = document.get("zarr_consolidated_format", 1)
    if version != 1:
        raise ValueError(
            f"The document '.zmetadata' has zarr_consolidated_format {version!r}; only version 1 can be read."
        )
    nodes: dict[str, dict[str, Any]] = {}
    attributes: dict[str, Any] = {}
    for key, part in documents.items():
        path, _, name = key.rpartition("/")
        if name == ".zattrs":
            attributes[path] = part
        elif path and name in (".zarray", ".zgroup"):
            nodes[path] = part  # a damaged one too: reading that node raises
            if isinstance(part, Mapping):
                nodes[path] = {key: value for key, value in part.items() if key != "consolidated_metadata"}
                nodes[path]["attributes"] = documents.get(f"{path}/.zattrs", {})
    return attributes.get("", {}), nodes


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
    """Return the pieces by name; None if one of them is no JSON object by itself."""
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
    """Return the document around the pieces; None if the place where they were cut out is another than it seemed."""
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


_read_name: Final = JSONDecoder().raw_decode
_kept: Final[deque[WrittenCopy]] = deque(maxlen=4)
_MOST_KEPT_BYTES: Final = 16 << 20


class WrittenCopy(NamedTuple):
    """The document of a group as it was written, and where the members of its copy lie: in tree order, each on lines.

    Attributes
    ----------
    raw : bytes
    start, end : int
        Of all members together.
    step : int
        The spaces of a level; at least 1.

    Examples
    --------
    >>> empty = write_copy({"consolidated_metadata": {"metadata": {}}}, {}, 2)
    >>> empty.with_member("b", b"{}").with_member("a", b"{}").raw == write_copy(
    ...     {"consolidated_metadata": {"metadata": {}}}, {"a": b"{}", "b": b"{}"}, 2
    ... ).raw
    True
    """

    raw: bytes
    start: int
    end: int
    step: int

    def with_member(self, path: str, document: bytes) -> WrittenCopy:
        """Return the copy with the document of one node, as :func:`dump_document` writes it, in its place."""
        (at, stop), (raw, start, end, step) = self.place_of(path), self
        before, after = (b"," if start < at == end else b""), (b"," if stop < end else b"")
        member = before + _member(path, document, _lead(step)) + after
        closing = b"" if start < end else b"\n" + b" " * (2 * step)
        whole = memoryview(raw)
        with suppress(ValueError):
            _kept.remove(self)  # it makes room for what it becomes
        text = b"".join((whole[:at], member, closing, whole[stop:]))
        return _keep(WrittenCopy(text, start, end + len(member) - (stop - at), step))

    def holds(self, path: str) -> bool:
        """Return whether a node is listed."""
        at, stop = self.place_of(path)
        return at < stop

    def place_of(self, path: str) -> tuple[int, int]:
        """Return where the member of a path begins and ends; the same place twice where it is to be put in."""
        raw, low, high, step = self
        lead, wanted = _lead(step) + b'"', tree_order(path)
        # Inside of a member, lines begin with more spaces; and no string has a line break.
        while low < high:
            at = raw.rfind(lead, low, (low + high) // 2 + len(lead))
            after = raw.find(lead, at + 1, high)
            after = high if after < 0 else after
            line = raw[at + 1 : raw.index(b"\n", at + 1)].decode("ascii")
            found = tree_order(_read_name(line, 3 * step)[0])
            if found == wanted:
                return at, after
            low, high = (after, high) if found < wanted else (low, at)
        return low, low


def _lead(step: int) -> bytes:
    return b"\n" + b" " * (3 * step)


def _member(path: str, document: bytes, lead: bytes) -> bytes:
    return b"%s%s: %s" % (lead, encode_string(path).encode("ascii"), document.replace(b"\n", lead))


def write_copy(document: Mapping[str, Any], members: Mapping[str, bytes], step: int) -> WrittenCopy:
    """Write the document of a group that carries a copy.

    Parameters
    ----------
    document : mapping
        That of the group, with nothing in its copy.
    members : mapping of path to bytes
        The documents of the nodes in tree order, as :func:`dump_document` writes them.
    step : int
        The spaces of a level; at least 1.
    """
    raw, margin = dump_document(document, indent=step), b"\n" + b" " * step
    table = margin + b" " * step + b'"metadata": {'
    start = raw.index(table, raw.index(margin + b'"consolidated_metadata": {')) + len(table)
    lead = _lead(step)
    texts = b",".join([_member(path, text, lead) for path, text in members.items()])
    closing = margin + b" " * step if members else b""
    return _keep(WrittenCopy(raw[:start] + texts + closing + raw[start:], start, start + len(texts), step))


def _keep(copy: WrittenCopy) -> WrittenCopy:
    if len(copy.raw) <= _MOST_KEPT_BYTES:
        _kept.append(copy)
    return copy


def kept_copy(raw: bytes) -> WrittenCopy | None:
    """Return where the members of a copy lie, if its document is, byte for byte, one that was written here lately."""
    return next((copy for copy in tuple(_kept) if copy.raw == raw), None)


def load_without_copy(raw: bytes, name: str) -> dict[str, Any]:
    """Parse the document of a group without the copy that it carries; parameters and errors as `load_with_copy`."""
    kept = kept_copy(raw)
    document = load_document(raw if kept is None else raw[: kept.start] + raw[kept.end :], name)
    document.pop("consolidated_metadata", None)
    return document
