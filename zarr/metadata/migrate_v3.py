"""Migrate metadata from format 2 to format 3: write new documents beside the old ones, keep the chunks.

It is on floor 6, above the groups, because it reads stores. `convert.py` makes the documents.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Literal, TypeAlias

from zarr._lazy import lazy_names
from zarr.abc.store import Store
from zarr.arrays.array import Array
from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.errors import GroupNotFoundError
from zarr.groups.group import Group
from zarr.metadata import convert
from zarr.metadata.documents import load_document
from zarr.metadata.group import GroupMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata
from zarr.runners.choose import async_runner_for, runner_for
from zarr.steps.documents import parse_v2
from zarr.steps.nodes import read_documents_steps
from zarr.steps.requests import Delete, Gather, Get, ListDir, Put, Steps
from zarr.storage.keys import join
from zarr.storage.path import StorePath
from zarr.types import ZARR_JSON, ZARRAY_JSON, ZATTRS_JSON, ZGROUP_JSON, ZMETADATA_V2_JSON, ZarrFormat

# Names of other rooms that zarr-python's module has, too.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.abc.codec": "ArrayArrayCodec BytesBytesCodec",
        "zarr.chunks.base": "RegularChunkGridMetadata",
        "zarr.chunks.keys": "V2ChunkKeyEncoding",
        "zarr.codecs": "BloscCodec BloscShuffle BytesCodec GzipCodec TransposeCodec ZstdCodec",
        "zarr.dtype.base": "HasEndianness TBaseDType TBaseScalar ZDType",
        "zarr.errors": "UnknownCodecError",
        "zarr.registry.codecs": "get_codec_class",
        "zarr.runners.sync": "sync",
    },
)

zarr = sys.modules["zarr"]
AnyArray: TypeAlias = Array[Any]

_logger = logging.getLogger(__name__)

_convert_array_metadata = convert.convert_array_metadata
_convert_compressor = convert.convert_compressor
_convert_filters = convert.convert_filters
_find_numcodecs_zarr3 = convert.find_codec

_V2_DOCUMENTS = (ZARRAY_JSON, ZGROUP_JSON, ZATTRS_JSON, ZMETADATA_V2_JSON)


def migrate_v2_to_v3(*, input_store: Store, output_store: Store | None = None, dry_run: bool = False) -> None:
    """Write documents of format 3 for all nodes of a store.

    Parameters
    ----------
    input_store
        A store whose root is an array or group of format 2.
    output_store
        The store of the new documents; the same store by default. Chunks are not copied.
    dry_run
        If True, log the documents that would be written, and write nothing.

    Raises
    ------
    GroupNotFoundError
        If there is no node at the root.
    TypeError
        If the root is of format 3 already, or filters cannot be expressed in format 3.
    ValueError
        If a filter or compressor has no counterpart. Nothing is written then.

    Examples
    --------
    >>> import zarr
    >>> store = zarr.storage.MemoryStore()
    >>> _ = zarr.create_group(store, zarr_format=2)
    >>> migrate_v2_to_v3(input_store=store)
    >>> zarr.open_group(store, zarr_format=3).metadata.zarr_format
    3
    """
    output = StorePath(output_store if output_store is not None else input_store, "")
    _migrate(input_store, "", output, dry_run)


def migrate_to_v3(zarr_v2: AnyArray | Group, output_path: StorePath, dry_run: bool = False) -> None:
    """Write documents of format 3 for an array, or for a group and all nodes below it.

    Parameters
    ----------
    zarr_v2
        An array or group of format 2.
    output_path
        The place of the new documents.
    dry_run
        If True, log the documents that would be written, and write nothing.

    Raises
    ------
    TypeError
        If it is of format 3 already, or filters cannot be expressed in format 3.
    ValueError
        If a filter or compressor has no counterpart. Nothing is written then.

    Examples
    --------
    >>> import zarr
    >>> old = zarr.create_array({}, shape=(4,), dtype="i4", zarr_format=2)
    >>> store = zarr.storage.MemoryStore()
    >>> migrate_to_v3(old, zarr.storage.StorePath(store, "new"))
    >>> zarr.open_array(store, path="new").metadata.zarr_format
    3
    """
    if zarr_v2.metadata.zarr_format != 2:
        raise TypeError("Only arrays / groups with zarr v2 metadata can be converted")
    source: StorePath = zarr_v2.store_path
    _migrate(source.store, source.path, output_path, dry_run)


def check_migration(store: Store) -> None:
    """Check that all nodes of format 2 can be converted, also those beside a document of format 3.

    Raises
    ------
    GroupNotFoundError, TypeError, ValueError
        As for :func:`migrate_v2_to_v3`.
    """
    runner_for(store).run(_converted_steps(store, "", beside=True))


def _migrate(store: Store, path: str, output: StorePath, dry_run: bool) -> None:
    converted = runner_for(store).run(_converted_steps(store, path))
    values: dict[str, Buffer] = {}
    for name, metadata in converted.items():
        key = "/".join([part for part in (output.path, name, ZARR_JSON) if part])
        _logger.info("Saving metadata to %s/%s", output.store, key)
        values[key] = metadata.to_buffer_dict(default_buffer_prototype())[ZARR_JSON]
    if not dry_run:
        runner_for(output.store).run(_write_steps(values))


def _converted_steps(
    store: Store, path: str, *, beside: bool = False
) -> Steps[dict[str, ArrayV3Metadata | GroupMetadata]]:
    """Convert all nodes at and below a path, members before the groups that hold them."""
    folders = yield from _walk_steps(path)
    if folders and ZARR_JSON in folders[0][1] and not beside:
        raise TypeError("Only arrays / groups with zarr v2 metadata can be converted")
    nodes = [
        (folder, ZARRAY_JSON if ZARRAY_JSON in names else ZGROUP_JSON)
        for folder, names in folders
        if ZARRAY_JSON in names or ZGROUP_JSON in names
    ]
    if not nodes or nodes[0][0] != path:
        raise GroupNotFoundError(store, path)
    nodes.reverse()
    found = yield Gather(_read_steps(StorePath(store, folder), document) for folder, document in nodes)
    return {
        folder[len(path) :].lstrip("/"): _convert(metadata) for (folder, _), metadata in zip(nodes, found, strict=True)
    }


def _walk_steps(path: str) -> Steps[list[tuple[str, set[str]]]]:
    """List the folders of all nodes at and below a path, groups before their members; arrays are not entered."""
    names = set((yield ListDir(path)))
    if not names:
        return []
    found = [(path, names)]
    if not (yield from _is_array_steps(path, names)):
        below = sorted(names - {ZARR_JSON, *_V2_DOCUMENTS})
        for folders in (yield Gather(_walk_steps(join(path, name)) for name in below)):
            found += folders
    return found


def _is_array_steps(path: str, names: set[str]) -> Steps[bool]:
    if ZARRAY_JSON in names or ZGROUP_JSON in names or ZARR_JSON not in names:
        return ZARRAY_JSON in names
    key = join(path, ZARR_JSON)
    raw = yield Get(key)
    return raw is not None and load_document(raw.to_bytes(), key).get("node_type") == "array"


def _read_steps(place: StorePath, document: str) -> Steps[ArrayV2Metadata | GroupMetadata]:
    found = yield from read_documents_steps(place, (document, ZATTRS_JSON))
    metadata = parse_v2(found, document, place)
    assert not isinstance(metadata, ArrayV3Metadata)
    return metadata


def _convert(metadata: ArrayV2Metadata | GroupMetadata) -> ArrayV3Metadata | GroupMetadata:
    if isinstance(metadata, GroupMetadata):
        return convert.convert_group_metadata(metadata)
    return convert.convert_array_metadata(metadata)


def _write_steps(values: dict[str, Buffer]) -> Steps[None]:
    for key, value in values.items():
        yield Put(key, value)


async def remove_metadata(store: Store, zarr_format: Literal[2, 3], force: bool = False, dry_run: bool = False) -> None:
    """Delete the documents of one format from a whole store.

    Parameters
    ----------
    store
        The store.
    zarr_format
        The format of the documents to delete.
    force
        If True, delete them even if there is no document of the other format.
    dry_run
        If True, log the documents that would be deleted, and delete nothing.

    Raises
    ------
    ValueError
        If a node has no document of the other format and ``force`` is False. Nothing is deleted then.
    """
    if not store.supports_deletes:
        raise ValueError(f"The store {store} cannot delete, so metadata cannot be removed from it.")
    to_delete = await async_runner_for(store).run(_documents_to_delete_steps(store, zarr_format, force))
    for key in to_delete:
        _logger.info("Deleting metadata at %s/%s", store, key)
    if not dry_run:
        await async_runner_for(store).run(_delete_steps(to_delete))


def _documents_to_delete_steps(store: Store, zarr_format: ZarrFormat, force: bool) -> Steps[list[str]]:
    """Find the documents to delete, those of the root first."""
    names = _V2_DOCUMENTS if zarr_format == 2 else (ZARR_JSON,)
    others = {ZARR_JSON} if zarr_format == 2 else {ZARRAY_JSON, ZGROUP_JSON}
    to_delete: list[str] = []
    for folder, present in (yield from _walk_steps("")):
        keys = [join(folder, name) for name in names if name in present]
        if keys and not force and not others & present:
            raise ValueError(
                f"Cannot remove v{zarr_format} metadata at {store}/{keys[0]} - no v{5 - zarr_format} metadata exists. "
                "To delete anyway, use the 'force' option."
            )
        to_delete += keys
    return to_delete


def _delete_steps(keys: list[str]) -> Steps[None]:
    for key in keys:
        yield Delete(key)
