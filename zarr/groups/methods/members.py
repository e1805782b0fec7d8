"""Define the methods of a group that read its members, and those that create arrays in it.

``Group`` inherits :class:`HasMembers`; ``AsyncGroup`` awaits some of its methods. Each method runs steps of
``zarr/groups/operations.py`` or ``zarr/groups/members.py``; none calls a store.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack, cast

from zarr.arrays.array import Array
from zarr.arrays.attributes import Attributes
from zarr.arrays.create.objects import implied_object_codec
from zarr.arrays.create.parameters import CREATE_ARRAY, FILLS, CreateMember, fills, takes
from zarr.arrays.create.version2 import with_one_compressor
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.batch import BatchScope
from zarr.arrays.methods.properties import NodeFace
from zarr.chunks.spec import ArrayConfig, ArrayConfigLike, parse_array_config
from zarr.defaults import BATCH_BYTES
from zarr.groups import operations, summary
from zarr.groups.batch import GroupBatch, joined
from zarr.groups.handle import GroupHandle, NodeRecord
from zarr.groups.members import members_steps
from zarr.groups.summary import GroupInfo, TreeRepr
from zarr.metadata.group import GroupMetadata
from zarr.older_calls import IN_ORDER_OF_CREATE, also_in_order
from zarr.steps.requests import Steps
from zarr.types import ShapeLike

OLDER: Final = frozenset(name for name in IN_ORDER_OF_CREATE if name not in CREATE_ARRAY)
"""Parameters of ``create`` that only zarr-python 2 has."""

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


def array_of(record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any]:
    """Return the synchronous face of an array node."""
    assert not isinstance(record.metadata, GroupMetadata)
    config = config if record.config is None else record.config
    return Array.from_handle(ArrayHandle(record.store_path, record.metadata, parse_array_config(config)))


def _is_older_call(given: dict[str, Any], zarr_format: int) -> bool:
    """Return True if only ``create`` of zarr-python 2 takes these parameters."""
    implied = zarr_format == 2 and implied_object_codec(given)[1] is not None
    return implied or isinstance(given.get("compressor"), str) or not OLDER.isdisjoint(given)


class GroupFace(NodeFace):
    """The properties that :class:`Group` and :class:`AsyncGroup` share; both stand before one handle."""

    _handle: GroupHandle

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle: the handle; or, from zarr-python 3, the other face or the fields."""
        other, make = state.get("_async_group"), cast("Any", type(self)).__init__
        if other is not None:
            make(self, other)
        elif "metadata" in state:
            make(self, state["metadata"], state["store_path"])
        else:
            vars(self).update(state)

    @property
    def metadata(self) -> GroupMetadata:
        """The metadata document of the group, parsed."""
        return self._handle.metadata

    @property
    def synchronizer(self) -> None:
        """None always; kept for code written for zarr-python 2."""
        return None

    @property
    def info(self) -> GroupInfo:
        """A short summary, without reading the store."""
        return summary.info_of(self._handle)

    def _repr_html_(self) -> str:
        """Return the page of a notebook: the summary and the attributes."""
        return summary.group_page(self._handle, None)


