"""Write TIFF and OME-TIFF by tifffile: tile after tile, in limited memory."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from zarr._lazy import load
from zarr.storage.keys import join
from zarr.tools.conversion.contents import ArrayContents, Contents
from zarr.tools.conversion.images.descriptions import UNITS, ome_colours

BLOCK: Final = 64 << 20
"""Maximum number of bytes of elements in memory at once."""

LARGE: Final = (1 << 32) - (1 << 25)
"""Number of bytes of elements above which a BigTIFF is written."""
_LARGEST_TILE: Final = 1024
_TILE: Final = 512
_OME_TYPES: Final = frozenset(["bool", "u1", "u2", "u4", "i1", "i2", "i4", "f4", "f8", "c8", "c16"])
_TYPES: Final = _OME_TYPES | frozenset(["u8", "i8", "f2"])
_SYMBOLS: Final = {name: symbol for symbol, name in UNITS.items()}


class _Image(NamedTuple):
    """An image to be written: its path, its levels, and the attributes of the group that holds them."""

    path: str
    levels: list[ArrayContents]
    group_attributes: Mapping[str, Any]


def write_tiff(contents: Contents, path: Any, losses: list[str]) -> None:
    """Write an array, a pyramid or a hierarchy as a TIFF file; a pyramid of OME-Zarr as OME-TIFF.

    Parameters
    ----------
    contents : ArrayContents or GroupContents
        The last two axes are those of a page, or the last three, if the last one has the name ``s`` (samples).
    path : str or PathLike
        The new file, with tiles, compressed by zlib. Above 4 GB it is a BigTIFF.
    losses : list of str
        Receives the losses.

    Raises
    ------
    TypeError
        If TIFF does not have a data type.
    ValueError
        If an array has fewer than two axes, or no elements.

    Examples
    --------
    >>> import tempfile, os, numpy as np, tifffile
    >>> data = np.arange(600, dtype="u2").reshape(20, 30)
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tif")
    >>> write_tiff(ArrayContents(data.shape, data.dtype, data.__getitem__), path, [])
    >>> int(tifffile.imread(path)[3, 4])
    94
    """
    images = list(_images_of(contents, "", losses))
    ome = bool(images) and all("ome" in image.group_attributes for image in images)
    _write(images, contents, path, ome, losses)


def write_ome_tiff(contents: Contents, path: Any, losses: list[str]) -> None:
    """Write an array, a pyramid or a hierarchy as OME-TIFF: see :func:`write_tiff`.

    Examples
    --------
    >>> import tempfile, os, numpy as np, tifffile
    >>> data = np.arange(600, dtype="u2").reshape(20, 30)
    >>> path = os.path.join(tempfile.mkdtemp(), "a.ome.tif")
    >>> write_ome_tiff(ArrayContents(data.shape, data.dtype, data.__getitem__), path, [])
    >>> tifffile.TiffFile(path).is_ome
    True
    """
    _write(list(_images_of(contents, "", losses)), contents, path, True, losses)


def _images_of(contents: Contents, path: str, losses: list[str]) -> Iterator[_Image]:
    if isinstance(contents, ArrayContents):
        yield _Image(path, [contents], {})
    elif names := level_names(contents.attributes):
        levels = [contents.members.get(name) for name in names]
        arrays = [level for level in levels if isinstance(level, ArrayContents)]
        others = set(contents.members) - set(names)
        losses += [f"/{join(path, name)}: a member of a pyramid that is no level" for name in sorted(others)]
        if arrays:
            yield _Image(path, arrays, contents.attributes)
    else:
        for name, member in contents.members.items():
            yield from _images_of(member, join(path, name), losses)


def level_names(attributes: Mapping[str, Any]) -> list[str]:
    """Return the names of the levels, if the attributes of a group are those of a pyramid; else nothing.

    Examples
    --------
    >>> level_names({"ome": {"multiscales": [{"datasets": [{"path": "0"}]}]}})
    ['0']
    """
    ome = attributes.get("ome")
    found = ome.get("multiscales") if isinstance(ome, Mapping) else attributes.get("multiscales")
    try:
        if isinstance(found, Mapping):
            return [str(level["asset"]) for level in found["layout"]]
        return [str(level["path"]) for level in found[0]["datasets"]] if found else []
    except (KeyError, IndexError, TypeError):
        return []


def _write(images: list[_Image], contents: Contents, path: Any, ome: bool, losses: list[str]) -> None:
    tifffile = load("tifffile")

    if not images:
        raise ValueError(f"{path}: there is no array to be written")
    for image in images:
        for level in image.levels:
            _check(level, image.path, _OME_TYPES if ome else _TYPES)
    size = sum(math.prod(level.shape) * dtype_of(level).itemsize for image in images for level in image.levels)
    groups = {} if ome else _groups_of(contents, "")
    if ome and len(images) > 1:
        losses += [
            f"/{node}: the attribute {name!r}"
            for node, own in _groups_of(contents, "").items()
            for name in sorted(set(own) - {"ome", "ome_xml"})
        ]
    with tifffile.TiffWriter(path, bigtiff=size > LARGE, ome=ome, shaped=not ome) as writer:
        for number, image in enumerate(images):
            _ImageWriter(image, ome, losses).write(writer, groups if number == 0 else {})


def _groups_of(contents: Contents, path: str) -> dict[str, Any]:
    """Return the attributes of the groups that are no pyramids, by path."""
    if isinstance(contents, ArrayContents) or level_names(contents.attributes):
        return {}
    found = {path: dict(contents.attributes)}
    for name, member in contents.members.items():
        found |= _groups_of(member, join(path, name))
    return found


def dtype_of(array: ArrayContents) -> np.dtype[Any]:
    """Return the NumPy data type of an array, in the byte order of this computer."""
    found = array.native_dtype
    return found if found.kind in "TO" else found.newbyteorder("=")


def _check(array: ArrayContents, path: str, known: frozenset[str]) -> None:
    dtype, node = dtype_of(array), path or "/"
    if (dtype.str[1:] if dtype.kind != "b" else "bool") not in known:
        format_name = "OME-TIFF" if known is _OME_TYPES else "TIFF"
        raise TypeError(f"{node}: {format_name} has no data type {dtype}: it has {', '.join(sorted(known))}")
    if len(array.shape) < 2 or 0 in array.shape:
        raise ValueError(
            f"{node}: TIFF has no image of shape {array.shape}: it wants two axes or more, none of length 0"
        )
    if array.shape[-1] == 1:
        raise ValueError(
            f"{node}: an image of one column, of shape {array.shape}, is not written: tifffile takes it for a row"
        )


class _ImageWriter:
    """Write one image."""

    def __init__(self, image: _Image, ome: bool, losses: list[str]) -> None:
        self.image, self.ome, self.losses, self.node = image, ome, losses, f"/{image.path}"
        first = image.levels[0]
        self.attributes = dict(image.group_attributes or first.attributes)
        self.tiff = self.attributes.get("tiff", {})
        self.names = tuple(first.dimension_names or (None,) * len(first.shape))
        self.order = self._order()
        self.named = tuple(self.names[axis] for axis in self.order)
        self.letters = self._letters([first.shape[axis] for axis in self.order])

    def _order(self) -> tuple[int, ...]:
        """Return the axes in the order of the file: the channels of a colour image are last."""
        axes = list(range(len(self.names)))
        moves = self.tiff.get("photometric") == "RGB" and (self.ome or self.image.group_attributes)
        if moves and "s" not in self.names and self.names.count("c") == 1:
            channel = self.names.index("c")
            if self.image.levels[0].shape[channel] in (3, 4) and len(axes) > 2:
                axes.append(axes.pop(channel))
                self.names = tuple("s" if name == "c" else name for name in self.names)
        return tuple(axes)

    @property
    def contiguous(self) -> bool:
        """Return True if the last axis is that of samples, which lie together."""
        return self.letters[-1] == "S"

    def _letters(self, shape: Sequence[int]) -> str:
        """Return the letters of the axes for tifffile; in OME-TIFF the last are always Y and X, or Y, X and S."""
        found = "".join(name.upper() if name and len(name) == 1 and name in "tczyxs" else "Q" for name in self.named)
        # tifffile does not put samples of one bit side by side.
        if found[-1] == "S" and (len(shape) < 3 or shape[-1] == 1 or dtype_of(self.image.levels[0]).kind == "b"):
            found = f"{found[:-1]}Q"
        samples = found[-1] == "S"
        known = set(found) <= set("TCZYXS") and len(set(found)) == len(found)
        if not self.ome or (known and found.removesuffix("S").endswith("YX")):
            return found
        lead = len(found) - 2 - samples
        if lead > 3:
            raise ValueError(f"{self.node}: OME-TIFF has no image with the dimensions {self.named}: it has t c z y x")
        made = "TCZ"[3 - lead :] + "YX" + "S" * samples
        if any(self.named):
            self.losses.append(f"{self.node}: the dimensions {self.named}: they are called {made}")
        return made

    def write(self, writer: Any, groups: dict[str, Any]) -> None:
        """Write all levels."""
        finest, *coarser = self.image.levels
        self._note_losses()
        options = self._tags()
        metadata = self._ome() if self.ome else self._shaped(groups)
        self._write_level(writer, finest, subifds=len(coarser), metadata=metadata, **options)
        for level in coarser:
            self._write_level(writer, level, subfiletype=1)

    def _write_level(self, writer: Any, array: ArrayContents, **options: Any) -> None:
        shape = tuple(array.shape[axis] for axis in self.order)
        chunks = tuple((array.chunks or array.shape)[axis] for axis in self.order)
        pixels = slice(-3, -1) if self.contiguous else slice(-2, None)
        tile = tile_of(chunks[pixels], shape[pixels])
        layout = Layout(shape, chunks, tile, 1 if self.contiguous else 0, dtype_of(array))
        self._compare_chunks(array, chunks, layout)
        writer.write(
            tiles_of(self._reader(array), layout),
            shape=shape,
            dtype=layout.dtype,
            tile=tile,
            compression="zlib",
            **self._colours(shape),
            **options,
        )

    def _compare_chunks(self, array: ArrayContents, chunks: tuple[int, ...], layout: Layout) -> None:
        pixels = len(chunks) - 2 - layout.samples
        tile = tuple(min(*each) for each in zip(layout.tile, layout.shape[pixels:], strict=False))
        made = (1,) * pixels + tile + layout.shape[pixels + 2 :]
        if array.chunks is not None and tuple(min(*each) for each in zip(chunks, layout.shape, strict=True)) != made:
            self.losses.append(f"{self.node}: chunks of shape {array.chunks}: tiles are of shape {layout.tile}")

    def _reader(self, array: ArrayContents) -> Any:
        def read(region: tuple[slice, ...]) -> Any:
            wanted = [slice(None)] * len(region)
            for axis, part in zip(self.order, region, strict=True):
                wanted[axis] = part
            return np.asarray(array.read(tuple(wanted))).transpose(self.order)

        return read

    def _colours(self, shape: tuple[int, ...]) -> dict[str, Any]:
        if self.contiguous:
            rgb = shape[-1] in (3, 4)
            return {"photometric": "rgb" if rgb else "minisblack", "planarconfig": "contig"}
        if len(shape) > 2 and self.letters[-3] == "S" and shape[-3] in (3, 4):
            return {"photometric": "rgb", "planarconfig": "separate"}
        if self.tiff.get("photometric") == "PALETTE" and "ColorMap" in self.tiff.get("tags", {}):
            return {"photometric": "palette", "colormap": np.asarray(self.tiff["tags"]["ColorMap"], "u2")}
        white = self.tiff.get("photometric") == "MINISWHITE"
        return {"photometric": "miniswhite" if white else "minisblack"}

    # Descriptions

    def _shaped(self, groups: dict[str, Any]) -> dict[str, Any]:
        own: dict[str, Any] = {"path": self.image.path, "dimension_names": list(self.named)}
        known = {"tiff", "multiscales", "zarr_conventions"} if self.image.group_attributes else {"tiff"}
        attributes = {name: value for name, value in self.attributes.items() if name not in known}
        if any(groups) or any(groups.values()):
            own["groups"] = groups
        return {"axes": self.letters, "attributes": attributes, "zarr": own}

    def _ome(self) -> dict[str, Any]:
        ome = self.attributes.get("ome", {})
        image = (ome.get("multiscales") or [{}])[0]
        metadata: dict[str, Any] = {"axes": self.letters, "Name": image.get("name", self.image.path or "image")}
        scale = self._scale(image)
        for axis, size in zip(image.get("axes", ()), scale, strict=False):
            key = {"t": "TimeIncrement"}.get(axis["name"], f"PhysicalSize{axis['name'].upper()}")
            if axis["name"] in "tzyx" and (size != 1 or "unit" in axis):
                metadata |= {key: size, f"{key}Unit": _SYMBOLS.get(axis.get("unit", ""), "pixel")}
                if axis.get("unit", "pixel") not in _SYMBOLS and "unit" in axis:
                    self.losses.append(f"{self.node}: the unit {axis['unit']!r} of the axis {axis['name']}")
        channels = ome.get("omero", {}).get("channels", ())
        named = {"Name": [channel.get("label", "") for channel in channels]}
        return metadata | ({"Channel": named | ome_colours(channels)} if channels else {})

    def _scale(self, image: Mapping[str, Any]) -> list[float]:
        changes = (image.get("datasets") or [{}])[0].get("coordinateTransformations", ())
        return next((list(change["scale"]) for change in changes if change.get("type") == "scale"), [])

    def _tags(self) -> dict[str, Any]:
        """Return the parameters of the writer for tags that were read from a TIFF file."""
        tags = dict(self.tiff.get("tags", {}))
        options: dict[str, Any] = {}
        colours = self._colours(tuple(self.image.levels[0].shape[axis] for axis in self.order))
        if colours["photometric"] != self.tiff.get("photometric", colours["photometric"]).lower():
            self.losses.append(
                f"{self.node}: the colours {self.tiff['photometric']}: {colours['photometric']} is written"
            )
        if "colormap" in colours:
            tags.pop("ColorMap")
        if "XResolution" not in tags:
            tags.pop("ResolutionUnit", None)
        if "XResolution" in tags and "YResolution" in tags:
            options["resolution"] = tuple(tuple(tags.pop(name)) for name in ("XResolution", "YResolution"))
            options["resolutionunit"] = tags.pop("ResolutionUnit", 1)
        for name, key in (("Software", "software"), ("DateTime", "datetime")):
            if isinstance(tags.get(name), str):
                options[key] = tags.pop(name)
        if isinstance(profile := tags.get("InterColorProfile"), Mapping):
            options["iccprofile"] = base64.b64decode(profile["base64"])
            tags.pop("InterColorProfile")
        texts = {name: tags.pop(name) for name, value in list(tags.items()) if isinstance(value, str)}
        options["extratags"] = [extra for name, text in texts.items() if (extra := self._extra(name, text))]
        self.losses += [f"{self.node}: the tag {name}: it is not written" for name in tags]
        return options

    def _extra(self, name: str, text: str) -> tuple[int, int, int, str, bool] | None:
        tifffile = load("tifffile")

        code = int(name) if name.isdigit() else tifffile.TIFF.TAGS.get(name)
        if code is None or not text.isascii():
            self.losses.append(f"{self.node}: the tag {name}: it is not written")
            return None
        return (code, 2, 0, text, True)

    def _note_losses(self) -> None:
        kept = {"tiff", "ome", "ome_xml"} if self.ome else set(self.attributes)
        self.losses += [f"{self.node}: the attribute {name!r}" for name in sorted(set(self.attributes) - kept)]
        if self.ome and "ome_xml" in self.attributes:
            self.losses.append(
                f"{self.node}: OME-XML besides names and colours of channels, sizes and units: it is written anew"
            )
        for number, level in enumerate(self.image.levels):
            node = f"{self.node.rstrip('/')}/{number}" if self.image.group_attributes else self.node
            if self.image.group_attributes and level.attributes:
                self.losses.append(f"{node}: the attributes of a level")
            if level.fill_value is not None and level.fill_value != 0:
                self.losses.append(f"{node}: the fill value {level.fill_value}")
            if level.shards is not None:
                self.losses.append(f"{node}: shards of shape {level.shards}")


def tile_of(chunks: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of tiles, multiples of 16: that of the chunks, as far as it is within bounds."""
    sizes = [chunk if chunk <= _LARGEST_TILE else _TILE for chunk in chunks]
    return tuple(-(-min(size, length) // 16) * 16 for size, length in zip(sizes, shape, strict=True))


class Layout(NamedTuple):
    """The shape and chunks of the array, the shape of tiles, the number of axes after those of a page, its type."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    tile: tuple[int, ...]
    samples: int
    dtype: np.dtype[Any]


def tiles_of(read: Any, layout: Layout) -> Iterator[np.ndarray[Any, Any]]:
    """Yield all tiles in the order of the file; those at the edges are padded with zeros.

    Parameters
    ----------
    read : callable
        Returns the elements of a region.
    layout : Layout
    """
    (height, width), samples = layout.tile, layout.shape[len(layout.shape) - layout.samples :]
    for band in _bands(read, layout):
        for top in range(0, band.shape[0], height):
            for left in range(0, band.shape[1], width):
                part = band[top : top + height, left : left + width]
                if part.shape[:2] != (height, width):
                    whole = np.zeros((height, width, *samples), layout.dtype)
                    whole[: part.shape[0], : part.shape[1]] = part
                    part = whole
                yield np.ascontiguousarray(part, dtype=layout.dtype)


def _bands(read: Any, layout: Layout) -> Iterator[Any]:
    """Yield the rows of page after page, some rows of tiles at once; pages that share chunks are read together."""
    rows = len(layout.shape) - 2 - layout.samples
    lead, page = layout.shape[:rows], layout.shape[rows:]
    whole = tuple(slice(0, length) for length in page)
    size = math.prod(page) * layout.dtype.itemsize
    depth = layout.chunks[rows - 1] if lead else 1
    depth = depth if depth * size <= BLOCK else 1
    for outer in np.ndindex(lead[:-1]):
        before = tuple(slice(place, place + 1) for place in outer)
        for start in range(0, lead[-1] if lead else 1, depth):
            pages = (*before, slice(start, min(start + depth, lead[-1]))) if lead else ()
            if size * depth <= BLOCK:
                yield from np.asarray(read((*pages, *whole))).reshape(-1, *page)
                continue
            step = _rows_at_once(layout, rows, size)
            for top in range(0, page[0], step):
                part = slice(top, min(top + step, page[0]))
                yield np.asarray(read((*pages, part, *whole[1:]))).reshape(-1, *page[1:])


def _rows_at_once(layout: Layout, rows: int, size: int) -> int:
    height = layout.tile[0]
    wanted = max(layout.chunks[rows], height)
    fitting = max(height, BLOCK * layout.shape[rows] // size)
    return min(wanted, fitting) // height * height
