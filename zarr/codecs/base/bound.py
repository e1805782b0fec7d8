"""Codecs bound to an array: plain functions of NumPy arrays, and the native form of a chain.

A bound codec uses no buffers, stores or event loops. Bytes are one-dimensional arrays of ``uint8``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

import zarr_core
from zarr._records import record, set_values
from zarr.chunks.spec import ArraySpec
from zarr.defaults import settings
from zarr.errors import ChunkDecodeError

AnyArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
NativeStage: TypeAlias = tuple[str, dict[str, Any]]

# The ratio of decoded to stored bytes up to which a payload of unknown decoded size is always accepted, and the bytes
# of an element that are always accepted: equal strings compress far better than the ratio. The setting
# ``array.variable_chunk_bytes`` is accepted in any case.
MAX_EXPANSION = 256
MAX_ELEMENT_NBYTES = 1024

# The maximum ratio of encoded to decoded bytes, for codecs that do not know a better one.
MOST_EXPANDED, MOST_ADDED = 2, 1 << 16


def encoded_most(nbytes: int) -> int:
    """Return the maximum number of encoded bytes for ``nbytes`` bytes, if the codec does not know a better one."""
    return MOST_EXPANDED * nbytes + MOST_ADDED


def decoded_limit(stored_nbytes: int, count: int = 0) -> int:
    """Return the maximum decoded size of a payload of unknown size: the one limit against decompression bombs.

    Parameters
    ----------
    stored_nbytes
        The stored size.
    count
        The number of elements of the chunk.

    Examples
    --------
    >>> decoded_limit(10) == 256 << 20
    True
    """
    floor = int(settings.get("array.variable_chunk_bytes"))
    return max(floor, MAX_EXPANSION * stored_nbytes, MAX_ELEMENT_NBYTES * count)


def as_bytes(data: Any) -> Bytes:
    """Return bytes, or the memory of a contiguous array, as a one-dimensional ``uint8`` array, without a copy.

    Examples
    --------
    >>> as_bytes(b"ab").tolist()
    [97, 98]
    """
    if not isinstance(data, np.ndarray):
        return np.frombuffer(data, dtype=np.uint8)
    if data.nbytes == 0:
        return np.empty(0, dtype=np.uint8)
    if not data.flags.c_contiguous:
        data = np.ascontiguousarray(data)
    flat: Bytes = data.reshape(-1).view(np.uint8)
    return flat


def native_dtype(spec: ArraySpec) -> np.dtype[Any]:
    """Return the numpy dtype of the elements of a chunk."""
    return spec.dtype.to_native_dtype()


def replace_spec(spec: ArraySpec, **changes: Any) -> ArraySpec:
    """Return a description with some of its fields changed."""
    fields = {"shape": spec.shape, "dtype": spec.dtype, "fill_value": spec.fill_value}
    return type(spec)(**{**fields, "config": spec.config, "prototype": spec.prototype, **changes})


def is_variable(dtype: np.dtype[Any]) -> bool:
    """Return True if elements of a dtype are references, so that the chunk's memory does not hold their bytes.

    Examples
    --------
    >>> is_variable(np.dtype(object)), is_variable(np.dtype("i4"))
    (True, False)
    """
    return dtype.hasobject or dtype.kind == "T"


def fixed_nbytes(spec: ArraySpec) -> int | None:
    """Return the number of bytes of a chunk's elements, or None if it depends on the elements."""
    dtype = native_dtype(spec)
    return None if is_variable(dtype) else prod(spec.shape) * dtype.itemsize


