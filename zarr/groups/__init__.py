"""Groups: nodes that hold other nodes; members, hierarchies, consolidated metadata; the faces Group and AsyncGroup.

May import: arrays, steps, runners, storage, metadata and what lies below. Never the API.
Read first: ``handle.py``, then ``operations.py``.
"""
