"""Walks over all that lies below a group, in the order of names at every level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from zarr.h5py_compat.members.links import HardLink, links_of
from zarr.h5py_compat.members.names import join
from zarr.h5py_compat.members.order import wrap
from zarr.h5py_compat.objects.storage import Storage

__all__ = ["visit_links", "visit_members"]


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
