"""Plan the creation of Zarr nodes from the contents of a file of another format.

``converting.py`` calls it. A task writes whole chunks or shards of the new arrays, so that no two tasks write one
stored value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import zarr
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.runners.notes import Notes
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.tools.conversion.contents import ArrayContents, Contents, borders_of_chunks, walk_contents
from zarr.tools.conversion.nodes import array_parameters
from zarr.tools.copies.jobs import SHARE, CopyRegion, below, chunk_borders, stage_of, store_between
from zarr.tools.copies.layouts import Route, choose_route
from zarr.tools.copies.regions import Region
from zarr.tools.plans.plan import Plan, Stage
from zarr.tools.plans.targets import describe


class FillRegion:
    """Write a region of an array from the elements of a reader; each worker opens the array itself.

    Parameters
    ----------
    read : callable
    target : StorePath
    """

    def __init__(self, read: Callable[[Region], Any], target: StorePath) -> None:
        self.read, self.target = read, target
        self._array: Array[Any] | None = None

    def __call__(self, region: Region) -> None:
        """Copy a region."""
        if self._array is None:
            self._array = zarr.open_array(self.target, mode="r+")
        self._array[region] = self.read(region)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_array": None}


class MakeJob:
    """One conversion to Zarr.

    Parameters
    ----------
    contents : Contents
    place : StorePath
        The place of the new node.
    zarr_format : 2 or 3
    codecs : dict
        Parameters of :func:`zarr.create_array` for all arrays, in place of those of the contents.
    overwrite : bool
    memory : int
    losses : list of str
        Receives the losses of the format.
    """

    def __init__(
        self,
        contents: Contents,
        place: StorePath,
        zarr_format: Literal[2, 3],
        codecs: dict[str, Any],
        overwrite: bool,
        memory: int,
        losses: list[str],
    ) -> None:
        self.place, self.zarr_format, self.overwrite = place, zarr_format, overwrite
        self.limit = int(memory * SHARE)
        self.groups: dict[str, Any] = {}
        self.arrays: dict[str, tuple[ArrayContents, dict[str, Any]]] = {}
        for path, each in walk_contents(contents):
            if not isinstance(each, ArrayContents):
                self.groups[path] = each.attributes
            elif (parameters := array_parameters(path, each, zarr_format, losses)) is not None:
                self.arrays[path] = each, parameters | codecs
        if not self.groups and not self.arrays:
            raise ValueError(f"nothing can be converted: {losses[-1]}")

    def plan(self, title: str, source: str) -> Plan:
        """Return the plan."""
        self.models = self._make(StorePath(MemoryStore()), overwrite=False)  # what cannot be made is refused here
        routes = {path: self._route(path, contents) for path, (contents, _) in self.arrays.items()}
        kinds = [(path, describe(model)) for path, model in self.models.items()]
        notes = Notes(self.place)
        self.between = {
            path: (notes.place / "between" / str(number), route)
            for number, (path, route) in enumerate(routes.items())
            if route.between is not None
        }
        key = repr((source, kinds, sorted(routes.items()), self.limit))
        stages = list(self._stages(routes))
        return Plan(title, stages, notes, key, self.overwrite, self._begin, self._make_between, self._end)

    def _target_of(self, path: str) -> StorePath:
        return below(self.place, path)

    def _route(self, path: str, contents: ArrayContents) -> Route:
        new = chunk_borders(self.models[path], written=True)
        own = borders_of_chunks(contents) or new
        try:
            return choose_route(own, new, self.models[path].dtype.itemsize, self.limit)
        except ValueError as error:
            raise ValueError(f"/{path}: {error}") from None

    def _stages(self, routes: dict[str, Route]) -> Iterator[Stage]:
        first, second = [], []
        for path, route in routes.items():
            read, target, model = self.arrays[path][0].read, self._target_of(path), self.models[path]
            if route.second is None:
                first.append((FillRegion(read, target), route.first, model, route.reads))
            else:
                middle = self.between[path][0]
                first.append((FillRegion(read, middle), route.first, model, route.reads))
                second.append((CopyRegion(middle, target), route.second, model, 1.0))
        yield stage_of("convert", first)
        if second:
            yield stage_of("copy from arrays in between", second)

    def _begin(self) -> None:
        self._make(self.place, self.overwrite)

    def _make(self, place: StorePath, overwrite: bool) -> dict[str, Array[Any]]:
        """Create the nodes, without elements, and return the arrays."""
        for path, attributes in self.groups.items():
            zarr.create_group(
                below(place, path),
                overwrite=overwrite and not path,
                zarr_format=self.zarr_format,
                attributes=dict(attributes),
            )
        return {
            path: zarr.create_array(below(place, path), overwrite=overwrite and not path, **parameters)
            for path, (_, parameters) in self.arrays.items()
        }

    def _make_between(self) -> None:
        for path, (middle, route) in self.between.items():
            store_between(middle, self.models[path], route)

    def _end(self) -> Array[Any] | Group:
        if self.zarr_format == 2 and self.groups:
            zarr.consolidate_metadata(self.place.store, path=self.place.path, zarr_format=2)
        node = zarr.open(self.place, mode="r+")
        assert isinstance(node, Array | Group)
        return node
