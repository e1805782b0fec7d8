"""Bound bytes-to-bytes codecs: of the compiled core if it has the codec, else of numcodecs, with a size limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

import zarr_core
from zarr._lazy import LazyModule
from zarr.codecs.base.bound import BoundBase, Bytes, NativeStage, as_bytes, check_size, core_message, decoded_limit
from zarr.codecs.base.described import BytesBytesMethods
from zarr.errors import ChunkChecksumError, ChunkDecodeError, ChunkEncodeError
from zarr.registry import get_numcodec

if TYPE_CHECKING:
    import bz2
    import lzma

    from zarr.abc.numcodec import Numcodec
    from zarr.chunks.spec import ArraySpec
    from zarr.codecs.extensions import zfp
else:
    bz2, lzma = LazyModule("bz2"), LazyModule("lzma")
    zfp = LazyModule("zarr.codecs.extensions.zfp")

BLOSC_COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
CHECKSUM_NBYTES = 4

_REMEDY = "; if the data is sound, raise the bound with zarr.config.set({'array.variable_chunk_bytes': ...})"


def native_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage | None:
    """Return the stage of the compiled core for a numcodecs configuration, or None if there is none.

    Parameters
    ----------
    config
        The result of ``codec.get_config()``: the parameters beside the ``id``.
    itemsize
        The item size of the array before the codec; blosc takes its type size from it.

    Examples
    --------
    >>> native_stage({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}, 4)[1]["shuffle"]
    1
    """
    build = _STAGES.get(config.get("id", ""))
    return None if build is None else build(config, itemsize)


def _zstd_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage:
    level = max(-131072, min(22, config.get("level", 0)))
    return "zstd", {"level": level, "checksum": bool(config.get("checksum", False))}


def _deflate_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage | None:
    level = config.get("level", 1)
    return (config["id"], {"level": level}) if -1 <= level <= 9 else None


def _lz4_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage:
    return "lz4", {"acceleration": config.get("acceleration", 1)}


def _blosc_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage | None:
    typesize = config.get("typesize") or itemsize
    if not 1 <= typesize <= 255:
        typesize = 1
    shuffle = config.get("shuffle", 1)
    if shuffle == -1:
        shuffle = 2 if itemsize == 1 else 1
    cname, clevel, blocksize = config.get("cname", "lz4"), config.get("clevel", 5), config.get("blocksize", 0)
    if cname not in BLOSC_COMPRESSORS or not 0 <= clevel <= 9 or shuffle not in (0, 1, 2) or blocksize < 0:
        return None
    return "blosc", {
        "cname": cname, "clevel": clevel, "shuffle": shuffle, "typesize": typesize, "blocksize": blocksize,
    }  # fmt: skip


def _crc32c_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage:
    return "crc32c", {"location": config.get("location") or "end"}


def _shuffle_stage(config: Mapping[str, Any], itemsize: int) -> NativeStage | None:
    elementsize = config.get("elementsize", 4)
    return ("shuffle", {"elementsize": elementsize}) if elementsize >= 1 else None


_STAGES: dict[str, Callable[[Mapping[str, Any], int], NativeStage | None]] = {
    "zstd": _zstd_stage,
    "gzip": _deflate_stage,
    "zlib": _deflate_stage,
    "lz4": _lz4_stage,
    "blosc": _blosc_stage,
    "crc32c": _crc32c_stage,
    "shuffle": _shuffle_stage,
}


@cache
def has_own_coding(cls: Any) -> bool:
    """Return True if a class of codecs has ``encode`` or ``decode`` of another library than numcodecs.

    A subclass keeps the ``id`` of its base, and may code chunks in another way than the core does.

    Examples
    --------
    >>> import numcodecs
    >>> class Counting(numcodecs.Zlib):
    ...     __module__ = "another"
    ...     def encode(self, buf):
    ...         return super().encode(buf)
    >>> has_own_coding(numcodecs.Zlib), has_own_coding(Counting)
    (False, True)
    """
    for name in ("encode", "decode"):
        owner = next((owner for owner in cls.__mro__ if name in vars(owner)), object)
        if owner.__module__.partition(".")[0] not in ("numcodecs", "zarr"):
            return True
    return False


_SAME_SIZE = frozenset(("shuffle", "bitround"))
CHECKSUMS = frozenset(("crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3"))
DTYPE_PARAMETERS = {
    "delta": ("dtype", "astype"),
    "fixedscaleoffset": ("dtype", "astype"),
    "quantize": ("dtype", "astype"),
    "astype": ("decode_dtype", "encode_dtype"),
    "categorize": ("dtype", "astype"),
}
"""For filters that change the data type: the parameters with the decoded and the encoded one."""


def with_byte_order(config: Mapping[str, Any], order: str) -> dict[str, Any]:
    """Return the configuration of a codec of numcodecs with its data types in a byte order: "<" or ">".

    Examples
    --------
    >>> with_byte_order({"id": "delta", "dtype": "<i8", "astype": "<i2"}, ">")
    {'id': 'delta', 'dtype': '>i8', 'astype': '>i2'}
    """
    names = DTYPE_PARAMETERS.get(config.get("id", ""), ())
    turned = {name: np.dtype(config[name]).newbyteorder(order).str for name in names if config.get(name)}
    return {**config, **turned}


def first_size(config: Mapping[str, Any], count: int) -> int | None:
    """Return the encoded size of ``count`` objects, or None if it depends on the data.

    Examples
    --------
    >>> first_size({"id": "categorize", "astype": "<u2"}, 80)
    160
    """
    if config.get("id") != "categorize":
        return None
    return count * np.dtype(config.get("astype") or "u1").itemsize


def filter_size(config: Mapping[str, Any], nbytes: int) -> int | None:
    """Return the encoded size of ``nbytes`` bytes after a filter, or None if it depends on the data.

    Parameters
    ----------
    config
        The result of ``codec.get_config()``.
    nbytes
        The size of the decoded data.

    Examples
    --------
    >>> filter_size({"id": "delta", "dtype": "<i8", "astype": "<i2"}, 80)
    20
    """
    name = config.get("id", "")
    if name in _SAME_SIZE:
        return nbytes
    if name in CHECKSUMS:
        return nbytes + 4
    if name == "packbits":
        return 1 + -(-nbytes // 8)
    if name not in DTYPE_PARAMETERS:
        return None
    plain, stored = (config.get(key) for key in DTYPE_PARAMETERS[name])
    plain_size = np.dtype(plain).itemsize
    if not plain_size or nbytes % plain_size:
        return None
    return nbytes // plain_size * np.dtype(stored or plain).itemsize


class SizedStream(BoundBase):
    """A bound codec that limits its decoded size: by the exact size, by a size hint, or by `decoded_limit`."""

    _nbytes: int | None = None
    _most: int | None = None
    _config: Mapping[str, Any] = {}
    """The configuration of the codec in numcodecs."""

    def expect(self, nbytes: int | None) -> None:
        """Set the number of bytes that decoding must give; None if it is unknown."""
        self._nbytes = nbytes

    def expect_most(self, nbytes: int) -> None:
        """Set the maximum number of decoded bytes."""
        self._most = nbytes

    def limit(self, stored_nbytes: int) -> int | None:
        """Return the maximum decoded size of a payload if the exact size is unknown; None if it is known."""
        if self._nbytes is not None:
            return None
        return self._most or decoded_limit(stored_nbytes, prod(self.out_spec.shape))

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the encoded size if it depends on the size only."""
        return filter_size(self._config, nbytes)


