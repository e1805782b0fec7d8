"""Array documents by coroutines, under the names of zarr-python's ``zarr.core.array``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.arrays.asynchronous import AsyncArray
from zarr.arrays.create import init_array_steps, new_array_metadata
from zarr.arrays.opening import parse_metadata
from zarr.runners.choose import async_runner_for
from zarr.steps.nodes import read_array_steps
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.codec import CodecPipeline
    from zarr.abc.store import Store
    from zarr.array_spec import ArrayConfigLike
    from zarr.types import ZarrFormat

parse_array_metadata = parse_metadata


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
