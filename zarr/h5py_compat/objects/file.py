"""``File``: the root group of a hierarchy, and the life of what came from it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from zarr.h5py_compat.errors import UnsupportedFeature
from zarr.h5py_compat.objects.base import CLASSES, FileID
from zarr.h5py_compat.objects.group import Group
from zarr.h5py_compat.objects.storage import Storage, open_storage

__all__ = ["File", "is_hdf5"]

HINTS = (
    "libver", "rdcc_nslots", "rdcc_nbytes", "rdcc_w0", "meta_block_size", "alignment_threshold", "alignment_interval",
)  # fmt: skip
"""How HDF5 lays out and caches its file: no result depends on them, and nothing here."""
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "driver": (None,),
    "userblock_size": (None, 0),
    "swmr": (False,),
    "locking": (None, False, "best-effort"),
    "fs_strategy": (None,),
    "fs_persist": (None, False),
    "fs_threshold": (None,),
    "fs_page_size": (None,),
    "page_buf_size": (None,),
    "min_meta_keep": (None, 0),
    "min_raw_keep": (None, 0),
}


class File(Group):
    """A hierarchy as a file.

    Parameters
    ----------
    name : str, bytes, path or zarr store
        A folder, or a .zip file. What lies there and is no zarr hierarchy is never overwritten.
    mode : {"r", "r+", "w", "w-", "x", "a"}
        As in h5py; "r" unless told.
    track_order : bool, optional
        Keep the members and attributes of a new file in the order of their creation.

    Raises
    ------
    UnsupportedFeature
        For drivers, user blocks, SWMR, locks and file objects.

    Example
    -------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     f.mode, f.name
    ('r+', '/')
    """

    def __init__(self, name: Any, mode: str = "r", track_order: bool | None = None, **others: Any) -> None:
        _check_others(others)
        if hasattr(name, "read") and hasattr(name, "seek"):
            raise UnsupportedFeature("a hierarchy has many keys and no file object: hand over a path or a zarr store")
        storage = open_storage(name, mode)
        super().__init__(FileID(storage, ""))
        if track_order and storage.writable and mode != "r+" and not len(self):
            storage.note("", track_order=True)

    @classmethod
    def of_storage(cls, storage: Storage) -> File:
        """Return a ``File`` for a hierarchy that is open."""
        file = cls.__new__(cls)
        Group.__init__(file, FileID(storage, ""))
        return file

    @property
    def filename(self) -> str:
        """The path that the file was opened with; for a store, how it names itself."""
        return self._id.storage.filename

    @property
    def mode(self) -> str:
        """``r`` or ``r+``."""
        self._id.storage.require_open()
        return self._id.storage.mode

    @property
    def driver(self) -> str:
        """The class of the store."""
        return type(self._storage.root.store).__name__

    @property
    def userblock_size(self) -> int:
        """0: there is no user block."""
        return 0

    @property
    def swmr_mode(self) -> bool:
        """False: readers beside one writer need no mode."""
        return False

    @swmr_mode.setter
    def swmr_mode(self, value: bool) -> None:
        if value:
            raise UnsupportedFeature("SWMR is a mode of HDF5: readers of a zarr hierarchy beside one writer need none")

    @property
    def libver(self) -> tuple[str, str]:
        """The zarr format, as lowest and highest version."""
        version = f"zarr{self._storage.node('').metadata.zarr_format}"
        return version, version

    def flush(self) -> None:
        """Do nothing but check that the file is open: what was written is in the store already."""
        self._id.storage.require_open()

    def close(self) -> None:
        """Close the file and all objects that came from it; a second call does nothing."""
        self._id.storage.close()

    def __enter__(self) -> File:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 file>"
        return f'<HDF5 file "{Path(self.filename).name}" (mode {self.mode})>'


def _check_others(others: dict[str, Any]) -> None:
    for name, value in others.items():
        if name in NEUTRAL:
            if value not in NEUTRAL[name]:
                raise UnsupportedFeature(f"{name}={value!r} belongs to HDF5 files: zarr has nothing like it")
        elif name not in HINTS:
            raise TypeError(f"File() got an unexpected keyword argument {name!r}")


def is_hdf5(name: Any) -> bool:
    """Say whether ``File(name)`` would open.

    Example
    -------
    >>> is_hdf5("no such file")
    False
    """
    try:
        open_storage(name, "r").close()
    except (OSError, ValueError, KeyError):
        return False
    return True


CLASSES["file"] = File
