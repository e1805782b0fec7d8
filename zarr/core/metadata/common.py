"""Members of metadata documents of both formats; re-exports."""

from __future__ import annotations

from zarr.metadata.members import parse_attributes as parse_attributes
