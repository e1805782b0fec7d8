"""Every exception and warning of the library.

Errors built from several arguments fill the class's sentence (``_msg``) with them; errors built from one argument say
that argument. All of them survive pickling, because ``args`` then holds the finished sentence only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from zarr.notices import warn

_LONGEST_LABEL: Final = 300


def label_of(store: object, form: Callable[[object], str] = repr) -> str:
    """Return a store's text for messages and tables, without calling a method that is not of this library.

    Messages are made on the event loop and while locks are held. A method of somebody else's may wait there for what
    the loop, or the holder of the lock, would have to do first; so a store of somebody else's is named by its class.

    Parameters
    ----------
    store : object
    form : callable
        ``repr`` or ``str``.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> store = MemoryStore()
    >>> label_of(store) == repr(store)
    True
    """
    try:
        return form(store)[:_LONGEST_LABEL] if _has_our_text(store) else object.__repr__(store)
    except Exception:  # a label must not hide the error that it belongs to
        return object.__repr__(store)


def _has_our_text(store: object) -> bool:
    """Return whether the texts of a store, and of all stores that it wraps, are made by this library."""
    if not _class_has_our_text(cast("Any", type(store))):
        return False
    for held in getattr(store, "__dict__", {}).values():  # a generator would be one frame more
        if _is_store_class(cast("Any", type(held))) and not _has_our_text(held):
            return False
    return True


@cache
def _class_has_our_text(cls: type) -> bool:
    makers = [next(base for base in cls.__mro__ if name in vars(base)) for name in ("__repr__", "__str__")]
    return all(maker is object or maker.__module__.startswith("zarr.") for maker in makers)


@cache
def _is_store_class(cls: type) -> bool:
    return hasattr(cls, "get_partial_values")


class _Label:
    """A store as it stands in a message."""

    def __init__(self, store: object) -> None:
        self.text = label_of(store)

    def __repr__(self) -> str:
        return self.text


class BaseZarrError(ValueError):
    """Base of the errors that carry a sentence of their own.

    Parameters
    ----------
    *args
        One argument is the message itself. Several arguments fill the placeholders of the class's sentence.

    Examples
    --------
    >>> str(BaseZarrError("no such thing"))
    'no such thing'
    """

    _msg: str = "{}"

    def __init__(self, *args: object) -> None:
        if len(args) > 1:
            named = [_Label(arg) if _is_store_class(cast("Any", type(arg))) else arg for arg in args]
            args = (self._msg.format(*named),)
        super().__init__(*args)

    def __reduce__(self) -> tuple[Any, ...] | str:
        """Return what makes the error again: its class and its arguments."""
        # Said by this class: what pickles errors with their tracebacks, as distributed does, looks whether it is.
        return super().__reduce__()


class NodeNotFoundError(BaseZarrError, FileNotFoundError):
    """There is neither an array nor a group at the given place."""


class ArrayNotFoundError(NodeNotFoundError):
    """There is no array at the given place. Arguments: the store, the path."""

    _msg = "No array found in store {!r} at path {!r}"


class GroupNotFoundError(NodeNotFoundError):
    """There is no group at the given place. Arguments: the store, the path."""

    _msg = "No group found in store {!r} at path {!r}"


class PlaceNotFoundError(ArrayNotFoundError, GroupNotFoundError):
    """There is not even the folder in which a node is looked for."""


class ContainsGroupError(BaseZarrError):
    """A group is already there. Arguments: the store, the path."""

    _msg = "A group exists in store {!r} at path {!r}. Open it with open_group, or replace it with overwrite=True."


class ContainsArrayError(BaseZarrError):
    """An array is already there. Arguments: the store, the path."""

    _msg = "An array exists in store {!r} at path {!r}. Open it with open_array, or replace it with overwrite=True."


class ContainsArrayAndGroupError(BaseZarrError):
    """Array and group documents of format 2 lie side by side. Arguments: the store, the path."""

    _msg = (
        "Array and group metadata documents (.zarray and .zgroup) were both found in store {!r} at path {!r}. "
        "Only one of them may be there: remove the .zarray file, or the .zgroup file, or both."
    )


class DataTypeValidationError(ValueError):
    """A data type cannot be made from what was given."""


class MetadataValidationError(BaseZarrError):
    """A metadata document breaks the format. Arguments: the field, what was expected, what was found."""

    _msg = "Invalid value for '{}'. Expected '{}'. Got '{}'."

    def __init__(self, *args: object) -> None:
        if len(args) == 2:
            args = (": ".join(str(arg) for arg in args),)
        super().__init__(*args)


class NodeTypeValidationError(MetadataValidationError):
    """The ``node_type`` of a metadata document is not the one asked for."""


class WrongTypeError(BaseZarrError, TypeError):
    """An argument is of a type that means nothing there.

    Whether that is a ``TypeError`` or a ``ValueError`` differs in Python, NumPy and zarr-python from place to place: it
    is both.
    """


class UnknownCodecError(BaseZarrError):
    """No implementation is known for the name of a codec."""


class PickleCodecDisabledError(BaseZarrError, RuntimeError):
    """Reading would unpickle data, which can run any code, and nobody allowed that.

    Allow it for data that you trust with ``zarr.config.set({"array.allow_unsafe_pickle_decode": True})``, or with
    ``numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE = True``.
    """


class ReadOnlyError(BaseZarrError, PermissionError):
    """Something tried to write to a store or a node that is open for reading only."""


class TransactionConflictError(BaseZarrError):
    """A value that a transaction had read was changed by others before it was applied; nothing of it was stored."""


class ChunkNotFoundError(BaseZarrError):
    """A chunk is absent and the array's configuration says that absent chunks are an error."""


