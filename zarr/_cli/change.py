"""The commands that copy, move and remove nodes, ``consolidate``, and those for attributes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, cast

import typer

import zarr
from zarr._cli.answers import agree, counted, say_json, say_result
from zarr._cli.arguments import AsJson, NodePath, Options, Place, Store, Yes, parse_pairs, parse_place
from zarr.arrays.array import Array
from zarr.core.sync import sync
from zarr.groups.group import Group
from zarr.groups.members import remove_copy_steps
from zarr.runners.choose import runner_for
from zarr.runners.job_notes import Notes
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath
from zarr.storage.zip.store import ZipStore
from zarr.tools.contents.nodes import as_stored, foreign_keys, some_of, walk
from zarr.tools.plans.targets import check_free
from zarr.types import ZarrFormat

Source = Annotated[str, typer.Argument(help="The node: STORE::PATH, or STORE for its root.")]
Key = Annotated[str | None, typer.Argument(help="The name of an attribute; by default all.")]
Keys = Annotated[list[str], typer.Argument(help="Names of attributes.")]
Pairs = Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", help="Values are JSON if they can be, else text.")]
Dest = Annotated[str, typer.Argument(help="What it will be: STORE::PATH, or ::PATH in the store of the source.")]

DestOptions = Annotated[
    list[str] | None, typer.Option("--dest-option", metavar="KEY=VALUE", help="An option of the store of DEST. Repeat.")
]


class Existing(StrEnum):
    """Choices for existing arrays."""

    refuse = "raise"
    skip = "skip"
    anew = "replace"


OnExisting = Annotated[Existing, typer.Option(help="What is done with arrays that are there already.")]


# ---------------------------------------------------------------------------------------------- existing nodes


class Found(NamedTuple):
    """An existing node, described for a user before its removal."""

    words: str
    zarr_format: ZarrFormat
    is_group: bool

    @property
    def whole(self) -> str:
        """Return a text about all that is removed with the node."""
        return f"{self.words}, and all else that lies there" if self.is_group else self.words


def find(place: Place) -> Found | None:
    """Describe the node at a place; None if there is none."""
    try:
        with place.opened() as node:
            if isinstance(node, Array):
                words = f"the array {place} {node.shape} {node.dtype}"
            else:
                words = f"the group {place} with {counted(node.nmembers(None), 'node')} below it"
            return Found(words, node.metadata.zarr_format, isinstance(node, Group))
    except FileNotFoundError:
        return None


def refuse_overlap(taken: Place, given: Place) -> None:
    """Refuse to copy or move a node onto itself, into itself, or onto a group that contains it."""
    old, new = (whole_store(place, place.path).rstrip("/") + "/" for place in (taken, given))
    if old.startswith(new) or new.startswith(old):
        raise ValueError(f"{taken} and {given} are the same, or one lies within the other: name another destination")


def whole_store(place: Place, path: str = "") -> str:
    """Return the place of a store, or of a path in it, so that two names of one folder or file give the same text."""
    store = place.store
    for scheme in ("file:", "local:"):
        if store.startswith(scheme):
            store = store.removeprefix(scheme).removeprefix("//")
    return f"{store.rstrip('/')}/{path}" if "://" in store else os.path.realpath(os.path.join(store, path))


def clear_way(place: Place, overwrite: bool, yes: bool) -> None:
    """Refuse what is in the way of a new node, or ask before it is removed; files that are no node are refused."""
    if (there := find(place)) is not None:
        if not overwrite:
            raise FileExistsError(f"{there.words} is there already: say --overwrite to make it anew")
        agree(f"Remove {there.whole}, to make it anew?", yes)
    elif overwrite:
        with place.located("a") as found:
            check_free(Notes(found), overwrite=True)


def is_stopped(place: Place) -> bool:
    """Return True if a job that makes a node was stopped: it can go on."""
    try:
        with place.located() as found:
            return Notes(found).begun() is not None
    except (OSError, ValueError):  # nothing is there, or a file of another format
        return False


@contextlib.contextmanager
def group_above(place: Place) -> Iterator[tuple[Group, str]]:
    """Open the nearest group above a node for changes; return also the path from there to the node."""
    parts = place.path.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        above = replace(place, path="/".join(parts[:depth]))
        if (there := find(above)) is not None and there.is_group:
            with above.opened("r+") as group:
                yield cast("Group", group), "/".join(parts[depth:])
            return
    raise FileNotFoundError(f"there is no group above {place}: make one by zarr create {place.store}")


def remove_node(place: Place) -> None:
    """Remove a node with all below it; for the root of a folder or a zip file, remove the folder or the file."""
    if place.path:
        with group_above(place) as (group, name):
            del group[name]
        return
    with place.opened("r+") as node:
        store = node.store
        if not isinstance(store, ZipStore):
            sync(store.delete_dir(""))
    if isinstance(store, ZipStore) and store.path is not None:
        os.unlink(store.path)
    elif isinstance(store, LocalStore):
        with contextlib.suppress(OSError):  # another program has put a new file there meanwhile
            os.rmdir(store.root)


# --------------------------------------------------------------------------------------------------- commands


def rm(store: Store, path: NodePath = None, option: Options = None, yes: Yes = False) -> None:
    """Remove an array, or a group with all below it."""
    place = parse_place(store, path, option)
    with place.opened():  # the error names nodes with similar names, if there is none
        pass
    if (there := find(place)) is not None:
        agree(f"Remove {there.whole}?", yes)
    remove_node(place)


def copy(
    source: Source,
    dest: Dest,
    if_exists: OnExisting = Existing.refuse,
    option: Options = None,
    dest_option: DestOptions = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Copy an array, or a group with all below it, within a store or to another one.

    A new store gets the bytes as they are stored. In a store that is there, arrays are decoded and encoded again, and
    get its format. Other chunks and codecs: zarr rechunk, zarr reencode.
    """
    taken, given = ends(source, dest, option, dest_option)
    refuse_overlap(taken, given)
    if if_exists is Existing.anew and (there := find(given)) is not None:
        agree(f"Replace arrays in {there.words}?", yes)
    copied, skipped, nbytes = copy_node(taken, given, if_exists)
    counts = {"copied": copied, "skipped": skipped, "bytes": nbytes}
    say_result(as_json, counts, f"{copied} copied, {skipped} skipped, {nbytes} bytes of values")


