"""The contract of storage transformers: a store between one array and the store of the user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from zarr.abc.stores.async_store import Store
from zarr.types import JSON


class StorageTransformer(ABC):
    """A transformer of the keys or the values of the chunks of one array, between the array and the store.

    An array document lists its transformers in ``storage_transformers``. The first is next to the array, the last next
    to the store. A transformer handles chunks only: documents (``zarr.json``) do not go through it, because they
    contain the list of transformers. Register one by :func:`zarr.registry.register_storage_transformer`, or as an entry
    point of
    the group ``zarr.storage_transformer``. Source: Zarr core specification v3, "Storage transformers".

    Parameters
    ----------
    **configuration
        The value of ``configuration`` in the document.

    Examples
    --------
    >>> from zarr.storage import MemoryStore, WrapperStore
    >>> class Plain(StorageTransformer):
    ...     name = "example.plain"
    ...     def wrap(self, store, path):
    ...         return WrapperStore(store)
    >>> Plain.from_dict({"name": "example.plain"}).to_dict()
    {'name': 'example.plain'}
    """

    name: ClassVar[str]

    def __init__(self, **configuration: Any) -> None:
        self.configuration = configuration

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON form, ``{"name": ..., "configuration": {...}}``."""
        return cls(**(data.get("configuration") or {}))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON form, for ``storage_transformers`` of an array document."""
        document: dict[str, JSON] = {"name": self.name}
        if self.configuration:
            document["configuration"] = dict(self.configuration)
        return document

    @abstractmethod
    def wrap(self, store: Store, path: str) -> Store:
        """Return the store for the chunks of an array.

        Parameters
        ----------
        store
            The store below: that of the user, or that of the next transformer.
        path
            The path of the array. All its keys begin with it: ``"<path>/c/0/1"``.

        Returns
        -------
        Store
            Usually a subclass of :class:`zarr.storage.WrapperStore`. It keeps all that it stores below ``path``, so
            that it is deleted with the array, and uses no name of a document (``zarr.json``).
        """
