"""The synchronous face of a group."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from zarr.arrays.asynchronous import AsyncArray
from zarr.arrays.attributes import Attributes
from zarr.arrays.create import DEFAULT_FILL_VALUE
from zarr.arrays.synchronous import Array
from zarr.groups.asynchronous import AsyncGroup
from zarr.groups.handle import GroupHandle, NodeRecord, Nodes
from zarr.groups.hierarchy import member_hierarchy_steps
from zarr.groups.legacy import LegacyMembers
from zarr.groups.moving import move_steps
from zarr.groups.opening import open_group_steps
from zarr.groups.operations import (
    array_steps,
    contains_steps,
    create_group_steps,
    delete_steps,
    find_steps,
    group_steps,
    like_steps,
    member_array_steps,
    new_group_steps,
    node_steps,
    require_array_steps,
    require_group_steps,
    require_groups_steps,
    set_steps,
    update_attributes_steps,
)
from zarr.groups.parameters import creation_parameters, with_one_compressor
from zarr.groups.summary import info_complete_steps, info_of, tree_steps
from zarr.groups.walk import members_steps
from zarr.runners.choose import runner_for
from zarr.storage.resolve import resolve_store_path

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.array_spec import ArrayConfigLike
    from zarr.arrays.create import CompressorLike, CompressorsLike, FiltersLike, SerializerLike, ShardsLike
    from zarr.chunk_keys import ChunkKeyEncodingLike
    from zarr.dtype import ZDTypeLike
    from zarr.groups.info import GroupInfo
    from zarr.groups.render import TreeRepr
    from zarr.metadata.group import GroupMetadata
    from zarr.steps.requests import Steps
    from zarr.storage.path import StorePath
    from zarr.storage.resolve import StoreLike
    from zarr.types import JSON, ChunksLike, DimensionNamesLike, MemoryOrder, ShapeLike, ZarrFormat

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


def wrap(record: NodeRecord) -> Array[Any] | Group:
    """Make an array or group of a node that was found."""
    if record.is_group:
        return Group.from_handle(record.handle())
    return Array(AsyncArray(record.metadata, record.store_path))


class Group(LegacyMembers):
    """A group: a node that holds arrays and other groups.

    Made by :func:`zarr.create_group` and :func:`zarr.open_group`.

    Parameters
    ----------
    _async_group : AsyncGroup
        The asynchronous face of the same group.

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

    def __init__(self, _async_group: AsyncGroup) -> None:
        self._async_group = _async_group

    @classmethod
    def from_handle(cls, handle: GroupHandle) -> Group:
        """A face for an open group; all faces of one handle see the same changes."""
        return cls(AsyncGroup.from_handle(handle))

    @property
    def _handle(self) -> GroupHandle:
        return self._async_group._handle

    def _run(self, steps: Steps[T]) -> T:
        return runner_for(self.store).run(steps)

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
        >>> Group.from_store({}, attributes={"unit": "m"}).attrs["unit"]
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
        >>> store = {}
        >>> made = Group.from_store(store)
        >>> Group.open(store).path
        ''
        """
        store_path = resolve_store_path(store)
        return cls.from_handle(runner_for(store_path.store).run(open_group_steps(store_path, zarr_format)))

    # ------------------------------------------------------------------------------------------ what it is

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
    def attrs(self) -> Attributes:
        """The attributes: a mapping that writes every change to the store."""
        return Attributes(self)

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
            Has no effect: the text never holds terminal escapes.

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
        return self._run(tree_steps(self._handle, expand, level, max_nodes))

    def __repr__(self) -> str:
        return f"<Group {self.store_path}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self._async_group == other._async_group

    __hash__ = None  # type: ignore[assignment]

    # -------------------------------------------------------------------------------------------- members

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
        return wrap(self._run(node_steps(self._handle, path)))

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
        return default if record is None else wrap(record)

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
        return wrap(self._run(array_steps(self._handle, path)))  # type: ignore[return-value]

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
        return wrap(self._run(group_steps(self._handle, path)))  # type: ignore[return-value]

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

        A member whose documents cannot be read is left out, with a warning that names it.

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
            If ``max_depth`` is negative.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_array("a/x", shape=(4,), dtype="int8")
        >>> [name for name, member in root.members(max_depth=None)]
        ['a', 'a/x']
        """
        records = self._run(members_steps(self._handle, max_depth, use_consolidated_for_children))
        return tuple((record.name, wrap(record)) for record in records)

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
                yield record.name, Group.from_handle(record.handle())

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

    def arrays(self) -> Generator[tuple[str, Array[Any]], None]:
        """The direct members that are arrays, with their names.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().arrays())
        []
        """
        for record in self._run(members_steps(self._handle)):
            if not record.is_group:
                yield record.name, wrap(record)  # type: ignore[misc]

    def array_keys(self) -> Generator[str, None]:
        """The names of the direct members that are arrays.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().array_keys())
        []
        """
        for record in self._run(members_steps(self._handle)):
            if not record.is_group:
                yield record.name

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
        """The same as :meth:`update_attributes`, to be awaited.

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
        await self._async_group.update_attributes(new_attributes)
        return self

    def _change_attributes(
        self, changes: dict[str, Any], removed: tuple[str, ...] = (), replace: bool = False
    ) -> None:
        """What the mapping of the attributes does with every change."""
        self._run(update_attributes_steps(self._handle, changes, removed, replace))

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
        return wrap(self._run(create_group_steps(self._handle, name, **kwargs)))  # type: ignore[return-value]

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
        return wrap(self._run(require_group_steps(self._handle, name, **kwargs)))  # type: ignore[return-value]

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
        return tuple(Group.from_handle(record.handle()) for record in records)

    def create_hierarchy(
        self, nodes: Nodes, *, overwrite: bool = False
    ) -> Iterator[tuple[str, Group | Array[Any]]]:
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
        return iter([(record.name, wrap(record)) for record in records])

    def create_array(
        self,
        name: str,
        *,
        shape: ShapeLike | None = None,
        dtype: ZDTypeLike | None = None,
        data: np.ndarray[Any, np.dtype[Any]] | None = None,
        chunks: ChunksLike | Literal["auto"] = "auto",
        shards: ShardsLike | None = None,
        filters: FiltersLike = "auto",
        compressors: CompressorsLike = "auto",
        compressor: CompressorLike = "auto",
        serializer: SerializerLike = "auto",
        fill_value: Any | None = DEFAULT_FILL_VALUE,
        order: MemoryOrder | None = None,
        attributes: dict[str, JSON] | None = None,
        chunk_key_encoding: ChunkKeyEncodingLike | None = None,
        dimension_names: DimensionNamesLike = None,
        storage_options: dict[str, Any] | None = None,
        overwrite: bool = False,
        config: ArrayConfigLike | None = None,
        write_data: bool = True,
    ) -> Array[Any]:
        """Make an array below the group, with the groups between.

        The parameters are those of :func:`zarr.create_array`; the format is the group's.

        Parameters
        ----------
        name : str
        shape : int or tuple of int, optional
            Needed unless ``data`` is given.
        dtype : dtype, optional
        data : array-like, optional
            What to fill the array with; gives shape and dtype.
        chunks : tuple of int, or "auto"
        shards : tuple of int, "auto" or None
        filters, compressors, serializer : codecs, or "auto"
        compressor : codec
            Another name of ``compressors``.
        fill_value : scalar, optional
        order : "C" or "F", optional
        attributes : dict, optional
        chunk_key_encoding : ChunkKeyEncoding or dict, optional
        dimension_names : list of str, optional
        storage_options : dict, optional
            Has no effect: the store is the group's.
        overwrite : bool
        config : ArrayConfig or dict, optional
        write_data : bool
            Whether ``data`` is written, or only lends its shape and dtype.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If there is a node already and ``overwrite`` is false.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_array("x", shape=(10,), chunks=(5,), dtype="int32").nchunks
        2
        """
        parameters = creation_parameters(locals())
        return self._create(name, parameters)

    def create(
        self,
        name: str,
        *,
        shape: ShapeLike | None = None,
        dtype: ZDTypeLike | None = None,
        data: np.ndarray[Any, np.dtype[Any]] | None = None,
        chunks: ChunksLike | Literal["auto"] = "auto",
        shards: ShardsLike | None = None,
        filters: FiltersLike = "auto",
        compressors: CompressorsLike = "auto",
        compressor: CompressorLike = "auto",
        serializer: SerializerLike = "auto",
        fill_value: Any | None = DEFAULT_FILL_VALUE,
        order: MemoryOrder | None = None,
        attributes: dict[str, JSON] | None = None,
        chunk_key_encoding: ChunkKeyEncodingLike | None = None,
        dimension_names: DimensionNamesLike = None,
        storage_options: dict[str, Any] | None = None,
        overwrite: bool = False,
        config: ArrayConfigLike | None = None,
        write_data: bool = True,
    ) -> Array[Any]:
        """Another name of :meth:`create_array`, with the same parameters.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create("x", shape=(10,), dtype="int32").shape
        (10,)
        """
        parameters = creation_parameters(locals())
        return self._create(name, parameters)

    def _create(self, name: str, parameters: dict[str, Any]) -> Array[Any]:
        return self._make(member_array_steps(self._handle, name, **parameters))

    def _make(self, steps: Steps[NodeRecord]) -> Array[Any]:
        return wrap(self._run(steps))  # type: ignore[return-value]

    def require_array(
        self, name: str, *, shape: ShapeLike, config: ArrayConfigLike | None = None, **kwargs: Any
    ) -> Array[Any]:
        """Open an array below the group, or make it.

        Parameters
        ----------
        name : str
        shape : int or tuple of int
        config : ArrayConfig or dict, optional
        dtype : dtype, optional
        exact : bool, optional
            Whether the dtype must be the same; else it must be one to which the stored one can be cast safely.
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
        steps = require_array_steps(self._handle, name, shape, config=config, **with_one_compressor(dict(kwargs)))
        return self._make(steps)

    def empty(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        """Make an array below the group whose content does not matter.

        Parameters
        ----------
        name : str
        shape : tuple of int
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().empty(name="x", shape=(2,)).shape
        (2,)
        """
        return self._make(like_steps(self._handle, name, shape=shape, **kwargs))

    def zeros(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        """Make an array of zeros below the group.

        Parameters
        ----------
        name : str
        shape : tuple of int
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().zeros(name="x", shape=(2,))[:]
        array([0., 0.])
        """
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=0, **kwargs))

    def ones(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        """Make an array of ones below the group.

        Parameters
        ----------
        name : str
        shape : tuple of int
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().ones(name="x", shape=(2,))[:]
        array([1., 1.])
        """
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=1, **kwargs))

    def full(self, *, name: str, shape: tuple[int, ...], fill_value: Any | None, **kwargs: Any) -> Array[Any]:
        """Make an array of one value below the group.

        Parameters
        ----------
        name : str
        shape : tuple of int
        fill_value : scalar
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().full(name="x", shape=(2,), fill_value=7)[:]
        array([7., 7.])
        """
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=fill_value, **kwargs))

    def empty_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array like another one below the group, whose content does not matter.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; these go before what the model says.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().empty_like(name="x", data=np.ones(3)).shape
        (3,)
        """
        return self._make(like_steps(self._handle, name, like=data, **kwargs))

    def zeros_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of zeros like another one below the group.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; these go before what the model says.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().zeros_like(name="x", data=np.ones(3))[:]
        array([0., 0., 0.])
        """
        return self._make(like_steps(self._handle, name, like=data, **{"fill_value": 0, **kwargs}))

    def ones_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of ones like another one below the group.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; these go before what the model says.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().ones_like(name="x", data=np.zeros(3))[:]
        array([1., 1., 1.])
        """
        return self._make(like_steps(self._handle, name, like=data, **{"fill_value": 1, **kwargs}))

    def full_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of one value like another one below the group.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; ``fill_value`` among them, unless the model is a zarr array.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().full_like(name="x", data=np.zeros(3), fill_value=5)[:]
        array([5., 5., 5.])
        """
        return self._make(like_steps(self._handle, name, like=data, full=True, **kwargs))


_TWINS = {"getitem": "__getitem__", "setitem": "__setitem__", "delitem": "__delitem__", "contains": "__contains__"}


def _share_docstrings() -> None:
    """The asynchronous face says what the synchronous one says; nothing is written twice."""
    for name, member in vars(AsyncGroup).items():
        twin = vars(Group).get(_TWINS.get(name, name))
        target = member.__func__ if isinstance(member, classmethod) else member
        if twin is not None and not name.startswith("__") and getattr(target, "__doc__", None) is None:
            target.__doc__ = twin.__func__.__doc__ if isinstance(twin, classmethod) else twin.__doc__


_share_docstrings()
