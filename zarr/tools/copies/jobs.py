"""Plan copies of arrays and hierarchies into another layout.

``rechunking.py``, ``coarsening.py`` and ``zarr/tools/conversion`` call it. A task writes whole chunks or shards of the
target, so that no two tasks write one stored value.
"""

from __future__ import annotations

import asyncio
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

import zarr
from zarr.arrays.array import Array
from zarr.errors import ZarrUserWarning
from zarr.groups.group import Group
from zarr.runners.job_notes import Notes
from zarr.runners.places import overlap
from zarr.runners.sync import sync
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.storage.resolve import resolve_store_path
from zarr.tools.contents.blocks import chunk_region, stored_chunks
from zarr.tools.contents.nodes import arrays_of, as_stored, is_web
from zarr.tools.copies.layouts import Borders, Route, choose_route
from zarr.tools.copies.regions import Region, Regions, borders_of, longest
from zarr.tools.plans.executors import read_region
from zarr.tools.plans.plan import Numbered, Part, Plan, Stage
from zarr.tools.plans.targets import describe
from zarr.types import AccessModeLiteral

SHARE = 0.5
"""The part of the memory for the elements of one task; the rest is for encoded chunks and the program."""


ALL_STORED: dict[str, Any] = {"write_empty_chunks": True, "read_missing_chunks": False}
"""The behaviour of an array in between: a worker of a job that was killed must not take what was deleted for empty."""


class _WithArray:
    """Work on an array that each worker opens itself."""

    mode: AccessModeLiteral

    def __init__(self, place: StorePath, config: Any = None) -> None:
        self.place, self.config = place, config

    @cached_property
    def array(self) -> Array[Any]:
        """The array, opened at the first task of this worker."""
        return zarr.open_array(self.place, mode=self.mode, config=self.config)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "array"}


class ReadArray(_WithArray):
    """Read regions of a Zarr array.

    Parameters
    ----------
    place : StorePath
    config : dict, optional
    """

    mode = "r"

    def __call__(self, region: Region) -> Any:
        """Return the elements of a region."""
        return read_region(self.array, region)

    def empty(self, regions: Regions) -> set[int]:
        """Return the numbers of the regions in which no chunk is stored, as far as one listing tells it.

        There is none where a missing chunk is an error, and in stores that cannot list. A region without chunks has the
        fill value only, and takes as long to read as any other.
        """
        layout, store = self.array._handle.layout, self.array.store
        if len(regions) < 2 or not layout.reads_missing or not store.supports_listing or is_web(store):
            return set()
        chunks = (self._seen(chunk_region(layout, coords)) for _, coords in stored_chunks(self.array))
        return set(range(len(regions))) - {number for chunk in chunks for number in regions.touched_by(chunk)}

    def _seen(self, region: Region) -> Region:
        """Return the place of a region of the array among the elements that this reader returns."""
        return region


class FillRegion(_WithArray):
    """Write a region of an array from the elements of a reader.

    Parameters
    ----------
    read : callable
    place : StorePath
    config : dict, optional
    """

    mode = "r+"

    def __init__(self, read: Callable[[Region], Any], place: StorePath, config: Any = None) -> None:
        super().__init__(place, config)
        self.read = read

    def __call__(self, region: Region) -> None:
        """Write a region."""
        self.array[region] = self.read(region)

    def idle(self, regions: Regions) -> set[int]:
        """Return the numbers of the regions that need not be copied into a new array: nothing is stored in them."""
        if not isinstance(self.read, ReadArray) or not self.array._handle.layout.skip_filled:
            return set()
        return self.read.empty(regions)


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


