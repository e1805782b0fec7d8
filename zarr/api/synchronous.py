"""The functions of ``zarr``: they run in the caller's thread and return when all is done."""

from __future__ import annotations

from zarr.api import asynchronous as async_api
from zarr.api.create import (
    array,
    create,
    create_array,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from zarr.api.opening import (
    consolidate_metadata,
    create_group,
    create_hierarchy,
    group,
    open,
    open_array,
    open_consolidated,
    open_group,
    open_like,
)
from zarr.api.operations import ArrayLike, PathLike
from zarr.api.saving import copy, copy_all, copy_store, load, read_many, save, save_array, save_group, save_many, tree
from zarr.arrays.array import Array
from zarr.arrays.async_array import AsyncArray
from zarr.arrays.create.codecs import CompressorLike
from zarr.arrays.create.parameters import DEFAULT_FILL_VALUE
from zarr.errors import ZarrDeprecationWarning
from zarr.groups.group import Group
from zarr.runners.sync import sync

# Names that other libraries have taken from here.
_ALSO_HERE = (
    Array,
    ArrayLike,
    AsyncArray,
    CompressorLike,
    DEFAULT_FILL_VALUE,
    Group,
    PathLike,
    ZarrDeprecationWarning,
    create_group,
    sync,
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


def _share_docstrings() -> None:
    """Give asynchronous functions the docstrings of their synchronous twins."""
    for name in [*__all__, "create_group"]:
        vars(async_api)[name].__doc__ = globals()[name].__doc__


_share_docstrings()
