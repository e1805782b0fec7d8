"""Members of a group: links and paths through them, the order of creation, copies.

A soft or an external link is an entry in the notes of its group (``{"links": {name: {"soft": path}}}``): zarr itself
does not see it. A hard link, a second name for one object, has no place in a zarr hierarchy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from dataclasses import dataclass
from typing import Any

import zarr
from zarr.h5py_compat.base import CLASSES, DatasetID, GroupID, TypeID
from zarr.h5py_compat.storage import RESERVED, Storage, join, noting, open_storage, parent_of, resolve

LONGEST_CHAIN = 16


class HardLink:
    """The result of ``get(name, getlink=True)`` for a group or dataset stored under its own name.

    Examples
    --------
    >>> from zarr.h5py_compat import HardLink
    >>> isinstance(HardLink(), HardLink)
    True
    """


class SoftLink:
    """A name that stands for another path in the same file; the path need not exist.

    Parameters
    ----------
    path : str
        Where the name leads.

    Examples
    --------
    >>> from zarr.h5py_compat import SoftLink
    >>> SoftLink("/a/b")
    <SoftLink to "/a/b">
    """

    def __init__(self, path: str) -> None:
        self.path = self._path = str(path)

    def __repr__(self) -> str:
        return f'<SoftLink to "{self.path}">'

    def to_json(self) -> dict[str, str]:
        """Return the entry in the notes of the group."""
        return {"soft": self.path}


class ExternalLink:
    """A name that stands for a path in another file.

    A relative file name counts from the folder of the file that holds the link.

    Parameters
    ----------
    filename : str, bytes or path
        The other file.
    path : str
        Where the name leads in it.

    Examples
    --------
    >>> from zarr.h5py_compat import ExternalLink
    >>> ExternalLink("other.zarr", "/a").filename
    'other.zarr'
    """

    def __init__(self, filename: Any, path: str) -> None:
        self.filename = self._filename = os.fsdecode(filename)
        self.path = self._path = str(path)

    def __repr__(self) -> str:
        return f'<ExternalLink to "{self.path}" in file "{self.filename}"'

    def to_json(self) -> dict[str, str]:
        """Return the entry in the notes of the group."""
        return {"external": self.filename, "path": self.path}


def parse_link(entry: dict[str, str]) -> SoftLink | ExternalLink:
    """Return the link of an entry."""
    if "external" in entry:
        return ExternalLink(entry["external"], entry["path"])
    return SoftLink(entry["soft"])


def links_of(storage: Storage, path: str) -> dict[str, SoftLink | ExternalLink]:
    """Return the links of a group by name."""
    return {name: parse_link(entry) for name, entry in storage.notes(path).get("links", {}).items()}


def find(storage: Storage, path: str, depth: int = 0) -> tuple[Storage, str, Any]:
    """Return the file, the path and the zarr node of a path, through links.

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
            other.close()  # nothing is there, or only a link into a further file
    return found


def _open_linked(storage: Storage, link: ExternalLink) -> Storage:
    place = storage.folder / link.filename
    try:
        other = open_storage(place, storage.mode)
    except OSError as error:
        raise KeyError(f"Unable to open object: the file of {link!r} cannot be opened: {error}") from error
    other.linked = True
    return other


def wrap(storage: Storage, path: str, node: Any) -> Any:
    """Return the object for a zarr node."""
    if hasattr(node, "shape"):
        return CLASSES["dataset"](DatasetID(storage, path, node))
    if path and "datatype" in node.attrs.get(RESERVED, {}):
        return CLASSES["datatype"](TypeID(storage, path))
    return CLASSES["group"](GroupID(storage, path))


def open_object(storage: Storage, path: str) -> Any:
    """Return the object at a path, through links."""
    return wrap(*find(storage, path))


def member_names(storage: Storage, path: str) -> list[str]:
    """Return the names of members and links: in the order of creation if it is tracked, else sorted."""
    node = storage.node(path)
    notes = node.attrs.get(RESERVED, {})
    names = {*node.keys(), *notes.get("links", {})}
    if not notes.get("track_order"):
        return sorted(names)
    known = [name for name in notes.get("order", ()) if name in names]
    return known + sorted(names - set(known))


def enter(storage: Storage, path: str) -> None:
    """Note that a member was created, if its group tracks the order."""
    group, name = parent_of(path), path.rpartition("/")[2]
    with noting():
        notes = storage.notes(group)
        if notes.get("track_order"):
            storage.note(group, order=[*(n for n in notes.get("order", ()) if n != name), name])


def forget(storage: Storage, path: str) -> None:
    """Delete the note of a member or a link that was removed."""
    group, name = parent_of(path), path.rpartition("/")[2]
    with noting():
        notes = storage.notes(group)
        if name in notes.get("links", {}):
            storage.note(group, links={n: link for n, link in notes["links"].items() if n != name} or None)
        if notes.get("track_order"):
            storage.note(group, order=[n for n in notes.get("order", ()) if n != name])


