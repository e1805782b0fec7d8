"""Documents of nodes in stores; re-exports."""

from __future__ import annotations

from zarr.compat.version3.documents import *
