"""The contract of storage transformers: a store that stands between one array and the store of the user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from zarr.abc.stores.async_store import Store
    from zarr.types import JSON


class StorageTransformer(ABC):
    """Changes the keys or the values of the chunks of one array on their way to the store and back.

    An array document names its transformers in ``storage_transformers``. The first stands next to the array, the last
    next to the store. A transformer sees chunks only: documents (``zarr.json``) pass it by, because they say which
    transformers there are. Register one by :func:`zarr.registry.register_storage_transformer`, or as an entry point of
    the group ``zarr.storage_transformer``. Source: Zarr core specification v3, "Storage transformers".

    Parameters
    ----------
    **configuration
        What the document says under ``configuration``.

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
        """Return the store that the chunks of an array are read from and written to.

        Parameters
        ----------
        store
            What stands below: the store of the user, or that of the next transformer.
        path
            The path of the array. All keys that the array asks for begin with it: ``"<path>/c/0/1"``.

        Returns
        -------
        Store
            For most, a subclass of :class:`zarr.storage.WrapperStore`. It keeps what it stores below ``path``, so
            that it goes when the array is deleted, and uses no name of a document (``zarr.json``).
        """
