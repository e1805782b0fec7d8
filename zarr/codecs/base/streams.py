"""Bound bytes-to-bytes codecs: through the compiled core where it knows the codec, else through numcodecs, bounded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import zarr_core
from zarr._lazy import LazyModule
from zarr.codecs.base.bound import (
    MAX_UNKNOWN_NBYTES,
    START_NBYTES,
    SUSPECT_NBYTES,
    BoundBase,
    Bytes,
    NativeStage,
    as_bytes,
    check_size,
    decoded_limit,
)
from zarr.errors import ChunkChecksumError, ChunkDecodeError, ChunkEncodeError

if TYPE_CHECKING:
    import bz2
    import lzma

    from zarr.abc.numcodec import Numcodec
    from zarr.chunks.spec import ArraySpec
    from zarr.codecs.checks import object_lists, prefix
else:
    bz2, lzma = LazyModule("bz2"), LazyModule("lzma")
    prefix = LazyModule("zarr.codecs.checks.prefix")
    object_lists = LazyModule("zarr.codecs.checks.object_lists")

BLOSC_COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
CHECKSUM_NBYTES = 4
# The codecs of the core of which the beginning can be decoded alone.
_WITH_PREFIX = frozenset(("zstd", "lz4", "gzip", "zlib", "blosc"))
# How many bytes these codecs add; the others change the size in ways that depend on the data.
_FIXED_OVERHEAD = {"crc32c": 4, "shuffle": 0, "crc32": 4, "adler32": 4, "fletcher32": 4, "jenkins_lookup3": 4}


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


def native_stage(config: dict[str, Any], itemsize: int) -> NativeStage | None:
    """Return the stage of the compiled core for a numcodecs configuration, or None if there is none.

    Parameters
    ----------
    config
        What ``codec.get_config()`` gives: the parameters beside the ``id``.
    itemsize
        The item size of the array that the codec gets, which blosc takes its type size from.

    Examples
    --------
    >>> native_stage({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}, 4)[1]["shuffle"]
    1
    """
    build = _STAGES.get(config.get("id", ""))
    return None if build is None else build(config, itemsize)


def _zstd_stage(config: dict[str, Any], itemsize: int) -> NativeStage:
    level = max(-131072, min(22, config.get("level", 0)))
    return "zstd", {"level": level, "checksum": bool(config.get("checksum", False))}


def _deflate_stage(config: dict[str, Any], itemsize: int) -> NativeStage | None:
    level = config.get("level", 1)
    return (config["id"], {"level": level}) if -1 <= level <= 9 else None


def _lz4_stage(config: dict[str, Any], itemsize: int) -> NativeStage:
    return "lz4", {"acceleration": config.get("acceleration", 1)}


def _blosc_stage(config: dict[str, Any], itemsize: int) -> NativeStage | None:
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


def _crc32c_stage(config: dict[str, Any], itemsize: int) -> NativeStage:
    return "crc32c", {"location": config.get("location") or "end"}


def _shuffle_stage(config: dict[str, Any], itemsize: int) -> NativeStage | None:
    elementsize = config.get("elementsize", 4)
    return ("shuffle", {"elementsize": elementsize}) if elementsize >= 1 else None


_STAGES: dict[str, Callable[[dict[str, Any], int], NativeStage | None]] = {
    "zstd": _zstd_stage,
    "gzip": _deflate_stage,
    "zlib": _deflate_stage,
    "lz4": _lz4_stage,
    "blosc": _blosc_stage,
    "crc32c": _crc32c_stage,
    "shuffle": _shuffle_stage,
}


class CoreStream(BoundBase):
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
        self._stage_name, self._params = stage
        self._nbytes: int | None = None
        self._most: int | None = None
        self._check_start: Callable[[Bytes], None] | None = None

    def expect(self, nbytes: int | None) -> None:
        """Learn how many bytes decoding must give."""
        self._nbytes = nbytes

    def expect_start(self, check: Callable[[Bytes], None]) -> None:
        """Learn how to tell from the first decoded bytes, where the size is unknown, that the rest is not wanted."""
        self._check_start = check

    def expect_most(self, nbytes: int) -> None:
        """Learn how many bytes decoding may give at most."""
        self._most = nbytes

    @property
    def check_start(self) -> Callable[[Bytes], None] | None:
        """How to tell from the first encoded bytes that the rest is not wanted."""
        check = self._check_start
        return None if check is None else partial(prefix.check_encoded_start, self._stage_name, check=check)

    def _decode_unknown(self, data: Bytes, limit: int) -> Bytes:
        """Decode what may become large only if its beginning is what is looked for: a bomb is found out there."""
        assert self._check_start is not None
        try:
            return as_bytes(zarr_core.decode(self._stage_name, data, None, max_nbytes=SUSPECT_NBYTES, **self._params))
        except ValueError:
            self._check_start(zarr_core.decode_prefix(self._stage_name, data, START_NBYTES))
        return as_bytes(zarr_core.decode(self._stage_name, data, None, max_nbytes=limit, **self._params))

    def decode(self, data: Bytes) -> Bytes:
        """Decode, to exactly the expected size where that is known."""
        limit = decoded_limit(data.size) if self._most is None else self._most
        try:
            if self._nbytes is None and self._check_start is not None and self._stage_name in _WITH_PREFIX:
                return self._decode_unknown(data, limit)
            decoded = zarr_core.decode(self._stage_name, data, self._nbytes, max_nbytes=limit, **self._params)
        except ValueError as error:
            kind = ChunkChecksumError if self._stage_name == "crc32c" else ChunkDecodeError
            raise kind(f"codec {self.name!r}: {error}", codec=self.name) from error
        return as_bytes(decoded)

    def encode(self, data: Bytes) -> Bytes:
        """Encode."""
        try:
            return as_bytes(zarr_core.encode(self._stage_name, data, **self._params))
        except ValueError as error:
            raise ChunkEncodeError(f"codec {self.name!r}: {error}", codec=self.name) from error

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the encoded size where it depends on the size only."""
        overhead = _FIXED_OVERHEAD.get(self._stage_name)
        return None if overhead is None else nbytes + overhead


