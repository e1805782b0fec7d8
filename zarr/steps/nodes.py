"""The steps that read, write and delete nodes: which documents, in which order, and what may stand where.

The documents of a node are read in one go. A new node appears in one step: everything else is in its place before the
one document that makes it a node is written, and of several who create a node at once, one succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zarr._lazy import LazyModule
from zarr.abc.store import takes_contents_first
from zarr.abc.stores.changes import TakenError, stages
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    NodeNotFoundError,
    ReadOnlyError,
)
from zarr.metadata.documents import load_document
from zarr.steps.documents import (
    V2_NAMES,
    V3_NAMES,
    ArrayMetadata,
    NodeMetadata,
    ancestors,
    document_name,
    hold_node,
    node_key,
    node_of,
    node_type,
    not_found,
    parse_v2,
    parse_v3,
    place_label,
    wanted_names,
    warn_of_both,
)
from zarr.steps.requests import (
    Delete,
    DeletePrefix,
    Gather,
    Get,
    GetMany,
    ListDir,
    Put,
    PutIfAbsent,
    Staged,
    Steps,
    ask_steps,
)
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


def _read_documents_steps(place: StorePath | str, names: Sequence[str]) -> Steps[dict[str, bytes]]:
    """Return the documents of a node that are there, by name."""
    path = place if isinstance(place, str) else place.path
    keys = [f"{path}/{name}" for name in names] if path else list(names)
    values = [(yield Get(keys[0]))] if len(keys) == 1 else (yield GetMany(keys))
    return {name: value.to_bytes() for name, value in zip(names, values, strict=True) if value is not None}


def read_array_steps(
    place: StorePath | str, zarr_format: ZarrFormat | None = None, *, quiet: bool = False
) -> Steps[ArrayMetadata]:
    """Read the metadata of the array at a place.

    Parameters
    ----------
    place : StorePath or str
        A path is enough; with a StorePath, messages name the store, too.
    zarr_format : 2, 3 or None
        None accepts both; format 3 wins where both are there.
    quiet : bool
        Whether nothing is told of a document that is not read as it stands, as the user was told before.

    Returns
    -------
    ArrayV3Metadata or ArrayV2Metadata

    Raises
    ------
    ArrayNotFoundError
        If there is no array document.
    NodeTypeValidationError
        If the document is that of a group.
    MetadataValidationError
        If the document is malformed.
    """
    found = yield from _read_documents_steps(place, wanted_names(zarr_format, (".zarray", ".zattrs")))
    return parse_array(found, place, quiet)


def parse_array(found: dict[str, bytes], place: StorePath | str, quiet: bool = False) -> ArrayMetadata:
    """Return the metadata of an array, from those of its documents that are there.

    Parameters
    ----------
    found : mapping
        The documents by their names.
    place : StorePath or str
    quiet : bool
        As for :func:`read_array_steps`, as are the exceptions.
    """
    if "zarr.json" in found:
        if ".zarray" in found:
            warn_of_both(place, ".zarray")
        return parse_v3(found["zarr.json"], place, "array", quiet)  # type: ignore[return-value]
    if ".zarray" in found:
        return parse_v2(found, ".zarray", place, quiet)  # type: ignore[return-value]
    raise not_found(place, ArrayNotFoundError)


def read_node_steps(place: StorePath | str, zarr_format: ZarrFormat | None = None) -> Steps[NodeMetadata]:
    """Read the metadata of whatever node is at a place.

    Parameters
    ----------
    place : StorePath or str
    zarr_format : 2, 3 or None

    Returns
    -------
    ArrayV3Metadata, ArrayV2Metadata or GroupMetadata

    Raises
    ------
    NodeNotFoundError
        If there is neither an array nor a group.
    """
    found = yield from _read_documents_steps(place, wanted_names(zarr_format, V2_NAMES))
    return node_of(found, place)


def read_nodes_steps(
    places: Sequence[StorePath], zarr_format: ZarrFormat | None = None
) -> Steps[list[NodeMetadata | Exception]]:
    """Read the metadata of the nodes at many places, all documents in one go.

    Parameters
    ----------
    places : sequence of StorePath
    zarr_format : 2, 3 or None

    Returns
    -------
    list
        For each place what :func:`read_node_steps` returns or raises.
    """
    names = wanted_names(zarr_format, V2_NAMES)
    width = len(names)
    values = yield GetMany([node_key(place.path, name) for place in places for name in names])
    nodes: list[NodeMetadata | Exception] = []
    for index, place in enumerate(places):
        found = zip(names, values[index * width : (index + 1) * width], strict=True)
        try:
            nodes.append(node_of({name: raw.to_bytes() for name, raw in found if raw is not None}, place))
        except (NodeNotFoundError, ValueError, TypeError, KeyError, OverflowError) as error:
            nodes.append(error)
    return nodes


def check_mode_steps(place: StorePath, mode: AccessModeLiteral | None, named_by: object = None) -> Steps[None]:
    """Hold an access mode against what is there: ``"w-"`` creates only where there is nothing.

    Parameters
    ----------
    place : StorePath
    mode : {"r", "r+", "a", "w", "w-"}, optional
    named_by : object, optional
        What the caller named the place with. Who names it with a ``StorePath`` is past the store: there, only a node
        is in the way.

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
        yield from check_absent_steps(place, 3)
        yield from check_absent_steps(place, 2)
    elif (yield ListDir(place.path)):
        raise FileExistsError(exists_message(place.path))


