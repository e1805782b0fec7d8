"""The mapping of attributes; re-exports."""

from __future__ import annotations

from zarr.arrays.attributes import Attributes as Attributes
