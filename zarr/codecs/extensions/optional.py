"""The ``optional`` codec: a mask of the existing elements of a chunk, then those elements, by codecs of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np

from zarr.abc.codec import ArrayBytesCodec, Codec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, BoundBase, Bytes, check_size, native_dtype, replace_spec
from zarr.codecs.base.chain import CodecChain, evolve_codecs
from zarr.codecs.base.described import ArrayBytesMethods, configuration_of, parse_codecs, wrap_bytes
from zarr.codecs.extensions.bits import PackBitsCodec
from zarr.dtype.base import ZDType
from zarr.dtype.types.nullable import NAMES, Nullable
from zarr.dtype.types.numbers import Bool
from zarr.types import JSON

# The lengths of the two parts, as little-endian uint64.
_HEADER_NBYTES = 16


class BoundOptional(BoundBase):
    """Turn records of ``valid`` and ``value`` into two parts of bytes, and back."""

    def __init__(self, spec: ArraySpec, codec: OptionalCodec) -> None:
        super().__init__("optional", spec)
        self._shape, self._dtype = spec.shape, native_dtype(spec)
        mask_spec, data_spec = _specs(spec)
        self._mask = CodecChain.build(codec.mask_codecs, mask_spec)
        self._data = CodecChain.build(codec.data_codecs, data_spec)
        self._values = native_dtype(data_spec)

    def decode(self, data: Bytes) -> AnyArray:
        """Return the records."""
        if data.size < _HEADER_NBYTES:
            raise self.damaged(f"a chunk of {data.size} bytes has no header of {_HEADER_NBYTES}")
        nmask, ndata = (int(n) for n in data[:_HEADER_NBYTES].copy().view("<u8"))
        check_size("optional", data.size, _HEADER_NBYTES + nmask + ndata)
        parts = data[_HEADER_NBYTES : _HEADER_NBYTES + nmask], data[_HEADER_NBYTES + nmask :]
        records = np.zeros(self._shape, dtype=self._dtype)
        valid = self._mask.decode(wrap_bytes(parts[0], self._mask.spec))
        count = int(np.count_nonzero(valid))
        records["valid"] = valid
        if count:
            chain = self._data.for_shape((count,))
            records["value"][valid] = chain.decode(wrap_bytes(parts[1], chain.spec))
        else:
            check_size("optional", parts[1].size, 0, "part for values")
        return records

    def encode(self, data: AnyArray) -> Bytes:
        """Return the two parts, after their lengths."""
        valid = np.ascontiguousarray(data["valid"]).reshape(self._shape)
        values = np.asarray(data["value"][valid], dtype=self._values)
        parts: list[Any] = [self._mask.encode(valid).as_numpy_array(), np.zeros(0, dtype=np.uint8)]
        if values.size:
            parts[1] = self._data.for_shape(values.shape).encode(values).as_numpy_array()
        header = np.array([part.size for part in parts], dtype="<u8").view(np.uint8)
        return np.concatenate([header, *parts])


def _specs(spec: ArraySpec) -> tuple[ArraySpec, ArraySpec]:
    """Return the descriptions of the two parts: a boolean for each element, and a row of the existing values."""
    nullable = _checked(spec.dtype)
    count = max(1, prod(spec.shape))
    inner = nullable.inner
    return (
        replace_spec(spec, dtype=Bool(), fill_value=np.False_),
        replace_spec(spec, dtype=inner, fill_value=inner.default_scalar(), shape=(count,)),
    )


def _checked(dtype: Any) -> Nullable:
    if isinstance(dtype, Nullable):
        return dtype
    raise ValueError(
        f"codec 'optional' stores elements that may be missing, those of the data types {NAMES}, not {dtype}"
    )


@dataclass(frozen=True)
class OptionalCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Store a mask of the existing elements, and then those elements; a missing element takes one bit.

    Parameters
    ----------
    mask_codecs
        Codecs of the booleans, which have the shape of the chunk. By default ``packbits``.
    data_codecs
        Codecs of the existing values, a one-dimensional array.
    name
        ``"zarrs.optional"`` or ``"optional"``.

    Notes
    -----
    https://codec.zarrs.dev/array_to_bytes/optional

    Examples
    --------
    >>> from zarr.codecs import BytesCodec
    >>> OptionalCodec(data_codecs=[BytesCodec()]).mask_codecs
    (PackBitsCodec(padding_encoding='none', first_bit=None, last_bit=None),)
    """

    mask_codecs: tuple[Codec, ...]
    data_codecs: tuple[Codec, ...]
    name: str

    def __init__(
        self,
        *,
        data_codecs: Iterable[Codec | dict[str, JSON]],
        mask_codecs: Iterable[Codec | dict[str, JSON]] | None = None,
        name: str = "zarrs.optional",
    ) -> None:
        if name not in NAMES:
            raise ValueError(f"name must be one of {NAMES}, got {name!r}")
        mask = (PackBitsCodec(),) if mask_codecs is None else parse_codecs(mask_codecs)
        object.__setattr__(self, "mask_codecs", mask)
        object.__setattr__(self, "data_codecs", parse_codecs(data_codecs))
        object.__setattr__(self, "name", name)

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec of a JSON object."""
        name: Any = data.get("name")
        return cls(**configuration_of(data, name if name in NAMES else "zarrs.optional"), name=name)

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object of this codec."""
        parts = self._configuration()
        return {"name": parts.pop("name"), "configuration": parts}

    def validate(self, *, dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise ValueError unless elements may be missing."""
        _checked(dtype)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with its inner codecs evolved."""
        mask_spec, data_spec = _specs(array_spec)
        mask, data = evolve_codecs(self.mask_codecs, mask_spec), evolve_codecs(self.data_codecs, data_spec)
        same = mask == self.mask_codecs and data == self.data_codecs
        return self if same else type(self)(mask_codecs=mask, data_codecs=data, name=self.name)

    def bind(self, spec: ArraySpec) -> BoundOptional:
        """Return the codec bound to chunks of one description."""
        return BoundOptional(spec, self)
