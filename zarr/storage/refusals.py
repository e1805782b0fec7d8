"""Saying why the system lets nothing be made at a place."""

from __future__ import annotations

import os


def refused(error: OSError, path: str) -> OSError:
    """The error to raise where a file or a folder cannot be made: the same kind, with what to do.

    Parameters
    ----------
    error : OSError
        What the system raised.
    path : str
        What was to be made.

    Examples
    --------
    >>> print(refused(PermissionError(13, "Permission denied"), "/a place/that is not/x.zarr"))
    [Errno 13] Permission denied; nothing can be made in '/': choose another place, or have this one made writable: \
'/a place/that is not/x.zarr'
    """
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    reason = (
        f"{error.strerror}; nothing can be made in {folder!r}: choose another place, or have this one made writable"
    )
    return OSError(error.errno, reason, path)