class HasMembers(GroupFace):
    """Reading members and creating arrays: the methods of :class:`Group`."""

    if TYPE_CHECKING:

        def _run(self, steps: Steps[T]) -> T: ...

        def _wrap(self, record: NodeRecord, config: ArrayConfig | None = None) -> Any: ...
        def groups(self) -> Generator[tuple[str, Any], None]: ...

    @property
    def attrs(self) -> Attributes:
        """The attributes: a mapping that writes every change to the store."""
        return Attributes(self)

    def info_complete(self) -> GroupInfo:
        """Return a summary that counts all nodes below the group.

        Returns
        -------
        GroupInfo

        Examples
        --------
        >>> import zarr
        >>> "No. members : 0" in repr(zarr.group().info_complete())
        True
        """
        return self._run(summary.info_complete_steps(self._handle))

    def tree(
        self, expand: bool | None = None, level: int | None = None, *, max_nodes: int = 500, plain: bool = False
    ) -> TreeRepr:
        """Draw the hierarchy below the group.

        Parameters
        ----------
        expand : bool, optional
            Has no effect: the tree is always drawn unfolded.
        level : int, optional
            Number of levels to show; None for all.
        max_nodes : int
            The maximum number of nodes; a last line marks a tree that is cut.
        plain : bool
            If True, names are never bold; by default they are on a terminal.

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
        return self._run(summary.tree_steps(self._handle, level, max_nodes, plain))

    def _repr_html_(self) -> str:
        """Return the page of a notebook; with members if they are cheap to find (memory, folder, consolidated)."""
        return summary.group_page(self._handle, self._run(summary.tree_at_hand_steps(self._handle)))

    def get_array(self, path: str) -> Array[Any]:
        """Open an array below the group.

        Parameters
        ----------
        path : str
            The path below this group.

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
        return self._wrap(self._run(operations.get_steps(self._handle, path, is_group=False)))  # type: ignore[no-any-return]

    def __contains__(self, member: str) -> bool:
        """Return True if there is a node at a path below the group.

        Parameters
        ----------
        member : str
            The path below this group.

        Returns
        -------
        bool
        """
        return self._run(operations.contains_steps(self._handle, member))

    def __iter__(self) -> Iterator[str]:
        yield from self.keys()

    def __len__(self) -> int:
        return self.nmembers()

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Count the members.

        Parameters
        ----------
        max_depth : int or None
            Number of levels below the direct members to include; None for all.

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
        """Return the names of the direct members.

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

    def group_keys(self) -> Generator[str, None]:
        """Return the names of the direct members that are groups.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().group_keys())
        []
        """
        for name, _ in self.groups():
            yield name

    def arrays(self, recurse: bool = False) -> Generator[tuple[str, Array[Any]], None]:
        """Iterate over the direct members that are arrays, with their names; with ``recurse`` also those below.

        Parameters
        ----------
        recurse : bool
            If True, include the arrays of all groups below. Default: False.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().arrays())
        []
        """
        config = parse_array_config(None)
        for record in self._run(members_steps(self._handle, None if recurse else 0)):
            if not record.is_group:
                yield record.name.rpartition("/")[2], self._wrap(record, config)

    def array_keys(self, recurse: bool = False) -> Generator[str, None]:
        """Return the names of the direct members that are arrays; with ``recurse`` those of all groups below too.

        Parameters
        ----------
        recurse : bool
            If True, include the arrays of all groups below. Default: False.

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
        """Iterate over the direct members that are arrays.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().array_values())
        []
        """
        for _, member in self.arrays():
            yield member

    def __setitem__(self, key: str, value: Any) -> None:
        """Store data as an array below the group, in place of the node that was there.

        Parameters
        ----------
        key : str
            The path below this group.
        value : array-like
            The elements, or an array to copy.

        Raises
        ------
        ValueError
            If the key names the group itself.
        """
        self._run(operations.set_steps(self._handle, key, value))

    def __delitem__(self, key: str) -> None:
        """Remove a node with all below it; a missing node is no error.

        Parameters
        ----------
        key : str
            The path below this group.
        """
        return self._run(operations.delete_steps(self._handle, key))

    def move(self, source: str, dest: str) -> None:
        """Move a node, with all below it, to another place below the group.

        Parameters
        ----------
        source, dest : str
            Paths relative to the group.

        Returns
        -------
        None

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
        return self._run(operations.move_steps(self._handle, source, dest))

    def _change_attributes(self, changes: dict[str, Any], removed: tuple[str, ...] = (), replace: bool = False) -> None:
        """Store a change made through the mapping of the attributes."""
        self._run(operations.update_attributes_steps(self._handle, changes, removed, replace))

    def batch(self, max_bytes: int = BATCH_BYTES) -> BatchScope:
        """Collect the writes to all arrays that are opened from this group object inside a ``with``.

        See :meth:`zarr.Array.batch`. Arrays that were opened before, or elsewhere, are not part of it. If this group
        removes, replaces or moves a node inside, the pending writes to it go with it.

        Parameters
        ----------
        max_bytes : int
            Number of bytes in memory, of all arrays together, above which pending chunks are stored.

        Returns
        -------
        BatchScope
            A context manager.

        Raises
        ------
        ValueError
            If ``max_bytes`` is less than one.

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
        return BatchScope(self._handle, self._run, self._run, GroupBatch, max_bytes)

    # -------------------------------------------------------------------------------------------- new arrays

    @takes(CreateMember, CREATE_ARRAY, without=("zarr_format",))
    def create_array(self, name: str, **parameters: Unpack[CreateMember]) -> Array[Any]:
        """Create an array below the group, and the missing groups on the path to it.

        The array has the format of the group. :func:`zarr.create_array` describes the order in which codecs run.

        Parameters
        ----------
        name : str
            Path of the array below the group.
        **parameters
            See :class:`zarr.arrays.create.parameters.CreateArray`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If a node is there and ``overwrite`` is False.
        ValueError
            If neither ``data`` nor ``shape`` and ``dtype`` are given, or both are; if a parameter belongs to the
            other format; if a length of the shards is no multiple of that of the chunks.
        TypeError
            If there is no such parameter, or a codec or a data type cannot be used.
        ReadOnlyError
            If the store is read-only.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> root.create_array("a/x", shape=(10,), chunks=(5,), dtype="int32").nchunks
        2
        >>> root["a"]["x"].path
        'a/x'
        """
        return self._make(operations.create_member_steps(self._handle, name, parameters))

    @takes(CreateMember, CREATE_ARRAY, without=("zarr_format",))
    def create(self, name: str, **parameters: Unpack[CreateMember]) -> Array[Any]:
        """Create an array below the group.

        This is another name of :meth:`create_array`, with a default data type: 64-bit floats.

        Parameters
        ----------
        name : str
            Path of the array below the group.
        **parameters
            See :class:`zarr.arrays.create.parameters.CreateArray`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create("x", shape=(10,)).dtype
        dtype('float64')
        """
        given = cast("dict[str, Any]", parameters)
        if _is_older_call(given, self._handle.metadata.zarr_format):
            return self._make(operations.like_steps(self._handle, name, **given))
        if parameters.get("dtype") is None and parameters.get("data") is None:
            parameters["dtype"] = "float64"
        return self._make(operations.create_member_steps(self._handle, name, parameters))

    def _make(self, steps: Steps[ArrayHandle]) -> Array[Any]:
        array: Array[Any] = Array.from_handle(self._run(steps))
        return array if self._handle.batch is None else joined(self._handle, array)

    def require_array(
        self, name: str, *, shape: ShapeLike, config: ArrayConfigLike | None = None, **kwargs: Any
    ) -> Array[Any]:
        """Open an array below the group; create it if there is none.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        shape : int or tuple of int
            The shape that the array must have, or gets.
        config : ArrayConfig or dict, optional
            Run-time behaviour of the array, which is not stored; see :func:`zarr.create_array`. By default that of the
            group.
        dtype : dtype, optional
            The data type that the array must have, or gets.
        exact : bool, optional
            If True, the dtype must be the same; else it must be one to which the stored one can be cast safely.
        **kwargs
            See :meth:`create_array`.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If there is a group, or an array of another shape or dtype.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.require_array("x", shape=(4,), dtype="int8")
        >>> root.require_array("x", shape=(4,), dtype="int8") == made
        True
        """
        parameters = with_one_compressor(dict(kwargs), self._handle.metadata.zarr_format)
        steps = operations.require_array_steps(self._handle, name, shape, config=config, **parameters)
        return self._make(steps)

    @also_in_order("name")
    @fills
    def empty(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, shape=shape, **kwargs))

    @also_in_order("name")
    @fills
    def zeros(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, shape=shape, **FILLS["zeros"], **kwargs))

    @also_in_order("name")
    @fills
    def ones(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, shape=shape, **FILLS["ones"], **kwargs))

    @also_in_order("name", "fill_value")
    @fills
    def full(self, *, name: str, shape: tuple[int, ...], fill_value: Any | None, **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, shape=shape, fill_value=fill_value, **kwargs))

    @also_in_order("name", "data")
    @fills
    def empty_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, "empty", data, **kwargs))

    @also_in_order("name", "data")
    @fills
    def zeros_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, "zeros", data, **kwargs))

    @also_in_order("name", "data")
    @fills
    def ones_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, "ones", data, **kwargs))

    @also_in_order("name", "data")
    @fills
    def full_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(operations.like_steps(self._handle, name, "full", data, **kwargs))
