"""A data type: temperatures in whole degrees, one byte each."""

from __future__ import annotations

from dataclasses import dataclass

from zarr.dtype import Int8
from zarr.dtype.base import wrong_dtype


@dataclass(frozen=True, kw_only=True)
class Celsius(Int8):
    """As 8-bit integers, under a name of its own."""

    _zarr_v3_name = "example.celsius"

    @classmethod
    def from_native_dtype(cls, dtype):
        """Refuse: numpy's integers are no temperatures unless the name says so."""
        raise wrong_dtype(cls, dtype)
