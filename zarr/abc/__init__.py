"""The contracts of stores, codecs and metadata documents.

May import ``zarr.buffer``, ``zarr.errors`` and ``zarr.types`` only; implementations are reached through the registry.
Read ``store.py`` first.
"""

from __future__ import annotations

from zarr._lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {})
