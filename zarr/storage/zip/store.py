"""Store keys as entries of a zip file: ``ZipStore``.

``archive.py`` keeps the open file, ``container.py`` reads and writes the records of the zip format.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import IO, Any, Literal, Self, TypeAlias

from zarr.abc.store import ByteRequest, SyncStore
from zarr.abc.stores.changes import Changes
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.errors import FolderInPlaceError
from zarr.storage.checks import SameObject
from zarr.storage.keys import check_key, keys_below
from zarr.storage.mapping import MappingProtocol
from zarr.storage.payloads import PayloadStore
from zarr.storage.ranges import bounds_of
from zarr.storage.wrappers.overlay import TransactionStore, check_expected
from zarr.storage.zip.archive import Archive, archive_of

ZipStoreAccessModeLiteral: TypeAlias = Literal["r", "w", "x", "a"]


def _check_file(file: Any, mode: str) -> None:
    if isinstance(file, io.IOBase):
        return
    if not all(hasattr(file, name) for name in ("read", "seek", "tell")):
        raise TypeError(
            "'path' must be a string, a Path or a binary file with the methods read/seek/tell. "
            f"Got an instance of {type(file)} instead."
        )
    if mode != "r":
        raise TypeError(f"{type(file)} is no io.IOBase: such a file can only be opened for reading (mode 'r')")


class ZipStore(MappingProtocol, PayloadStore, TransactionStore):
    """All keys in one zip file.

    Values are in the file as soon as they are set, but other readers see them only after :meth:`close` (or the end of a
    ``with`` block, or :meth:`commit`): until then, and after any crash, the file shows the last committed state.

    Parameters
    ----------
    path : str, Path or binary file
        The zip file.
    mode : {"r", "w", "x", "a"}
        "r" reads only; "w" writes a new file in place of an old one; "x" writes a new file and raises an error if there
        is one; "a" adds to the file.
    read_only : bool, optional
        By default, True with mode ``"r"``.
    compression : int
        Method of the zip file itself, as in the module zipfile; codecs compress better.
    allowZip64 : bool
        If True, the file may grow beyond 4 GiB or 65535 keys.
    fsync : bool
        If True, committed values are on the disk before the call returns.

    Examples
    --------
    >>> from zarr.storage import ZipStore
    >>> import tempfile, os
    >>> from zarr.buffer.cpu import Buffer
    >>> path = os.path.join(tempfile.mkdtemp(), "a.zip")
    >>> with ZipStore(path, mode="w") as store:
    ...     store.set_sync("a", Buffer.from_bytes(b"value"))
    >>> ZipStore(path).get_sync("a").to_bytes()
    b'value'
    """

    path: Path | None
    compression: int
    allowZip64: bool

    def __init__(
        self,
        path: Path | str | IO[bytes],
        *,
        mode: ZipStoreAccessModeLiteral = "r",
        read_only: bool | None = None,
        compression: int = zipfile.ZIP_STORED,
        allowZip64: bool = True,
        fsync: bool = False,
    ) -> None:
        super().__init__(read_only=mode == "r" if read_only is None else read_only)
        if mode not in {"r", "w", "x", "a"}:
            raise ValueError(f"Invalid mode: {mode}, expected one of ('r', 'w', 'x', 'a')")
        self._fileobj: IO[bytes] | None = None
        if isinstance(path, str | Path):
            self.path = Path(path)
        else:
            _check_file(path, mode)
            self.path, self._fileobj = None, path
        self._place = None if self.path is None else str(self.path.absolute())
        self.compression = compression
        self.allowZip64 = allowZip64
        self._owner = True
        self._starts: list[str] = [mode] if mode in {"w", "x"} else []
        """The mode in which a new file is begun, at the first use of this store or of one made from it."""
        self._options = {"read_only": mode == "r", "zip64": allowZip64, "fsync": fsync}
        self._find_archive()

    def _find_archive(self) -> None:
        if self._place is None:
            self._shared = Archive(None, self._fileobj, **self._options)
        else:
            self._shared = archive_of(self._place, **self._options)

    @property
    def _begun(self) -> Archive:
        """Return the archive; a new file is begun, an old one is not read yet."""
        if self._starts:
            self._shared.begin(self._starts)
        return self._shared

    @property
    def _archive(self) -> Archive:
        archive = self._begun
        if not self._is_open:  # subclasses that close by themselves ask it whether there is anything to close
            archive.open()
            self._is_open = True
        return archive

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store over the same open file, read-only or writable."""
        if not read_only and self._shared.read_only:
            raise ValueError("the zip file was opened with mode 'r'; open it with mode 'a' to write to it")
        other = super().with_read_only(read_only)
        other._owner = False
        return other

    @property
    def _lock(self) -> Any:
        return self._begun.lock

    def _sync_open(self) -> None:
        self._begun.open()
        self._is_open = True

    async def _open(self) -> None:
        self._begun.open()
        await super()._open()

    @property
    def comment(self) -> bytes:
        """Return the comment of the archive; a new one is in the file after the next commit.

        Examples
        --------
        >>> import io
        >>> from zarr.storage import ZipStore
        >>> file = io.BytesIO()
        >>> with ZipStore(file, mode="w") as store:
        ...     store.comment = b"made by hand"
        >>> ZipStore(file).comment
        b'made by hand'
        """
        return self._archive.comment

    @comment.setter
    def comment(self, comment: bytes) -> None:
        self._check_writable()
        self._archive.comment = comment

    def _zipfile(self) -> Archive:
        return self._archive

    @property
    def _zf(self) -> Archive:
        """Return the open file, of which subclasses written for zarr-python set the comment."""
        return self._archive

    @property
    def _zmode(self) -> str:
        return "r" if self._shared.read_only else next(iter(self._starts), "a")

    def commit(self) -> None:
        """Make all changes visible to other readers, and keep them through a crash."""
        self._shared.commit()

    def compact(self) -> None:
        """Write the file anew, without the space of replaced and deleted values."""
        self._check_writable()
        self._archive.compact()

    def close(self) -> None:
        """Commit all changes, and close the file; if they cannot be committed, it stays open with them."""
        if self._owner:
            self._shared.close()
        super().close()

    def __str__(self) -> str:
        return f"zip://{self.path}" if self.path is not None else f"zip://{self._fileobj!r}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (id(self._fileobj), self.path, self._place)

    def __getstate__(self) -> dict[str, Any]:
        if self._fileobj is not None:
            raise TypeError("cannot pickle a ZipStore backed by a file-like object; give the store a path instead")
        self._shared.commit()
        state = {name: value for name, value in vars(self).items() if name != "_shared"}
        return {**state, "_is_open": False, "_starts": [*self._starts]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_zmode" in state:  # as zarr-python pickles it: a file that was begun has mode "a"
            options = {name: state[name] for name in ("compression", "allowZip64")}
            ZipStore.__init__(self, state["path"], mode=state["_zmode"], read_only=state["_read_only"], **options)
            return
        self.__dict__.update(state)
        self._find_archive()

    @property
    def lock_prefix(self) -> str:
        """Return the name under which the keys of this store are locked."""
        return f"zip:{id(self._fileobj)}" if self._place is None else f"zip:{os.path.realpath(self._place)}"

    # Reading

    get = SyncStore.get  # type: ignore[assignment]  # with a prototype, as zarr-python has it
    # In the same class, so that these do not count as methods of a subclass that replaced ``get``.
    get_sync, get_many_sync, bulk_access = PayloadStore.get_sync, PayloadStore.get_many_sync, PayloadStore.bulk_access

    def _payload(self, key: str, byte_range: ByteRequest | None = None) -> bytes | None:
        archive = self._archive
        archive.note_read(key)
        handle, entries = archive.known()
        entry = entries.get(key)
        if entry is None:
            check_key(key)
            if key in archive.folders:
                raise FolderInPlaceError("a directory", f"{self.path or self._fileobj}/{key}")
            return None
        return archive.read(handle, entry, None if byte_range is None else bounds_of(byte_range, entry.size))

    def stamp_sync(self, key: str) -> SameObject | None:
        """Return the stamp of a value: its entry in the directory, which is replaced together with the value.

        Parameters
        ----------
        key : str
            The key.

        Returns
        -------
        object or None
            None if the key has no value.
        """
        entry = self._archive.known()[1].get(key)
        return None if entry is None else SameObject(entry)

    def _read_many(self, keys: list[str]) -> list[Any]:
        return [self._payload(key) for key in keys]

    _get_payloads = _read_many  # a key with a value was checked when the directory was read

    def _size(self, key: str) -> int | None:
        check_key(key)
        self._archive.note_read(key)
        entry = self._archive.known()[1].get(key)
        return None if entry is None else entry.size

    def _names(self, start: str) -> list[str]:
        return [key for key in list(self._archive.entries) if key.startswith(start)]

    def _get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Read a value; by this name the tests that zarr-python shares with other packages read from a zip file."""
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    # Writing

    def _set(self, key: str, value: Buffer) -> None:
        """Store a value; the twin of :meth:`_get`."""
        self.set_sync(key, value)

    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        archive, gone = self._archive, []
        for key, payload in dict(items).items():
            if payload is None:
                gone.append(key)
            else:
                archive.write(key, bytes(payload), self.compression)
        if gone:
            archive.remove(gone)

    def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
        """Add ``value`` if the key has none; return True if this call added it."""
        self._check_writable()
        with self._archive.lock:
            self._archive.make_writable()
            if self.exists_sync(key):
                return False
            self.set_sync(key, value)
            return True

    def delete_dir_sync(self, prefix: str) -> None:
        """Remove all keys under the prefix, in one step."""
        self._check_writable()
        archive = self._archive
        with archive.lock:  # of two threads that claimed the file, the second would take the first for another process
            if not prefix:
                archive.check_ours()
            archive.make_writable()
            super().delete_dir_sync(prefix)

    async def clear(self) -> None:
        """Remove all keys. The old contents are not read, so they may be damaged."""
        self._check_writable()
        self._begun.clear()
        self._is_open = True

    async def move(self, path: Path | str) -> None:
        """Move the file to another place; this store then uses that place.

        Parameters
        ----------
        path : Path or str
            The new place of the file.

        Raises
        ------
        FileExistsError
            If the store has mode ``"x"``, and the file was there before it.
        NotImplementedError
            If the store is over a file object.
        """
        place = str(Path(path).absolute())
        self._begun.move(place)
        self.path, self._place = Path(path), place
        await self._ensure_open()

    def apply_sync(self, changes: Changes) -> None:
        """Make many changes in one step, for the other users of this store; :meth:`commit` keeps them.

        Raises
        ------
        TakenError
            If a key does not hold its expected value; nothing has changed then.
        """
        self._check_writable()
        archive = self._archive
        if "" in changes.removed:
            archive.check_ours()
        with archive.all_or_nothing() as entries:
            check_expected(changes, self._payload)
            if changes.removed:
                archive.remove(keys_below(entries, changes.removed))
            self._set_payloads(
                [
                    (key, None if value is None else self._data(value))
                    for key, value in changes.values.items()
                    if key not in changes.defaults or key not in entries
                ]
            )