class CoreStream(SizedStream):
    """A bytes-to-bytes codec of the compiled core.

    Parameters
    ----------
    name
        The codec's name in the metadata, for messages.
    spec
        The description of the chunk.
    stage
        Its name and parameters in the core.
    """

    def __init__(self, name: str, spec: ArraySpec, stage: NativeStage) -> None:
        super().__init__(name, spec, stage)
        self._id, self._params = stage
        self._config = {"id": self._id}

    def decode(self, data: Any) -> Bytes:
        """Decode, to exactly the expected size if it is known."""
        data = as_bytes(data)
        limit = self.limit(data.size)
        try:
            decoded = zarr_core.decode(self._id, data, self._nbytes, max_nbytes=limit, **self._params)
        except ValueError as error:
            kind = ChunkChecksumError if self._id == "crc32c" else ChunkDecodeError
            # Not the limit itself: it may be part of the number of stored bytes, in an error of damaged data.
            remedy = _REMEDY if limit is not None and " decodes to " in str(error) else ""
            raise kind(f"codec {self.name!r}: {core_message(error)}{remedy}", codec=self.name) from error
        return as_bytes(decoded)

    def encode(self, data: Bytes) -> Bytes:
        """Encode."""
        try:
            return as_bytes(zarr_core.encode(self._id, data, **self._params))
        except ValueError as error:
            raise ChunkEncodeError(f"codec {self.name!r}: {error}", codec=self.name) from error


