"""Open a group: choose the documents to read, and the consolidated metadata to use."""

from __future__ import annotations

from contextlib import nullcontext

from zarr import errors
from zarr.abc.stores.abilities import AT_HAND, bulk_kind
from zarr.buffer.core import Buffer
from zarr.groups.handle import GroupHandle
from zarr.metadata.copies import load_with_copy, load_without_copy
from zarr.metadata.documents import document_place, load_document, locate
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.notices import without_warnings
from zarr.steps.consolidated import settle, version
from zarr.steps.documents import blame_copy, blame_inline_copy, document_name, name_store, wanted_names, warn_of_both
from zarr.steps.nodes import read_node_steps
from zarr.steps.requests import GetMany, ListDir, Steps
from zarr.storage.path import StorePath
from zarr.types import ZarrFormat

V2_COPY = ".zmetadata"


def open_group_steps(
    store_path: StorePath,
    zarr_format: ZarrFormat | None = None,
    use_consolidated: bool | str | None = None,
    again: bool = False,
) -> Steps[GroupHandle]:
    """Read the documents of a group.

    Parameters
    ----------
    store_path : StorePath
    zarr_format : 2, 3 or None
        None accepts both; format 3 is used if both are there.
    use_consolidated : bool, str or None
        Use consolidated metadata of the group. None: if there is any. True: it must be there. False: ignore it. A
        string is the key of consolidated metadata in format 2.
    again : bool
        If True, do not warn about documents that break the specification: the user has been warned already.

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
        If consolidated metadata is required and there is none, or the store does not allow it.
    """
    path = store_path.path
    if use_consolidated is not False and not store_path.store.supports_consolidated_metadata:
        if use_consolidated:
            store = errors.label_of(store_path.store, str)
            raise ValueError(f"The store {store} doesn't support consolidated metadata.")
        use_consolidated = False
    if use_consolidated is not False:
        settle(store_path.store)
    copy_name = use_consolidated if isinstance(use_consolidated, str) else V2_COPY
    names = _names(zarr_format, copy_name, use_consolidated)
    keys = [f"{path}/{name}" if path else name for name in names]
    read_at = version(store_path.store, path)
    found = dict(zip(names, (yield GetMany(keys)), strict=True))
    inline, group = found.get("zarr.json"), found.get(".zgroup")
    if inline is not None and group is not None:
        warn_of_both(store_path, ".zgroup")
    if inline is None and group is None:
        raise errors.GroupNotFoundError(store_path.store, path)
    try:
        with without_warnings() if again else nullcontext():
            metadata = parse_found(found, copy_name, store_path, use_consolidated)
    except Exception as error:
        name_store(error, store_path)
        raise
    return GroupHandle(metadata, store_path, read_at=read_at)


def _names(zarr_format: ZarrFormat | None, copy_name: str, use_consolidated: bool | str | None) -> list[str]:
    parts = [".zgroup", ".zattrs"]
    if use_consolidated is not False:
        parts.append(copy_name)
    return list(wanted_names(zarr_format, parts))


def parse_found(
    found: dict[str, Buffer | None], copy_name: str, store_path: StorePath, use_consolidated: bool | str | None
) -> GroupMetadata:
    """Return the metadata of a group from the documents that were found, by their names.

    Parameters
    ----------
    found
        The document ``zarr.json``, or ``.zgroup`` and those beside it; None for one that is not stored.
    copy_name
        The name of the document with consolidated metadata, in format 2.
    store_path
        The place of the group.
    use_consolidated
        As in :func:`open_group_steps`.
    """
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
    try:
        document = load(raw.to_bytes(), document_name(store_path, "zarr.json"))
        if document.get("node_type") == "array":
            raise errors.ContainsArrayError(store_path.store, store_path.path)
        metadata = GroupMetadata.from_dict(document, path=store_path.path, name="zarr.json", place=store_path.label)
    except (ValueError, TypeError) as error:
        blame_inline_copy(error, raw.to_bytes(), store_path)
        raise
    if use_consolidated and metadata.consolidated_metadata is None:
        raise errors.NotConsolidatedError(
            f"Consolidated metadata requested with 'use_consolidated=True' but not found in '{store_path.path}'."
        )
    return metadata


def _from_parts(group: Buffer, attributes: Buffer | None, store_path: StorePath) -> GroupMetadata:
    document = load_document(group.to_bytes(), document_name(store_path, ".zgroup"))
    document["attributes"] = (
        {} if attributes is None else load_document(attributes.to_bytes(), document_name(store_path, ".zattrs"))
    )
    return GroupMetadata.from_dict(document, path=store_path.path, name=".zgroup")


def _with_copy(
    metadata: GroupMetadata, raw: Buffer | None, name: str, store_path: StorePath, use_consolidated: bool | str | None
) -> GroupMetadata:
    if use_consolidated is False:
        return metadata
    if raw is None:
        if use_consolidated:
            raise errors.NotConsolidatedError(
                f"Consolidated metadata was requested (use_consolidated={use_consolidated!r}) but there is no {name!r}"
            )
        return metadata
    try:
        document = load_document(raw.to_bytes(), document_name(store_path, name))
    except errors.MetadataValidationError as error:
        blame_copy(error, store_path)
        raise
    try:
        consolidated = ConsolidatedMetadata.from_zmetadata(document, store_path.path, store_path.label)
    except (ValueError, TypeError) as error:
        raise blame_copy(locate(error, document_place(name, store_path.path)), store_path) from error
    return metadata.replaced(consolidated_metadata=consolidated)


class NoSuchMemberError(KeyError):
    """There is no such member; the message names members with similar names."""

    like = ""

    def __str__(self) -> str:
        return f"{super().__str__()}{self.like}"


class NoSuchSourceError(NoSuchMemberError, ValueError):
    """There is no member to move."""


def member_error_steps(
    handle: GroupHandle, key: str, kind: type[NoSuchMemberError] = NoSuchMemberError
) -> Steps[NoSuchMemberError]:
    """Return the error for a missing member of a group."""
    error = kind(key)
    error.like = yield from _like_steps(handle.store_path / key, key)
    return error


def missing_steps(place: StorePath, kind: type[errors.NodeNotFoundError]) -> Steps[errors.NodeNotFoundError]:
    """Return the error for a missing node of a kind in a store."""
    error = kind(place.store, place.path)
    try:
        found = yield from read_node_steps(place, copy=False)
    except errors.NodeNotFoundError:
        hint = yield from _like_steps(place, place.path)
    except (errors.MetadataValidationError, OSError):
        hint = ""
    else:
        is_group = isinstance(found, GroupMetadata)
        other, opener = ("a group", "open_group") if is_group else ("an array", "open_array")
        hint = f". There is {other} of format {found.zarr_format}: use {opener}"
    return kind(f"{error}{hint}")


def explained_steps(place: StorePath, error: Exception) -> Steps[Exception]:
    """Return the same error, with more information if it is about a missing node."""
    if not isinstance(error, errors.NodeNotFoundError):
        return error
    return (yield from missing_steps(place, type(error)))


def _like_steps(place: StorePath, path: str) -> Steps[str]:
    """Find names beside a place that are similar to its own, as the end of a message; only where a listing is cheap.

    The message names the place by a path, and so the similar ones.
    """
    above, _, name = place.path.rpartition("/")
    if not name or bulk_kind(place.store) not in AT_HAND:
        return ""
    try:
        found = yield ListDir(above)
    except OSError:  # the names only help; an error here must not hide the first one
        return ""
    return errors.like_names(name, found, lambda each: path.strip("/")[: -len(name)] + each)
