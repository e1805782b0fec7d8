"""The zarr hierarchy behind an open ``File``, the paths in it, and the errors of this room."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import zarr
from zarr.abc.store import Store
from zarr.storage import LocalStore, MemoryStore, ZipStore


class UnsupportedFeature(TypeError):
    """A feature of HDF5 has no place in a zarr hierarchy (hard links, references, drivers …).

    The message names the feature and an alternative.

    Examples
    --------
    >>> from zarr.h5py_compat import UnsupportedFeature
    >>> issubclass(UnsupportedFeature, TypeError)
    True
    """


class H5pyDeprecationWarning(UserWarning):
    """A use that h5py itself warns about, such as a dataset created with neither ``dtype`` nor ``data``.

    Examples
    --------
    >>> from zarr.h5py_compat import H5pyDeprecationWarning
    >>> issubclass(H5pyDeprecationWarning, UserWarning)
    True
    """


RESERVED = "h5py_compat"
"""The one attribute of a zarr node with h5py information that zarr's metadata has no field for."""


def as_text(name: Any, what: str = "Accessing a group") -> str:
    """Return a name as text; raise TypeError for any other type than ``str`` and ``bytes``."""
    if isinstance(name, bytes):
        return name.decode("utf-8")
    if not isinstance(name, str):
        raise TypeError(f"{what} is done with bytes or str, not {type(name)}")
    return name


