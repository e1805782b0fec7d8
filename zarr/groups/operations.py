"""What can be done with a group, written once as steps; both faces run these."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zarr._lazy import LazyModule
from zarr.arrays.create.codecs import is_auto
from zarr.arrays.create.like import create_or_copy_steps, from_array_steps
from zarr.arrays.create.parameters import CREATE_ARRAY, refuse_unknown
from zarr.arrays.create.steps import create_array_steps
from zarr.arrays.methods.properties import ArrayFace
from zarr.buffer.core import default_buffer_prototype
from zarr.chunks.spec import ArrayConfig, parse_array_config
from zarr.dtype import parse_dtype
from zarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    MetadataValidationError,
    NodeNotFoundError,
)
from zarr.groups.batch import pending_steps
from zarr.groups.create.arrays import filled_like, legacy_array_steps, with_one_compressor
from zarr.groups.handle import GroupHandle, NodeMetadata, NodeRecord
from zarr.groups.members.walk import fresh_steps, look_up, refuse_unreadable
from zarr.metadata.documents import plain
from zarr.metadata.group import GroupMetadata
from zarr.metadata.members import as_attributes, named_attributes
from zarr.steps.consolidated import record_changes_steps
from zarr.steps.documents import node_key
from zarr.steps.nodes import ensure_ancestors_steps, read_node_steps, write_node_steps
from zarr.steps.removing import delete_node_steps, or_found_steps
from zarr.steps.requests import Gather, Hold, LockScope, Put, Steps
from zarr.types import parse_shapelike

if TYPE_CHECKING:
    import numcodecs

    from zarr.buffer.core import Buffer
    from zarr.groups import missing
    from zarr.storage.path import StorePath
    from zarr.types import JSON, ZarrFormat
else:
    numcodecs = LazyModule("numcodecs")
    missing = LazyModule("zarr.groups.missing")


def locking_of(handle: GroupHandle) -> str:
    """Whom changes of a group's documents keep out, as its configuration says, or that of the library."""
    return parse_array_config(handle.config).locking


def new_group_steps(
    store_path: StorePath,
    zarr_format: ZarrFormat = 3,
    attributes: Mapping[str, JSON] | None = None,
    overwrite: bool = False,
    config: Mapping[str, Any] | None = None,
) -> Steps[GroupHandle]:
    """Make a group.

    Parameters
    ----------
    store_path : StorePath
    zarr_format : 2 or 3
    attributes : mapping, optional
    overwrite : bool
        Whether whatever is there goes first, with all below it.
    config : mapping, optional
        The configuration of the arrays below, and who else must not make the group meanwhile.

    Returns
    -------
    GroupHandle

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If there is a node already and ``overwrite`` is false.
    TypeError
        If the name of an attribute is no string.
    """
    metadata = GroupMetadata(attributes=named_attributes(attributes), zarr_format=zarr_format)
    locking = parse_array_config(config).locking
    documents = yield from write_node_steps(store_path, metadata, overwrite=overwrite, locking=locking)
    changes = {store_path.path: documents}
    yield from record_changes_steps(store_path.store, changes, replaced=overwrite, locking=locking)
    return GroupHandle(metadata, store_path)


def save_group_steps(handle: GroupHandle, ensure_parents: bool = False) -> Steps[None]:
    """Write the documents of a group as they are in memory."""
    if ensure_parents:
        yield from ensure_ancestors_steps(handle.store_path, handle.metadata.zarr_format)
    documents = handle.metadata.to_buffer_dict(default_buffer_prototype())
    yield Gather([_put_held_steps(handle, documents)])
    yield from record_changes_steps(handle.store, {handle.path: documents}, locking=locking_of(handle))


def _put_held_steps(handle: GroupHandle, documents: Mapping[str, Buffer]) -> Steps[None]:
    keys = {name: node_key(handle.path, name) for name in documents}
    yield Hold(list(keys.values()), "node", LockScope.of(locking_of(handle), handle.path))
    for name, value in documents.items():
        yield Put(keys[name], value)


