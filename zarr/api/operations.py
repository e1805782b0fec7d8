"""The operations of the API: the store that each works on, and its steps.

The synchronous and the asynchronous functions make the same calls; they differ in the runner of the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

import numpy as np

from zarr import errors
from zarr._lazy import LazyModule, instance_of
from zarr.abc.store import Store
from zarr.arrays.array import Array
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.methods.properties import ArrayFace
from zarr.chunks.spec import config_with, parse_array_config
from zarr.groups.handle import GroupHandle, NodeRecord, Nodes
from zarr.runners.choose import runner_for
from zarr.steps.consolidated import settle
from zarr.steps.documents import wanted_names
from zarr.steps.nodes import check_mode_steps, opening_steps, read_array_steps, read_node_steps
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath
from zarr.storage.resolve import mode_over, resolve_store_path
from zarr.types import AccessModeLiteral, ZarrFormat

if TYPE_CHECKING:
    from zarr import dtype as _dtype
    from zarr.arrays.create import like as copying
    from zarr.arrays.create import parameters as record
    from zarr.arrays.create import steps as create
    from zarr.arrays.create import version2 as _creation
    from zarr.groups import group as _group
    from zarr.groups import hierarchy, members, opening, operations
    from zarr.groups.group import Group
    from zarr.runners.locks import synchronizers
    from zarr.steps import layouts
    from zarr.storage import url
    from zarr.storage.resolve import StoreLike
else:
    copying, record = LazyModule("zarr.arrays.create.like"), LazyModule("zarr.arrays.create.parameters")
    create, _dtype = LazyModule("zarr.arrays.create.steps"), LazyModule("zarr.dtype")
    members, _creation = LazyModule("zarr.groups.members"), LazyModule("zarr.arrays.create.version2")
    hierarchy, opening = LazyModule("zarr.groups.hierarchy"), LazyModule("zarr.groups.opening")
    operations, synchronizers = LazyModule("zarr.groups.operations"), LazyModule("zarr.runners.locks.synchronizers")
    layouts, url = LazyModule("zarr.steps.layouts"), LazyModule("zarr.storage.url")
    _group = LazyModule("zarr.groups.group")

ArrayLike: TypeAlias = Any
PathLike: TypeAlias = str
CREATING: Final = ("a", "w", "w-")
OLDER_MODES: Final[dict[Any, Any]] = {"x": "w-", "w+": "r+"}
"""Modes of zarr-python 2 and their present names; "w+" opened an existing node to read and write it."""

T = TypeVar("T")
Handle: TypeAlias = "ArrayHandle | GroupHandle"


class Call(Generic[T]):
    """Steps, and the store over which they run."""

    __slots__ = ("steps", "store")

    def __init__(self, store: Store, steps: Steps[T]) -> None:
        self.store = store
        self.steps = steps


# ------------------------------------------------------------------------------------------------ running


def run(call: Call[T]) -> T:
    """Run the steps of a call in this thread."""
    return runner_for(call.store).run(call.steps)


def run_array(call: Call[ArrayHandle]) -> Array[Any]:
    """Run a call that gives an array; the array keeps the runner, so that no second one is needed."""
    runner = runner_for(call.store)
    handle = runner.run(call.steps)
    handle.use_runner(runner)
    return Array.from_handle(handle)


def run_group(call: Call[GroupHandle]) -> Group:
    """Run a call that gives a group."""
    return _group.Group.from_handle(run(call))


def run_node(call: Call[Handle]) -> Array[Any] | Group:
    """Run a call that gives an array or a group."""
    runner = runner_for(call.store)
    handle = runner.run(call.steps)
    if isinstance(handle, GroupHandle):
        return _group.Group.from_handle(handle)
    handle.use_runner(runner)
    return Array.from_handle(handle)


def as_members(records: list[NodeRecord]) -> list[tuple[str, Array[Any] | Group]]:
    """Return the synchronous faces of nodes, with their paths."""
    return [(record.name, _group.wrap(record)) for record in records]


# ----------------------------------------------------------------------------------------------- checking


def loading_mode(store: Any) -> AccessModeLiteral:
    """Return the mode of loading: an existing store is used as it is, without a read-only copy."""
    writable = instance_of(store, "zarr.abc.stores.async_store", "Store") and not store.read_only
    return "r+" if writable else "r"


def format_of(given: dict[str, Any], zarr_format: ZarrFormat | None) -> ZarrFormat | None:
    """Accept the old name ``zarr_version`` for ``zarr_format``.

    Raises
    ------
    ValueError
        If both are given and differ.
    """
    version = given.pop("zarr_version", None)
    if version is None:
        return zarr_format
    if zarr_format is not None and zarr_format != version:
        raise ValueError(f"zarr_format={zarr_format} and zarr_version={version} contradict each other; give only one")
    wanted: ZarrFormat = version
    return wanted


# ------------------------------------------------------------------------------------------------- groups


def open_group_call(
    store: StoreLike | None,
    mode: AccessModeLiteral | None = "a",
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    zarr_format: ZarrFormat | None = None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
    synchronizer: Any = None,
    chunk_store: StoreLike | None = None,
    **without_effect: Any,
) -> Call[GroupHandle]:
    """Open a group; the mode decides if a missing one is created."""
    if without_effect:
        _creation.warn_without_effect(without_effect)
    mode = OLDER_MODES.get(mode, mode)
    if mode == "a" and not attributes:
        mode = mode_over(mode, store, chunk_store)
    config = None if synchronizer is None else synchronizers.with_synchronizer(None, synchronizer)
    if type(store) is str and "|" in store:
        zarr_format = url.format_of_url(store, zarr_format)
    place = resolve_store_path(store, path=path, mode=mode, storage_options=storage_options, chunk_store=chunk_store)

    def steps(place: StorePath) -> Steps[GroupHandle]:
        yield from check_mode_steps(place, mode, store)
        how = (zarr_format, attributes, use_consolidated, config)
        made = yield from opening_steps(place, _open_group_steps, mode, *how)
        made.config = config
        return made

    return Call(place.store, steps(place))


def _open_group_steps(
    place: StorePath,
    mode: AccessModeLiteral | None,
    zarr_format: ZarrFormat | None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
    config: Mapping[str, Any] | None = None,
) -> Steps[GroupHandle]:
    wanted_names(zarr_format, ())  # refuses unknown formats
    if mode != "w":
        try:
            return (yield from opening.open_group_steps(place, zarr_format, use_consolidated))
        except (errors.GroupNotFoundError, errors.MetadataValidationError) as error:
            translated = yield from _translated_steps(place, mode, zarr_format, error, errors.GroupNotFoundError)
            if translated is not None:
                if isinstance(translated, ArrayHandle):
                    raise errors.ContainsArrayError(place.store, place.path) from None
                return translated
            if mode not in CREATING:
                raise (yield from opening.explained_steps(place, error)) from error.__cause__
    zarr_format = zarr_format or create.default_zarr_format(place.store)
    return (yield from operations.new_group_steps(place, zarr_format, attributes, mode == "w", config))


def _handle_of(place: StorePath, metadata: Any, config: Any = None) -> Handle:
    if instance_of(metadata, "zarr.metadata.group", "GroupMetadata"):
        return GroupHandle(metadata, place)
    return ArrayHandle(place, metadata, parse_array_config(config))


def _translated_steps(
    place: StorePath,
    mode: AccessModeLiteral | None,
    zarr_format: ZarrFormat | None,
    error: Exception,
    kind: type[errors.NodeNotFoundError],
) -> Steps[Handle | None]:
    """Return a node of another layout, if none was found and no format was given; such a node can only be read."""
    wanted = zarr_format is None and mode != "w-"
    found = (yield from layouts.translated_steps(place, kind)) if wanted else None
    if found is not None:
        return _handle_of(*found)
    if not isinstance(error, errors.NodeNotFoundError) or isinstance(error, errors.MetadataValidationError):
        raise error
    return None


def create_group_call(
    store: StoreLike,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Call[GroupHandle]:
    """Create a group; with ``overwrite``, delete first the node that is at its place."""
    place = resolve_store_path(store, path=path, mode="w" if overwrite else "a", storage_options=storage_options)

    def steps(place: StorePath) -> Steps[GroupHandle]:
        wanted = zarr_format or create.default_zarr_format(place.store)
        return (yield from operations.new_group_steps(place, wanted, attributes, overwrite))

    return Call(place.store, steps(place))


def group_call(
    store: StoreLike | None = None,
    overwrite: bool = False,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
    **older: Any,
) -> Call[GroupHandle]:
    """Open a group; create it if there is none, or anew with ``overwrite``. A read-only store is only read."""
    to_read = not overwrite and not attributes and getattr(store, "read_only", False)
    mode: AccessModeLiteral = "w" if overwrite else "r" if to_read else "a"
    return open_group_call(store, mode, path, storage_options, zarr_format, attributes, **older)


def check_consolidated(use_consolidated: object) -> None:
    """Refuse ``open_consolidated`` with any value of ``use_consolidated`` but True."""
    if use_consolidated is not True:
        raise TypeError(
            "'use_consolidated' must be 'True' in 'open_consolidated'. Use 'open' with 'use_consolidated=False' to "
            "bypass consolidated metadata."
        )


def consolidate_call(
    store: StoreLike, path: str | None = None, zarr_format: ZarrFormat | None = None
) -> Call[GroupHandle]:
    """Store consolidated metadata with a group."""
    place = resolve_store_path(store, path=path)
    return Call(place.store, members.consolidate_steps(place, zarr_format))


def hierarchy_call(store: Store, nodes: Nodes, overwrite: bool = False) -> Call[list[NodeRecord]]:
    """Create many nodes at once."""
    place = resolve_store_path(store)
    return Call(place.store, hierarchy.create_hierarchy_steps(place, nodes, overwrite))


# ------------------------------------------------------------------------------------------------- arrays


def create_array_call(
    store: StoreLike,
    name: str | None = None,
    storage_options: dict[str, Any] | None = None,
    data: Any = None,
    **parameters: Any,
) -> Call[ArrayHandle]:
    """Create an array; if the data are a zarr array, copy it."""
    if not parameters.keys() <= record.CREATE_ARRAY.keys():
        record.refuse_unknown("create_array", parameters, record.CREATE_ARRAY)
    place = resolve_store_path(store, path=name, mode="a", storage_options=storage_options)
    return Call(place.store, copying.create_or_copy_steps(place, data=data, **parameters))


def from_array_call(
    store: StoreLike,
    name: str | None = None,
    storage_options: dict[str, Any] | None = None,
    *,
    data: Any,
    **parameters: Any,
) -> Call[ArrayHandle]:
    """Create an array from another one."""
    if not parameters.keys() <= copying.PARAMETERS_OF_COPIES:
        record.refuse_unknown("from_array", parameters, copying.PARAMETERS_OF_COPIES)
    place = resolve_store_path(store, path=name, mode="a", storage_options=storage_options)
    return Call(place.store, copying.from_array_steps(place, data=data, **parameters))


def open_array_call(
    store: StoreLike | None,
    zarr_format: ZarrFormat | None = None,
    path: str | None = "",
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
    **kwargs: Any,
) -> Call[ArrayHandle]:
    """Open an array; the mode among the keyword arguments decides if a missing one is created."""
    zarr_format = format_of(kwargs, zarr_format)
    if type(store) is str and "|" in store:
        zarr_format = url.format_of_url(store, zarr_format)
    mode = kwargs.pop("mode", None)
    mode = OLDER_MODES.get(mode, mode)
    chunks = kwargs.pop("chunk_store", None)
    place = resolve_store_path(store, path=path, mode=mode, storage_options=storage_options, chunk_store=chunks)
    if mode == "w-":
        return Call(place.store, _checked_steps(place, mode, store, zarr_format, config, kwargs))
    return Call(place.store, opening_steps(place, _open_array_steps, mode, zarr_format, config, kwargs))


def _checked_steps(place: StorePath, mode: AccessModeLiteral, store: object, *how: Any) -> Steps[ArrayHandle]:
    yield from check_mode_steps(place, mode, store)
    return (yield from _open_array_steps(place, mode, *how))


def _open_array_steps(
    place: StorePath,
    mode: AccessModeLiteral | None,
    zarr_format: ZarrFormat | None,
    config: Any,
    creation: dict[str, Any],
) -> Steps[ArrayHandle]:
    wanted_names(zarr_format, ())  # refuses unknown formats
    if mode != "w":
        try:
            metadata = yield from read_array_steps(place, zarr_format)
        except (errors.NodeNotFoundError, errors.MetadataValidationError) as error:
            translated = yield from _translated_steps(place, mode, zarr_format, error, errors.ArrayNotFoundError)
            if translated is not None:
                if isinstance(translated, GroupHandle):
                    raise errors.ContainsGroupError(place.store, place.path) from None
                return translated.with_config(parse_array_config(_config_of(config, creation)))
            if mode not in CREATING:
                raise (yield from opening.missing_steps(place, errors.ArrayNotFoundError)) from None
        else:
            config = _config_of(config, creation) if creation else config
            return ArrayHandle(place, metadata, parse_array_config(config))
    if "shape" not in creation and creation.get("data") is None:
        raise TypeError(
            f"there is no array to open at {place} (mode {mode!r}), and none can be made without a shape: "
            "missing the argument 'shape'"
        )
    parameters = {"shape": None, **creation, "overwrite": mode == "w" or creation.get("overwrite", False)}
    return (yield from _creation.legacy_array_steps(place, zarr_format=zarr_format, config=config, **parameters))


def _config_of(config: Any, creation: Mapping[str, Any], *, as_array: bool = True) -> Any:
    """Return the configuration of an existing array, with the old parameters that still count for it.

    As in zarr-python, parameters that only say how an array is held in memory are ignored, and ``write_empty_chunks``
    is deprecated if an array was opened.
    """
    if not creation:
        return config
    if synchronizers.is_known(creation.get("synchronizer")):
        config = synchronizers.with_synchronizer(config, creation["synchronizer"])
    write_empty = creation.get("write_empty_chunks")
    if as_array:
        return _creation.config_of(config, write_empty)
    return config if write_empty is None else config_with(config, write_empty_chunks=write_empty)


def create_call(
    shape: Any,
    store: StoreLike | None = None,
    path: str | None = None,
    mode: AccessModeLiteral | None = None,
    overwrite: bool = False,
    storage_options: dict[str, Any] | None = None,
    chunk_store: StoreLike | None = None,
    **parameters: Any,
) -> Call[ArrayHandle]:
    """Create an array by the parameters of ``zarr.create``."""
    parameters["zarr_format"] = format_of(parameters, parameters.get("zarr_format"))
    place = resolve_store_path(store, path=path, mode=mode, storage_options=storage_options, chunk_store=chunk_store)

    def steps(place: StorePath) -> Steps[ArrayHandle]:
        yield from check_mode_steps(place, mode, store)
        again = overwrite or mode == "w"
        return (yield from _creation.legacy_array_steps(place, shape, overwrite=again, **parameters))

    return Call(place.store, steps(place))


def array_call(data: Any, **kwargs: Any) -> Call[ArrayHandle]:
    """Create an array from data."""
    if kwargs.pop("read_only", False):
        raise ValueError("read_only=True is no longer supported when creating new arrays")
    if isinstance(data, ArrayFace):
        if kwargs.get("zarr_format") is None:
            kwargs.pop("zarr_format", None)
        if kwargs.keys() <= copying.PARAMETERS_OF_COPIES:
            return from_array_call(kwargs.pop("store", None), data=data, **kwargs)
        kwargs = {"attributes": dict(data.metadata.attributes), **_creation.like_parameters(data, kwargs)}
        data = elements_of(data)
    if not hasattr(data, "shape") or not hasattr(data, "dtype"):
        data = np.asanyarray(data)
    if kwargs.get("chunks") is None and kwargs.get("chunk_shape") is None and not isinstance(data, np.ndarray):
        kwargs["chunks"] = _creation.chunks_of(data)
    dtype = kwargs.pop("dtype", None)
    kwargs.pop("shape", None)
    return create_call(data.shape, dtype=data.dtype if dtype is None else dtype, data=data, **kwargs)


def like_call(fill: str, model: Any, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Call[ArrayHandle]:
    """Create an array like another one, filled by a name of ``FILLS`` or by "full"."""
    zarr_format = format_of(kwargs, zarr_format)
    given = kwargs if zarr_format is None else {**kwargs, "zarr_format": zarr_format}
    return create_call(**_creation.filled_like(fill, model, given))


def open_like_call(model: Any, path: str, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Call[ArrayHandle]:
    """Open an array; if there is none, create it like another one."""
    zarr_format = format_of(kwargs, zarr_format)
    wanted = zarr_format or create.default_zarr_format()
    parameters = _creation.like_parameters(model, {**kwargs, "zarr_format": wanted})
    if zarr_format is None:
        parameters.pop("zarr_format", None)  # from the existing array, or from the configuration
    parameters["mode"] = parameters.get("mode") or "a"
    return open_array_call(parameters.pop("store", None), path=path, **parameters)


# ------------------------------------------------------------------------------------------------ either


def open_call(
    store: StoreLike | None,
    mode: AccessModeLiteral | None = None,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
    **kwargs: Any,
) -> Call[Handle]:
    """Open the node at a place; where there is none, the mode and the shape decide which kind is created."""
    mode = OLDER_MODES.get(mode, mode)
    zarr_format = format_of(kwargs, zarr_format)
    if type(store) is str and "|" in store:
        zarr_format = url.format_of_url(store, zarr_format)
    chunks = kwargs.pop("chunk_store", None)
    place = resolve_store_path(store, path=path, mode=mode, storage_options=storage_options, chunk_store=chunks)
    if mode is None:
        mode = "r" if place.store.read_only else "a"

    def steps(place: StorePath) -> Steps[Handle]:
        yield from check_mode_steps(place, mode, store)
        return (yield from opening_steps(place, _open_steps, mode, zarr_format, config, kwargs))

    return Call(place.store, steps(place))


GROUP_ONLY = ("use_consolidated", "attributes")
OF_EITHER = ("cache_attrs", "synchronizer", "meta_array")


def _open_steps(
    place: StorePath,
    mode: AccessModeLiteral,
    zarr_format: ZarrFormat | None,
    config: Any,
    given: dict[str, Any],
) -> Steps[Handle]:
    wanted_names(zarr_format, ())  # refuses unknown formats
    array_wanted = "shape" in given or given.get("data") is not None
    if mode != "w":
        try:
            settle(place.store)
            metadata = yield from read_node_steps(place, zarr_format)
        except (errors.NodeNotFoundError, errors.MetadataValidationError) as error:
            translated = yield from _translated_steps(place, mode, zarr_format, error, errors.GroupNotFoundError)
            if translated is not None:
                if isinstance(translated, GroupHandle):
                    return translated
                return translated.with_config(parse_array_config(config))
            if mode not in CREATING:
                wanted = errors.ArrayNotFoundError if array_wanted else errors.GroupNotFoundError
                raise (yield from opening.missing_steps(place, wanted)) from None
        else:
            if not instance_of(metadata, "zarr.metadata.group", "GroupMetadata"):
                return _handle_of(place, metadata, _config_of(config, given, as_array=array_wanted))
            array_wanted = False
    if array_wanted:
        creation = {name: value for name, value in given.items() if name != "use_consolidated"}
        return (yield from _open_array_steps(place, mode, zarr_format, config, creation))
    unknown = [name for name in given if name not in (*GROUP_ONLY, *OF_EITHER)]
    if unknown:
        raise TypeError(f"open_group() got an unexpected keyword argument {unknown[0]!r}")
    if config is not None:
        raise TypeError(f"config is the configuration of an array, but {place} resolves to a group: leave config out")
    if given:
        _creation.warn_without_effect(given)
    chosen = {name: given[name] for name in GROUP_ONLY if name in given}
    opened = yield from _open_group_steps(place, mode, zarr_format, **chosen)
    if given.get("synchronizer") is not None:
        opened.config = synchronizers.with_synchronizer(None, given["synchronizer"])
    return opened


# ------------------------------------------------------------------------------------------------ saving


def elements_of(data: Any) -> Any:
    """Return the elements of a zarr array; anything else as it is."""
    return data[...] if isinstance(data, Array) else data


def check_saved(arrays: Iterable[Any]) -> None:
    """Refuse values that cannot be saved.

    Raises
    ------
    TypeError
        If one of them is no array.
    """
    for data in arrays:
        if not (hasattr(data, "shape") and hasattr(data, "dtype") and hasattr(data, "__getitem__")):
            raise TypeError("arr argument must be numpy or other NDArrayLike array")


def save_call(
    store: StoreLike,
    arrays: Mapping[str, Any],
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> Call[None]:
    """Store arrays by their paths below a place; more than one path, or a named one, creates a group."""
    zarr_format = format_of(kwargs, zarr_format)
    check_saved(arrays.values())
    mode = kwargs.pop("mode", "a")
    place = resolve_store_path(store, path=path, mode=mode, storage_options=storage_options)
    arrays = {name: elements_of(data) for name, data in arrays.items()}
    for data in arrays.values():  # before anything is replaced
        _dtype.parse_dtype(data.dtype, zarr_format=zarr_format or create.default_zarr_format(place.store))

    def steps(place: StorePath) -> Steps[None]:
        yield from check_mode_steps(place, mode, store)
        if "" not in arrays:
            yield from _open_group_steps(place, mode, zarr_format)
        for name, data in arrays.items():
            parameters = {"dtype": data.dtype, **kwargs, "overwrite": mode == "w" or kwargs.get("overwrite", False)}
            parameters["zarr_format"] = zarr_format
            below = place / name if name else place
            yield from _creation.legacy_array_steps(below, data.shape, data=data, **parameters)

    return Call(place.store, steps(place))


def save_many_call(
    store: StoreLike,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    zarr_format: ZarrFormat | None,
    path: str | None,
    storage_options: dict[str, Any] | None,
    *,
    as_group: bool = False,
) -> Call[None]:
    """Store one array without a name as an array, unless it shall be a group; store others as a group."""
    if isinstance(kwargs.get("zarr_version"), int):
        zarr_format = format_of(kwargs, zarr_format)
    if len(args) == 1 and not kwargs and not as_group:
        return save_call(store, {"": args[0]}, zarr_format, path, storage_options, overwrite=True)
    return save_call(store, _saved_arrays(args, kwargs), zarr_format, path, storage_options, mode="w")


def _saved_arrays(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Give names to the arrays that ``save_group`` receives.

    Raises
    ------
    ValueError
        If there are no arrays, or two have the same name.
    TypeError
        If a keyword argument is no array.
    """
    if not args and not kwargs:
        raise ValueError("at least one array must be provided")
    for name, data in kwargs.items():
        if not (hasattr(data, "shape") and hasattr(data, "dtype")):
            raise TypeError(f"Keyword argument {name!r} must be a numpy or other NDArrayLike array")
    unnamed = {f"arr_{i}": data for i, data in enumerate(args)}
    taken = sorted(unnamed.keys() & kwargs)
    if taken:
        raise ValueError(f"the arrays without a name are called {', '.join(taken)} already: choose other names")
    return {**unnamed, **kwargs}
