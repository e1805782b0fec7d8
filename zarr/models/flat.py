"""Trees of members and tables of paths: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from zarr.errors import MetadataValidationError

T = TypeVar("T")


def walk(node: T, members_of: Callable[[T], Mapping[str, T] | None], path: str = "") -> Iterator[tuple[str, T]]:
    """Go over a node and all below it, parents first, with their paths; that of the first is ``path``.

    Examples
    --------
    >>> [path for path, _ in walk({"a": {"b": {}}}, lambda node: node)]
    ['', '/a', '/a/b']
    """
    pending = [(path, node)]
    while pending:
        here, current = pending.pop()
        yield here, current
        below = members_of(current) or {}
        pending += [(f"{here}/{name}", member) for name, member in reversed(list(below.items()))]


def normal_paths(table: Mapping[str, T]) -> dict[str, T]:
    """A table of nodes with its paths written in one way: ``""`` for the root, else with a slash in front.

    Raises
    ------
    MetadataValidationError
        Two paths mean the same.
    """
    found: dict[str, T] = {}
    for path, node in table.items():
        name = path.strip("/")
        where = f"/{name}" if name else ""
        if where in found:
            raise MetadataValidationError(f"more than one key means the path {where!r}")
        found[where] = node
    return found


def nest(
    table: Mapping[str, T], is_group: Callable[[T], bool], implicit: Callable[[], T], join: Callable[[T, Any], T]
) -> T:
    """Put the nodes of a table into one another.

    Parameters
    ----------
    table : mapping of path to node
    is_group : callable
    implicit : callable
        Makes a group that the table needs but does not have.
    join : callable
        Gives a group its members.

    Raises
    ------
    MetadataValidationError
        An array would have members; or there is no node at all.
    """
    nodes = normal_paths(table)
    if not nodes:
        raise MetadataValidationError("a hierarchy needs at least one node")
    children: dict[str, dict[str, None]] = {}
    for path in list(nodes):
        while path:
            above = path.rpartition("/")[0]
            listed = children.setdefault(above, {})
            if path in listed:
                break
            listed[path] = None
            path = above
    for path in sorted(children, key=lambda path: path.count("/"), reverse=True):
        group = nodes[path] if path in nodes else implicit()
        if not is_group(group):
            raise MetadataValidationError(f"the array at {path or '/'!r} must not have members: {list(children[path])}")
        nodes[path] = join(
            group, {child.rpartition("/")[2]: _joined(nodes, child, is_group, join) for child in children[path]}
        )
    return _joined(nodes, "", is_group, join)


def _joined(nodes: dict[str, T], path: str, is_group: Callable[[T], bool], join: Callable[[T, Any], T]) -> T:
    node = nodes[path]
    # A group of which the table lists no member has none.
    return join(node, {}) if is_group(node) and getattr(node, "members", None) is None else node
