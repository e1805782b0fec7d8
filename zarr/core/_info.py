"""Descriptions of arrays and groups; re-exports."""

from __future__ import annotations

from zarr.arrays.show.info import ArrayInfo, byte_info, human_readable_size
from zarr.groups.summary import GroupInfo

__all__ = ["ArrayInfo", "GroupInfo", "byte_info", "human_readable_size"]
