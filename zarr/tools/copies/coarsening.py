"""Pyramids: an array and coarser levels of it, with metadata for viewers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Final, Literal

import zarr
from zarr.arrays.array import Array
from zarr.arrays.show.cf import dimension_names, missing_values
from zarr.groups.group import Group
from zarr.runners.job_notes import Notes
from zarr.storage.memory import MemoryStore
from zarr.storage.path import StorePath
from zarr.tools.contents.nodes import refuse_group
from zarr.tools.copies.jobs import (
    SHARE,
    FillRegion,
    ReadArray,
    check_apart,
    chunk_borders,
    open_ends,
)
from zarr.tools.copies.layouts import choose_route
from zarr.tools.copies.multiscales import (
    MULTISCALES,
    Described,
    Place,
    coarser_place,
    find_ome,
    geozarr_levels,
    ome_axes,
    ome_image,
)
from zarr.tools.copies.reductions import Method, check_method, reduce_blocks
from zarr.tools.copies.regions import Region, Regions, every, longest
from zarr.tools.plans.plan import MEMORY, Part, Plan, Stage, parse_bytes
from zarr.tools.plans.progress import Progress
from zarr.tools.plans.targets import describe

Convention = Literal["ome", "geozarr"]

_AXES: Final = ("t", "c", "z", "y", "x")
_SPACE: Final = frozenset({"x", "y", "z", "lon", "lat", "longitude", "latitude", "easting", "northing"})


class ReadCoarser(ReadArray):
    """Read regions of the next coarser level of an array: blocks of it, reduced.

    Parameters
    ----------
    place : StorePath
    factors : sequence of int
    method : str
    """

    def __init__(self, place: StorePath, factors: Sequence[int], method: Method) -> None:
        super().__init__(place)
        self.factors, self.method = tuple(factors), method

    def __call__(self, region: Region) -> Any:
        """Return the elements of a region of the coarser level."""
        wanted = tuple(
            slice(part.start * factor, min(part.stop * factor, length))
            for part, factor, length in zip(region, self.factors, self.array.shape, strict=True)
        )
        return reduce_blocks(self.array[wanted], self.factors, self.method, missing_values(self.array))

    def _seen(self, region: Region) -> Region:
        both = zip(region, self.factors, strict=True)
        return tuple(slice(part.start // factor, -(-part.stop // factor)) for part, factor in both)


def coarsen(
    source: Any,
    target: Any,
    *,
    factors: int | Sequence[int] | Mapping[str, int] = 2,
    levels: int | None = None,
    method: Method = "mean",
    convention: Convention | None = "ome",
    path: str | None = None,
    overwrite: bool = False,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    resume: bool = False,
    dry_run: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Group | Plan:
    """Make a pyramid: a group with a copy of an array, ``0``, and coarser levels of it, ``1``, ``2`` …

    Each level has the chunks, shards and codecs of the array. The group gets the metadata of a pyramid when all levels
    are complete. Where the group of the array has metadata of OME-Zarr that name it, sizes and units of its elements,
    names of axes and channels are carried over.

    Parameters
    ----------
    source : Array, Group, store, path or URL
        The array; or a group with metadata of OME-Zarr, whose finest level is taken.
    target : store, path or URL
        The place of the new group.
    factors : int, sequence of int, or mapping, default 2
        Number of elements that become one. A number: along the axes of space (by the names of dimensions, such as ``y``
        and ``x``), or along the last two if none has such a name. A sequence has one number for each axis, a mapping
        for some names of dimensions.
    levels : int, optional
        Number of coarser levels. Default: until a level is one chunk along the axes that become coarser.
    method : "mean", "mode", "max", "min" or "nearest", default "mean"
        How a block of elements becomes one. Mean, max and min leave out NaN, and elements that are missing by the
        attributes ``_FillValue`` and ``missing_value``. The mean of integers is rounded. "mode" and "nearest" are for
        labels.
    convention : "ome", "geozarr" or None, default "ome"
        The metadata of the group: OME-Zarr 0.5 (https://ngff.openmicroscopy.org/0.5), the convention `multiscales` of
        GeoZarr (https://github.com/zarr-conventions/multiscales), or none.
    path : str, optional
        The path of the group in the target store. Default: its root.
    overwrite : bool, default False
        If True, delete first the node at the place of the group.
    memory, executor, progress, resume, dry_run, storage_options
        As in :func:`rechunk`.

    Returns
    -------
    Group
        The pyramid; with ``dry_run`` a :class:`Plan`.

    Raises
    ------
    ContainsGroupError, ContainsArrayError
        If there is something at the place of the group, and ``overwrite`` is False.
    TypeError
        If the method cannot be used for the data type.
    ValueError
        If the factors do not fit the array, or the convention cannot describe it.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> image = zarr.create_array({}, data=np.arange(64.0).reshape(8, 8), chunks=(2, 2), dimension_names=("y", "x"))
    >>> pyramid = zarr.tools.coarsen(image, {})
    >>> [pyramid[level].shape for level in ("0", "1", "2")], pyramid["2"][0, 0].item()
    ([(8, 8), (4, 4), (2, 2)], 13.5)
    """
    node, place = open_ends(source, target, path, storage_options)
    array, described = _described(node)
    check_apart(array, place)
    check_method(method, array.dtype)
    names = _names(array, described)
    number_of_each = parse_factors(factors, array.shape, names)
    pyramid = _Pyramid(array, place, number_of_each, method, levels, convention, overwrite, names, described)
    plan = pyramid.plan(int(parse_bytes(memory) * SHARE))
    return plan if dry_run else plan.run(executor, progress, resume)


def _described(node: Array[Any] | Group) -> tuple[Array[Any], Described | None]:
    """Return an array, or the finest level of an image, and what the metadata of OME-Zarr of its group say of it."""
    if isinstance(node, Group):
        found = find_ome(node.attrs)
        level = node.get(found.level.get("path", "")) if found else None
        return (level, found) if isinstance(level, Array) else (refuse_group(node, "coarsen"), None)
    above, _, name = node.path.rpartition("/")
    try:
        group = zarr.open_group(StorePath(node.store, above), mode="r") if name else None
    except FileNotFoundError:
        group = None
    return node, None if group is None else find_ome(group.attrs, name)


def _names(array: Array[Any], described: Described | None) -> tuple[str | None, ...]:
    """Return the names of the dimensions of an array: its own ones, or those of the axes of its image."""
    names = dimension_names(array)
    return names if any(names) or described is None else described.names(array.ndim)


def parse_factors(
    factors: int | Sequence[int] | Mapping[str, int], shape: tuple[int, ...], names: Sequence[str | None]
) -> tuple[int, ...]:
    """Return the factor of each axis, of an array with a shape and names of dimensions.

    Raises
    ------
    ValueError
    """
    if isinstance(factors, Mapping):
        if unknown := set(factors) - set(names):
            raise ValueError(f"the array has no dimension {sorted(unknown)[0]!r}: its dimensions are {names}")
        found = tuple(factors.get(name or "", 1) for name in names)
    elif isinstance(factors, int):
        space = [name in _SPACE for name in names]
        if not any(space):
            space = [axis >= len(shape) - 2 for axis in range(len(shape))]
        found = tuple(factors if coarser else 1 for coarser in space)
    else:
        found = tuple(factors)
    if len(found) != len(shape) or any(factor < 1 for factor in found):
        raise ValueError(f"factors {factors!r} do not fit an array of shape {shape}: one of 1 or more an axis")
    if all(factor == 1 for factor in found):
        raise ValueError(f"factors {factors!r} make no coarser level of shape {shape}: give 2 or more")
    return found


@dataclass
class _Pyramid:
    """One call of :func:`coarsen`."""

    array: Array[Any]
    place: StorePath
    factors: tuple[int, ...]
    method: Method
    levels: int | None
    convention: Convention | None
    overwrite: bool
    names: tuple[str | None, ...]
    described: Described | None

    def __post_init__(self) -> None:
        if self.convention not in ("ome", "geozarr", None):
            raise ValueError(f"convention must be 'ome', 'geozarr' or None, not {self.convention!r}")
        self.shapes = list(self._shapes())
        self.attributes = self._attributes()

    def _shapes(self) -> Iterator[tuple[int, ...]]:
        shape, chunks = self.array.shape, [max(axis, default=1) for axis in self.array.read_chunk_sizes]
        for level in count():
            yield shape
            axes = zip(self.factors, shape, chunks, strict=True)
            longer = any(factor > 1 and length > chunk for factor, length, chunk in axes)
            if not longer if self.levels is None else level >= self.levels:
                return
            shape = tuple(-(-length // factor) for length, factor in zip(shape, self.factors, strict=True))

    def plan(self, limit: int) -> Plan:
        """Return the plan: one stage for each level."""
        written = chunk_borders(self.array, written=True)
        itemsize = self.array.dtype.itemsize
        route = choose_route(chunk_borders(self.array, written=False), written, itemsize, limit)
        work = FillRegion(ReadArray(self.array.store_path), self.place / "0")
        direct = Regions(choose_route(written, written, itemsize, limit).first.borders)
        stages = [self._stage(0, work, route.first if route.second is None else direct)]
        step = tuple(longest(axis) or 1 for axis in written)
        # In memory are the blocks, their reduction, and numbers of 8 bytes in between.
        each = math.prod(self.factors) * (itemsize + 24)
        for level, shape in enumerate(self.shapes[1:], 1):
            borders = tuple(every(size, length) for size, length in zip(step, shape, strict=True))
            largest = math.prod(map(longest, borders)) * each
            regions = choose_route(borders, borders, each, max(limit, largest)).first
            read = ReadCoarser(self.place / str(level - 1), self.factors, self.method)
            stages.append(self._stage(level, FillRegion(read, self.place / str(level)), regions))
        self._make(StorePath(MemoryStore()), overwrite=False)  # what cannot be made is refused here
        borders_of_tasks = [part.items for stage in stages for part in stage.parts]
        what = describe(self.array), self.method, self.shapes, self.convention
        key = repr((str(self.array.store_path), what, borders_of_tasks))
        title = f"coarsen by {self.factors}"
        notes, begin = Notes(self.place), partial(self._make, self.place, self.overwrite)
        return Plan(title, stages, notes, key, self.overwrite, begin, lambda: None, self._end)

    def _stage(self, level: int, work: FillRegion, regions: Regions) -> Stage:
        itemsize = self.array.dtype.itemsize
        size = math.prod(map(longest, regions.borders)) * itemsize
        reads, writes = (math.prod(self.shapes[n]) * itemsize for n in (max(0, level - 1), level))
        return Stage(f"level {level}", [Part(work, regions, partial(work.idle, regions))], reads, writes, size)

    def _make(self, place: StorePath, overwrite: bool) -> None:
        """Create the nodes, without elements."""
        zarr_format: Literal[2, 3] = 3 if self.convention == "ome" else self.array.metadata.zarr_format
        zarr.create_group(place, overwrite=overwrite, zarr_format=zarr_format)
        finest = zarr.from_array(place / "0", data=self.array, write_data=False, zarr_format=zarr_format)
        for level, shape in enumerate(self.shapes[1:], 1):
            self._make_level(place / str(level), finest, level, shape)

    def _make_level(self, place: StorePath, finest: Array[Any], level: int, shape: tuple[int, ...]) -> None:
        """Create a level with the layout of the finest one, and say where on the earth its larger elements are."""
        made = zarr.from_array(place, data=finest, write_data=False, chunks=finest.chunks, shards=finest.shards)
        made.resize(shape)
        scale = [float(factor**level) for factor in self.factors]
        made.attrs.update(coarser_place(finest.attrs, self.names, scale, shape))

    def _end(self) -> Group:
        group = zarr.open_group(self.place, mode="r+")
        group.attrs.update(self.attributes)
        return group

    # Metadata

    def _attributes(self) -> dict[str, Any]:
        if self.convention is None:
            return {}
        return self._ome() if self.convention == "ome" else self._geozarr()

    def _places(self) -> Iterator[Place]:
        """Yield the scale of each level, and the middle of its first element in elements of the finest level."""
        for level in range(len(self.shapes)):
            scale = [float(factor**level) for factor in self.factors]
            first = [0.0 if self.method == "nearest" else (each - 1) / 2 for each in scale]
            yield scale, first

    def _ome(self) -> dict[str, Any]:
        missing = len(_AXES) - self.array.ndim
        axes = ome_axes(self.names if any(self.names) else (None,) * -missing + _AXES[max(0, missing) :])
        if self.described is None:
            image = ome_image(self.array.basename or "image", axes, self._places())
            return {"ome": {"version": "0.5", "multiscales": [image | {"type": self.method}]}}
        name = self.described.image.get("name") or self.array.basename
        places = (self.described.below(*place) for place in self._places())
        image = ome_image(name, self.described.axes(axes), places)
        return {"ome": self.described.channels | {"version": "0.5", "multiscales": [image | {"type": self.method}]}}

    def _geozarr(self) -> dict[str, Any]:
        places = list(self._places())
        steps = places[:1] + places[1:2] * (len(places) - 1)
        method = "average" if self.method == "mean" else self.method
        return {"zarr_conventions": [MULTISCALES], "multiscales": geozarr_levels(steps) | {"resampling_method": method}}
