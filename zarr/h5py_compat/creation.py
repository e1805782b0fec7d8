"""``create_dataset``: h5py's keywords as a zarr array with notes, its filter keywords as zarr codecs.

========================  ===========================================================================================
keyword                   codecs
========================  ===========================================================================================
``compression="gzip"``    ``gzip`` with the level of ``compression_opts`` (by default 4)
``compression="lzf"``     ``numcodecs.lz4``: zarr has no LZF; LZ4 is its quick codec. ``.compression`` answers "lzf".
``compression="zstd"``    ``zstd``; "blosc" likewise: beyond h5py
``shuffle=True``          ``numcodecs.shuffle`` before the compressor
``fletcher32=True``       ``numcodecs.fletcher32`` after it
``scaleoffset=n``         floats: ``numcodecs.fixedscaleoffset`` keeps n decimal digits, then zstd. Integers: kept
                          whole, shuffled and packed by zstd (HDF5 would drop bits beyond n; here nothing is lost)
========================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
from zarr.codecs.numcodecs import LZ4, FixedScaleOffset, Fletcher32, Shuffle
from zarr.h5py_compat import dtypes
from zarr.h5py_compat.dtypes import Dtype, Empty, StoredType
from zarr.h5py_compat.storage import RESERVED, H5pyDeprecationWarning, Storage, UnsupportedFeature, refuse_others
from zarr.notices import warn

FILTER_DEFLATE, FILTER_LZF = 1, 32000
NUMBERS = {"scaleoffset": 6, "shuffle": 2, "gzip": FILTER_DEFLATE, "lzf": FILTER_LZF, "fletcher32": 3}
NAMES = ("gzip", "lzf", "zstd", "blosc")

encode = decode = frozenset({*NAMES, "shuffle", "fletcher32", "scaleoffset"})
"""The names of the filters that can be written and read, as h5py lists them."""


class Gzip(dict[str, Any]):
    """A gzip filter, for ``compression=Gzip(level)`` or ``**Gzip(level)``."""

    def __init__(self, level: int = 4) -> None:
        super().__init__(compression=FILTER_DEFLATE, compression_opts=(level,))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self["compression_opts"])


@dataclass(frozen=True)
class Filters:
    """The filters of a dataset, as requested and as stored in its notes."""

    compression: str | None = None
    compression_opts: int | None = None
    shuffle: bool = False
    fletcher32: bool = False
    scaleoffset: int | None = None

    @property
    def any(self) -> bool:
        """Return True if there is a filter at all."""
        return self != Filters()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the filters, in the order in which they are applied."""
        found = [("scaleoffset", self.scaleoffset is not None), ("shuffle", self.shuffle)]
        found += [(self.compression or "", self.compression is not None), ("fletcher32", self.fletcher32)]
        return tuple(name for name, there in found if there)

    @property
    def ids(self) -> tuple[int, ...]:
        """HDF5's numbers of the filters, in the order in which they are applied."""
        return tuple(NUMBERS[name] for name in self.names if name in NUMBERS)

    def codecs(self, dtype: Dtype) -> tuple[list[Any], list[Any]]:
        """Return zarr's ``filters`` and ``compressors`` for elements of ``dtype``."""
        before: list[Any] = []
        if self.scaleoffset is not None and dtype.kind == "f":
            stored = f"<i{dtype.itemsize}"
            scale = float(10**self.scaleoffset)
            before = [FixedScaleOffset(offset=0.0, scale=scale, dtype=dtype.str, astype=stored)]
        after: list[Any] = []
        if self.shuffle or (self.scaleoffset is not None and dtype.itemsize > 1):
            after.append(Shuffle(elementsize=dtype.itemsize))
        after += self._compressors()
        return before, after + ([Fletcher32()] if self.fletcher32 else [])

    def _compressors(self) -> list[Any]:
        if self.compression == "gzip":
            return [GzipCodec(level=4 if self.compression_opts is None else self.compression_opts)]
        if self.compression == "lzf":
            return [LZ4()]
        if self.compression == "blosc":
            return [BloscCodec()]
        if self.compression == "zstd":
            return [ZstdCodec(level=self.compression_opts or 0)]
        return [ZstdCodec()] if self.scaleoffset is not None else []

    def to_json(self) -> dict[str, Any]:
        """Return the filters as notes."""
        return {key: value for key, value in vars(self).items() if value is not None and value is not False}


def parse_filters(
    dtype: Dtype, compression: Any, compression_opts: Any, shuffle: Any, fletcher32: Any, scaleoffset: Any
) -> Filters:
    """Return the filters for h5py's keywords.

    Raises
    ------
    ValueError
        For a compression or an option that h5py would refuse.
    """
    name, options = _parse_compression(compression, compression_opts)
    offset = _parse_scaleoffset(dtype, scaleoffset)
    if offset is not None and fletcher32:
        raise ValueError("fletcher32 cannot be used with potentially lossy scale/offset filter")
    return Filters(name, options, bool(shuffle), bool(fletcher32), offset)


