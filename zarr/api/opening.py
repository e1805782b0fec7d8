"""Open stored nodes, and create groups and hierarchies. The operations stand in ``operations.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from zarr import older_calls
from zarr.abc.store import Store
from zarr.api import operations
from zarr.api.operations import ArrayLike, PathLike
from zarr.arrays.array import Array
from zarr.chunks.spec import ArrayConfigLike
from zarr.groups.handle import Nodes
from zarr.types import JSON, AccessModeLiteral, ZarrFormat

if TYPE_CHECKING:
    from zarr.groups.group import Group
    from zarr.storage.resolve import StoreLike

__all__ = [
    "consolidate_metadata", "create_group", "create_hierarchy", "group", "open", "open_array", "open_consolidated",
    "open_group", "open_like",
]


@older_calls.without_positions
def open(
    store: StoreLike | None = None,
    *in_order: Any,
    mode: AccessModeLiteral | None = None,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> Array[Any] | Group:
    """Open an array or a group; create it if the mode allows that and nothing is there.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    mode : {"r", "r+", "a", "w", "w-"}
        "r" opens a node for reading only. "r+" opens it for reading and writing. "a" does the same, and creates the
        node if there is none. "w" deletes what is there and creates a new node. "w-" creates a new node, and raises
        an error if anything is there. The default is "a", or "r" for a store that is read-only.
    zarr_format : 2, 3 or None
        The format of the node. With None, the default, a node of either format is opened, and a new node gets the
        format of the setting ``default_zarr_format``, which is 3.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    config : ArrayConfig or dict, optional
        Run-time behaviour of the array, which is not stored; see :func:`zarr.create_array`. By default the settings
        ``array.*`` of :data:`zarr.config`.
    **kwargs
        Parameters of a new array, as for :func:`zarr.create`. A new node is an array if ``shape`` is given, else a
        group. They change nothing of an array that is there.

    Returns
    -------
    Array or Group

    Raises
    ------
    FileNotFoundError
        If there is no node and the mode is "r" or "r+".
    FileExistsError
        If the mode is "w-" and something is there.
    ValueError
        If the mode or the format is unknown, or a metadata document is damaged.
    ReadOnlyError
        If the store is read-only and the mode needs to write.

    Examples
    --------
    >>> import zarr
    >>> zarr.open({}, mode="w", shape=3, dtype="int8").shape
    (3,)
    >>> zarr.open({}).path
    ''
    """
    if in_order:
        said = {"mode": mode, "zarr_format": zarr_format, "path": path, "storage_options": storage_options, **kwargs}
        return open(store, **older_calls.named("open", ("mode",), in_order, {**said, "config": config}))
    return operations.run_node(operations.open_call(store, mode, zarr_format, path, storage_options, config, **kwargs))


@older_calls.without_positions
def open_array(
    store: StoreLike | None = None,
    *in_order: Any,
    zarr_format: ZarrFormat | None = None,
    path: PathLike = "",
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> Array[Any]:
    """Open an array; create it if the mode allows that.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    zarr_format : 2, 3 or None
        The format of the node. With None, the default, a node of either format is opened, and a new node gets the
        format of the setting ``default_zarr_format``, which is 3.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    config : ArrayConfig or dict, optional
        Run-time behaviour of the array, which is not stored; see :func:`zarr.create_array`. By default the settings
        ``array.*`` of :data:`zarr.config`.
    **kwargs
        ``mode`` (see :func:`zarr.open`; by default only an existing array is opened), and the parameters of
        :func:`zarr.create` for a new array.

    Returns
    -------
    Array

    Raises
    ------
    FileNotFoundError
        If there is no array and the mode does not create one.
    FileExistsError
        If the mode is "w-" and something is there.

    Examples
    --------
    >>> import zarr
    >>> store = {}
    >>> zarr.open_array(store, mode="w", shape=3, dtype="int8")[:]
    array([0, 0, 0], dtype=int8)
    >>> zarr.open_array(store, mode="r").shape
    (3,)
    """
    if in_order:
        said = {"zarr_format": zarr_format, "path": path or None, "storage_options": storage_options, **kwargs}
        said["config"] = config
        return open_array(store, **older_calls.named("open_array", older_calls.IN_ORDER_OF_OPEN_ARRAY, in_order, said))
    return operations.run_array(operations.open_array_call(store, zarr_format, path, storage_options, config, **kwargs))


@older_calls.also_in_order(
    "mode", "cache_attrs", "synchronizer", "path", "chunk_store", "storage_options", zarr_version="zarr_format"
)
def open_group(
    store: StoreLike | None = None,
    *,
    mode: AccessModeLiteral = "a",
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: StoreLike | None = None,
    storage_options: dict[str, Any] | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    use_consolidated: bool | str | None = None,
) -> Group:
    """Open a group; create it if the mode allows that and nothing is there.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    mode : {"r", "r+", "a", "w", "w-"}
        "r" opens a group for reading only. "r+" opens it for reading and writing. "a", the default, does the same,
        and creates the group if there is none. "w" deletes what is there and creates a new group. "w-" creates a new
        group, and raises an error if anything is there.
    synchronizer : ThreadSynchronizer or ProcessSynchronizer, optional
        Locks that partial writes to the arrays below, and changes of attributes, acquire. By default those that the
        setting ``array.locking`` chooses.
    chunk_store : StoreLike, optional
        A second store, in which all values but metadata documents are, at the same paths. By default they are in
        ``store``.
    cache_attrs, meta_array
        Have no effect; kept for code written for zarr-python 2.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.
    zarr_format : 2, 3 or None
        The format of the node. With None, the default, a node of either format is opened, and a new node gets the
        format of the setting ``default_zarr_format``, which is 3.
    attributes : dict, optional
        Attributes of a new group. They change nothing of a group that is there. By default there are none.
    use_consolidated : bool, str or None
        If True, use consolidated metadata, the copy of all documents below the group. None, the default, uses it if
        there is one. True raises an error if there is none. False ignores it. In format 2 a string is the name of its
        document, which is ".zmetadata" by default.

    Returns
    -------
    Group

    Raises
    ------
    FileNotFoundError
        If there is no group and the mode is "r" or "r+".
    FileExistsError
        If the mode is "w-" and something is there.
    ContainsArrayError
        If an array is there.
    ValueError
        If ``use_consolidated`` is True and there is no consolidated metadata; if the mode or the format is unknown.
    ReadOnlyError
        If the store is read-only and the mode needs to write.

    Examples
    --------
    >>> import zarr
    >>> zarr.open_group({}, mode="w", attributes={"a": 1}).attrs["a"]
    1
    """
    older: dict[str, Any] = {"cache_attrs": cache_attrs, "chunk_store": chunk_store, "meta_array": meta_array}
    how = (mode, path, storage_options, zarr_format, attributes, use_consolidated, synchronizer)
    return operations.run_group(operations.open_group_call(store, *how, **older))


def open_consolidated(*args: Any, use_consolidated: Literal[True] = True, **kwargs: Any) -> Group:
    """Open a group by its consolidated metadata.

    Parameters
    ----------
    *args, **kwargs
        See :func:`zarr.open_group`. As in zarr-python 2, ``metadata_key`` and ``mode`` may follow the store.
    use_consolidated : True
        No other value is allowed.

    Returns
    -------
    Group

    Raises
    ------
    ValueError
        If there is no consolidated metadata.
    TypeError
        If ``use_consolidated`` is not True.

    Examples
    --------
    >>> import zarr
    >>> store = {}
    >>> made = zarr.consolidate_metadata(zarr.group(store, zarr_format=2).store)
    >>> list(zarr.open_consolidated(store))
    []
    """
    operations.check_consolidated(use_consolidated)
    if len(args) > 1 or "metadata_key" in kwargs:
        args, kwargs, use_consolidated = older_calls.key_of_copy(args, kwargs)
    return open_group(*args, use_consolidated=use_consolidated, **kwargs)


def open_like(a: ArrayLike, path: str, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array[Any]:
    """Open an array; if there is none, create it like another one.

    Parameters
    ----------
    a : Array or array-like
        The model.
    path : str
        A path or URL, or a store.
    zarr_format : 2, 3 or None
        The format: 2 or 3. Default: that of the source.
    **kwargs
        See :func:`zarr.open_array`; ``store`` among them.

    Returns
    -------
    Array

    Examples
    --------
    >>> import zarr
    >>> zarr.open_like(zarr.ones((2,)), "x").shape
    (2,)
    """
    return operations.run_array(operations.open_like_call(a, path, zarr_format, **kwargs))


@older_calls.also_in_order(
    "overwrite", "chunk_store", "cache_attrs", "synchronizer", "path", zarr_version="zarr_format"
)
def group(
    store: StoreLike | None = None,
    *,
    overwrite: bool = False,
    chunk_store: StoreLike | None = None,
    cache_attrs: bool | None = None,
    synchronizer: Any | None = None,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any | None = None,
    attributes: dict[str, JSON] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Open a group; create it if there is none.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    overwrite : bool
        If True, create the group in any case, and delete first the node that is at its place.
    synchronizer : ThreadSynchronizer or ProcessSynchronizer, optional
        Locks that partial writes to the arrays below, and changes of attributes, acquire. By default those that the
        setting ``array.locking`` chooses.
    chunk_store : StoreLike, optional
        A second store, in which all values but metadata documents are, at the same paths. By default they are in
        ``store``.
    cache_attrs, meta_array
        Have no effect; kept for code written for zarr-python 2.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    zarr_format : 2, 3 or None
        The format of the node. With None, the default, a node of either format is opened, and a new node gets the
        format of the setting ``default_zarr_format``, which is 3.
    attributes : dict, optional
        Attributes of a new group. They change nothing of a group that is there. By default there are none.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.

    Returns
    -------
    Group

    Raises
    ------
    ContainsArrayError
        If there is an array.

    Examples
    --------
    >>> import zarr
    >>> zarr.group().path
    ''
    """
    older: dict[str, Any] = {"cache_attrs": cache_attrs, "chunk_store": chunk_store, "meta_array": meta_array}
    how = (overwrite, path, zarr_format, attributes, storage_options)
    return operations.run_group(operations.group_call(store, *how, synchronizer=synchronizer, **older))


