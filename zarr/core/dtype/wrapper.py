"""The base class of data types; re-exports."""

from __future__ import annotations

from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType

__all__ = ["TBaseDType", "TBaseScalar", "ZDType"]
