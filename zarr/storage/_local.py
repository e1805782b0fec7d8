"""The import path that other libraries use for ``zarr.storage.local.store``, and for the way files are replaced."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from zarr.storage.local.files import RETRY_DELAYS, claim, move_with_retry, partial_name
from zarr.storage.local.store import LocalStore

__all__ = ["LocalStore"]

_RETRY_DELAYS, _move_with_retry = RETRY_DELAYS, move_with_retry


@contextlib.contextmanager
def _atomic_write(path: Path, mode: str, exclusive: bool = False) -> Iterator[IO[Any]]:
    """Open a file that replaces ``path`` when the block ends, and is removed if the block raises an error.

    Raises
    ------
    FileExistsError
        With ``exclusive``, if there is such a file already.
    """
    partial = path.with_name(partial_name(path.name))
    try:
        with partial.open(mode) as file:
            yield file
        if not exclusive:
            move_with_retry(partial, path)
        elif not claim(str(partial), str(path)):
            raise FileExistsError(f"{path} exists already")
    finally:
        partial.unlink(missing_ok=True)
