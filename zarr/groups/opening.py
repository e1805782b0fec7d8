"""Opening a group: which documents are read, and which of its copies of its members' documents is believed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from zarr._lazy import LazyModule
from zarr.abc.stores.abilities import AT_HAND, bulk_kind
from zarr.buffer.core import Buffer
from zarr.errors import (
    ContainsArrayError,
    GroupNotFoundError,
    MetadataValidationError,
    NodeNotFoundError,
    ZarrUserWarning,
    label_of,
)
from zarr.groups.handle import GroupHandle
from zarr.metadata.consolidated import load_with_copy, load_without_copy
from zarr.metadata.documents import document_place, load_document, locate
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.notices import warn
from zarr.steps.consolidated import version
from zarr.steps.documents import name_store, wanted_names
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import GetMany, ListDir, Steps
from zarr.storage.path import StorePath
from zarr.types import ZarrFormat

if TYPE_CHECKING:
    import difflib
else:
    difflib = LazyModule("difflib")


V2_COPY = ".zmetadata"


def open_group_steps(
    store_path: StorePath, zarr_format: ZarrFormat | None = None, use_consolidated: bool | str | None = None
) -> Steps[GroupHandle]:
    """Read the documents of a group.

    Parameters
    ----------
    store_path : StorePath
    zarr_format : 2, 3 or None
        None accepts either; format 3 wins where both are there.
    use_consolidated : bool, str or None
        Whether the group's copy of its members' documents is used: None where there is one, True insists on it, False
        ignores it; a string is the key of the copy in format 2.

    Returns
    -------
    GroupHandle

    Raises
    ------
    GroupNotFoundError
        If there is no group here.
    ContainsArrayError
        If there is an array here.
    ValueError
        If a copy is insisted on and there is none, or the store says that it is none to keep copies in.
    """
    path = store_path.path
    if use_consolidated is not False and not store_path.store.supports_consolidated_metadata:
        if use_consolidated:
            raise ValueError(f"The store {label_of(store_path.store, str)} doesn't support consolidated metadata.")
        use_consolidated = False
    copy_name = use_consolidated if isinstance(use_consolidated, str) else V2_COPY
    names = _names(zarr_format, copy_name, use_consolidated)
    keys = [f"{path}/{name}" if path else name for name in names]
    found = dict(zip(names, (yield GetMany(keys)), strict=True))
    read_at = version(store_path.store, path)
    inline, group = found.get("zarr.json"), found.get(".zgroup")
    if inline is not None and group is not None:
        warn(
            f"Both zarr.json (Zarr format 3) and .zgroup (Zarr format 2) metadata objects exist at {store_path.label}. "
            "Zarr format 3 will be used.",
            ZarrUserWarning,
        )
    if inline is None and group is None:
        raise GroupNotFoundError(store_path.store, path)
    try:
        metadata = _parsed(found, copy_name, store_path, use_consolidated)
    except Exception as error:
        name_store(error, store_path)
        raise
    handle = GroupHandle(metadata, store_path)
    handle.version = read_at
    return handle


def _names(zarr_format: ZarrFormat | None, copy_name: str, use_consolidated: bool | str | None) -> list[str]:
    parts = [".zgroup", ".zattrs"]
    if use_consolidated is not False:
        parts.append(copy_name)
    return list(wanted_names(zarr_format, parts))


def _parsed(
    found: dict[str, Buffer | None], copy_name: str, store_path: StorePath, use_consolidated: bool | str | None
) -> GroupMetadata:
    """Return the metadata of a group of which these documents are there."""
    inline, group = found.get("zarr.json"), found.get(".zgroup")
    if inline is not None:
        return _from_inline(inline, store_path, use_consolidated)
    assert group is not None
    metadata = _from_parts(group, found.get(".zattrs"), store_path)
    return _with_copy(metadata, found.get(copy_name), copy_name, store_path, use_consolidated)


def _from_inline(raw: Buffer, store_path: StorePath, use_consolidated: bool | str | None) -> GroupMetadata:
    if isinstance(use_consolidated, str):
        raise TypeError("use_consolidated must be a bool or None for Zarr format 3.")
    load = load_without_copy if use_consolidated is False else load_with_copy
    document = load(raw.to_bytes(), _name(store_path, "zarr.json"))
    if document.get("node_type") == "array":
        raise ContainsArrayError(store_path.store, store_path.path)
    metadata = GroupMetadata.from_dict(document, path=store_path.path, name="zarr.json")
    if use_consolidated and metadata.consolidated_metadata is None:
        raise ValueError(
            f"Consolidated metadata requested with 'use_consolidated=True' but not found in '{store_path.path}'."
        )
    return metadata


def _name(store_path: StorePath, document: str) -> str:
    return f"{store_path.label}/{document}"


def _from_parts(group: Buffer, attributes: Buffer | None, store_path: StorePath) -> GroupMetadata:
    document = load_document(group.to_bytes(), _name(store_path, ".zgroup"))
    document["attributes"] = (
        {} if attributes is None else load_document(attributes.to_bytes(), _name(store_path, ".zattrs"))
    )
    return GroupMetadata.from_dict(document, path=store_path.path, name=".zgroup")


def _with_copy(
    metadata: GroupMetadata, raw: Buffer | None, name: str, store_path: StorePath, use_consolidated: bool | str | None
) -> GroupMetadata:
    if use_consolidated is False:
        return metadata
    if raw is None:
        if use_consolidated:
            raise ValueError(
                f"Consolidated metadata was asked for (use_consolidated={use_consolidated!r}) but there is no {name!r}"
            )
        return metadata
    document = load_document(raw.to_bytes(), _name(store_path, name))
    try:
        consolidated = ConsolidatedMetadata.from_zmetadata(document, path=store_path.path)
    except (ValueError, TypeError) as error:
        raise locate(error, document_place(name, store_path.path)) from error
    return dataclasses.replace(metadata, consolidated_metadata=consolidated)


MAX_COMPARED: Final = 1000
"""The most names among which similar ones are looked for; more would take too long for an error."""


class NoSuchMemberError(KeyError):
    """There is no such member; the message names members with similar names."""

    like = ""

    def __str__(self) -> str:
        return f"{super().__str__()}{self.like}"


def member_error_steps(handle: GroupHandle, key: str) -> Steps[NoSuchMemberError]:
    """Return the error to raise if a group has no such member."""
    error = NoSuchMemberError(key)
    error.like = yield from _like_steps(handle.store_path / key)
    return error


def missing_steps(place: StorePath, kind: type[NodeNotFoundError]) -> Steps[NodeNotFoundError]:
    """Return the error to raise if a store has no node of a kind at a place."""
    error = kind(place.store, place.path)
    try:
        found = yield from read_node_steps(place)
    except NodeNotFoundError:
        told = yield from _like_steps(place)
    except (MetadataValidationError, OSError):
        told = ""
    else:
        is_group = isinstance(found, GroupMetadata)
        other, opener = ("a group", "open_group") if is_group else ("an array", "open_array")
        told = f". There is {other} of format {found.zarr_format}: use {opener}"
    return kind(f"{error}{told}")


def explained_steps(place: StorePath, error: Exception) -> Steps[Exception]:
    """Return the same error, with more to say if it is about a missing node."""
    if not isinstance(error, NodeNotFoundError):
        return error
    return (yield from missing_steps(place, type(error)))


def _like_steps(place: StorePath) -> Steps[str]:
    """Names beside a place that are like its own, as the end of a message; only where listing costs little."""
    above, _, name = place.path.rpartition("/")
    if not name or bulk_kind(place.store) not in AT_HAND:
        return ""
    try:
        return like_names(name, (yield ListDir(above)))
    except OSError:  # the names only help; the error that is being made matters
        return ""


def like_names(name: str, names: Iterable[str]) -> str:
    """Name those of some names that are like another, as the end of a message.

    Parameters
    ----------
    name : str
        The name that was not found.
    names : iterable of str
        The names that are there.

    Returns
    -------
    str
        Empty, if none is like it or there are too many to compare.

    Examples
    --------
    >>> like_names("temprature", ["temperature", "wind"])
    " (did you mean 'temperature'?)"
    >>> like_names("x", ["temperature"])
    ''
    """
    known = list(names)
    if len(known) > MAX_COMPARED:
        return ""
    folded = [each for each in known if each.lower() == name.lower()]
    close = [*folded, *difflib.get_close_matches(name, [each for each in known if each not in folded])][:3]
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
