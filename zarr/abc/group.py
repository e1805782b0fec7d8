"""What a group is to those who use one: the contract of both faces. A class may inherit from it, or be registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any


class BaseGroup(ABC):
    """What every group tells of itself without its members being read.

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
        """What the user says of the group."""

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
        """The number of members."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """The names of the members."""

    @abstractmethod
    def __contains__(self, member: str) -> bool:
        """Whether there is a member of a name."""

    @abstractmethod
    def __getitem__(self, path: str) -> Any:
        """The member of a name."""


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
        """The number of members."""

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[str]:
        """The names of the members."""

    @abstractmethod
    async def contains(self, member: str) -> bool:
        """Whether there is a member of a name."""

    @abstractmethod
    async def getitem(self, key: str) -> Any:
        """The member of a name."""