def resolve(base: str, name: str) -> str:
    """Return the path of ``name`` in the group ``base``, from the root and without a leading slash."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise KeyError(f"'..' is no parent folder in the name {name!r}: use .parent, or a path from the root")
    path = "/".join(parts)
    return path if name.startswith("/") or not base else f"{base}/{path}" if path else base


def join(base: str, name: str) -> str:
    """Return the path of a member of a group."""
    return f"{base}/{name}" if base else name


def parent_of(path: str) -> str:
    """Return the path of the group that holds ``path``; the root holds itself."""
    return path.rpartition("/")[0]


def refuse_others(
    function: str,
    given: dict[str, Any],
    hints: Sequence[str],
    neutral: dict[str, tuple[Any, ...]],
    absent: dict[str, str] | None = None,
) -> None:
    """Refuse keywords of HDF5 without a place in zarr, unless they have a neutral value.

    Raises
    ------
    UnsupportedFeature
        For a keyword of ``neutral`` with another value than those listed; ``absent`` describes the keyword.
    TypeError
        For a keyword that is neither there nor among the hints.
    """
    for name, value in given.items():
        if name in neutral:
            if value not in neutral[name]:
                what = absent[name] if absent else "place for what belongs to HDF5 files alone"
                raise UnsupportedFeature(f"{name}={value!r}: zarr has no {what}")
        elif name not in hints:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


MODES = ("r", "r+", "w", "w-", "x", "a")


_noting = threading.RLock()  # reentrant: a finalizer may use a file at any allocation


def _renew() -> None:
    global _noting
    _noting = threading.RLock()


if hasattr(os, "register_at_fork"):  # in a child there is no thread that would release the lock
    os.register_at_fork(after_in_child=_renew)


def noting() -> Any:
    """Return the lock to hold from the reading of notes to their change; h5py has one lock for all calls, too."""
    return _noting


class Storage:
    """A root group and its mode; ``opened`` becomes False when it is closed."""

    def __init__(self, root: Any, filename: str, mode: str, *, owns_store: bool = True, unnamed: Any = None) -> None:
        self.root = root
        self.filename = filename
        self.folder: Path = unnamed.folder if unnamed else Path(filename).absolute().parent
        self.mode = mode
        self.opened = True
        self.unnamed = unnamed
        self.linked = False
        """True if the file was opened to follow a link; then the last object in use closes it."""
        self._owns_store = owns_store
        self.identities: WeakValueDictionary[int, Any] = WeakValueDictionary()

    @property
    def writable(self) -> bool:
        """Return True if the file may be changed."""
        return self.mode == "r+"

    def require_open(self) -> None:
        """Raise a ValueError if the file was closed."""
        if not self.opened:
            raise ValueError(f"Invalid location identifier (the file {self.filename} is closed)")

    def require_writable(self, error: type[Exception] = ValueError, what: str = "change the file") -> None:
        """Raise ``error`` if the file was closed or opened for reading."""
        self.require_open()
        if not self.writable:
            raise error(f"Unable to {what}: no write intent on file {self.filename} (mode 'r')")

    def node(self, path: str) -> Any:
        """Return the zarr array or group at a path.

        Raises
        ------
        KeyError
            If there is none.
        """
        self.require_open()
        if path:
            return self.root[path]
        return zarr.open_group(self.root.store, path=self.root.path, mode="r+" if self.writable else "r")

    def has(self, path: str) -> bool:
        """Return True if a node of zarr lies at a path."""
        try:
            self.node(path)
        except KeyError:
            return False
        return True

    def notes(self, path: str) -> dict[str, Any]:
        """Return the notes that this room keeps about a node."""
        return dict(self.node(path).attrs.get(RESERVED, {}))

    def note(self, path: str, **changes: Any) -> None:
        """Change the notes that this room keeps about a node; a value of None deletes the entry."""
        with noting():
            node = self.node(path)
            notes = {**node.attrs.get(RESERVED, {}), **changes}
            kept = {key: value for key, value in notes.items() if value is not None}
            if kept:
                node.attrs[RESERVED] = kept
            elif RESERVED in node.attrs:
                del node.attrs[RESERVED]

    def _in_use(self) -> list[Any]:
        """Return all open objects; other threads may open some meanwhile."""
        return [found for known in self.identities.valuerefs() if (found := known()) is not None]

    def moved(self, old: str, new: str) -> None:
        """Update all objects that are open at or below a path that was moved."""
        for identity in self._in_use():
            if identity.path == old or identity.path.startswith(f"{old}/"):
                identity.moved(new + identity.path[len(old) :])

    def close_unused(self) -> None:
        """Close a file that was opened to follow a link, if no object of it is in use any more."""
        if self.linked and not any(identity.valid for identity in self._in_use()):
            self.close()

    def close(self) -> None:
        """Close the file and, with it, all objects that came from it."""
        if self.opened and self._owns_store:
            self.root.store.close()
        self.opened = False


def unnamed_storage(owner: Storage) -> Storage:
    """Return a place in memory for an object without a name."""
    return Storage(zarr.open_group(MemoryStore(), mode="w"), owner.filename, "r+", unnamed=owner)


def open_storage(name: Any, mode: str) -> Storage:
    """Open the file ``name`` (a folder, a path that ends in .zip, or a store) in a mode of h5py.

    Raises
    ------
    ValueError
        For an unknown mode.
    FileNotFoundError
        For ``r`` and ``r+`` if there is no file.
    FileExistsError
        For ``w-`` and ``x`` if there is one.
    OSError
        If there is an object that is no zarr hierarchy; it is never overwritten.
    """
    if mode not in MODES:
        raise ValueError("Invalid mode; must be one of r, r+, w, w-, x, a")
    if isinstance(name, Store):
        return _open_in_store(name, str(name), mode, owns_store=False)
    if not isinstance(name, str | bytes | os.PathLike):
        raise TypeError(f"a file is named by a path or a zarr store, not by {name!r}")
    filename = os.fsdecode(name)
    path = Path(filename)
    exists = _check_place(path, mode)
    if _is_archive(path):
        zip_mode = {"r": "r", "r+": "a", "a": "a", "w": "w"}.get(mode, "x")
        return _open_in_store(ZipStore(path, mode=zip_mode), filename, mode)  # type: ignore[arg-type]
    if (exists and mode == "w") or (path.is_file() and mode != "r"):
        _clear(path)  # also an empty file, as tempfile makes one
    return _open_in_store(LocalStore(path, read_only=mode == "r"), filename, mode)


def _is_archive(path: Path) -> bool:
    """Return True if a path names a zip file; a folder is none, whatever its name is."""
    return path.suffix == ".zip" and not path.is_dir()


def _check_place(path: Path, mode: str) -> bool:
    """Return True if a file of this library lies at a path; raise if the mode does not fit, or it is foreign."""
    exists = path.exists() and not (path.is_file() and path.stat().st_size == 0 and mode in ("w", "a"))
    if mode in ("r", "r+") and not exists:
        raise FileNotFoundError(2, f"Unable to open file: {path} does not exist (mode {mode!r})", str(path))
    if mode in ("w-", "x") and exists:
        raise FileExistsError(17, f"Unable to create file: {path} exists (mode {mode!r})", str(path))
    if exists and not _is_archive(path):
        if path.is_file():
            raise OSError(f"{path} is a file, not a zarr hierarchy (a folder or a .zip); it is left as it is")
        if any(path.iterdir()) and not any((path / key).exists() for key in ("zarr.json", ".zgroup")):
            raise OSError(f"{path} is a folder that holds no zarr group; it is left as it is")
    if mode in ("r+", "a") and exists and not os.access(path, os.W_OK):
        raise PermissionError(13, f"Unable to open file for writing: {path}", str(path))
    return exists


def _clear(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _open_in_store(store: Store, filename: str, mode: str, *, owns_store: bool = True) -> Storage:
    group_mode: Any = {"x": "w-", "a": "a"}.get(mode, mode)
    root = zarr.open_group(store, mode=group_mode)
    return Storage(root, filename, "r" if mode == "r" else "r+", owns_store=owns_store)
