"""Metadata documents as bytes: JSON in and out.

Documents are limited and checked before they are parsed. The writer gives the same bytes as ``json.dumps``, but is
several times faster for indented documents.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from operator import is_
from typing import Any, Final, NoReturn

import numpy as np

from zarr.defaults import settings
from zarr.errors import GroupNotFoundError, MetadataValidationError, NodeTypeValidationError

# Larger documents are not metadata; reading one would only use up memory.
MAX_DOCUMENT_BYTES = 2**30
# A document nested deeper than this cannot be written back; parsers of other libraries stop much earlier.
MAX_DOCUMENT_DEPTH = 512

_TOO_DEEP = "The metadata document is nested too deeply, or contains itself."
_BOM = b"\xef\xbb\xbf"  # skipped as by the codec "utf-8-sig", which is written in Python
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_AT_ONCE = 1 << 20
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
encode_string: Callable[[str], str] = json.encoder.encode_basestring_ascii


def load_document(raw: bytes, name: str) -> dict[str, Any]:
    """Parse a metadata document.

    Parameters
    ----------
    raw
        The bytes.
    name
        The name of the document in messages: its key, or its key and store.

    Returns
    -------
    dict
        Integers are exact; ``NaN``, ``Infinity`` and ``-Infinity``, which are not JSON but occur, are floats.

    Raises
    ------
    MetadataValidationError
        If it is nested too deeply or too large; or not UTF-8, not JSON or no object: then the error is also a
        ``UnicodeDecodeError``, a ``json.JSONDecodeError`` or a ``TypeError``.

    Examples
    --------
    >>> load_document(b'{"zarr_format": 2}', ".zgroup")
    {'zarr_format': 2}
    """
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise MetadataValidationError(
            f"The document {name!r} has {len(raw)} bytes, more than the limit of {MAX_DOCUMENT_BYTES} for metadata."
        )
    try:
        document = json.loads(str(raw[3:] if raw.startswith(_BOM) else raw, "utf-8"))
    except UnicodeDecodeError as error:
        raise MetadataEncodingError(
            f"The document {name!r} is not UTF-8: byte {error.object[error.start]:#04x} at offset {error.start}.", error
        ) from error
    except RecursionError:
        raise MetadataValidationError(f"The document {name!r} is nested too deeply.") from None
    except json.JSONDecodeError as error:
        hint = " It is empty." if not raw.strip() else ""
        raise JSONDecodeError(f"The document {name!r} is not valid JSON: {error}.{hint}", error) from error
    except ValueError as error:  # a number with more digits than Python reads
        raise MetadataValidationError(f"The document {name!r} is not valid JSON: {error}.") from error
    if not isinstance(document, dict):
        raise MetadataTypeError(f"The document {name!r} must be a JSON object, but it is {_json_kind(document)}.")
    suspect = raw.count(b"[") + raw.count(b"{") > MAX_DOCUMENT_DEPTH and _depth(raw) > MAX_DOCUMENT_DEPTH
    if suspect and _depth(_STRING.sub(b"", raw)) > MAX_DOCUMENT_DEPTH:
        raise MetadataValidationError(
            f"The document {name!r} is nested too deeply: more than {MAX_DOCUMENT_DEPTH} levels."
        )
    return document


def _json_kind(value: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


def _depth(raw: bytes) -> int:
    """Return how deep brackets are nested in a text of JSON, with those in its strings."""
    brackets = np.frombuffer(raw.translate(None, _NO_BRACKETS), dtype=np.int8)
    now = low = high = 0
    for start in range(0, len(brackets), _AT_ONCE):
        # The opening ones have the bit 2, the closing ones have not.
        depths = now + np.cumsum((brackets[start : start + _AT_ONCE] & 2) - 1, dtype=np.int64)
        now, low, high = int(depths[-1]), min(low, int(depths.min())), max(high, int(depths.max()))
    return high - low


def dump_document(document: Mapping[str, Any], *, indent: int | str | None = "config") -> bytes:
    """Write a metadata document.

    Parameters
    ----------
    document
        The members; tuples are written as arrays.
    indent
        Number of spaces for each level; None for one line. By default the setting ``json_indent``.

    Returns
    -------
    bytes
        ASCII: other characters are escaped.

    Raises
    ------
    TypeError
        If something in it has no JSON form; the message has its place.
    ValueError
        If it contains itself or is nested too deeply.

    Examples
    --------
    >>> dump_document({"zarr_format": 2}, indent=None)
    b'{"zarr_format": 2}'
    """
    if indent == "config":
        indent = settings.get("json_indent", 2)
    try:
        if type(indent) is not int or indent < 0:
            return json.dumps(document, indent=indent, default=_scalar_or_error).encode("ascii")
        text = _text("\n", " " * indent, document)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except TypeError as error:
        place = _unwritable(document, "")
        where = f" (at {place})" if place else ""
        raise TypeError(
            f"{error}{where}. JSON has numbers, strings, lists, objects, true, false and null only: convert other "
            "values, such as arrays by tolist()."
        ) from error
    return text.encode("ascii")


class DocumentFrame:
    """A document of which a few members change: all others are written once.

    Parameters
    ----------
    document
        The members, in their order.
    changing
        The names of the changing members; each must be in the document.
    indent
        Number of spaces for each level, at least 0; None for one line.

    Examples
    --------
    >>> frame = DocumentFrame({"shape": (), "zarr_format": 3}, ("shape",), 0)
    >>> frame.filled({"shape": (2,)}) == dump_document({"shape": (2,), "zarr_format": 3}, indent=0)
    True
    """

    __slots__ = ("_names", "_pieces", "_write")

    def __init__(self, document: Mapping[str, Any], changing: Collection[str], indent: int | None) -> None:
        step = " " * (indent or 0)
        margin = lead = "" if indent is None else "\n" + step
        self._write = _line if indent is None else partial(_text, margin, step)
        self._names = [name for name in document if name in changing]
        self._pieces: list[str] = []
        piece = "{"
        for name, value in document.items():
            piece += f"{lead}{encode_string(name)}: "
            lead = "," + (margin or " ")
            if name in changing:
                self._pieces.append(piece)
                piece = ""
            else:
                piece += self._write(value)
        self._pieces.append(piece + ("}" if indent is None else "\n}"))

    def filled(self, values: Mapping[str, Any]) -> bytes:
        """Return the document with these values of the changing members.

        Raises
        ------
        TypeError, ValueError, RecursionError
            If one of them cannot be written; :func:`dump_document` reports the reason and the place.
        """
        pieces, write = self._pieces, self._write
        texts = [piece + write(values[name]) for name, piece in zip(self._names, pieces, strict=False)]
        return ("".join(texts) + pieces[-1]).encode("ascii")


def dump_framed(
    frames: dict[Any, Any], to_dict: Callable[[], dict[str, Any]], values: Mapping[str, Any], indent: Any
) -> bytes:
    """Write a document of which only some members have changed.

    Parameters
    ----------
    frames : dict
        The rest of the document, by indent: the caller keeps it, this function fills it.
    to_dict : callable
        Returns the whole document.
    values : mapping
        The changing members.
    indent : int, str or None
        As for :func:`dump_document`, with the same result and the same errors.

    Examples
    --------
    >>> dump_framed({}, lambda: {"a": 1, "b": 2}, {"b": 3}, 0)
    b'{\\n"a": 1,\\n"b": 3\\n}'
    """
    if indent is not None and (type(indent) is not int or indent < 0):
        return dump_document({**to_dict(), **values}, indent=indent)
    try:
        frame: DocumentFrame | None = frames.get(indent)
        if frame is None:
            frame = frames[indent] = DocumentFrame({**to_dict(), **dict.fromkeys(values)}, values, indent)
        return frame.filled(values)
    except (TypeError, ValueError, RecursionError):
        return dump_document({**to_dict(), **values}, indent=indent)


def _line(value: Any) -> str:
    """Return one value as ``json.dumps(value)`` writes it."""
    write = SCALARS.get(type(value))
    return json.dumps(value, default=_scalar_or_error) if write is None else write(value)


def _text(margin: str, step: str, value: Any) -> str:
    """Return one value as ``json.dumps(value, indent=...)`` writes it; ``margin`` is a newline and the indent."""
    write = SCALARS.get(type(value))
    if write is not None:
        return write(value)
    inner = margin + step
    if isinstance(value, dict):
        if not value:
            return "{}"
        members = [
            f"{encode_string(key if type(key) is str else _key(key))}: "
            + (short(item) if (short := SCALARS.get(type(item))) else _text(inner, step, item))
            for key, item in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(members)}{margin}}}"
    if isinstance(value, list | tuple):
        if not value:
            return "[]"
        items = [short(item) if (short := SCALARS.get(type(item))) else _text(inner, step, item) for item in value]
        return f"[{inner}{f',{inner}'.join(items)}{margin}]"
    return json.dumps(value, default=_scalar_or_error)


def plain(value: Any) -> Any:
    """Return a value with Python's numbers, booleans and strings in place of NumPy's, which JSON does not have.

    Parameters
    ----------
    value
        Any value; dicts, lists and tuples are searched, and returned unchanged if there is nothing to replace.

    Raises
    ------
    ValueError
        If it contains itself or is nested too deeply.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": [np.int64(3), "x"]})
    {'a': [3, 'x']}
    """
    if isinstance(value, np.generic):
        item = value.item()
        return item if isinstance(item, bool | int | float | str) else value
    try:
        if type(value) is dict:
            changed = {plain(key): plain(item) for key, item in value.items()}
            if all(map(is_, changed, value)) and all(map(is_, changed.values(), value.values())):
                return value
            return changed
        if type(value) in (list, tuple):
            items = [plain(item) for item in value]
            return value if all(map(is_, items, value)) else type(value)(items)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return value


def _scalar_or_error(value: Any) -> Any:
    item = plain(value)
    if item is value:
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return item


def _float(value: float) -> str:
    return float.__repr__(value) if math.isfinite(value) else json.dumps(value)


SCALARS: dict[type, Callable[[Any], str]] = {
    str: encode_string,
    int: repr,
    float: _float,
    bool: lambda value: "true" if value else "false",
    type(None): lambda value: "null",
}


def _key(key: object) -> str:
    """Return a key of an object as ``json.dumps`` writes it."""
    if isinstance(key, str):
        return key
    if isinstance(key, int | float) or key is None:
        return json.dumps(key)
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")


def _unwritable(value: Any, place: str) -> str:
    """Return the place of the first value that has no JSON form, or an empty string."""
    children: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, Mapping) and isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list | tuple):
        children = list(enumerate(value))
    else:
        try:
            json.dumps(value, default=_scalar_or_error)
        except (TypeError, ValueError):
            return place
        return ""
    for key, child in children:
        here = f"{place}[{key!r}]" if place else str(key)
        found = _unwritable(child, here)
        if found:
            return found
    return ""


ADVICE: Final = {
    "codecs": (
        "; drafts of format 3 had none where chunks are elements in little-endian order, one after another: if these "
        'are, add "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}] to the document'
    )
}
"""Advice about a missing member."""


class MetadataTypeError(MetadataValidationError, TypeError):
    """A member of a metadata document is of the wrong type."""


class MetadataKeyError(MetadataValidationError, KeyError):
    """A member of a metadata document is missing."""

    # KeyError would show the message in quotes.
    __str__ = Exception.__str__


class MetadataMemberError(MetadataKeyError, MetadataTypeError):
    """A member that every array has is missing in a document of format 2: also a ``TypeError``, as in zarr-python."""


class MissingParentError(GroupNotFoundError, MetadataKeyError):
    """Consolidated metadata lists a node below a group that it does not list, so that the group cannot be opened."""


class MissingNodeTypeError(NodeTypeValidationError, MetadataMemberError):
    """A document ``zarr.json`` does not state its kind of node."""


class JSONDecodeError(MetadataValidationError, json.JSONDecodeError):
    """A metadata document is not JSON; ``pos`` and ``doc`` are those of the parser's error.

    It has the name of its base class, since programs print and compare the names of errors.
    """

    def __init__(self, message: str, found: json.JSONDecodeError | None = None) -> None:
        ValueError.__init__(self, message)
        if found is not None:
            self.__dict__.update(found.__dict__)

    def __reduce__(self) -> Any:
        return type(self), self.args, self.__dict__


class MetadataEncodingError(MetadataValidationError, UnicodeDecodeError):
    """A metadata document is not UTF-8."""

    def __init__(self, message: str, found: UnicodeDecodeError | None = None) -> None:
        if found is not None:
            UnicodeDecodeError.__init__(self, *found.args)
        self.args = (message,)

    # UnicodeDecodeError would write a message of its own.
    __str__ = Exception.__str__


class MetadataRangeError(MetadataValidationError, OverflowError):
    """A number in a metadata document does not fit its data type."""


def document_place(document: str, path: str | None, member: str | None = None) -> str:
    """Name a place in a document.

    Parameters
    ----------
    document
        Name of the document, such as ``zarr.json``.
    path
        Path of the node, if it is known.
    member
        Member of the document with the fault, if it is known.

    Examples
    --------
    >>> document_place("zarr.json", "a/b", "codecs")
    "'codecs' of 'a/b/zarr.json'"
    """
    name = f"'{path}/{document}'" if path else f"'{document}'"
    return f"'{member}' of {name}" if member else name


def locate(error: Exception, place: str) -> Exception:
    """Return the error to raise in place of ``error``, with the place in its message.

    Faults of a value become `MetadataValidationError`; errors of type, of a missing member and of range become a
    subclass that is also the builtin, so that ``except TypeError`` and ``except KeyError`` still work. Errors of a
    class of their own, such as `UnknownCodecError`, keep it.

    Parameters
    ----------
    error
        The error of a parser.
    place
        The result of `document_place`.

    Examples
    --------
    >>> str(locate(ValueError("no such thing"), "'codecs' of 'zarr.json'"))
    "no such thing (in 'codecs' of 'zarr.json')"
    """
    message = f"{error.args[0] if error.args else error} (in {place})"
    if isinstance(error, MetadataKeyError | MetadataTypeError | MetadataRangeError):
        return type(error)(message)
    if isinstance(error, KeyError):
        return MetadataKeyError(message)
    if isinstance(error, OverflowError):
        return MetadataRangeError(message)
    if type(error) is TypeError:
        return MetadataTypeError(message)
    if type(error) is ValueError or (isinstance(error, ValueError) and not type(error).__module__.startswith("zarr")):
        # Plain builtin errors, and those of the standard library, such as that of base64.
        return MetadataValidationError(message)
    error.add_note(f"in {place}")
    return error


def raise_located(error: Exception, place: str) -> NoReturn:
    """Raise the error of :func:`locate` for a caught one, with the caught one as its cause.

    Examples
    --------
    >>> try:
    ...     raise_located(KeyError("x"), "'zarr.json'")
    ... except KeyError as error:
    ...     str(error), error.__cause__
    ("x (in 'zarr.json')", KeyError('x'))
    """
    located = locate(error, place)
    if located is error:
        raise error
    raise located from error


def require(document: Mapping[str, object], member: str, missing: type[MetadataKeyError] = MetadataKeyError) -> object:
    """Return a required member of a document.

    Raises
    ------
    MetadataKeyError
        If it is absent.

    Examples
    --------
    >>> require({"shape": [1]}, "shape")
    [1]
    """
    try:
        return document[member]
    except KeyError:
        raise missing(f"The required member '{member}' is missing{ADVICE.get(member, '')}") from None
