"""Elements that may be missing: the data type ``optional``, a value of another data type or nothing.

Inside the library an element is a record of two fields: ``valid``, and ``value``, which is zero if the element is
missing. Users read and write masked arrays of the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np

from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType, wrong_dtype, wrong_json
from zarr.dtype.json_forms import DTypeSpec_V2, DTypeSpec_V3
from zarr.dtype.registry import data_type_registry
from zarr.dtype.scalars import JSON, DTypeJSON, ZarrFormat, split_dtype_spec_v3

NAMES: Final = ("zarrs.optional", "optional")
Ndarray = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Nullable(ZDType[Any, Any]):
    """A value of another data type, or a missing one.

    Arrays of it are read as ``numpy.ma.MaskedArray``; masked arrays, ``None``, lists with ``None``, and plain arrays
    (without missing elements) can be written. Text and byte strings are Python objects. An array of an optional
    optional type has the fields ``valid`` and ``value``: a missing element is masked completely, an element with a
    missing value only in ``value``.

    Parameters
    ----------
    inner
        The data type of the values.
    name
        ``"zarrs.optional"``, which zarrs reads and writes, or ``"optional"``, the proposed name.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/pull/33

    Examples
    --------
    >>> import zarr
    >>> from zarr.dtype import Int32, Nullable
    >>> array = zarr.create_array({}, shape=(3,), dtype=Nullable(inner=Int32()))
    >>> array[:2] = [7, None]
    >>> array[:].tolist()
    [7, None, None]
    """

    dtype_cls: ClassVar[Any] = np.dtypes.VoidDType
    _zarr_v3_name: ClassVar[str] = "zarrs.optional"

    inner: ZDType[TBaseDType, TBaseScalar]
    name: str = "zarrs.optional"

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"name must be one of {NAMES}, got {self.name!r}")

    @classmethod
    def from_native_dtype(cls, dtype: TBaseDType) -> Self:
        """Refuse: a NumPy dtype has no information about missing values."""
        raise wrong_dtype(cls, dtype)

    @property
    def element_dtype(self) -> np.dtype[Any]:
        """The numpy dtype of the values, as users see them."""
        native: np.dtype[Any] = self.inner.to_native_dtype()
        return np.dtype(object) if native.kind == "T" else native

    def to_native_dtype(self) -> Any:
        """Return the numpy dtype of the records."""
        return np.dtype([("valid", np.bool_), ("value", self.element_dtype)])

    @classmethod
    def _from_json_v2(cls, data: DTypeJSON) -> Self:
        raise wrong_json(cls, data, "nothing: it exists in format 3 only")

    @classmethod
    def _from_json_v3(cls, data: DTypeJSON) -> Self:
        return cls._from_json_within(data, 3, data_type_registry.match_json)

    @classmethod
    def _from_json_within(cls, data: DTypeJSON, zarr_format: ZarrFormat, match: Callable[..., Any]) -> Self:
        """Return the data type of a JSON form; ``match`` finds the data type of the values."""
        spec = split_dtype_spec_v3(data) if zarr_format == 3 else None
        if spec is None or spec[0] not in NAMES:
            raise wrong_json(cls, data, f"an object with one of the names {NAMES}")
        within = spec[1]
        if not isinstance(within.get("name"), str) or set(within) - {"name", "configuration"}:
            raise ValueError(
                f"The data type {spec[0]!r} needs a configuration with the name of the data type of the values, and "
                f"perhaps the configuration of that; got {dict(within)!r}."
            )
        found = match(dict(within) if within.get("configuration") else within["name"], zarr_format=3)
        return cls(inner=found, name=spec[0])

    def to_json(self, zarr_format: ZarrFormat) -> DTypeSpec_V2 | DTypeSpec_V3:
        """Return the name, with the data type of the values.

        Raises
        ------
        ValueError
            In format 2, which has no such type.
        """
        if zarr_format == 2:
            raise ValueError("Elements that may be missing exist in format 3 only: use zarr_format=3.")
        inner: Any = self.inner.to_json(3)
        spec = inner if isinstance(inner, Mapping) else {"name": inner}
        return {"name": self.name, "configuration": {"configuration": {}, **spec}}

    # -------------------------------------------------------------------------------------------- scalars

    def _check_scalar(self, data: object) -> bool:
        try:
            self.cast_scalar(data)
        except (TypeError, ValueError, OverflowError):
            return False
        return True

    def default_scalar(self) -> Any:
        """Return the missing element."""
        return np.zeros(1, dtype=self.to_native_dtype())[0]

    def cast_scalar(self, data: object) -> Any:
        """Make a record from None, ``numpy.ma.masked``, a value, or a list with the value as its only item."""
        if isinstance(data, (np.void, np.ndarray)) and data.dtype == self.to_native_dtype():
            return np.asarray(data)[()]
        if is_missing(data):
            return self.default_scalar()
        if isinstance(data, list) and len(data) == 1:
            data = data[0]
        return self._of_value(self.inner.cast_scalar(data))

    def _of_value(self, value: Any) -> Any:
        record = np.zeros(1, dtype=self.to_native_dtype())
        record["valid"] = True
        record["value"][0] = value
        return record[0]

    def from_json_scalar(self, data: JSON, *, zarr_format: ZarrFormat) -> Any:
        """Return the record of null, or of a list of one item: the JSON form of the value.

        Raises
        ------
        TypeError
            If it is neither.
        """
        if data is None:
            return self.default_scalar()
        if not isinstance(data, (list, tuple)) or len(data) != 1:
            raise TypeError(f"Invalid type: {data}. Expected null, or a list of one item.")
        return self._of_value(self.inner.from_json_scalar(data[0], zarr_format=zarr_format))

    def to_json_scalar(self, data: object, *, zarr_format: ZarrFormat) -> JSON:
        """Return null, or a list with the JSON form of the value."""
        record = self.cast_scalar(data)
        return [self.inner.to_json_scalar(record["value"], zarr_format=zarr_format)] if record["valid"] else None

    def shown_scalar(self, record: Any) -> Any:
        """Return a record as a user sees it: None, or the value.

        Parameters
        ----------
        record : object
            A value with its mark of validity.

        Returns
        -------
        object
            The value, or numpy.ma.masked.
        """
        if not record["valid"]:
            return None
        value = record["value"]
        return [self.inner.shown_scalar(value)] if isinstance(self.inner, Nullable) else value

    # -------------------------------------------------------------------------------------------- arrays

    def to_masked(self, records: Ndarray) -> Any:
        """Return records as a masked array of their values.

        Under the mask is NumPy's missing value: NaN, NaT, None; if there is none, zero.

        Parameters
        ----------
        records : Ndarray
            Values with their marks of validity.

        Returns
        -------
        numpy.ma.MaskedArray

        Examples
        --------
        >>> from zarr.dtype import Float32, Nullable
        >>> nullable = Nullable(inner=Float32())
        >>> nullable.to_masked(nullable.from_values([1, None])).tolist()
        [1.0, None]
        """
        values = records["value"].copy()
        mask = np.zeros(records.shape, dtype=np.ma.make_mask_descr(values.dtype))
        self._hide(records, np.zeros(records.shape, dtype=bool), mask)
        nothing = _NOTHING.get(values.dtype.kind)
        if nothing is not None or values.dtype.kind == "O":
            values[~records["valid"]] = nothing
        return np.ma.MaskedArray(values, mask=mask)

    def _hide(self, records: Ndarray, missing: Ndarray, mask: Ndarray) -> None:
        """Set the mask of values: of missing ones, and of those whose own inner value is missing."""
        missing = missing | ~records["valid"]
        if isinstance(self.inner, Nullable):
            mask["valid"] = missing
            self.inner._hide(records["value"], missing, mask["value"])
        else:
            mask[...] = missing if mask.dtype.names is None else _in_all_fields(missing, mask.dtype)

    def from_values(self, values: Any) -> Ndarray:
        """Return values, masked or not, as records.

        Parameters
        ----------
        values : object
            The values; masked ones are missing.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        ValueError
            If only some of the fields of an element are masked.
        """
        values = values.as_ndarray_like() if hasattr(values, "as_ndarray_like") else values
        if isinstance(values, (np.ndarray, np.void)) and values.dtype == self.to_native_dtype():
            return np.asarray(values)
        if isinstance(values, np.ma.MaskedArray):
            return self._of_masked(np.ma.getdata(values), np.ma.getmaskarray(values))
        array = np.asarray(values.to_pylist() if hasattr(values, "to_pylist") else values)
        missing = np.zeros(array.shape, dtype=bool)
        if array.dtype == object:
            missing = np.asarray(np.frompyfunc(is_missing, 1, 1)(array), dtype=bool)
        return self._of_masked(array, missing)

    def _of_masked(self, values: Ndarray, mask: Ndarray) -> Ndarray:
        records = np.zeros(values.shape, dtype=self.to_native_dtype())
        if isinstance(self.inner, Nullable):
            if values.dtype == self.element_dtype and mask.dtype.names is not None:
                return self._of_nested(records, values, mask)
            records["value"] = self.inner._of_masked(values, mask)
        else:
            missing = mask if mask.dtype.names is None else _of_all_fields(mask)
            if self.element_dtype.kind != "O" or self.inner.to_native_dtype().kind != "T":
                records["value"][~missing] = values[~missing].astype(self.element_dtype)
            else:
                records["value"][~missing] = values[~missing].astype(self.inner.to_native_dtype()).astype(object)
            mask = missing
        records["valid"] = ~mask
        return records

    def _of_nested(self, records: Ndarray, values: Ndarray, mask: Ndarray) -> Ndarray:
        valid = ~mask["valid"]
        inner = self.inner._of_masked(values["value"], mask["value"])  # type: ignore[attr-defined]
        inner[~(values["valid"] & valid)] = self.inner.default_scalar()
        records["valid"], records["value"] = valid, inner
        return records


# The value under the mask, by the kind of numpy dtype.
_NOTHING: Final[dict[str, Any]] = {"f": np.nan, "c": np.nan, "m": "NaT", "M": "NaT"}


def is_missing(item: object) -> bool:
    """Return True if an object stands for a missing value: None, ``numpy.ma.masked``, pandas' ``NA``.

    Examples
    --------
    >>> is_missing(None), is_missing(np.ma.masked), is_missing(float("nan"))
    (True, True, False)
    """
    return item is None or item is np.ma.masked or type(item).__name__ == "NAType"


def shown_dtype(dtype: ZDType[Any, Any]) -> np.dtype[Any]:
    """Return the NumPy dtype of the arrays that users read for a data type.

    Examples
    --------
    >>> from zarr.dtype import Int8
    >>> shown_dtype(Nullable(inner=Int8()))
    dtype('int8')
    """
    shown: np.dtype[Any] = dtype.element_dtype if isinstance(dtype, Nullable) else dtype.to_native_dtype()
    return shown


def shown_fill(dtype: ZDType[Any, Any], fill_value: Any) -> Any:
    """Return a fill value as a user sees it: None if it is missing.

    Examples
    --------
    >>> from zarr.dtype import Int8
    >>> nullable = Nullable(inner=Int8())
    >>> shown_fill(nullable, nullable.default_scalar()) is None
    True
    """
    return dtype.shown_scalar(fill_value) if isinstance(dtype, Nullable) else fill_value


def _in_all_fields(missing: Ndarray, dtype: np.dtype[Any]) -> Ndarray:
    """Return a mask with the same answer in every field."""
    mask = np.zeros(missing.shape, dtype=dtype)
    for name in dtype.names or ():
        part = dtype[name]
        mask[name] = (
            missing.reshape((*missing.shape, *(1,) * len(part.shape)))
            if part.names is None
            else (_in_all_fields(missing, part))
        )
    return mask


def _of_all_fields(mask: Ndarray) -> Ndarray:
    """Return the mask of elements; all fields of an element must be masked, or none."""
    flat = np.ascontiguousarray(mask).view(np.uint8).reshape((*mask.shape, -1))
    some: Ndarray = np.asarray(flat.any(axis=-1))
    every: Ndarray = np.asarray(flat.all(axis=-1))
    if (some != every).any():
        raise ValueError("an element of an optional record is there or missing as a whole: only some fields are masked")
    return every


__all__ = ["NAMES", "Nullable", "is_missing", "shown_dtype", "shown_fill"]
