"""Hierarchies drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.groups.show.summary import TreeRepr

if TYPE_CHECKING:
    from zarr.groups.async_group import AsyncGroup


async def group_tree_async(
    group: AsyncGroup, max_depth: int | None = None, *, max_nodes: int = 500, plain: bool = False
) -> TreeRepr:
    """Draw the hierarchy below a group; the same as ``AsyncGroup.tree``.

    Parameters
    ----------
    group : AsyncGroup
    max_depth : int, optional
    max_nodes : int
    plain : bool

    Returns
    -------
    TreeRepr

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> asyncio.run(group_tree_async(zarr.group()._async_group))
    /
    <BLANKLINE>
    """
    return await group.tree(level=max_depth, max_nodes=max_nodes, plain=plain)


__all__ = ["TreeRepr", "group_tree_async"]
