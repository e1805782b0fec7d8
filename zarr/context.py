"""The context of a store's request in zarr-python 2; kept for annotations."""

from __future__ import annotations

from typing import Any, TypedDict


class Context(TypedDict, total=False):
    """The context of a request.

    Parameters
    ----------
    meta_array : array-like
        An empty array of the requested kind.
    """

    meta_array: Any


__all__ = ["Context"]
