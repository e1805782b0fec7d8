"""Read GeoTIFF, and any other raster file of GDAL, by rasterio."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from zarr._lazy import load
from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents
from zarr.tools.conversion.images.descriptions import as_json
from zarr.tools.conversion.images.geotiff_writing import NAMESPACE
from zarr.tools.conversion.images.tiff import joined_rows
from zarr.tools.copies.multiscales import MULTISCALES, geozarr_levels, scale_between

PROJ: Final = {
    "uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f",
    "name": "proj:",
    "schema_url": "https://raw.githubusercontent.com/zarr-conventions/geo-proj/refs/tags/v1/schema.json",
    "spec_url": "https://github.com/zarr-conventions/geo-proj/blob/v1/README.md",
}
SPATIAL: Final = {
    "uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
    "name": "spatial:",
    "schema_url": "https://raw.githubusercontent.com/zarr-conventions/spatial/refs/tags/v1/schema.json",
    "spec_url": "https://github.com/zarr-conventions/spatial/blob/v1/README.md",
}

_DERIVED: Final = frozenset(("IMAGE_STRUCTURE", "DERIVED_SUBDATASETS", "SUBDATASETS", NAMESPACE))


def read_geotiff(path: Any, losses: list[str]) -> Contents:
    """Return the contents of a GeoTIFF file.

    Parameters
    ----------
    path : str or PathLike
    losses : list of str
        Receives the losses.

    Returns
    -------
    ArrayContents or GroupContents
        An array with the dimensions ``band``, ``y``, ``x``, or ``y``, ``x`` for one band. With overviews a group with
        the levels ``0``, ``1`` … and the metadata of GeoZarr. Bands of several data types are the arrays ``band_1``,
        ``band_2`` … of a group. The conventions ``proj:`` and ``spatial:`` describe the place of the data; the
        attribute ``gdal`` has the other metadata of GDAL: the value of missing data, tags, descriptions of bands.

    Raises
    ------
    ImportError
        If rasterio is not installed.
    ValueError
        If GDAL cannot read the file, or it has no bands.

    Examples
    --------
    >>> import tempfile, os, numpy as np, rasterio
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tif")
    >>> place = rasterio.Affine(2.0, 0, 100.0, 0, -2.0, 900.0)
    >>> options = {"dtype": "uint8", "count": 1, "height": 3, "width": 4, "crs": "EPSG:32632", "transform": place}
    >>> with rasterio.open(path, "w", **options) as file:
    ...     file.write(np.arange(12, dtype="u1").reshape(1, 3, 4))
    >>> contents = read_geotiff(path, [])
    >>> contents.attributes["proj:code"], contents.attributes["spatial:bbox"]
    ('EPSG:32632', [100.0, 894.0, 108.0, 900.0])
    """
    rasterio: Any = load("rasterio")
    try:
        file = rasterio.open(path)
    except rasterio.errors.RasterioIOError as error:
        raise ValueError(f"{path} cannot be read by GDAL: {error}") from error
    with file:
        if not file.count:
            raise ValueError(f"{path} has no bands; its parts are {', '.join(file.subdatasets) or 'none'}")
        return _Raster(str(path), file, losses).contents()


class ReadBands:
    """Read a region of some bands; each process opens the file itself.

    Parameters
    ----------
    path : str
    bands : sequence of int
        Their numbers, from 1. A single number: the array has no axis of bands.
    overview : int, optional
        The overview to read. Default: the finest level.
    """

    def __init__(self, path: str, bands: int | Sequence[int], overview: int | None) -> None:
        self.path, self.bands, self.overview = path, bands, overview
        self._file: Any = None
        self._lock = Lock()

    def __call__(self, region: tuple[slice, ...]) -> Any:
        """Return the elements of a region."""
        rows, columns = region[-2:]
        window = ((rows.start, rows.stop), (columns.start, columns.stop))
        bands = self.bands if isinstance(self.bands, int) else list(self.bands[region[0]])
        with self._lock:
            if self._file is None:
                level = {} if self.overview is None else {"overview_level": self.overview}
                self._file = load("rasterio").open(self.path, **level)
            return self._file.read(bands, window=window)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "bands": self.bands, "overview": self.overview}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class _Raster:
    """An open file."""

    def __init__(self, path: str, file: Any, losses: list[str]) -> None:
        self.path, self.file, self.losses = path, file, losses
        self.own = _written(file)

    def contents(self) -> Contents:
        self._note_losses()
        attributes, packed = self._attributes(), self._packed()
        if len(set(self.file.dtypes)) > 1:
            if self.file.overviews(1):
                self.losses.append("/: overviews: the bands are of several data types")
            return GroupContents(
                attributes, {f"band_{number}": self._level(self.file, number, None, {}) for number in self.file.indexes}
            )
        bands = 1 if self.file.count == 1 and len(self.own.get("dimension_names", "yx")) == 2 else self.file.indexes
        if not self.file.overviews(1):
            return self._level(self.file, bands, None, attributes | packed)
        members = {"0": self._level(self.file, bands, None, packed)}
        for level in range(len(self.file.overviews(1))):
            with load("rasterio").open(self.path, overview_level=level) as file:
                members[str(level + 1)] = self._level(file, bands, level, packed)
        return GroupContents(self._pyramid(attributes, members), members)

    def _level(self, file: Any, bands: Any, overview: int | None, attributes: dict[str, Any]) -> ArrayContents:
        band = (bands if isinstance(bands, int) else 1) - 1
        rows, columns = file.block_shapes[band]
        dtype = _dtype(file.dtypes[band])
        rows = joined_rows(rows, file.height, columns * dtype.itemsize) if columns == file.width else rows
        together = file.count if getattr(file.interleaving, "name", "") == "pixel" else 1
        many = not isinstance(bands, int)
        return ArrayContents(
            (len(bands), file.height, file.width) if many else (file.height, file.width),
            dtype,
            ReadBands(self.path, tuple(bands) if many else bands, overview),
            chunks=(*((together,) if many else ()), min(rows, file.height), min(columns, file.width)),
            fill_value=_fill_value(self.file.nodatavals[band], dtype),
            dimension_names=tuple(self.own.get("dimension_names") or (("band", "y", "x") if many else ("y", "x"))),
            attributes=attributes,
        )

    def _note_losses(self) -> None:
        flags = {flag.name for band in self.file.mask_flag_enums for flag in band}
        if "per_dataset" in flags and "alpha" not in flags:
            self.losses.append(
                "/: the mask of the file: Zarr has fill values, which the elements below it may not have"
            )
        if "complex_int16" in self.file.dtypes:
            self.losses.append("/: the data type complex_int16: it becomes complex64")
        if self.file.subdatasets:
            self.losses.append(f"/: further images of the file: {', '.join(self.file.subdatasets)}")

    # Attributes

    def _attributes(self) -> dict[str, Any]:
        crs, file = self.file.crs, self.file
        conventions, found = [], {}
        if crs:
            conventions.append(PROJ)
            if code := _code_of(crs):
                found["proj:code"] = code
            found["proj:wkt2"] = crs.to_wkt(version="WKT2_2019")
        if not file.transform.is_identity:
            conventions.append(SPATIAL)
            found |= self._place()
        gdal = {name: value for name, value in self._gdal().items() if value not in (None, {}, [])}
        extra = {"zarr_conventions": conventions} if conventions else {}
        return {**self.own.get("attributes", {}), **extra, **found, **({"gdal": gdal} if gdal else {})}

    def _place(self) -> dict[str, Any]:
        names = list(self.own.get("dimension_names") or ("y", "x"))
        return {
            "spatial:dimensions": names[-2:],
            "spatial:transform": list(self.file.transform)[:6],
            "spatial:bbox": _bounds(self.file),
            "spatial:shape": [self.file.height, self.file.width],
            "spatial:registration": "pixel",
        }

    def _packed(self) -> dict[str, Any]:
        """Return the attributes of the convention CF for missing and packed values, if all bands have the same."""
        found: dict[str, Any] = {}
        scales, offsets = set(self.file.scales), set(self.file.offsets)
        if len(scales) == len(offsets) == 1 and (scales, offsets) != ({1.0}, {0.0}):
            found = {"scale_factor": scales.pop(), "add_offset": offsets.pop()}
        missing = {
            _fill_value(each, _dtype(kind)) for each, kind in zip(self.file.nodatavals, self.file.dtypes, strict=True)
        }
        if len(missing) == 1 and (value := missing.pop()) is not None and value == value and np.isrealobj(value):
            found["_FillValue"] = value.item() if isinstance(value, np.generic) else value
        return found

    def _gdal(self) -> dict[str, Any]:
        file = self.file
        points, crs = file.gcps
        names = [name for name in file.tag_namespaces() if name not in _DERIVED]
        missing = file.nodatavals[0] if len(set(map(str, file.nodatavals))) == 1 else list(file.nodatavals)
        return {
            "nodata": as_json(missing),
            "tags": file.tags(),
            "namespaces": {name: file.tags(ns=name) for name in names},
            "bands": [self._band(number) for number in file.indexes],
            "gcps": [{name: each for name, each in vars(point).items() if each is not None} for point in points],
            "gcps_wkt2": crs.to_wkt(version="WKT2_2019") if points and crs else None,
        }

    def _band(self, number: int) -> dict[str, Any]:
        file, place = self.file, number - 1
        found = {
            "description": file.descriptions[place],
            "unit": file.units[place],
            "scale": file.scales[place] if file.scales[place] != 1 else None,
            "offset": file.offsets[place] or None,
            "color_interpretation": file.colorinterp[place].name,
            "tags": file.tags(number),
        }
        try:
            found["colormap"] = as_json(file.colormap(number))
        except ValueError:
            pass
        return {name: value for name, value in found.items() if value}

    def _pyramid(self, attributes: dict[str, Any], members: Mapping[str, ArrayContents]) -> dict[str, Any]:
        shapes = [member.shape for member in members.values()]
        pairs = [(shapes[max(0, level - 1)], shape) for level, shape in enumerate(shapes)]
        pyramid = geozarr_levels([(scale_between(*pair), None) for pair in pairs])
        for entry, shape in zip(pyramid["layout"], shapes, strict=True):
            entry["spatial:shape"] = list(shape[-2:])
            if "spatial:transform" in attributes:
                sizes = self.file.width / shape[-1], self.file.height / shape[-2], 1.0
                entry["spatial:transform"] = [n * size for n, size in zip(self.file.transform, sizes * 2, strict=False)]
        conventions = [MULTISCALES, *attributes.get("zarr_conventions", ())]
        return {**attributes, "zarr_conventions": conventions, "multiscales": pyramid}


def _written(file: Any) -> dict[str, Any]:
    """Return the metadata that this library has written: attributes and names of dimensions."""
    try:
        return dict(json.loads(file.tags(ns=NAMESPACE).get("contents", "{}")))
    except ValueError:
        return {}


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype("c8" if name == "complex_int16" else name)


def _code_of(crs: Any) -> str | None:
    """Return the code of a coordinate system, if it is exactly that one: GDAL also finds codes of similar ones."""
    code = ":".join(crs.to_authority() or ())
    return code if code and type(crs).from_user_input(code) == crs else None


def _bounds(file: Any) -> list[float]:
    a, b, c, d, e, f = list(file.transform)[:6]
    corners = [(0, 0), (file.width, 0), (0, file.height), (file.width, file.height)]
    xs, ys = [a * x + b * y + c for x, y in corners], [d * x + e * y + f for x, y in corners]
    return [min(xs), min(ys), max(xs), max(ys)]


def _fill_value(missing: float | None, dtype: np.dtype[Any]) -> Any:
    """Return the value of missing data, if the data type has it."""
    if missing is None:
        return None
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(missing) if float(missing).is_integer() and limits.min <= missing <= limits.max else None
    return dtype.type(missing)