# Writing

_MAKING: Final = frozenset(("zarr.json", ".zarray", ".zgroup"))
"""The documents that make a node; the others only add to it."""


def _contains_error(place: StorePath, name: str, raw: bytes) -> Exception:
    if name == "zarr.json":
        document = load_document(raw, document_name(place, name))
        name = ".zarray" if document.get("node_type") == "array" else ".zgroup"
    return (ContainsArrayError if name == ".zarray" else ContainsGroupError)(place.store, place.path)


_NODE_NAMES: Final[dict[int, Sequence[str]]] = {2: (".zarray", ".zgroup"), 3: V3_NAMES}
"""The documents that a node of a format may have that make it one."""


def check_absent_steps(place: StorePath, zarr_format: ZarrFormat) -> Steps[None]:
    """See that there is no node of a format at a place.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
    """
    for name, raw in (yield from _read_documents_steps(place, _NODE_NAMES[zarr_format])).items():
        raise _contains_error(place, name, raw)


def ensure_ancestors_steps(place: StorePath | str, zarr_format: ZarrFormat) -> Steps[None]:
    """Make groups, where there are none yet, of all places above a node.

    Parameters and errors are those of :func:`missing_ancestors_steps`.
    """
    yield from _put_groups_steps((yield from missing_ancestors_steps(place, zarr_format)), zarr_format)


def _put_groups_steps(paths: Sequence[str], zarr_format: ZarrFormat) -> Steps[None]:
    if paths:
        plain = group.GroupMetadata(zarr_format=zarr_format).to_buffer_dict(default_buffer_prototype())
        yield Gather([_put_absent_steps(path, plain) for path in paths])


