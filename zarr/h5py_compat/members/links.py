"""Links, and how a path is followed through them.

A soft or an external link is an entry among the notes of its group (``{"links": {name: {"soft": path}}}``): zarr itself
does not see it. A hard link, a second name for one object, has no place in a zarr hierarchy.
"""

from __future__ import annotations

import os
from typing import Any

from zarr.h5py_compat.members.names import join, resolve
from zarr.h5py_compat.objects.storage import Storage, open_storage

__all__ = ["ExternalLink", "HardLink", "SoftLink", "find", "links_of", "parse_link"]

LONGEST_CHAIN = 16


class HardLink:
    """What ``get(name, getlink=True)`` answers for a group or dataset that lies where its name says."""


class SoftLink:
    """A name that stands for another path in the same file; the path need not exist."""

    def __init__(self, path: str) -> None:
        self._path = str(path)

    @property
    def path(self) -> str:
        """The path that the link stands for."""
        return self._path

    def __repr__(self) -> str:
        return f'<SoftLink to "{self._path}">'

    def to_json(self) -> dict[str, str]:
        """Return the entry in the notes of the group."""
        return {"soft": self._path}


class ExternalLink:
    """A name that stands for a path in another file."""

    def __init__(self, filename: Any, path: str) -> None:
        self._filename = os.fsdecode(filename)
        self._path = str(path)

    @property
    def filename(self) -> str:
        """The other file; a relative path counts from the folder of the file that holds the link."""
        return self._filename

    @property
    def path(self) -> str:
        """The path in the other file."""
        return self._path

    def __repr__(self) -> str:
        return f'<ExternalLink to "{self._path}" in file "{self._filename}"'

    def to_json(self) -> dict[str, str]:
        """Return the entry in the notes of the group."""
        return {"external": self._filename, "path": self._path}


def parse_link(entry: dict[str, str]) -> SoftLink | ExternalLink:
    """Return the link that an entry describes."""
    if "external" in entry:
        return ExternalLink(entry["external"], entry["path"])
    return SoftLink(entry["soft"])


def links_of(storage: Storage, path: str) -> dict[str, SoftLink | ExternalLink]:
    """Return the links of a group by name."""
    return {name: parse_link(entry) for name, entry in storage.notes(path).get("links", {}).items()}


def find(storage: Storage, path: str, depth: int = 0) -> tuple[Storage, str, Any]:
    """Return the file, the path and the zarr node that a path leads to, through links.

    Raises
    ------
    KeyError
        If it leads nowhere, or through more than 16 links.
    """
    try:
        return storage, path, storage.node(path)
    except KeyError:
        pass
    if depth > LONGEST_CHAIN:
        raise KeyError(f"Unable to open object: too many links on the way to {path!r}")
    here, parts = "", path.split("/")
    for position, part in enumerate(parts):
        rest = "/".join(parts[position + 1 :])
        if storage.has(join(here, part)):
            here = join(here, part)
            continue
        link = links_of(storage, here).get(part)
        if link is None:
            raise KeyError(f"Unable to open object (object '{part}' doesn't exist in '/{here}' of {storage.filename})")
        return _follow(storage, here, link, rest, depth)
    return storage, path, storage.node(path)


def _follow(storage: Storage, group: str, link: Any, rest: str, depth: int) -> tuple[Storage, str, Any]:
    target = resolve("" if isinstance(link, ExternalLink) else group, link.path)
    path = join(target, rest) if rest else target
    if not isinstance(link, ExternalLink):
        return find(storage, path, depth + 1)
    other = _open_linked(storage, link)
    found = None
    try:
        found = find(other, path, depth + 1)
    finally:
        if found is None or found[0] is not other:
            other.close()  # there is nothing there, or only a link into a further file
    return found


def _open_linked(storage: Storage, link: ExternalLink) -> Storage:
    place = storage.folder / link.filename
    try:
        other = open_storage(place, storage.mode)
    except OSError as error:
        raise KeyError(f"Unable to open object: the file of {link!r} cannot be opened: {error}") from error
    other.linked = True
    return other
