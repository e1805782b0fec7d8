"""Arrays: layout, selection, transfer, creation, operations, and the faces ``Array`` and ``AsyncArray``.

May import: steps, runners, metadata, codecs, chunks, storage, dtype, buffer, abc, registry, defaults, errors, types,
zarr_core. Never groups or api.
Read first: ``layout.py`` (all that an open array needs), then ``io/reading.py`` and ``io/writing.py``.
"""

from __future__ import annotations

from zarr._lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {})
