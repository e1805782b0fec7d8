"""The functions of ``zarr`` as coroutines; what they do is written at their twins in ``synchronous.py``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from zarr.abc.store import Store
from zarr.api import copying
from zarr.api.calls import (
    array_call,
    check_consolidated,
    consolidate_call,
    create_array_call,
    create_call,
    create_group_call,
    from_array_call,
    group_call,
    hierarchy_call,
    like_call,
    open_array_call,
    open_call,
    open_group_call,
    open_like_call,
    save_call,
    saved_arrays,
)
from zarr.api.documents import get_array_metadata
from zarr.api.many import read_many_async as read_many
from zarr.api.many import save_many_async as save_many
from zarr.api.opened import Call, Opened, given, loading_mode
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.steps import DEFAULT_FILL_VALUE, CompressorLike
from zarr.buffer.core import NDArrayLike
from zarr.chunks.spec import parse_array_config
from zarr.dtype import ZDTypeLike, get_data_type_from_native_dtype
from zarr.errors import (
    ArrayNotFoundError,
    GroupNotFoundError,
    NodeTypeValidationError,
    ZarrDeprecationWarning,
    ZarrRuntimeWarning,
    ZarrUserWarning,
)
from zarr.groups.async_group import AsyncGroup, wrap_async
from zarr.groups.handle import NodeRecord
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.notices import warn
from zarr.runners.choose import async_runner_for
from zarr.storage.path import StorePath
from zarr.storage.resolve import make_store_path
from zarr.types import ChunksLike

if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.abc.numcodec import Numcodec
    from zarr.arrays.create.steps import CompressorsLike, FiltersLike, SerializerLike, ShardsLike
    from zarr.chunks.keys import ChunkKeyEncoding, ChunkKeyEncodingLike
    from zarr.chunks.spec import ArrayConfigLike
    from zarr.groups.handle import Nodes
    from zarr.storage.resolve import StoreLike
    from zarr.types import (
        JSON,
        AccessModeLiteral,
        DimensionNamesLike,
        MemoryOrder,
        ShapeLike,
        ZarrFormat,
    )

T = TypeVar("T")
ArrayLike: TypeAlias = Any
PathLike: TypeAlias = str
ArrayMetadataDict: TypeAlias = dict[str, Any]

# Names that other libraries have taken from here.
_ALSO_HERE = (
    ArrayNotFoundError,
    ArrayV2Metadata,
    ConsolidatedMetadata,
    GroupMetadata,
    GroupNotFoundError,
    NodeTypeValidationError,
    StorePath,
    ZarrRuntimeWarning,
    ZarrUserWarning,
    get_array_metadata,
    get_data_type_from_native_dtype,
    make_store_path,
    parse_array_config,
)

__all__ = [
    "array",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "read_many",
    "save",
    "save_array",
    "save_group",
    "save_many",
    "tree",
    "zeros",
    "zeros_like",
]


async def run(call: Call[T]) -> T:
    """Run the steps of a call in this event loop."""
    return await async_runner_for(call.store).run(call.steps)


def as_array(opened: Opened) -> AsyncArray[Any]:
    """The asynchronous face of an array that was opened."""
    return AsyncArray.from_handle(opened.array_handle())


def as_group(opened: Opened) -> AsyncGroup:
    """The asynchronous face of a group that was opened."""
    return AsyncGroup.from_handle(opened.record.handle())


def as_node(opened: Opened) -> AsyncArray[Any] | AsyncGroup:
    """The asynchronous face of a node that was opened."""
    return as_group(opened) if opened.record.is_group else as_array(opened)


def as_members(records: list[NodeRecord]) -> list[tuple[str, AsyncArray[Any] | AsyncGroup]]:
    """The asynchronous faces of nodes, with their paths."""
    return [(record.name, wrap_async(record)) for record in records]


async def consolidate_metadata(
    store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None
) -> AsyncGroup:
    return as_group(await run(consolidate_call(store, path, zarr_format)))


async def open(
    *,
    store: StoreLike | None = None,
    mode: AccessModeLiteral | None = None,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> AsyncArray[Any] | AsyncGroup:
    return as_node(await run(open_call(store, mode, zarr_format, path, storage_options, config, **kwargs)))


async def open_array(
    *,
    store: StoreLike | None = None,
    zarr_format: ZarrFormat | None = None,
    path: PathLike = "",
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> AsyncArray[Any]:
    return as_array(await run(open_array_call(store, zarr_format, path, storage_options, config, **kwargs)))


async def open_group(
    store: StoreLike | None = None,
    *,
    mode: AccessModeLiteral = "a",
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: StoreLike | None = None,
    storage_options: dict[str, Any] | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    use_consolidated: bool | str | None = None,
) -> AsyncGroup:
    return as_group(await run(open_group_call(**given(locals()))))


async def open_consolidated(*args: Any, use_consolidated: Literal[True] = True, **kwargs: Any) -> AsyncGroup:
    check_consolidated(use_consolidated)
    return await open_group(*args, use_consolidated=True, **kwargs)


async def group(
    *,
    store: StoreLike | None = None,
    overwrite: bool = False,
    chunk_store: StoreLike | None = None,
    cache_attrs: bool | None = None,
    synchronizer: Any | None = None,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> AsyncGroup:
    return as_group(await run(group_call(**given(locals()))))


async def create_group(
    *,
    store: StoreLike,
    path: str | None = None,
    overwrite: bool = False,
    zarr_format: ZarrFormat | None = None,
    attributes: dict[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> AsyncGroup:
    return as_group(await run(create_group_call(**given(locals()))))


async def create_hierarchy(
    *, store: Store, nodes: Nodes, overwrite: bool = False
) -> AsyncIterator[tuple[str, AsyncGroup | AsyncArray[Any]]]:
    for member in as_members(await run(hierarchy_call(store, nodes, overwrite))):
        yield member


async def create(
    shape: tuple[int, ...] | int,
    *,
    chunks: ChunksLike | None = None,
    dtype: ZDTypeLike | None = None,
    compressor: CompressorLike = "auto",
    fill_value: Any | None = DEFAULT_FILL_VALUE,
    order: MemoryOrder | None = None,
    store: StoreLike | None = None,
    synchronizer: Any | None = None,
    overwrite: bool = False,
    path: PathLike | None = None,
    chunk_store: StoreLike | None = None,
    filters: Iterable[dict[str, JSON] | Numcodec] | None = None,
    cache_metadata: bool | None = None,
    cache_attrs: bool | None = None,
    read_only: bool | None = None,
    object_codec: Codec | None = None,
    dimension_separator: Literal[".", "/"] | None = None,
    write_empty_chunks: bool | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    chunk_shape: ChunksLike | None = None,
    chunk_key_encoding: ChunkKeyEncoding
    | tuple[Literal["default"], Literal[".", "/"]]
    | tuple[Literal["v2"], Literal[".", "/"]]
    | None = None,
    codecs: Iterable[Codec | dict[str, JSON]] | None = None,
    dimension_names: DimensionNamesLike = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    mode: AccessModeLiteral | None = None,
    data: npt.ArrayLike | None = None,
    checksum: bool = False,
    **kwargs: Any,
) -> AsyncArray[Any]:
    return as_array(await run(create_call(**given(locals()))))


async def create_array(
    store: StoreLike,
    *,
    name: str | None = None,
    shape: ShapeLike | None = None,
    dtype: ZDTypeLike | None = None,
    data: np.ndarray[Any, np.dtype[Any]] | None = None,
    chunks: ChunksLike | Literal["auto"] = "auto",
    shards: ShardsLike | None = None,
    filters: FiltersLike = "auto",
    compressors: CompressorsLike = "auto",
    serializer: SerializerLike = "auto",
    fill_value: Any | None = DEFAULT_FILL_VALUE,
    order: MemoryOrder | None = None,
    zarr_format: ZarrFormat | None = 3,
    attributes: dict[str, JSON] | None = None,
    chunk_key_encoding: ChunkKeyEncodingLike | None = None,
    dimension_names: DimensionNamesLike = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    write_data: bool = True,
    checksum: bool = False,
) -> AsyncArray[Any]:
    return as_array(await run(create_array_call(**given(locals()))))


async def from_array(
    store: StoreLike,
    *,
    data: Array[Any] | npt.ArrayLike,
    write_data: bool = True,
    name: str | None = None,
    chunks: ChunksLike | Literal["auto", "keep"] = "keep",
    shards: ShardsLike | Literal["keep"] | None = "keep",
    filters: FiltersLike | Literal["keep"] = "keep",
    compressors: CompressorsLike | Literal["keep"] = "keep",
    serializer: SerializerLike | Literal["keep"] = "keep",
    fill_value: Any | None = DEFAULT_FILL_VALUE,
    order: MemoryOrder | None = None,
    zarr_format: ZarrFormat | None = None,
    attributes: dict[str, JSON] | None = None,
    chunk_key_encoding: ChunkKeyEncodingLike | None = None,
    dimension_names: DimensionNamesLike = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
) -> AsyncArray[Any]:
    return as_array(await run(from_array_call(**given(locals()))))


async def array(data: npt.ArrayLike | Array[Any], **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(array_call(data, **kwargs)))


async def empty(shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(create_call(shape, **kwargs)))


async def zeros(shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(create_call(shape, fill_value=0, **kwargs)))


async def ones(shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(create_call(shape, fill_value=1, **kwargs)))


async def full(shape: tuple[int, ...], fill_value: Any, **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(create_call(shape, fill_value=fill_value, **kwargs)))


async def empty_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(like_call(a, zarr_format, **kwargs)))


async def zeros_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(like_call(a, zarr_format, **{"fill_value": 0, **kwargs})))


async def ones_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(like_call(a, zarr_format, **{"fill_value": 1, **kwargs})))


async def full_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return as_array(await run(like_call(a, zarr_format, full=True, **kwargs)))


async def open_like(
    a: ArrayLike,
    path: str,
    *,
    zarr_format: ZarrFormat | None = None,
    **kwargs: Any,
) -> AsyncArray[Any]:
    return as_array(await run(open_like_call(a, path, zarr_format, **kwargs)))


async def save(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    if len(args) == 1 and not kwargs:
        await save_array(store, args[0], zarr_format=zarr_format, path=path, storage_options=storage_options)
    else:
        await save_group(store, *args, zarr_format=zarr_format, path=path, storage_options=storage_options, **kwargs)


async def save_array(
    store: StoreLike,
    arr: NDArrayLike,
    *,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    await run(save_call(store, {"": arr}, zarr_format, path, storage_options, **kwargs))


async def save_group(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: NDArrayLike,
) -> None:
    await run(save_call(store, saved_arrays(args, kwargs), zarr_format, path, storage_options, mode="w"))


async def load(*, store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Any:
    node = await open(store=store, mode=loading_mode(store), path=path, zarr_format=zarr_format)
    if isinstance(node, AsyncArray):
        return await node.getitem(...)
    members = [pair async for pair in node.members(None)]
    return {name: await member.getitem(...) for name, member in members if isinstance(member, AsyncArray)}


async def tree(grp: AsyncGroup, expand: bool | None = None, level: int | None = None) -> Any:
    warn("Use AsyncGroup.tree instead.", ZarrDeprecationWarning)
    return await grp.tree(expand=expand, level=level)


async def copy(*args: Any, **kwargs: Any) -> tuple[int, int, int]:
    return await copying.copy_async(*args, **kwargs)


async def copy_all(*args: Any, **kwargs: Any) -> tuple[int, int, int]:
    return await copying.copy_all_async(*args, **kwargs)


async def copy_store(*args: Any, **kwargs: Any) -> tuple[int, int, int]:
    return await copying.copy_store_async(*args, **kwargs)
