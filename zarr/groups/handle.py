"""The handle that both faces of a group share: its place, and its present metadata."""

from __future__ import annotations

import threading
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr._lazy import LazyModule
from zarr._process import at_fork
from zarr.steps.consolidated import version
from zarr.storage.path import StorePath

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.metadata import group
    from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
    from zarr.metadata.v2 import ArrayV2Metadata
    from zarr.metadata.v3 import ArrayV3Metadata
else:
    group = LazyModule("zarr.metadata.group")

NodeMetadata: TypeAlias = "ArrayV2Metadata | ArrayV3Metadata | GroupMetadata"
Nodes: TypeAlias = Mapping[str, NodeMetadata]

_swapping = threading.RLock()  # reentrant: a finalizer may change a group at any allocation


def _renew() -> None:
    global _swapping
    _swapping = threading.RLock()


at_fork(renew=_renew)


class GroupHandle:
    """A group as both faces see it; ``metadata`` is swapped in one assignment, and so is ``read``.

    ``read`` is a copy with the version at which it was read. If another thread swaps one of the two in between, they
    do not belong together, and the copy is read anew.

    Parameters
    ----------
    metadata : GroupMetadata
    store_path : StorePath
    origin : str, optional
        The path of the group whose consolidated metadata contained the metadata: this group, or one above it.
    config : mapping, optional
        The configuration for arrays below the group, and for the locks of attribute changes.
    read_at : int, optional
        The version of the consolidated metadata, if the metadata was read with it; else it is read anew before it is
        used.
    """

    __slots__ = (
        "__weakref__", "batch", "config", "metadata", "origin", "perhaps_unstored", "read", "store_path", "stored",
    )  # fmt: skip

    def __init__(
        self,
        metadata: GroupMetadata,
        store_path: StorePath,
        origin: str | None = None,
        config: Mapping[str, Any] | None = None,
        read_at: int | None = None,
    ) -> None:
        self.metadata = metadata
        self.read = metadata.consolidated_metadata, read_at
        self.config = config
        self.store_path = store_path
        self.origin = store_path.path if origin is None else origin
        self.perhaps_unstored = False
        """True if it was made from metadata that may not be stored yet."""
        self.batch: Any = None
        """The open batch of the arrays that are opened from the group (see ``zarr/arrays/io/batch.py``)."""
        self.stored: Mapping[str, Any] | None = None
        """The attributes that were stored last through this handle."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (GroupHandle, (self.metadata, self.store_path, self.origin, self.config))

    def place_of(self, name: str) -> StorePath:
        """Return the place of a member.

        In a store of zarr-python 2, which is a mapping, a name that begins with a slash counts from the root of the
        store, as there; in any other store it is a name in this group, as in zarr-python 3.
        """
        rooted = isinstance(name, str) and name.startswith("/") and isinstance(self.store, MutableMapping)
        return self.store_path.at_root(name) if rooted else self.store_path / name

    @property
    def path(self) -> str:
        """Path within the store, without slashes at the ends."""
        return self.store_path.path

    @property
    def store(self) -> Store:
        """The store that holds the group."""
        return self.store_path.store

    @property
    def name(self) -> str:
        """The path as h5py writes it, with a slash in front."""
        return f"/{self.path}"

    @property
    def consolidated(self) -> ConsolidatedMetadata | None:
        """The consolidated metadata of the group, as last read."""
        return self.metadata.consolidated_metadata

    @property
    def stale(self) -> bool:
        """True if the stored consolidated metadata has changed since it was read here."""
        copy = self.metadata.consolidated_metadata
        return copy is not None and self.version_of(copy) != version(self.store, self.origin)

    def show_stored(self, attributes: dict[str, Any]) -> None:
        """Show attributes that were just stored; call this while the node is held."""
        with _swapping:
            self.stored = attributes
            self.metadata = self.metadata.replaced(attributes=dict(attributes))

    def show_copy(self, copy: ConsolidatedMetadata) -> None:
        """Show other consolidated metadata with the present attributes."""
        with _swapping:
            self.metadata = self.metadata.replaced(consolidated_metadata=copy)

    def show_read(self, metadata: GroupMetadata, stored: Mapping[str, Any] | None) -> None:
        """Show metadata that was read.

        Parameters
        ----------
        metadata : GroupMetadata
        stored : mapping or None
            ``self.stored`` before the read. Attributes that another thread or task has stored since then stay: what
            was read may be older.
        """
        with _swapping:
            if self.stored is not None and self.stored is not stored:
                metadata = metadata.replaced(attributes=dict(self.stored))
            self.metadata = metadata

    def version_of(self, copy: ConsolidatedMetadata | None) -> int | None:
        """Return the version at which a copy was read here; None if that is unknown."""
        read, read_at = self.read
        return read_at if read is copy else None


class NodeRecord:
    """One node as the steps find it; the faces make an array or a group of it.

    Parameters
    ----------
    name : str
        Path relative to the group of the request.
    store_path : StorePath
    metadata : ArrayV2Metadata, ArrayV3Metadata or GroupMetadata
    origin : str, optional
        See :class:`GroupHandle`.
    config : ArrayConfig or mapping, optional
        The configuration for the array, or for the arrays below the group.
    read_at : int, optional
        See :class:`GroupHandle`.
    """

    __slots__ = ("config", "metadata", "name", "origin", "read_at", "store_path")

    def __init__(
        self,
        name: str,
        store_path: StorePath,
        metadata: NodeMetadata,
        origin: str | None = None,
        config: Any = None,
        read_at: int | None = None,
    ) -> None:
        self.name = name
        self.config = config
        self.store_path = store_path
        self.metadata = metadata
        self.origin = origin
        self.read_at = read_at

    @property
    def is_group(self) -> bool:
        """True if the node is a group."""
        return getattr(self.metadata, "node_type", "array") == "group"

    def handle(self) -> GroupHandle:
        """Return the handle of a node that is a group."""
        assert isinstance(self.metadata, group.GroupMetadata)
        return GroupHandle(self.metadata, self.store_path, self.origin, self.config, self.read_at)