class NumcodecStream(SizedStream):
    """A bytes-to-bytes codec of numcodecs, called through its Python methods."""

    def __init__(self, name: str, spec: ArraySpec, codec: Numcodec) -> None:
        super().__init__(name, spec)
        self._codec, self._config = codec, codec.get_config()

    def decode(self, data: Bytes) -> Any:
        """Decode."""
        return as_bytes(self._decode(data))

    def _decode(self, data: Any) -> Any:
        """Decode, and refuse a result of another size than expected."""
        limit = self.limit(getattr(data, "nbytes", 0))
        decoded = numcodec_decode(self.name, self._codec, data, self._nbytes, limit)
        if self._nbytes is not None:
            nbytes = decoded.nbytes if isinstance(decoded, np.ndarray) else len(decoded)
            check_size(self.name, nbytes, self._nbytes, "decoded chunk")
        return decoded

    def encode(self, data: Bytes) -> Bytes:
        """Encode."""
        return as_bytes(numcodec_encode(self.name, self._codec, data))


def bytes_codec(name: str, spec: ArraySpec, config: Any) -> SizedStream:
    """Return a bound bytes-to-bytes codec: of the core if it has that codec, else of numcodecs.

    Parameters
    ----------
    name
        The codec's name in the metadata.
    spec
        The description of the chunk.
    config
        The configuration of the codec in numcodecs, with its ``id``.
    """
    stage = native_stage(config, 1)
    return NumcodecStream(name, spec, get_numcodec(config)) if stage is None else CoreStream(name, spec, stage)


class CompressorMethods(BytesBytesMethods):
    """Methods of compressors that numcodecs has under the same name and parameters."""

    def _config(self) -> Any:
        """Return the configuration of this codec in numcodecs."""
        return {"id": self._name, **self._configuration()}

    @property
    def _numcodec(self) -> Numcodec:
        """The same codec in numcodecs, to store it in format 2."""
        return get_numcodec(self._config())

    def bind(self, spec: ArraySpec) -> SizedStream:
        """Return the codec bound to chunks of one description."""
        return bytes_codec(self._name, spec, self._config())