class NumcodecStream(BoundBase):
    """A bytes-to-bytes codec of numcodecs, called through its Python methods."""

    def __init__(self, name: str, spec: ArraySpec, codec: Numcodec) -> None:
        super().__init__(name, spec)
        self._codec = codec
        self._nbytes: int | None = None
        self._most: int | None = None
        self._check_start: Callable[[Bytes], None] | None = None

    def expect(self, nbytes: int | None) -> None:
        """Learn how many bytes decoding must give."""
        self._nbytes = nbytes

    def expect_start(self, check: Callable[[Bytes], None]) -> None:
        """Learn how to tell from the first decoded bytes, where the size is unknown, that the rest is not wanted."""
        self._check_start = check

    def expect_most(self, nbytes: int) -> None:
        """Learn how many bytes decoding may give at most."""
        self._most = nbytes

    @property
    def check_start(self) -> Callable[[Bytes], None] | None:
        """How to tell from the first encoded bytes that the rest is not wanted."""
        check = self._check_start
        return None if check is None else numcodec_start_check(self._codec, check)

    def decode(self, data: Bytes) -> Bytes:
        """Decode, and refuse a result of another size than expected."""
        decoded = as_bytes(numcodec_decode(self.name, self._codec, data, self._nbytes, self._check_start, self._most))
        if self._nbytes is not None:
            check_size(self.name, decoded, self._nbytes, "decoded chunk")
        return decoded

    def encode(self, data: Bytes) -> Bytes:
        """Encode."""
        return as_bytes(numcodec_encode(self.name, self._codec, data))

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the encoded size where it depends on the size only."""
        overhead = _FIXED_OVERHEAD.get(getattr(self._codec, "codec_id", ""))
        return None if overhead is None else nbytes + overhead


def bytes_codec(name: str, spec: ArraySpec, codec: Numcodec, itemsize: int) -> CoreStream | NumcodecStream:
    """Return a bound bytes-to-bytes codec: of the core where it has that codec, else of numcodecs.

    Parameters
    ----------
    name
        The codec's name in the metadata.
    spec
        The description of the chunk.
    codec
        The numcodecs object.
    itemsize
        The item size of what the codec gets.
    """
    stage = native_stage(codec.get_config(), itemsize)
    return NumcodecStream(name, spec, codec) if stage is None else CoreStream(name, spec, stage)


def numcodec_decode(
    name: str,
    codec: Numcodec,
    data: Any,
    nbytes: int | None,
    check_start: Callable[[Bytes], None] | None = None,
    most: int | None = None,
) -> Any:
    """Decode with a numcodecs object; whatever it raises becomes a ``ChunkDecodeError``.

    Parameters
    ----------
    name
        The codec's name, for messages.
    codec
        The numcodecs object.
    data
        What to decode.
    nbytes
        The expected size, or None. Decoders that can stop do so when they exceed it.
    check_start
        Refuses the first decoded bytes of a size that is not known, if they cannot be what is looked for.
    most
        How many bytes it may be at most, where the size is not known.

    Raises
    ------
    ChunkDecodeError
        When the data is damaged.
    """
    size = getattr(data, "nbytes", None)
    try:
        limit = most or decoded_limit(size or 0)
        opener = _BOUNDED.get(getattr(codec, "codec_id", ""))
        if opener is not None:
            return _decode_bounded(name, opener(codec), as_bytes(data), nbytes, check_start, limit)
        bounded = codec.codec_id == "zfpy"
        decoded = object_lists.decode_zfpy(codec, data, nbytes, limit) if bounded else codec.decode(data)
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
        checksum = getattr(codec, "codec_id", "") in _FIXED_OVERHEAD
        kind = ChunkChecksumError if checksum else ChunkDecodeError
        raise kind(f"codec {name!r} cannot decode {size} bytes: {type(error).__name__}: {error}", codec=name) from error


def numcodec_encode(name: str, codec: Numcodec, data: Any) -> Any:
    """Encode with a numcodecs object; what it raises names the codec.

    Raises
    ------
    ChunkEncodeError
        When the codec refuses the data, or has parameters of which nothing can be made.
    TypeError
        When the elements are Python objects of which it takes none.
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


