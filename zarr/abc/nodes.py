"""The contract of both faces of arrays and groups, for programs that use them. A class may inherit or register."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any


class BaseArray(ABC):
    """The properties of an array that need no read.

    Examples
    --------
    >>> import zarr
    >>> isinstance(zarr.zeros(3), BaseArray), isinstance(zarr.zeros(3).async_array, BaseArray)
    (True, True)
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """The NumPy data type of the elements."""

    @property
    @abstractmethod
    def ndim(self) -> int:
        """The number of dimensions."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of elements."""

    @property
    @abstractmethod
    def metadata(self) -> Any:
        """The metadata document, parsed."""

    @property
    @abstractmethod
    def attrs(self) -> Any:
        """The user's JSON values in the metadata document."""

    @property
    @abstractmethod
    def info(self) -> Any:
        """A summary; it reads nothing."""


class SynchronousArray(BaseArray):
    """An array whose calls return after they are done.

    Examples
    --------
    >>> import zarr
    >>> issubclass(zarr.Array, SynchronousArray), issubclass(zarr.Array, AsynchronousArray)
    (True, False)
    """

    @abstractmethod
    def __getitem__(self, selection: Any) -> Any:
        """Read a selection."""

    @abstractmethod
    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write to a selection."""

    @abstractmethod
    def __eq__(self, other: object) -> bool:
        """Return True if another array is the same one: of equal metadata, at the same place."""

    __hash__ = None  # type: ignore[assignment]


class AsynchronousArray(BaseArray):
    """An array whose calls are awaited.

    Examples
    --------
    >>> import zarr
    >>> issubclass(zarr.AsyncArray, AsynchronousArray)
    True
    """

    @abstractmethod
    async def getitem(self, selection: Any) -> Any:
        """Read a selection."""

    @abstractmethod
    async def setitem(self, selection: Any, value: Any) -> None:
        """Write to a selection."""

    @abstractmethod
    async def equals(self, other: object) -> bool:
        """Return True if another array is the same one: of equal metadata, at the same place."""


class BaseGroup(ABC):
    """The properties of a group that need no read of its members.

    Examples
    --------
    >>> import zarr
    >>> isinstance(zarr.group(), BaseGroup)
    True
    """

    @property
    @abstractmethod
    def metadata(self) -> Any:
        """The metadata document, parsed."""

    @property
    @abstractmethod
    def attrs(self) -> Any:
        """Return the attributes of the group."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The path in the store."""

    @property
    @abstractmethod
    def info(self) -> Any:
        """A summary; it reads nothing."""


class SynchronousGroup(BaseGroup):
    """A group whose calls return when they are done.

    Examples
    --------
    >>> import zarr
    >>> issubclass(zarr.Group, SynchronousGroup), issubclass(zarr.Group, AsynchronousGroup)
    (True, False)
    """

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of members."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """Return the names of the members."""

    @abstractmethod
    def __contains__(self, member: str) -> bool:
        """Return True if there is a member of a name."""

    @abstractmethod
    def __getitem__(self, path: str) -> Any:
        """Return the member of a name."""


class AsynchronousGroup(BaseGroup):
    """A group whose calls are awaited.

    Examples
    --------
    >>> import zarr
    >>> issubclass(zarr.AsyncGroup, AsynchronousGroup)
    True
    """

    @abstractmethod
    async def length(self) -> int:
        """Return the number of members."""

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[str]:
        """Return the names of the members."""

    @abstractmethod
    async def contains(self, member: str) -> bool:
        """Return True if there is a member of a name."""

    @abstractmethod
    async def getitem(self, key: str) -> Any:
        """Return the member of a name."""
