"""Read TIFF, OME-TIFF and TIFF of ImageJ, by tifffile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

import zarr
from zarr._lazy import load
from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents
from zarr.tools.conversion.images.descriptions import OmeImage, as_json, parse_ome, tags_of
from zarr.tools.copies.multiscales import MULTISCALES, Place, geozarr_levels, ome_axes, ome_image, scale_between

LARGEST: Final = 64 << 20
"""Maximum size of a page without compression that becomes one chunk; of a larger one any part can be read."""

PAGES: Final = 1000
"""Number of pages of an image whose tags are compared with those of the first."""


def read_tiff(path: Any, losses: list[str]) -> Contents:
    """Return the contents of a TIFF file.

    Parameters
    ----------
    path : str or PathLike
    losses : list of str
        Receives the losses.

    Returns
    -------
    ArrayContents or GroupContents
        An array for one image without levels and without OME-XML, else a group. A pyramid, and an image with OME-XML,
        is a group with the levels ``0``, ``1`` … and the metadata of OME-Zarr 0.5. Several images are the members
        ``0``, ``1`` …

        A file with coordinates on the earth is read as :func:`read_geotiff` does, if rasterio is installed.

    Raises
    ------
    ImportError
        If tifffile, or the codecs for the file, are not installed.
    ValueError
        If the file is no TIFF file, or its elements cannot be read.

    Examples
    --------
    >>> import tempfile, os, numpy as np, tifffile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tif")
    >>> tifffile.imwrite(path, np.arange(600, dtype="u2").reshape(2, 15, 20), metadata={"axes": "ZYX"})
    >>> contents = read_tiff(path, [])
    >>> contents.dimension_names, contents.read((slice(1, 2), slice(0, 1), slice(3, 5)))
    (('z', 'y', 'x'), array([[[303, 304]]], dtype=uint16))
    """
    tifffile = load("tifffile")

    try:
        file = tifffile.TiffFile(path)
    except tifffile.TiffFileError as error:
        raise ValueError(f"{path} cannot be read as TIFF: {error}") from error
    with file:
        if is_raster(file):
            if find_spec("rasterio") is not None:
                read: Callable[..., Contents] = load("zarr.tools.conversion.images.geotiff").read_geotiff
                return read(path, losses)
            losses.append("/: the coordinate system: it is among the tags; pip install 'zarr[geo]' reads it")
        return _contents_of(file, losses)


def is_raster(file: Any) -> bool:
    """Return True if a file is one georeferenced image, with or without coarser levels."""
    if not file.is_geotiff or file.is_ome:
        return False
    return len([page for page in file.pages if not page.subfiletype & 5]) == 1


def read_plain_tiff(path: Any, losses: list[str]) -> Contents:
    """Return the contents of a TIFF file, without GDAL's coordinates: see :func:`read_tiff`.

    Examples
    --------
    >>> import tempfile, os, numpy as np, tifffile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tif")
    >>> tifffile.imwrite(path, np.zeros((2, 3), "u1"))
    >>> read_plain_tiff(path, []).shape
    (2, 3)
    """
    with load("tifffile").TiffFile(path) as file:
        return _contents_of(file, losses)


def _contents_of(file: Any, losses: list[str]) -> Contents:
    several = len(file.series) > 1
    text = file.ome_metadata if file.is_ome else None
    ome = parse_ome(text or "")
    images = []
    for number, series in enumerate(file.series):
        image = ome[number] if len(ome) == len(file.series) else None
        images.append(_Image(file, number, series, image, str(number) if several else "", losses).contents())
    if not images:
        raise ValueError(f"{file.filename} has no image that can be read")
    written = [each.get("zarr", {}) for each in file.shaped_metadata or ()]
    places = {each.get("path"): image for each, image in zip(written, images, strict=False)}
    if len(places.keys() - {None, ""}) == len(images):
        return _hierarchy(places, written[0].get("groups", {}))
    whole = {"ome_xml": text} if text else {}
    if several:
        layout = {"ome": {"version": "0.5", "bioformats2raw.layout": 3}} if text else {}
        return GroupContents(layout | whole, {str(number): image for number, image in enumerate(images)})
    (only,) = images
    return GroupContents({**only.attributes, **whole}, only.members) if isinstance(only, GroupContents) else only


def _hierarchy(images: dict[str, Contents], groups: dict[str, Any], path: str = "") -> GroupContents:
    """Return the hierarchy that was written as one file."""
    below = {place: image for place, image in images.items() if place.startswith(path)}
    members: dict[str, Contents] = {}
    for place, image in below.items():
        name, _, deeper = place[len(path) :].partition("/")
        if name not in members:
            members[name] = _hierarchy(below, groups, f"{path}{name}/") if deeper else image
    return GroupContents(groups.get(path.rstrip("/"), {}), members)


class ReadRegion:
    """Read a region of one level of an image; each process opens the file itself.

    Parameters
    ----------
    path : str
    series, level : int
    order : sequence of int
        For each axis of the result, the axis in the file.
    mapped : bool
        If True, the elements are contiguous in the file, without compression.
    whole : bool
        If True, the level is read as a whole: tifffile cannot read parts of pages with one row or column.
    """

    def __init__(self, path: str, series: int, level: int, order: Sequence[int], *, mapped: bool, whole: bool) -> None:
        self.path, self.series, self.level, self.order = path, series, level, tuple(order)
        self.mapped, self.whole = mapped, whole
        self._source: Any = None

    def __call__(self, region: tuple[slice, ...]) -> Any:
        """Return the elements of a region."""
        wanted = [slice(None)] * len(self.order)
        for axis, part in zip(self.order, region, strict=True):
            wanted[axis] = part
        elements = self.source()[tuple(wanted)]
        return np.ascontiguousarray(elements.transpose(self.order), dtype=elements.dtype.newbyteorder("="))

    def source(self) -> Any:
        """Return the level as an object to select from; the first use opens it."""
        if self._source is None:
            tifffile = load("tifffile")

            place = {"series": self.series, "level": self.level}
            if self.whole:
                self._source = tifffile.imread(self.path, **place)
            elif self.mapped:
                self._source = tifffile.memmap(self.path, mode="r", **place)
            else:
                self._source = zarr.open_array(tifffile.imread(self.path, aszarr=True, **place), mode="r")
        return self._source

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_source": None}


class _Image:
    """One series of a file."""

    def __init__(
        self, file: Any, number: int, series: Any, ome: OmeImage | None, node: str, losses: list[str]
    ) -> None:
        self.file, self.number, self.series, self.node, self.losses = file, number, series, f"/{node}", losses
        self.ome = ome or OmeImage("", {}, {}, (), (), 0)
        self.names = tuple(self._shaped().get("zarr", {}).get("dimension_names") or _names(series.axes))
        self.order = tuple(range(len(self.names)))
        if self.is_group:
            self.names, self.order = _ome_order(self.names)

    @property
    def is_group(self) -> bool:
        return len(self.series.levels) > 1 or bool(self.file.is_ome)

    def contents(self) -> Contents:
        own, ome = self._attributes(), self._description()
        if not self.is_group:
            return self._level(0, ome | own)
        members = {str(level): self._level(level, {}) for level in range(len(self.series.levels))}
        return GroupContents(ome | own | self._pyramid(members), members)

    # Levels

    def _level(self, level: int, attributes: dict[str, Any]) -> ArrayContents:
        series = self.series.levels[level]
        if series.dtype is None:
            raise ValueError(f"image {self.number} of {self.file.filename}: its elements are of no known data type")
        with series.aszarr(level=0) as store:
            array = zarr.open_array(store, mode="r")
        mapped = series.dataoffset is not None and series.keyframe.is_memmappable and not series.is_multifile
        whole = not mapped and 1 in (series.keyframe.imagelength, series.keyframe.imagewidth)
        chunks = self._chunks(series, array, mapped)
        return ArrayContents(
            self._ordered(array.shape),
            series.dtype.newbyteorder("="),
            ReadRegion(self.file.filehandle.path, self.number, level, self.order, mapped=mapped, whole=whole),
            chunks=None if chunks is None else self._ordered(chunks),
            fill_value=array.fill_value,
            dimension_names=self.names if any(self.names) else None,
            attributes=attributes,
        )

    def _ordered(self, lengths: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(lengths[axis]) for axis in self.order)

    def _chunks(self, series: Any, array: Any, mapped: bool) -> tuple[int, ...] | None:
        chunks = [min(chunk, max(length, 1)) for chunk, length in zip(array.chunks, array.shape, strict=True)]
        size = math.prod(chunks) * array.dtype.itemsize
        if mapped and size > LARGEST:
            return None
        if not series.keyframe.is_tiled and "Y" in series.axes:
            rows = series.axes.index("Y")
            chunks[rows] = joined_rows(chunks[rows], array.shape[rows], size // max(chunks[rows], 1))
        return tuple(chunks)

    # Attributes

    def _attributes(self) -> dict[str, Any]:
        page = self.series.keyframe
        found: dict[str, Any] = {}
        photometric = getattr(page.photometric, "name", str(page.photometric))
        if photometric == "YCBCR" and "JPEG" in getattr(page.compression, "name", ""):
            photometric = "RGB"  # tifffile decodes to it
        if photometric != "MINISBLACK":
            found["photometric"] = photometric
        if tags := tags_of(page, self.node, self.losses):
            found["tags"] = tags
        self._compare_pages(tags)
        return {"tiff": found} if found else {}

    def _compare_pages(self, tags: dict[str, Any]) -> None:
        pages = self.series.pages
        if len(pages) > PAGES:
            self.losses.append(
                f"{self.node}: tags of pages after the first: there are {len(pages)}, which were not read"
            )
            return
        others = [number for number in range(1, len(pages)) if self._differs(pages[number], tags)]
        if others:
            self.losses.append(f"{self.node}: tags of {len(others)} pages that differ from those of the first page")

    def _differs(self, page: Any, tags: dict[str, Any]) -> bool:
        if page is None:
            return False
        full = page.aspage() if hasattr(page, "aspage") else page
        own = tags_of(full, self.node, [])
        return any(tags.get(name) != value for name, value in own.items())

    def _shaped(self) -> dict[str, Any]:
        """Return the metadata that tifffile wrote as JSON."""
        if self.series.kind != "shaped" or not self.file.shaped_metadata:
            return {}
        return dict(self.file.shaped_metadata[self.number])

    def _description(self) -> dict[str, Any]:
        page, kind = self.series.keyframe, self.series.kind
        if kind == "imagej":
            return {"imagej": as_json(self.file.imagej_metadata or {})}
        if kind == "shaped":
            return _shaped_attributes(self._shaped())
        if self.file.is_ome or not page.description:
            return {}
        return {"tiff_description": page.description}

    # Pyramids

    def _pyramid(self, members: dict[str, ArrayContents]) -> dict[str, Any]:
        shapes = [member.shape for member in members.values()]
        try:
            axes = ome_axes(self.names, {name: self.ome.units[name] for name in self.names if name in self.ome.units})
        except ValueError:
            self.losses.append(
                f"{self.node}: the metadata of OME-Zarr: it has no image with the dimensions {self.names}; the "
                "convention multiscales of GeoZarr describes the levels"
            )
            relative = [(scale_between(shapes[max(0, n - 1)], shape), None) for n, shape in enumerate(shapes)]
            return {"zarr_conventions": [MULTISCALES], "multiscales": geozarr_levels(relative)}
        image = ome_image(self.ome.name or self.series.name or "image", axes, self._places(shapes))
        channels = {"omero": {"channels": self._channels(members["0"])}} if self.ome.channels else {}
        return {"ome": {"version": "0.5", "multiscales": [image], **channels}}

    def _places(self, shapes: list[tuple[int, ...]]) -> Iterator[Place]:
        sizes = [self.ome.sizes.get(name or "", 1.0) for name in self.names]
        for shape in shapes:
            yield [size * scale for size, scale in zip(sizes, scale_between(shapes[0], shape), strict=True)], None

    def _channels(self, finest: ArrayContents) -> list[dict[str, Any]]:
        dtype = np.dtype(finest.dtype)
        least, most = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (0, 1)
        if dtype.kind == "u" and self.ome.bits:
            most = min(most, 2**self.ome.bits - 1)
        window = {"min": least, "max": most, "start": least, "end": most}
        pairs = zip(self.ome.channels, self.ome.colours, strict=True)
        return [{"label": name, "color": colour, "window": window} for name, colour in pairs]


def _names(axes: str) -> tuple[str | None, ...]:
    """Return names of dimensions for the letters of tifffile; ``Q`` is an unknown axis."""
    return tuple(None if letter == "Q" or axes.count(letter) > 1 else letter.lower() for letter in axes)


def _ome_order(names: tuple[str | None, ...]) -> tuple[tuple[str | None, ...], tuple[int, ...]]:
    """Return names and axes in the order of OME-Zarr, if they have one there: samples are channels."""
    if "c" not in names:
        names = tuple("c" if name == "s" else name for name in names)
    order = list(range(len(names)))
    if set(names) <= set("tczyx"):
        order.sort(key=lambda axis: "tczyx".index(names[axis] or "x"))
    return tuple(names[axis] for axis in order), tuple(order)


def _shaped_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes: those written from Zarr, or those of the user of tifffile."""
    if "zarr" in attributes:
        return dict(attributes.get("attributes", {}))
    return {name: value for name, value in attributes.items() if name not in ("shape", "axes", "truncated")}


STRIPS: Final = 1 << 20
"""Strips are joined until a chunk has about this number of bytes."""


def joined_rows(rows: int, height: int, row_bytes: int) -> int:
    """Return the number of rows of the strips that form a chunk.

    Parameters
    ----------
    rows : int
        Rows of one strip.
    height : int
        Height of the image.
    row_bytes : int
        The bytes of one row.

    Examples
    --------
    >>> joined_rows(1, 5000, 8192), joined_rows(4096, 5000, 8192), joined_rows(1, 50, 8192)
    (128, 4096, 50)
    """
    return min(rows * max(1, STRIPS // max(rows * row_bytes, 1)), max(height, 1))
