"""The order of the tasks of a copy through an array in between, of which only a slab is stored at a time.

Slabs lie between borders that the regions of both stages share: no region reaches into two of them. So a slab can be
written, read and deleted before the next one. That saves space, and memory of the file cache that is used again costs
the system less than new memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

import zarr
from zarr.runners.sync import sync
from zarr.storage.path import StorePath
from zarr.tools.copies.layouts import Route
from zarr.tools.copies.regions import Region, Regions
from zarr.tools.plans.plan import Numbered, Stage


def in_slabs(stages: Sequence[Stage], ways: Iterable[tuple[Route, StorePath | None]]) -> Iterator[Numbered]:
    """Yield the tasks of a copy array by array, and slab by slab where there is an array in between.

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
