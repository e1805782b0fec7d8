"""Array documents by coroutines, under the names of zarr-python's ``zarr.core.array``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.api.documents import get_array_metadata
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.steps import init_array_steps, new_array_metadata
from zarr.arrays.opening import parse_metadata
from zarr.runners.choose import async_runner_for
from zarr.storage.memory.store import MemoryStore
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.codec import CodecPipeline
    from zarr.abc.store import Store
    from zarr.chunks.spec import ArrayConfigLike

parse_array_metadata = parse_metadata


async def init_array(
    *,
    store_path: StorePath,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    **parameters: Any,
) -> AsyncArray[Any]:
    """Make an array without data.

    Parameters
    ----------
    store_path : StorePath
    overwrite : bool
    config : ArrayConfig or dict, optional
    **parameters
        See :func:`zarr.create_array`.

    Returns
    -------
    AsyncArray

    Examples
    --------
    >>> import asyncio
    >>> from zarr.storage import MemoryStore, StorePath
    >>> asyncio.run(init_array(store_path=StorePath(MemoryStore()), shape=(3,), dtype="int8")).shape
    (3,)
    """
    metadata = new_array_metadata(**parameters)
    steps = init_array_steps(store_path, metadata, overwrite=overwrite, config=config)
    return AsyncArray.from_handle(await async_runner_for(store_path.store).run(steps))


def create_codec_pipeline(metadata: Any, *, store: Store | None = None) -> CodecPipeline:
    """The codec pipeline of an array, by its metadata.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    store : Store, optional
        Only for pipelines that want to know it.

    Returns
    -------
    CodecPipeline

    Examples
    --------
    >>> import zarr
    >>> type(create_codec_pipeline(zarr.zeros((3,)).metadata)).__name__.endswith("Pipeline")
    True
    """
    path = StorePath(MemoryStore() if store is None else store)
    pipeline: CodecPipeline = AsyncArray(metadata, path).codec_pipeline
    return pipeline


__all__ = ["create_codec_pipeline", "get_array_metadata", "init_array", "parse_array_metadata"]
