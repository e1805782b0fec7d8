"""What both faces of a group say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from zarr.groups.handle import GroupHandle
from zarr.groups.show.summary import group_page, info_of

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.groups.show.summary import GroupInfo
    from zarr.metadata.group import GroupMetadata
    from zarr.storage.path import StorePath


class GroupFace:
    """The properties that :class:`Group` and :class:`AsyncGroup` share; both stand before one handle."""

    _handle: GroupHandle

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up what was pickled: the handle; or, by zarr-python 3, the other face or the fields."""
        other, make = state.get("_async_group"), cast("Any", type(self)).__init__
        if other is not None:
            make(self, other)
        elif "metadata" in state:
            make(self, state["metadata"], state["store_path"])
        else:
            vars(self).update(state)

    @property
    def metadata(self) -> GroupMetadata:
        """What the documents of the group say."""
        return self._handle.metadata

    @property
    def store_path(self) -> StorePath:
        """Where the group is."""
        return self._handle.store_path

    @property
    def store(self) -> Store:
        """The store that holds the group."""
        return self._handle.store

    @property
    def path(self) -> str:
        """Path within the store, without a slash in front."""
        return self._handle.path

    @property
    def name(self) -> str:
        """Path within the store, with a slash in front."""
        return self._handle.name

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether the store refuses to be written to."""
        return self.store.read_only

    @property
    def synchronizer(self) -> None:
        """Always None; kept for code written for zarr-python 2."""
        return None

    @property
    def info(self) -> GroupInfo:
        """A short summary, without looking into the store."""
        return info_of(self._handle)

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary and the attributes."""
        return group_page(self._handle, None)
