"""Drawn hierarchies."""

from __future__ import annotations

from zarr.groups.async_group import AsyncGroup
from zarr.groups.summary import TreeRepr


async def group_tree_async(
    group: AsyncGroup, max_depth: int | None = None, *, max_nodes: int = 500, plain: bool = False
) -> TreeRepr:
    """Draw the hierarchy below a group; the same as ``AsyncGroup.tree``.

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
