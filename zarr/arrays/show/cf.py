"""The CF conventions for values: missing ones, scale and offset, units, dates, coordinates of dimensions."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zarr.errors import NodeNotFoundError
from zarr.storage.path import StorePath

_SINCE: Final = re.compile(r"(day|hour|minute|second|millisecond|microsecond)s? since (\d{1,4}-\d{1,2}-\d{1,2})(.*)")
_CLOCK: Final = re.compile(r"[T ]?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?\s*(?:Z|UTC|[+-]0?0:?00)?")
_MIXED: Final = ("standard", "gregorian")
_NO_LEAP: Final = ("noleap", "365_day")
_CALENDARS: Final = (*_MIXED, *_NO_LEAP, "proleptic_gregorian")
_REFORM: Final = "1582-10-15"
_MICROSECONDS: Final = {
    "day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000,
    "microsecond": 1,
}  # fmt: skip


def dimension_names(array: Any) -> tuple[str | None, ...]:
    """Return the name of each dimension, from the metadata or xarray's attribute; None if it has no name.

    Examples
    --------
    >>> import zarr
    >>> dimension_names(zarr.create_array({}, shape=(2, 3), dtype="i4", dimension_names=("y", None)))
    ('y', None)
    """
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    return tuple(names) if isinstance(names, (list, tuple)) and len(names) == array.ndim else (None,) * array.ndim


def decode(array: Any, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values of an array decoded by its attributes: missing ones are NaN, others scaled; numbers become dates.

    ``_FillValue`` and ``missing_value`` mark missing values, and so does the fill value of arrays that xarray wrote in
    format 2. ``units`` such as "days since 2000-01-01" give dates, in the calendars whose days NumPy has: the usual
    ones, and that without leap days.

    Parameters
    ----------
    array : Array
    values : ndarray
        Some of its elements.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> array = zarr.create_array({}, shape=2, dtype="i2", attributes={"scale_factor": 0.5, "_FillValue": -1})
    >>> decode(array, np.array([-1, 3], "i2"))
    array([nan, 1.5])
    """
    if values.dtype.kind not in "iufb":
        return values
    attributes = dict(array.attrs)
    missing = missing_values(array)
    scale, offset = attributes.get("scale_factor", 1), attributes.get("add_offset", 0)
    gone = np.isin(values, missing) if missing.size else None
    if scale != 1 or offset != 0 or (gone is not None and gone.any()):
        values = values * np.float64(scale) + np.float64(offset)
        if gone is not None:
            values[gone] = np.nan
    dates = _dates(values, attributes)
    return values if dates is None else dates


def missing_values(array: Any) -> npt.NDArray[Any]:
    """Return the elements of an array that stand for missing values, by its attributes; NaN is not among them.

    Examples
    --------
    >>> import zarr
    >>> missing_values(zarr.create_array({}, shape=2, dtype="f4", attributes={"_FillValue": 1e20})).dtype
    dtype('float32')
    """
    attributes = dict(array.attrs)
    found = [attributes.get(name) for name in ("_FillValue", "missing_value")]
    if getattr(array.metadata, "zarr_format", 3) == 2 and "_ARRAY_DIMENSIONS" in attributes:
        found.append(array.metadata.fill_value)
    numbers: list[Any] = []
    for value in found:
        if isinstance(value, str):  # xarray writes floating point numbers so into format 3
            try:
                value = struct.unpack("<d", base64.standard_b64decode(value))[0]
            except (binascii.Error, struct.error, ValueError):
                continue
        numbers += np.atleast_1d(np.asarray(value)).tolist() if value is not None else []
    known = [number for number in numbers if isinstance(number, (int, float)) and number == number]
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(known, dtype=array.dtype)
    if array.dtype.kind not in "iu":
        return np.empty(0, dtype=array.dtype)
    bounds = np.iinfo(array.dtype)
    within = [number for number in known if bounds.min <= number <= bounds.max and number == int(number)]
    return np.array(within, dtype=array.dtype)


