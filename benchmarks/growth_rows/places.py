"""Places for the arrays of the rows: folders that are removed at the end, and object stores in memory."""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
from typing import Any

from environments import work_folder

_numbers = itertools.count()


def new_folder() -> str:
    """Return the path of an empty folder, in memory where there is room; it is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="growth", dir=work_folder())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def obstore_memory() -> Any:
    """Return an empty store over obstore, which keeps its values in memory."""
    import obstore.store

    import zarr

    return zarr.storage.ObjectStore(obstore.store.MemoryStore())


def fsspec_memory() -> Any:
    """Return an empty store over fsspec, which keeps its values in memory."""
    import zarr

    return zarr.storage.FsspecStore.from_url(f"memory://growth{next(_numbers)}")
