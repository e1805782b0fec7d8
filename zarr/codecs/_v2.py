"""Chunks of format 2: numcodecs filters, then a numcodecs compressor, and a memory order.

The compiled core runs the codecs that it has; the others run through the Python calls of numcodecs, one after the
other, with the array in the memory order of the format: those codecs read memory, not indexes.
"""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayBytesCodec, Codec
from zarr.abc.numcodec import Numcodec, is_of_numcodecs
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.adapters import set_size_hints
from zarr.codecs.base.bound import (
    AnyArray,
    BoundBase,
    Bytes,
    NativeForm,
    NativeStage,
    as_bytes,
    decoded_limit,
    fixed_nbytes,
    is_variable,
    native_dtype,
    replace_spec,
)
from zarr.codecs.base.described import ArrayBytesMethods
from zarr.codecs.base.streams import (
    CoreStream,
    NumcodecStream,
    first_size,
    has_own_coding,
    native_stage,
    numcodec_encode,
)
from zarr.codecs.vlen_utf8 import BoundVLenBytes, BoundVLenUTF8, pack_strings
from zarr.defaults import pickle_allowed
from zarr.errors import ChunkDecodeError, ChunkEncodeError, PickleCodecDisabledError
from zarr.types import MemoryOrder

# Codecs that accept bytes only, so that the chain of an array of objects cannot begin with them.
BYTES_CODECS = frozenset(
    (
        "zstd", "gzip", "zlib", "lz4", "blosc", "bz2", "lzma", "shuffle", "base64", "crc32", "crc32c", "adler32",
        "fletcher32", "jenkins_lookup3", "delta", "packbits",
    )
)  # fmt: skip



def codec_id(codec: Any) -> str:
    """Return the id of a numcodecs object.

    Examples
    --------
    >>> import numcodecs
    >>> codec_id(numcodecs.Zlib())
    'zlib'
    """
    return str(getattr(codec, "codec_id", None) or type(codec).__name__)


@dataclass(frozen=True)
class V2Codec(ArrayBytesMethods, ArrayBytesCodec):
    """All codecs of a format 2 array as one array-to-bytes codec.

    Parameters
    ----------
    filters
        numcodecs objects, in the order of encoding.
    compressor
        A numcodecs object.
    order
        The memory order of chunks, which the document of an array states; None: that of the chunk's description.
    """

    _in_thread = True

    filters: tuple[Numcodec, ...] | None
    compressor: Numcodec | None
    order: MemoryOrder | None = None

    def bind(self, spec: ArraySpec) -> BoundV2:
        """Return the codec bound to chunks of one description."""
        return BoundV2(spec, tuple(self.filters or ()), self.compressor, self.order or spec.order)

    def __hash__(self) -> int:
        """Return a number that is equal for equal codecs, so that equal arrays share what is bound.

        Raises
        ------
        TypeError
            If a codec is none of numcodecs itself: its parameters may not be all of it.
        """
        codecs = (*(self.filters or ()), self.compressor)
        if not all(codec is None or is_of_numcodecs(codec) for codec in codecs):
            raise TypeError(f"unhashable codecs: {codecs}")
        return hash((self.order, *[type(codec) for codec in codecs]))


def v2_chain_codecs(
    filters: Iterable[Numcodec] | None,
    compressor: Numcodec | None,
    order: MemoryOrder = "C",
) -> tuple[Codec, ...]:
    """Return the codecs of a format 2 array.

    Parameters
    ----------
    filters, compressor
        numcodecs objects.
    order
        The memory order of chunks.

    Examples
    --------
    >>> v2_chain_codecs(None, None)
    (V2Codec(filters=None, compressor=None, order='C'),)
    """
    return (V2Codec(None if filters is None else tuple(filters), compressor, order),)


