"""Every exception and warning of the library.

An error made of several arguments fills the sentence of its class (``_msg``) with them; an error made of one argument
has that argument as its message. All of them can be pickled, because ``args`` then holds the finished sentence only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from zarr.notices import warn

_LONGEST_LABEL: Final = 300

MAX_COMPARED: Final = 1000
"""The largest number of names among which similar ones are searched; more would take too long for an error."""


def label_of(store: object, form: Callable[[object], str] = repr) -> str:
    """Return a store's text for messages and tables, without calling a method that is not of this library.

    Messages are made on the event loop and while locks are held. A method of a foreign class may wait there for the
    loop, or for the holder of the lock, and never return; so a store of a foreign class is named by its class.

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
    """Return True if this library makes the texts of a store and of all stores that it wraps."""
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
    """A store as a message shows it."""

    def __init__(self, store: object) -> None:
        self.text = label_of(store)

    def __repr__(self) -> str:
        return self.text


def like_names(name: str, names: Iterable[str], form: Callable[[str], str] = str) -> str:
    """Name those of some names that are similar to another, as the end of a message.

    Parameters
    ----------
    name : str
        The missing name.
    names : iterable of str
        The names that exist.
    form : callable, default str
        Returns the text for one of them.

    Returns
    -------
    str
        Empty if none is similar, or if there are too many to compare.

    Examples
    --------
    >>> like_names("temprature", ["temperature", "wind"])
    " (did you mean 'temperature'?)"
    >>> like_names("x", ["temperature"])
    ''
    """
    import difflib

    known = list(dict.fromkeys(names))
    if len(known) > MAX_COMPARED:
        return ""
    folded = [each for each in known if each.lower() == name.lower()]
    close = [*folded, *difflib.get_close_matches(name, [each for each in known if each not in folded])][:3]
    return f" (did you mean {' or '.join(repr(form(each)) for each in close)}?)" if close else ""


class BaseZarrError(ValueError):
    """Base of the errors that have a sentence of their own.

    What to do: catch it to catch every error that this library raises for a store, a document, a chunk or an argument.

    Parameters
    ----------
    *args
        One argument is the message itself. Several arguments fill the placeholders of the class's sentence.

    Examples
    --------
    >>> from zarr.errors import BaseZarrError
    >>> str(BaseZarrError("no such thing"))
    'no such thing'
    """

    _msg: str = "{}"
    _remedy: str = ""  # becomes a note, where programs compare the message with that of zarr-python

    def __init__(self, *args: object) -> None:
        if len(args) > 1:
            named = [_Label(arg) if _is_store_class(cast("Any", type(arg))) else arg for arg in args]
            args = (self._msg.format(*named),)
        super().__init__(*args)
        if self._remedy:
            self.add_note(self._remedy)

    def __reduce__(self) -> tuple[Any, ...] | str:
        """Return the class and the arguments that make this error again."""
        # Defined in this class: packages that pickle errors with their tracebacks (distributed) look for it here.
        return super().__reduce__()


class NodeNotFoundError(BaseZarrError, FileNotFoundError):
    """There is neither an array nor a group at the given place. Arguments: the store, the path.

    What to do: check the path, and look at the store with ``zarr tree``; a mode that creates ("a", "w") creates the
    missing node.
    """

    _msg = "No node found in store {!r} at path {!r}"


class ArrayNotFoundError(NodeNotFoundError):
    """There is no array at the given place. Arguments: the store, the path.

    What to do: check the path; if a group is there, open it with ``zarr.open_group``, or give ``path=`` to name an
    array in it.
    """

    _msg = "No array found in store {!r} at path {!r}"


class GroupNotFoundError(NodeNotFoundError):
    """There is no group at the given place. Arguments: the store, the path.

    What to do: check the path; if an array is there, open it with ``zarr.open_array``.
    """

    _msg = "No group found in store {!r} at path {!r}"


class PlaceNotFoundError(ArrayNotFoundError, GroupNotFoundError):
    """There is not even the folder that should hold the node.

    What to do: check the path for a typing mistake; relative paths begin at the working directory.
    """


