"""The functions of ``zarr``: they run in the caller's thread and return when all is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.api import asynchronous as async_api
from zarr.api.create import *  # noqa: F403
from zarr.api.opening import *  # noqa: F403
from zarr.api.operations import ArrayLike, PathLike  # noqa: F401
from zarr.api.saving import *  # noqa: F403
from zarr.arrays.array import Array  # noqa: F401
from zarr.arrays.async_array import AsyncArray  # noqa: F401
from zarr.arrays.create.codecs import CompressorLike  # noqa: F401
from zarr.arrays.create.parameters import DEFAULT_FILL_VALUE  # noqa: F401
from zarr.errors import ZarrDeprecationWarning  # noqa: F401
from zarr.groups.group import Group  # noqa: F401
from zarr.runners.sync import sync  # noqa: F401

if not TYPE_CHECKING:
    __all__ = async_api.__all__


def _share_docstrings() -> None:
    """Give asynchronous functions the docstrings of their synchronous twins."""
    for name in async_api.__all__:  # type: ignore[attr-defined]
        vars(async_api)[name].__doc__ = globals()[name].__doc__


_share_docstrings()
