"""From the bytes of a node's documents to its metadata: the names of documents, and how they are parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from zarr._lazy import LazyModule
from zarr.errors import MetadataValidationError, NodeNotFoundError, ZarrUserWarning, label_of
from zarr.metadata import copies, v3
from zarr.metadata.cache import find_members, known_documents, name_of_v2
from zarr.metadata.documents import JSONDecodeError, load_document
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.notices import warn
from zarr.steps.requests import Hold, scope_of
from zarr.storage.path import StorePath
from zarr.types import ZarrFormat

if TYPE_CHECKING:
    from zarr.metadata import group, v2
    from zarr.metadata.group import GroupMetadata
    from zarr.metadata.v2 import ArrayV2Metadata
else:
    group = LazyModule("zarr.metadata.group")
    v2 = LazyModule("zarr.metadata.v2")

ArrayMetadata: TypeAlias = "ArrayV2Metadata | ArrayV3Metadata"
NodeMetadata: TypeAlias = "ArrayV2Metadata | ArrayV3Metadata | GroupMetadata"

V3_NAMES: Final = ("zarr.json",)
V2_NAMES: Final = (".zarray", ".zgroup", ".zattrs")


def node_key(path: str, name: str) -> str:
    """Return the key of a document of the node at a path.

    Examples
    --------
    >>> node_key("a/b", "zarr.json"), node_key("", "zarr.json")
    ('a/b/zarr.json', 'zarr.json')
    """
    return f"{path}/{name}" if path else name


def node_lock(path: str) -> str:
    """Return the key that stands for the one lock of a node.

    A node has one lock, in both formats and for all of its documents: all of them change together.

    Examples
    --------
    >>> node_lock("a/b")
    'a/b/zarr.json'
    """
    return f"{path}/zarr.json" if path else "zarr.json"


def hold_node(
    path: str,
    locking: str,
    *,
    below: bool = False,
    compared: Iterable[str] = (),
    versions: Mapping[str, Any] | None = None,
) -> Hold:
    """Return the request that keeps other operations from creating, changing and removing a node.

    Parameters
    ----------
    path : str
    locking : str
        The lock scope; see :class:`zarr.chunks.spec.ArrayConfig`.
    below : bool
        If True, hold the nodes below, too.
    compared : iterable of str
        The keys of documents that the steps read and replace, and read again if a ``ChangedMeanwhileError`` comes.
    versions : mapping, optional
        The versions of documents that were read before; see ``Hold``.
    """
    scope = None if locking == "thread" else scope_of(locking, path)
    key = f"{path}/zarr.json" if path else "zarr.json"  # node_lock, with one frame less
    return Hold((key,), "node", scope, tuple(compared), (path,) if below else (), versions)


_MAX_TYPED_BYTES: Final = 4096
_small_type = lru_cache(256)(lambda raw: load_document(raw, "zarr.json").get("node_type"))


def node_type(raw: bytes, name: str) -> object:
    """Return the kind of node of a document ``zarr.json``; the results for small documents are kept.

    Parameters
    ----------
    raw : bytes
    name : str
        The name of the document in messages.

    Raises
    ------
    MetadataValidationError
        If it is no metadata document.

    Examples
    --------
    >>> node_type(b'{"node_type": "group"}', "zarr.json")
    'group'
    """
    if len(raw) > _MAX_TYPED_BYTES:
        return copies.load_without_copy(raw, name).get("node_type")
    try:
        return _small_type(raw)
    except MetadataValidationError:
        return load_document(raw, name).get("node_type")  # the same error, with the place


def document_name(place: StorePath, name: str) -> str:
    """Return the name of a document for messages, with its store."""
    return node_key(place.label, name)


def name_store(error: Exception, place: StorePath) -> None:
    """Add the store of a document that cannot be read to an error."""
    error.add_note(f"in the metadata of /{place.path} of {label_of(place.store)}")


def blame_copy(error: Exception, group_place: StorePath) -> Exception:
    """Say in an error that it comes from the consolidated metadata of a group, and what to do; return the error.

    Errors of members are kept with the consolidated metadata: each is changed once.
    """
    advice = "use_consolidated=False reads the nodes themselves, and zarr.consolidate_metadata writes it anew."
    if advice not in str(error):
        _add(error, f"This is in the consolidated metadata of the group {group_place.label}: {advice}")
    return error


def blame_inline_copy(error: Exception, raw: bytes, place: StorePath) -> None:
    """Do the same for a document ``zarr.json`` that cannot be read, if it can be read without its copy."""
    try:
        group.GroupMetadata.from_dict(copies.load_without_copy(raw, "zarr.json"), name="zarr.json")
    except (ValueError, TypeError, KeyError, OverflowError):  # the group itself is damaged, or it is an array
        if isinstance(error, JSONDecodeError) and b'"consolidated_metadata"' in raw:
            _add(
                error,
                "This is the document of a group, with its consolidated metadata: the nodes below can be opened by "
                "their own paths. To mend it, remove it, create the group there again (without overwrite=True) with "
                "its attributes, and call zarr.consolidate_metadata.",
            )
    else:
        blame_copy(error, place)


def _add(error: Exception, sentence: str) -> None:
    message, *others = error.args or (type(error).__name__,)
    error.args = (f"{str(message).removesuffix('.')}. {sentence}", *others)


def warn_of_both(place: StorePath, other: str) -> None:
    """Warn that there are documents of both formats, and name those that are used."""
    chosen = "Zarr v3" if other == ".zarray" else "Zarr format 3"
    warn(
        f"Both zarr.json (Zarr format 3) and {other} (Zarr format 2) metadata objects exist at {place.label}. "
        f"{chosen} will be used.",
        ZarrUserWarning,
    )


def wanted_names(zarr_format: ZarrFormat | None, v2_names: Sequence[str]) -> Sequence[str]:
    """Return the names of the documents for a node of a format.

    Raises
    ------
    MetadataValidationError
        If there is no such format.
    """
    if zarr_format == 2:
        return v2_names
    if zarr_format == 3:
        return V3_NAMES
    if zarr_format is None:
        return (*V3_NAMES, *v2_names)
    raise MetadataValidationError(f"Invalid value for 'zarr_format'. Expected 2, 3, or None. Got '{zarr_format}'.")


def parse_v2(found: dict[str, bytes], name: str, place: StorePath) -> NodeMetadata:
    """Return the metadata of a node of format 2 from its main document."""
    attributes = found.get(".zattrs")
    key = name_of_v2(found[name], attributes) if name == ".zarray" else None
    members = find_members(known_documents(), key)
    if members is not None:
        return v2.ArrayV2Metadata.of_members(members)
    try:
        document = load_document(found[name], document_name(place, name))
        stored = {} if attributes is None else load_document(attributes, document_name(place, ".zattrs"))
        document["attributes"] = stored
        if name == ".zarray":
            return v2.ArrayV2Metadata.from_dict(document, path=place.path, place=place, raw=key)
        return group.GroupMetadata.from_dict(document, path=place.path, name=name)
    except Exception as error:
        name_store(error, place)
        raise


def parse_v3(
    raw: bytes, place: StorePath, wanted: str | None = None, copy: bool = True
) -> ArrayV3Metadata | GroupMetadata:
    """Return the metadata of a document ``zarr.json``; with a kind, refuse a node of the other kind.

    If ``copy`` is false, consolidated metadata is left out, and so may be damaged.
    """
    known = known_documents()
    members = find_members(known, raw)
    if members is not None:
        return v3.ArrayV3Metadata.of_members(members)
    path = place.path
    try:
        try:
            large = not copy and len(raw) > _MAX_TYPED_BYTES
            document = copies.load_without_copy(raw, "zarr.json") if large else load_document(raw, "zarr.json")
        except MetadataValidationError:
            document = load_document(raw, document_name(place, "zarr.json"))  # the same error, with the place
        if wanted is None and document.get("node_type") == "group":
            if not copy:
                document.pop("consolidated_metadata", None)
            return group.GroupMetadata.from_dict(document, path=path, name="zarr.json", place=place.label)
        return v3.ArrayV3Metadata.from_dict(document, path=path, place=place, raw=raw)
    except Exception as error:
        if wanted is None:
            blame_inline_copy(error, raw, place)
        name_store(error, place)
        raise


def node_of(found: dict[str, bytes], place: StorePath, copy: bool = True) -> NodeMetadata:
    """Return the metadata of a node from the documents that were found."""
    if "zarr.json" in found:
        other = next((name for name in (".zarray", ".zgroup") if name in found), None)
        if other is not None:
            warn_of_both(place, other)
        return parse_v3(found["zarr.json"], place, copy=copy)
    for name in (".zarray", ".zgroup"):
        if name in found:
            return parse_v2(found, name, place)
    raise NodeNotFoundError(place.store, place.path)