class ContainsGroupError(BaseZarrError):
    """A group is already there. Arguments: the store, the path.

    What to do: open the group with ``zarr.open_group``, choose another name, or replace it with ``overwrite=True``.
    """

    _msg = "A group exists in store {!r} at path {!r}."
    _remedy = "Open it with open_group, or replace it with overwrite=True."


class ContainsArrayError(BaseZarrError):
    """An array is already there. Arguments: the store, the path.

    What to do: open the array with ``zarr.open_array``, choose another name, or replace it with ``overwrite=True``.
    """

    _msg = "An array exists in store {!r} at path {!r}."
    _remedy = "Open it with open_array, or replace it with overwrite=True."


class ContainsArrayAndGroupError(BaseZarrError):
    """Array and group documents of format 2 lie side by side. Arguments: the store, the path.

    What to do: remove the document that is wrong: ``.zarray`` if it shall be a group, ``.zgroup`` if it shall be an
    array.
    """

    _msg = (
        "Array and group metadata documents (.zarray and .zgroup) were both found in store {!r} at path {!r}. "
        "Only one of these files may be present in a given directory / prefix. "
        "Remove the .zarray file, or the .zgroup file, or both."
    )


class DataTypeValidationError(ValueError):
    """The given value names no data type.

    What to do: give a dtype of NumPy, its name, or an object of ``zarr.dtype``; the message shows the given value.
    """


class MetadataValidationError(BaseZarrError):
    """A metadata document breaks the format. Arguments: the field, the expected value, the value found.

    What to do: if you gave the value, correct it; if it was read, restore the document from a copy. ``zarr verify``
    lists all faults of a hierarchy.
    """

    _msg = "Invalid value for '{}'. Expected '{}'. Got '{}'."

    def __init__(self, *args: object) -> None:
        if len(args) == 2:
            args = (": ".join(str(arg) for arg in args),)
        super().__init__(*args)


class NodeTypeValidationError(MetadataValidationError):
    """The ``node_type`` of a metadata document is not the expected one.

    What to do: open an array with ``zarr.open_array``, a group with ``zarr.open_group``, or either with ``zarr.open``.
    """


class WrongTypeError(BaseZarrError, TypeError):
    """An argument has a type that cannot be used there.

    What to do: give a value of a type that the message names.

    Python, NumPy and zarr-python raise ``TypeError`` in some places and ``ValueError`` in others: this class is both.
    """


class UnknownCodecError(BaseZarrError):
    """No implementation is known for the name of a codec.

    What to do: install the package that the message names, or register the codec with ``zarr.registry.register_codec``.
    """


class PickleCodecDisabledError(BaseZarrError, RuntimeError):
    """Reading would unpickle data, which can run any code, and the user has not allowed that.

    What to do: for data that you trust, allow it with
    ``zarr.config.set({"array.allow_unsafe_pickle_decode": True})``, or with
    ``numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE = True``.
    """


class ReadOnlyError(BaseZarrError, PermissionError):
    """An operation tried to change a store or a node that is open for reading only.

    What to do: open it with ``mode="r+"``; copy layouts that can only be read (N5, references, tar) into a new
    hierarchy first.
    """


class TransactionConflictError(BaseZarrError):
    """Another writer changed a value that a transaction had read, before it was applied; nothing of it was stored.

    What to do: run the transaction again; it then reads the new values.
    """


class ChunkNotFoundError(BaseZarrError):
    """A chunk is absent and the array's configuration says that absent chunks are an error.

    What to do: restore the chunk from a copy, or write it; with ``read_missing_chunks`` True it reads as the fill
    value.
    """


class ArrayTooLargeError(BaseZarrError, MemoryError):
    """An array does not fit in memory: one to be created, or one of the size that a document states.

    What to do: read or write parts; if a document states a senseless size, check its origin.
    """


class LockLostError(BaseZarrError, OSError):
    """A lock among processes expired while it was held, or another process changed the same data.

    What to do: do the change again. If a process was suspended for long, raise the setting
    ``array.lock_lease_seconds``.
    """


class LockedByCallerError(BaseZarrError, RuntimeError):
    """An operation needs a lock that another operation of the same thread holds.

    What to do: use the array after the other operation has ended; among tasks of one event loop use the asynchronous
    face.

    Such a wait would never end. The operation was started inside another one, by ``__del__``, a signal handler or the
    code of a store or codec; or it is a synchronous call among tasks of one event loop. As after any other error, a
    single chunk, document or append is stored completely or not at all.
    """


