"""A hierarchy drawn as a tree, as text and as HTML."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule
from zarr.types import printable

if TYPE_CHECKING:
    import html
else:
    html = LazyModule("html")

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
        A line to be put before the drawing where nodes were left out.
    bold : str, optional
        The same drawing with the names in bold for a terminal; shown where the output is one.

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
        return f'<pre style="{_STYLE}">{html.escape(self._truncated)}{self._html}</pre>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self._truncated + self._text, "text/html": self._repr_html_()}


def draw_tree(root: str, nodes: Iterable[tuple[str, str]], *, truncated: str = "", plain: bool = True) -> TreeRepr:
    """Draw nodes as a tree.

    Parameters
    ----------
    root : str
        The name of the group that is drawn.
    nodes : iterable of (path, detail)
        Paths are relative to the root; the detail is written after the name (shape and dtype of an array).
    truncated : str
        See :class:`TreeRepr`.
    plain : bool
        Whether names are never bold, not even on a terminal.

    Returns
    -------
    TreeRepr

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
    """The children of one node, last first, ready for a stack."""
    rows = sorted(children.get(parent, ()))
    return [(*row, index == len(rows) - 1, indent) for index, row in enumerate(rows)][::-1]
