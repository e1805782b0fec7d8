"""Refer to the tiles of a TIFF file in place."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final

import zarr
from zarr._lazy import load
from zarr.codecs import BytesCodec, TransposeCodec, ZstdCodec
from zarr.codecs.numcodecs import Zlib
from zarr.storage import MemoryStore
from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents
from zarr.tools.conversion.images.tiff import ReadRegion, is_raster, read_plain_tiff
from zarr.tools.conversion.nodes import table_of
from zarr.tools.copies.multiscales import MULTISCALES

_COMPRESSORS: Final = {1: None, 8: Zlib, 32946: Zlib, 50000: ZstdCodec, 34926: ZstdCodec}


def references_of_tiff(path: Any, url: str, losses: list[str]) -> dict[str, Any]:
    """Return references to the bytes of a TIFF file: a table of kerchunk, for arrays of Zarr format 3.

    Parameters
    ----------
    path : str or PathLike
        The file.
    url : str
        The name of the file in the references: a path from the folder of the table, or a URL.
    losses : list of str
        Receives the losses.

    Returns
    -------
    dict
        Keys, and for each a text or ``[url, offset, length]``.

    Raises
    ------
    ValueError
        If the bytes of the tiles are not those of chunks of Zarr: with predictors, with compressions other than deflate
        and zstd, with tables of JPEG, with strips of which the last is shorter, with elements of fewer than eight bits.

    Examples
    --------
    >>> import tempfile, os, numpy as np, tifffile, zarr
    >>> folder = tempfile.mkdtemp()
    >>> tifffile.imwrite(f"{folder}/a.tif", np.arange(600, dtype="u2").reshape(20, 30))
    >>> table = references_of_tiff(f"{folder}/a.tif", "a.tif", [])
    >>> store = zarr.storage.ReferenceStore(table, folder=folder)
    >>> int(zarr.open_array(store, mode="r")[3, 4])
    94
    """
    contents = read_plain_tiff(path, losses)
    store = MemoryStore()
    with load("tifffile").TiffFile(path) as file:
        if is_raster(file) and find_spec("rasterio") is not None:
            contents = _with_place(contents, load("zarr.tools.conversion.images.geotiff").read_geotiff(path, []))
        if isinstance(contents, GroupContents) and len(file.series) > 1:
            contents = _referable(file, contents, url, losses)
        chunks = dict(_make(file, contents, store, "", url))
    return {**table_of(store), **chunks}


def _with_place(contents: Contents, source: Contents) -> Contents:
    """Return contents with GDAL's metadata for the place of the first georeferenced image."""
    attributes = dict(contents.attributes)
    if isinstance(contents, GroupContents) and "ome" not in attributes and "multiscales" not in attributes:
        first, *others = contents.members.items()
        return GroupContents(attributes, {first[0]: _with_place(first[1], source), **dict(others)})
    names = [name for name in source.attributes if name == "gdal" or name.startswith(("proj:", "spatial:"))]
    conventions = [each for each in source.attributes.get("zarr_conventions", ()) if each != MULTISCALES]
    found = {**attributes, **{name: source.attributes[name] for name in names}}
    found["zarr_conventions"] = [*attributes.get("zarr_conventions", ()), *conventions]
    if isinstance(contents, GroupContents):
        return GroupContents(found, contents.members)
    return replace(contents, attributes=found)


def _referable(file: Any, contents: GroupContents, url: str, losses: list[str]) -> GroupContents:
    """Return the images of a file that can be referred to, such as an image without its mask.

    Raises
    ------
    ValueError
        If there is none.
    """
    members, refused = {}, []
    for name, member in contents.members.items():
        try:
            dict(_make(file, member, MemoryStore(), name, url))
            members[name] = member
        except ValueError as error:
            refused.append(str(error))
    if not members:
        raise ValueError(refused[0])
    losses += refused
    return GroupContents(contents.attributes, members)


def _make(file: Any, contents: Contents, store: MemoryStore, path: str, url: str) -> Iterator[tuple[str, list[Any]]]:
    """Create a node, and yield the references to its chunks."""
    if isinstance(contents, ArrayContents):
        yield from _array(file, contents, store, path, url)
        return
    zarr.create_group(store, path=path, zarr_format=3, attributes=dict(contents.attributes))
    for name, member in contents.members.items():
        yield from _make(file, member, store, f"{path}/{name}" if path else name, url)


def _array(
    file: Any, contents: ArrayContents, store: MemoryStore, path: str, url: str
) -> Iterator[tuple[str, list[Any]]]:
    read = contents.read
    assert isinstance(read, ReadRegion)
    series = file.series[read.series].levels[read.level]
    page, node = series.keyframe, f"/{path}"
    _check(series, node)
    table = _table(series, node)
    document = json.loads(table.pop(".zarray"))
    order = read.order
    moved = order != tuple(range(len(order)))
    compressor = _COMPRESSORS[page.compression]
    zarr.create_array(
        store,
        name=path or None,
        shape=contents.shape,
        dtype=contents.dtype,
        chunks=tuple(document["chunks"][axis] for axis in order),
        # The bytes have the axes of the file.
        filters=[TransposeCodec(order=tuple(order.index(axis) for axis in range(len(order))))] if moved else None,
        serializer=BytesCodec(endian="big" if file.byteorder == ">" else "little"),
        compressors=[compressor()] if compressor else None,
        fill_value=contents.fill_value,
        dimension_names=contents.dimension_names,
        attributes=dict(contents.attributes),
        zarr_format=3,
    )
    for key, value in table.items():
        if not key.startswith("."):
            place = key.split(".")
            name = "/".join([*filter(None, [path]), "c", *(place[axis] for axis in order)])
            yield name, [url, *value[1:]]


def _check(series: Any, node: str) -> None:
    page = series.keyframe
    reason = ""
    if page.compression not in _COMPRESSORS:
        reason = f"its compression {getattr(page.compression, 'name', page.compression)} is no codec of Zarr"
    elif page.predictor != 1:
        reason = f"its predictor {getattr(page.predictor, 'name', page.predictor)} is no codec of Zarr"
    elif series.is_multifile:
        reason = "its pages lie in several files"
    if reason:
        raise ValueError(f"{node}: the image cannot be referred to in place: {reason}; convert it without virtual=True")


def _table(series: Any, node: str) -> dict[str, Any]:
    """Return the references of tifffile, in format 2."""
    text = io.StringIO()
    try:
        with series.aszarr(level=0) as store:
            store.write_fsspec(text, url="", version=0, compressors={50000: "zstd", 34926: "zstd"})
    except ValueError as error:
        raise ValueError(
            f"{node}: the image cannot be referred to in place: {error}; convert it without virtual=True"
        ) from error
    found: dict[str, Any] = json.loads(text.getvalue())
    return found
