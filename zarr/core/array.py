"""Arrays and their creation; re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.arrays.create.codecs import *
from zarr.arrays.create.parameters import *
from zarr.arrays.create.steps import *
from zarr.compat.version3.encodings import default_compressor_v2 as default_compressor_v2
from zarr.compat.version3.encodings import default_compressors_v3 as default_compressors_v3
from zarr.compat.version3.encodings import default_filters_v3 as default_filters_v3
from zarr.compat.version3.nodes import *
from zarr.compat.version3.sibling_names import borrowed_names
from zarr.types import AnyArray as AnyArray
from zarr.types import AnyAsyncArray as AnyAsyncArray
from zarr.types import ChunksLike as ChunksLike

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)