class FillJob(ABC):
    """A job that makes arrays and fills them region by region, some by way of an array in between.

    A subclass sets the attributes, and says how the nodes are made, read and completed.
    """

    place: StorePath
    overwrite: bool
    limit: int
    verb: str
    source: str
    """The description of the copy as text, with all that the tasks depend on."""
    like: dict[str, Array[Any]]
    """Arrays with the data types and fill values of the arrays in between, by the paths of all arrays."""

    @abstractmethod
    def _make(self, place: StorePath, overwrite: bool) -> dict[str, Array[Any]]:
        """Create the nodes, without elements, and return the arrays."""

    @abstractmethod
    def _reader(self, name: str) -> tuple[Callable[[Region], Any], Sequence[Borders] | None]:
        """Return what reads regions of an array, and the borders of what it can read alone."""

    @abstractmethod
    def _complete(self) -> None:
        """Make what comes after the elements."""

    def plan(self, title: str) -> Plan:
        """Return the plan."""
        models = self._make(StorePath(MemoryStore()), overwrite=False)  # what cannot be made is refused here
        self.like = {**models, **self.like}
        routes = {name: self._route(name, model) for name, model in models.items()}
        notes = Notes(self.place)
        self.between = {
            name: (notes.place / "between" / str(number), route)
            for number, (name, route) in enumerate(routes.items())
            if route.between is not None
        }
        kinds = [(name, describe(model)) for name, model in models.items()]
        key = repr((self.source, kinds, sorted(routes.items()), self.limit))
        stages = list(self._stages(routes))
        ways = [(route, self.between[name][0] if route.between else None) for name, route in routes.items()]
        return Plan(
            title, stages, notes, key, self.overwrite, partial(self._make, self.place, self.overwrite),
            self._make_between, self._end, alone=lambda: in_slabs(stages, ways),
        )  # fmt: skip

    def _route(self, name: str, model: Array[Any]) -> Route:
        new = chunk_borders(model, written=True)
        try:
            return choose_route(self._reader(name)[1] or new, new, model.dtype.itemsize, self.limit)
        except ValueError as error:
            raise ValueError(f"/{name}: {error}") from None

    def _stages(self, routes: dict[str, Route]) -> Iterator[Stage]:
        first, second = [], []
        for name, route in routes.items():
            target, array = below(self.place, name), self.like[name]
            if route.second is None:
                work = FillRegion(self._reader(name)[0], target)
            else:
                middle = self.between[name][0]
                work = FillRegion(self._reader(name)[0], middle, ALL_STORED)
                second.append((FillRegion(ReadArray(middle, ALL_STORED), target), route.second, array, 1.0))
            first.append((work, route.first, array, route.reads))
        yield stage_of(f"{self.verb}, some to arrays in between" if second else self.verb, first)
        if second:
            yield stage_of("copy from arrays in between", second)

    def _make_between(self) -> None:
        for name, (middle, route) in self.between.items():
            store_between(middle, self.like[name], route)

    def _end(self) -> Array[Any] | Group:
        self._complete()
        return open_made(self.place)


class CopyJob(FillJob):
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

    verb = "copy"

    def __init__(
        self,
        node: Array[Any] | Group,
        place: StorePath,
        layout_of: Callable[[str, Array[Any]], tuple[Any, Any]],
        options: dict[str, Any],
        overwrite: bool,
        memory: int,
    ) -> None:
        self.node, self.place, self.overwrite, self.limit = node, place, overwrite, int(memory * SHARE)
        self.like = dict(arrays_of(node))
        self.source = repr((str(node.store_path), [describe(array) for array in self.like.values()]))
        self.layouts = {name: layout_of(name, array) for name, array in self.like.items()}
        self.options = {name: value for name, value in options.items() if value is not None or name == "compressors"}
        check_apart(node, place)

    def _reader(self, name: str) -> tuple[Callable[[Region], Any], Sequence[Borders]]:
        array = self.like[name]
        return ReadArray(array.store_path), chunk_borders(array, written=False)

    def _make(self, place: StorePath, overwrite: bool) -> dict[str, Array[Any]]:
        if isinstance(self.node, Group):
            copy_group(self.node, place, overwrite, self.options.get("zarr_format"))
            for name, member in self.node.members(max_depth=None):
                if isinstance(member, Group):
                    copy_group(member, place / name, False, self.options.get("zarr_format"))
        made = {}
        for name, array in self.like.items():
            chunks, shards = self.layouts[name]
            made[name] = zarr.from_array(
                below(place, name), data=array, write_data=False, overwrite=overwrite and not name,
                chunks=chunks, shards=shards, **self.options,
            )  # fmt: skip
        return made

    def _complete(self) -> None:
        if has_copy(self.node):
            with warnings.catch_warnings():  # the source has it
                warnings.simplefilter("ignore", ZarrUserWarning)
                zarr.consolidate_metadata(self.place.store, path=self.place.path)


