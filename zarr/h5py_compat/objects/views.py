"""Datasets seen with another type: ``astype``, ``asstr``, ``fields``."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr.h5py_compat.types.dtypes import Dtype, check_string_dtype

__all__ = ["AsStrView", "AstypeView", "FieldsView"]

Array = np.ndarray[Any, Any]


class _View:
    """A dataset that is read through a conversion; it is never written."""

    def __init__(self, dataset: Any, dtype: Dtype) -> None:
        self._dataset = dataset
        self._dtype = dtype

    @property
    def dtype(self) -> Dtype:
        """The type of what is read."""
        return self._dtype

    @property
    def shape(self) -> Any:
        """The shape of the dataset."""
        return self._dataset.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self._dataset.ndim)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return self._dataset.size

    def __len__(self) -> int:
        return len(self._dataset)

    def _convert(self, value: Any) -> Any:
        raise TypeError("a view converts what it reads")

    def __getitem__(self, args: Any) -> Any:
        return self._convert(self._dataset[args])

    def __array__(self, dtype: Any = None, copy: bool | None = True) -> Array:
        if copy is False:
            raise ValueError("the data of a file is read into new memory: memory allocation cannot be avoided")
        array = np.asarray(self[...])
        return array if dtype is None else array.astype(dtype)


class AstypeView(_View):
    """``dataset.astype(dtype)``: what is read is cast."""

    def __init__(self, dataset: Any, dtype: Any) -> None:
        super().__init__(dataset, np.dtype(dtype))
        if self._dtype.kind == "T" and check_string_dtype(dataset.dtype) is None:
            raise TypeError(f"dset.astype('T') needs an HDF5 string datatype, not {dataset.dtype}")

    def _convert(self, value: Any) -> Any:
        array = np.asarray(value) if not isinstance(value, bytes) else np.array(value, dtype=object)
        if self._dtype.kind == "T" and array.dtype.kind in "OS":
            texts = [item.decode("utf-8") for item in array.reshape(-1).tolist()]
            cast = np.array(texts, dtype=self._dtype).reshape(array.shape)
        else:
            cast = array.astype(self._dtype)
        return cast if isinstance(value, np.ndarray) else cast[()]


class AsStrView(_View):
    """``dataset.asstr()``: bytes are decoded to ``str``."""

    def __init__(self, dataset: Any, encoding: str | None, errors: str) -> None:
        info = check_string_dtype(dataset.dtype)
        if info is None:
            raise TypeError("dset.asstr() can only be used on datasets with an HDF5 string datatype")
        super().__init__(dataset, np.dtype(object))
        self._encoding = encoding or info.encoding
        self._errors = errors

    def _convert(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode(self._encoding, self._errors)
        array: Any = np.asarray(value)
        out = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            out[index] = array[index].decode(self._encoding, self._errors)
        return out


class FieldsView(_View):
    """``dataset.fields(names)``: some fields of the records."""

    def __init__(self, dataset: Any, names: Any) -> None:
        self._one = isinstance(names, str | bytes)
        self._names = (names,) if self._one else tuple(names)
        if dataset.dtype.names is None:
            raise ValueError("Field names only allowed for compound types")
        for name in self._names:
            if name not in dataset.dtype.names:
                raise ValueError(f"Field {name} does not appear in this type: {dataset.dtype.names}")
        super().__init__(dataset, dataset.dtype[names] if self._one else dataset.dtype[list(self._names)])

    def __getitem__(self, args: Any) -> Any:
        parts = args if isinstance(args, tuple) else (args,)
        value = self._dataset[(*parts, *self._names)]
        if not self._one and len(self._names) == 1:
            array = np.asarray(value)
            records = np.empty(array.shape, dtype=[(self._names[0], array.dtype)])
            records[self._names[0]] = array
            return records[()]
        return value
