"""The functions of ``zarr`` itself, synchronous and asynchronous: names only, no rules.

May import: everything below (groups, arrays, runners, storage, metadata).
Read first: ``synchronous.py``, then ``operations.py``.
"""

from __future__ import annotations

from zarr._lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {})