class NotAValueError(BaseZarrError, OSError):
    """Something that is no file (a folder, a pipe, a device, a link to nothing) stands where a value should be.

    What to do: check what is there and move it away; then write or copy the value again.

    Parameters
    ----------
    what : str
        The kind of the object that stands there.
    path : str
        Its path.
    number : int
        The number of the error of the system.
    """

    _wanted = "a value"

    def __init__(self, what: str, path: str = "", number: int = 0) -> None:
        super().__init__(f"{what} stands where {self._wanted} should be: {path!r}; move it away" if path else what)
        self.errno = number or None


class BrokenReferenceError(BaseZarrError, OSError):
    """A key stands for bytes of another file, which does not exist or may not be read.

    What to do: restore the file at the place that the message names, or make the table of references again.
    """


class StoreDamagedError(BaseZarrError):
    """The one file of a store, a zip archive or a database, is damaged, or is no such file.

    What to do: check that it is the right file and was copied completely; otherwise restore it from a copy.
    """


class StoreUnavailableError(BaseZarrError, OSError):
    """A service gave no correct answer within the tries and the time that the settings ``network.*`` allow.

    What to do: try later, or raise ``network.tries``, ``network.seconds`` and ``network.request_seconds``.
    """


class ValueReplacedError(BaseZarrError, OSError):
    """A value has not the version that a reader asked for: a writer has replaced it.

    What to do: read the value again; arrays do that by themselves. If a zip file was changed by another process, open
    the node again and repeat the call.
    """


class KeyNotAllowedError(BaseZarrError):
    """A key could lead out of its store, or means different things to different file systems.

    What to do: choose a name without ``..`` and control characters.
    """


class LinkLeavesStoreError(KeyNotAllowedError, PermissionError):
    """Symbolic links lead a key out of its store, and the store was opened with ``links="inside"``.

    What to do: if you trust the links, open the store without ``links="inside"``.
    """


class StoreUrlError(BaseZarrError):
    """A URL or a path names no store: it is malformed, or the named object cannot be opened as a store.

    What to do: correct the URL; the message shows the part that cannot be read. ``docs/guide/stores.md`` lists what can
    be opened.
    """


class FolderInPlaceError(NotAValueError, IsADirectoryError):
    """A folder stands where a value should be.

    What to do: move the folder away; then write or copy the value again.

    Parameters
    ----------
    number : int
        The number of the error of the system.
    path
        The path in the store.
    what : str
        The object that stands there.
    """


class NodeInPlaceError(BaseZarrError, TypeError):
    """A group stands where an array is required, or an array where a group is.

    What to do: choose another name, or remove what is there.
    """


class FileInPlaceError(NotAValueError, NotADirectoryError):
    """A file stands where a folder of values should be.

    What to do: move the file away, or choose another path.

    Parameters
    ----------
    number : int
        The number of the error of the system.
    path
        The path in the store.
    what : str
        The object that stands there.
    """

    _wanted = "a folder"


