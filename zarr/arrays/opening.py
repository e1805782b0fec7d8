"""From a document in a store to an open array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from zarr._lazy import LazyModule, instance_of
from zarr.arrays.handle import ArrayHandle
from zarr.chunks.spec import ArrayConfigLike, parse_array_config
from zarr.steps.nodes import read_array_steps

if TYPE_CHECKING:
    from zarr.metadata import v2, v3
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata
    from zarr.steps.requests import Steps
    from zarr.storage.path import StorePath
    from zarr.types import ZarrFormat
else:
    v2 = LazyModule("zarr.metadata.v2")
    v3 = LazyModule("zarr.metadata.v3")


def parse_metadata(metadata: Any, place: object = None) -> ArrayV2Metadata | ArrayV3Metadata:
    """Array metadata from an object or its JSON form; the place is for warnings.

    Raises
    ------
    TypeError
        It is neither.
    ValueError
        It is of no format that there is.
    """
    if instance_of(metadata, "zarr.metadata.v3", "ArrayV3Metadata"):
        return cast("ArrayV3Metadata", metadata)
    if instance_of(metadata, "zarr.metadata.v2", "ArrayV2Metadata"):
        return cast("ArrayV2Metadata", metadata)
    if isinstance(metadata, dict):
        if "node_type" in metadata or "chunk_grid" in metadata:
            return v3.ArrayV3Metadata.from_dict(metadata, place=place)
        if "zarr_format" in metadata and metadata["zarr_format"] not in (2, 3):
            raise ValueError(f"Invalid zarr_format: {metadata['zarr_format']}. Expected 2 or 3")
        return v2.ArrayV2Metadata.from_dict(metadata, place=place)
    raise TypeError(f"array metadata is needed, got {type(metadata).__name__}")


def open_array_steps(
    store_path: StorePath, zarr_format: ZarrFormat | None = None, config: ArrayConfigLike | None = None
) -> Steps[ArrayHandle]:
    """Open the array at a path.

    Raises
    ------
    ArrayNotFoundError
        There is no array.
    """
    metadata = yield from read_array_steps(store_path, zarr_format)
    return ArrayHandle(store_path, metadata, parse_array_config(config))