# Encoders make dictionaries of up to 1.5 GiB; a stream that asks for more is no honest one.
_MOST_DICTIONARY = MAX_UNKNOWN_NBYTES


def _bz2_decompressor(codec: Any) -> Callable[[], _Decompressor]:
    return bz2.BZ2Decompressor


def _lzma_decompressor(codec: Any) -> Callable[[], _Decompressor]:
    def create() -> _Decompressor:
        # numcodecs stores filter chains only with raw streams; xz and alone streams describe themselves.
        if codec.format != lzma.FORMAT_RAW:
            return lzma.LZMADecompressor(format=codec.format, memlimit=_MOST_DICTIONARY)
        if any(entry.get("dict_size", 0) > _MOST_DICTIONARY for entry in codec.filters or ()):
            raise ValueError(f"the filters ask for a dictionary of more than {_MOST_DICTIONARY} bytes")
        return lzma.LZMADecompressor(format=codec.format, filters=codec.filters)

    return create


_BOUNDED: dict[str, Callable[[Any], Callable[[], _Decompressor]]] = {
    "bz2": _bz2_decompressor,
    "lzma": _lzma_decompressor,
}


def numcodec_start_check(codec: Any, check: Callable[[Bytes], None]) -> Callable[[Bytes], None] | None:
    """Return how to tell whether bytes begin a stream of a numcodecs object that holds what is looked for.

    Parameters
    ----------
    codec
        The numcodecs object.
    check
        Refuses the first bytes of what the stream decodes to.

    Returns
    -------
    A function that raises ``ChunkDecodeError``; None where the beginning of a stream says nothing.
    """
    opener = _BOUNDED.get(getattr(codec, "codec_id", ""))
    return None if opener is None else partial(_check_stream_start, codec, opener, check)


def _check_stream_start(codec: Any, opener: Any, check: Callable[[Bytes], None], start: Bytes) -> None:
    try:
        decoded = opener(codec)().decompress(start.tobytes(), max_length=START_NBYTES)
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise ChunkDecodeError(f"{start.size} bytes and more do not begin like {codec.codec_id!r}: {error}") from error
    if decoded:
        check(as_bytes(decoded))


def _decode_bounded(
    name: str,
    create: Callable[[], _Decompressor],
    data: Bytes,
    nbytes: int | None,
    check_start: Callable[[Bytes], None] | None,
    limit: int,
) -> bytes:
    """Decompress streams that follow each other, and stop when the result becomes too large."""
    limit = limit if nbytes is None else nbytes
    rest, parts, total = data.tobytes(), [], 0
    if rest and nbytes is None and check_start is not None:
        start = create().decompress(rest, max_length=START_NBYTES)
        if len(start) == START_NBYTES:
            check_start(as_bytes(start))
    while rest:
        stream = create()
        part = stream.decompress(rest, max_length=limit - total + 1)
        total += len(part)
        parts.append(part)
        if total > limit:
            raise ChunkDecodeError(f"codec {name!r}: {data.size} bytes decode to more than {limit} bytes", codec=name)
        if not stream.eof:
            raise ChunkDecodeError(f"codec {name!r}: the {data.size} stored bytes end too early", codec=name)
        rest = stream.unused_data
    return b"".join(parts)
