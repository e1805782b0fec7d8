"""Saying where in which document a fault lies."""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONDecodeError
from typing import Any, Final

from zarr.errors import MetadataValidationError, NodeTypeValidationError

ADVICE: Final = {
    "codecs": (
        "; drafts of format 3 had none where chunks are elements in little-endian order, one after another: if these "
        'are, add "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}] to the document'
    )
}
"""What to do about a member that is missing."""


class MetadataTypeError(MetadataValidationError, TypeError):
    """A member of a metadata document is of the wrong type."""


class MetadataKeyError(MetadataValidationError, KeyError):
    """A member of a metadata document is missing."""

    # KeyError would show the message in quotes.
    __str__ = Exception.__str__


class MetadataMemberError(MetadataKeyError, MetadataTypeError):
    """A member of a document of format 2 is missing that every array has: also a ``TypeError``, as in zarr-python."""


class MissingNodeTypeError(NodeTypeValidationError, MetadataMemberError):
    """A document ``zarr.json`` says not of what kind of node it is."""


class MetadataSyntaxError(MetadataValidationError, JSONDecodeError):
    """A metadata document is no JSON: where it ceases to be, and its text, are in ``pos`` and ``doc``."""

    def __init__(self, message: str, found: JSONDecodeError | None = None) -> None:
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

    # That of UnicodeDecodeError writes a message of its own.
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
        Member of the document, if the fault lies in one.

    Returns
    -------
    str

    Examples
    --------
    >>> document_place("zarr.json", "a/b", "codecs")
    "'codecs' of 'a/b/zarr.json'"
    """
    name = f"'{path}/{document}'" if path else f"'{document}'"
    return f"'{member}' of {name}" if member else name


def locate(error: Exception, place: str) -> Exception:
    """Return the error to raise in the stead of ``error``, with the place in its message.

    Faults of a value become `MetadataValidationError`; those of type, of a missing member and of range become a
    subclass that is also the builtin, so that ``except TypeError`` and ``except KeyError`` go on working. Errors of
    a class of their own, such as `UnknownCodecError`, keep it.

    Parameters
    ----------
    error
        What a parser raised.
    place
        From `document_place`.

    Returns
    -------
    Exception

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
        # Plain ones, and those of the standard library, such as that of base64.
        return MetadataValidationError(message)
    error.add_note(f"in {place}")
    return error


def require(
    document: Mapping[str, object], member: str, missing: type[MetadataKeyError] = MetadataKeyError
) -> object:
    """Return a member that a document must have.

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
