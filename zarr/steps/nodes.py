"""The steps that read, write and delete nodes: their documents, the order of requests, and the nodes in their way.

The documents of a node are read together. A new node appears in one step: everything else is stored before the one
document that makes it a node, and of several simultaneous creations exactly one succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from zarr._lazy import LazyModule
from zarr.abc.store import takes_contents_first
from zarr.abc.stores.abilities import bulk_kind
from zarr.abc.stores.changes import TakenError, stages
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import ArrayNotFoundError, ContainsArrayError, ContainsGroupError, NodeNotFoundError, ReadOnlyError
from zarr.steps import consolidated, requests
from zarr.steps.documents import (
    V2_NAMES,
    V3_NAMES,
    ArrayMetadata,
    NodeMetadata,
    document_name,
    hold_node,
    node_key,
    node_of,
    node_type,
    parse_v2,
    parse_v3,
    wanted_names,
    warn_of_both,
)
from zarr.steps.requests import Steps
from zarr.storage.keys import ancestors
from zarr.storage.path import StorePath, exists_message
from zarr.types import AccessModeLiteral, ZarrFormat

if TYPE_CHECKING:
    from zarr.metadata import group
    from zarr.metadata import names as _names
else:
    group = LazyModule("zarr.metadata.group")
    _names = LazyModule("zarr.metadata.names")

T = TypeVar("T")

# Reading


def read_documents_steps(place: StorePath, names: Sequence[str]) -> Steps[dict[str, bytes]]:
    """Return the existing documents of a node, by name."""
    path = place.path
    keys = [f"{path}/{name}" for name in names] if path else list(names)
    values = [(yield requests.Get(keys[0]))] if len(keys) == 1 else (yield requests.GetMany(keys))
    return {name: value.to_bytes() for name, value in zip(names, values, strict=True) if value is not None}


def read_array_steps(place: StorePath, zarr_format: ZarrFormat | None = None) -> Steps[ArrayMetadata]:
    """Read the metadata of the array at a place.

    Parameters
    ----------
    place : StorePath
    zarr_format : 2, 3 or None
        None accepts both; format 3 is used if both are there.

    Raises
    ------
    ArrayNotFoundError
        If there is no array document.
    NodeTypeValidationError
        If the document is that of a group.
    MetadataValidationError
        If the document is malformed.
    """
    found = yield from read_documents_steps(place, wanted_names(zarr_format, (".zarray", ".zattrs")))
    return parse_array(found, place)


def parse_array(found: dict[str, bytes], place: StorePath) -> ArrayMetadata:
    """Return the metadata of an array from its documents.

    Parameters
    ----------
    found : mapping
        The documents by their names.
    place : StorePath

    Raises
    ------
    ArrayNotFoundError, NodeTypeValidationError, MetadataValidationError
        As :func:`read_array_steps`.
    """
    if "zarr.json" in found:
        if ".zarray" in found:
            warn_of_both(place, ".zarray")
        return parse_v3(found["zarr.json"], place, "array")  # type: ignore[return-value]
    if ".zarray" in found:
        return parse_v2(found, ".zarray", place)  # type: ignore[return-value]
    raise ArrayNotFoundError(place.store, place.path)


def read_node_steps(
    place: StorePath, zarr_format: ZarrFormat | None = None, copy: bool = True
) -> Steps[NodeMetadata]:
    """Read the metadata of the array or group at a place.

    Parameters
    ----------
    place : StorePath
    zarr_format : 2, 3 or None
    copy : bool
        If False, consolidated metadata is left out, and so may be damaged.

    Raises
    ------
    NodeNotFoundError
        If there is neither an array nor a group.
    """
    found = yield from read_documents_steps(place, wanted_names(zarr_format, V2_NAMES))
    return node_of(found, place, copy)


def read_nodes_steps(
    places: Sequence[StorePath], zarr_format: ZarrFormat | None = None, copy: bool = True
) -> Steps[list[NodeMetadata | Exception]]:
    """Read the metadata of the nodes at many places, all documents together; parameters as :func:`read_node_steps`.

    Returns
    -------
    list
        For each place the result or the error of :func:`read_node_steps`.
    """
    names = wanted_names(zarr_format, V2_NAMES)
    width = len(names)
    values = yield requests.GetMany([node_key(place.path, name) for place in places for name in names])
    nodes: list[NodeMetadata | Exception] = []
    for index, place in enumerate(places):
        found = zip(names, values[index * width : (index + 1) * width], strict=True)
        try:
            nodes.append(node_of({name: raw.to_bytes() for name, raw in found if raw is not None}, place, copy))
        except (NodeNotFoundError, ValueError, TypeError, KeyError, OverflowError) as error:
            nodes.append(error)
    return nodes


def check_mode_steps(place: StorePath, mode: AccessModeLiteral | None, named_by: object = None) -> Steps[None]:
    """Check an access mode against the store: ``"w-"`` creates only if nothing is there.

    Parameters
    ----------
    place : StorePath
    mode : {"r", "r+", "a", "w", "w-"}, optional
    named_by : object, optional
        The object with which the caller named the place. With a ``StorePath``, only a node is in the way.

    Raises
    ------
    FileExistsError
        If there is anything.
    ContainsArrayError, ContainsGroupError
        If the place was named with a ``StorePath`` and there is a node.
    """
    if mode != "w-":
        return
    if isinstance(named_by, StorePath):
        yield from check_absent_steps(place, None)
    elif (yield requests.ListDir(place.path)):
        raise FileExistsError(exists_message(place.path))


# Writing

MAKING: Final = ("zarr.json", ".zarray", ".zgroup")
"""The documents that make a path a node; the others only add to it."""


def _contains_error(place: StorePath, name: str, raw: bytes) -> Exception:
    is_array = name == ".zarray" or (name == "zarr.json" and node_type(raw, document_name(place, name)) == "array")
    return (ContainsArrayError if is_array else ContainsGroupError)(place.store, place.path)


_NODE_NAMES: Final[dict[int | None, Sequence[str]]] = {2: (".zarray", ".zgroup"), 3: V3_NAMES, None: MAKING}
"""The documents of a format that make a path a node; None: of both."""


def check_absent_steps(place: StorePath, zarr_format: ZarrFormat | None) -> Steps[None]:
    """Check that there is no node of a format at a place; None: of neither.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
    """
    for name, raw in (yield from read_documents_steps(place, _NODE_NAMES[zarr_format])).items():
        raise _contains_error(place, name, raw)


def ensure_ancestors_steps(place: StorePath, *zarr_formats: ZarrFormat) -> Steps[None]:
    """Create groups at all places above a node where there are none, for each of its formats.

    Parameters and errors are those of :func:`missing_ancestors_steps`.
    """
    missing: dict[ZarrFormat, list[str]] = {}
    for zarr_format in zarr_formats:
        missing[zarr_format] = yield from missing_ancestors_steps(place, zarr_format)
    for zarr_format, paths in missing.items():
        yield from _put_groups_steps(paths, zarr_format)


def _put_groups_steps(paths: Sequence[str], zarr_format: ZarrFormat) -> Steps[None]:
    if paths:
        plain = group.GroupMetadata(zarr_format=zarr_format).to_buffer_dict(default_buffer_prototype())
        yield requests.Gather([_put_absent_steps(path, plain) for path in paths])


def missing_ancestors_steps(place: StorePath, zarr_format: ZarrFormat) -> Steps[list[str]]:
    """Return the places above a node without a group, the highest first; none if the format has implicit groups.

    Raises
    ------
    ValueError
        If one of them is an array.
    """
    names = _NODE_NAMES[zarr_format]
    paths = ancestors(place.path)[::-1]
    if zarr_format == 3 and id(place.store) in consolidated.carrying:
        groups = yield from consolidated.large_groups_steps(place.store, paths)
        paths = [path for path in paths if path not in groups]
    keys = [f"{path}/{name}" if path else name for path in paths for name in names]
    if not keys:
        return []
    values = [(yield requests.Get(keys[0]))] if len(keys) == 1 else (yield requests.GetMany(keys))
    missing = dict.fromkeys(paths)
    for index, (key, raw) in enumerate(zip(keys, values, strict=True)):
        path, name = paths[index // len(names)], names[index % len(names)]
        if raw is None:
            continue
        if name == ".zarray" or (name == "zarr.json" and node_type(raw.to_bytes(), key) == "array"):
            raise _child_of_array(place, path)
        missing.pop(path)
    return [] if getattr(place.store, "implicit_groups", False) else list(missing)


def _child_of_array(place: StorePath, path: str) -> ValueError:
    error = ValueError(
        f"A parent of {place.label} is an array - only groups may have child nodes. (The array is at {path!r}.)"
    )
    error.__cause__ = ContainsArrayError(place.store, path)
    return error


def _put_absent_steps(path: str, documents: dict[str, Buffer]) -> Steps[bool]:
    """Write the documents of a node, the one that makes it a node last; return False if another writer was first."""
    made = True
    for name in sorted(documents, key=MAKING.__contains__):
        made = yield requests.PutIfAbsent(node_key(path, name), documents[name])
    return made


def replace_documents_steps(path: str, documents: Mapping[str, Buffer], locking: str) -> Steps[None]:
    """Store documents of an existing node under its lock, which is released at the end of these steps."""
    yield hold_node(path, locking)
    yield from put_documents_steps(path, documents)


def put_documents_steps(path: str, documents: Mapping[str, Buffer]) -> Steps[None]:
    """Store the documents of a node, the one that makes it a node last."""
    for name in sorted(documents, key=MAKING.__contains__):
        yield requests.Put(node_key(path, name), documents[name])


def write_node_steps(
    place: StorePath,
    metadata: NodeMetadata,
    *,
    overwrite: bool = False,
    contents: Callable[[], Steps[Any]] | None = None,
    locking: str = "thread",
) -> Steps[dict[str, Buffer]]:
    """Create a node: first its ancestors, then its contents, and last the document that makes it a node.

    Only stores with ``contents_first`` get the contents before the document; the others get the document first.

    Parameters
    ----------
    place : StorePath
    metadata : ArrayV3Metadata, ArrayV2Metadata or GroupMetadata
    overwrite : bool
        If True, delete first the node that is at the place, with all below it. If False, a node there is an error.
    contents : callable, optional
        Makes the steps that write the chunks of the node, before other readers can see it, if the store allows that.
    locking : str
        The lock scope of the creation; see :class:`zarr.chunks.spec.ArrayConfig`.

    Returns
    -------
    dict
        The written documents, by name.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node, and ``overwrite`` is False.
    ValueError
        If a node above is an array.
    """
    documents: dict[str, Buffer]
    (documents,) = yield write_node(place, metadata, overwrite, contents, locking)
    return documents


def write_node(
    place: StorePath,
    metadata: NodeMetadata,
    overwrite: bool,
    contents: Callable[[], Steps[Any]] | None,
    locking: str,
) -> requests.Gather:
    """Return the request that creates a node, as :func:`write_node_steps`; its lock ends with the creation."""
    noted = getattr(place.store, "noted_nodes", None)
    if noted is not None:  # a transaction: if the creation fails, a part of it may be done
        changes = {place.path: wanted_names(metadata.zarr_format, V2_NAMES)}
        noted.add(changes, changes if overwrite else ())
    return requests.Gather((_write_locked_steps(place, metadata, overwrite, contents, locking),))


class _NewNode(NamedTuple):
    """A node that is created, and the groups that are missing above it."""

    place: StorePath
    zarr_format: ZarrFormat
    documents: consolidated.StoredDocuments
    contents: Callable[[], Steps[Any]] | None
    missing: list[str]
    overwrite: bool
    replaces: bool
    """True if what is there is removed first."""
    there: Sequence[str] | None
    """The names directly below the place; None if they were not listed."""

    def shown(self) -> list[str]:
        """Return the documents that may make the place a node."""
        names = MAKING if self.there is None else sorted({*MAKING}.intersection(self.there))
        return [node_key(self.place.path, name) for name in names]


def _write_locked_steps(
    place: StorePath,
    metadata: NodeMetadata,
    overwrite: bool,
    contents: Callable[[], Steps[Any]] | None,
    locking: str,
) -> Steps[dict[str, Buffer]]:
    """Create a node under its lock, in the way that the store allows."""
    path, zarr_format = place.path, metadata.zarr_format
    _names.check_new_path(path)
    documents = consolidated.StoredDocuments(metadata.to_buffer_dict(default_buffer_prototype()))
    replaces = overwrite and place.store.supports_deletes
    yield hold_node(path, locking, below=replaces)
    staged = stages(place.store)
    # One value, where nothing is: it needs no folder aside, and storing it shows if there was a value.
    alone = staged and contents is None and len(documents) == 1
    finding = missing_ancestors_steps(place, zarr_format)
    is_distant = (replaces or not alone or overwrite) and bulk_kind(place.store) == "buffers"
    looking: Steps[Any] | None = None
    if replaces and is_distant and place.store.supports_listing and takes_contents_first(place.store):
        looking = requests.ask_steps(requests.ListDir(path))
    elif not replaces and (not alone or overwrite):
        looking = check_absent_steps(place, zarr_format)
    there: Any = None
    if looking is not None and is_distant:  # a service answers both in the time of one request
        there, missing = yield requests.Gather((looking, finding))
    else:
        if looking is not None:
            yield from looking
        missing = yield from finding
    if alone and not missing and not (replaces and (yield requests.ListDir(path))):
        ((name, raw),) = documents.items()
        try:
            if (yield requests.PutIfAbsent(f"{path}/{name}" if path else name, raw)):
                return documents
        except ReadOnlyError:  # an existing node is reported first
            yield from check_absent_steps(place, zarr_format)
            raise
        if not overwrite:
            yield from check_absent_steps(place, zarr_format)
    new = _NewNode(place, zarr_format, documents, contents, missing, overwrite, replaces, there)
    yield from (_stage_node_steps if staged else _write_in_place_steps)(new)
    return documents


def _write_in_place_steps(new: _NewNode) -> Steps[None]:
    """Write a node value by value, in the order that fits the store."""
    path, contents = new.place.path, new.contents
    yield from _put_groups_steps(new.missing, new.zarr_format)
    early = takes_contents_first(new.place.store)
    if new.replaces and (new.there is None or new.there):
        shown = new.shown() if early else ()
        if shown:  # The documents first: if the rest is not reached, nothing half removed is shown.
            yield requests.Gather([requests.ask_steps(requests.Delete(key)) for key in shown])
        yield requests.DeletePrefix(path)
    if contents is not None and early:
        yield from contents()
    put = _put_node_steps(path, new.documents, new.overwrite)
    replaced = (path,) if new.overwrite else ()
    if not (yield from consolidated.store_and_look_steps(new.place.store, path, new.documents, put, replaced)):
        # Another process was faster: the error names the node that is there now.
        yield from check_absent_steps(new.place, new.zarr_format)
    if contents is not None and not early:
        yield from contents()


def _put_node_steps(path: str, documents: dict[str, Buffer], overwrite: bool) -> Steps[bool]:
    if not overwrite:
        return (yield from _put_absent_steps(path, documents))
    yield from put_documents_steps(path, documents)
    return True


def _stage_node_steps(new: _NewNode) -> Steps[None]:
    """Build a node aside, with its contents and the missing groups above it, and publish it as a whole."""
    path = new.place.path
    absent = [] if new.overwrite else [node_key(path, name) for name in _NODE_NAMES[new.zarr_format]]

    def build_steps() -> Steps[None]:
        yield from _put_groups_steps(new.missing, new.zarr_format)
        if new.replaces:
            yield requests.DeletePrefix(path)
        if new.contents is not None:
            yield from new.contents()
        yield from put_documents_steps(path, new.documents)

    top = new.missing[0] if new.missing else path
    try:
        yield requests.Staged(build_steps(), top, replace=[path] if new.replaces else [], absent=absent)
    except TakenError:
        # Another process was faster: the error names the node that is there now.
        yield from check_absent_steps(new.place, new.zarr_format)
        raise


# Removals, and steps shared by all operations that create, change or move a node at the same time as others


def delete_node_steps(path: str, locking: str = "thread") -> Steps[None]:
    """Remove a node and all below it, while no other operation creates or changes any of these nodes.

    Parameters
    ----------
    path : str
    locking : str
        The lock scope of the removal; see :class:`zarr.chunks.spec.ArrayConfig`.
    """
    yield requests.Gather([_delete_locked_steps(path, locking)])


def _delete_locked_steps(path: str, locking: str) -> Steps[None]:
    yield hold_node(path, locking, below=True)
    yield requests.DeletePrefix(path)


def opening_steps(place: StorePath, steps: Callable[..., Steps[T]], mode: str | None, *how: Any) -> Steps[T]:
    """Open a node or, in mode "a", create it; of several simultaneous calls, all get the same node."""
    return _or_found_steps(place, steps, mode, *how) if mode == "a" else steps(place, mode, *how)


def _or_found_steps(place: StorePath, steps: Callable[..., Steps[T]], *how: Any) -> Steps[T]:
    """Run steps that find a node or create it; run them again if another writer has created it in between."""
    try:
        return (yield from steps(place, *how))
    except (ContainsArrayError, ContainsGroupError):
        return (yield from steps(place, *how))
