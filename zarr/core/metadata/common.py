"""Members of metadata documents of both formats; re-exports."""

from __future__ import annotations

from zarr.metadata.fields import parse_attributes as parse_attributes