def _parse_compression(compression: Any, options: Any) -> tuple[str | None, int | None]:
    if isinstance(compression, Mapping):
        compression, options = compression["compression"], compression["compression_opts"]
    if compression is None or compression is False:
        if options is not None:
            raise TypeError("Compression method must be specified")
        return None, None
    if compression is True:
        compression = "gzip"
    if isinstance(compression, int):
        compression, options = _parse_number(compression, options)
    if compression == "szip":
        raise UnsupportedFeature("zarr has no SZIP codec: use gzip or zstd")
    if compression not in NAMES:
        raise ValueError(f'Compression filter "{compression}" is unavailable: there are {", ".join(NAMES)}')
    if compression == "gzip":
        options = 4 if options is None else options
        if options not in range(10):
            raise ValueError(f"GZIP setting must be an integer from 0-9, not {options!r}")
    elif options is not None and compression != "zstd":
        raise ValueError(f"{compression.upper()} compression filter accepts no options")
    return compression, options


def _parse_number(number: int, options: Any) -> tuple[str, Any]:
    if options is None and number in range(10):
        return "gzip", number
    if number == FILTER_DEFLATE:
        return "gzip", options[0] if isinstance(options, tuple) else options
    if number == FILTER_LZF:
        return "lzf", None
    if number < 0:
        raise ValueError(f"Invalid filter number {number}")
    raise ValueError(f"Unknown compression filter number: {number}")


def _parse_scaleoffset(dtype: Dtype, scaleoffset: Any) -> int | None:
    if scaleoffset is None or scaleoffset is False:
        return None
    if dtype.kind not in "iuf":
        raise TypeError(f"scale/offset filter only supports integer and floating-point types, not {dtype}")
    if scaleoffset < 0:
        raise ValueError(f"scale factor must be >= 0, not {scaleoffset}")
    if dtype.kind == "f":
        if scaleoffset is True:
            raise ValueError("integer scaleoffset must be provided for floating point types")
        if np.dtype(dtype).itemsize not in (4, 8):
            raise TypeError(f"scale/offset filter keeps 4- and 8-byte floats, not {dtype}")
    return 0 if scaleoffset is True else int(scaleoffset)


CHUNK_BYTES = 1 << 20
Shape = tuple[int, ...]
HINTS = ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0")
"""Sizes of HDF5's chunk cache: they change no result and have no effect here."""
ABSENT = {
    "external": "data in other files than the hierarchy's own: use an ExternalLink or a zarr store",
    "efile_prefix": "data in other files than the hierarchy's own",
    "virtual_prefix": "virtual datasets",
    "dcpl": "property lists",
    "dapl": "property lists",
    "allow_unknown_filter": "filters by number: register a zarr codec",
}


