"""The base of all data types."""

from __future__ import annotations

from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType

__all__ = [
    "TBaseDType",
    "TBaseScalar",
    "ZDType",
]
