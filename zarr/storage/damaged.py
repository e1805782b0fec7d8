"""The error of a file that holds a store and cannot be read as what it should be."""

from __future__ import annotations

from zarr.errors import StoreDamagedError


class DamagedDatabaseError(OSError, StoreDamagedError):
    """A file that SQLite or LMDB cannot read as a database.

    Examples
    --------
    >>> raise DamagedDatabaseError(5, "not a database", "data.sqlite")
    Traceback (most recent call last):
    ...
    zarr.storage.damaged.DamagedDatabaseError: [Errno 5] not a database: 'data.sqlite'
    """
