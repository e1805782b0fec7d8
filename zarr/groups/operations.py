"""Operations on a group and its members, written once as steps; both faces run these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from zarr import errors
from zarr._lazy import numcodecs
from zarr.abc.store import takes_contents_first
from zarr.arrays.create.codecs import is_auto
from zarr.arrays.create.like import create_or_copy_steps, from_array_steps
from zarr.arrays.create.parameters import CREATE_ARRAY, refuse_unknown
from zarr.arrays.create.steps import create_array_steps
from zarr.arrays.create.version2 import filled_like, legacy_array_steps, with_one_compressor
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.methods.properties import ArrayFace, NodeFace
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.chunks.spec import ArrayConfig, parse_array_config
from zarr.dtype import parse_dtype
from zarr.groups import opening
from zarr.groups.batch import pending_steps
from zarr.groups.handle import GroupHandle, NodeMetadata, NodeRecord
from zarr.groups.members import forget_member, fresh_steps, look_up, refuse_unreadable, unreadable_error
from zarr.metadata.copies import INLINE, find_copy, with_stored_copy
from zarr.metadata.documents import plain
from zarr.metadata.fields import as_attributes, named_attributes
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.steps import nodes
from zarr.steps.consolidated import (
    Noted,
    StoredDocuments,
    record_changes_steps,
    store_and_look_steps,
    version_before,
)
from zarr.steps.documents import V2_NAMES, hold_node, node_lock, node_of, node_type, wanted_names
from zarr.steps.requests import Gather, Get, Hold, List, LockScope, Put, Rename, Steps, compared_steps
from zarr.storage.path import StorePath
from zarr.types import (
    JSON,
    METADATA_NAMES,
    ZARR_JSON,
    ZATTRS_JSON,
    ZGROUP_JSON,
    ZarrFormat,
    parse_shapelike,
)

T = TypeVar("T")


def locking_of(handle: GroupHandle) -> str:
    """Return the lock scope for changes of a group's documents: from its configuration, or from the settings."""
    return parse_array_config(handle.config).locking


def new_group_steps(
    store_path: StorePath,
    zarr_format: ZarrFormat = 3,
    attributes: Mapping[str, JSON] | None = None,
    overwrite: bool = False,
    config: Mapping[str, Any] | None = None,
) -> Steps[GroupHandle]:
    """Create a group.

    Parameters
    ----------
    store_path : StorePath
    zarr_format : 2 or 3
    attributes : mapping, optional
    overwrite : bool
        If True, delete first the node that is at its place, with all below it.
    config : mapping, optional
        The configuration of the arrays below, and the lock scope of the creation.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If a node is there and ``overwrite`` is False.
    TypeError
        If the name of an attribute is no string.
    """
    metadata = GroupMetadata(attributes=named_attributes(attributes), zarr_format=zarr_format)
    locking = parse_array_config(config).locking
    documents = yield from nodes.write_node_steps(store_path, metadata, overwrite=overwrite, locking=locking)
    changes = {store_path.path: documents}
    replaced = changes if overwrite else ()
    yield from record_changes_steps(store_path.store, changes, replaced=replaced, locking=locking)
    return GroupHandle(metadata, store_path)


def save_group_steps(handle: GroupHandle, ensure_parents: bool = False) -> Steps[None]:
    """Write the documents of a group as they are in memory."""
    if ensure_parents:
        yield from nodes.ensure_ancestors_steps(handle.store_path, handle.metadata.zarr_format)
    documents = handle.metadata.to_buffer_dict(default_buffer_prototype())
    yield Gather([nodes.replace_documents_steps(handle.path, documents, locking_of(handle))])
    yield from record_changes_steps(handle.store, {handle.path: documents}, locking=locking_of(handle))


