"""The ``zfp`` codec: lossy or reversible compression of numbers in blocks of four along each axis.

Needs the package ``zfpy`` (the extra ``zarr[zfp]``).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from zarr._lazy import load_extra
from zarr.abc.codec import ArrayBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, BoundBase, Bytes, as_bytes, native_dtype
from zarr.codecs.base.described import ArrayBytesMethods
from zarr.dtype.base import ZDType
from zarr.errors import ChunkDecodeError, ChunkEncodeError, UnknownCodecError
from zarr.types import JSON

# For each mode its parameter, which has the same name in zfpy.
_PARAMETERS: Final[dict[str, str | None]] = {
    "reversible": None,
    "fixed_accuracy": "tolerance",
    "fixed_rate": "rate",
    "fixed_precision": "precision",
}
_EXPERT: Final = ("minbits", "maxbits", "maxprec", "minexp")
_MOST_AXES: Final = 4
_HEADER_NBYTES: Final = 64


def _zfpy() -> Any:
    return load_extra("zfpy", "zfp", "codec 'zfp'")


def _carrier_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that zfp compresses in place of another one."""
    if dtype.kind in "iu" and dtype.itemsize < 4:
        return np.dtype("i4")
    if dtype.kind == "f" and dtype.itemsize == 2:
        return np.dtype("f4")
    if dtype.kind in "if" and dtype.itemsize in (4, 8):
        return dtype.newbyteorder("=")
    if dtype.kind in "mM":
        return np.dtype("i8")
    raise ValueError(
        "codec 'zfp' compresses integers of 8 and 16 bits, signed ones of 32 and 64 bits, floats and times, "
        f"not {dtype}"
    )


def promote(array: AnyArray) -> AnyArray:
    """Return narrow integers centred and shifted to the top of 32 bits, as zfp needs them; other numbers unchanged.

    Examples
    --------
    >>> promote(np.array([0, 255], dtype="u1")).tolist()
    [-1073741824, 1065353216]
    """
    carrier = _carrier_of(array.dtype)
    if array.dtype.kind in "mM":
        return array.view(array.dtype.str[0] + "i8").astype(carrier)
    wide = array.astype(carrier)
    if array.dtype.kind in "iu" and array.dtype.itemsize < 4:
        bits = 8 * array.dtype.itemsize
        wide = (wide - (1 << (bits - 1) if array.dtype.kind == "u" else 0)) << (31 - bits)
    return wide


