"""Metadata documents of format 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.arrays.create.codecs import parse_filters_v2, parse_numcodec
from zarr.core import borrowed_names
from zarr.metadata.v2 import ArrayV2Metadata, get_object_codec_id, parse_chunks, parse_zarr_format

__all__ = [
    "ArrayV2Metadata", "get_object_codec_id", "parse_chunks", "parse_compressor", "parse_filters", "parse_zarr_format",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = borrowed_names(__name__)


def parse_filters(data: Any) -> tuple[Any, ...] | None:
    """Return the filters of a document of format 2: codecs of numcodecs; None if there are none.

    Raises
    ------
    TypeError
        If one is neither a codec of numcodecs nor the JSON form of one.
    """
    return None if data is None else parse_filters_v2(data)


def parse_compressor(data: Any) -> Any:
    """Return the compressor of a document of format 2: a codec of numcodecs, or None.

    Raises
    ------
    ValueError
        If it is neither a codec of numcodecs nor the JSON form of one.
    """
    return parse_numcodec(data, "compressor")
