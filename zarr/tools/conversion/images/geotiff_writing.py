"""Write GeoTIFF, by rasterio; coarser levels by tifffile."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from zarr._lazy import load
from zarr.tools.conversion.contents import ArrayContents, Contents
from zarr.tools.conversion.images.tiff_writing import BLOCK, LARGE, Layout, dtype_of, level_names, tile_of, tiles_of

NAMESPACE: Final = "ZARR"
"""The namespace of the tag with attributes that GDAL does not have."""

_TYPES: Final = frozenset(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "c8", "c16"])
_PACKED: Final = frozenset(("scale_factor", "add_offset", "_FillValue"))
_KNOWN: Final = frozenset(("zarr_conventions", "multiscales", "gdal")) | _PACKED


def write_geotiff(contents: Contents, path: Any, losses: list[str]) -> None:
    """Write an array, or a pyramid, as a GeoTIFF file.

    Parameters
    ----------
    contents : ArrayContents or GroupContents
        In a group without levels, the only array with two axes or more is written.
    path : str or PathLike
        The new file, with tiles, compressed by deflate. Above 4 GB it is a BigTIFF.
    losses : list of str
        Receives the losses.

    Raises
    ------
    TypeError
        If GeoTIFF has no such data type.
    ValueError
        If there are several arrays, or one has more axes than band, row and column.

    Examples
    --------
    >>> import tempfile, os, numpy as np, rasterio
    >>> data = np.arange(12, dtype="u1").reshape(3, 4)
    >>> attributes = {"proj:code": "EPSG:4326", "spatial:transform": [0.5, 0.0, 7.0, 0.0, -0.5, 50.0]}
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tif")
    >>> write_geotiff(ArrayContents(data.shape, data.dtype, data.__getitem__, attributes=attributes), path, [])
    >>> rasterio.open(path).bounds.right
    9.0
    """
    attributes, levels = _levels(contents, path, losses)
    finest = levels[0]
    dtype = dtype_of(finest)
    if dtype.str[1:] not in _TYPES:
        raise TypeError(f"{path}: GeoTIFF has no data type {dtype}: it has {', '.join(sorted(_TYPES))}")
    if len(finest.shape) not in (2, 3) or 0 in finest.shape:
        raise ValueError(f"{path}: GeoTIFF has bands, rows and columns, and no image of shape {finest.shape}")
    size = sum(math.prod(level.shape) * dtype.itemsize for level in levels)
    _Writer(finest, attributes, losses).write(path, size > LARGE)
    _append_levels(path, levels[1:])


def _levels(contents: Contents, path: Any, losses: list[str]) -> tuple[dict[str, Any], list[ArrayContents]]:
    """Return the attributes of an image, and its levels."""
    if isinstance(contents, ArrayContents):
        return dict(contents.attributes), [contents]
    arrays = {name: member for name, member in contents.members.items() if isinstance(member, ArrayContents)}
    if names := [name for name in level_names(contents.attributes) if name in arrays]:
        losses += [f"/{name}: the attributes of a level" for name in names if set(arrays[name].attributes) - _PACKED]
        losses += [f"/{name}: a member of a pyramid that is no level" for name in contents.members if name not in names]
        packed = {name: value for name, value in arrays[names[0]].attributes.items() if name in _PACKED}
        return {**contents.attributes, **packed}, [arrays[name] for name in names]
    images = [name for name, array in arrays.items() if len(array.shape) > 1]
    if len(images) != 1:
        raise ValueError(
            f"{path}: GeoTIFF has one image, and the group has {len(images)} arrays of two axes or more "
            f"({', '.join(images[:5])}): convert one of them"
        )
    losses += [f"/{name}: it is beside the image {images[0]}" for name in contents.members if name != images[0]]
    return {**contents.attributes, **arrays[images[0]].attributes}, [arrays[images[0]]]


class _Writer:
    """Write the finest level and the metadata."""

    def __init__(self, array: ArrayContents, attributes: dict[str, Any], losses: list[str]) -> None:
        self.array, self.attributes, self.losses = array, attributes, losses
        self.gdal = attributes.get("gdal", {})
        self.bands = array.shape[0] if len(array.shape) == 3 else 1
        chunks = array.chunks or array.shape
        self.tile = tile_of(chunks[-2:], array.shape[-2:])
        self.together = len(array.shape) == 3 and chunks[0] >= self.bands > 1

    def write(self, path: Any, large: bool) -> None:
        rasterio: Any = load("rasterio")
        height, width = self.array.shape[-2:]
        options: dict[str, Any] = {
            "driver": "GTiff",
            "dtype": dtype_of(self.array).name,
            "count": self.bands,
            "height": height,
            "width": width,
            "crs": self._crs(rasterio),
            "nodata": self._nodata(),
            "tiled": True,
            "blockysize": self.tile[0],
            "blockxsize": self.tile[1],
            "compress": "deflate",
            "interleave": "pixel" if self.together else "band",
            "bigtiff": "YES" if large else "NO",
        }
        if place := self.attributes.get("spatial:transform"):
            options["transform"] = rasterio.Affine(*place[:6])
        with rasterio.open(path, "w", **options) as file:
            self._write_metadata(rasterio, file)
            for bands, rows in self._parts():
                region = (slice(bands[0] - 1, bands[-1]), rows, slice(0, width))[3 - len(self.array.shape) :]
                block = np.asarray(self.array.read(region), dtype=dtype_of(self.array))
                block = block.reshape(len(bands), -1, width)
                file.write(block, bands, window=((rows.start, rows.stop), (0, width)))

    def _parts(self) -> Iterator[tuple[list[int], slice]]:
        """Yield bands and rows that are written together."""
        height, width = self.array.shape[-2:]
        chunks = self.array.chunks or self.array.shape
        groups = [list(range(1, self.bands + 1))] if self.together else [[n] for n in range(1, self.bands + 1)]
        row = width * dtype_of(self.array).itemsize * len(groups[0])
        step = min(max(chunks[-2], self.tile[0]), max(self.tile[0], BLOCK // row)) // self.tile[0] * self.tile[0]
        for bands in groups:
            for top in range(0, height, step):
                yield bands, slice(top, min(top + step, height))

    def _crs(self, rasterio: Any) -> Any:
        systems = [
            self.attributes[name] for name in ("proj:code", "proj:wkt2", "proj:projjson") if name in self.attributes
        ]
        for each in systems:
            try:
                return rasterio.crs.CRS.from_user_input(each)
            except rasterio.errors.CRSError:
                continue
        if systems:
            self.losses.append(f"/: the coordinate system {str(systems[0])[:60]!r}: GDAL does not know it")
        return None

    def _nodata(self) -> float | None:
        missing = self.gdal.get("nodata")
        if isinstance(missing, list):
            self.losses.append("/: values of missing data that differ between bands: GeoTIFF has one")
            missing = missing[0]
        if missing is None and not self.gdal:
            missing = self.attributes.get("_FillValue")
        if missing is None and not self.gdal and self.array.fill_value is not None and self.array.fill_value != 0:
            missing = float(self.array.fill_value)
        return None if missing is None else float(missing)

    def _write_metadata(self, rasterio: Any, file: Any) -> None:
        for number, band in zip(file.indexes, self.gdal.get("bands", ()), strict=False):
            self._write_band_metadata(rasterio, file, number, band)
        if not self.gdal and {"scale_factor", "add_offset"} & set(self.attributes):
            file.scales = [float(self.attributes.get("scale_factor", 1.0))] * self.bands
            file.offsets = [float(self.attributes.get("add_offset", 0.0))] * self.bands
        file.update_tags(**self.gdal.get("tags", {}))
        for name, tags in self.gdal.get("namespaces", {}).items():
            file.update_tags(ns=name, **tags)
        if points := self.gdal.get("gcps"):
            made = [rasterio.control.GroundControlPoint(**point) for point in points]
            crs = self.gdal.get("gcps_wkt2")
            file.gcps = made, rasterio.crs.CRS.from_wkt(crs) if crs else None
        own = {
            name: v
            for name, v in self.attributes.items()
            if name not in _KNOWN and not name.startswith(("proj:", "spatial:"))
        }
        usual = ("band", "y", "x")[-len(self.array.shape) :]
        names = tuple(self.array.dimension_names or usual)
        # A single band with an axis of its own is described by its names.
        contents = {
            "attributes": own,
            "dimension_names": names if names != usual or self.array.shape[:-2] == (1,) else (),
        }
        if any(contents.values()):
            file.update_tags(ns=NAMESPACE, contents=json.dumps({name: v for name, v in contents.items() if v}))

    def _write_band_metadata(self, rasterio: Any, file: Any, number: int, band: Mapping[str, Any]) -> None:
        for name, method in (("description", file.set_band_description), ("unit", file.set_band_unit)):
            if name in band:
                method(number, band[name])
        file.update_tags(number, **band.get("tags", {}))
        if "colormap" in band:
            file.write_colormap(number, {int(value): tuple(colour) for value, colour in band["colormap"].items()})
        place = number - 1
        if "scale" in band or "offset" in band:
            scales, offsets = list(file.scales), list(file.offsets)
            scales[place], offsets[place] = band.get("scale", 1.0), band.get("offset", 0.0)
            file.scales, file.offsets = scales, offsets
        if "color_interpretation" in band and "colormap" not in band:
            colours = list(file.colorinterp)
            colours[place] = rasterio.enums.ColorInterp[band["color_interpretation"]]
            file.colorinterp = colours


def _append_levels(path: Any, levels: list[ArrayContents]) -> None:
    """Add coarser levels after the finest: GDAL uses reduced images as overviews."""
    if not levels:
        return
    with load("tifffile").TiffWriter(path, append=True, shaped=False) as writer:
        for level in levels:
            chunks = level.chunks or level.shape
            tile = tile_of(chunks[-2:], level.shape[-2:])
            layout = Layout(level.shape, chunks, tile, 0, dtype_of(level))
            colours = {"planarconfig": "separate"} if len(level.shape) == 3 and level.shape[0] > 1 else {}
            writer.write(
                tiles_of(level.read, layout),
                shape=level.shape,
                dtype=layout.dtype,
                tile=tile,
                compression="zlib",
                photometric="minisblack",
                subfiletype=1,
                metadata=None,
                **colours,
            )