def node_steps(handle: GroupHandle, key: str, hints: bool = True) -> Steps[NodeRecord]:
    """Find one node below a group; with ``hints``, an error names members that are called much the same.

    Raises
    ------
    KeyError
        If there is none.
    """
    store_path = handle.store_path / key
    relative = store_path.path[len(handle.path) :].strip("/")
    yield from fresh_steps(handle)
    if handle.consolidated is not None:
        if not relative:
            return NodeRecord("", handle.store_path, handle.metadata, handle.origin, handle.config)
        metadata = look_up(handle.consolidated, relative)
        if metadata is None and relative in handle.consolidated.unreadable:
            raise handle.consolidated.unreadable[relative][1].with_traceback(None)
        if metadata is None:
            like = missing.like_names(relative, handle.consolidated.flattened_metadata) if hints else ""
            raise KeyError(f"'{key}' not found in consolidated metadata.{like}")
        return NodeRecord(relative, store_path, metadata, handle.origin, handle.config)
    try:
        metadata = yield from read_node_steps(store_path, handle.metadata.zarr_format)
    except NodeNotFoundError:
        raise ((yield from missing.member_error_steps(handle, key)) if hints else KeyError(key)) from None
    return NodeRecord(relative, store_path, metadata, config=handle.config)


def find_steps(handle: GroupHandle, key: str) -> Steps[NodeRecord | None]:
    """Find one node below a group, or None."""
    try:
        return (yield from node_steps(handle, key, hints=False))
    except KeyError as error:
        if isinstance(error, MetadataValidationError):
            refuse_unreadable(handle.store_path / key, error)
        return None


def contains_steps(handle: GroupHandle, key: str) -> Steps[bool]:
    """Say whether there is a node."""
    return (yield from find_steps(handle, key)) is not None


def array_steps(handle: GroupHandle, path: str) -> Steps[NodeRecord]:
    """Find an array below a group, or say precisely what is there instead."""
    record = yield from find_steps(handle, path)
    if record is None:
        raise (yield from missing.missing_steps(handle.store_path / path, ArrayNotFoundError))
    if record.is_group:
        raise ContainsGroupError(handle.store, record.store_path.path)
    return record


def group_steps(handle: GroupHandle, path: str) -> Steps[NodeRecord]:
    """Find a group below a group, or say precisely what is there instead."""
    record = yield from find_steps(handle, path)
    if record is None:
        raise (yield from missing.missing_steps(handle.store_path / path, GroupNotFoundError))
    if not record.is_group:
        raise ContainsArrayError(handle.store, record.store_path.path)
    return record


def create_group_steps(
    handle: GroupHandle, name: str, overwrite: bool = False, attributes: Mapping[str, JSON] | None = None
) -> Steps[NodeRecord]:
    """Make a group below a group."""
    zarr_format = handle.metadata.zarr_format
    if overwrite:
        yield from pending_steps(handle, (handle.store_path / name).path)
    made = yield from new_group_steps(handle.store_path / name, zarr_format, attributes, overwrite, handle.config)
    return NodeRecord(name, made.store_path, made.metadata, config=handle.config)


def require_group_steps(handle: GroupHandle, name: str, overwrite: bool = False) -> Steps[NodeRecord]:
    """Find a group or make it.

    Raises
    ------
    TypeError
        If there is an array.
    """
    if overwrite:
        return (yield from create_group_steps(handle, name, overwrite=True))
    record: NodeRecord = yield from or_found_steps(handle, _require_group_steps, name)
    return record


def _require_group_steps(handle: GroupHandle, name: str) -> Steps[NodeRecord]:
    record = yield from find_steps(handle, name)
    if record is None:
        return (yield from create_group_steps(handle, name))
    if not record.is_group:
        raise TypeError(f"Incompatible object (array) already exists at {record.store_path.label}")
    return record


def create_groups_steps(
    handle: GroupHandle, names: tuple[str, ...], overwrite: bool = False
) -> Steps[list[NodeRecord]]:
    """Make several groups below a group."""
    records: list[NodeRecord] = yield Gather(create_group_steps(handle, name, overwrite) for name in names)
    return records


def require_groups_steps(handle: GroupHandle, names: tuple[str, ...]) -> Steps[list[NodeRecord]]:
    """Find several groups or make them."""
    records: list[NodeRecord] = yield Gather(require_group_steps(handle, name) for name in names)
    return records