def ends(source: str, dest: str, option: list[str] | None, dest_option: list[str] | None) -> tuple[Place, Place]:
    """Return the places of source and destination; ``::path`` is one in the store of the source."""
    taken = parse_place(source, None, option)
    if dest.startswith("::"):
        if dest_option:
            raise typer.BadParameter("DEST is in the store of SOURCE, whose options are --option")
        return taken, replace(taken, path=dest[2:].strip("/"))
    given = parse_place(dest, None, dest_option)
    if whole_store(taken) == whole_store(given):  # a store is opened once, under one name
        return taken, replace(taken, path=given.path)
    return taken, given


def copy_node(taken: Place, given: Place, if_exists: Existing, moves: bool = False) -> tuple[int, int, int]:
    """Copy a node to a place: return the number of copied nodes, of skipped nodes, and of bytes.

    If it moves, refuse keys that are not copied.
    """
    if taken.store == given.store:  # opened once: a store opened before does not see changes of a zip file
        with _root_group(given, None) as root:
            return _copy_below(root[taken.path], root, given.path, if_exists)
    with taken.opened() as opened:
        node = as_stored(opened)
        if not given.path:
            with given.located("a") as place:
                if sync(place.is_empty()):
                    return _copy_as_stored(node, place)
        if moves:
            _refuse_loss(node)
        if isinstance(node, Array) and not given.path:
            return _copy_to_root(node, given, if_exists)
        with _root_group(given, node.metadata.zarr_format) as root:
            return _copy_below(node, root, given.path, if_exists)


def _refuse_loss(node: Array[Any] | Group) -> None:
    """Refuse to move a node by its elements if there are keys that are no chunks and no documents."""
    if left := list(foreign_keys(as_stored(node))):
        raise ValueError(
            f"{node.store_path} cannot be moved to another store: {len(left)} keys belong to none of its nodes, and "
            f"would be lost ({some_of(left)}). Remove them, or copy the node and leave the source"
        )


def _copy_as_stored(node: Array[Any] | Group, place: StorePath) -> tuple[int, int, int]:
    zarr.tools.copy(node, place)
    sizes = [each.nbytes if isinstance(each, Array) else 0 for _, each in walk(node)]
    return len(sizes) - isinstance(node, Group), 0, sum(sizes)


