"""Names of members: absolute and relative paths, bytes or text, with ``.`` and doubled slashes."""

from __future__ import annotations

from typing import Any

__all__ = ["RESERVED", "as_text", "join", "parent_of", "resolve"]

RESERVED = "h5py_compat"
"""The one attribute of a zarr node in which this room keeps what zarr's metadata has no field for."""


def as_text(name: Any, what: str = "Accessing a group") -> str:
    """Return a name as text; anything but ``str`` and ``bytes`` is a TypeError."""
    if isinstance(name, bytes):
        return name.decode("utf-8")
    if not isinstance(name, str):
        raise TypeError(f"{what} is done with bytes or str, not {type(name)}")
    return name


def resolve(base: str, name: str) -> str:
    """Return the path, from the root and without a leading slash, that ``name`` means in the group ``base``."""
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
