"""JSON values checked against a type; re-exports."""

from __future__ import annotations

from zarr.compat.version3.parsing import *
