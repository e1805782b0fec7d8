"""Refer to the chunks of an HDF5 or NetCDF-4 file in place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import h5py
import numpy as np

import zarr
from zarr.storage import MemoryStore
from zarr.tools.conversion.contents import ArrayContents, lose, walk_contents
from zarr.tools.conversion.hdf5.filters import exact_codecs
from zarr.tools.conversion.hdf5.reading import read_hdf5
from zarr.tools.conversion.nodes import array_parameters, table_of

INLINE_BYTES: Final = 64 << 10
"""Arrays that cannot be referred to are copied into the table up to this size."""

BLOCK_BYTES: Final = 16 << 20
"""Elements that are contiguous in the file are cut into equal chunks of at most this size, if possible."""


def references_of_hdf5(path: str, url: str, losses: list[str]) -> dict[str, Any]:
    """Return references to the bytes of an HDF5 file: a table of kerchunk, for arrays of Zarr format 3.

    Small arrays whose bytes are not those of chunks of Zarr are copied into the table; large ones are a loss.

    Parameters
    ----------
    path : str
        The file.
    url : str
        The name of the file in the references: a path from the folder of the table, or a URL.
    losses : list of str
        Receives the losses.

    Returns
    -------
    dict
        Keys, and for each a text or ``[url, offset, length]``.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with h5py.File(f"{folder}/a.h5", "w") as file:
    ...     made = file.create_dataset("a", data=range(10), chunks=(4,), compression="gzip")
    >>> table = references_of_hdf5(f"{folder}/a.h5", "a.h5", [])
    >>> store = zarr.storage.ReferenceStore(table, folder=folder)
    >>> zarr.open_array(store, path="a", mode="r")[3:6].tolist()
    [3, 4, 5]
    """
    store = MemoryStore()
    found: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        for name, contents in walk_contents(read_hdf5(path, losses)):
            if isinstance(contents, ArrayContents):
                found.update(_refer(store, name, file[name], contents, url, losses))
            else:
                zarr.create_group(store, path=name, attributes=dict(contents.attributes))
    return {**table_of(store), **found}


def _refer(
    store: MemoryStore, path: str, dataset: h5py.Dataset, contents: ArrayContents, url: str, losses: list[str]
) -> Iterator[tuple[str, Any]]:
    """Create an array in the store, with the chunks that must be copied; yield the references of the others."""
    parameters = array_parameters(path, contents, 3, losses)
    if parameters is None:
        return
    codecs = exact_codecs(dataset) if _same_bytes(dataset, contents.dtype) else None
    if codecs is None:
        if math.prod(contents.shape) * contents.dtype.itemsize > INLINE_BYTES:
            lose(losses, path, "the array: its bytes are not those of chunks of Zarr, and too many for the table")
            return
        array = zarr.create_array(store, name=path, **parameters)
        array[...] = contents.read(tuple(slice(0, length) for length in contents.shape))
        return
    parameters |= {"filters": None, "compressors": codecs or None}
    parameters["chunks"] = dataset.chunks or _blocks_of(dataset)
    array = zarr.create_array(store, name=path, **parameters)
    for place, start, size, is_filtered in _pieces_of(dataset, parameters["chunks"]):
        if is_filtered:
            number = (position // chunk for position, chunk in zip(place, parameters["chunks"], strict=True))
            yield f"{path}/{array.metadata.encode_chunk_key(tuple(number))}", [url, start, size]
        else:  # stored without some of its filters
            sizes = zip(place, parameters["chunks"], dataset.shape, strict=True)
            region = tuple(slice(first, min(first + chunk, length)) for first, chunk, length in sizes)
            array[region] = contents.read(region)


def _same_bytes(dataset: h5py.Dataset, dtype: np.dtype[Any]) -> bool:
    """Return True if elements are stored as in Zarr, and in this file."""
    plist = dataset.id.get_create_plist()
    if dtype.kind == "T" or dataset.id.get_type().get_size() != dtype.itemsize or plist.get_external_count():
        return False
    if dtype.fields is not None:
        fields: list[Any] = [dataset.dtype.fields, dtype.fields]
        places = [[each[name][1] for name in dtype.names or ()] for each in fields]
        if places[0] != places[1] or dtype != dtype.newbyteorder("<"):
            return False
    is_there = dataset.id.get_offset() is not None or dataset.id.get_storage_size() == 0
    return plist.get_layout() == h5py.h5d.CHUNKED or (plist.get_layout() == h5py.h5d.CONTIGUOUS and is_there)


def _blocks_of(dataset: h5py.Dataset) -> tuple[int, ...]:
    """Return the shape of chunks of elements that are stored contiguously: whole rows, all of equal length."""
    shape = dataset.shape
    if not shape or 0 in shape:
        return tuple(max(1, length) for length in shape)
    rows, row_bytes = shape[0], math.prod(shape[1:]) * dataset.dtype.itemsize
    least = -(-rows * row_bytes // BLOCK_BYTES)
    pieces = next((number for number in range(max(1, least), rows) if rows % number == 0), rows)
    return (rows // pieces, *shape[1:])


def _pieces_of(dataset: h5py.Dataset, chunks: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int, int, bool]]:
    """Yield each stored chunk: its first element, its place in the file, its size, and True if all filters ran."""
    if dataset.chunks is None:
        start, size = dataset.id.get_offset(), math.prod(chunks) * dataset.dtype.itemsize
        if start is not None and dataset.size:
            for number in range(dataset.shape[0] // chunks[0] if chunks else 1):
                place = (number * chunks[0], *(0 for _ in chunks[1:])) if chunks else ()
                yield place, start + number * size, size, True
        return
    found: list[Any] = []
    dataset.id.chunk_iter(found.append)
    for chunk in found:
        # Chunks that were cut off when an axis became shorter may still be there.
        if all(first < length for first, length in zip(chunk.chunk_offset, dataset.shape, strict=True)):
            yield chunk.chunk_offset, chunk.byte_offset, chunk.size, chunk.filter_mask == 0
