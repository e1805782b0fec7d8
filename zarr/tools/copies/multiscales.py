"""Metadata of pyramids: OME-Zarr 0.5, and the convention `multiscales` of GeoZarr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

MULTISCALES: Final = {
    "uuid": "d35379db-88df-4056-af3a-620245f8e347",
    "name": "multiscales",
    "schema_url": "https://raw.githubusercontent.com/zarr-conventions/multiscales/refs/tags/v1/schema.json",
    "spec_url": "https://github.com/zarr-conventions/multiscales/blob/v1/README.md",
}

AXIS_TYPES: Final = {"x": "space", "y": "space", "z": "space", "t": "time", "time": "time", "c": "channel"}

Place: TypeAlias = tuple[Sequence[float], Sequence[float] | None]
"""The scale of a level and, if it is known, the middle of its first element, along each axis."""


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
