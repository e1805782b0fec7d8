"""Define ``zarr.Group``, the synchronous face of a group.

Its methods run steps of ``operations.py`` and ``members.py``. No method calls a store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import LazyModule
from zarr._records import constructed_by
from zarr.abc.nodes import SynchronousGroup
from zarr.arrays.array import Array
from zarr.chunks.spec import ArrayConfig, parse_array_config
from zarr.groups import operations
from zarr.groups.async_group import AsyncGroup, opened_face
from zarr.groups.batch import joined
from zarr.groups.handle import GroupHandle, NodeRecord, Nodes
from zarr.groups.hierarchy import member_hierarchy_steps
from zarr.groups.members import members_steps
from zarr.groups.methods.members import array_of
from zarr.groups.methods.version2 import LegacyMembers
from zarr.groups.opening import open_group_steps
from zarr.older_calls import IN_ORDER_OF_GROUP, also_in_order, named_of_node, without_positions
from zarr.runners.choose import runner_for
from zarr.runners.inline import InlineRunner
from zarr.steps.requests import Steps
from zarr.storage.resolve import resolve_store_path
from zarr.types import ZarrFormat, printable

if TYPE_CHECKING:
    from zarr.runners import sync as loop
    from zarr.runners.asynchronous import LoopRunner
    from zarr.storage.resolve import StoreLike
else:
    loop = LazyModule("zarr.runners.sync")

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


def wrap(record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any] | Group:
    """Create an array or group for a node that was found."""
    if record.is_group:
        return Group.from_handle(record.handle())
    return array_of(record, config)


@constructed_by("_async_group", frozen=True)
class Group(LegacyMembers):
    """A group: a node that holds arrays and other groups.

    Created by :func:`zarr.create_group` and :func:`zarr.open_group`.

    Parameters
    ----------
    _async_group : AsyncGroup
        The asynchronous face of the same group. Or, as in zarr-python 2, a store; then ``path`` is the path of the
        group in it, and ``read_only`` refuses changes.
    **older
        Parameters of zarr-python 2: ``path``, ``read_only`` and others; they may follow the store by position.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> root.create_array("a/x", shape=(4,), dtype="int8").path
    'a/x'
    >>> list(root)
    ['a']
    >>> root["a/x"].shape
    (4,)
    """

    _async_group: AsyncGroup

    @without_positions
    def __init__(self, _async_group: AsyncGroup, *in_order: Any, **older: Any) -> None:
        if in_order:
            older = named_of_node("Group", IN_ORDER_OF_GROUP, in_order, older)
        if older or not hasattr(_async_group, "_handle"):
            _async_group = opened_face(_async_group, **older)
        self._async_group = _async_group
        self._handle = _async_group._handle
        self._runner: InlineRunner | LoopRunner | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._async_group,))

    @classmethod
    def from_handle(cls, handle: GroupHandle) -> Group:
        """Return a face for an open group; all faces of one handle see the same changes.

        Parameters
        ----------
        handle : GroupHandle
            The state that both faces of a group share.

        Examples
        --------
        >>> import zarr
        >>> group = zarr.group()
        >>> zarr.Group.from_handle(group._handle) == group
        True
        """
        return cls(AsyncGroup.from_handle(handle))

    def _wrap(self, record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any] | Group:
        return joined(self._handle, wrap(record, config))

    def _run(self, steps: Steps[T]) -> T:
        runner = self._runner
        if runner is None:
            runner = self._runner = runner_for(self.store)
        return runner.run(steps)

    def _sync(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the asynchronous face to its end, for programs of zarr-python 3."""
        return loop.SyncMixin()._sync(coroutine)

    def _sync_iter(self, async_iterator: AsyncIterator[T]) -> list[T]:
        """Return all items of an iterator of the asynchronous face, for programs of zarr-python 3."""
        return loop.SyncMixin()._sync_iter(async_iterator)

    # ------------------------------------------------------------------------------------------- opening

    @classmethod
    def from_store(
        cls,
        store: StoreLike,
        *,
        attributes: dict[str, Any] | None = None,
        zarr_format: ZarrFormat = 3,
        overwrite: bool = False,
    ) -> Group:
        """Create a group at the root of a store.

        Parameters
        ----------
        store : StoreLike
            A path, a URL, a store or a mapping.
        attributes : dict, optional
            The attributes: JSON values. Default: none.
        zarr_format : 2 or 3
            The format of the group: 2 or 3. Default: 3.
        overwrite : bool
            If True, delete first the node that is at its place, with all below it.

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If a node is there and ``overwrite`` is False.

        Examples
        --------
        >>> import zarr
        >>> zarr.Group.from_store({}, attributes={"unit": "m"}).attrs["unit"]
        'm'
        """
        store_path = resolve_store_path(store)
        runner = runner_for(store_path.store)
        return cls.from_handle(runner.run(operations.new_group_steps(store_path, zarr_format, attributes, overwrite)))

    @classmethod
    def open(cls, store: StoreLike, zarr_format: ZarrFormat | None = 3) -> Group:
        """Open the group at the root of a store.

        Parameters
        ----------
        store : StoreLike
        zarr_format : 2, 3 or None
            None, the default, accepts both.

        Returns
        -------
        Group

        Raises
        ------
        FileNotFoundError
            If there is no group.

        Examples
        --------
        >>> import zarr
        >>> store = {}
        >>> made = zarr.Group.from_store(store)
        >>> zarr.Group.open(store).path
        ''
        """
        store_path = resolve_store_path(store)
        return cls.from_handle(runner_for(store_path.store).run(open_group_steps(store_path, zarr_format)))

    def __getitem__(self, path: str) -> Array[Any] | Group:
        """Open a node below the group.

        Parameters
        ----------
        path : str
            Relative to the group; it may lead through several groups.

        Returns
        -------
        Array or Group

        Raises
        ------
        KeyError
            If there is no such node.
        """
        return self._wrap(self._run(operations.node_steps(self._handle, path)))

    def get(self, path: str, default: DefaultT | None = None) -> Array[Any] | Group | DefaultT | None:
        """Open a node below the group, or return the default if there is none.

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
        record = self._run(operations.find_steps(self._handle, path))
        return default if record is None else self._wrap(record)

    def get_group(self, path: str) -> Group:
        """Open a group below the group.

        Parameters
        ----------
        path : str
            The path below this group.

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
        return self._wrap(self._run(operations.get_steps(self._handle, path, is_group=True)))  # type: ignore[return-value]

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array[Any] | Group], ...]:
        """List the members.

        A member with unreadable documents raises an error here, as it does when it is opened; ``del`` removes it.

        Parameters
        ----------
        max_depth : int or None
            Number of levels below the direct members to include; None for all.
        use_consolidated_for_children : bool
            If True, use a member group's own consolidated metadata where this group has none.

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
        config = parse_array_config(None)  # read once, not for each of a thousand arrays
        return tuple((record.name, self._wrap(record, config)) for record in records)

    def groups(self) -> Generator[tuple[str, Group], None]:
        """Iterate over the direct members that are groups, with their names.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().groups())
        []
        """
        for record in self._run(members_steps(self._handle)):
            if record.is_group:
                yield record.name, self._wrap(record)  # type: ignore[misc]

    def group_values(self) -> Generator[Group, None]:
        """Iterate over the direct members that are groups.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().group_values())
        []
        """
        for _, member in self.groups():
            yield member

    def items(self) -> Iterator[tuple[str, Array[Any] | Group]]:
        """Iterate over the direct members with their names.

        Returns
        -------
        iterator of (str, Array or Group)

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().items())
        []
        """
        return iter(self.members())

    def values(self) -> Iterator[Array[Any] | Group]:
        """Iterate over the direct members.

        Returns
        -------
        iterator of Array or Group

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().values())
        []
        """
        return (member for _, member in self.members())

    def __repr__(self) -> str:
        return printable(f"<Group {self.store_path}>")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self._async_group == other._async_group

    __hash__ = None  # type: ignore[assignment]

    # -------------------------------------------------------------------------------------------- changes

    def update_attributes(self, new_attributes: dict[str, Any]) -> Group:
        """Merge attributes into those of the group.

        Parameters
        ----------
        new_attributes : dict
            Attributes to set; the others stay.

        Returns
        -------
        Group
            The group itself.

        Examples
        --------
        >>> import zarr
        >>> zarr.group(attributes={"a": 1}).update_attributes({"b": 2}).attrs.asdict()
        {'a': 1, 'b': 2}
        """
        self._run(operations.update_attributes_steps(self._handle, new_attributes))
        return self

    async def update_attributes_async(self, new_attributes: dict[str, Any]) -> Group:
        """Replace the attributes of the group; a coroutine.

        To merge them instead, await ``update_attributes`` of the asynchronous group.

        Parameters
        ----------
        new_attributes : dict
            The new attributes; all others are removed.

        Returns
        -------
        Group
            The group itself.

        Examples
        --------
        >>> import asyncio
        >>> import zarr
        >>> asyncio.run(zarr.group().update_attributes_async({"b": 2})).attrs.asdict()
        {'b': 2}
        """
        await self._async_group._run(operations.update_attributes_steps(self._handle, new_attributes, replace=True))
        return self

    @also_in_order("overwrite")
    def create_group(self, name: str, **kwargs: Any) -> Group:
        """Create a group below the group, with the groups between.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        overwrite : bool, optional
            If True, delete first the node that is at its place, with all below it.
        attributes : dict, optional
            The attributes: JSON values. Default: none.

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If a node is there and ``overwrite`` is False.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_group("a/b", attributes={"x": 1}).attrs["x"]
        1
        """
        return self._wrap(self._run(operations.create_group_steps(self._handle, name, **kwargs)))  # type: ignore[return-value]

    def create_groups(self, *names: str, overwrite: bool = False) -> tuple[Group, ...]:
        """Create several groups below the group, as one operation.

        Parameters
        ----------
        *names : str
            Paths of the groups below this one.
        overwrite : bool
            If True, delete first the node that is at its place, with all below it.

        Returns
        -------
        tuple of Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If there is a node of one of these names; other groups may have been created.

        Examples
        --------
        >>> import zarr
        >>> [group.path for group in zarr.group().create_groups("a", "b/c")]
        ['a', 'b/c']
        """
        records = self._run(operations.create_groups_steps(self._handle, names, overwrite))
        return tuple(self._wrap(record) for record in records)  # type: ignore[misc]

    @also_in_order("overwrite")
    def require_group(self, name: str, **kwargs: Any) -> Group:
        """Open a group below the group; create it if there is none.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        overwrite : bool, optional
            If True, create it in any case, and delete first the node that is at its place.

        Returns
        -------
        Group

        Raises
        ------
        TypeError
            If there is an array.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().require_group("a").path
        'a'
        """
        return self._wrap(self._run(operations.require_group_steps(self._handle, name, **kwargs)))  # type: ignore[return-value]

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Open several groups below the group; create those that are missing.

        Parameters
        ----------
        *names : str
            Paths of the groups below this one.

        Returns
        -------
        tuple of Group

        Examples
        --------
        >>> import zarr
        >>> len(zarr.group().require_groups("a", "b"))
        2
        """
        records = self._run(operations.require_groups_steps(self._handle, names))
        return tuple(self._wrap(record) for record in records)  # type: ignore[misc]

    def create_hierarchy(self, nodes: Nodes, *, overwrite: bool = False) -> Iterator[tuple[str, Group | Array[Any]]]:
        """Create many nodes below the group, with the groups that they need between.

        Parameters
        ----------
        nodes : dict of path to metadata
            The metadata of each node, by its path.
        overwrite : bool
            If True, delete first the nodes that are at these places, with all below them.

        Returns
        -------
        iterator of (path, Array or Group)
            The new nodes, parents first. All are created before the iterator is returned.

        Raises
        ------
        ValueError
            If the nodes form no hierarchy, or one of them is the group itself.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> [path for path, node in root.create_hierarchy({"a/b": root.metadata})]
        ['a', 'a/b']
        """
        records = self._run(member_hierarchy_steps(self._handle, nodes, overwrite))
        return iter([(record.name, self._wrap(record)) for record in records])


_TWINS = {"getitem": "__getitem__", "setitem": "__setitem__", "delitem": "__delitem__", "contains": "__contains__"}


def _share_docstrings() -> None:
    """Give the methods of the asynchronous face the docstrings of their synchronous twins."""
    for name, member in vars(AsyncGroup).items():
        twin = getattr(Group, _TWINS.get(name, name), None)
        target = member.__func__ if isinstance(member, classmethod) else member
        if twin is not None and not name.startswith("__") and getattr(target, "__doc__", None) is None:
            target.__doc__ = twin.__doc__


_share_docstrings()


SynchronousGroup.register(Group)
