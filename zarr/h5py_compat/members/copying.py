"""Objects copied within a file and between files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import zarr
from zarr.h5py_compat.members.links import ExternalLink, SoftLink, find, links_of
from zarr.h5py_compat.members.names import RESERVED, join, resolve
from zarr.h5py_compat.objects.storage import Storage

__all__ = ["CopyRules", "copy_node"]

Place = tuple[Storage, str]
_TOP = 2  # so many places stand above what the copy itself was asked for: its own, and where it goes


@dataclass(frozen=True)
class CopyRules:
    """What ``Group.copy`` was told."""

    shallow: bool = False
    expand_soft: bool = False
    expand_external: bool = False
    without_attrs: bool = False


def copy_node(source: Place, target: Place, rules: CopyRules, above: tuple[Place, ...] = ()) -> None:
    """Copy the node at one place, with its members, to another; links stay links unless the rules expand them.

    ``above`` holds the place of the whole copy, which is no part of what is copied where it lies within the source,
    and the groups that are being copied: a link to one of those has no end, and stays a link.
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
    home.note(place, links={**home.notes(place).get("links", {}), name: link.to_json()})
