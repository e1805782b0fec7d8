"""Trees, counts and summaries for the display of groups."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from zarr._lazy import html
from zarr.abc.stores.abilities import AT_HAND, bulk_kind
from zarr.arrays.show.html import attributes_table, page, table
from zarr.groups.handle import GroupHandle, NodeRecord
from zarr.groups.members import fresh_steps, members_steps
from zarr.metadata.group import GroupMetadata
from zarr.steps.requests import Steps
from zarr.types import ZarrFormat, printable


def tree_steps(handle: GroupHandle, level: int | None, max_nodes: int, plain: bool) -> Steps[TreeRepr]:
    """Draw the hierarchy below a group."""
    records = yield from members_steps(handle, level, most=max_nodes + 1)
    truncated = ""
    if len(records) > max_nodes:
        truncated = f"Truncated at max_nodes={max_nodes}, some nodes and their children may be missing\n"
        records = sorted(records, key=lambda record: record.name.count("/"))[:max_nodes]
    nodes = [(record.name, _detail(record)) for record in records]
    return draw_tree(handle.name, nodes, truncated=truncated, plain=plain)


def _detail(record: NodeRecord) -> str:
    metadata = record.metadata
    if isinstance(metadata, GroupMetadata):
        return ""
    return f"{metadata.shape} {metadata.dtype.to_native_dtype()}"


def info_of(handle: GroupHandle, **counts: Any) -> GroupInfo:
    """Summarize a group without reading the store."""
    if not counts and handle.consolidated is not None and not handle.consolidated.unreadable:
        members = handle.consolidated.flattened_metadata
        groups = sum(isinstance(metadata, GroupMetadata) for metadata in members.values())
        counts = _counts(len(members), groups)
    return GroupInfo(
        _name=handle.path,
        _zarr_format=handle.metadata.zarr_format,
        _read_only=handle.store.read_only,
        _store_type=type(handle.store).__name__,
        **counts,
    )


def _counts(members: int, groups: int) -> dict[str, int]:
    return {"_count_members": members, "_count_arrays": members - groups, "_count_groups": groups}


def info_complete_steps(handle: GroupHandle) -> Steps[GroupInfo]:
    """Summarize a group, with a count of all nodes below it."""
    yield from fresh_steps(handle)
    records = yield from members_steps(handle, None)
    return info_of(handle, **_counts(len(records), sum(record.is_group for record in records)))


def tree_at_hand_steps(handle: GroupHandle) -> Steps[TreeRepr | None]:
    """Return the tree for a notebook if it is cheap to draw; else None.

    The whole tree with consolidated metadata or a store in memory; the direct members only for a folder.
    """
    kind = bulk_kind(handle.store)
    if handle.consolidated is None and kind not in AT_HAND:
        return None
    level = 0 if handle.consolidated is None and kind == "files" else None
    try:
        return (yield from tree_steps(handle, level, 100, True))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):  # tree() raises it
        return None


def group_page(handle: GroupHandle, tree: TreeRepr | None) -> str:
    """Return the page that a notebook shows of a group."""
    shown = "<div>tree() shows the members</div>" if tree is None else tree._repr_html_()
    return page(table(info_of(handle)._rows()) + attributes_table(handle.metadata.attributes), shown)


@dataclass(frozen=True, kw_only=True)
class GroupInfo:
    """A summary of a group, printed one field a line.

    Examples
    --------
    >>> print(GroupInfo(_name="a", _zarr_format=3, _read_only=False, _store_type="MemoryStore"))
    Name        : a
    Type        : Group
    Zarr format : 3
    Read-only   : False
    Store type  : MemoryStore
    """

    _name: str
    _type: Literal["Group"] = "Group"
    _zarr_format: ZarrFormat
    _read_only: bool
    _store_type: str
    _count_members: int | None = None
    _count_arrays: int | None = None
    _count_groups: int | None = None

    def __repr__(self) -> str:
        return "\n".join(f"{name:<12}: {printable(str(value))}" for name, value in self._rows() if value is not None)

    def _repr_html_(self) -> str:
        return table(self._rows())

    def _rows(self) -> list[tuple[str, object]]:
        return [
            ("Name", self._name),
            ("Type", self._type),
            ("Zarr format", self._zarr_format),
            ("Read-only", self._read_only),
            ("Store type", self._store_type),
            ("No. members", self._count_members),
            ("No. arrays", self._count_arrays),
            ("No. groups", self._count_groups),
        ]


_STYLE = (
    "white-space:pre;overflow-x:auto;line-height:normal;"
    "font-family:Menlo,'DejaVu Sans Mono',consolas,'Courier New',monospace"
)


class TreeRepr:
    """A drawn hierarchy: prints as text, shows as HTML in a notebook.

    Parameters
    ----------
    text : str
        The drawing, one line a node.
    html : str
        The same drawing with the names in bold.
    truncated : str
        A line before the drawing, if nodes were left out.
    bold : str, optional
        The same drawing with the names in bold for a terminal; used if the output is a terminal.

    Examples
    --------
    >>> print(TreeRepr("/\\n└── a\\n", "<b>/</b>\\n"))
    /
    └── a
    <BLANKLINE>
    """

    def __init__(self, text: str, html: str, truncated: str = "", bold: str | None = None) -> None:
        self._text = text
        self._html = html
        self._truncated = truncated
        self._bold = bold

    def __repr__(self) -> str:
        shown = self._bold if self._bold is not None and sys.stdout.isatty() else self._text
        return self._truncated + shown

    def _repr_html_(self) -> str:
        return f'<pre style="{_STYLE}">{html.escape(self._truncated)}{self._html}</pre>\n'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self._truncated + self._text, "text/html": self._repr_html_()}


def tree_of_h5py(group: Any, level: int | None = None) -> TreeRepr:
    """Draw the hierarchy below a group of h5py.

    Parameters
    ----------
    group : h5py.Group
        The group at the top of the tree.
    level : int, optional
        How deep to go; 0 draws the members alone. Default: all levels.

    Examples
    --------
    >>> import h5py
    >>> with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
    ...     data = file.create_dataset("a/x", (3,), "int32")
    ...     tree_of_h5py(file)
    /
    └── a
        └── x (3,) int32
    <BLANKLINE>
    """
    nodes: list[tuple[str, str]] = []

    def note(path: str, node: Any) -> None:
        if level is None or path.count("/") <= level:
            nodes.append((path, f"{node.shape} {node.dtype}" if hasattr(node, "dtype") else ""))

    group.visititems(note)
    return draw_tree(group.name, nodes)


def draw_tree(root: str, nodes: Iterable[tuple[str, str]], *, truncated: str = "", plain: bool = True) -> TreeRepr:
    """Draw nodes as a tree.

    Parameters
    ----------
    root : str
        The name of the group at the top.
    nodes : iterable of (path, detail)
        Paths are relative to the root; the detail is written after the name (shape and dtype of an array).
    truncated : str
        See :class:`TreeRepr`.
    plain : bool
        If True, names are never bold, not even on a terminal.

    Examples
    --------
    >>> draw_tree("/", [("a", ""), ("a/x", "(3,) int32")])
    /
    └── a
        └── x (3,) int32
    <BLANKLINE>
    """
    children: dict[str, list[tuple[str, str, str]]] = {}
    for path, detail in nodes:
        parent, _, name = path.rpartition("/")
        children.setdefault(parent, []).append((name, path, detail))
    root = printable(root)
    text = [f"{root}\n"]
    bold = [f"{_bold(root)}\n"]
    page = [f"<b>{html.escape(root)}</b>\n"]
    pending: list[tuple[str, str, str, bool, str]] = _branch(children, "", "")
    while pending:
        name, path, detail, last, indent = pending.pop()
        stem = indent + ("└── " if last else "├── ")
        name, tail = printable(name), f" {printable(detail)}" if detail else ""
        text.append(f"{stem}{name}{tail}\n")
        bold.append(f"{stem}{_bold(name)}{tail}\n")
        page.append(f"{stem}<b>{html.escape(name)}</b>{html.escape(tail)}\n")
        pending += _branch(children, path, indent + ("    " if last else "│   "))
    return TreeRepr("".join(text), "".join(page), truncated, None if plain else "".join(bold))


def _bold(name: str) -> str:
    return f"\x1b[1m{name}\x1b[0m"


def _branch(
    children: dict[str, list[tuple[str, str, str]]], parent: str, indent: str
) -> list[tuple[str, str, str, bool, str]]:
    """Return the children of one node, last first, for a stack."""
    rows = sorted(children.get(parent, ()))
    return [(*row, index == len(rows) - 1, indent) for index, row in enumerate(rows)][::-1]
