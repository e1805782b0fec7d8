"""A module that stands for cupy where there is no device: its arrays lie in host memory, but NumPy cannot read them.

It has what this library and its tests call. As with cupy, ``np.asarray`` of such an array raises a TypeError, functions
of NumPy that can be overridden return such an array, and only ``asnumpy`` copies it to the host.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


class ndarray:
    """An array of a device."""

    def __init__(self, host: Any) -> None:
        self._host = np.asarray(host)
        if self._host.dtype.kind not in "biufc":
            raise ValueError(f"Unsupported dtype {self._host.dtype}")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3}

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ndarray(function(*map(_host, args), **{name: _host(value) for name, value in kwargs.items()}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # no interface by which NumPy would find the memory
            raise AttributeError(name)
        found = getattr(self._host, name)
        if not callable(found):
            return found

        def method(*args: Any, **kwargs: Any) -> Any:
            result = found(*map(_host, args), **kwargs)
            return None if result is None else ndarray(result)

        return method

    def __getitem__(self, key: Any) -> ndarray:
        return ndarray(self._host[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        self._host[key] = _host(value)

    def __eq__(self, other: Any) -> Any:
        return ndarray(self._host == _host(other))

    def __bool__(self) -> bool:
        return bool(self._host)

    def __len__(self) -> int:
        return len(self._host)

    def get(self) -> Any:
        return self._host.copy()


def _host(value: Any) -> Any:
    return value._host if isinstance(value, ndarray) else value


def _maker(function: Any) -> Any:
    return lambda *args, **kwargs: ndarray(function(*args, **kwargs))


def asarray(value: Any, dtype: Any = None) -> ndarray:
    if isinstance(value, ndarray):
        return value if dtype in (None, value.dtype) else ndarray(value._host.astype(dtype))
    return ndarray(np.array(value, dtype=dtype))


def module() -> ModuleType:
    """Return the module."""
    made = ModuleType("cupy")
    functions = {name: _maker(getattr(np, name)) for name in ("arange", "empty", "zeros", "ones", "full")}
    concatenate = _maker(lambda arrays: np.concatenate([_host(array) for array in arrays]))
    vars(made).update(
        functions, ndarray=ndarray, asarray=asarray, concatenate=concatenate, asnumpy=lambda array: array.get()
    )
    return made
