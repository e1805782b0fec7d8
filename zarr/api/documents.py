"""Array documents by a coroutine, for those who read metadata without opening the array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.runners.choose import async_runner_for
from zarr.steps.nodes import read_array_steps

if TYPE_CHECKING:
    from zarr.storage.path import StorePath
    from zarr.types import ZarrFormat


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
