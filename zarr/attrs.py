"""Attributes, at the import path of zarr-python 2; also those of a store and a key: ``Attributes(store, key=...)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from zarr.arrays.attributes import Attributes as Attributes
from zarr.errors import ReadOnlyError, ZarrDeprecationWarning
from zarr.notices import warn
from zarr.runners.locks.operation import Holder, lock_prefix, releasing
from zarr.steps.documents import node_lock
from zarr.storage import normalize_store_arg
from zarr.util import json_dumps, json_loads


class StoredAttributes:
    """The attributes under one key of a store, in the form for ``zarr.attrs.Attributes``.

    Parameters
    ----------
    store : a store or a mapping
    key : str
    read_only : bool
    cache : bool
        If True, they are read only once.

    Examples
    --------
    >>> import zarr
    >>> values = {}
    >>> zarr.attrs.Attributes(values, key=".zattrs")["a"] = 1
    >>> zarr.attrs.Attributes(values, key=".zattrs").asdict()
    {'a': 1}
    """

    def __init__(self, store: Any, key: str, read_only: bool, cache: bool) -> None:
        self.store: Any = normalize_store_arg(store, mode="a")
        self.key, self.read_only, self.cache = key, read_only, cache
        self._kept: dict[str, Any] | None = None

    def _read(self) -> dict[str, Any]:
        try:
            return dict(json_loads(self.store[self.key]))
        except KeyError:
            return {}

    @property
    def metadata(self) -> SimpleNamespace:
        """Return the attributes as those of a node's document."""
        found = self._kept
        if found is None:
            found = self._read()
            if self.cache and self._kept is None:  # otherwise another thread has stored others meanwhile
                self._kept = found
        return SimpleNamespace(attributes=found, zarr_format=2)

    def _read_attributes(self) -> None:
        self._kept = self._read() if self.cache else None

    def _change_attributes(
        self, changes: Mapping[str, Any], removed: Iterable[str] = (), replace: bool = False
    ) -> None:
        if self.read_only:
            raise ReadOnlyError(f"the attributes {self.key!r} were opened for reading")
        if not all(isinstance(name, str) for name in changes):
            warn("only attribute keys of type 'string' will be allowed in the future", ZarrDeprecationWarning)
        with releasing(Holder(lock_prefix(self.store))) as holder:  # that of arrays and groups, for all threads
            holder.acquire((node_lock(self.key.rpartition("/")[0]),), "node")
            found = {} if replace else self._read()
            found.update({str(name): value for name, value in changes.items()})
            for name in removed:
                del found[name]
            self.store[self.key] = json_dumps(found)
            if self.cache:
                self._kept = found