class BoundV2(BoundBase):
    """Filters and compressor, bound to one chunk shape."""

    def __init__(
        self, spec: ArraySpec, filters: tuple[Numcodec, ...], compressor: Numcodec | None, order: MemoryOrder
    ) -> None:
        codecs = filters if compressor is None else (*filters, compressor)
        super().__init__("+".join(codec_id(codec) for codec in codecs) or "raw", spec)
        self._shape, self._dtype, self._order = spec.shape, native_dtype(spec), order
        self._count = math.prod(spec.shape)
        self._codecs = codecs
        self._steps = _decoders(codecs, spec)
        self._pickles = any(isinstance(step, _PickleStep) for step in self._steps)

    def encode(self, data: AnyArray) -> Bytes:
        """Run filters and compressor."""
        stored = self._as_stored(data)
        for codec in self._codecs:
            stored = _encode_one(codec, stored)
        if isinstance(stored, np.ndarray):
            # The memory in its own order, which for order "F" is not the order of the indexes.
            stored = stored.reshape(-1, order="A")
        return as_bytes(stored)

    def _as_stored(self, data: AnyArray) -> Any:
        """Return the array in the form for the first filter."""
        if not is_variable(self._dtype):
            return np.asarray(data, dtype=self._dtype, order=self._order)
        if not self._codecs or codec_id(self._codecs[0]) in BYTES_CODECS:
            raise ChunkEncodeError(
                f"an array of objects needs an object codec as its first filter, like 'vlen-utf8'; has {self.name!r}",
                codec=self.name,
            )
        # No cast: it would make text of other objects; the object codec itself refuses them.
        return np.asarray(data, order=self._order)

    def decode(self, data: Bytes) -> AnyArray:
        """Undo compressor and filters."""
        stored: Any = data
        if self._pickles:
            check_pickle_allowed()  # before any decompression
        for step in reversed(self._steps):
            stored = step.decode(stored)
        return self._shaped(stored)

    def extend(self, form: NativeForm) -> NativeForm | None:
        """Return the native form, if every filter and the compressor have one."""
        if is_variable(self._dtype) or self._dtype.itemsize == 0:
            return None
        extended: NativeForm | None = NativeForm(self._dtype.itemsize)
        if self._order == "F" and len(self._shape) > 1:
            extended = NativeForm(self._dtype.itemsize, order=tuple(reversed(range(len(self._shape)))))
        itemsize = self._dtype.itemsize
        for codec in self._codecs:
            if extended is None:
                return None
            extended = extended.with_stage(_stage(codec, self._dtype, itemsize))
            itemsize = itemsize if codec_id(codec) == "delta" else 1
        return extended

    def _shaped(self, decoded: Any) -> AnyArray:
        """Return the result of the codecs as an array of the chunk's dtype and shape."""
        array = decoded if isinstance(decoded, np.ndarray) else as_bytes(decoded)
        if array.dtype != self._dtype:
            array = self._retyped(array)
        if array.size != self._count:
            raise ChunkDecodeError(
                f"codec {self.name!r} decoded {array.size} elements where {self._count} are needed for a chunk of "
                f"shape {self._shape}; the stored data is truncated or damaged, or does not belong to this array",
                codec=self.name,
            )
        return array.reshape(self._shape, order=self._order)

    def _retyped(self, array: AnyArray) -> AnyArray:
        if is_variable(array.dtype):
            return array.astype(self._dtype)
        if is_variable(self._dtype):
            raise ChunkDecodeError("an array of objects cannot be read without an object codec", codec=self.name)
        if self._dtype.itemsize == 0 and array.nbytes == 0:
            return np.zeros(self._count, dtype=self._dtype)
        flat = as_bytes(array.reshape(-1, order="A"))
        if self._dtype.itemsize == 0 or flat.size % self._dtype.itemsize:
            raise ChunkDecodeError(
                f"codec {self.name!r} decoded {flat.size} bytes where {self._count * self._dtype.itemsize} are needed",
                codec=self.name,
            )
        return flat.view(self._dtype)


class _Step(NumcodecStream):
    """A filter or compressor of numcodecs; it may decode to an array of any data type."""

    decode = NumcodecStream._decode


class _ObjectStep(NumcodecStream):
    """An object codec whose payload has a shape of its own, which is compared with the chunk before allocation."""

    def __init__(self, name: str, spec: ArraySpec, codec: Numcodec) -> None:
        super().__init__(name, spec, codec)
        self._count = math.prod(spec.shape)

    def encoded_most(self, nbytes: int) -> int | None:
        """Return None: numbers as text or as objects may have any length."""
        return None

    def decode(self, data: Any) -> Any:
        """Decode a list that ends with its data type and shape, or arrays behind their number."""
        stored = as_bytes(data)
        try:
            if self.name == "vlen-array":
                return self._decode_arrays(stored)
            return self._decode_items(self._parse(stored), stored.size)
        except (ChunkDecodeError, MemoryError):
            raise
        except Exception as error:
            what = f"codec {self.name!r} cannot decode {stored.size} bytes: {type(error).__name__}: {error}"
            raise ChunkDecodeError(what, codec=self.name) from error

    def _parse(self, stored: Bytes) -> Any:
        config = self._config
        if self.name == "json2":
            return json.loads(stored.tobytes().decode(config["encoding"]), strict=bool(config.get("strict", True)))
        return import_module("msgpack").unpackb(stored, raw=bool(config.get("raw", False)))

    def _decode_arrays(self, stored: Bytes) -> AnyArray:
        dtype = np.dtype(self._config["dtype"])
        elements = np.empty(self._count, dtype=object)
        for place, raw in enumerate(zarr_core.unpack_bytes(stored, self._count)):
            elements[place] = np.frombuffer(raw, dtype=dtype).copy()
        return elements

    def _decode_items(self, items: Any, stored_nbytes: int) -> AnyArray:
        *values, kind, shape = items
        if math.prod(shape) != self._count or len(values) != (shape[0] if shape else 1):
            raise ValueError(f"{len(values)} items of shape {str(shape)[:100]} where {self._count} elements are needed")
        dtype = np.dtype(kind.decode() if isinstance(kind, bytes) else kind)
        if not dtype.hasobject and dtype.itemsize * self._count > decoded_limit(stored_nbytes, self._count):
            raise ValueError(f"{stored_nbytes} bytes do not hold {self._count} elements of {dtype}")
        elements = np.empty(shape, dtype=dtype)
        elements[...] = values if shape else values[0]
        return elements