def add_link(storage: Storage, group: str, name: str, link: Any) -> None:
    """Note a link in a group."""
    with noting():
        storage.note(group, links={**storage.notes(group).get("links", {}), name: link.to_json()})


def is_link(storage: Storage, path: str) -> bool:
    """Return True if a link, not a node, lies at a path."""
    return bool(path) and path.rpartition("/")[2] in links_of(storage, parent_of(path))


def target_path(storage: Storage, path: str) -> tuple[Storage, str]:
    """Return the file and the path of a member whose group may be reached through links."""
    home, group, _ = find(storage, parent_of(path))
    return home, join(group, path.rpartition("/")[2])


class _ViewOfGroup:
    """A view of the members of a group, in the order of the group."""

    _mapping: Any
    _shown: str

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __contains__(self, item: object) -> bool:
        return any(item == found for found in self)

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def __repr__(self) -> str:
        return f"<{self._shown} {list(self)}>"


class KeysOfGroup(KeysView[str]):
    """The names of the members."""

    __reversed__, __repr__ = _ViewOfGroup.__reversed__, _ViewOfGroup.__repr__
    _shown = "KeysViewHDF5"


class ValuesOfGroup(_ViewOfGroup, ValuesView[Any]):
    """The members; None for a link that leads nowhere."""

    _shown = "ValuesViewHDF5"

    def __iter__(self) -> Iterator[Any]:
        return (self._mapping.get(name) for name in self._mapping)


class ItemsOfGroup(_ViewOfGroup, ItemsView[str, Any]):
    """Names and members."""

    _shown = "ItemsViewHDF5"

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self._mapping.get(name)) for name in self._mapping)


def _walk(storage: Storage, path: str, prefix: str, with_links: bool) -> Iterator[tuple[str, str, Any]]:
    """Yield name, path and link (None for a node) of everything below; parents before their members."""
    links = links_of(storage, path) if with_links else {}
    node = storage.node(path)
    for name in sorted({*node.keys(), *links}):
        shown, place = join(prefix, name), join(path, name)
        yield shown, place, links.get(name)
        if name not in links and not hasattr(storage.node(place), "shape"):
            yield from _walk(storage, place, shown, with_links)


def visit(group: Any, with_links: bool, func: Callable[[str, str, Any], Any]) -> Any:
    """Call ``func(name, path, link)`` for all that is below a group, until it returns a value."""
    answers = (func(*each) for each in _walk(group.id.storage, group.id.path, "", with_links))
    return next((answer for answer in answers if answer is not None), None)


Place = tuple[Storage, str]
_TOP = 2  # this number of places above belongs to the copy itself: its own place, and its target


@dataclass(frozen=True)
class CopyRules:
    """The options of ``Group.copy``."""

    shallow: bool = False
    expand_soft: bool = False
    expand_external: bool = False
    without_attrs: bool = False


def copy_node(source: Place, target: Place, rules: CopyRules, above: tuple[Place, ...] = ()) -> None:
    """Copy the node at one place, with its members, to another; links stay links unless the rules expand them.

    ``above`` holds the place of the whole copy, which is not copied if it lies within the source, and the groups that
    are being copied: a link to one of those would never end, and stays a link.
    """
    above = (*(above or (target,)), source)
    storage, path = source
    home, place = target
    node = storage.node(path)
    notes = node.attrs.get(RESERVED, {})
    attributes = dict(node.attrs)
    if rules.without_attrs:
        attributes = {RESERVED: notes} if notes else {}
    if hasattr(node, "shape"):
        full = join(home.root.path, place)
        names = getattr(node.metadata, "dimension_names", None)
        zarr.from_array(home.root.store, data=node, name=full, attributes=attributes, dimension_names=names)
        return
    kept = {key: value for key, value in notes.items() if key != "links"}
    attributes.pop(RESERVED, None)
    home.root.create_group(place, attributes={**attributes, **({RESERVED: kept} if kept else {})})
    if rules.shallow and len(above) > _TOP:
        return
    for name in list(node.keys()):
        member = (storage, join(path, name))
        if not _is_same(member, above[0]):
            copy_node(member, (home, join(place, name)), rules, above)
    for name, link in links_of(storage, path).items():
        _copy_link((storage, path), (home, place), name, link, rules, above)


def _is_same(one: Place, other: Place) -> bool:
    roots = [(str(storage.root.store), join(storage.root.path, path)) for storage, path in (one, other)]
    return roots[0] == roots[1]


def _copy_link(source: Place, target: Place, name: str, link: Any, rules: CopyRules, above: tuple[Place, ...]) -> None:
    storage, path = source
    home, place = target
    expand = rules.expand_soft if isinstance(link, SoftLink) else rules.expand_external
    if expand and isinstance(link, SoftLink | ExternalLink):
        try:
            found, where, _ = find(storage, join(path, name))
        except KeyError:
            found = None
        if found is not None and not any(_is_same((found, resolve("", where)), one) for one in above[1:]):
            copy_node((found, resolve("", where)), (home, join(place, name)), rules, above)
            return
    add_link(home, place, name, link)