def demote(array: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    """Undo ``promote``; values that compression moved out of the range of the type are clipped."""
    if dtype.kind in "mM":
        return array.view(dtype.newbyteorder("=")).astype(dtype)
    if dtype.kind in "iu" and dtype.itemsize < 4:
        bits = 8 * dtype.itemsize
        info = np.iinfo(dtype)
        array = (array >> (31 - bits)) + (1 << (bits - 1) if dtype.kind == "u" else 0)
        array = np.clip(array, info.min, info.max)
    return array.astype(dtype)


class BoundZfp(BoundBase):
    """Turn elements into a zfp stream without a header, and back."""

    def __init__(self, spec: ArraySpec, codec: ZfpCodec) -> None:
        super().__init__("zfp", spec)
        if codec.mode == "expert":
            raise UnknownCodecError(
                "zfp mode 'expert' (minbits, maxbits, maxprec, minexp) is not supported, because zfpy has no function "
                f"for it; the supported modes are {(*_PARAMETERS,)}"
            )
        self._dtype = native_dtype(spec)
        self._carrier = _carrier_of(self._dtype)
        self._shape = spec.shape
        self._field = spec.shape or (1,)
        if len(self._field) > _MOST_AXES:
            raise ValueError(f"codec 'zfp' takes chunks of up to {_MOST_AXES} dimensions, got shape {spec.shape}")
        parameter = _PARAMETERS.get(codec.mode)
        self._options = {} if parameter is None else {parameter: getattr(codec, parameter)}
        blocks = prod(-(-length // 4) for length in self._field)
        # The maximum length of a stream: each value at full width with its bit of a plane, and a block's exponent.
        self._longest = blocks * (4 ** len(self._field) * (2 * self._carrier.itemsize) + 16) + 64

    def decode(self, data: Bytes) -> AnyArray:
        """Return the elements."""
        zfpy = _zfpy()
        if 0 in self._field:
            return np.zeros(self._shape, dtype=self._dtype)
        if data.size == 0 or data.size > self._longest:
            raise self.damaged(f"{data.size} bytes are no stream of a chunk of shape {self._shape}")
        # zfp does not know the end of a stream: all memory that it may read must exist.
        padded = np.zeros(self._longest, dtype=np.uint8)
        padded[: data.size] = data
        try:
            ztype = zfpy.dtype_to_ztype(self._carrier)
            array = zfpy._decompress(padded.tobytes(), ztype, self._field, **self._options)
        except (ValueError, TypeError) as error:
            raise self.damaged(str(error)) from error
        return demote(np.asarray(array), self._dtype).reshape(self._shape)

    def encode(self, data: AnyArray) -> Bytes:
        """Return the stream."""
        zfpy = _zfpy()
        if 0 in self._field:
            return np.empty(0, dtype=np.uint8)
        numbers = np.ascontiguousarray(promote(np.asarray(data))).reshape(self._field)
        try:
            return as_bytes(zfpy.compress_numpy(numbers, write_header=False, **self._options))
        except (ValueError, TypeError) as error:
            raise ChunkEncodeError(f"codec 'zfp': {error}", codec="zfp") from error


@dataclass(frozen=True)
class ZfpCodec(ArrayBytesMethods, ArrayBytesCodec):
    """Compress numbers with zfp.

    Parameters
    ----------
    mode
        ``"reversible"``, ``"fixed_accuracy"`` (with ``tolerance``), ``"fixed_rate"`` (with ``rate``, bits of a value)
        or ``"fixed_precision"`` (with ``precision``, bit planes). The mode ``"expert"`` of the specification is kept in
        metadata, but chunks are neither read nor written: zfpy has no function for it.
    tolerance, rate, precision
        The parameter of the mode.
    **expert
        The whole numbers ``minbits``, ``maxbits``, ``maxprec`` and ``minexp`` of the mode ``"expert"``.

    Raises
    ------
    ValueError
        For another mode, or a parameter that does not belong to the mode.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp

    Examples
    --------
    >>> ZfpCodec(mode="fixed_accuracy", tolerance=0.05).to_dict()["configuration"]
    {'mode': 'fixed_accuracy', 'tolerance': 0.05}
    """

    _name = "zfp"

    mode: str
    tolerance: float | None
    rate: float | None
    precision: int | None
    expert: tuple[int, ...]

    def __init__(
        self,
        *,
        mode: str = "reversible",
        tolerance: float | None = None,
        rate: float | None = None,
        precision: int | None = None,
        **expert: Any,
    ) -> None:
        given = {"tolerance": tolerance, "rate": rate, "precision": precision}
        if mode not in (*_PARAMETERS, "expert") or set(expert) != set(_EXPERT if mode == "expert" else ()):
            raise ValueError(
                f"zfp mode must be one of {(*_PARAMETERS,)}, or 'expert' with {_EXPERT}, got {mode!r} and parameters "
                f"{expert}"
            )
        if any(type(value) is not int for value in expert.values()):
            raise ValueError(f"zfp mode 'expert' takes whole numbers, got {expert}")
        object.__setattr__(self, "expert", tuple(expert[name] for name in _EXPERT if name in expert))
        parameter = _PARAMETERS.get(mode)
        wanted = () if parameter is None else (parameter,)
        if tuple(name for name, value in given.items() if value is not None) != wanted:
            raise ValueError(f"zfp mode {mode!r} takes the parameters {wanted}, got {given}")
        object.__setattr__(self, "mode", mode)
        for name, value in given.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
                raise ValueError(f"zfp {name} must be a number that is not negative, got {value!r}")
            object.__setattr__(self, name, value)

    def _configuration(self) -> dict[str, JSON]:
        given = {name: value for name, value in super()._configuration().items() if name != "expert"}
        return given | dict(zip(_EXPERT, self.expert, strict=False))

    def validate(self, *, shape: tuple[int, ...], dtype: ZDType[Any, Any], **_others: Any) -> None:
        """Raise ValueError if zfp does not accept the elements, or the array has too many dimensions."""
        _carrier_of(dtype.to_native_dtype())
        if len(shape) > _MOST_AXES:
            raise ValueError(f"codec 'zfp' takes arrays of up to {_MOST_AXES} dimensions, got shape {shape}")

    def bind(self, spec: ArraySpec) -> BoundZfp:
        """Return the codec bound to chunks of one description."""
        return BoundZfp(spec, self)


def decode_numcodec(codec: Any, data: Any, nbytes: int | None, limit: int) -> AnyArray:
    """Decode a zfp stream with a header, as numcodecs stores it, after a check that the header fits the chunk.

    Parameters
    ----------
    codec
        The numcodecs object.
    data
        The stored bytes.
    nbytes
        The exact size of the elements, or None.
    limit
        The maximum size if ``nbytes`` is None.

    Raises
    ------
    ValueError
        If the header is damaged or states another size.
    ChunkDecodeError
        If the stream is too short for its rate.
    """
    zfpy = _zfpy()
    stored = as_bytes(data)
    header = zfpy.header(np.concatenate([stored[:_HEADER_NBYTES], np.zeros(_HEADER_NBYTES, np.uint8)]))
    field = [int(header[name]) for name in ("nx", "ny", "nz", "nw") if header[name]]
    itemsize = np.dtype(header["type"]).itemsize
    size = prod(field) * itemsize
    if size != nbytes if nbytes is not None else size > limit:
        raise ValueError(f"the header states {field} elements of {itemsize} bytes; {nbytes} bytes are needed")
    blocks = prod(-(-length // 4) for length in field)
    fixed = {"rate": "maxbits", "expert": "minbits"}.get(header["mode"])
    bits = int(header["config"]["expert"][fixed]) if fixed else 1
    if fixed and blocks * bits // 8 > stored.size + itemsize:
        raise ChunkDecodeError(f"{stored.size} bytes are too few for {blocks} blocks of {bits} bits")
    # zfp does not know the end of a stream: all memory that it may read must exist.
    beyond = blocks * (-(-bits // 8)) + 2 * itemsize * 4 ** len(field) + _HEADER_NBYTES
    return np.asarray(codec.decode(np.concatenate([stored, np.zeros(beyond, np.uint8)])))