class ArrayTooLargeError(BaseZarrError, MemoryError):
    """An array that was asked for, or of the size that a document states, does not fit in memory."""


class LockLostError(BaseZarrError, OSError):
    """A lock among processes ran out while it was held, or another process changed what this one was changing."""


class LockedByCallerError(BaseZarrError, RuntimeError):
    """Raised for an operation that would wait for a lock inside another operation of its thread that holds locks.

    Waiting could never end. Such a call comes from ``__del__``, from a signal handler or from the code of a store or
    codec, inside an operation; or it is a synchronous call among tasks of one event loop. It ends as
    after any other error: a single chunk, document or append is stored whole or not at all.
    """


class NotAValueError(BaseZarrError, OSError):
    """Something that is no file (a folder, a pipe, a device, a link to nothing) stands where a value should be.

    Parameters
    ----------
    what : str
        What stands there.
    path : str
        Where.
    number : int
        The system's number for it.
    """

    _wanted = "a value"

    def __init__(self, what: str, path: str = "", number: int = 0) -> None:
        super().__init__(f"{what} stands where {self._wanted} should be: {path!r}; move it away" if path else what)
        self.errno = number or None


class BrokenReferenceError(BaseZarrError, OSError):
    """A key stands for bytes of another file, which are not there or may not be read."""


class StoreDamagedError(BaseZarrError):
    """The one file that holds a store, a zip archive or a database, is damaged, or is no such file."""


class KeyNotAllowedError(BaseZarrError):
    """A key could lead out of its store, or means different things to different file systems."""


class LinkLeavesStoreError(KeyNotAllowedError, PermissionError):
    """Symbolic links lead a key out of its store, and the store was opened with ``links="inside"``."""


class StoreUrlError(BaseZarrError):
    """A URL or a path names no store: it is malformed, or what it names cannot be opened in this way."""


class FolderInPlaceError(NotAValueError, IsADirectoryError):
    """A folder stands where a value should be."""


class FileInPlaceError(NotAValueError, NotADirectoryError):
    """A file stands where a folder of values should be."""

    _wanted = "a folder"


