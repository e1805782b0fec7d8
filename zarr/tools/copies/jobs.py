"""Plans that copy arrays and hierarchies into another layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import zarr
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.runners.sync import sync
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.copies.layouts import Route, choose_route
from zarr.tools.copies.regions import Region, Regions, borders_of, longest
from zarr.tools.plans.plan import Notes, Part, Plan, Stage

SHARE = 0.5
"""The part of the memory that the elements of one task take; the rest is for encoded chunks and the program."""


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
        target[region] = source[region]

    def arrays(self) -> tuple[Array[Any], Array[Any]]:
        """Return both arrays, opened at the first task of this worker."""
        if self._arrays is None:
            self._arrays = zarr.open_array(self.source, mode="r"), zarr.open_array(self.target, mode="r+")
        return self._arrays

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_arrays": None}


def open_source(source: Any, storage_options: dict[str, Any] | None) -> Array[Any] | Group:
    """Return the node that a caller names as the source."""
    if isinstance(source, Array | Group):
        return source
    node = zarr.open(source, mode="r", storage_options=storage_options)
    assert isinstance(node, Array | Group)
    return node


def open_target(target: Any, path: str | None, storage_options: dict[str, Any] | None) -> StorePath:
    """Return the place that a caller names as the target."""
    return resolve_store_path(target, path=path or "", mode="a", storage_options=storage_options)


def check_apart(node: Array[Any] | Group, place: StorePath) -> None:
    """Refuse a copy onto its source, into it, or onto what holds it.

    Raises
    ------
    ValueError
    """
    source = node.store_path
    if source.store == place.store:
        first, second = f"{source.path}/".lstrip("/"), f"{place.path}/".lstrip("/")
        if first.startswith(second) or second.startswith(first):
            raise ValueError(f"the copy cannot be made at {place}: the source {source} is there or overlaps it")


def arrays_of(node: Array[Any] | Group) -> Iterator[tuple[str, Array[Any]]]:
    """Yield each array of a hierarchy with its path below the node; the node itself, if it is one, by an empty path."""
    if isinstance(node, Array):
        yield "", node
        return
    for name, member in node.members(max_depth=None):
        if isinstance(member, Array):
            yield name, member


def chunk_borders(array: Array[Any], *, written: bool) -> tuple[tuple[int, ...], ...]:
    """Return the borders of the chunks that are read alone, or of what is written as one."""
    return tuple(borders_of(axis) for axis in (array.write_chunk_sizes if written else array.read_chunk_sizes))


def dimensions_of(array: Array[Any]) -> tuple[str | None, ...]:
    """Return the name of each dimension; None where it has none."""
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    return tuple(names or (None,) * array.ndim)


class CopyJob:
    """One call of :func:`rechunk` or :func:`reencode`.

    Parameters
    ----------
    node : Array or Group
    place : StorePath
    layout_of : callable
        Returns chunks and shards of the copy of an array, given its path and the array.
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
        routes = {name: self._route(name, array) for name, array in self.arrays.items()}
        source, layouts, options = str(self.node.store_path), sorted(self.layouts.items()), sorted(self.options.items())
        key = repr((title, source, layouts, options, self.limit))
        notes = Notes(self.place, key)
        self.between = {
            name: (notes.place / "between" / str(number), route)
            for number, (name, route) in enumerate(routes.items())
            if route.between is not None
        }
        return Plan(title, list(self._stages(routes)), notes, self._begin, self._make_between, self._end)

    def _target_of(self, name: str) -> StorePath:
        return self.place / name if name else self.place

    def _route(self, name: str, array: Array[Any]) -> Route:
        target = zarr.from_array({}, data=array, write_data=False, **self._parameters(name))
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
        yield _stage("copy" if not second else "copy, some to arrays in between", first)
        if second:
            yield _stage("copy from arrays in between", second)

    def _begin(self) -> None:
        if isinstance(self.node, Group):
            root = copy_group(self.node, self.place, self.overwrite, self.options.get("zarr_format"))
            for name, member in self.node.members(max_depth=None):
                if isinstance(member, Group):
                    copy_group(member, root.store_path / name, False, self.options.get("zarr_format"))
        for name, array in self.arrays.items():
            overwrite = self.overwrite and not name
            zarr.from_array(
                self._target_of(name), data=array, write_data=False, overwrite=overwrite, **self._parameters(name)
            )

    def _make_between(self) -> None:
        for name, (middle, route) in self.between.items():
            parameters: dict[str, Any] = {"chunks": route.between, "shards": None, "compressors": None, "filters": None}
            made = zarr.from_array({}, data=self.arrays[name], write_data=False, zarr_format=3, **parameters)
            # Its document alone: below an array no node is made.
            document = sync((made.store_path / "zarr.json").get())
            assert document is not None
            sync((middle / "zarr.json").set(document))

    def _end(self) -> Array[Any] | Group:
        if isinstance(self.node, Group) and self.node.metadata.consolidated_metadata is not None:
            zarr.consolidate_metadata(self.place.store, path=self.place.path)
        node = zarr.open(self.place, mode="r+")
        assert isinstance(node, Array | Group)
        return node


def _stage(name: str, copies: list[tuple[CopyRegion, Regions, Array[Any], float]]) -> Stage:
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
