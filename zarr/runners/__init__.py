"""Runners answer the requests of steps: in the caller's thread, in the caller's loop, or on a background loop.

May import: steps, storage.keys (and types of stores), settings, abc, buffer, errors, zarr_core. The only code that
calls a store.
Read first: ``inline.py``.
"""

from __future__ import annotations

from zarr._lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {})