class ChunkError(BaseZarrError):
    """Something is wrong with one chunk.

    Parameters
    ----------
    *args
        The message.
    array, key, codec
        The path of the array, the store key of the chunk and the name of the codec, where they are known.

    Attributes
    ----------
    place : str
        Which chunk of which array in which store; part of the message where it is known.

    Examples
    --------
    >>> error = ChunkError("bad bytes", array="a/b", key="a/b/c/0", codec="zstd")
    >>> error.key, error.codec
    ('a/b/c/0', 'zstd')
    >>> error.place = "chunk 'c/0' of array /a/b"
    >>> str(error)
    "bad bytes (chunk 'c/0' of array /a/b)"
    """

    remedy: str = ""
    """The advice to the user."""

    def __init__(
        self, *args: object, array: str | None = None, key: str | None = None, codec: str | None = None
    ) -> None:
        super().__init__(*args)
        self.array = array
        self.key = key
        self.codec = codec
        self.place = ""

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({self.place})" if self.place else text


class ChunkDecodeError(ChunkError):
    """The stored bytes of a chunk cannot be turned into array elements."""

    remedy = (
        "What to do: put back the stored value from a copy, or write the chunk anew; where its key is "
        "deleted, it counts as missing."
    )


class ChunkChecksumError(ChunkDecodeError):
    """The stored bytes of a chunk do not have the checksum that was written with them."""


class ChunkEncodeError(ChunkError):
    """The elements of a chunk cannot be turned into bytes."""

    remedy = "What to do: write values that the codec can take, or make the array with another codec."


class NothingToStoreError(ChunkEncodeError):
    """A codec says that a chunk need not be stored, where there must be something to store."""


class VindexInvalidSelectionError(IndexError):
    """The selection is not one that coordinate indexing takes."""


class NegativeStepError(IndexError):
    """A slice with a step below 1 stands where only a step of 1 or more is taken."""


class BoundsCheckError(IndexError):
    """An index lies outside the array."""


class ArrayIndexError(IndexError):
    """An array used as an index has the wrong type or number of dimensions."""


class FieldsError(VindexInvalidSelectionError, TypeError):
    """A selection names fields that the array has not, or has something else in the place of names."""


class UnnamedCodecError(UnknownCodecError, MetadataValidationError, TypeError):
    """The configuration of a codec does not say which one it is."""


class ShapeMismatchError(ValueError, IndexError):
    """A value that is written has not the shape of the selection, and cannot be broadcast to it.

    Code that was written for NumPy expects a ``ValueError``, code that was written for zarr-python 3 often an
    ``IndexError``: it is both.
    """


class CopyError(ValueError):
    """There is something already where a node or a key would be copied to."""


class BadCompressorError(BaseZarrError):
    """The value given as a compressor is none."""


# Other names that zarr-python 2 has for what can be caught.
PathNotFoundError = NodeNotFoundError
FSPathExistNotDir = FileInPlaceError
MetadataError = MetadataValidationError
_BaseZarrError = BaseZarrError
_BaseZarrIndexError = IndexError


def err_too_many_indices(selection: Any, shape: tuple[int, ...]) -> None:
    """Refuse a selection with more indices than an array has dimensions.

    Raises
    ------
    IndexError

    Examples
    --------
    >>> err_too_many_indices((1, 2), (3,))
    Traceback (most recent call last):
        ...
    IndexError: too many indices for array; expected 1, got 2
    """
    raise IndexError(f"too many indices for array; expected {len(shape)}, got {len(selection)}")


class ZarrFutureWarning(FutureWarning):
    """Something will change in a later version."""


class UnstableSpecificationWarning(ZarrFutureWarning):
    """A data type or codec is used that has no specification yet."""


class ZarrDeprecationWarning(DeprecationWarning):
    """Something will go away in a later version."""


class ZarrUserWarning(UserWarning):
    """Something is likely not what the user wanted."""


class ZarrRuntimeWarning(RuntimeWarning):
    """Something behaves in an unexpected way at run time."""


def moved_error(module: str, name: str) -> type[Exception]:
    """Return what a module answers, with a warning, when it is asked for an error that it offered once.

    Raises
    ------
    AttributeError
        The name is another one.
    """
    if name != "DataTypeValidationError":
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warn(f"Import {name} from zarr.errors: {module} will not offer it for ever.", ZarrDeprecationWarning)
    return DataTypeValidationError


if not TYPE_CHECKING:
    __all__ = [name for name, kind in vars().items() if isinstance(kind, type) and issubclass(kind, Exception)]
