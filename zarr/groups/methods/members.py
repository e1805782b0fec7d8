"""The methods of a group that look at its members."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from zarr.arrays.array import Array
from zarr.chunks.spec import ArrayConfig, parse_array_config
from zarr.groups.handle import GroupHandle
from zarr.groups.members.walk import members_steps
from zarr.groups.operations import (
    array_steps,
    contains_steps,
    find_steps,
    group_steps,
    node_steps,
)

if TYPE_CHECKING:
    from zarr.groups.group import Group
    from zarr.groups.handle import NodeRecord
    from zarr.steps.requests import Steps

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


class HasMembers:
    """What :class:`Group` has of these methods."""

    if TYPE_CHECKING:
        _handle: GroupHandle

        def _run(self, steps: Steps[T]) -> T: ...

        def _wrap(self, record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any] | Group: ...

    def __getitem__(self, path: str) -> Array[Any] | Group:
        """Open a node below the group.

        Parameters
        ----------
        path : str
            Relative to the group; may lead through several groups.

        Returns
        -------
        Array or Group

        Raises
        ------
        KeyError
            If there is no such node.
        """
        return self._wrap(self._run(node_steps(self._handle, path)))

    def get(self, path: str, default: DefaultT | None = None) -> Array[Any] | Group | DefaultT | None:
        """Open a node below the group, or return the default where there is none.

        Parameters
        ----------
        path : str
        default : object, optional

        Returns
        -------
        Array, Group or the default

        Examples
        --------
        >>> import zarr
        >>> zarr.group().get("nothing", "default")
        'default'
        """
        record = self._run(find_steps(self._handle, path))
        return default if record is None else self._wrap(record)

    def get_array(self, path: str) -> Array[Any]:
        """Open an array below the group.

        Parameters
        ----------
        path : str

        Returns
        -------
        Array

        Raises
        ------
        ArrayNotFoundError
            If there is nothing.
        ContainsGroupError
            If there is a group.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_array("x", shape=(4,), dtype="int8")
        >>> root.get_array("x").shape
        (4,)
        """
        return self._wrap(self._run(array_steps(self._handle, path)))  # type: ignore[return-value]

    def get_group(self, path: str) -> Group:
        """Open a group below the group.

        Parameters
        ----------
        path : str

        Returns
        -------
        Group

        Raises
        ------
        GroupNotFoundError
            If there is nothing.
        ContainsArrayError
            If there is an array.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a")
        >>> root.get_group("a").path
        'a'
        """
        return self._wrap(self._run(group_steps(self._handle, path)))  # type: ignore[return-value]

    def __contains__(self, member: str) -> bool:
        """Whether there is a node at a path below the group."""
        return self._run(contains_steps(self._handle, member))

    def __iter__(self) -> Iterator[str]:
        yield from self.keys()

    def __len__(self) -> int:
        return self.nmembers()

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array[Any] | Group], ...]:
        """List the members.

        A member whose documents cannot be read is an error here, as it is for whoever asks for it; ``del`` removes it.

        Parameters
        ----------
        max_depth : int or None
            How many levels below the direct members to go into; None for all.
        use_consolidated_for_children : bool
            Whether a member group's own consolidated metadata is used, where this group has none.

        Returns
        -------
        tuple of (path, Array or Group)

        Raises
        ------
        ValueError
            If ``max_depth`` is negative, or a member's documents cannot be read.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_array("a/x", shape=(4,), dtype="int8")
        >>> [name for name, member in root.members(max_depth=None)]
        ['a', 'a/x']
        """
        records = self._run(members_steps(self._handle, max_depth, use_consolidated_for_children))
        config = parse_array_config(None)  # asked for once, not for each of a thousand arrays
        return tuple((record.name, self._wrap(record, config)) for record in records)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Count the members.

        Parameters
        ----------
        max_depth : int or None
            How many levels below the direct members to go into; None for all.

        Returns
        -------
        int

        Examples
        --------
        >>> import zarr
        >>> zarr.group().nmembers()
        0
        """
        return len(self._run(members_steps(self._handle, max_depth)))

    def keys(self) -> Generator[str, None]:
        """The names of the direct members.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a")
        >>> list(root.keys())
        ['a']
        """
        for record in self._run(members_steps(self._handle)):
            yield record.name

    def groups(self) -> Generator[tuple[str, Group], None]:
        """The direct members that are groups, with their names.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().groups())
        []
        """
        for record in self._run(members_steps(self._handle)):
            if record.is_group:
                yield record.name, self._wrap(record)  # type: ignore[misc]

    def group_keys(self) -> Generator[str, None]:
        """The names of the direct members that are groups.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().group_keys())
        []
        """
        for name, _ in self.groups():
            yield name

    def group_values(self) -> Generator[Group, None]:
        """The direct members that are groups.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().group_values())
        []
        """
        for _, member in self.groups():
            yield member

    def arrays(self, recurse: bool = False) -> Generator[tuple[str, Array[Any]], None]:
        """The direct members that are arrays, with their names; with ``recurse`` those of all groups below too.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().arrays())
        []
        """
        config = parse_array_config(None)
        for record in self._run(members_steps(self._handle, None if recurse else 0)):
            if not record.is_group:
                yield record.name.rpartition("/")[2], self._wrap(record, config)  # type: ignore[misc]

    def array_keys(self, recurse: bool = False) -> Generator[str, None]:
        """The names of the direct members that are arrays; with ``recurse`` those of all groups below too.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().array_keys())
        []
        """
        for record in self._run(members_steps(self._handle, None if recurse else 0)):
            if not record.is_group:
                yield record.name.rpartition("/")[2]

    def array_values(self) -> Generator[Array[Any], None]:
        """The direct members that are arrays.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().array_values())
        []
        """
        for _, member in self.arrays():
            yield member
