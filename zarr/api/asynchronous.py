"""The functions of ``zarr`` as coroutines; their twins in ``synchronous.py`` have the full documentation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack

import numpy.typing as npt

from zarr._lazy import lazy_names
from zarr.abc.store import Store
from zarr.api import copying, opening, operations, saving
from zarr.api import create as making
from zarr.api.operations import Call
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.codecs import CompressorLike  # noqa: F401
from zarr.arrays.create.parameters import DEFAULT_FILL_VALUE, FILLS, CreateArray, FromArray, like  # noqa: F401
from zarr.arrays.handle import ArrayHandle
from zarr.buffer.core import NDArrayLike
from zarr.chunks.spec import parse_array_config  # noqa: F401
from zarr.dtype import ZDTypeLike, get_data_type_from_native_dtype  # noqa: F401
from zarr.errors import *  # noqa: F403
from zarr.groups.async_group import AsyncGroup, wrap_async
from zarr.groups.handle import GroupHandle, NodeRecord, Nodes
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata  # noqa: F401
from zarr.metadata.v2 import ArrayV2Metadata  # noqa: F401
from zarr.notices import warn
from zarr.runners.choose import async_runner_for
from zarr.steps.nodes import read_array_steps
from zarr.storage.path import StorePath
from zarr.storage.resolve import StoreLike, make_store_path  # noqa: F401
from zarr.types import ChunksLike, ZarrFormat  # noqa: F401

T = TypeVar("T")
ArrayLike: TypeAlias = Any
PathLike: TypeAlias = str
ArrayMetadataDict: TypeAlias = dict[str, Any]


async def run(call: Call[T]) -> T:
    """Run the steps of a call in this event loop."""
    return await async_runner_for(call.store).run(call.steps)


def as_node(handle: ArrayHandle | GroupHandle) -> AsyncArray[Any] | AsyncGroup:
    """Return the asynchronous face of a handle."""
    return AsyncGroup.from_handle(handle) if isinstance(handle, GroupHandle) else AsyncArray.from_handle(handle)


def as_members(records: list[NodeRecord]) -> list[tuple[str, AsyncArray[Any] | AsyncGroup]]:
    """Return the asynchronous faces of nodes, with their paths."""
    return [(record.name, wrap_async(record)) for record in records]


async def consolidate_metadata(
    store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None
) -> AsyncGroup:
    return AsyncGroup.from_handle(await run(operations.consolidate_call(store, path, zarr_format)))


@like(opening.open, keyword_only=True)
async def open(*, store: StoreLike | None = None, **how: Any) -> AsyncArray[Any] | AsyncGroup:
    return as_node(await run(operations.open_call(store, **how)))


@like(opening.open_array, keyword_only=True)
async def open_array(*, store: StoreLike | None = None, **how: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.open_array_call(store, **how)))


@like(opening.open_group)
async def open_group(store: StoreLike | None = None, **parameters: Any) -> AsyncGroup:
    return AsyncGroup.from_handle(await run(operations.open_group_call(store, **parameters)))


async def open_consolidated(*args: Any, use_consolidated: Literal[True] = True, **kwargs: Any) -> AsyncGroup:
    operations.check_consolidated(use_consolidated)
    return await open_group(*args, use_consolidated=True, **kwargs)


@like(opening.group, keyword_only=True)
async def group(**parameters: Any) -> AsyncGroup:
    return AsyncGroup.from_handle(await run(operations.group_call(**parameters)))


@like(opening.create_group, keyword_only=True)
async def create_group(*, store: StoreLike, **parameters: Any) -> AsyncGroup:
    return AsyncGroup.from_handle(await run(operations.create_group_call(store, **parameters)))


async def create_hierarchy(
    *, store: Store, nodes: Nodes, overwrite: bool = False
) -> AsyncIterator[tuple[str, AsyncGroup | AsyncArray[Any]]]:
    for member in as_members(await run(operations.hierarchy_call(store, nodes, overwrite))):
        yield member


@like(making.create)
async def create(shape: tuple[int, ...] | int, **parameters: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.create_call(shape, **parameters)))


@like(making.create_array)
async def create_array(
    store: StoreLike, *, name: str | None = None, **parameters: Unpack[CreateArray]
) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.create_array_call(store, name, **parameters)))


@like(making.from_array)
async def from_array(
    store: StoreLike,
    *,
    data: Array[Any] | npt.ArrayLike,
    write_data: bool = True,
    name: str | None = None,
    **parameters: Unpack[FromArray],
) -> AsyncArray[Any]:
    call = operations.from_array_call(store, name, data=data, write_data=write_data, **parameters)
    return AsyncArray.from_handle(await run(call))


async def array(data: npt.ArrayLike | Array[Any], **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.array_call(data, **kwargs)))


async def empty(shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.create_call(shape, **kwargs)))


async def zeros(shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.create_call(shape, **FILLS["zeros"], **kwargs)))


async def ones(shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.create_call(shape, **FILLS["ones"], **kwargs)))


async def full(shape: tuple[int, ...], fill_value: Any, **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.create_call(shape, fill_value=fill_value, **kwargs)))


async def empty_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.like_call("empty", a, zarr_format, **kwargs)))


async def zeros_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.like_call("zeros", a, zarr_format, **kwargs)))


async def ones_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.like_call("ones", a, zarr_format, **kwargs)))


async def full_like(a: ArrayLike, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.like_call("full", a, zarr_format, **kwargs)))


@like(opening.open_like)
async def open_like(a: ArrayLike, path: str, **how: Any) -> AsyncArray[Any]:
    return AsyncArray.from_handle(await run(operations.open_like_call(a, path, **how)))


async def save(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    await run(operations.save_many_call(store, args, kwargs, zarr_format, path, storage_options))


@like(saving.save_array)
async def save_array(store: StoreLike, arr: NDArrayLike, **how: Any) -> None:
    await run(operations.save_call(store, {"": arr}, **how))


async def save_group(
    store: StoreLike,
    *args: NDArrayLike,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: NDArrayLike,
) -> None:
    await run(operations.save_many_call(store, args, kwargs, zarr_format, path, storage_options, as_group=True))


async def load(*, store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Any:
    node = await open(store=store, mode=operations.loading_mode(store), path=path, zarr_format=zarr_format)
    if isinstance(node, AsyncArray):
        return await node.getitem(...)
    members = [pair async for pair in node.members(None)]
    return {name: await member.getitem(...) for name, member in members if isinstance(member, AsyncArray)}


async def tree(grp: AsyncGroup, expand: bool | None = None, level: int | None = None) -> Any:
    warn("Use AsyncGroup.tree instead.", ZarrDeprecationWarning)  # noqa: F405
    return await grp.tree(expand=expand, level=level)


copy = copying.in_thread(copying.copy)
copy_all = copying.in_thread(copying.copy_all)
copy_store = copying.in_thread(copying.copy_store)


async def get_array_metadata(store_path: StorePath, zarr_format: ZarrFormat | None = 3) -> dict[str, Any]:
    """Read the documents of an array, as one dictionary.

    Parameters
    ----------
    store_path : StorePath
    zarr_format : 2, 3 or None

    Returns
    -------
    dict

    Raises
    ------
    FileNotFoundError
        If there is no array.

    Examples
    --------
    >>> import asyncio
    >>> import zarr
    >>> array = zarr.zeros((3,))
    >>> asyncio.run(get_array_metadata(array.store_path))["shape"]
    (3,)
    """
    metadata = await async_runner_for(store_path.store).run(read_array_steps(store_path, zarr_format))
    document: dict[str, Any] = metadata.to_dict()
    return document


read_many, save_many = saving.read_many_async, saving.save_many_async
if not TYPE_CHECKING:
    __all__ = making.__all__ + opening.__all__ + saving.__all__
    __getattr__ = lazy_names(__name__, {}, {"zarr.core.array": "_get_shape_chunks _like_args"})[0]
