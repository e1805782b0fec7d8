"""Plan the creation of Zarr nodes from the contents of a file of another format.

``converting.py`` calls it. A task writes whole chunks or shards of the new arrays, so that no two tasks write one
stored value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import zarr
from zarr.arrays.array import Array
from zarr.storage.path import StorePath
from zarr.tools.conversion.contents import ArrayContents, Contents, borders_of_chunks, walk_contents
from zarr.tools.conversion.nodes import array_parameters
from zarr.tools.copies.jobs import SHARE, FillJob, below
from zarr.tools.copies.layouts import Borders
from zarr.tools.copies.regions import Region


class MakeJob(FillJob):
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
    source : str
        What is converted, as text.
    """

    verb = "convert"

    def __init__(
        self,
        contents: Contents,
        place: StorePath,
        zarr_format: Literal[2, 3],
        codecs: dict[str, Any],
        overwrite: bool,
        memory: int,
        losses: list[str],
        source: str,
    ) -> None:
        self.place, self.zarr_format, self.overwrite = place, zarr_format, overwrite
        self.source, self.like, self.limit = source, {}, int(memory * SHARE)
        self.groups: dict[str, Any] = {}
        self.arrays: dict[str, tuple[ArrayContents, dict[str, Any]]] = {}
        for path, each in walk_contents(contents):
            if not isinstance(each, ArrayContents):
                self.groups[path] = each.attributes
            elif (parameters := array_parameters(path, each, zarr_format, losses)) is not None:
                self.arrays[path] = each, parameters | codecs
        if not self.groups and not self.arrays:
            raise ValueError(f"nothing can be converted: {losses[-1]}")

    def _reader(self, name: str) -> tuple[Callable[[Region], Any], Sequence[Borders] | None]:
        contents = self.arrays[name][0]
        return contents.read, borders_of_chunks(contents)

    def _make(self, place: StorePath, overwrite: bool) -> dict[str, Array[Any]]:
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

    def _complete(self) -> None:
        if self.zarr_format == 2 and self.groups:
            zarr.consolidate_metadata(self.place.store, path=self.place.path, zarr_format=2)
