"""The requests to a store, and the steps that read and write nodes.

May import: errors, types, buffer, abc, metadata, and of storage the names of places and the stores that translate other
layouts. Steps name a store and never call it; there is no loop, no lock and no config.
Read first: ``requests.py``.
"""

from __future__ import annotations

from zarr._lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {})
