"""Arrays of a kind that was made before: what was asked for, as bytes, under which the parsed document is remembered.

Who makes a thousand arrays mostly asks for the same thing a thousand times. What came of it the first time is frozen
and shared, as it is for documents that are read again; see :mod:`zarr.metadata.cache`.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from zarr.abc.codec import Codec
from zarr.arrays.create.parameters import DefaultFillValue
from zarr.dtype import ZDType

_SCALARS: Final = frozenset((str, int, float, bool, type(None), complex))
_QUIET_KINDS: Final = "biufc"  # data types that are chosen without a warning
_PLAIN: Final = 0  # the form of marshal in which equal values have equal bytes


def kind_key(parameters: Mapping[str, Any]) -> bytes | None:
    """The parameters of a new array as bytes, equal only where the same thing was asked for.

    Parameters
    ----------
    parameters : mapping
        Those of :func:`zarr.arrays.create.steps.new_array_metadata`, save for the attributes.

    Returns
    -------
    bytes or None
        None where a parameter may be changed later, is somebody else's, or has more to it than its value.

    Examples
    --------
    >>> one, other = {"shape": (2,), "dtype": "int8"}, {"shape": (True,), "dtype": "int8"}
    >>> kind_key(one) == kind_key(dict(one)), kind_key(one) == kind_key(other)
    (True, False)
    """
    try:
        plain = []
        for name, value in parameters.items():
            kind = type(value)
            if name == "dtype":
                plain.append(_plain_dtype(value))
            elif kind in _SCALARS or (kind is tuple and _SCALARS.issuperset(map(type, value))):
                plain.append(value)
            else:
                plain.append(... if kind is DefaultFillValue else _plain(value))
        return b"kind" + marshal.dumps(plain, _PLAIN)
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    """Return a value as a list that can be compared, with its type; raise ValueError where there is none."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is list:
        return [kind.__name__, list(map(_plain, value))]
    if isinstance(value, Codec) and kind.__module__.startswith("zarr.codecs."):
        # All that it holds, not only what it is compared by: what was left open is settled by the array.
        return [f"{kind.__module__}.{kind.__qualname__}", list(map(_plain, vars(value).values()))]
    if kind is frozenset:
        return ["set", sorted(value)]
    raise ValueError(kind)


def _plain_dtype(value: Any) -> Any:
    if type(value) is not str and isinstance(value, ZDType):
        raise ValueError("dtype")
    try:
        dtype = value if isinstance(value, np.dtype) else np.dtype(value)
    except TypeError:
        raise ValueError("dtype") from None
    if dtype.kind not in _QUIET_KINDS or dtype.metadata:
        raise ValueError("dtype")
    # Names of the format and of numpy differ where both know one, so what was written is part of it.
    return dtype.str, value if type(value) is str else ""