def missing_ancestors_steps(place: StorePath | str, zarr_format: ZarrFormat) -> Steps[list[str]]:
    """Return the places above a node where there is no group yet, the highest first; none where nodes imply groups.

    Parameters
    ----------
    place : StorePath or str
    zarr_format : 2 or 3

    Raises
    ------
    ValueError
        If one of them is an array.
    """
    names = _NODE_NAMES[zarr_format]
    paths = ancestors(place if isinstance(place, str) else place.path)[::-1]
    keys = [f"{path}/{name}" if path else name for path in paths for name in names]
    if not keys:
        return []
    values = [(yield Get(keys[0]))] if len(keys) == 1 else (yield GetMany(keys))
    missing = dict.fromkeys(paths)
    for index, (key, raw) in enumerate(zip(keys, values, strict=True)):
        path, name = paths[index // len(names)], names[index % len(names)]
        if raw is None:
            continue
        if name == ".zarray" or (name == "zarr.json" and node_type(raw.to_bytes(), key) == "array"):
            raise _child_of_array(place, path)
        missing.pop(path)
    return [] if isinstance(place, StorePath) and getattr(place.store, "implicit_groups", False) else list(missing)


def _child_of_array(place: StorePath | str, path: str) -> ValueError:
    error = ValueError(
        f"A parent of {place_label(place)} is an array - only groups may have child nodes. "
        f"(The array is at {path!r}.)"
    )
    error.__cause__ = ContainsArrayError(place.store, path) if isinstance(place, StorePath) else None
    return error


def _put_absent_steps(path: str, documents: dict[str, Buffer]) -> Steps[bool]:
    """Write the documents of a node, the one that makes it a node last; False where somebody else was first."""
    made = True
    for name in sorted(documents, key=_MAKING.__contains__):
        made = yield PutIfAbsent(node_key(path, name), documents[name])
    return made


def replace_documents_steps(path: str, documents: Mapping[str, Buffer], locking: str) -> Steps[None]:
    """Store documents of a node that is there, when nobody else changes it; the lock goes with these steps."""
    yield hold_node(path, locking)
    for name, value in documents.items():
        yield Put(node_key(path, name), value)


def _put_steps(path: str, documents: dict[str, Buffer]) -> Steps[None]:
    for name in sorted(documents, key=_MAKING.__contains__):
        yield Put(node_key(path, name), documents[name])


def write_node_steps(
    place: StorePath,
    metadata: NodeMetadata,
    *,
    overwrite: bool = False,
    contents: Callable[[], Steps[Any]] | None = None,
    locking: str = "thread",
) -> Steps[dict[str, Buffer]]:
    """Create a node: its ancestors first, then what it holds, and at the end the document that makes it a node.

    Only stores that say so (``contents_first``) get the contents before the document; the others get it before them.

    Parameters
    ----------
    place : StorePath
    metadata : ArrayV3Metadata, ArrayV2Metadata or GroupMetadata
    overwrite : bool
        Remove what is at the place, with all below it. Without it there must not be a node of the same format.
    contents : callable, optional
        Makes the steps that write the chunks of the node; before anybody can see it, where the store allows that.
    locking : str
        Who else must not make or change the node meanwhile; see :class:`zarr.chunks.spec.ArrayConfig`.

    Returns
    -------
    dict
        The documents that were written, by name.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node, and ``overwrite`` is False.
    ValueError
        If something above is an array.
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
) -> Gather:
    """Return the request that creates a node, as :func:`write_node_steps` do: its lock goes when the node is there."""
    return Gather((_write_locked_steps(place, metadata, overwrite, contents, locking),))


def _write_locked_steps(
    place: StorePath,
    metadata: NodeMetadata,
    overwrite: bool,
    contents: Callable[[], Steps[Any]] | None,
    locking: str,
) -> Steps[dict[str, Buffer]]:
    path, zarr_format = place.path, metadata.zarr_format
    _names.check_new_path(path)
    documents = metadata.to_buffer_dict(default_buffer_prototype())
    replaces = overwrite and place.store.supports_deletes
    yield hold_node(path, locking, below=replaces)
    staged = stages(place.store)
    # One value, where nothing is: it needs no folder aside, and storing it tells whether there was one.
    alone = staged and contents is None and len(documents) == 1
    if not (replaces or (alone and not overwrite)):
        yield from check_absent_steps(place, zarr_format)
    missing = yield from missing_ancestors_steps(place, zarr_format)
    if staged:
        if alone and not missing and not (replaces and (yield ListDir(path))):
            ((name, raw),) = documents.items()
            try:
                if (yield PutIfAbsent(f"{path}/{name}" if path else name, raw)):
                    return documents
            except ReadOnlyError:  # what is there already is named first
                yield from check_absent_steps(place, zarr_format)
                raise
            if not overwrite:
                yield from check_absent_steps(place, zarr_format)
        yield from _stage_node_steps(place, documents, missing, overwrite, replaces, contents, zarr_format)
        return documents
    yield from _put_groups_steps(missing, zarr_format)
    early = takes_contents_first(place.store)
    if replaces:
        if early:  # The documents first: should the rest not be reached, nothing shows what is half removed.
            yield Gather([ask_steps(Delete(node_key(path, name))) for name in (*V3_NAMES, ".zarray", ".zgroup")])
        yield DeletePrefix(path)
    if contents is not None and early:
        yield from contents()
    if overwrite:
        yield from _put_steps(path, documents)
    elif not (yield from _put_absent_steps(path, documents)):
        # Somebody in another process was faster: the error names what is there now.
        yield from check_absent_steps(place, zarr_format)
    if contents is not None and not early:
        yield from contents()
    return documents


def _stage_node_steps(
    place: StorePath,
    documents: dict[str, Buffer],
    missing: list[str],
    overwrite: bool,
    replaces: bool,
    contents: Callable[[], Steps[Any]] | None,
    zarr_format: ZarrFormat,
) -> Steps[None]:
    """Build a node aside, with the groups above it that are missing and all that it holds, and publish it whole."""
    path = place.path
    absent = [] if overwrite else [node_key(path, name) for name in _NODE_NAMES[zarr_format]]

    def build_steps() -> Steps[None]:
        yield from _put_groups_steps(missing, zarr_format)
        if replaces:
            yield DeletePrefix(path)
        if contents is not None:
            yield from contents()
        yield from _put_steps(path, documents)

    top = missing[0] if missing else path
    try:
        yield Staged(build_steps(), top, replace=[path] if replaces else [], absent=absent)
    except TakenError:
        # Somebody in another process was faster: the error names what is there now.
        yield from check_absent_steps(place, zarr_format)
        raise


# Removing, and what all do who make, change or move a node while others do so, too


def delete_node_steps(place: StorePath | str, locking: str = "thread") -> Steps[None]:
    """Remove a node and all below it, when nobody is making or changing any of these nodes.

    Parameters
    ----------
    place : StorePath or str
    locking : str
        Who else must not change the node meanwhile; see :class:`zarr.chunks.spec.ArrayConfig`.
    """
    yield Gather([_delete_locked_steps(place if isinstance(place, str) else place.path, locking)])


def _delete_locked_steps(path: str, locking: str) -> Steps[None]:
    yield hold_node(path, locking, below=True)
    yield DeletePrefix(path)


def or_found_steps(place: Any, steps: Callable[..., Steps[T]], *args: Any, **parameters: Any) -> Steps[T]:
    """Run steps that find a node or make it: once more where somebody made it between the two, so that it is found.

    Parameters
    ----------
    place : StorePath or handle
    steps : function that returns steps
    *args, **parameters
        What it is called with, after the place.
    """
    try:
        return (yield from steps(place, *args, **parameters))
    except (ContainsArrayError, ContainsGroupError):
        return (yield from steps(place, *args, **parameters))


def opening_steps(place: StorePath, steps: Callable[..., Steps[T]], mode: str | None, *how: Any) -> Steps[T]:
    """Open or, in mode "a", make what is not there: of several who do so at once, all get the same node."""
    return or_found_steps(place, steps, mode, *how) if mode == "a" else steps(place, mode, *how)
