"""Plan copies of arrays and hierarchies into another layout.

``rechunking.py``, ``coarsening.py`` and ``zarr/tools/conversion`` call it. A task writes whole chunks or shards of the
target, so that no two tasks write one stored value.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import zarr
from zarr.arrays.array import Array
from zarr.errors import ZarrUserWarning
from zarr.groups.group import Group
from zarr.runners.locks.operation import overlap
from zarr.runners.notes import Notes
from zarr.runners.sync import sync
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.contents.nodes import arrays_of, as_stored
from zarr.tools.copies.layouts import Route, choose_route
from zarr.tools.copies.regions import Region, Regions, borders_of, longest
from zarr.tools.plans.executors import read_region
from zarr.tools.plans.plan import Part, Plan, Stage
from zarr.tools.plans.targets import describe

SHARE = 0.5
"""The part of the memory for the elements of one task; the rest is for encoded chunks and the program."""


class CopyRegion:
    """Copy a region from one array to another; each worker opens both arrays itself.

    Parameters
    ----------
    source, target : StorePath
    """

    def __init__(self, source: StorePath, target: StorePath) -> None:
        self.source, self.target = source, target
        self._arrays: tuple[Array[Any], Array[Any]] | None = None

    def __call__(self, region: Region) -> None:
        """Copy a region."""
        source, target = self.arrays()
        target[region] = read_region(source, region)

    def arrays(self) -> tuple[Array[Any], Array[Any]]:
        """Return both arrays, opened at the first task of this worker."""
        if self._arrays is None:
            self._arrays = zarr.open_array(self.source, mode="r"), zarr.open_array(self.target, mode="r+")
        return self._arrays

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_arrays": None}


def open_ends(
    source: Any, target: Any, path: str | None, storage_options: dict[str, Any] | None
) -> tuple[Array[Any] | Group, StorePath]:
    """Return the node of a ``source`` argument, and the place of a ``target`` argument.

    A group has the members that are stored: consolidated metadata may lack some.
    """
    given = options_of_ends(source, target, storage_options)
    place = resolve_store_path(target, path=path or "", mode="a", storage_options=given[1])
    node = source if isinstance(source, Array | Group) else zarr.open(source, mode="r", storage_options=given[0])
    assert isinstance(node, Array | Group)
    return as_stored(node), place


def options_of_ends(
    source: Any, target: Any, storage_options: dict[str, Any] | None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the options of the source and of the target: those are for URLs, and one of both may be none.

    Where neither is a URL both get them, and refuse them.

    Examples
    --------
    >>> options_of_ends("s3://bucket/a", "local.zarr", {"anon": True})
    ({'anon': True}, None)
    """
    are_urls = [isinstance(each, str) and "://" in each for each in (source, target)]
    first, second = (storage_options if is_url or not any(are_urls) else None for is_url in are_urls)
    return first, second


def check_apart(node: Array[Any] | Group, place: StorePath) -> None:
    """Refuse a copy onto its source, into it, or onto a group that contains it.

    Raises
    ------
    ValueError
    """
    if overlap(node.store_path, place):
        raise ValueError(f"the copy cannot be made at {place}: the source {node.store_path} is there or overlaps it")


def chunk_borders(array: Array[Any], *, written: bool) -> tuple[tuple[int, ...], ...]:
    """Return the borders of the chunks that can be read alone, or of the chunks or shards that are written."""
    return tuple(borders_of(axis) for axis in (array.write_chunk_sizes if written else array.read_chunk_sizes))


def dimensions_of(array: Array[Any]) -> tuple[str | None, ...]:
    """Return the name of each dimension; None if it has none."""
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    return tuple(names or (None,) * array.ndim)