@dataclass
class Plan:
    """The validated parameters of a dataset that is not stored yet."""

    dtype: Dtype
    shape: Shape | None
    data: Any = None
    chunks: Shape | None = None
    maxshape: tuple[int | None, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    fillvalue: Any = None
    track_order: bool = False


def _as_tuple(value: Any) -> Any:
    return (int(value),) if isinstance(value, int | np.integer) else None if value is None else tuple(value)


def plan_dataset(
    shape: Any = None,
    dtype: Any = None,
    data: Any = None,
    *,
    chunks: Any = None,
    compression: Any = None,
    compression_opts: Any = None,
    shuffle: Any = None,
    fletcher32: Any = None,
    maxshape: Any = None,
    scaleoffset: Any = None,
    fillvalue: Any = None,
    fill_time: str | None = None,
    track_times: bool | None = None,
    track_order: bool | None = None,
    **others: Any,
) -> Plan:
    """Return the plan of a dataset; raise h5py's errors for keywords that contradict each other.

    ``track_times=True`` is refused (zarr keeps no times); ``fill_time="ifset"`` and ``"alloc"`` are zarr's own
    behaviour.
    """
    refuse_others("make_new_dset", others, HINTS, dict.fromkeys(ABSENT, (None,)), ABSENT)
    _check_times(fill_time, track_times)
    parsed, array, wanted = _settle(_as_tuple(shape), dtype, data)
    filters = parse_filters(parsed, compression, compression_opts, shuffle, fletcher32, scaleoffset)
    limits = (None,) * len(wanted or ()) if maxshape is True else _as_tuple(maxshape)
    chunked = _settle_chunks(chunks, wanted, limits, filters, parsed)
    if wanted is not None and limits is not None:
        _check_limits(wanted, limits)
    return Plan(parsed, wanted, array, chunked, limits, filters, fillvalue, bool(track_order))


def _check_times(fill_time: Any, track_times: Any) -> None:
    if fill_time not in (None, "ifset", "alloc", "never"):
        raise ValueError(f"fill_time is 'alloc', 'never' or 'ifset', not {fill_time!r}")
    if fill_time == "never":
        raise UnsupportedFeature("fill_time='never': a chunk that was never written reads as the fill value")
    if track_times not in (None, True, False):
        raise TypeError(f"track_times is True or False, not {track_times!r}")
    if track_times:
        raise UnsupportedFeature("track_times=True: zarr keeps no times of datasets; store one as an attribute")


def _settle(shape: Shape | None, dtype: Any, data: Any) -> tuple[Dtype, Any, Shape | None]:
    """Return type, elements (None without data) and shape (None for an empty dataset)."""
    if data is None or isinstance(data, Empty):
        if data is None and shape is None and dtype is None:
            raise TypeError("One of data, shape or dtype must be specified")
        if data is None and dtype is None:
            warn("a dataset without dtype and data is float32", H5pyDeprecationWarning)
        parsed = dtypes.as_dtype(dtype if dtype is not None else data.dtype if data is not None else "f4")
        return parsed, None, shape
    parsed = dtypes.guess(data) if dtype is None else dtypes.as_dtype(dtype)
    array = dtypes.to_elements(data, parsed, shape if dtypes.check_vlen_dtype(parsed) else None)
    inner = parsed.shape
    own = array.shape[: array.ndim - len(inner)]
    if shape is not None and shape != own:
        if int(np.prod(shape, dtype=object)) != int(np.prod(own, dtype=object)):
            raise ValueError(f"Shape tuple is incompatible with data: {shape} and {own}")
        array = array.reshape(shape + inner)
    return parsed, array, shape if shape is not None else own


def _settle_chunks(chunks: Any, shape: Shape | None, limits: Any, filters: Filters, dtype: Dtype) -> Shape | None:
    asked = chunks not in (None, False) or limits is not None or filters.any
    if shape is None or shape == ():
        if asked:
            kind = "Empty" if shape is None else "Scalar"
            raise TypeError(f"{kind} datasets don't support chunk/filter options")
        return None
    if chunks is False and asked:
        raise ValueError("Chunked format required for given storage options")
    if not asked:
        return None
    if chunks is None or chunks is True:
        return guess_chunks(shape, dtype.itemsize)
    given: Shape = _as_tuple(chunks)
    if len(given) != len(shape) or any(size < 1 for size in given):
        raise ValueError(f"Chunk shape {given} does not fit a dataset of shape {shape}: one positive number an axis")
    if any(limit is not None and size > limit for size, limit in zip(given, limits or shape, strict=True)):
        raise ValueError(
            "Chunk shape must not be greater than data shape in any dimension. "
            f"{given} is not compatible with {shape}"
        )
    return given


def guess_chunks(shape: Shape, itemsize: int) -> Shape:
    """Return a chunk shape of at most 1 MiB; halve the longest axis until it fits."""
    chunks = [max(size, 1) if size else 1024 for size in shape]
    while np.prod(chunks, dtype=object) * itemsize > CHUNK_BYTES and max(chunks) > 1:
        longest = chunks.index(max(chunks))
        chunks[longest] = -(-chunks[longest] // 2)
    return tuple(chunks)


def _check_limits(shape: Shape, limits: Any) -> None:
    if len(limits) != len(shape):
        raise ValueError(f'"maxshape" must have same rank as dataset shape: {limits} and {shape}')
    if any(limit is not None and limit < size for size, limit in zip(shape, limits, strict=True)):
        raise ValueError(f"Maxdims is smaller than dims: maxshape {limits}, shape {shape}")


def make_dataset(storage: Storage, path: str, plan: Plan) -> Any:
    """Store the dataset that a plan describes, and return its zarr array."""
    stored = dtypes.stored_type(plan.dtype)
    inner = plan.dtype.shape
    shape = (plan.shape or ()) + inner
    chunks = (plan.chunks or guess_chunks(plan.shape or (), max(plan.dtype.itemsize, 1))) + inner
    before, after = plan.filters.codecs(stored.element)
    array = storage.root.create_array(
        path,
        shape=shape,
        dtype=stored.zarr_dtype,
        chunks=chunks,
        filters=before or None,
        compressors=after or None,
        fill_value=_fill(stored, plan.fillvalue),
        attributes=_notes(stored, plan),
    )
    if plan.data is not None and plan.data.size:
        array[...] = stored.encode(plan.data)
    return array


def _notes(stored: StoredType, plan: Plan) -> dict[str, Any]:
    notes: dict[str, Any] = {"filters": plan.filters.to_json()} if plan.filters.any else {}
    if stored.needs_description:
        notes["dtype"] = dtypes.describe(plan.dtype)
    if plan.shape is None:
        notes["empty"] = True
    elif plan.chunks is None:
        notes["contiguous"] = True
    if plan.maxshape is not None:
        notes["maxshape"] = list(plan.maxshape)
    if plan.track_order:
        notes["track_order"] = True
    return {RESERVED: notes} if notes else {}


def _fill(stored: StoredType, fillvalue: Any) -> Any:
    if fillvalue is None:
        empty: dict[str, Any] = {"bytes": b"", "packed": b"", "text": ""}
        return empty[stored.kind] if stored.kind in empty else np.zeros((), dtype=stored.zarr_dtype)[()]
    if stored.element.names is not None and not isinstance(fillvalue, np.void | np.ndarray | tuple):
        raise ValueError(f"the fill value {fillvalue!r} is no record of {stored.element}")
    return stored.encode(dtypes.to_elements(fillvalue, stored.element, ()))[()]
