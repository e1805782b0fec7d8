"""Define ``zarr.AsyncGroup``, the asynchronous face of a group.

Each method awaits the steps that the method of ``zarr.Group`` with the same name runs. No method calls a store.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, TypeVar, Unpack

from zarr._records import constructed_by
from zarr.abc.nodes import AsynchronousGroup
from zarr.arrays.async_array import AsyncArray, awaited
from zarr.arrays.create.parameters import CREATE_ARRAY, FILLS, CreateMember, takes
from zarr.arrays.create.version2 import with_one_compressor
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.batch import BatchScope
from zarr.buffer import Buffer
from zarr.chunks.spec import ArrayConfigLike, parse_array_config
from zarr.defaults import BATCH_BYTES
from zarr.dtype import ZDTypeLike
from zarr.groups import operations
from zarr.groups.batch import GroupBatch, joined
from zarr.groups.handle import GroupHandle, NodeRecord, Nodes
from zarr.groups.hierarchy import member_hierarchy_steps
from zarr.groups.members import Lookup, Lookups, consolidate_steps, look_up, members_steps
from zarr.groups.methods.members import GroupFace, HasMembers
from zarr.groups.opening import V2_COPY, open_group_steps, parse_found
from zarr.metadata.group import GroupMetadata
from zarr.runners.choose import async_runner_for, runner_for
from zarr.runners.locks.synchronizers import with_synchronizer
from zarr.steps.consolidated import version
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath
from zarr.storage.resolve import StoreLike, resolve_opened, resolve_store_path
from zarr.types import ShapeLike, ZarrFormat, printable

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")


def wrap_async(record: NodeRecord) -> AsyncArray[Any] | AsyncGroup:
    """Make an asynchronous array or group for a node that was found."""
    if record.is_group:
        return AsyncGroup.from_handle(record.handle())
    metadata: Any = record.metadata
    return AsyncArray.from_handle(ArrayHandle(record.store_path, metadata, parse_array_config(record.config)))


@constructed_by("metadata", "store_path", frozen=True)
class AsyncGroup(GroupFace):
    """A group, to be used from asynchronous code; the synchronous twin is :class:`Group`.

    Parameters
    ----------
    metadata : GroupMetadata
        The metadata document, parsed.
    store_path : StorePath
        Where the node is stored.

    Examples
    --------
    >>> from zarr import AsyncGroup
    >>> import asyncio
    >>> from zarr.storage import MemoryStore
    >>> async def names():
    ...     root = await AsyncGroup.from_store(MemoryStore())
    ...     await root.create_group("a")
    ...     return [name async for name in root.keys()]
    >>> asyncio.run(names())
    ['a']
    """

    def __init__(self, metadata: GroupMetadata, store_path: StorePath) -> None:
        self._handle = GroupHandle(metadata, store_path, read_at=version(store_path.store, store_path.path))
        self._handle.perhaps_unstored = True

    @classmethod
    def from_handle(cls, handle: GroupHandle) -> AsyncGroup:
        """Return a face for an open group; all faces of one handle see the same changes.

        Parameters
        ----------
        handle : GroupHandle
            The state that both faces of a group share.
        """
        group = cls.__new__(cls)
        group._handle = handle
        return group

    @classmethod
    def _from_bytes_v2(
        cls,
        store_path: StorePath,
        zgroup_bytes: Buffer,
        zattrs_bytes: Buffer | None,
        consolidated_metadata_bytes: Buffer | None,
    ) -> AsyncGroup:
        found = {".zgroup": zgroup_bytes, ".zattrs": zattrs_bytes, V2_COPY: consolidated_metadata_bytes}
        return cls(parse_found(found, V2_COPY, store_path, None), store_path)

    @classmethod
    def _from_bytes_v3(
        cls, store_path: StorePath, zarr_json_bytes: Buffer, use_consolidated: bool | None
    ) -> AsyncGroup:
        return cls(parse_found({"zarr.json": zarr_json_bytes}, V2_COPY, store_path, use_consolidated), store_path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AsyncGroup):
            return NotImplemented
        return self.metadata == other.metadata and self.store_path == other.store_path

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return printable(f"<AsyncGroup {self.store_path}>")

    def _wrap(self, record: NodeRecord) -> AsyncArray[Any] | AsyncGroup:
        return joined(self._handle, wrap_async(record))

    def batch(self, max_bytes: int = BATCH_BYTES) -> BatchScope:
        """Collect writes, as :meth:`zarr.Group.batch`; use it with ``async with``.

        Parameters
        ----------
        max_bytes : int
            Number of bytes in memory, of all arrays together, above which pending chunks are stored.

        Returns
        -------
        BatchScope
            A context manager.
        """
        return BatchScope(self._handle, self._run, self._run, GroupBatch, max_bytes)

    def _run(self, steps: Steps[T]) -> Coroutine[Any, Any, T]:
        return async_runner_for(self.store).run(steps)

    # ------------------------------------------------------------------------------------------- opening

    @classmethod
    async def from_store(
        cls,
        store: StoreLike,
        *,
        attributes: dict[str, Any] | None = None,
        overwrite: bool = False,
        zarr_format: ZarrFormat = 3,
    ) -> AsyncGroup:
        store_path = resolve_store_path(store)
        steps = operations.new_group_steps(store_path, zarr_format, attributes, overwrite)
        return cls.from_handle(await async_runner_for(store_path.store).run(steps))

    @classmethod
    async def open(
        cls, store: StoreLike, zarr_format: ZarrFormat | None = 3, use_consolidated: bool | str | None = None
    ) -> AsyncGroup:
        store_path = resolve_store_path(store)
        runner = async_runner_for(store_path.store)
        return cls.from_handle(await runner.run(open_group_steps(store_path, zarr_format, use_consolidated)))

    @classmethod
    def from_dict(cls, store_path: StorePath, data: dict[str, Any]) -> AsyncGroup:
        """Return the group that a metadata document describes; the store is not read.

        Parameters
        ----------
        store_path : StorePath
            Where the node is stored.
        data : dict
            The metadata document.

        Returns
        -------
        AsyncGroup
        """
        return cls(GroupMetadata.from_dict(data), store_path)

    async def _consolidate(self) -> AsyncGroup:
        """Store consolidated metadata of the group, and open the group with it."""
        return AsyncGroup.from_handle(
            await self._run(consolidate_steps(self.store_path, self._handle.metadata.zarr_format))
        )

    async def _save_metadata(self, ensure_parents: bool = False) -> None:
        """Write the documents of this group as they are in memory."""
        await self._run(operations.save_group_steps(self._handle, ensure_parents))

    # ------------------------------------------------------------------------------------------ properties

    @property
    def attrs(self) -> dict[str, Any]:
        return self.metadata.attributes

    info_complete = awaited(HasMembers.info_complete, "AsyncGroup")
    tree = awaited(HasMembers.tree, "AsyncGroup")

    # -------------------------------------------------------------------------------------------- members

    async def getitem(self, key: str) -> AsyncArray[Any] | AsyncGroup:
        """Open a node below the group.

        Parameters
        ----------
        key : str
            The path below this group.

        Returns
        -------
        AsyncArray or AsyncGroup

        Raises
        ------
        KeyError
            If there is no node.
        """
        return self._wrap(await self._run(operations.node_steps(self._handle, key)))

    def _getitem_consolidated(self, store_path: StorePath, key: str, prefix: str) -> AsyncArray[Any] | AsyncGroup:
        """Return a node that the consolidated metadata holds, by the name that programs for zarr-python call."""
        metadata = look_up(self._handle.consolidated, key.strip("/"))
        if metadata is None:
            raise KeyError(f"{key!r} not found in consolidated metadata.")
        path = f"{prefix.strip('/')}/{key.strip('/')}".strip("/")
        face: Any = AsyncGroup if isinstance(metadata, GroupMetadata) else AsyncArray
        return face(metadata=metadata, store_path=StorePath(store_path.store, path))  # type: ignore[no-any-return]

    async def get(self, key: str, default: DefaultT | None = None) -> AsyncArray[Any] | AsyncGroup | DefaultT | None:
        record = await self._run(operations.find_steps(self._handle, key))
        return default if record is None else self._wrap(record)

    async def get_array(self, path: str) -> AsyncArray[Any]:
        return self._wrap(await self._run(operations.get_steps(self._handle, path, is_group=False)))  # type: ignore[return-value]

    async def get_group(self, path: str) -> AsyncGroup:
        return self._wrap(await self._run(operations.get_steps(self._handle, path, is_group=True)))  # type: ignore[return-value]

    contains = awaited(HasMembers.__contains__, "AsyncGroup")

    async def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> AsyncGenerator[tuple[str, AsyncArray[Any] | AsyncGroup], None]:
        records = await self._run(members_steps(self._handle, max_depth, use_consolidated_for_children))
        for record in records:
            yield record.name, self._wrap(record)

    async def nmembers(self, max_depth: int | None = 0) -> int:
        return len(await self._run(members_steps(self._handle, max_depth)))

    async def length(self) -> int:
        """Return the number of members; the twin of ``len(group)``.

        Returns
        -------
        int
        """
        return await self.nmembers()

    def __aiter__(self) -> AsyncIterator[str]:
        return aiter(self.keys())

    async def keys(self) -> AsyncGenerator[str, None]:
        for record in await self._run(members_steps(self._handle)):
            yield record.name

    async def groups(self) -> AsyncGenerator[tuple[str, AsyncGroup], None]:
        for record in await self._run(members_steps(self._handle)):
            if record.is_group:
                yield record.name, self._wrap(record)  # type: ignore[misc]

    async def group_keys(self) -> AsyncGenerator[str, None]:
        async for name, _ in self.groups():
            yield name

    async def group_values(self) -> AsyncGenerator[AsyncGroup, None]:
        async for _, member in self.groups():
            yield member

    async def arrays(self, recurse: bool = False) -> AsyncGenerator[tuple[str, AsyncArray[Any]], None]:
        for record in await self._run(members_steps(self._handle, None if recurse else 0)):
            if not record.is_group:
                yield record.name.rpartition("/")[2], self._wrap(record)  # type: ignore[misc]

    async def array_keys(self, recurse: bool = False) -> AsyncGenerator[str, None]:
        async for name, _ in self.arrays(recurse):
            yield name

    async def array_values(self) -> AsyncGenerator[AsyncArray[Any], None]:
        async for _, member in self.arrays():
            yield member

    # -------------------------------------------------------------------------------------------- changes

    async def setitem(self, key: str, value: Any) -> None:
        await self._run(operations.set_steps(self._handle, key, value))

    delitem = awaited(HasMembers.__delitem__, "AsyncGroup")
    move = awaited(HasMembers.move, "AsyncGroup")

    async def update_attributes(self, new_attributes: dict[str, Any]) -> AsyncGroup:
        await self._run(operations.update_attributes_steps(self._handle, new_attributes))
        return self

    async def create_group(
        self, name: str, *, overwrite: bool = False, attributes: dict[str, Any] | None = None
    ) -> AsyncGroup:
        return self._wrap(  # type: ignore[return-value]
            await self._run(operations.create_group_steps(self._handle, name, overwrite, attributes))
        )

    async def require_group(self, name: str, overwrite: bool = False) -> AsyncGroup:
        return self._wrap(await self._run(operations.require_group_steps(self._handle, name, overwrite)))  # type: ignore[return-value]

    async def create_groups(self, *names: str, overwrite: bool = False) -> tuple[AsyncGroup, ...]:
        records = await self._run(operations.create_groups_steps(self._handle, names, overwrite))
        return tuple(self._wrap(record) for record in records)  # type: ignore[misc]

    async def require_groups(self, *names: str) -> tuple[AsyncGroup, ...]:
        records = await self._run(operations.require_groups_steps(self._handle, names))
        return tuple(self._wrap(record) for record in records)  # type: ignore[misc]

    async def create_hierarchy(
        self, nodes: Nodes, *, overwrite: bool = False
    ) -> AsyncIterator[tuple[str, AsyncGroup | AsyncArray[Any]]]:
        for record in await self._run(member_hierarchy_steps(self._handle, nodes, overwrite)):
            yield record.name, self._wrap(record)

    @takes(CreateMember, CREATE_ARRAY, without=("zarr_format",))
    async def create_array(self, name: str, **parameters: Unpack[CreateMember]) -> AsyncArray[Any]:
        return await self._make(operations.create_member_steps(self._handle, name, parameters))

    async def require_array(
        self,
        name: str,
        *,
        shape: ShapeLike,
        dtype: ZDTypeLike | None = None,
        exact: bool = False,
        config: ArrayConfigLike | None = None,
        **kwargs: Any,
    ) -> AsyncArray[Any]:
        parameters = with_one_compressor(dict(kwargs), self._handle.metadata.zarr_format)
        return await self._make(
            operations.require_array_steps(self._handle, name, shape, dtype, exact, config=config, **parameters)
        )

    async def empty(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, shape=shape, **kwargs))

    async def zeros(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, shape=shape, **FILLS["zeros"], **kwargs))

    async def ones(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, shape=shape, **FILLS["ones"], **kwargs))

    async def full(
        self, *, name: str, shape: tuple[int, ...], fill_value: Any | None, **kwargs: Any
    ) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, shape=shape, fill_value=fill_value, **kwargs))

    async def empty_like(self, *, name: str, data: Any, **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, "empty", data, **kwargs))

    async def zeros_like(self, *, name: str, data: Any, **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, "zeros", data, **kwargs))

    async def ones_like(self, *, name: str, data: Any, **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, "ones", data, **kwargs))

    async def full_like(self, *, name: str, data: Any, **kwargs: Any) -> AsyncArray[Any]:
        return await self._make(operations.like_steps(self._handle, name, "full", data, **kwargs))

    async def _make(self, steps: Steps[ArrayHandle]) -> AsyncArray[Any]:
        return joined(self._handle, AsyncArray.from_handle(await self._run(steps)))


_OWN_GETITEM = AsyncGroup.getitem


def _replaced_lookup(handle: GroupHandle) -> Lookup | None:
    if AsyncGroup.getitem is _OWN_GETITEM:
        return None
    return AsyncGroup.from_handle(handle).getitem


Lookups.replaced = staticmethod(_replaced_lookup)


AsynchronousGroup.register(AsyncGroup)


def opened_face(store: Any, path: str | None = None, read_only: bool = False, **older: Any) -> AsyncGroup:
    """Return the asynchronous face of the group in a store, by the parameters of ``Group`` in zarr-python 2.

    Raises
    ------
    GroupNotFoundError
        If there is no group.
    TypeError
        If the value is no store, or there is no such parameter.
    """
    unknown = older.keys() - {"chunk_store", "cache_attrs", "synchronizer", "zarr_version", "meta_array"}
    if unknown:
        raise TypeError(f"Group() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    place = resolve_opened(store, path, read_only, older.get("chunk_store"))
    handle = runner_for(place.store).run(open_group_steps(place, older.get("zarr_version")))
    handle.config = with_synchronizer(handle.config, older.get("synchronizer"))
    return AsyncGroup.from_handle(handle)