class _PickleStep(_ObjectStep):
    """The object codec that unpickles stored data; `BoundV2.decode` first checks that pickles are allowed."""

    def decode(self, data: Any) -> Any:
        """Unpickle."""
        raw = as_bytes(data).tobytes()
        # The codec of numcodecs would check the permission of numcodecs again; a foreign codec has its own rules.
        return pickle.loads(raw) if type(self._codec).__module__ == "numcodecs.pickles" else self._codec.decode(raw)


def check_pickle_allowed() -> None:
    """Refuse to unpickle stored data, unless the user allowed it.

    Raises
    ------
    PickleCodecDisabledError
    """
    if not pickle_allowed():
        raise PickleCodecDisabledError(
            "This array was written with the 'pickle' codec, and unpickling data can run any code. If you trust "
            "where it comes from, allow it with zarr.config.set({'array.allow_unsafe_pickle_decode': True}), the "
            "environment variable ZARR_ARRAY__ALLOW_UNSAFE_PICKLE_DECODE=True, or "
            "numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE = True."
        )


def _decoders(codecs: tuple[Numcodec, ...], spec: ArraySpec) -> list[BoundBase]:
    """Return a decoding step for each codec, with its size hint."""
    steps = [_decoder(codec, spec) for codec in codecs]
    nbytes = fixed_nbytes(spec)
    if nbytes is None and steps:
        set_size_hints(steps[1:], first_size(codecs[0].get_config(), math.prod(spec.shape)))
    else:
        set_size_hints(steps, nbytes)
    return steps


def _decoder(codec: Numcodec, spec: ArraySpec) -> BoundBase:
    name = codec_id(codec)
    cls: Any = type(codec)
    if has_own_coding(cls) and name != "pickle":
        return _Step(name, spec, codec)
    if name in ("vlen-utf8", "vlen-bytes"):
        kind = BoundVLenUTF8 if name == "vlen-utf8" else BoundVLenBytes
        return kind(name, replace_spec(spec, shape=(math.prod(spec.shape),)))
    if name == "pickle":
        return _PickleStep(name, spec, codec)
    if name in ("json2", "msgpack2", "vlen-array"):
        return _ObjectStep(name, spec, codec)
    stage = native_stage(codec.get_config(), 1)
    return _Step(name, spec, codec) if stage is None else CoreStream(name, spec, stage)


def _encode_one(codec: Any, data: Any) -> Any:
    name = codec_id(codec)
    if isinstance(data, np.ndarray) and (is_variable(data.dtype) or data.dtype.kind == "U"):
        flat = data.reshape(-1, order="A")
        cls: Any = type(codec)
        own = has_own_coding(cls)
        if name == "vlen-utf8" and not own:
            return pack_strings(flat)
        if data.dtype.kind == "U":
            return numcodec_encode(name, codec, data)
        if name == "vlen-bytes" and not own:
            return zarr_core.pack_bytes(flat.astype(object))
        data = data.astype(object)
    return numcodec_encode(name, codec, data)


def _stage(codec: Any, dtype: np.dtype[Any], itemsize: int) -> NativeStage | None:
    """Return the native stage of a filter or compressor whose input has an item size."""
    cls: Any = type(codec)
    if has_own_coding(cls):
        return None
    config = codec.get_config()
    if codec_id(codec) != "delta":
        return native_stage(config, itemsize)
    given = np.dtype(config["dtype"])
    if itemsize != dtype.itemsize or given != dtype or np.dtype(config.get("astype") or given) != given:
        return None
    return "delta", {"dtype": given.str}