@contextlib.contextmanager
def _root_group(place: Place, zarr_format: ZarrFormat | None) -> Iterator[Group]:
    """Open the group at the root of a store, or create it in a format."""
    wanted = zarr_format if find(place.root) is None else None
    root = zarr.open_group(
        place.store, mode="a", zarr_format=wanted, storage_options=place.options, use_consolidated=False
    )
    try:
        yield root
    finally:
        root.store.close()


def _copy_below(node: Array[Any] | Group, root: Group, path: str, if_exists: Existing) -> tuple[int, int, int]:
    """Copy a node to a path below a group; if existing arrays are an error, check for them first."""
    above, _, name = path.rpartition("/")
    dest = root.require_group(above) if above else root
    for dry_run in (True, False) if if_exists is Existing.refuse else (False,):
        how: dict[str, Any] = {"if_exists": if_exists.value, "dry_run": dry_run}
        counts = zarr.copy(node, dest, name, **how) if name else zarr.copy_all(node, dest, **how)
    if root.store.supports_deletes:  # notes of a stopped copy: this one is complete
        Notes(root.store_path / path if path else root.store_path).clear()
    return counts


def _copy_to_root(array: Array[Any], given: Place, if_exists: Existing) -> tuple[int, int, int]:
    """Copy an array to the root of a store."""
    stopped = is_stopped(given)
    if if_exists is Existing.skip and find(given) is not None and not stopped:
        return 0, 1, 0
    overwrite = if_exists is Existing.anew or (if_exists is Existing.skip and stopped)
    with given.located("a") as place:
        zarr.tools.reencode(array, place, compressors="keep", overwrite=overwrite)
    return 1, 0, array.nbytes


def move(source: Source, dest: Dest, option: Options = None, dest_option: DestOptions = None, yes: Yes = False) -> None:
    """Move an array, or a group with all below it, within a store or to another one."""
    taken, given = ends(source, dest, option, dest_option)
    refuse_overlap(taken, given)
    with taken.opened() as node:  # a node that cannot be moved must not remove the one in the way
        if given.path and taken.store != given.store:
            _refuse_loss(node)
    if (there := find(given)) is not None:
        agree(f"Remove {there.whole}, to move {taken} there?", yes)
        remove_node(given)
    if taken.store == given.store:
        with group_above(taken) as (group, name):
            group.move(name, f"/{given.path}")
        return
    copy_node(taken, given, Existing.refuse, moves=True)
    remove_node(taken)


def consolidate(
    store: Store,
    path: NodePath = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the copy instead of making it.")] = False,
    option: Options = None,
) -> None:
    """Store a copy of all metadata below a group with the group, so that one read opens them all."""
    place = parse_place(store, path, option)
    with place.opened("r+") as node:
        if isinstance(node, Array):
            raise TypeError(f"{place} is an array: only groups have consolidated metadata")
        if remove:
            runner_for(node.store).run(remove_copy_steps(node.store_path))
        else:
            zarr.consolidate_metadata(node.store_path)


# --------------------------------------------------------------------------------------------------------- attributes

def get_attributes(store: Store, key: Key = None, option: Options = None, as_json: AsJson = False) -> None:
    """Print the attributes of a node, or one of them; text without quotes, all else as JSON."""
    place = parse_place(store, None, option)
    with place.opened() as node:
        found = dict(node.attrs)
    if key is None:
        say_json(found)
        return
    if key not in found:
        raise KeyError(f"{place} has no attribute {key!r}; it has {', '.join(map(repr, found)) or 'none'}")
    value = found[key]
    say_result(as_json or not isinstance(value, str), value, value)


def set_attributes(store: Store, pairs: Pairs, option: Options = None) -> None:
    """Set attributes of a node; those that are not named stay."""
    place, changes = parse_place(store, None, option), parse_pairs(pairs, "KEY=VALUE")
    with place.opened("r+") as node:
        node.attrs.update(changes)


def unset_attributes(store: Store, keys: Keys, option: Options = None) -> None:
    """Remove attributes of a node; if one is not there, nothing is changed."""
    place = parse_place(store, None, option)
    with place.opened("r+") as node:
        missing = [key for key in keys if key not in node.attrs]
        if missing:
            names = ", ".join(map(repr, missing))
            raise KeyError(f"{place} has no attribute {names}; zarr attrs get {place} lists them")
        for key in dict.fromkeys(keys):
            del node.attrs[key]
