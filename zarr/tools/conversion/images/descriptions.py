"""The metadata of a TIFF file: tags and OME-XML, as JSON values."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

MAX_BYTES: Final = 1 << 20
"""Maximum size of a tag of bytes, such as a colour profile, that is kept as an attribute."""

# Tags for shape, data type, chunks, or the order of bytes in the file: they differ in each file.
_STRUCTURE: Final = frozenset(
    {254, 255, 256, 257, 258, 259, 262, 266, 270, 273, 277, 278, 279, 284, 288, 289, 292, 293, 317, 322, 323, 324, 325}
    | {330, 338, 339, 347, *range(512, 522), 529, 530, 531, 532, 32997, 32998, 42113, 50838, 50839}
)

_NO_RESOLUTION: Final = {"XResolution": [1, 1], "YResolution": [1, 1], "ResolutionUnit": 1}

UNITS: Final = {
    "pm": "picometer", "nm": "nanometer", "µm": "micrometer", "mm": "millimeter", "cm": "centimeter", "m": "meter",
    "km": "kilometer", "Å": "angstrom", "in": "inch", "ft": "foot",
    "ns": "nanosecond", "µs": "microsecond", "ms": "millisecond", "s": "second", "min": "minute", "h": "hour",
}  # fmt: skip
"""Units of OME-XML, and their names in OME-Zarr."""


_COLOURS: Final = ("0000FF", "00FF00", "FF0000", "00FFFF", "FF00FF", "FFFF00")


class OmeImage(NamedTuple):
    """The description of an image in OME-XML: its name, sizes of elements with units, and channels.

    Channels have names and colours; ``bits`` is the number of bits that a camera has written, or 0.
    """

    name: str
    sizes: dict[str, float]
    units: dict[str, str]
    channels: tuple[str, ...]
    colours: tuple[str, ...]
    bits: int


def parse_ome(text: str) -> list[OmeImage]:
    """Return the images that a document of OME-XML describes; an empty list if it is damaged.

    Examples
    --------
    >>> parse_ome('<OME><Image Name="a"><Pixels PhysicalSizeX="0.5"/></Image></OME>')[0].sizes
    {'x': 0.5}
    """
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError:
        return []
    return [_parse_image(image) for image in root.iterfind("{*}Image")]


def _parse_image(image: ElementTree.Element) -> OmeImage:
    pixels = image.find("{*}Pixels")
    sizes: dict[str, float] = {}
    units: dict[str, str] = {}
    channels: list[ElementTree.Element] = []
    bits = 0
    if pixels is not None:
        for axis, tag, default in (
            *((a, f"PhysicalSize{a.upper()}", "µm") for a in "xyz"),
            ("t", "TimeIncrement", "s"),
        ):
            if size := _positive(pixels.get(tag)):
                sizes[axis] = size
                unit = pixels.get(f"{tag}Unit", default)
                units |= {axis: UNITS[unit]} if unit in UNITS else {}
        channels = list(pixels.iterfind("{*}Channel"))
        bits = int(min(_positive(pixels.get("SignificantBits")) or 0, 64))
    names = tuple(channel.get("Name", "") for channel in channels)
    known = any(names) or any("Color" in channel.attrib for channel in channels)
    colours = tuple(_colour(channel.get("Color"), number, len(names)) for number, channel in enumerate(channels))
    return OmeImage(image.get("Name", ""), sizes, units, names if known else (), colours, bits)


def _colour(text: str | None, number: int, many: int) -> str:
    """Return a colour of OME-XML, a number of red, green, blue and opacity, as in OME-Zarr; else one that differs."""
    try:
        return f"{(int(text or '') >> 8) & 0xFFFFFF:06X}"
    except ValueError:
        return "FFFFFF" if many == 1 else _COLOURS[number % len(_COLOURS)]


def ome_colours(channels: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the colours of channels of OME-Zarr for OME-XML; nothing if one of them has none.

    Examples
    --------
    >>> ome_colours([{"color": "00FF00"}, {"color": "FF0000"}])
    {'Color': [16711935, -16776961]}
    """
    try:
        numbers = [int(channel["color"], 16) << 8 | 0xFF for channel in channels]
    except (KeyError, TypeError, ValueError):
        return {}
    return {"Color": [number - (number >> 31 << 32) for number in numbers]} if max(numbers) < 1 << 32 else {}


def _positive(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 < number < math.inf else None


def tags_of(page: Any, node: str, losses: list[str]) -> dict[str, Any]:
    """Return the tags of a page that are neither its structure nor its description, by their names.

    Parameters
    ----------
    page : tifffile.TiffPage
    node : str
        The path of the node, for the losses.
    losses : list of str
        Receives an entry for each tag that is too large.
    """
    found = {}
    for tag in page.tags:
        if tag.code not in _STRUCTURE:
            value = tag.value
            if isinstance(value, bytes) and len(value) > MAX_BYTES:
                losses.append(f"{node}: the tag {tag.name} of {len(value)} bytes: it is too large for an attribute")
            else:
                found[tag.name if not tag.name.isdigit() else str(tag.code)] = as_json(value)
    if all(found.get(name) == value for name, value in _NO_RESOLUTION.items()):
        found = {name: value for name, value in found.items() if name not in _NO_RESOLUTION}
    return found


def as_json(value: Any) -> Any:
    """Return the value of a tag as a JSON value; bytes as base64.

    Examples
    --------
    >>> as_json((1, 2.5)), as_json(b"a")
    ([1, 2.5], {'base64': 'YQ=='})
    """
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return str(value)
