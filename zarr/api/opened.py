"""What calls of the API are and give: steps to be run over a store, and the node that was opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr._lazy import instance_of
from zarr.arrays.handle import ArrayHandle
from zarr.chunks.spec import parse_array_config
from zarr.errors import MetadataValidationError
from zarr.groups.handle import GroupHandle, NodeRecord

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.steps.requests import Steps
    from zarr.types import AccessModeLiteral, ZarrFormat

T = TypeVar("T")


class Call(Generic[T]):
    """Steps, and the store over which they are to be run."""

    __slots__ = ("steps", "store")

    def __init__(self, store: Store, steps: Steps[T]) -> None:
        self.store = store
        self.steps = steps


class Opened:
    """A node, and the configuration with which an array is to be opened; or the array, where it is open already."""

    __slots__ = ("array", "config", "record")

    def __init__(self, record: NodeRecord, config: Any = None, array: ArrayHandle | None = None) -> None:
        self.record = record
        self.config = config
        self.array = array

    def array_handle(self) -> ArrayHandle:
        """The open array."""
        if self.array is not None:
            return self.array
        metadata: Any = self.record.metadata
        return ArrayHandle(self.record.store_path, metadata, parse_array_config(self.config))


def group_record(handle: GroupHandle) -> Opened:
    """An open group as a node."""
    return Opened(NodeRecord("", handle.store_path, handle.metadata, handle.origin, handle.config))


def array_record(handle: ArrayHandle, config: Any = None) -> Opened:
    """An open array as a node."""
    record = NodeRecord("", handle.store_path, handle.metadata)
    return Opened(record, array=handle) if config is None else Opened(record, config)


def loading_mode(store: Any) -> AccessModeLiteral:
    """The mode to load from a place with: a store that is there already is read as it is, not by a copy of it."""
    writable = instance_of(store, "zarr.abc.stores.async_store", "Store") and not store.read_only
    return "r+" if writable else "r"


def format_of(given: dict[str, Any], zarr_format: ZarrFormat | None) -> ZarrFormat | None:
    """Take the old name ``zarr_version`` for ``zarr_format``.

    Raises
    ------
    ValueError
        If both are given and differ.
    """
    version = given.pop("zarr_version", None)
    if version is None:
        return zarr_format
    if zarr_format is not None and zarr_format != version:
        raise ValueError(f"zarr_format={zarr_format} and zarr_version={version} contradict each other; give only one")
    wanted: ZarrFormat = version
    return wanted


def check_format(zarr_format: object) -> None:
    """Refuse a format that is none.

    Raises
    ------
    MetadataValidationError
        If it is neither 2 nor 3 nor None.
    """
    if zarr_format not in (None, 2, 3):
        raise MetadataValidationError(f"Invalid value for 'zarr_format'. Expected 2, 3, or None. Got '{zarr_format}'.")


def given(local_names: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function, from its ``locals()`` at the first line; ``**kwargs`` among the others."""
    arguments = dict(local_names)
    arguments.update(arguments.pop("kwargs", {}))
    return arguments
