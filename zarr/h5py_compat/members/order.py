"""What lies in a group: the order of its members, and the views of ``keys``, ``values`` and ``items``."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

from zarr.h5py_compat.members.links import find, links_of
from zarr.h5py_compat.members.names import join, parent_of
from zarr.h5py_compat.objects.base import DatasetID, GroupID, TypeID, class_for
from zarr.h5py_compat.objects.storage import Storage

__all__ = ["ItemsOfGroup", "KeysOfGroup", "ValuesOfGroup", "enter", "forget", "member_names", "open_object", "wrap"]


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
