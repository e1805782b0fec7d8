"""JSON in buffers and stores: the import path of zarr-python for :mod:`zarr.compat.version3.json_values`."""

from __future__ import annotations

from zarr.compat.version3.json_values import *  # noqa: F403
