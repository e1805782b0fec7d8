"""Errors of stores as steps are told of them.

Always loaded: where a process has no descriptor left, no file of ours can be opened to say what went wrong.
"""

from __future__ import annotations

from typing import Any

from zarr.errors import label_of


def first_error(error: BaseException) -> BaseException:
    """The first plain error inside (nested) exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def as_told(error: BaseException, request: Any, store: object) -> BaseException:
    """An error as steps are told of it: the first plain one; that of a full or failing disk says what it was about."""
    error = first_error(error)
    if type(error) is not OSError:
        return error
    key = getattr(request, "key", None)
    folder = getattr(request, "path", None) or getattr(request, "prefix", None)
    if key is not None:
        error.add_note(f"at the key {key!r} of {label_of(store)}")
    elif folder is not None and not hasattr(error, "__notes__"):
        error.add_note(f"at or below the key {folder!r} of {label_of(store)}")
    return error
