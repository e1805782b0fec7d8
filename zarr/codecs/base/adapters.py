"""Adapters that make a bound codec of each codec of a chain: of other classes, plain methods and coroutines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from zarr.abc.codec import (
    ArrayArrayCodec,
    ArrayBytesCodecPartialDecodeMixin,
    ArrayBytesCodecPartialEncodeMixin,
    BaseCodec,
    BoundCodec,
    BytesBytesCodec,
    Codec,
    SupportsSyncCodec,
)
from zarr.buffer import Buffer, NDBuffer
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import AnyArray, BoundBase
from zarr.codecs.base.described import wrap_array, wrap_bytes
from zarr.errors import ChunkDecodeError


def codec_name(codec: Any) -> str:
    """Return the name of a codec for messages.

    Examples
    --------
    >>> from zarr.codecs import Crc32cCodec
    >>> codec_name(Crc32cCodec())
    'crc32c'
    """
    try:
        name = codec.to_dict().get("name")
    except Exception:
        # A codec of another library may have no JSON form; then its class is the name.
        name = None
    return name if isinstance(name, str) else type(codec).__name__


class ForeignBound(BoundBase):
    """A bound codec of another class, which has the four members of ``BoundCodec`` and perhaps others."""

    def __init__(self, name: str, bound: BoundCodec) -> None:
        super().__init__(getattr(bound, "name", name), bound.out_spec, bound.native)
        for member in ("asynchronous", "decode", "encode", "encoded_size", *_OPTIONAL):
            if hasattr(bound, member):
                setattr(self, member, getattr(bound, member))


_OPTIONAL = ("decode_async", "encode_async", "expect", "extend")


class BufferStage(BoundBase):
    """A codec with functions on buffers; this stage wraps and unwraps them."""

    def __init__(self, name: str, spec: ArraySpec, codec: Codec) -> None:
        super().__init__(name, codec.resolve_metadata(spec))
        self._spec = spec
        self._codec: Any = codec
        self._takes_bytes = isinstance(codec, BytesBytesCodec)
        self._gives_arrays = isinstance(codec, ArrayArrayCodec)

    def _wrap_stored(self, data: AnyArray) -> Any:
        return wrap_array(data, self._spec) if self._gives_arrays else wrap_bytes(data, self._spec)

    def _wrap_plain(self, data: AnyArray) -> Any:
        return wrap_bytes(data, self._spec) if self._takes_bytes else wrap_array(data, self._spec)

    def _unwrap(self, buffer: Buffer | NDBuffer | None) -> AnyArray:
        if buffer is None:
            raise ChunkDecodeError(f"codec {self.name!r} returned nothing for a stored chunk", codec=self.name)
        return buffer.as_numpy_array()

    def decode(self, data: AnyArray) -> AnyArray:
        """Decode one chunk."""
        return self._unwrap(self._codec._decode_sync(self._wrap_stored(data), self._spec))

    def encode(self, data: AnyArray) -> Any:
        """Encode one chunk; return None if it need not be stored."""
        encoded = self._codec._encode_sync(self._wrap_plain(data), self._spec)
        return None if encoded is None else self._unwrap(encoded)

    def encoded_size(self, nbytes: int) -> int | None:
        """Return the encoded size, if the codec states that it is fixed."""
        if not self._codec.is_fixed_size:
            return None
        try:
            return int(self._codec.compute_encoded_size(nbytes, self._spec))
        except NotImplementedError:
            return None


class CoroutineStage(BufferStage):
    """A codec with coroutines on buffers only.

    Those for a batch are called, with one chunk: a codec may define them alone, and by default they call the others.
    """

    asynchronous = True

    def decode(self, data: AnyArray) -> AnyArray:
        """Refuse a call without an event loop."""
        raise RuntimeError(f"codec {self.name!r} of this array has coroutines only; use the asynchronous functions")

    encode = decode

    async def decode_async(self, data: AnyArray) -> AnyArray:
        """Decode one chunk."""
        (decoded,) = await self._codec.decode([(self._wrap_stored(data), self._spec)])
        return self._unwrap(decoded)

    async def encode_async(self, data: AnyArray) -> Any:
        """Encode one chunk; return None if it need not be stored."""
        (encoded,) = await self._codec.encode([(self._wrap_plain(data), self._spec)])
        return None if encoded is None else self._unwrap(encoded)


def encoded_sizes(stages: Sequence[Any], nbytes: int | None) -> list[int | None]:
    """Return the number of bytes before the first stage and after each; None where it depends on the data.

    Parameters
    ----------
    stages
        In the order of encoding.
    nbytes
        The size of a decoded chunk; None for elements of variable length.
    """
    sizes = [nbytes]
    for stage in stages:
        nbytes = None if nbytes is None else stage.encoded_size(nbytes)
        sizes.append(nbytes)
    return sizes


def set_size_hints(stages: Sequence[Any], nbytes: int | None, most: int | None = None) -> None:
    """Set for each stage the exact or the maximum number of decoded bytes, as far as it is known in advance.

    Parameters
    ----------
    stages
        In the order of encoding.
    nbytes
        The exact number of decoded bytes of the first stage; None if it is unknown.
    most
        Its maximum number of decoded bytes, if ``nbytes`` is None.
    """
    for stage, size in zip(stages, encoded_sizes(stages, nbytes), strict=False):
        stage.expect(size)
    exact = nbytes is not None
    most = nbytes if nbytes is not None else most
    for stage in stages:
        if most is None or isinstance(stage, ForeignBound | BufferStage):
            return
        if not exact:
            stage.expect_most(most)
        size = stage.encoded_size(most)
        exact, most = exact and size is not None, stage.encoded_most(most) if size is None else size


PLAIN_METHODS: Final = frozenset(("_decode_sync", "_encode_sync"))
_BATCH_METHODS: Final = frozenset(("decode", "encode"))
METHODS: Final = PLAIN_METHODS | _BATCH_METHODS | {"_decode_single", "_encode_single"}
"""The methods on buffers that a class of codecs may override."""
_PARTIAL: Final = (ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodecPartialEncodeMixin)


def make_stage(codec: Codec, spec: ArraySpec, methods: frozenset[str] = METHODS) -> BoundBase:
    """Return a bound codec: bound by itself if it can be, else by its plain functions, else by its coroutines.

    Parameters
    ----------
    codec
        The codec, evolved for the array.
    spec
        The description of the chunk before encoding.
    methods
        The methods that are called where the class of the codec overrides them.
    """
    name = codec_name(codec)
    cls: Any = type(codec)
    changed = methods_changed(cls) & methods
    bound = None if changed else codec.bind(spec)
    if bound is not None:
        return bound if isinstance(bound, BoundBase) else ForeignBound(name, bound)
    # The methods for a batch come first: what they do by default is to call the others.
    plain = changed.isdisjoint(_BATCH_METHODS) and (not changed or not changed.isdisjoint(PLAIN_METHODS))
    if plain and isinstance(codec, SupportsSyncCodec):
        return BufferStage(name, spec, codec)
    return CoroutineStage(name, spec, codec)


def methods_called(codecs: Sequence[Codec]) -> frozenset[str]:
    """Return the methods of the codecs of a chain that are called where a class overrides them.

    A codec that stands alone and reads and writes parts of chunks, such as that of shards, is asked for parts: it gets
    no batch, as in zarr-python.

    Examples
    --------
    >>> from zarr.codecs import BytesCodec, ShardingCodec
    >>> "encode" in methods_called([BytesCodec()]), "encode" in methods_called([ShardingCodec(chunk_shape=(2,))])
    (True, False)
    """
    if len(codecs) > 1 or not all(isinstance(codecs[0], kind) for kind in _PARTIAL):
        return METHODS
    return METHODS - _BATCH_METHODS


@cache
def methods_changed(cls: Any) -> frozenset[str]:
    """Return the methods that a subclass overrides below the class that defines ``bind``.

    A subclass that overrides public methods expects them to be called: ``bind`` does not use them. Where no class
    defines ``bind``, only the methods of a batch are returned: it decides if the plain functions may be called.

    Examples
    --------
    >>> from zarr.codecs import GzipCodec
    >>> class Counting(GzipCodec):
    ...     async def _encode_single(self, chunk_data, chunk_spec):
    ...         return await super()._encode_single(chunk_data, chunk_spec)
    >>> methods_changed(GzipCodec), methods_changed(Counting)
    (frozenset(), frozenset({'_encode_single'}))
    """
    changed: set[str] = set()
    for owner in cls.__mro__:
        if owner is BaseCodec:  # no class defines how it is bound
            return frozenset(changed & _BATCH_METHODS)
        if "bind" in vars(owner):
            break
        changed.update(METHODS & vars(owner).keys())
    return frozenset(changed)