def numcodec_decode(name: str, codec: Numcodec, data: Any, nbytes: int | None, limit: int | None = None) -> Any:
    """Decode with a numcodecs object; any error becomes a ``ChunkDecodeError``.

    Parameters
    ----------
    name
        The codec's name, for messages.
    codec
        The numcodecs object.
    data
        The encoded bytes.
    nbytes
        The expected size, or None. Decoders that can stop do so when they exceed it.
    limit
        The maximum size, if the exact size is unknown.

    Raises
    ------
    ChunkDecodeError
        If the data is damaged.
    """
    size = getattr(data, "nbytes", None)
    try:
        limit = limit or decoded_limit(size or 0)
        opener = None if has_own_coding(type(codec)) else _BOUNDED.get(getattr(codec, "codec_id", ""))
        if opener is not None:
            return _decode_bounded(name, partial(opener, codec), as_bytes(data), nbytes, limit)
        bounded = codec.codec_id == "zfpy"
        decoded = zfp.decode_numcodec(codec, data, nbytes, limit) if bounded else codec.decode(data)
        if decoded is None:
            raise ChunkDecodeError(f"codec {name!r}: {size} stored bytes hold nothing", codec=name)
        return decoded
    except ChunkDecodeError:
        raise
    except MemoryError as error:
        if error.args:
            raise
        raise MemoryError(f"codec {name!r}: there is no memory to decode {size} stored bytes") from error
    except Exception as error:
        checksum = getattr(codec, "codec_id", "") in CHECKSUMS
        kind = ChunkChecksumError if checksum else ChunkDecodeError
        raise kind(f"codec {name!r} cannot decode {size} bytes: {type(error).__name__}: {error}", codec=name) from error


def numcodec_encode(name: str, codec: Numcodec, data: Any) -> Any:
    """Encode with a numcodecs object; any error gets the name of the codec.

    Raises
    ------
    ChunkEncodeError
        If the codec refuses the data, or has unusable parameters.
    TypeError
        If the elements are Python objects that the codec does not accept.
    """
    try:
        if getattr(codec, "cname", None) == "snappy":  # blosc is mostly built without it
            return _encode_snappy(codec, data)
        return codec.encode(data)
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, TypeError) and getattr(getattr(data, "dtype", None), "hasobject", False):
            raise
        raise ChunkEncodeError(f"codec {name!r} cannot encode this chunk: {error}", codec=name) from error


def _encode_snappy(codec: Numcodec, data: Any) -> Bytes:
    stage = native_stage(codec.get_config(), getattr(getattr(data, "dtype", None), "itemsize", 1))
    if stage is None:
        raise ValueError(f"blosc takes no such parameters: {codec!r}")
    return as_bytes(zarr_core.encode(stage[0], as_bytes(data), **stage[1]))


# Encoders use dictionaries of up to 1.5 GiB; a stream that needs more is not honest.
_MOST_DICTIONARY = 1 << 31


def _lzma_decompressor(codec: Any) -> Any:
    # numcodecs stores filter chains only with raw streams; xz and alone streams describe themselves.
    if codec.format != lzma.FORMAT_RAW:
        return lzma.LZMADecompressor(format=codec.format, memlimit=_MOST_DICTIONARY)
    if any(entry.get("dict_size", 0) > _MOST_DICTIONARY for entry in codec.filters or ()):
        raise ValueError(f"the filters ask for a dictionary of more than {_MOST_DICTIONARY} bytes")
    return lzma.LZMADecompressor(format=codec.format, filters=codec.filters)


_BOUNDED: dict[str, Callable[[Any], Any]] = {"bz2": lambda codec: bz2.BZ2Decompressor(), "lzma": _lzma_decompressor}
"""For codecs that can stop early: a function that makes the decompressor of one stream."""


def _decode_bounded(name: str, create: Callable[[], Any], data: Bytes, nbytes: int | None, limit: int) -> bytes:
    """Decompress consecutive streams, and stop if the result becomes too large."""
    limit = limit if nbytes is None else nbytes
    rest, parts, total = data.tobytes(), [], 0
    while rest:
        stream = create()
        part = stream.decompress(rest, max_length=limit - total + 1)
        total += len(part)
        parts.append(part)
        if total > limit:
            remedy = _REMEDY if nbytes is None else ""
            message = f"codec {name!r}: {data.size} bytes decode to more than {limit} bytes{remedy}"
            raise ChunkDecodeError(message, codec=name)
        if not stream.eof:
            raise ChunkDecodeError(f"codec {name!r}: the {data.size} stored bytes end too early", codec=name)
        rest = stream.unused_data
    return b"".join(parts)
