"""Metadata of pyramids: OME-Zarr 0.5, and the convention `multiscales` of GeoZarr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

MULTISCALES: Final = {
    "uuid": "d35379db-88df-4056-af3a-620245f8e347",
    "name": "multiscales",
    "schema_url": "https://raw.githubusercontent.com/zarr-conventions/multiscales/refs/tags/v1/schema.json",
    "spec_url": "https://github.com/zarr-conventions/multiscales/blob/v1/README.md",
}

AXIS_TYPES: Final = {"x": "space", "y": "space", "z": "space", "t": "time", "time": "time", "c": "channel"}

Place: TypeAlias = tuple[Sequence[float], Sequence[float] | None]
"""The scale of a level and, if it is known, the middle of its first element, along each axis."""


class Described(NamedTuple):
    """Hold the OME-Zarr metadata of a group for an image: all of them, its entry, and one of its levels."""

    document: Mapping[str, Any]
    image: Mapping[str, Any]
    level: Mapping[str, Any]

    def names(self, ndim: int) -> tuple[str | None, ...]:
        """Return the names of the axes, if there are so many."""
        axes = [axis.get("name") for axis in self.image.get("axes", ()) if isinstance(axis, Mapping)]
        return tuple(axes) if len(axes) == ndim else (None,) * ndim

    def axes(self, axes: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """Return axes with the units that this image has for axes of these names."""
        own = [axis for axis in self.image.get("axes", ()) if isinstance(axis, Mapping)]
        units = {axis.get("name"): {"unit": axis["unit"]} for axis in own if "unit" in axis}
        return [dict(axis) | units.get(axis["name"], {}) for axis in axes]

    @property
    def channels(self) -> dict[str, Any]:
        """The names, colours and ranges of channels, which are those of every level."""
        return {"omero": self.document["omero"]} if "omero" in self.document else {}

    def below(self, scale: Sequence[float], first: Sequence[float] | None) -> Place:
        """Return a place that is given in elements of this level, in the units of the image."""
        scale, first = list(scale), list(first or [0.0] * len(scale))
        for change in (*_changes(self.level), *_changes(self.image)):
            if change.get("type") == "scale":
                scale = [a * b for a, b in zip(scale, change["scale"], strict=True)]
                first = [a * b for a, b in zip(first, change["scale"], strict=True)]
            elif change.get("type") == "translation":
                first = [a + b for a, b in zip(first, change["translation"], strict=True)]
        return scale, first


def _changes(entry: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    found: Iterable[Mapping[str, Any]] = entry.get("coordinateTransformations", ())
    return found


def find_ome(attributes: Mapping[str, Any], path: str | None = None) -> Described | None:
    """Return what attributes of a group, of OME-Zarr 0.4 or 0.5, say of a level; None if they do not name it.

    Parameters
    ----------
    attributes : mapping
    path : str, optional
        The path of the level below the group. Default: the finest one of the first image.

    Examples
    --------
    >>> entry = ome_image("image", ome_axes(("y", "x")), [([0.5, 0.5], None)])
    >>> find_ome({"ome": {"multiscales": [entry]}}, "0").below([2.0, 2.0], [0.5, 0.5])
    ([1.0, 1.0], [0.25, 0.25])
    """
    document = attributes.get("ome", attributes)
    images = document.get("multiscales") if isinstance(document, Mapping) else None
    for image in images if isinstance(images, list) else ():
        for level in image.get("datasets", ()) if isinstance(image, Mapping) else ():
            if isinstance(level, Mapping) and path in (None, level.get("path")):
                return Described(document, image, level)
    return None


def ome_axes(names: Sequence[str | None], units: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """Return axes in the form of OME-Zarr 0.5.

    Parameters
    ----------
    names : sequence of str or None
        The dimensions of the array.
    units : mapping, optional
        The units of some of them. Default: none.

    Raises
    ------
    ValueError
        If OME-Zarr has no image with these dimensions: it has time, channel and two or three of space, in this order.

    Examples
    --------
    >>> ome_axes(("c", "y", "x"), {"x": "micrometer"})[2]
    {'name': 'x', 'type': 'space', 'unit': 'micrometer'}
    """
    kinds = [AXIS_TYPES.get(name or "") for name in names]
    order = [("time", "channel", "space").index(kind or "space") for kind in kinds]
    if None in kinds or order != sorted(order) or kinds.count("space") not in (2, 3) or len(set(names)) < len(names):
        raise ValueError(
            f"OME-Zarr 0.5 has no image with the dimensions {tuple(names)}: it wants t, c, z, y, x in this order, "
            "with two or three of space; give dimension_names, or convention='geozarr' or None"
        )
    known = units or {}
    return [
        {"name": str(name), "type": str(kind)} | ({"unit": known[str(name)]} if name in known else {})
        for name, kind in zip(names, kinds, strict=True)
    ]


def ome_image(name: str, axes: Sequence[Mapping[str, str]], places: Iterable[Place]) -> dict[str, Any]:
    """Return an entry of `multiscales` in OME-Zarr 0.5, for levels ``0``, ``1`` …

    Examples
    --------
    >>> ome_image("image", ome_axes(("y", "x")), [([1.0, 1.0], None)])["datasets"]
    [{'path': '0', 'coordinateTransformations': [{'type': 'scale', 'scale': [1.0, 1.0]}]}]
    """
    datasets = []
    for level, (scale, first) in enumerate(places):
        changes: list[dict[str, Any]] = [{"type": "scale", "scale": list(scale)}]
        if first is not None:
            changes.append({"type": "translation", "translation": list(first)})
        datasets.append({"path": str(level), "coordinateTransformations": changes})
    return {"name": name, "axes": list(axes), "datasets": datasets}


def geozarr_levels(relative: Sequence[Place]) -> dict[str, Any]:
    """Return `multiscales` of GeoZarr, for levels ``0``, ``1`` …, each described relative to the level before.

    Examples
    --------
    >>> layout = geozarr_levels([([1.0, 1.0], [0.0, 0.0]), ([2.0, 2.0], [0.5, 0.5])])["layout"]
    >>> layout[1]["derived_from"], layout[1]["transform"]["scale"]
    ('0', [2.0, 2.0])
    """
    layout: list[dict[str, Any]] = []
    for level, (scale, first) in enumerate(relative):
        entry: dict[str, Any] = {"asset": str(level)}
        if level:
            entry["derived_from"] = str(level - 1)
        entry["transform"] = {"scale": list(scale), "translation": list(first or [0.0] * len(scale))}
        layout.append(entry)
    return {"layout": layout}


def coarser_place(
    attributes: Mapping[str, Any], names: Sequence[str | None], scale: Sequence[float], shape: Sequence[int]
) -> dict[str, Any]:
    """Return the attributes of the convention `spatial:` that differ in a coarser level.

    Parameters
    ----------
    attributes : mapping
        Those of the finest level.
    names : sequence of str or None
        The dimensions.
    scale : sequence of float
        Number of elements of the finest level for one of this level, along each axis.
    shape : sequence of int
        The shape of this level.

    Examples
    --------
    >>> coarser_place({"spatial:transform": [10.0, 0.0, 300.0, 0.0, -10.0, 500.0]}, ("y", "x"), [4.0, 2.0], (5, 9))
    {'spatial:transform': [20.0, 0.0, 300.0, 0.0, -40.0, 500.0]}
    """
    dimensions = attributes.get("spatial:dimensions", ["y", "x"])
    known = isinstance(dimensions, list) and len(dimensions) == 2 and set(dimensions) <= set(names)
    axes = [names.index(name) for name in dimensions] if known else [len(shape) - 2, len(shape) - 1]
    if min(axes) < 0:
        return {}
    found: dict[str, Any] = {}
    transform = attributes.get("spatial:transform")
    if isinstance(transform, list) and len(transform) == 6:
        y, x = (scale[axis] for axis in axes)
        found["spatial:transform"] = [n * size for n, size in zip(transform, (x, y, 1, x, y, 1), strict=True)]
    if "spatial:shape" in attributes:
        found["spatial:shape"] = [shape[axis] for axis in axes]
    return found


def scale_between(finer: Sequence[int], coarser: Sequence[int]) -> list[float]:
    """Return the number of elements of a level for one of a coarser level, along each axis, by their shapes.

    Examples
    --------
    >>> scale_between((3, 101, 100), (3, 51, 30))
    [1.0, 2.0, 3.3333333333333335]
    """
    found = []
    for many, few in zip(finer, coarser, strict=True):
        ratio = many / few if few else 1.0
        whole = round(ratio)
        found.append(float(whole) if whole and few in (many // whole, -(-many // whole)) else ratio)
    return found