@record(frozen=True)
class NativeForm:
    """A chain of codecs in the form of the compiled core: a permutation of axes, a byte order, stages on bytes.

    Attributes
    ----------
    itemsize
        Bytes of one stored element.
    swap_width
        Width of the groups whose bytes are stored in reverse; 0 for none.
    order
        The permutation of axes as in the transpose codec, or None.
    stages
        Names and parameters of the stages, in the order of encoding.
    """

    itemsize: int
    swap_width: int
    order: tuple[int, ...] | None
    stages: tuple[NativeStage, ...]

    def __init__(
        self,
        itemsize: int,
        swap_width: int = 0,
        order: tuple[int, ...] | None = None,
        stages: tuple[NativeStage, ...] = (),
    ) -> None:
        set_values(self, itemsize=itemsize, swap_width=swap_width, order=order, stages=stages)

    def with_stage(self, stage: NativeStage | None) -> NativeForm | None:
        """Return the form with one stage more, or None if that stage has no native form.

        Examples
        --------
        >>> NativeForm(4).with_stage(("zstd", {"level": 3})).stages
        (('zstd', {'level': 3}),)
        """
        return None if stage is None else NativeForm(self.itemsize, self.swap_width, self.order, (*self.stages, stage))

    def with_order(self, order: tuple[int, ...]) -> NativeForm | None:
        """Return the form with one transposition more; None if a stage has changed the bytes already.

        Examples
        --------
        >>> NativeForm(4, order=(1, 2, 0)).with_order((1, 2, 0)).order
        (2, 0, 1)
        """
        if self.stages:
            return None
        whole = order if self.order is None else tuple([self.order[axis] for axis in order])
        return NativeForm(self.itemsize, self.swap_width, whole)


_MISMATCH: Final = "Stored and computed checksum do not match"
"""The words that programs look for in the error of a checksum."""

_OF_CORE: Final = ("stored checksum is", "checksum of a shard index")


def core_message(error: ValueError) -> str:
    """Return the message of an error of the compiled core; that of a wrong checksum begins with the usual words.

    Examples
    --------
    >>> core_message(ValueError("the stored checksum is 1"))
    'Stored and computed checksum do not match: the stored checksum is 1'
    """
    text = str(error)
    found = any(words in text for words in _OF_CORE) and _MISMATCH not in text
    return f"{_MISMATCH}: {text}" if found else text


class BoundBase:
    """The base of bound codecs.

    Attributes
    ----------
    name
        The codec's name, for messages.
    native
        The equivalent stage of the compiled core, or None.
    out_spec
        The description of the chunk after encoding.
    asynchronous
        True if it has coroutines only.
    """

    name: str = "codec"
    native: NativeStage | None = None
    asynchronous: bool = False

    def __init__(self, name: str, out_spec: ArraySpec, native: NativeStage | None = None) -> None:
        self.name = name
        self.out_spec = out_spec
        self.native = native

    def decode(self, data: AnyArray) -> AnyArray:
        """Decode one chunk."""
        raise TypeError(f"{type(self).__name__} cannot decode")

    def encode(self, data: AnyArray) -> AnyArray:
        """Encode one chunk."""
        raise TypeError(f"{type(self).__name__} cannot encode")

    async def decode_async(self, data: AnyArray) -> AnyArray:
        """Decode one chunk."""
        return self.decode(data)

    async def encode_async(self, data: AnyArray) -> AnyArray:
        """Encode one chunk."""
        return self.encode(data)

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the encoded size of ``nbytes`` bytes, or None if it depends on the bytes."""
        return None

    def damaged(self, what: str) -> ChunkDecodeError:
        """Return the error for stored bytes that cannot be decoded."""
        return ChunkDecodeError(f"codec {self.name!r}: {what}", codec=self.name)

    def expect(self, nbytes: int | None) -> None:
        """Set the number of bytes that decoding must give; None if it is unknown."""

    def expect_most(self, nbytes: int) -> None:
        """Set the maximum number of decoded bytes, if the exact number is unknown."""

    def encoded_most(self, nbytes: int) -> int | None:
        """Return the maximum encoded size of ``nbytes`` bytes; None if there is no maximum."""
        return encoded_most(nbytes)

    def extend(self, form: NativeForm) -> NativeForm | None:
        """Return the native form of the chain up to this codec, this one included, or None."""
        return form.with_stage(self.native)


class FunctionCodec(BoundBase):
    """A bound array-to-array codec made of two functions."""

    def __init__(
        self,
        name: str,
        out_spec: ArraySpec,
        decode: Callable[[AnyArray], AnyArray],
        encode: Callable[[AnyArray], AnyArray],
    ) -> None:
        super().__init__(name, out_spec)
        self._decode = decode
        self._encode = encode

    def decode(self, data: AnyArray) -> AnyArray:
        """Decode one chunk."""
        return self._decode(data)

    def encode(self, data: AnyArray) -> AnyArray:
        """Encode one chunk."""
        return self._encode(data)

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the size of the encoded array."""
        return fixed_nbytes(self.out_spec)


