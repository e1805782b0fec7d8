"""Values as JSON has them."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from zarr.errors import MetadataValidationError


def plain(value: Any) -> Any:
    """A value as JSON has it: dicts, lists, strings, numbers, booleans, None.

    numpy scalars and arrays, tuples, dataclasses and objects that dump themselves (``model_dump``) are taken apart.

    Examples
    --------
    >>> plain({"a": (np.int8(1), [2.5])})
    {'a': [1, [2.5]]}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    return value


def plain_fill(value: Any, data_type: Any = None) -> Any:
    """A fill value as both formats write it: numbers that JSON lacks as strings, complex numbers as pairs.

    That of booleans is one, where a number is given.

    Examples
    --------
    >>> plain_fill(float("nan")), plain_fill(1 + 2j), plain_fill(np.int8(3))
    ('NaN', [1.0, 2.0], 3)
    """
    if data_type in ("bool", "|b1") and type(value) is int and value in (0, 1):
        return bool(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return int(value.astype("i8"))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, complex):
        return [plain_fill(value.real), plain_fill(value.imag)]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return plain(value)


def parsed(document: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    """A document as a dictionary; text is read as JSON.

    Raises
    ------
    MetadataValidationError
        It is no JSON, or no object.
    """
    if isinstance(document, (str, bytes)):
        try:
            document = json.loads(document)
        except ValueError as error:
            raise MetadataValidationError(f"a model is no JSON: {error}") from error
    if not isinstance(document, Mapping):
        raise MetadataValidationError(f"a model is a JSON object, not a {type(document).__name__}")
    return dict(document)


def frozen(value: Any) -> Any:
    """The same JSON with tuples for lists, as models keep it.

    Examples
    --------
    >>> frozen({"chunk_shape": [2, 3]})
    {'chunk_shape': (2, 3)}
    """
    if isinstance(value, Mapping):
        return {key: frozen(item) for key, item in value.items()}
    return tuple(frozen(item) for item in value) if isinstance(value, (list, tuple)) else value
