"""``create_dataset``: from h5py's keywords to a zarr array and its notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarr.h5py_compat.data.filters import Filters, parse_filters
from zarr.h5py_compat.errors import H5pyDeprecationWarning, UnsupportedFeature
from zarr.h5py_compat.members.names import RESERVED
from zarr.h5py_compat.objects.storage import Storage
from zarr.h5py_compat.types.dtypes import Dtype, Empty, check_string_dtype, check_vlen_dtype, describe
from zarr.h5py_compat.types.stored import StoredType, stored_type
from zarr.h5py_compat.types.values import as_dtype, guess, to_elements
from zarr.notices import warn

__all__ = ["Plan", "make_dataset", "plan_dataset"]

CHUNK_BYTES = 1 << 20
Shape = tuple[int, ...]
HINTS = ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0")
"""Sizes of HDF5's chunk cache: they change no result, and nothing here."""
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
    """All that is settled about a dataset before anything is stored."""

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
    """Return the plan of a dataset; raise what h5py raises for keywords that contradict each other.

    ``track_times=True`` is refused (zarr keeps no times), ``fill_time="ifset"`` and ``"alloc"`` mean what zarr does.
    """
    _check_others(others, fill_time, track_times)
    parsed, array, wanted = _settle(_as_tuple(shape), dtype, data)
    filters = parse_filters(parsed, compression, compression_opts, shuffle, fletcher32, scaleoffset)
    chunked = _settle_chunks(chunks, wanted, maxshape, filters, parsed)
    limits: tuple[int | None, ...] | None = None
    if wanted is not None and maxshape is not None:
        limits = (None,) * len(wanted) if maxshape is True else _as_tuple(maxshape)
        _check_limits(wanted, limits)
    return Plan(parsed, wanted, array, chunked, limits, filters, fillvalue, bool(track_order))


def _check_others(others: dict[str, Any], fill_time: Any, track_times: Any) -> None:
    for name, value in others.items():
        if name in ABSENT:
            if value is not None:
                raise UnsupportedFeature(f"{name}={value!r}: zarr has no {ABSENT[name]}")
        elif name not in HINTS:
            raise TypeError(f"make_new_dset() got an unexpected keyword argument {name!r}")
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
        parsed = as_dtype(dtype if dtype is not None else data.dtype if data is not None else "f4")
        return parsed, None, shape
    parsed = guess(data) if dtype is None else as_dtype(dtype)
    array = to_elements(data, parsed, shape if check_vlen_dtype(parsed) else None)
    inner = parsed.shape
    own = array.shape[: array.ndim - len(inner)]
    if shape is not None and shape != own:
        if int(np.prod(shape, dtype=object)) != int(np.prod(own, dtype=object)):
            raise ValueError(f"Shape tuple is incompatible with data: {shape} and {own}")
        array = array.reshape(shape + inner)
    return parsed, array, shape if shape is not None else own


def _settle_chunks(chunks: Any, shape: Shape | None, maxshape: Any, filters: Filters, dtype: Dtype) -> Shape | None:
    asked = chunks not in (None, False) or maxshape is not None or filters.any
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
    limits = (None,) * len(shape) if maxshape is True else _as_tuple(maxshape) or shape
    if len(given) != len(shape) or any(size < 1 for size in given):
        raise ValueError(f"Chunk shape {given} does not fit a dataset of shape {shape}: one positive number an axis")
    if any(limit is not None and size > limit for size, limit in zip(given, limits, strict=True)):
        raise ValueError(
            "Chunk shape must not be greater than data shape in any dimension. "
            f"{given} is not compatible with {shape}"
        )
    return given


def guess_chunks(shape: Shape, itemsize: int) -> Shape:
    """Return a chunk shape of at most 1 MiB: the longest axis is halved until it fits."""
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
    stored = stored_type(plan.dtype)
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
        notes["dtype"] = describe(plan.dtype)
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
        return b"" if stored.kind in ("bytes", "packed") else "" if stored.kind == "text" else _zero(stored)
    if stored.element.names is not None and not isinstance(fillvalue, np.void | np.ndarray | tuple):
        raise ValueError(f"the fill value {fillvalue!r} is no record of {stored.element}")
    value = to_elements(fillvalue, stored.element, ())
    encoded = stored.encode(value)
    if check_string_dtype(stored.element) is not None or stored.kind in ("packed", "raw"):
        return encoded[()]
    return encoded.astype(stored.zarr_dtype)[()]


def _zero(stored: StoredType) -> Any:
    return np.zeros((), dtype=stored.zarr_dtype)[()]