def check_size(name: str, nbytes: int, expected: int, what: str = "chunk") -> None:
    """Refuse bytes if their number is not the expected one.

    Raises
    ------
    ChunkDecodeError
        The message has the codec's name and both sizes.

    Examples
    --------
    >>> check_size("bytes", 4, 4)
    """
    if nbytes != expected:
        raise ChunkDecodeError(
            f"codec {name!r}: the {what} has {nbytes} bytes where {expected} are needed; "
            "the stored data is truncated or damaged, or does not belong to this array",
            codec=name,
        )


MIN_NBYTES: Final = 32 << 10
"""Smaller chunks have only a few blocks, and are decoded whole."""

MAX_SHARE: Final = 2
"""A part that spans more than one in this number of bytes of a chunk is not worth the search for blocks."""

_HEADER: Final = 16


def takes_parts(form: NativeForm, nbytes: int | None) -> bool:
    """Return True if chunks with these codecs can be decoded in part: large ones with blosc as the only compressor."""
    return (
        nbytes is not None
        and nbytes >= MIN_NBYTES
        and len(form.stages) == 1
        and form.stages[0][0] == "blosc"
        and form.order is None
        and not form.swap_width
    )


def span_of(selection: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[int, int, list[int], list[int]] | None:
    """Return the place of a selection by integers and slices in a chunk in C order.

    Parameters
    ----------
    selection : tuple of int and slice
        One for each dimension; slices with all three numbers and a positive step.
    shape : tuple of int

    Returns
    -------
    (first, end, lengths, steps) or None
        The first element and the one after the last, and for each slice the number and the distance of its elements;
        all in elements. None for a selection of another kind, or an empty one.

    Examples
    --------
    >>> span_of((1, slice(0, 4, 2)), (3, 4))
    (4, 7, [2], [2])
    """
    first = last = 0
    stride = 1
    lengths: list[int] = []
    steps: list[int] = []
    for part, length in zip(reversed(selection), reversed(shape), strict=True):
        if type(part) is slice:
            count = len(range(part.start, part.stop, part.step))
            if part.step < 1 or not count:
                return None
            lengths.append(count)
            steps.append(part.step * stride)
            first += part.start * stride
            last += (part.start + (count - 1) * part.step) * stride
        elif type(part) is int:
            first += part * stride
            last += part * stride
        else:
            return None
        stride *= length
    return first, last + 1, lengths[::-1], steps[::-1]


def decode_part(data: AnyArray, selection: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return the selected elements of a blosc frame; None if the whole frame must be decoded.

    Parameters
    ----------
    data : numpy.ndarray
        The frame, uint8.
    selection : tuple of int and slice
    shape, dtype
        Shape and data type of the chunk; see :func:`takes_parts`.
    """
    span = span_of(selection, shape)
    if span is None:
        return None
    first, end, lengths, steps = span
    width = dtype.itemsize
    nbytes = width * prod(shape)
    if (end - first) * width * MAX_SHARE > nbytes:
        return None
    if data.size < _HEADER or int.from_bytes(data[4:8].tobytes(), "little") != nbytes:
        return None
    try:
        part = zarr_core.decode_blosc_range(data, first * width, end * width)
    except (ValueError, IndexError):
        return None  # the error of decoding the whole frame explains the damage
    if dtype.kind == "b":  # stored bytes may differ from 0 and 1
        part = part != 0
    return np.ndarray(lengths, dtype, part, 0, [step * width for step in steps])