def _dates(values: npt.NDArray[Any], attributes: dict[str, Any]) -> npt.NDArray[Any] | None:
    """Return numbers as dates if their units are dates, in a calendar whose days NumPy has; else None."""
    found = _SINCE.match(str(attributes.get("units", "")))
    calendar = str(attributes.get("calendar", "standard")).lower()
    if found is None or calendar not in _CALENDARS:
        return None
    unit, day, rest = found.groups()
    clock = _CLOCK.fullmatch(rest.strip()) if rest.strip() else None
    if rest.strip() and clock is None:
        return None
    year, month, of_month = day.split("-")
    try:
        start: np.datetime64[Any] = np.datetime64(f"{year:0>4}-{month:0>2}-{of_month:0>2}", "us")
    except ValueError:
        return None
    reform = np.datetime64(_REFORM, "us")
    if calendar in _MIXED and start < reform:
        start = start + _days_of_julian(int(year) - (int(month) < 3))
    if clock is not None:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        start = start + np.timedelta64(hours * 3600 + minutes * 60 + seconds, "s")
    steps = values.astype("f8") * _MICROSECONDS[unit]
    good = np.isfinite(steps) & (np.abs(steps) < 2**61)
    passed = np.where(good, steps, 0).round().astype("m8[us]")
    dates = _after_without_leap_days(start, passed) if calendar in _NO_LEAP else start + passed
    if calendar in _MIXED and (dates[good] < reform).any():
        return None  # days of the Julian calendar
    return np.where(good, dates, np.datetime64("NaT", "us"))


def _days_of_julian(year: int) -> np.timedelta64:
    """Return how many days later NumPy has a date of the Julian calendar; the year begins with March."""
    return np.timedelta64(year // 100 - year // 400 - 2, "D")


def _after_without_leap_days(start: np.datetime64, passed: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the dates that lie some time after another one, if no year has a 29th of February."""
    day, (first, is_leap) = np.timedelta64(1, "D"), _year_of(start.astype("M8[Y]"))
    begun = start - first
    passed = passed + (begun - day if is_leap and begun >= 60 * day else begun)
    years, within = np.divmod(passed, 365 * day)
    first, is_leap = _year_of(start.astype("M8[Y]") + years)
    return np.asarray(first + within + (is_leap & (within >= 59 * day)) * day)


def _year_of(year: Any) -> tuple[Any, Any]:
    """Return the first moment of a year, and whether it is a leap year."""
    first = year.astype("M8[us]")
    return first, (year + 1).astype("M8[us]") - first == np.timedelta64(366, "D")


def coordinate(array: Any, axis: int, picked: range) -> tuple[npt.NDArray[Any], str] | None:
    """Return the coordinates of a dimension, and their label; None if there are none.

    They are the values of the one-dimensional array beside this one that has the name of the dimension.

    Parameters
    ----------
    array : Array
    axis : int
    picked : range
        The indices along the dimension.
    """
    name = dimension_names(array)[axis]
    if not name or "/" in name or name in (".", "..") or name == array.basename:
        return None
    path = "/".join([*array.path.split("/")[:-1], name])
    try:
        beside = type(array).open(StorePath(array.store, path))
    except (NodeNotFoundError, ValueError, TypeError, OSError):
        return None
    if beside.shape != (array.shape[axis],) or beside.dtype.kind not in "iufM":
        return None
    values = decode(beside, np.asarray(beside[picked.start : picked.stop : picked.step]))
    if (values != values).any():  # NaN or NaT cannot be drawn
        return None
    return values, label_of(beside, values, name)


def label_of(array: Any, values: npt.NDArray[Any], name: str) -> str:
    """Return the label of an axis or a colour bar: the long name, and the units unless values are dates.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> label_of(zarr.create_array({}, shape=2, dtype="i2", attributes={"units": "K"}), np.zeros(2), "temp")
    'temp [K]'
    """
    attributes = dict(array.attrs)
    text = str(attributes.get("long_name") or attributes.get("standard_name") or name)
    units = attributes.get("units")
    return text if not units or values.dtype.kind in "mM" else f"{text} [{units}]"
