"""The synchronous face of a group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from zarr.abc.nodes import SynchronousGroup
from zarr.arrays.array import Array
from zarr.arrays.attributes import Attributes
from zarr.defaults import BATCH_BYTES
from zarr.groups.async_group import AsyncGroup, opened_face
from zarr.groups.batch import GroupBatchScope, adopted
from zarr.groups.create.hierarchy import member_hierarchy_steps
from zarr.groups.handle import GroupHandle, NodeRecord, Nodes
from zarr.groups.members.move import move_steps
from zarr.groups.methods.create import MakesArrays, array_of
from zarr.groups.methods.members import HasMembers
from zarr.groups.methods.properties import GroupFace
from zarr.groups.methods.version2 import LegacyMembers
from zarr.groups.opening import open_group_steps
from zarr.groups.operations import (
    create_group_steps,
    delete_steps,
    new_group_steps,
    require_group_steps,
    require_groups_steps,
    set_steps,
    update_attributes_steps,
)
from zarr.groups.show.summary import group_page, info_complete_steps, tree_at_hand_steps, tree_steps
from zarr.older_calls import also_in_order
from zarr.runners.choose import runner_for
from zarr.storage.resolve import resolve_store_path
from zarr.types import printable

if TYPE_CHECKING:
    from zarr.chunks.spec import ArrayConfig
    from zarr.groups.show.summary import GroupInfo, TreeRepr
    from zarr.runners.asynchronous import LoopRunner
    from zarr.runners.inline import InlineRunner
    from zarr.steps.requests import Steps
    from zarr.storage.resolve import StoreLike
    from zarr.types import ZarrFormat

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


def wrap(record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any] | Group:
    """Make an array or group of a node that was found."""
    if record.is_group:
        return Group.from_handle(record.handle())
    return array_of(record, config)


class Group(GroupFace, HasMembers, MakesArrays, LegacyMembers):
    """A group: a node that holds arrays and other groups.

    Made by :func:`zarr.create_group` and :func:`zarr.open_group`.

    Parameters
    ----------
    _async_group : AsyncGroup
        The asynchronous face of the same group. Or, as in zarr-python 2, a store: the group in it is opened, ``path``
        and ``read_only`` say which and how.

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

    def __init__(self, _async_group: AsyncGroup, **older: Any) -> None:
        if older or not hasattr(_async_group, "_handle"):
            _async_group = opened_face(_async_group, **older)
        self._async_group = _async_group
        self._handle = _async_group._handle
        self._runner: InlineRunner | LoopRunner | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._async_group,))

    @classmethod
    def from_handle(cls, handle: GroupHandle) -> Group:
        """A face for an open group; all faces of one handle see the same changes."""
        return cls(AsyncGroup.from_handle(handle))

    def _wrap(self, record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any] | Group:
        return adopted(self._handle, wrap(record, config))

    def _run(self, steps: Steps[T]) -> T:
        runner = self._runner
        if runner is None:
            runner = self._runner = runner_for(self.store)
        return runner.run(steps)

    def batch(self, max_bytes: int = BATCH_BYTES) -> GroupBatchScope:
        """Collect the writes to all arrays that are taken from this group object inside a ``with``.

        See :meth:`zarr.Array.batch`. Arrays that were opened before, or elsewhere, are not part of it. What this group
        removes, replaces or moves inside takes along what was written to it before.

        Parameters
        ----------
        max_bytes : int
            Bytes in memory, of all arrays together, above which what is pending is stored.

        Returns
        -------
        GroupBatchScope
            A context manager.

        Raises
        ------
        ValueError
            ``max_bytes`` is less than one.

        Examples
        --------
        >>> import zarr
        >>> group = zarr.group()
        >>> with group.batch():
        ...     x = group.create_array("x", shape=(100,), chunks=(100,), dtype="int32")
        ...     for i in range(100):
        ...         x[i] = i
        >>> int(group["x"][:].sum())
        4950
        """
        return GroupBatchScope(self._handle, self._run, max_bytes)

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
        """Make a group at the root of a store.

        Parameters
        ----------
        store : StoreLike
        attributes : dict, optional
        zarr_format : 2 or 3
        overwrite : bool
            Whether what is there goes first, with all below it.

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If there is a node already and ``overwrite`` is false.

        Examples
        --------
        >>> import zarr
        >>> zarr.Group.from_store({}, attributes={"unit": "m"}).attrs["unit"]
        'm'
        """
        store_path = resolve_store_path(store)
        runner = runner_for(store_path.store)
        return cls.from_handle(runner.run(new_group_steps(store_path, zarr_format, attributes, overwrite)))

    @classmethod
    def open(cls, store: StoreLike, zarr_format: ZarrFormat | None = 3) -> Group:
        """Open the group at the root of a store.

        Parameters
        ----------
        store : StoreLike
        zarr_format : 2, 3 or None
            None takes either.

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

    # ------------------------------------------------------------------------------------------ what it is

    @property
    def attrs(self) -> Attributes:
        """The attributes: a mapping that writes every change to the store."""
        return Attributes(self)

    def info_complete(self) -> GroupInfo:
        """A summary that counts all nodes below the group.

        Returns
        -------
        GroupInfo

        Examples
        --------
        >>> import zarr
        >>> "No. members : 0" in repr(zarr.group().info_complete())
        True
        """
        return self._run(info_complete_steps(self._handle))

    def tree(
        self, expand: bool | None = None, level: int | None = None, *, max_nodes: int = 500, plain: bool = False
    ) -> TreeRepr:
        """Draw the hierarchy below the group.

        Parameters
        ----------
        expand : bool, optional
            Has no effect: the tree is always drawn unfolded.
        level : int, optional
            How deep to go; None for all levels.
        max_nodes : int
            Beyond so many nodes the tree is cut, and says so.
        plain : bool
            Whether names are never bold; by default they are on a terminal.

        Returns
        -------
        TreeRepr
            Prints as text, shows as HTML in notebooks.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_array("a/x", shape=(4,), dtype="int8")
        >>> print(root.tree())
        /
        └── a
            └── x (4,) int8
        <BLANKLINE>
        """
        return self._run(tree_steps(self._handle, expand, level, max_nodes, plain))

    def __repr__(self) -> str:
        return printable(f"<Group {self.store_path}>")

    def _repr_html_(self) -> str:
        """What a notebook shows; members are listed where the store is memory or a folder, or has a copy of them."""
        return group_page(self._handle, self._run(tree_at_hand_steps(self._handle)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self._async_group == other._async_group

    __hash__ = None  # type: ignore[assignment]

    # -------------------------------------------------------------------------------------------- changes

    def __setitem__(self, key: str, value: Any) -> None:
        """Store data as an array below the group, in the place of what was there.

        Parameters
        ----------
        key : str
        value : array-like

        Raises
        ------
        ValueError
            If the key names the group itself.
        """
        self._run(set_steps(self._handle, key, value))

    def __delitem__(self, key: str) -> None:
        """Remove a node with all below it; where there is none, nothing happens."""
        self._run(delete_steps(self._handle, key))

    def move(self, source: str, dest: str) -> None:
        """Move a node, with all below it, to another place below the group.

        Parameters
        ----------
        source, dest : str
            Paths relative to the group.

        Raises
        ------
        KeyError
            If there is no source.
        ContainsArrayError, ContainsGroupError
            If there is a node at the destination.
        ValueError
            If the destination lies within the source.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a")
        >>> root.move("a", "b/c")
        >>> [name for name, member in root.members(max_depth=None)]
        ['b', 'b/c']
        """
        self._run(move_steps(self._handle, source, dest))

    def update_attributes(self, new_attributes: dict[str, Any]) -> Group:
        """Merge attributes into those of the group.

        Parameters
        ----------
        new_attributes : dict

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
        self._run(update_attributes_steps(self._handle, new_attributes))
        return self

    async def update_attributes_async(self, new_attributes: dict[str, Any]) -> Group:
        """Put attributes in the place of those of the group, to be awaited.

        To merge them instead, await ``update_attributes`` of the asynchronous group.

        Parameters
        ----------
        new_attributes : dict

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
        await self._async_group._run(update_attributes_steps(self._handle, new_attributes, replace=True))
        return self

    def _change_attributes(self, changes: dict[str, Any], removed: tuple[str, ...] = (), replace: bool = False) -> None:
        """What the mapping of the attributes does with every change."""
        self._run(update_attributes_steps(self._handle, changes, removed, replace))

    @also_in_order("overwrite")
    def create_group(self, name: str, **kwargs: Any) -> Group:
        """Make a group below the group, with the groups between.

        Parameters
        ----------
        name : str
        overwrite : bool, optional
            Whether what is there goes first, with all below it.
        attributes : dict, optional

        Returns
        -------
        Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If there is a node already and ``overwrite`` is false.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_group("a/b", attributes={"x": 1}).attrs["x"]
        1
        """
        return self._wrap(self._run(create_group_steps(self._handle, name, **kwargs)))  # type: ignore[return-value]

    @also_in_order("overwrite")
    def require_group(self, name: str, **kwargs: Any) -> Group:
        """Open a group below the group, or make it.

        Parameters
        ----------
        name : str
        overwrite : bool, optional
            Whether it is made anew in any case.

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
        return self._wrap(self._run(require_group_steps(self._handle, name, **kwargs)))  # type: ignore[return-value]

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Open several groups below the group, or make them.

        Parameters
        ----------
        *names : str

        Returns
        -------
        tuple of Group

        Examples
        --------
        >>> import zarr
        >>> len(zarr.group().require_groups("a", "b"))
        2
        """
        records = self._run(require_groups_steps(self._handle, names))
        return tuple(self._wrap(record) for record in records)  # type: ignore[misc]

    def create_hierarchy(self, nodes: Nodes, *, overwrite: bool = False) -> Iterator[tuple[str, Group | Array[Any]]]:
        """Make many nodes below the group, with the groups that they need between.

        Parameters
        ----------
        nodes : dict of path to metadata
        overwrite : bool
            Whether nodes that are there go first, with all below them.

        Returns
        -------
        iterator of (path, Array or Group)
            Those that were made, parents first. They are all made before the iterator is returned.

        Raises
        ------
        ValueError
            If the nodes make no hierarchy, or one of them is the group itself.

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
    """The asynchronous face says what the synchronous one says; nothing is written twice."""
    for name, member in vars(AsyncGroup).items():
        twin = getattr(Group, _TWINS.get(name, name), None)
        target = member.__func__ if isinstance(member, classmethod) else member
        if twin is not None and not name.startswith("__") and getattr(target, "__doc__", None) is None:
            target.__doc__ = twin.__doc__


_share_docstrings()


SynchronousGroup.register(Group)
