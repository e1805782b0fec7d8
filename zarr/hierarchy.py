"""Groups, at the import path of zarr-python 2; re-exports."""

from __future__ import annotations

from zarr.api.opening import group, open_group
from zarr.groups.group import Group

__all__ = ["Group", "group", "open_group"]
