"""What users may give for a store, as a type for annotations."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, TypeAlias

from zarr.abc.store import Store
from zarr.storage.path import StorePath

StoreLike: TypeAlias = Store | StorePath | Path | str | MutableMapping[str, Any]
"""What can be given where a store is asked for: a store or a place in one, a path, a URL, a mapping or an FSMap."""