def open_made(place: StorePath) -> Array[Any] | Group:
    """Open a node that a plan has made."""
    node = zarr.open(place, mode="r+")
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


def stage_of(name: str, copies: Sequence[tuple[FillRegion, Regions, Array[Any], float]]) -> Stage:
    """Return a stage of copies: of each the work, its regions, an array like the target, and the reads of a chunk."""
    sizes = [math.prod(longest(axis) for axis in regions.borders) * a.dtype.itemsize for _, regions, a, _ in copies]
    return Stage(
        name,
        [Part(work, regions, partial(work.idle, regions)) for work, regions, _, _ in copies],
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


# --------------------------------------------------------------------------------------------------------------- slabs


def in_slabs(stages: Sequence[Stage], ways: Iterable[tuple[Route, StorePath | None]]) -> Iterator[Numbered]:
    """Yield the tasks of a copy array by array, and slab by slab where there is an array in between.

    Slabs lie between borders that the regions of both stages share: no region reaches into two of them. So a slab is
    written, read and deleted before the next one. That saves space, and memory of the file cache that is used again
    costs the system less than new memory.

    Parameters
    ----------
    stages : sequence of Stage
        The first has a part for each array, the second one for each array in between.
    ways : iterable of (Route, StorePath or None)
        For each array its route, and the place of the array in between.
    """
    begins, seconds = [0, 0], iter(stages[-1].parts)
    for first, (route, middle) in zip(stages[0].parts, ways, strict=True):
        regions = (route.first,) if route.second is None else (route.first, route.second)
        works = first.work, first.work if middle is None else next(seconds).work
        for place, number in _numbers(regions, middle):
            yield place, begins[place] + number, works[place], regions[place][number]
        for place, some in enumerate(regions):
            begins[place] += len(some)


def _numbers(regions: Sequence[Regions], middle: StorePath | None) -> Iterator[tuple[int, int]]:
    """Yield the stage and the number of each task of an array; delete each slab after its last task."""
    if middle is None:
        yield from ((0, number) for number in range(len(regions[0])))
        return
    slabs = slabs_of(*regions)
    for slab, *numbers in zip(slabs, *(members(slabs, some) for some in regions), strict=True):
        for place, mine in enumerate(numbers):
            yield from ((place, number) for number in mine)
        delete_slab(middle, slab)


def slabs_of(first: Regions, second: Regions) -> Regions:
    """Return the smallest boxes that are whole regions of both stages.

    Examples
    --------
    >>> slabs_of(Regions([(0, 2, 4, 6)]), Regions([(0, 4, 5, 6)]))
    Regions(((0, 4, 6),))
    """
    return Regions(sorted({*mine} & {*theirs}) for mine, theirs in zip(first.borders, second.borders, strict=True))


def members(slabs: Regions, regions: Regions) -> list[list[int]]:
    """Return for each slab the numbers of the regions within it.

    Examples
    --------
    >>> members(Regions([(0, 4, 6), (0, 2)]), Regions([(0, 2, 4, 6), (0, 1, 2)]))
    [[0, 1, 2, 3], [4, 5]]
    """
    places = [
        np.searchsorted(outer, inner[:-1], side="right") - 1
        for outer, inner in zip(slabs.borders, regions.borders, strict=True)
    ]
    owners = np.ravel_multi_index(np.meshgrid(*places, indexing="ij"), slabs.counts).ravel()
    numbers = np.argsort(owners, kind="stable")
    parts = np.split(numbers, np.searchsorted(owners[numbers], range(1, len(slabs))))
    return [part.tolist() for part in parts]


def delete_slab(middle: StorePath, slab: Region) -> None:
    """Delete the chunks of an array in between that lie in a slab."""
    array = zarr.open_array(middle, mode="r+")
    cells = (range(part.start // size, -(-part.stop // size)) for part, size in zip(slab, array.chunks, strict=True))
    keys = [array.metadata.encode_chunk_key(cell) for cell in product(*cells)]
    sync(_delete([middle / key for key in keys]))


async def _delete(places: list[StorePath]) -> None:
    await asyncio.gather(*(place.delete() for place in places))
