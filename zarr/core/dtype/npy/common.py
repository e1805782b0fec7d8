"""JSON of scalars; re-exports."""

from __future__ import annotations

from zarr.compat.version3.json_values import *
