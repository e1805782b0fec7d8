"""The base of the stores of zarr-python 2: format 2 by default, its documents as they were, keys as in a dict."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeVar

from zarr.abc.store import BulkAccess, Store
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage.keys import child_names, dir_prefix
from zarr.storage.wrappers.wrapper import WrapperStore

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest

T_Store = TypeVar("T_Store", bound=Store)
Separator = Literal[".", "/"]

_DOCUMENTS: Final = frozenset((".zarray", ".zgroup", ".zattrs", ".zmetadata"))
_SEPARATORS: Final = (None, ".", "/")
_NOTHING: Final = b"{}"


def document_of(key: str) -> str | None:
    """Return the name of the document that a key is of; None for any other key.

    Examples
    --------
    >>> document_of("a/.zarray"), document_of("a/0.0")
    ('.zarray', None)
    """
    name = key.rpartition("/")[2]
    return name if name in _DOCUMENTS else None


def as_format_2_wrote(name: str, raw: bytes, separator: Separator | None) -> bytes:
    """Return a document with its members in the order of their names, indented by four.

    The separator "." goes without saying, unless the store was told to say it.

    Examples
    --------
    >>> as_format_2_wrote(".zgroup", b'{"zarr_format":2}', None).decode()
    '{\\n    "zarr_format": 2\\n}'
    """
    document = json.loads(raw)
    if name == ".zarray" and separator is None and document.get("dimension_separator") == ".":
        del document["dimension_separator"]
    return json.dumps(document, indent=4, sort_keys=True, ensure_ascii=True, separators=(",", ": ")).encode()


class Format2Store(WrapperStore[T_Store]):
    """A store in which new arrays and groups are of format 2, unless another format is asked for.

    It can be used as a mapping of keys to bytes, save for the methods ``get`` and ``clear``, which are those of stores.

    Parameters
    ----------
    store : Store
        Where the values are.
    dimension_separator : {".", "/"}, optional
        What new arrays have between the coordinates of their chunks, if nothing else is said. Arrays whose document
        says nothing are read with "/" if it is "/" here.

    Raises
    ------
    ValueError
        For any other separator.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> store = Format2Store(MemoryStore())
    >>> store["a/0"] = b"value"
    >>> list(store), store["a/0"], store.listdir("a")
    (['a/0'], b'value', ['0'])
    """

    default_zarr_format: ClassVar[int] = 2

    def __init__(self, store: T_Store, dimension_separator: Separator | None = None) -> None:
        if dimension_separator not in _SEPARATORS:
            raise ValueError(f"dimension_separator must be '.' or '/', got {dimension_separator!r}")
        super().__init__(store)
        self.dimension_separator = dimension_separator

    def _with_store(self, store: T_Store) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._store = store
        return other

    # ------------------------------------------------------------------------------------------ documents

    def _outward(self, key: str, value: Buffer | None) -> Buffer | None:
        """Return a value as it is read: where documents say no separator, that of the store is meant."""
        if value is None or self.dimension_separator != "/" or document_of(key) != ".zarray":
            return value
        document = json.loads(value.to_bytes())
        if not isinstance(document, dict) or document.get("dimension_separator") is not None:
            return value
        document["dimension_separator"] = "/"
        return default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())

    def _inward(self, key: str, value: Buffer) -> Buffer:
        """Return a value as it is stored."""
        name = document_of(key)
        if name is None:
            return value
        raw = as_format_2_wrote(name, value.to_bytes(), self.dimension_separator)
        return default_buffer_prototype().buffer.from_bytes(raw)

    @staticmethod
    def _says_nothing(key: str, value: Buffer) -> bool:
        """Return whether a value is that of attributes that there are none of, which need not be stored."""
        return document_of(key) == ".zattrs" and value.to_bytes() == _NOTHING

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value of a key."""
        return self._outward(key, await super().get(key, prototype or default_buffer_prototype(), byte_range))

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read the value of a key."""
        return self._outward(key, super().get_sync(key, prototype=prototype, byte_range=byte_range))

    async def set(self, key: str, value: Buffer) -> None:
        """Store a value."""
        if not (self._says_nothing(key, value) and not await self.exists(key)):
            await super().set(key, self._inward(key, value))

    def set_sync(self, key: str, value: Buffer) -> None:
        """Store a value."""
        if not (self._says_nothing(key, value) and not self.exists_sync(key)):
            super().set_sync(key, self._inward(key, value))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store a value where there is none."""
        if not self._says_nothing(key, value):
            await super().set_if_not_exists(key, self._inward(key, value))

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Store a value where there is none."""
        if not self._says_nothing(key, value):
            super().set_if_not_exists_sync(key, self._inward(key, value))

    def bulk_access(self) -> BulkAccess | None:
        """Return that of the wrapped store: chunks are the same in both."""
        access = getattr(self._store, "bulk_access", None)
        found: BulkAccess | None = None if access is None else access()
        return found

    # ------------------------------------------------------------------------------------------ as a mapping

    def __getitem__(self, key: str) -> bytes:
        value = self.get_sync(key)
        if value is None:
            raise KeyError(key)
        return value.to_bytes()

    def __setitem__(self, key: str, value: Any) -> None:
        self._store.set_sync(key, default_buffer_prototype().buffer.from_bytes(bytes(value)))  # type: ignore[attr-defined]

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.delete_sync(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.exists_sync(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __bool__(self) -> bool:
        return True

    def is_readable(self) -> bool:
        """Return whether values can be read: they can."""
        return True

    def is_writeable(self) -> bool:
        """Return whether values can be stored."""
        return not self.read_only

    def is_listable(self) -> bool:
        """Return whether keys can be listed."""
        return bool(self.supports_listing)

    def is_erasable(self) -> bool:
        """Return whether keys can be removed."""
        return not self.read_only and self.supports_deletes

    def getitems(self, keys: Any, *, contexts: Any = None) -> dict[str, bytes]:
        """Return the values of those of some keys that are there."""
        found = ((key, self.get_sync(key)) for key in keys)
        return {key: value.to_bytes() for key, value in found if value is not None}

    def setitems(self, values: Any) -> None:
        """Store several values."""
        self.update(values)

    def delitems(self, keys: Any) -> None:
        """Remove those of some keys that are there."""
        for key in keys:
            self.delete_sync(key)

    def setdefault(self, key: str, default: Any = b"") -> bytes:
        """Return the value of a key; where there is none, one is stored first."""
        if key not in self:
            self[key] = default
        return self[key]

    pop = MutableMapping.pop
    update = MutableMapping.update
    popitem = MutableMapping.popitem

    def keys(self) -> list[str]:
        """Return all keys."""
        return list(self.list_sync())

    def values(self) -> list[bytes]:
        """Return all values."""
        return [self[key] for key in self.keys()]

    def items(self) -> list[tuple[str, bytes]]:
        """Return all keys with their values."""
        return [(key, self[key]) for key in self.keys()]

    def listdir(self, path: str = "") -> list[str]:
        """Return the names directly below a path, sorted."""
        return sorted(child_names(list(self.list_prefix_sync(dir_prefix(path))), path))

    def rmdir(self, path: str = "") -> None:
        """Remove all that is below a path."""
        self.delete_dir_sync(path)
