"""The codecs of an array, bound to one chunk shape: bytes in, elements out, and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from time import perf_counter
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

import zarr_core
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, Codec
from zarr.buffer import Buffer
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.adapters import encoded_sizes, make_stage, methods_called, set_size_hints
from zarr.codecs.base.bound import (
    AnyArray,
    BoundBase,
    NativeForm,
    as_bytes,
    decode_part,
    fixed_nbytes,
    native_dtype,
    replace_spec,
    takes_parts,
)
from zarr.codecs.base.described import wrap_bytes
from zarr.codecs.base.order import sort_codecs
from zarr.errors import ChunkDecodeError, NothingToStoreError
from zarr.logs import loggers, logs_codecs

# Chains for further chunk shapes that are kept; rectilinear grids have few distinct shapes, damaged ones may have many.
_MAX_SHAPES = 256
# If there is no memory for a chunk larger than this, its shape is probably wrong.
_LARGEST_NBYTES = 1 << 31
# Codecs that are described completely by their fields, which nobody changes.
_OWN = ("zarr.codecs.base", "zarr.codecs.blosc", "zarr.codecs.bytes", "zarr.codecs.cast_value", "zarr.codecs.crc32c_",
        "zarr.codecs.gzip", "zarr.codecs.scale_offset", "zarr.codecs.sharding", "zarr.codecs.transpose",
        "zarr.codecs.vlen", "zarr.codecs.zstd", "zarr.codecs._v2")  # fmt: skip

_shared: WeakValueDictionary[int, CodecChain] = WeakValueDictionary()
"""The chains in use, by the hash of what they are made of: equal arrays share a chain, and its working memory."""

_KEPT_NBYTES = 256 << 10
_recent: deque[CodecChain] = deque(maxlen=8)
"""The chains made last: arrays that are opened one after the other are mostly alike.

