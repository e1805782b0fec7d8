"""Small functions: the import path of zarr-python 2 for :mod:`zarr.compat.version2.util`."""

from __future__ import annotations

from zarr.compat.version2.util import *  # noqa: F403