class ChunkError(BaseZarrError):
    """A single chunk cannot be read or written.

    What to do: see the classes below; the attributes ``array``, ``key`` and ``codec`` of the error identify the chunk.

    Parameters
    ----------
    *args
        The message.
    array, key, codec
        The path of the array, the store key of the chunk and the name of the codec, where they are known.

    Attributes
    ----------
    place : str
        The chunk, its array and its store; part of the message if it is known.

    Examples
    --------
    >>> from zarr.errors import ChunkError
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


class ChunkDecodeError(ChunkError, RuntimeError):
    """The stored bytes of a chunk cannot be turned into array elements.

    It is a ``ValueError`` and a ``RuntimeError``: programs catch the one or the other, by the codec that they use.

    What to do: restore the stored value from a copy, or write the chunk anew; if its key is deleted, it counts as
    missing.
    """

    remedy = (
        "What to do: put back the stored value from a copy, or write the chunk anew; where its key is "
        "deleted, it counts as missing."
    )


class ChunkChecksumError(ChunkDecodeError):
    """The stored bytes of a chunk do not have the checksum that was written with them.

    What to do: as for every chunk that cannot be decoded. A disk, memory or a network causes damage of this kind.
    """


class ChunkEncodeError(ChunkError):
    """The elements of a chunk cannot be turned into bytes.

    What to do: write values that the codec accepts, or create the array with another codec.
    """

    remedy = "What to do: write values that the codec can take, or make the array with another codec."


class NothingToStoreError(ChunkEncodeError):
    """A codec returned nothing to store for a chunk that must be stored.

    What to do: correct the codec: a serializer of a shard's index, for example, has to return bytes.
    """


class VindexInvalidSelectionError(IndexError):
    """The selection cannot be used for coordinate indexing.

    What to do: give one list of coordinates for each dimension, all of one length, or a mask of the whole array.
    """


class NegativeStepError(IndexError):
    """A slice has a step below 1 where the step must be 1 or more.

    What to do: read forwards and reverse the result, ``array[2:9][::-1]``, or use a view: ``array.lazy[9:2:-1]``.
    """


class BoundsCheckError(IndexError):
    """An index lies outside the array.

    What to do: compare the index with ``array.shape``.
    """


class ArrayIndexError(IndexError):
    """An array used as an index has the wrong type or number of dimensions.

    What to do: give integers, or a mask of the length of its dimension.
    """


class FieldsError(VindexInvalidSelectionError, TypeError):
    """A selection names fields that the array does not have, or contains something else than names.

    What to do: give names that ``array.dtype.names`` lists.
    """


class UnnamedCodecError(MetadataValidationError, TypeError):
    """The configuration of a codec has no name of a codec.

    What to do: give a codec object, or a dictionary with ``name`` (format 3) or ``id`` (format 2).
    """


class ShapeMismatchError(ValueError, IndexError):
    """A written value does not have the shape of the selection, and cannot be broadcast to it.

    What to do: give a value of the shape of the selection, or one that NumPy broadcasts to it.

    Code written for NumPy expects a ``ValueError``, code written for zarr-python 3 often an ``IndexError``: this class
    is both.
    """


class NotConsolidatedError(ValueError, KeyError):
    """A group has no consolidated metadata, which the caller requires.

    What to do: run ``zarr.consolidate_metadata``, or open the group with ``use_consolidated=None``.

    Code written for zarr-python 2 expects a ``KeyError``, code written for zarr-python 3 a ``ValueError``: this class
    is both.
    """

    __str__ = Exception.__str__


class CopyError(ValueError, RuntimeError):
    """A node or a key exists already at the target of a copy; zarr-python 2 raised a ``RuntimeError`` then.

    What to do: give ``if_exists="skip"`` or ``if_exists="replace"``, or another name.
    """


class BadCompressorError(BaseZarrError):
    """The value given as a compressor is no compressor.

    What to do: give a codec of numcodecs (format 2) or of ``zarr.codecs`` (format 3), or None.
    """


# Other names of zarr-python 2 for errors that can be caught.
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
    """A behaviour will change in a later version.

    What to do: follow the message.
    """


class UnstableSpecificationWarning(ZarrFutureWarning):
    """A data type or codec is used that has no specification yet.

    What to do: choose another type for data that are kept for years or read by other libraries; else nothing.
    """


class ZarrDeprecationWarning(DeprecationWarning):
    """A name or a parameter will be removed in a later version.

    What to do: use the replacement that the message names.
    """


class ZarrUserWarning(UserWarning):
    """Something in the call or in the data is probably a mistake.

    What to do: read the message; it may name a mistake in the call.
    """


class ZarrRuntimeWarning(RuntimeWarning):
    """The library could not do something at run time in the usual way.

    What to do: read the message; it may name a mistake in the call.
    """


def moved_error(module: str, name: str) -> type[Exception]:
    """Return an error class that a module offered in former versions, with a warning.

    Raises
    ------
    AttributeError
        If the module never offered this name.
    """
    if name != "DataTypeValidationError":
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warn(f"Import {name} from zarr.errors: {module} will not offer it for ever.", ZarrDeprecationWarning)
    return DataTypeValidationError


if not TYPE_CHECKING:
    __all__ = [name for name, kind in vars().items() if isinstance(kind, type) and issubclass(kind, Exception)]
