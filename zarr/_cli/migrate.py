"""The commands for formats: ``migrate`` and ``remove-metadata``; names and options are those of zarr-python."""

from __future__ import annotations

import logging
from enum import StrEnum
from typing import Annotated, cast

import typer

from zarr._cli.arguments import Options, parse_place
from zarr.draft3 import is_draft3
from zarr.draft3 import migrate as migrate_draft3
from zarr.logs import set_format, set_log_level
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


Whole = Annotated[str, typer.Argument(help="A folder, a zip file or a URL.")]
DryRun = Annotated[bool, typer.Option(help="Only say what would be done.")]
Force = Annotated[bool, typer.Option(help="Remove metadata even where there is none of the other format.")]


def speak_up(verbose: bool = True) -> None:
    """Log each action while it runs; without ``verbose``, only warnings."""
    set_log_level("INFO" if verbose else "WARNING")
    set_format("%(message)s")


def migrate(
    zarr_format: Annotated[CLIZarrFormatV3, typer.Argument(help="The format to migrate to.")],
    input_store: Whole,
    output_store: Annotated[str | None, typer.Argument(help="By default the input store.")] = None,
    dry_run: DryRun = False,
    overwrite: Annotated[bool, typer.Option(help="First remove metadata of format 3 that is there.")] = False,
    force: Force = False,
    remove_v2_metadata: Annotated[bool, typer.Option(help="At the end remove metadata of format 2.")] = False,
    option: Options = None,
) -> None:
    """Write metadata of format 3 beside that of format 2, or in another store; chunks stay where they are.

    A hierarchy in the layout of a draft of format 3 (2019, 2020) is moved with its chunks, whose keys are others.
    """
    if dry_run:
        speak_up()
        _logger.info("Dry run enabled - no new files will be created or changed. These would be:")
    source = _place(input_store, option, writes=output_store is None)
    target = source if output_store is None else _place(output_store, option)
    if is_draft3(source):
        if overwrite or force or remove_v2_metadata:
            raise ValueError("overwrite, force and remove-v2-metadata are for hierarchies of format 2, not for drafts")
        migrate_draft3(source, None if output_store is None else target, dry_run=dry_run)
        return
    if overwrite:
        check_migration(source.store)  # documents that cannot be converted are not removed
        sync(remove_documents(target.store, 3, force=force, dry_run=dry_run))
    migrate_v2_to_v3(input_store=source.store, output_store=target.store, dry_run=dry_run)
    if remove_v2_metadata:
        # A dry run has written no format 3, so a removal would seem to leave nothing.
        sync(remove_documents(target.store, 2, force=force or dry_run, dry_run=dry_run))


def remove_metadata(
    zarr_format: Annotated[CLIZarrFormat, typer.Argument(help="The format whose metadata go.")],
    store: Whole,
    force: Force = False,
    dry_run: DryRun = False,
    option: Options = None,
) -> None:
    """Remove all metadata of one format from a store."""
    number = cast("ZarrFormat", int(CLIZarrFormat(zarr_format).value[1:]))
    place = _place(store, option)
    if isinstance(place.store, LocalStore) and not place.store.root.exists():
        raise FileNotFoundError(f"{store} does not exist")
    if dry_run:
        speak_up()
        _logger.info("Dry run enabled - no files will be deleted or changed. These would be deleted:")
    sync(remove_documents(place.store, number, force=force, dry_run=dry_run))


def _place(store: str, option: list[str] | None, *, writes: bool = True) -> StorePath:
    """Return the root of a store; options are for URLs, and one of two stores may be none."""
    place = parse_place(store, None, option)
    if place.path:
        raise typer.BadParameter(f"{store!r} names a node: the format is that of a whole store, {place.store!r}")
    options = place.options if "://" in store else None
    return resolve_store_path(place.store, mode="r+" if writes else "r", storage_options=options)
