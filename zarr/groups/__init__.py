"""Groups: nodes that hold other nodes; members, hierarchies, consolidated metadata; the faces Group and AsyncGroup.

May import: arrays, steps, runners, storage, metadata and what lies below. Never the API.
Read first: ``handle.py``, then ``operations.py``.
"""

from __future__ import annotations

from zarr._lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {})
