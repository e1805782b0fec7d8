"""The commands of ``zarr``: describe a store, and migrate its metadata between the formats.

Each command is a function; what it returns is printed.
"""

from __future__ import annotations

import logging
from enum import StrEnum
from typing import Any, cast

from zarr.api.synchronous import open as open_node
from zarr.arrays.array import Array
from zarr.draft3 import is_draft3
from zarr.draft3 import migrate as migrate_draft3
from zarr.groups.group import Group
from zarr.metadata.migrate_v3 import check_migration, migrate_v2_to_v3
from zarr.metadata.migrate_v3 import remove_metadata as remove_documents
from zarr.runners.sync import sync
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.types import ZarrFormat

_logger = logging.getLogger("zarr.cli")


class CLIZarrFormat(StrEnum):
    """The formats by their names on the command line."""

    v2 = "v2"
    v3 = "v3"


class CLIZarrFormatV3(StrEnum):
    """The formats that ``migrate`` writes."""

    v3 = "v3"


def migrate(
    zarr_format: CLIZarrFormatV3,
    input_store: str,
    output_store: str | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
    force: bool = False,
    remove_v2_metadata: bool = False,
) -> None:
    """Write metadata of format 3 beside that of format 2, or in another store; chunks stay where they are.

    A hierarchy in the layout of a draft of format 3 (2019, 2020) is moved with its chunks, whose keys are others.

    Parameters
    ----------
    zarr_format : "v3"
    input_store : str
        Path or URL.
    output_store : str, optional
        By default the input store.
    dry_run : bool
        If True, only log what would be done.
    overwrite : bool
        First remove metadata of format 3 that is there.
    force : bool
        Remove it even where there is none of format 2.
    remove_v2_metadata : bool
        At the end remove the metadata of format 2, in the output store if there is one.
    """
    if dry_run:
        _logger.info("Dry run enabled - no new files will be created or changed. These would be:")
    source = _place(input_store, writes=output_store is None)
    target = source if output_store is None else _place(output_store)
    if is_draft3(source):
        if overwrite or force or remove_v2_metadata:
            raise ValueError("overwrite, force and remove-v2-metadata are for hierarchies of format 2, not for drafts")
        migrate_draft3(source, None if output_store is None else target, dry_run=dry_run)
        return
    if overwrite:
        check_migration(source.store)  # what cannot be written anew is not removed
        sync(remove_documents(target.store, 3, force=force, dry_run=dry_run))
    migrate_v2_to_v3(input_store=source.store, output_store=target.store, dry_run=dry_run)
    if remove_v2_metadata:
        # A dry run has written nothing of format 3, so that removing would seem to leave nothing behind.
        sync(remove_documents(target.store, 2, force=force or dry_run, dry_run=dry_run))


def remove_metadata(zarr_format: CLIZarrFormat, store: str, force: bool = False, dry_run: bool = False) -> None:
    """Remove all metadata of one format from a store.

    Parameters
    ----------
    zarr_format : "v2" or "v3"
    store : str
        Path or URL.
    force : bool
        Remove it even where there is none of the other format.
    dry_run : bool
        If True, only log what would be done.
    """
    number = cast("ZarrFormat", int(CLIZarrFormat(zarr_format).value[1:]))
    place = _place(store)
    if isinstance(place.store, LocalStore) and not place.store.root.exists():
        raise FileNotFoundError(f"{store} does not exist")
    if dry_run:
        _logger.info("Dry run enabled - no files will be deleted or changed. These would be deleted:")
    sync(remove_documents(place.store, number, force=force, dry_run=dry_run))


def info(store: str, path: str | None = None) -> str:
    """Describe a node.

    Parameters
    ----------
    store : str
    path : str, optional

    Returns
    -------
    str
    """
    node = open_node(store, mode="r", path=path)
    text = repr(node.info_complete())
    if node.attrs:
        rows = "\n".join(f"  {name}: {value!r}" for name, value in node.attrs.items())
        text = f"{text}\nAttributes:\n{rows}"
    return text


def tree(store: str, path: str | None = None, level: int | None = None) -> str:
    """Draw the hierarchy below a group.

    Parameters
    ----------
    store : str
    path : str, optional
    level : int, optional

    Returns
    -------
    str
    """
    node = open_node(store, mode="r", path=path)
    if isinstance(node, Array):
        return f"{node.name} {node.shape} {node.dtype}"
    return str(node.tree(level=level)).rstrip("\n")


def ls(store: str, path: str | None = None, long: bool = False) -> str:
    """List the members of a group.

    Parameters
    ----------
    store : str
    path : str, optional
    long : bool
        With kind, shape, dtype and chunks.

    Returns
    -------
    str
    """
    node = open_node(store, mode="r", path=path)
    members: list[tuple[str, Any]] = list(node.members()) if isinstance(node, Group) else [(node.basename or "/", node)]
    if not long:
        return "\n".join(name for name, _ in members)
    rows = [_row(name, member) for name, member in members]
    widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(name: str, member: Any) -> tuple[str, str, str, str]:
    if isinstance(member, Group):
        return "group", name, "", ""
    return "array", name, str(member.shape), str(member.dtype)


def _place(store: str, *, writes: bool = True) -> StorePath:
    return resolve_store_path(store, mode="r+" if writes else "r")
