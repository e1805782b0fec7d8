"""What lies in a group: the order of its members, and the views of ``keys``, ``values`` and ``items``."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from typing import Any

from zarr.h5py_compat.members.links import HardLink, find, links_of
from zarr.h5py_compat.members.names import join, parent_of
from zarr.h5py_compat.objects.base import DatasetID, GroupID, TypeID, class_for
from zarr.h5py_compat.objects.storage import Storage


def wrap(storage: Storage, path: str, node: Any) -> Any:
    """Return the object that stands for a zarr node."""
    if hasattr(node, "shape"):
        return class_for("dataset")(DatasetID(storage, path, node))
    if path and "datatype" in node.attrs.get("h5py_compat", {}):
        return class_for("datatype")(TypeID(storage, path))
    return class_for("group")(GroupID(storage, path))


def open_object(storage: Storage, path: str) -> Any:
    """Return the object at a path, through links."""
    return wrap(*find(storage, path))


def member_names(storage: Storage, path: str) -> list[str]:
    """Return the names of members and links: in the order of creation where it is tracked, else sorted."""
    node = storage.node(path)
    notes = node.attrs.get("h5py_compat", {})
    names = {*node.keys(), *notes.get("links", {})}
    if not notes.get("track_order"):
        return sorted(names)
    known = [name for name in notes.get("order", ()) if name in names]
    return known + sorted(names - set(known))


def enter(storage: Storage, path: str) -> None:
    """Remember that a member was created, where its group tracks the order."""
    group, name = parent_of(path), path.rpartition("/")[2]
    notes = storage.notes(group)
    if notes.get("track_order"):
        storage.note(group, order=[*(n for n in notes.get("order", ()) if n != name), name])


def forget(storage: Storage, path: str) -> None:
    """Forget a member or a link that was removed."""
    group, name = parent_of(path), path.rpartition("/")[2]
    notes = storage.notes(group)
    if name in notes.get("links", {}):
        storage.note(group, links={n: link for n, link in notes["links"].items() if n != name} or None)
    if notes.get("track_order"):
        storage.note(group, order=[n for n in notes.get("order", ()) if n != name])


def is_link(storage: Storage, path: str) -> bool:
    """Say whether a link, not a node, lies at a path."""
    return bool(path) and path.rpartition("/")[2] in links_of(storage, parent_of(path))


def target_path(storage: Storage, path: str) -> tuple[Storage, str]:
    """Return the file and the path of a member whose group may be reached through links."""
    home, group, _ = find(storage, parent_of(path))
    return home, join(group, path.rpartition("/")[2])


class KeysOfGroup(KeysView[str]):
    """The names of the members."""

    def __repr__(self) -> str:
        return f"<KeysViewHDF5 {list(self)}>"

    def __reversed__(self) -> Iterator[str]:
        return iter(list(self)[::-1])


class ValuesOfGroup(ValuesView[Any]):
    """The members; None for a link that leads nowhere."""

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        return (self._mapping.get(name) for name in self._mapping)

    def __contains__(self, value: object) -> bool:
        return any(value == member for member in self)

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def __repr__(self) -> str:
        return f"<ValuesViewHDF5 {list(self)}>"


class ItemsOfGroup(ItemsView[str, Any]):
    """Names and members."""

    _mapping: Any

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self._mapping.get(name)) for name in self._mapping)

    def __contains__(self, item: object) -> bool:
        return any(item == pair for pair in self)

    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        return iter(list(self)[::-1])

    def __repr__(self) -> str:
        return f"<ItemsViewHDF5 {list(self)}>"


def _walk(storage: Storage, path: str, prefix: str, with_links: bool) -> Iterator[tuple[str, str, Any]]:
    """Yield name, path and link (None for a node) of everything below; parents before their members."""
    links = links_of(storage, path) if with_links else {}
    node = storage.node(path)
    for name in sorted({*node.keys(), *links}):
        shown, place = join(prefix, name), join(path, name)
        yield shown, place, links.get(name)
        if name not in links and not hasattr(storage.node(place), "shape"):
            yield from _walk(storage, place, shown, with_links)


def visit_members(group: Any, func: Callable[[str, Callable[[], Any]], Any]) -> Any:
    """Call ``func(name, open)`` for each member until it returns something; ``open()`` gives the object."""
    storage = group.id.storage
    for name, path, _ in _walk(storage, group.id.path, "", False):
        answer = func(name, lambda path=path: wrap(storage, path, storage.node(path)))  # type: ignore[misc]
        if answer is not None:
            return answer
    return None


def visit_links(group: Any, func: Callable[[str, Any], Any]) -> Any:
    """Call ``func(name, link)`` for each name until it returns something."""
    for name, _, link in _walk(group.id.storage, group.id.path, "", True):
        answer = func(name, HardLink() if link is None else link)
        if answer is not None:
            return answer
    return None


__all__ = [
    "ItemsOfGroup",
    "KeysOfGroup",
    "ValuesOfGroup",
    "enter",
    "forget",
    "member_names",
    "open_object",
    "visit_links",
    "visit_members",
    "wrap",
]