def create_group(
    store: StoreLike,
    *,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    overwrite: bool = False,
    attributes: dict[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Create a group.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    zarr_format : 2, 3 or None
        The format to write. None, the default, takes the setting ``default_zarr_format``, which is 3.
    overwrite : bool
        If True, delete first the node that is at the place of the new one.
    attributes : dict, optional
        The attributes: JSON values. Default: none.
    storage_options : dict, optional
        Options of fsspec for a store that is given as a URL. By default there are none.

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
    >>> zarr.create_group({}, path="a", attributes={"b": 1}).attrs.asdict()
    {'b': 1}
    """
    how = (path, zarr_format, overwrite, attributes, storage_options)
    return operations.run_group(operations.create_group_call(store, *how))


@older_calls.without_metadata_key
@older_calls.also_in_order(zarr_version="zarr_format")
def consolidate_metadata(store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Group:
    """Store consolidated metadata with a group: copies of all documents below it, so that one read opens them all.

    After that every change through this library keeps them up to date.

    Parameters
    ----------
    store : StoreLike
        A path, a URL, a store or a mapping. None makes a new store in memory.
    path : str, optional
        Path of the node below the place that ``store`` names. By default that place itself.
    zarr_format : 2, 3 or None
        The format of the group. None, the default, accepts both.

    Returns
    -------
    Group

    Raises
    ------
    FileNotFoundError
        If there is no group.
    ContainsArrayError
        If there is an array.
    TypeError
        If the store does not allow consolidated metadata.

    Examples
    --------
    >>> import zarr
    >>> store = {}
    >>> made = zarr.group(store).create_array("x", shape=3, dtype="int8")
    >>> list(zarr.consolidate_metadata(store, zarr_format=3))
    ['x']
    """
    return operations.run_group(operations.consolidate_call(store, path, zarr_format))


def create_hierarchy(
    *, store: Store, nodes: Nodes, overwrite: bool = False
) -> Iterator[tuple[str, Group | Array[Any]]]:
    """Create many nodes at once, with the groups that they need above them.

    Parameters
    ----------
    store : Store
        A path, a URL, a store or a mapping.
    nodes : dict of path to metadata
        The metadata of each node, by its path.
    overwrite : bool
        If True, delete first the nodes that are at these places, with all below them.

    Returns
    -------
    iterator of (path, Array or Group)
        The new nodes, parents first.

    Raises
    ------
    ValueError
        If the nodes form no hierarchy.
    ContainsGroupError, ContainsArrayError
        If a node is there and ``overwrite`` is False; nothing is created then.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group()
    >>> made = zarr.create_hierarchy(store=zarr.storage.MemoryStore(), nodes={"a/b": root.metadata})
    >>> [path for path, node in made]
    ['', 'a', 'a/b']
    """
    return iter(operations.as_members(operations.run(operations.hierarchy_call(store, nodes, overwrite))))
