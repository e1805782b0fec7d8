"""The contract of a store in its parts: coroutines, plain methods, optional abilities.

May import: errors, types, buffer. ``zarr.abc.store`` offers the names under the path that extensions use.
Read first: ``async_store.py``, then ``sync_store.py``; ``abilities.py`` decides how the library calls a store, and
``partial_stores.py`` has bases for stores that cannot do everything.
"""