def node_steps(handle: GroupHandle, key: str, hints: bool = True) -> Steps[NodeRecord]:
    """Find one node below a group; with ``hints``, an error names members with similar names.

    Raises
    ------
    KeyError
        If there is none.
    """
    store_path = handle.place_of(key)
    inside = (f"{store_path.path}/").startswith(f"{handle.path}/" if handle.path else "")
    relative = store_path.path[len(handle.path) :].strip("/") if inside else store_path.path
    yield from fresh_steps(handle)
    top = handle.metadata
    copy = top.consolidated_metadata
    if copy is not None and inside:
        read_at = handle.version_of(copy)
        if not relative:
            return NodeRecord("", handle.store_path, top, handle.origin, handle.config, read_at)
        metadata = look_up(copy, relative)
        if metadata is None and relative in copy.unreadable:
            raise unreadable_error(handle, copy, relative).with_traceback(None)
        if metadata is None:
            like = errors.like_names(relative, copy.flattened_metadata) if hints else ""
            raise KeyError(f"'{key}' not found in consolidated metadata.{like}")
        return NodeRecord(relative, store_path, metadata, handle.origin, handle.config, read_at)
    touched = Noted.touched
    try:
        metadata = yield from nodes.read_node_steps(store_path, top.zarr_format)
    except errors.NodeNotFoundError as error:
        if isinstance(error, errors.MetadataValidationError):  # the group is there; its consolidated metadata lacks one
            raise
        raise ((yield from opening.member_error_steps(handle, key)) if hints else KeyError(key)) from None
    read_at = None
    if isinstance(metadata, GroupMetadata) and metadata.consolidated_metadata is not None:
        read_at = version_before(handle.store, store_path.path, touched)
    return NodeRecord(relative, store_path, metadata, config=handle.config, read_at=read_at)


def find_steps(handle: GroupHandle, key: str) -> Steps[NodeRecord | None]:
    """Find one node below a group, or None."""
    try:
        return (yield from node_steps(handle, key, hints=False))
    except KeyError as error:
        if isinstance(error, errors.MetadataValidationError):
            refuse_unreadable(handle.store_path / key, error)
        return None


def contains_steps(handle: GroupHandle, key: str) -> Steps[bool]:
    """Return True if there is a node."""
    return (yield from find_steps(handle, key)) is not None


def get_steps(handle: GroupHandle, path: str, *, is_group: bool) -> Steps[NodeRecord]:
    """Find an array, or a group, below a group.

    Raises
    ------
    ArrayNotFoundError, GroupNotFoundError
        If there is no node.
    ContainsGroupError, ContainsArrayError
        If there is a node of the other kind.
    """
    record = yield from find_steps(handle, path)
    if record is None:
        missing = errors.GroupNotFoundError if is_group else errors.ArrayNotFoundError
        raise (yield from opening.missing_steps(handle.store_path / path, missing))
    if record.is_group is not is_group:
        there = errors.ContainsGroupError if record.is_group else errors.ContainsArrayError
        raise there(handle.store, record.store_path.path)
    return record


def create_group_steps(
    handle: GroupHandle, name: str, overwrite: bool = False, attributes: Mapping[str, JSON] | None = None
) -> Steps[NodeRecord]:
    """Create a group below a group."""
    zarr_format = handle.metadata.zarr_format
    place = handle.place_of(name)
    steps = new_group_steps(place, zarr_format, attributes, overwrite, handle.config)
    made = yield from _replacing(handle, place, overwrite, steps)
    return NodeRecord(name, made.store_path, made.metadata, config=handle.config)


def require_group_steps(handle: GroupHandle, name: str, overwrite: bool = False) -> Steps[NodeRecord]:
    """Find a group; create it if there is none.

    Raises
    ------
    TypeError
        If there is an array.
    """
    if overwrite:
        return (yield from create_group_steps(handle, name, overwrite=True))
    return (yield from _required_steps(handle, _require_group_steps, name))


def _required_steps(handle: GroupHandle, steps: Callable[..., Steps[T]], *args: Any, **parameters: Any) -> Steps[T]:
    """Run steps that find a member or create it; again in the store if a copy lacks what another writer has created."""
    try:
        return (yield from steps(handle, *args, **parameters))
    except (errors.ContainsArrayError, errors.ContainsGroupError):
        metadata = handle.metadata.replaced(consolidated_metadata=None)
        stored = GroupHandle(metadata, handle.store_path, config=handle.config)
        return (yield from steps(stored, *args, **parameters))


def _require_group_steps(handle: GroupHandle, name: str) -> Steps[NodeRecord]:
    record = yield from find_steps(handle, name)
    if record is None:
        return (yield from create_group_steps(handle, name))
    if not record.is_group:
        raise errors.NodeInPlaceError(f"Incompatible object (array) already exists at {record.store_path.label}")
    return record


def create_groups_steps(
    handle: GroupHandle, names: tuple[str, ...], overwrite: bool = False
) -> Steps[list[NodeRecord]]:
    """Create several groups below a group."""
    records: list[NodeRecord] = yield Gather(create_group_steps(handle, name, overwrite) for name in names)
    return records


def require_groups_steps(handle: GroupHandle, names: tuple[str, ...]) -> Steps[list[NodeRecord]]:
    """Find several groups; create those that are missing."""
    records: list[NodeRecord] = yield Gather(require_group_steps(handle, name) for name in names)
    return records


