"""The text of a consolidated copy: one member is changed in it, the others are neither parsed nor written anew.

The members are found by :func:`zarr_core.find_json_members`, which steps over their values. Texts that were looked at
or made lately are kept with the places of their members, and found again by all their bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import zarr_core
from zarr.defaults import DEFAULTS
from zarr.errors import MetadataValidationError
from zarr.metadata.cache import Documents, find_members, known_documents
from zarr.metadata.consolidated import tree_order
from zarr.metadata.documents import MAX_DOCUMENT_BYTES, dump_document, encode_string, load_document

if TYPE_CHECKING:
    import numpy.typing as npt

INLINE: Final = "zarr.json"
ASIDE: Final = ".zmetadata"
TABLE_PATHS: Final = {INLINE: (b"consolidated_metadata", b"metadata"), ASIDE: (b"metadata",)}
"""The members that lead to the table of documents in a copy, by the name of the document that holds the copy."""

MOST_KEPT_BYTES: Final = 64 << 20
"""Maximum number of bytes of kept texts; the text that was made last is kept in any case."""

_LARGE_BYTES: Final = 1 << 20

_kept: Final[deque[CopyText]] = deque(maxlen=16)


class CopyText:
    """The text of a document with a copy, and where the members of the copy lie in it.

    Parameters
    ----------
    raw : bytes
    table_path : tuple of bytes
        The members that lead to the table of documents; one of ``TABLE_PATHS``.
    opening, closing : int
        Where the table of members begins, after its brace, and where its closing brace is.
    places : ndarray of int64, shape (members, 3)
        Of each member: where its name begins and ends, without quotes, and where its value ends.
    names : list of str or None
        The names; None where they are plain and in tree order, and so are found in the text.
    in_order : bool, optional
        True if the names are known to be in tree order. By default they are compared.

    Attributes
    ----------
    place : str
        The document that last had this text, by its store and key; it may have another text by now.
    stamp : tuple of int and stamp, or None
        The answer to ``FreshStamp`` just after this text was stored there.

    Examples
    --------
    >>> copy = find_copy(b'{"metadata": {"a": 1, "c": 3}}', ".zmetadata", ".zmetadata")
    >>> copy.edited({"b": [2], "c": None}).raw
    b'{"metadata": {"a": 1, "b": [2]}}'
    """

    __slots__ = (
        "_in_order",
        "_numbers",
        "closing",
        "names",
        "opening",
        "place",
        "places",
        "raw",
        "stamp",
        "table_path",
    )

    def __init__(
        self,
        raw: bytes,
        table_path: tuple[bytes, ...],
        opening: int,
        closing: int,
        places: npt.NDArray[np.int64],
        names: list[str] | None,
        in_order: bool = False,
    ) -> None:
        self.raw, self.table_path, self.opening, self.closing = raw, table_path, opening, closing
        self.places, self.names, self.place = places, names, ""
        self.stamp: tuple[int, object] | None = None
        self._in_order = in_order or names is None or all(x < y for x, y in pairwise(map(tree_order, names)))
        self._numbers = {} if self._in_order or names is None else {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.places)

    def name(self, number: int) -> str:
        """Return the name of a member."""
        if self.names is not None:
            return self.names[number]
        start, stop, _ = self.places[number].tolist()
        return self.raw[start:stop].decode("ascii")

    def place_of(self, name: str) -> tuple[int, bool]:
        """Return the number of a member, or the number of a new member; and True if the member exists."""
        if not self._in_order:
            number = self._numbers.get(name, len(self))
            return number, number < len(self)
        number = self._first_from(tree_order(name))
        return number, number < len(self) and self.name(number) == name

    def __contains__(self, name: str) -> bool:
        return self.place_of(name)[1]

    def _first_from(self, order: tuple[int, str]) -> int:
        return bisect_left(range(len(self)), order, key=lambda number: tree_order(self.name(number)))

    def below(self, path: str) -> Iterator[str]:
        """Iterate over the names that begin with a path and a slash."""
        if not self._in_order:
            yield from [name for name in self._numbers if name.startswith(f"{path}/")]
            return
        deepest = tree_order(self.name(len(self) - 1))[0] if len(self) else 0
        for depth in range(path.count("/") + 1, deepest + 1):
            first, stop = self._first_from((depth, f"{path}/")), self._first_from((depth, f"{path}0"))
            yield from map(self.name, range(first, stop))

    def __iter__(self) -> Iterator[str]:
        return map(self.name, range(len(self)))

    def without(self) -> bytes:
        """Return the text with no member in the copy."""
        return self.raw[: self.opening] + self.raw[self.closing :]

    def edited(self, changes: Mapping[str, Any]) -> CopyText:
        """Return the text with other members.

        Parameters
        ----------
        changes : mapping of name to JSON value
            The changed and new members; None removes a member.
        """
        parts = self._parts(changes) if self._in_order else self._sorted_parts(changes)
        made = self._joined(parts, changes)
        made.place = self.place
        _forget(self)  # it makes room for what it becomes
        return _keep(made)

    def _parts(self, changes: Mapping[str, Any]) -> list[tuple[int, int] | str]:
        """Return the parts of the changed table: ranges of members that stay, and names of those that change."""
        old = {name: self.place_of(name) for name in changes}
        events = [(number, name) for name, (number, there) in old.items() if there or changes[name] is not None]
        parts: list[tuple[int, int] | str] = []
        at = 0
        for number, name in sorted(events, key=lambda event: (event[0], tree_order(event[1]))):
            if at < number:
                parts.append((at, number))
            at = number + old[name][1]
            if changes[name] is not None:
                parts.append(name)
        if at < len(self):
            parts.append((at, len(self)))
        return parts

    def _sorted_parts(self, changes: Mapping[str, Any]) -> list[tuple[int, int] | str]:
        """Do the same where the members are in no order, and bring them into order."""
        members: dict[str, tuple[int, int] | str] = {
            name: (number, number + 1) for name, number in self._numbers.items() if name not in changes
        }
        members.update({name: name for name, value in changes.items() if value is not None})
        return [members[name] for name in sorted(members, key=tree_order)]

    def _joined(self, parts: list[tuple[int, int] | str], changes: Mapping[str, Any]) -> CopyText:
        """Join the parts of a changed table to the text of the whole document."""
        whole, step = memoryview(self.raw), self._step()
        lead, separator, tail = self._margins(step)
        step = self._member_step(step) if b"\n" in lead else None
        pieces: list[Any] = [whole[: self.opening]]
        places, names, length = [], [], self.opening
        for part in parts:
            between = lead if length == self.opening else separator
            text: bytes | memoryview
            if isinstance(part, str):
                name = encode_string(part).encode("ascii")
                text = b"%s: %s" % (name, dump_document(changes[part], indent=step).replace(b"\n", lead))
                begin = length + len(between)
                moved = np.array([[begin + 1, begin + len(name) - 1, begin + len(text)]], dtype=np.int64)
                names.append(part)
            else:
                first, stop = part
                start, end = int(self.places[first, 0]) - 1, int(self.places[stop - 1, 2])
                text, moved = whole[start:end], self.places[first:stop] + (length + len(between) - start)
                names.extend(self.names[first:stop] if self.names is not None else ())
            pieces += (between, text)
            places.append(moved)
            length += len(between) + len(text)
        tail = tail if parts else b""
        if len(whole) > _LARGE_BYTES:
            # The C library gives the memory of each larger text back, and new pages cost more than the text, unless it
            # has seen a larger block come and go.
            np.empty(length + length // 8, np.uint8)
        made = b"".join((*pieces, tail, whole[self.closing :]))
        table = np.concatenate(places) if places else np.empty((0, 3), np.int64)
        plain = self.names is None and all(_is_plain(part) for part in parts if isinstance(part, str))
        if not plain and self.names is None:
            names = [encoded_name(made[start:stop]) for start, stop, _ in table.tolist()]
        found = None if plain else names
        return CopyText(made, self.table_path, self.opening, length + len(tail), table, found, in_order=True)

    def _step(self) -> int | None:
        """Return the number of spaces of one level of indentation; None if the text is one line."""
        start = self.raw.index(b"{") + 1
        margin = self.raw[start : self.raw.index(b'"', start)]
        return len(margin) - margin.rindex(b"\n") - 1 if b"\n" in margin and not margin.strip() else None

    def _member_step(self, step: int | None) -> int | None:
        """Return the spaces of a level within the members; None if each is one line."""
        if step is None or (len(self) and self.raw.find(b"\n", *self.places[0, ::2].tolist()) >= 0):
            return step
        return member_step(step)

    def _margins(self, step: int | None) -> tuple[bytes, bytes, bytes]:
        """Return the text before the first member, between two members, and after the last one."""
        if len(self):
            lead = self.raw[self.opening : int(self.places[0, 0]) - 1]
            tail = self.raw[int(self.places[-1, 2]) : self.closing]
        elif step is None:
            lead = tail = b""
        else:
            tail = b"\n" + b" " * (step * len(self.table_path))
            lead = tail + b" " * step
        return lead, b"," + (lead if b"\n" in lead else b" "), tail


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isprintable() and '"' not in name and "\\" not in name


def encoded_name(raw: bytes) -> str:
    """Return the name of a member from its JSON form without the quotes."""
    name: str = next(iter(load_document(b'{"%s": 0}' % raw, "a name")))
    return name


def member_step(step: int) -> int | None:
    """Return the spaces of a level within the members of a copy, in a document that is written with ``step`` spaces.

    None by the default of ``json_indent``: each member is one line then. That is half of the bytes, all of which each
    change of a member writes. Another setting counts for the members, too.

    Examples
    --------
    >>> member_step(2), member_step(4)
    (None, 4)
    """
    return None if step == DEFAULTS["json_indent"] else step


def write_copy(document: Mapping[str, Any], members: Mapping[str, bytes], step: int) -> bytes:
    """Write the document of a group that carries a copy.

    Parameters
    ----------
    document : mapping
        That of the group, with nothing in its copy.
    members : mapping of path to bytes
        The documents of the nodes in tree order, as :func:`dump_document` writes them.
    step : int
        The spaces of a level; at least 1.

    Examples
    --------
    >>> write_copy({"consolidated_metadata": {"metadata": {}}}, {"a": b"{}"}, 1).split()[-7:]
    [b'"metadata":', b'{', b'"a":', b'{}', b'}', b'}', b'}']
    """
    raw, margin = dump_document(document, indent=step), b"\n" + b" " * step
    table = margin + b" " * step + b'"metadata": {'
    start = raw.index(table, raw.index(margin + b'"consolidated_metadata": {')) + len(table)
    lead = margin + b" " * (2 * step)
    texts = [
        b"%s%s: %s" % (lead, encode_string(name).encode(), text.replace(b"\n", lead)) for name, text in members.items()
    ]
    closing = margin + b" " * step if members else b""
    return raw[:start] + b",".join(texts) + closing + raw[start:]


def _keep(copy: CopyText) -> CopyText:
    _kept.append(copy)
    while len(kept := tuple(_kept)) > 1 and sum(len(each.raw) for each in kept) > MOST_KEPT_BYTES:
        _forget(kept[0])
    return copy


def _forget(copy: CopyText) -> None:
    try:
        _kept.remove(copy)
    except (ValueError, IndexError):
        return  # another thread was first, or is changing what is kept


def kept_copy(place: str) -> CopyText | None:
    """Return the text that a document had when this process last looked at it or wrote it, if it is kept."""
    newest = reversed(tuple(_kept))  # an older text stays for a while after another process has replaced the document
    return next((copy for copy in newest if copy.place == place), None)


def find_copy(raw: bytes, name: str, label: str) -> CopyText | None:
    """Find the members of the copy in a document.

    Parameters
    ----------
    raw : bytes
    name : str
        That of the document: ``zarr.json`` or ``.zmetadata``.
    label : str
        How to call it in messages.

    Returns
    -------
    CopyText or None
        None where it has no copy.

    Raises
    ------
    MetadataValidationError
        If it is no document.
    """
    table_path = TABLE_PATHS[name]
    found = _looked_up(raw, table_path)
    if found is not None:
        return found
    document = load_document(raw, label)  # another form, or damaged
    table: Any = document
    for step in table_path:
        table = table.get(step.decode()) if isinstance(table, dict) else None
    return _looked_up(dump_document(document), table_path) if isinstance(table, dict) else None


def _looked_up(raw: bytes, table_path: tuple[bytes, ...]) -> CopyText | None:
    for kept in tuple(_kept):
        if kept.table_path == table_path and kept.raw == raw:
            return kept
    found = _located(raw, table_path)
    return None if found is None else _keep(found)


def _located(raw: bytes, table_path: tuple[bytes, ...]) -> CopyText | None:
    """Find the members in a text; None where that is no such document, or has a name twice."""
    found = zarr_core.find_json_members(raw, table_path)
    if found is None:
        return None
    opening, closing, places, plain, ordered = found
    if plain and ordered:
        return CopyText(raw, table_path, opening, closing, places, None)
    cut = [raw[start:stop] for start, stop, _ in places.tolist()]
    try:
        names = [str(name, "ascii") for name in cut] if plain else list(map(encoded_name, cut))
    except ValueError:
        return None
    return CopyText(raw, table_path, opening, closing, places, names) if len(set(names)) == len(names) else None


def load_without_copy(raw: bytes, name: str) -> dict[str, Any]:
    """Parse the document ``zarr.json`` of a group without the copy that it carries, which may be damaged.

    Parameters and errors are those of :func:`zarr.metadata.documents.load_document`.
    """
    document = None
    if len(raw) <= SMALL_BYTES:
        with suppress(MetadataValidationError):
            document = load_document(raw, name)
    if document is None:
        copy = _looked_up(raw, TABLE_PATHS[INLINE])
        document = load_document(raw if copy is None else copy.without(), name)
    document.pop("consolidated_metadata", None)
    return document


def with_stored_copy(raw: bytes, copy: CopyText) -> bytes:
    """Return a document ``zarr.json`` of a group with the copy of another text of it, which is not parsed.

    Parameters
    ----------
    raw : bytes
        The document; its copy is empty.
    copy : CopyText
        The copy of the other text.

    Examples
    --------
    >>> copy = find_copy(b'{"consolidated_metadata": {"metadata": {"a": 1}}}', INLINE, INLINE)
    >>> empty = b'{"zarr_format": 3, "consolidated_metadata": {"metadata": {}}, "node_type": "group"}'
    >>> with_stored_copy(empty, copy)
    b'{"zarr_format": 3, "consolidated_metadata": {"metadata": {"a": 1}}, "node_type": "group"}'
    """
    place = _located(raw, TABLE_PATHS[INLINE])
    assert place is not None
    return raw[: place.opening] + copy.raw[copy.opening : copy.closing] + raw[place.closing :]


SMALL_BYTES: Final = 4096
"""A document of no more bytes is parsed sooner than its members are looked for."""


_MOST_BRACKETS: Final = 400  # a piece with more of them could be nested deeper than documents may be


class Piece(NamedTuple):
    """One member of consolidated metadata.

    Attributes
    ----------
    key : bytes
        Its text between the braces.
    members : dict or None
        Its parsed members, if they are in the cache.
    document : dict or None
        Its JSON object, if they are not.
    known : dict
        The cache for its members.
    """

    key: bytes
    members: dict[str, Any] | None
    document: dict[str, Any] | None
    known: Documents


def load_with_copy(raw: bytes, name: str) -> dict[str, Any]:
    """Parse the document of a group; consolidated metadata with many entries may be parsed as pieces.

    Parameters
    ----------
    raw, name
        As for :func:`zarr.metadata.documents.load_document`.

    Returns
    -------
    dict
        The values of ``document["consolidated_metadata"]["metadata"]`` are either all :class:`Piece` or all plain.

    Raises
    ------
    MetadataValidationError
        As for :func:`zarr.metadata.documents.load_document`.

    Examples
    --------
    >>> load_with_copy(b'{"zarr_format": 3}', "zarr.json")
    {'zarr_format': 3}
    """
    copy = _located(raw, TABLE_PATHS[INLINE]) if SMALL_BYTES < len(raw) <= MAX_DOCUMENT_BYTES else None
    if copy is not None:
        with suppress(ValueError):  # the error of the whole document says where it is
            pieces = dict(_pieces(copy))
            document = load_document(copy.without(), name)
            document["consolidated_metadata"]["metadata"] = pieces
            return document
    return load_document(raw, name)


def _pieces(copy: CopyText) -> Iterator[tuple[str, Piece]]:
    """Yield the members of a copy; ValueError if one of them is no JSON object by itself."""
    known = known_documents()
    places = copy.places.tolist()
    names = copy.names or [str(copy.raw[start:stop], "ascii") for start, stop, _ in places]
    for name, (_, stop, end) in zip(names, places, strict=True):
        colon, brace, key = copy.raw[stop + 1 : end - 1].partition(b"{")
        if colon.strip() != b":" or not brace or not name.isprintable():
            raise ValueError("no object, or an unusual name")
        members = find_members(known, key)
        if members is None and key.count(b"{") + key.count(b"[") > _MOST_BRACKETS:
            raise ValueError("possibly nested too deeply")
        yield name, Piece(key, members, load_document(b"{" + key + b"}", "a piece") if members is None else None, known)