class CopyJob:
    """One call of :func:`rechunk` or :func:`reencode`.

    Parameters
    ----------
    node : Array or Group
    place : StorePath
    layout_of : callable
        Returns chunks and shards of the copy of an array, from its path and the array.
    options : dict
        Further parameters of :func:`zarr.from_array`.
    overwrite : bool
    memory : int
    """

    def __init__(
        self,
        node: Array[Any] | Group,
        place: StorePath,
        layout_of: Callable[[str, Array[Any]], tuple[Any, Any]],
        options: dict[str, Any],
        overwrite: bool,
        memory: int,
    ) -> None:
        self.node, self.place, self.overwrite = node, place, overwrite
        self.arrays = dict(arrays_of(node))
        self.layouts = {name: layout_of(name, array) for name, array in self.arrays.items()}
        self.options = {name: value for name, value in options.items() if value is not None or name == "compressors"}
        self.limit = int(memory * SHARE)
        check_apart(node, place)

    def plan(self, title: str) -> Plan:
        """Return the plan."""
        models = self._make(StorePath(MemoryStore()), overwrite=False)  # what cannot be made is refused here
        routes = {name: self._route(array, models[name]) for name, array in self.arrays.items()}
        kinds = [(name, describe(array), describe(models[name])) for name, array in self.arrays.items()]
        notes = Notes(self.place)
        self.between = {
            name: (notes.place / "between" / str(number), route)
            for number, (name, route) in enumerate(routes.items())
            if route.between is not None
        }
        key = repr((str(self.node.store_path), kinds, sorted(routes.items()), self.limit))
        stages = list(self._stages(routes))
        return Plan(title, stages, notes, key, self.overwrite, self._begin, self._make_between, self._end)

    def _target_of(self, name: str) -> StorePath:
        return below(self.place, name)

    def _route(self, array: Array[Any], target: Array[Any]) -> Route:
        own, new = chunk_borders(array, written=False), chunk_borders(target, written=True)
        return choose_route(own, new, array.dtype.itemsize, self.limit)

    def _parameters(self, name: str) -> dict[str, Any]:
        chunks, shards = self.layouts[name]
        return {"chunks": chunks, "shards": shards, **self.options}

    def _stages(self, routes: dict[str, Route]) -> Iterator[Stage]:
        first, second = [], []
        for name, route in routes.items():
            array, target = self.arrays[name], self._target_of(name)
            if route.second is None:
                first.append((CopyRegion(array.store_path, target), route.first, array, route.reads))
            else:
                middle = self.between[name][0]
                first.append((CopyRegion(array.store_path, middle), route.first, array, route.reads))
                second.append((CopyRegion(middle, target), route.second, array, 1.0))
        yield stage_of("copy" if not second else "copy, some to arrays in between", first)
        if second:
            yield stage_of("copy from arrays in between", second)

    def _begin(self) -> None:
        self._make(self.place, self.overwrite)

    def _make(self, place: StorePath, overwrite: bool) -> dict[str, Array[Any]]:
        """Create the nodes, without elements, and return the arrays."""
        if isinstance(self.node, Group):
            copy_group(self.node, place, overwrite, self.options.get("zarr_format"))
            for name, member in self.node.members(max_depth=None):
                if isinstance(member, Group):
                    copy_group(member, place / name, False, self.options.get("zarr_format"))
        return {
            name: zarr.from_array(
                below(place, name), data=array, write_data=False, overwrite=overwrite and not name,
                **self._parameters(name),
            )
            for name, array in self.arrays.items()
        }  # fmt: skip

    def _make_between(self) -> None:
        for name, (middle, route) in self.between.items():
            store_between(middle, self.arrays[name], route)

    def _end(self) -> Array[Any] | Group:
        if has_copy(self.node):
            with warnings.catch_warnings():  # the source has it
                warnings.simplefilter("ignore", ZarrUserWarning)
                zarr.consolidate_metadata(self.place.store, path=self.place.path)
        node = zarr.open(self.place, mode="r+")
        assert isinstance(node, Array | Group)
        return node


def below(place: StorePath, name: str) -> StorePath:
    """Return the place of a node below another; an empty name for that itself."""
    return place / name if name else place


def has_copy(node: Array[Any] | Group) -> bool:
    """Return True if a group is stored with consolidated metadata."""
    again = zarr.open(node.store_path, mode="r") if isinstance(node, Group) else node
    return isinstance(again, Group) and again.metadata.consolidated_metadata is not None


def store_between(middle: StorePath, array: Array[Any], route: Route) -> None:
    """Store the document of the array in between; it alone, for below an array no node is created."""
    parameters: dict[str, Any] = {"chunks": route.between, "shards": None, "compressors": None, "filters": None}
    made = zarr.from_array({}, data=array, write_data=False, zarr_format=3, **parameters)
    document = sync((made.store_path / "zarr.json").get())
    assert document is not None
    sync((middle / "zarr.json").set(document))


def stage_of(name: str, copies: Sequence[tuple[Callable[[Region], None], Regions, Array[Any], float]]) -> Stage:
    """Return a stage of copies: of each the work, its regions, an array like the target, and the reads of a chunk."""
    sizes = [math.prod(longest(axis) for axis in regions.borders) * a.dtype.itemsize for _, regions, a, _ in copies]
    return Stage(
        name,
        [Part(work, regions) for work, regions, _, _ in copies],
        sum(int(array.nbytes * reads) for _, _, array, reads in copies),
        sum(array.nbytes for _, _, array, _ in copies),
        max(sizes, default=0),
    )


def copy_group(group: Group, place: StorePath, overwrite: bool, zarr_format: Any) -> Group:
    made: Callable[..., Group] = zarr.create_group
    return made(
        place,
        overwrite=overwrite,
        zarr_format=zarr_format or group.metadata.zarr_format,
        attributes=group.attrs.asdict(),
    )
