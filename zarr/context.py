"""What the stores of zarr-python 2 were told with a request; kept for annotations."""

from __future__ import annotations

from typing import Any, TypedDict


class Context(TypedDict, total=False):
    """What is known of a request.

    Parameters
    ----------
    meta_array : array-like
        An empty array of the kind that is wanted.
    """

    meta_array: Any


__all__ = ["Context"]