def _configured(handle: GroupHandle, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a new array, with the configuration of its group where they have none."""
    if handle.config is None or isinstance(parameters.get("config"), ArrayConfig):
        return parameters
    return {**parameters, "config": {**handle.config, **(parameters.get("config") or {})}}


_MEMBER: Final = CREATE_ARRAY.keys() - {"zarr_format"}


def create_member_steps(handle: GroupHandle, name: str, parameters: Mapping[str, Any]) -> Steps[NodeRecord]:
    """Make an array below a group by the parameters of ``Group.create_array``.

    Raises
    ------
    TypeError
        There is no such parameter.
    ValueError
        Both ``compressor`` and ``compressors`` are given.
    """
    if not parameters.keys() <= _MEMBER:
        refuse_unknown("create_array", parameters, _MEMBER)
    return member_array_steps(handle, name, **with_one_compressor(dict(parameters), handle.metadata.zarr_format))


def member_array_steps(handle: GroupHandle, name: str, **parameters: Any) -> Steps[NodeRecord]:
    """Make an array below a group; the parameters are those of :func:`create_array_steps`."""
    zarr_format = handle.metadata.zarr_format
    parameters.pop("storage_options", None)  # the store is the group's
    if parameters.get("overwrite"):
        yield from pending_steps(handle, (handle.store_path / name).path)
    if zarr_format == 2 and is_auto(parameters.get("compressors", "auto")):
        # What arrays made by way of a group of format 2 have always got; other ways of making one choose by dtype.
        parameters["compressors"] = numcodecs.Blosc()
    made = yield from create_or_copy_steps(
        handle.store_path / name, zarr_format=zarr_format, **_configured(handle, parameters)
    )
    return NodeRecord(name, made.store_path, made.metadata, config=made.config)


def like_steps(
    handle: GroupHandle, name: str, fill: str = "empty", like: Any = None, **parameters: Any
) -> Steps[NodeRecord]:
    """Make an array by the parameters of ``zarr.create``, after the model of another one if there is one.

    Raises
    ------
    ValueError
        If it shall be of another format than the group, which could not list it then.
    """
    zarr_format = handle.metadata.zarr_format
    asked = parameters.pop("zarr_format", None)
    if asked is not None and asked != zarr_format:
        raise ValueError(
            f"Cannot create a zarr_format={asked} array in a zarr_format={zarr_format} group: {handle.store_path.label}"
        )
    parameters.pop("storage_options", None)  # the store is the group's
    given = {"zarr_format": zarr_format, **_configured(handle, parameters)}
    if given.get("overwrite"):
        yield from pending_steps(handle, (handle.store_path / name).path)
    if like is not None:
        given = filled_like(fill, like, given)
    made = yield from legacy_array_steps(handle.store_path / name, translate=True, **given)
    return NodeRecord(name, made.store_path, made.metadata, config=made.config)


def set_steps(handle: GroupHandle, key: str, value: Any, overwrite: bool = True) -> Steps[NodeRecord]:
    """Store data as an array below a group, in the place of what was there."""
    if (handle.store_path / key).path == handle.path:
        raise ValueError(f"a group cannot be replaced by a member of its own: {key!r} names the group itself")
    if overwrite:
        yield from pending_steps(handle, (handle.store_path / key).path)
    if isinstance(value, ArrayFace):
        given = {"data": value, "zarr_format": handle.metadata.zarr_format, "overwrite": overwrite}
        made = yield from from_array_steps(handle.store_path / key, **_configured(handle, given))
        return NodeRecord(key, made.store_path, made.metadata, config=made.config)
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        value = np.asarray(value)
    given = {"data": value, "zarr_format": handle.metadata.zarr_format, "overwrite": overwrite}
    made = yield from create_array_steps(handle.store_path / key, **_configured(handle, given))
    return NodeRecord(key, made.store_path, made.metadata, config=made.config)


def require_array_steps(
    handle: GroupHandle, name: str, shape: Any, dtype: Any = None, exact: bool = False, **parameters: Any
) -> Steps[NodeRecord]:
    """Find an array that fits, or make it.

    Raises
    ------
    TypeError
        If there is a group, or an array of another shape or dtype.
    """
    asked: dict[str, Any] = {"shape": shape, "dtype": dtype, "exact": exact, **parameters}
    record: NodeRecord = yield from or_found_steps(handle, _require_array_steps, name, **asked)
    return record


def _require_array_steps(
    handle: GroupHandle, name: str, shape: Any, dtype: Any, exact: bool, **parameters: Any
) -> Steps[NodeRecord]:
    record = yield from find_steps(handle, name)
    wanted_type = np.dtype(float) if dtype is None else dtype
    if record is None:
        return (yield from member_array_steps(handle, name, shape=shape, dtype=wanted_type, **parameters))
    metadata = record.metadata
    if isinstance(metadata, GroupMetadata):
        raise TypeError(f"Incompatible object (group) already exists at {record.store_path.label}")
    wanted = parse_shapelike(shape)
    if metadata.shape != wanted:
        raise TypeError(f"Incompatible shape ({metadata.shape} vs {wanted})")
    if dtype is not None or exact:
        stored = metadata.dtype.to_native_dtype()
        asked = parse_dtype(wanted_type, zarr_format=metadata.zarr_format).to_native_dtype()
        if stored != asked if exact else not np.can_cast(stored, asked):
            raise TypeError(f"Incompatible dtype ({stored} vs {asked})")
    record.config = parse_array_config(_configured(handle, parameters).get("config"))
    return record


def delete_steps(handle: GroupHandle, key: str) -> Steps[None]:
    """Remove a node with all below it; a node that is not there is no error."""
    store_path = handle.store_path / key
    if store_path.path == handle.path:
        raise ValueError(f"a group cannot delete itself: {key!r} names the group at {handle.store_path.label}")
    locking = locking_of(handle)
    yield from pending_steps(handle, store_path.path)
    yield from delete_node_steps(store_path.path, locking)
    yield from record_changes_steps(handle.store, {store_path.path: {}}, locking=locking)
    yield from fresh_steps(handle)


def update_attributes_steps(
    handle: GroupHandle, changes: Mapping[str, JSON], removed: Iterable[str] = (), replace: bool = False
) -> Steps[None]:
    """Add, replace and remove attributes.

    The documents are read again under a lock, so that two who change different attributes both keep theirs.

    Parameters
    ----------
    handle : GroupHandle
    changes : mapping
    removed : iterable of str
        Names to remove.
    replace : bool
        Whether ``changes`` are all that is left.

    Raises
    ------
    TypeError
        In format 3, if a name is no string.
    GroupNotFoundError
        If the group was removed meanwhile.
    """
    given = plain(dict(as_attributes(changes)))
    given = named_attributes(given) if handle.metadata.zarr_format == 3 else given
    metadata = (yield Gather([_change_attributes_steps(handle, given, tuple(removed), replace)]))[0]
    if metadata is None:
        return  # a finalizer, amid a change of this very group: what it asks for is done after that
    documents = metadata.to_buffer_dict(default_buffer_prototype())
    yield from record_changes_steps(handle.store, {handle.path: documents}, locking=locking_of(handle))
    yield from fresh_steps(handle)
    handle.metadata = dataclasses.replace(handle.metadata, attributes=metadata.attributes)


def _change_attributes_steps(
    handle: GroupHandle, changes: Mapping[str, JSON], removed: tuple[str, ...], replace: bool
) -> Steps[GroupMetadata]:
    prefix = f"{handle.path}/" if handle.path else ""
    plain = dataclasses.replace(handle.metadata, consolidated_metadata=None)
    names = list(plain.to_buffer_dict(default_buffer_prototype()))
    scope = LockScope.of(locking_of(handle), handle.path)
    yield Hold([f"{prefix}{name}" for name in names], "node", scope)
    stored: NodeMetadata
    try:
        stored = yield from read_node_steps(handle.store_path, handle.metadata.zarr_format)
    except NodeNotFoundError:
        if not handle.by_hand:  # it was removed meanwhile, and is not made again with nothing in it
            raise GroupNotFoundError(handle.store, handle.path) from None
        stored = plain
    if not isinstance(stored, GroupMetadata):
        raise ContainsArrayError(handle.store, handle.path)
    merged = dict(changes) if replace else {**stored.attributes, **changes}
    for name in removed:
        merged.pop(name, None)
    stored = dataclasses.replace(stored, attributes=merged)
    for name, value in stored.to_buffer_dict(default_buffer_prototype()).items():
        if name in names:
            yield Put(f"{prefix}{name}", value)
    return stored