Those for larger chunks are not kept: they would keep working memory as large, and make up less of the time.
"""


def evolve_codecs(codecs: Iterable[Codec], spec: ArraySpec) -> tuple[Codec, ...]:
    """Return codecs with the parameters that the array determines.

    Parameters
    ----------
    codecs
        In the order of encoding.
    spec
        The description of a chunk.

    Raises
    ------
    TypeError, ValueError
        If the order of the codecs is impossible, or they do not fit the array.
    """
    arrays, serializer, bytes_ = sort_codecs(codecs)
    evolved: list[Codec] = []
    ordered: tuple[Codec, ...] = (*arrays, serializer, *bytes_)
    for codec in ordered:
        codec = codec.evolve_from_array_spec(spec)
        evolved.append(codec)
        spec = codec.resolve_metadata(spec)
    return tuple(evolved)


class CodecChain:
    """Codecs bound to chunks of one shape.

    Attributes
    ----------
    codecs
        The codecs, evolved for the array, in the order of encoding.
    spec
        The description of one chunk.
    asynchronous
        True if a codec has coroutines only; then ``decode_async`` and ``encode_async`` must be used.
    in_parts
        True if a few elements of a chunk can be decoded without the others; then ``decode_part`` is worth a call.
    program
        The same chain for the compiled core, or None.
    shard
        The shard level, if the chain is a sharding codec and nothing else.
    """

    __slots__ = (
        "__weakref__", "_dtype", "_form", "_given", "_inverse", "_methods", "_nbytes", "_shapes", "_stages",
        "_stored", "_stored_shape", "asynchronous", "codecs", "in_parts", "program", "shard", "spec",
    )  # fmt: skip
    _given: tuple[Codec, ...]

    def __init__(self, codecs: tuple[Codec, ...], spec: ArraySpec, methods: frozenset[str] | None = None) -> None:
        self.codecs = codecs
        self._methods = methods_called(codecs) if methods is None else methods
        self.spec = spec
        self._dtype = native_dtype(spec)
        self._nbytes = fixed_nbytes(spec)
        self._stages = _bind(codecs, spec, self._methods)
        self._shapes: dict[tuple[int, ...], CodecChain] = {}
        self.asynchronous = any(stage.asynchronous for stage in self._stages)
        # A ``ShardLevel``, whose module imports this one.
        self.shard: Any = getattr(self.serializer, "level", None) if len(codecs) == 1 else None
        self._prepare(_native_form(self._stages, self._dtype))

    @classmethod
    def build(cls, codecs: Iterable[Codec], spec: ArraySpec, methods: frozenset[str] | None = None) -> CodecChain:
        """Return the chain of some codecs for chunks of one description.

        Parameters
        ----------
        codecs
            In the order of encoding.
        spec
            The description of one chunk, in the shape that codecs see.
        methods
            The methods that are called where a codec of another library overrides them; by default those that
            `methods_called` returns.

        Raises
        ------
        TypeError, ValueError
            If the order of the codecs is impossible, or they do not fit the array.

        Examples
        --------
        >>> import numpy as np
        >>> from zarr.chunks.spec import ArraySpec, parse_array_config
        >>> from zarr.buffer import default_buffer_prototype
        >>> from zarr.codecs import BytesCodec, ZstdCodec
        >>> from zarr.dtype import Int16
        >>> spec = ArraySpec((2,), Int16(), 0, parse_array_config(None), default_buffer_prototype())
        >>> chain = CodecChain.build([BytesCodec(), ZstdCodec()], spec)
        >>> chain.decode(chain.encode(np.array([1, 2], dtype="i2"))).tolist()
        [1, 2]
        """
        codecs = tuple(codecs)
        if not all(type(codec).__module__.startswith(_OWN) for codec in codecs):
            return cls(evolve_codecs(codecs, spec), spec, methods)
        try:
            key = hash((codecs, spec))
            chain = _shared.get(key)
            if chain is not None and chain._given == codecs and chain.spec == spec:
                return chain
        except TypeError:  # a fill value or a parameter that cannot be compared
            return cls(evolve_codecs(codecs, spec), spec)
        chain = cls(evolve_codecs(codecs, spec), spec)
        chain._given = codecs
        _shared[key] = chain
        inner = chain if chain.shard is None else chain.shard.chain
        if (inner._nbytes or 0) <= _KEPT_NBYTES:
            _recent.append(chain)
        return chain

    def for_shape(self, shape: tuple[int, ...]) -> CodecChain:
        """Return the chain for chunks of another shape."""
        if shape == self.spec.shape:
            return self
        chain = self._shapes.get(shape)
        if chain is None:
            if len(self._shapes) >= _MAX_SHAPES:
                self._shapes.clear()
            chain = self._shapes[shape] = CodecChain(self.codecs, replace_spec(self.spec, shape=shape), self._methods)
        return chain

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the codecs, in the order of encoding."""
        return tuple(stage.name for stage in self._stages)

    def encoded_size(self) -> int | None:
        """Return the number of stored bytes of a chunk, or None if it depends on the elements."""
        return encoded_sizes(self._stages, self._nbytes)[-1]

    def decode(self, raw: Buffer, logged: bool = False) -> AnyArray:
        """Return the elements of a stored chunk.

        Parameters
        ----------
        raw
            The stored bytes.
        logged
            If True, the caller logs this call.

        Returns
        -------
        An array of the chunk's shape and dtype. It may be a read-only view of the stored bytes.

        Raises
        ------
        ChunkDecodeError
            If the bytes are damaged, too many or too few; codecs of other libraries raise their own errors. The notes
            of the exception name the codec.
        """
        if not logged and logs_codecs():
            return decode_logged(self, raw)
        data: AnyArray = raw.as_numpy_array()
        form = self._form
        if form is None:
            return self._decode_stages(data)
        if form.stages:
            try:
                data = self.program.decode(data, self._nbytes)  # type: ignore[union-attr, arg-type]
            except (ValueError, MemoryError, OverflowError):
                # Codec by codec, the error names the codec; and if that way succeeds, the data are correct.
                return self._decode_stages(data)
        elif data.size != self._nbytes:
            return self._decode_stages(data)
        array: AnyArray = data.view(self._stored).reshape(self._stored_shape)
        if self._inverse is not None:
            array = array.transpose(self._inverse)
        return array.astype(self._dtype) if form.swap_width else array

    def decode_part(self, raw: Buffer, selection: tuple[Any, ...]) -> Any:
        """Return the selected elements of a stored chunk, or None if the whole chunk must be decoded."""
        if logs_codecs():
            return None  # the log has whole chunks
        return decode_part(raw.as_numpy_array(), selection, self.spec.shape, self._dtype)

    def encode(self, chunk: AnyArray, logged: bool = False) -> Buffer:
        """Return the bytes to store for a chunk.

        Parameters
        ----------
        chunk
            An array of the chunk's shape.
        logged
            If True, the caller logs this call.

        Returns
        -------
        The bytes. Without compression they may be the memory of ``chunk`` itself: copy them to keep them.

        Raises
        ------
        ChunkEncodeError
            If a codec refuses the elements.
        NothingToStoreError
            If a codec reports that the chunk need not be stored.
        """
        if not logged and logs_codecs():
            return encode_logged(self, chunk)
        form = self._form
        if form is None:
            return self._wrap(self._encode_stages(chunk))
        stored = as_bytes(np.asarray(chunk if form.order is None else chunk.transpose(form.order), dtype=self._stored))
        if not form.stages:
            return wrap_bytes(stored, self.spec)
        try:
            return wrap_bytes(as_bytes(self.program.encode(stored)), self.spec)  # type: ignore[union-attr]
        except ValueError:
            return self._wrap(self._encode_stages(chunk))

    @property
    def serializer(self) -> Any:
        """The first codec, bound, if it turns the elements into bytes; None if a filter comes before."""
        return self._stages[0] if isinstance(self.codecs[0], ArrayBytesCodec) else None

    def serialized(self, raw: Buffer) -> AnyArray:
        """Return the bytes that the first codec made of the elements: undo all codecs after it.

        Parameters
        ----------
        raw
            The stored bytes.

        Raises
        ------
        ChunkDecodeError
            As for `decode`.
        """
        return self._undo(self._stages[1:], raw.as_numpy_array())

    async def decode_async(self, raw: Buffer) -> AnyArray:
        """Return the elements of a stored chunk; for chains with coroutines."""
        if not self.asynchronous:
            return self.decode(raw)
        data: AnyArray = raw.as_numpy_array()
        for stage in reversed(self._stages):
            before = data
            try:
                data = await stage.decode_async(data)
            except Exception as error:
                self._note(error, "decoding", stage, before)
                raise
        return self._checked(data)

    async def encode_async(self, chunk: AnyArray) -> Buffer:
        """Return the bytes to store for a chunk; for chains with coroutines."""
        return self._wrap(await self.encode_stages_async(chunk))

    async def encode_stages_async(self, chunk: AnyArray) -> AnyArray | None:
        """Return the encoded bytes, or None if a codec reports that the chunk need not be stored."""
        data: AnyArray | None = chunk
        for stage in self._stages:
            before = data
            try:
                data = await stage.encode_async(data)  # type: ignore[arg-type]
            except Exception as error:
                self._note(error, "encoding", stage, before)
                raise
            if data is None:
                return None
        return data

    def _prepare(self, form: NativeForm | None) -> None:
        """Keep the data for the direct way through the core, if there is one."""
        self._form, self.program, self._inverse = form, None, None
        self.in_parts = False
        self._stored, self._stored_shape = self._dtype, self.spec.shape
        if form is None:
            return
        try:
            self.program = zarr_core.Program(form.itemsize, form.swap_width, form.order, list(form.stages))
        except ValueError:
            # A codec whose C functions were not found here: chunks go through the codecs one by one.
            self._form = None
            return
        self.in_parts = takes_parts(form, self._nbytes)
        if form.swap_width:
            self._stored = self._dtype.newbyteorder()
        if form.order is not None:
            self._stored_shape = tuple(self.spec.shape[axis] for axis in form.order)
            self._inverse = tuple(int(axis) for axis in np.argsort(form.order))

    def _decode_stages(self, data: AnyArray) -> AnyArray:
        return self._checked(self._undo(self._stages, data))

    def _undo(self, stages: tuple[BoundBase, ...], data: AnyArray) -> AnyArray:
        for stage in reversed(stages):
            before = data
            try:
                data = stage.decode(data)
            except (MemoryError, OverflowError) as error:
                raise self._unbearable(error, stage, before) from error
            except Exception as error:
                self._note(error, "decoding", stage, before)
                raise
        return data

    def _unbearable(self, error: BaseException, stage: BoundBase, data: Any) -> BaseException:
        """Return the error to raise: a ChunkDecodeError for a size that no machine can hold, else the same error."""
        stored = getattr(data, "nbytes", 0)
        if self._nbytes is not None and self._nbytes > max(_LARGEST_NBYTES, 1024 * stored):
            error = ChunkDecodeError(
                f"codec {stage.name!r}: {stored} stored bytes stand for a chunk of shape {self.spec.shape}, "
                f"{self._nbytes} bytes, for which there is no memory; the chunk shape of the array may be wrong",
                codec=stage.name,
            )
        elif isinstance(error, OverflowError):
            error = ChunkDecodeError(f"codec {stage.name!r}: {error}", codec=stage.name)
        self._note(error, "decoding", stage, data)
        return error

    def _note(self, error: BaseException, doing: str, stage: BoundBase, data: Any) -> None:
        before = self._stages.index(stage) - 1
        shape = self.spec.shape if before < 0 else self._stages[before].out_spec.shape
        nbytes = getattr(data, "nbytes", None)
        error.add_note(f"while {doing} with codec {stage.name!r}: {nbytes} bytes in, chunk of shape {shape}")

    def _encode_stages(self, chunk: AnyArray) -> AnyArray | None:
        data: AnyArray | None = chunk
        for stage in self._stages:
            before = data
            try:
                data = stage.encode(data)  # type: ignore[arg-type]
            except Exception as error:
                self._note(error, "encoding", stage, before)
                raise
            if data is None:
                return None
        return data

    def _checked(self, array: AnyArray) -> AnyArray:
        """Refuse an array of another shape; convert one of a related dtype."""
        if array.shape != self.spec.shape:
            name = self._stages[0].name
            raise ChunkDecodeError(
                f"codec {name!r} decoded a chunk to shape {array.shape} where {self.spec.shape} is needed", codec=name
            )
        return array if array.dtype == self._dtype else array.astype(self._dtype)

    def _wrap(self, data: AnyArray | None) -> Buffer:
        if data is None:
            raise NothingToStoreError("a codec returned nothing for a chunk that has to be stored")
        return wrap_bytes(data, self.spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return CodecChain, (self.codecs, self.spec, self._methods)

    def __repr__(self) -> str:
        return f"CodecChain({', '.join(stage.name for stage in self._stages)}; shape={self.spec.shape})"


def _bind(codecs: tuple[Codec, ...], spec: ArraySpec, methods: frozenset[str]) -> tuple[BoundBase, ...]:
    """Bind codecs one after the other, and set the size hint of each."""
    first, stages = spec, []
    for codec in codecs:
        stage = make_stage(codec, spec, methods)
        stages.append(stage)
        spec = stage.out_spec
    set_size_hints(stages, fixed_nbytes(first))
    return tuple(stages)


def _native_form(stages: tuple[BoundBase, ...], dtype: np.dtype[Any]) -> NativeForm | None:
    form: NativeForm | None = NativeForm(max(dtype.itemsize, 1))
    for stage in stages:
        if form is None:
            return None
        form = stage.extend(form)
    return form


def decode_logged(chain: CodecChain, raw: Buffer) -> AnyArray:
    """Decode a chunk, and log it."""
    start = perf_counter()
    chunk = chain.decode(raw, logged=True)
    _log("decode", chain, len(raw), chunk.nbytes, start)
    return chunk


def encode_logged(chain: CodecChain, chunk: AnyArray) -> Buffer:
    """Encode a chunk, and log it."""
    start = perf_counter()
    raw = chain.encode(chunk, logged=True)
    _log("encode", chain, len(raw), chunk.nbytes, start)
    return raw


def _log(doing: str, chain: CodecChain, stored: int, decoded: int, start: float) -> None:
    milliseconds = 1000 * (perf_counter() - start)
    names = ", ".join(chain.names)
    loggers()[3].debug(
        "%s %s: %d bytes, %.3f ms, %d bytes decoded",
        doing,
        names,
        stored,
        milliseconds,
        decoded,
        extra={"key": names, "nbytes": stored, "milliseconds": milliseconds},
    )


def validate_codecs(
    codecs: Iterable[Codec], spec: ArraySpec, shape: tuple[int, ...], chunk_grid: Any
) -> tuple[Codec, ...]:
    """Fill in the parameters that the array determines, and validate each codec.

    Parameters
    ----------
    codecs
        In the order of encoding.
    spec
        The description of a chunk.
    shape, chunk_grid
        Shape and grid of the array.

    Raises
    ------
    TypeError, ValueError
        If a codec does not fit the array.
    """
    settled: list[Codec] = []
    for codec in codecs:
        evolved = codec.evolve_from_array_spec(spec)
        evolved.validate(shape=shape, dtype=spec.dtype, chunk_grid=chunk_grid)
        settled.append(evolved)
        if isinstance(evolved, ArrayArrayCodec):
            whole, spec = replace_spec(spec, shape=shape), evolved.resolve_metadata(spec)
            shape = _encoded_shape(evolved, whole, spec.shape)
            # A codec that moves axes moves those of the grid, too: a shard after it is cut along the moved axes.
            encode_grid = getattr(evolved, "encode_grid", None)
            chunk_grid = chunk_grid if encode_grid is None else encode_grid(chunk_grid)
    return tuple(settled)


def _encoded_shape(codec: ArrayArrayCodec, whole: ArraySpec, chunk_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the array after a codec; that of a chunk, if the codec changes each chunk by itself."""
    try:
        shape = codec.resolve_metadata(whole).shape
    except ValueError:
        return chunk_shape
    # A codec that drops axes by their length drops those of the chunk.
    return shape if len(shape) == len(chunk_shape) else chunk_shape