def _configured(handle: GroupHandle, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a new array, with the configuration of its group where they have none."""
    if handle.config is None or isinstance(parameters.get("config"), ArrayConfig):
        return parameters
    return {**parameters, "config": {**handle.config, **(parameters.get("config") or {})}}


def _replacing(handle: GroupHandle, place: StorePath, overwrite: Any, steps: Steps[T]) -> Steps[T]:
    """Store what a batch holds of the nodes at a place, before steps overwrite them."""
    return _after_pending_steps(handle, place.path, steps) if overwrite and handle.batch is not None else steps


def _after_pending_steps(handle: GroupHandle, path: str, steps: Steps[T]) -> Steps[T]:
    yield from pending_steps(handle, path)
    return (yield from steps)


_MEMBER: Final = CREATE_ARRAY.keys() - {"zarr_format"}


def create_member_steps(handle: GroupHandle, name: str, parameters: Mapping[str, Any]) -> Steps[ArrayHandle]:
    """Create an array below a group by the parameters of ``Group.create_array``.

    Raises
    ------
    TypeError
        If there is no such parameter.
    ValueError
        If both ``compressor`` and ``compressors`` are given.
    """
    if not parameters.keys() <= _MEMBER:
        refuse_unknown("create_array", parameters, _MEMBER)
    if "compressor" in parameters:
        parameters = with_one_compressor(dict(parameters), handle.metadata.zarr_format)
    return member_array_steps(handle, name, **parameters)


def member_array_steps(handle: GroupHandle, name: str, **parameters: Any) -> Steps[ArrayHandle]:
    """Create an array below a group; the parameters are those of :func:`create_array_steps`."""
    zarr_format = handle.metadata.zarr_format
    parameters.pop("storage_options", None)  # the group determines the store
    if zarr_format == 2 and is_auto(parameters.get("compressors", "auto")):
        # In format 2, arrays created by a group always use Blosc; other functions choose the compressor by dtype.
        parameters["compressors"] = numcodecs.Blosc()
    if handle.config is not None:
        parameters = _configured(handle, parameters)
    place = handle.place_of(name)
    steps = create_or_copy_steps(place, zarr_format=zarr_format, **parameters)
    return _replacing(handle, place, parameters["overwrite"], steps) if "overwrite" in parameters else steps


def like_steps(
    handle: GroupHandle, name: str, fill: str = "empty", like: Any = None, **parameters: Any
) -> Steps[ArrayHandle]:
    """Create an array by the parameters of ``zarr.create``, after the model of another one if there is one.

    Raises
    ------
    ValueError
        If its format is not that of the group, which could not list it then.
    """
    zarr_format = handle.metadata.zarr_format
    asked = parameters.pop("zarr_format", None)
    if asked is not None and asked != zarr_format:
        raise ValueError(
            f"Cannot create a zarr_format={asked} array in a zarr_format={zarr_format} group: {handle.store_path.label}"
        )
    parameters.pop("storage_options", None)  # the group determines the store
    given = {"zarr_format": zarr_format, **_configured(handle, parameters)}
    if like is not None:
        given = filled_like(fill, like, given)
    place = handle.place_of(name)
    steps = legacy_array_steps(place, translate=True, **given)
    return _replacing(handle, place, given.get("overwrite"), steps)


def set_steps(handle: GroupHandle, key: str, value: Any, overwrite: bool = True) -> Steps[ArrayHandle]:
    """Store data as an array below a group, in place of the node that was there."""
    place = handle.place_of(key)
    if place.path == handle.path:
        raise ValueError(f"a group cannot be replaced by a member of its own: {key!r} names the group itself")
    if isinstance(value, NodeFace) and not isinstance(value, ArrayFace):
        raise TypeError(f"a group cannot be stored as the array {key!r}: copy it with zarr.tools.copy or zarr.copy")
    given = {"data": value, "zarr_format": handle.metadata.zarr_format, "overwrite": overwrite}
    steps = from_array_steps if isinstance(value, ArrayFace) else create_array_steps
    return _replacing(handle, place, overwrite, steps(place, **_configured(handle, given)))


def require_array_steps(
    handle: GroupHandle, name: str, shape: Any, dtype: Any = None, exact: bool = False, **parameters: Any
) -> Steps[ArrayHandle]:
    """Find an array that fits; create it if there is none.

    Raises
    ------
    TypeError
        If there is a group, or an array of another shape or dtype.
    """
    asked: dict[str, Any] = {"shape": shape, "dtype": dtype, "exact": exact, **parameters}
    return _required_steps(handle, _require_array_steps, name, **asked)


def _require_array_steps(
    handle: GroupHandle, name: str, shape: Any, dtype: Any, exact: bool, **parameters: Any
) -> Steps[ArrayHandle]:
    record = yield from find_steps(handle, name)
    wanted_type = np.dtype(float) if dtype is None else dtype
    if record is None:
        return (yield from member_array_steps(handle, name, shape=shape, dtype=wanted_type, **parameters))
    metadata = record.metadata
    if isinstance(metadata, GroupMetadata):
        raise errors.NodeInPlaceError(f"Incompatible object (group) already exists at {record.store_path.label}")
    wanted = parse_shapelike(shape)
    if metadata.shape != wanted:
        raise TypeError(f"Incompatible shape ({metadata.shape} vs {wanted})")
    if dtype is not None or exact:
        stored = metadata.dtype.to_native_dtype()
        asked = parse_dtype(wanted_type, zarr_format=metadata.zarr_format).to_native_dtype()
        if stored != asked if exact else not np.can_cast(stored, asked):
            raise TypeError(f"Incompatible dtype ({stored} vs {asked})")
    config = parse_array_config(_configured(handle, parameters).get("config"))
    return ArrayHandle(record.store_path, metadata, config)


def delete_steps(handle: GroupHandle, key: str) -> Steps[None]:
    """Remove a node with all below it; a node that is not there is no error."""
    store_path = handle.place_of(key)
    if store_path.path == handle.path:
        raise ValueError(f"a group cannot delete itself: {key!r} names the group at {handle.store_path.label}")
    locking = locking_of(handle)
    yield from pending_steps(handle, store_path.path)
    removed = StoredDocuments()
    removal = nodes.delete_node_steps(store_path.path, locking)
    yield from store_and_look_steps(handle.store, store_path.path, removed, removal)
    noted = yield from record_changes_steps(handle.store, {store_path.path: removed}, locking=locking)
    forget_member(handle, store_path.path, noted)


def update_attributes_steps(
    handle: GroupHandle, changes: Mapping[str, JSON], removed: Iterable[str] = (), replace: bool = False
) -> Steps[None]:
    """Add, replace and remove attributes.

    The documents are read again under a lock, so that two writers that change different attributes both keep theirs.

    Parameters
    ----------
    handle : GroupHandle
    changes : mapping
    removed : iterable of str
        Names to remove.
    replace : bool
        If True, all attributes that are not in ``changes`` are removed.

    Raises
    ------
    TypeError
        In format 3, if a name is no string.
    GroupNotFoundError
        If the group was removed meanwhile.
    """
    given = plain(dict(as_attributes(changes)))
    given = named_attributes(given) if handle.metadata.zarr_format == 3 else given
    documents = yield from compared_steps(partial(_change_attributes_steps, handle, given, tuple(removed), replace))
    yield from record_changes_steps(handle.store, {handle.path: documents}, locking=locking_of(handle))
    yield from fresh_steps(handle)


def _change_attributes_steps(
    handle: GroupHandle, changes: Mapping[str, JSON], removed: tuple[str, ...], replace: bool
) -> Steps[StoredDocuments]:
    prefix = f"{handle.path}/" if handle.path else ""
    plain = handle.metadata.replaced(consolidated_metadata=None)
    names = (ZARR_JSON,) if plain.zarr_format == 3 else (ZGROUP_JSON, ZATTRS_JSON)
    yield hold_node(handle.path, locking_of(handle), compared=[f"{prefix}{name}" for name in names])
    stored: NodeMetadata
    wanted = wanted_names(handle.metadata.zarr_format, V2_NAMES)
    found = yield from nodes.read_documents_steps(handle.store_path, wanted)
    try:
        stored = node_of(found, handle.store_path, copy=False)
    except errors.NodeNotFoundError:
        if not handle.perhaps_unstored:  # it was removed meanwhile, and is not created again
            raise errors.GroupNotFoundError(handle.store, handle.path) from None
        stored = plain
    if not isinstance(stored, GroupMetadata):
        raise errors.ContainsArrayError(handle.store, handle.path)
    merged = dict(changes) if replace else {**stored.attributes, **changes}
    for name in removed:
        merged.pop(name, None)
    stored = stored.replaced(attributes=merged)
    documents = stored.to_buffer_dict(default_buffer_prototype())
    recorded = StoredDocuments(documents)
    if stored.consolidated_metadata is None and b'"consolidated_metadata"' in found.get(INLINE, b""):
        documents[INLINE] = _with_stored_copy(stored, found[INLINE], f"{prefix}{INLINE}")
    settled = found.keys() & {ZGROUP_JSON}  # attributes are no part of it, however its writer has laid it out
    changed = {
        name: raw
        for name, raw in documents.items()
        if name in names and name not in settled and raw.to_bytes() != found.get(name)
    }
    put = nodes.put_documents_steps(handle.path, changed)
    yield from store_and_look_steps(handle.store, handle.path, recorded, put)
    handle.show_stored(merged)
    return recorded


def _with_stored_copy(metadata: GroupMetadata, raw: bytes, key: str) -> Buffer:
    """Return the document of a group with the consolidated metadata of its stored document, whose text is kept."""
    copy = find_copy(raw, INLINE, key)
    if copy is None:  # an attribute has that name
        return metadata.to_buffer_dict(default_buffer_prototype())[INLINE]
    empty = metadata.replaced(consolidated_metadata=ConsolidatedMetadata({}))
    text = empty.to_buffer_dict(default_buffer_prototype())[INLINE].to_bytes()
    return default_buffer_prototype().buffer.from_bytes(with_stored_copy(text, copy))


def move_steps(handle: GroupHandle, source: str, dest: str) -> Steps[None]:
    """Move a node below a group.

    The documents of the node are copied last, and the source is removed after that: a reader at the same time finds the
    node at one place or at the other. (Stores that do not take contents first get all documents before the chunks.)

    Parameters
    ----------
    handle : GroupHandle
    source, dest : str
        Paths relative to the group; with a slash in front, the destination is relative to the root of the store.

    Raises
    ------
    NoSuchSourceError
        If there is no source; it is a KeyError and a ValueError.
    ValueError
        If the destination lies within the source, or is the group itself.
    ContainsArrayError, ContainsGroupError
        If there is a node at the destination.
    """
    above = StorePath(handle.store) if dest.startswith("/") else handle.store_path
    old, new = (handle.store_path / source).path, (above / dest).path
    if old == handle.path or new == handle.path or f"{new}/".startswith(f"{old}/"):
        raise ValueError(f"cannot move {source!r} to {dest!r}: the one lies within the other, or is the group itself")
    moved = yield from find_steps(handle, source)
    if moved is None:
        raise (yield from opening.member_error_steps(handle, source, opening.NoSuchSourceError))
    yield from pending_steps(handle, old, new)
    locking = locking_of(handle)
    (found,) = yield Gather([_move_locked_steps(handle, old, new, locking)])
    keys = [f"{new}/{name}" for name in found]
    if ".zgroup" in found or (INLINE in found and node_type(found[INLINE], f"{new}/{INLINE}") == "group"):
        keys = yield List(new)
    yield from record_changes_steps(handle.store, {old: (), **_document_names(keys)}, locking=locking)


def _move_locked_steps(handle: GroupHandle, old: str, new: str, locking: str) -> Steps[dict[str, bytes]]:
    """Move a node under locks of the node and of the destination: by one renaming, or by copies.

    Return the documents that made it a node: it may be one in both formats, and all that is at its path is moved.
    """
    yield Hold((node_lock(old), node_lock(new)), "node", LockScope.of(locking, old), below=(old, new))
    yield from nodes.check_absent_steps(StorePath(handle.store, new), None)
    found = yield from nodes.read_documents_steps(StorePath(handle.store, old), nodes.MAKING)
    formats: set[ZarrFormat] = {3 if name == INLINE else 2 for name in found}
    yield from nodes.ensure_ancestors_steps(StorePath(handle.store, new), *sorted(formats))
    if takes_contents_first(handle.store) and (yield Rename(old, new)):
        return found
    keys = yield List(old)
    if takes_contents_first(handle.store):
        late = {f"{old}/{name}" for name in nodes.MAKING}
    else:
        late = {key for key in keys if key.rpartition("/")[2] not in METADATA_NAMES}
    for part in ([key for key in keys if key not in late], [key for key in keys if key in late]):
        yield Gather(_copy_steps(key, new + key[len(old) :]) for key in part)
    yield from nodes.delete_node_steps(old, locking)
    return found


def _copy_steps(source: str, dest: str) -> Steps[None]:
    value = yield Get(source)
    if value is not None:
        yield Put(dest, value)


def _document_names(keys: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of the documents among some keys, by node."""
    found: dict[str, list[str]] = {}
    for key in keys:
        path, _, name = key.rpartition("/")
        if name in METADATA_NAMES and name != ".zmetadata":
            found.setdefault(path, []).append(name)
    return found
