"""Strategies for names, paths, keys, byte ranges, data types and attributes."""

from __future__ import annotations

import sys
from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from hypothesis.strategies import SearchStrategy

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.dtype import TBaseDType, TBaseScalar, ZDType, get_data_type_from_native_dtype
from zarr.dtype.types.times import DATETIME_UNIT
from zarr.runners.sync import sync
from zarr.storage.keys import METADATA_NAMES
from zarr.storage.memory import MemoryStore

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CHARACTERS = ".-0123456789" + _LETTERS.upper() + "_" + _LETTERS

zarr_key_chars: SearchStrategy[str] = st.sampled_from(tuple(_CHARACTERS))
"""The characters of node names, which every store can hold."""


def _is_node_name(name: str) -> bool:
    return bool(name.strip(".")) and not name.startswith("__") and name.lower() not in METADATA_NAMES


node_names: SearchStrategy[str] = st.text(alphabet=zarr_key_chars, min_size=1).filter(_is_node_name)
"""Valid names of nodes."""

short_node_names: SearchStrategy[str] = st.text(alphabet=zarr_key_chars, min_size=1, max_size=3).filter(_is_node_name)
"""Short names, so that the same one is drawn twice now and then."""

array_names = node_names

_attribute_keys = st.text(min_size=1)
_attribute_values: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5),
    lambda children: st.lists(children) | st.dictionaries(_attribute_keys, children),
    max_leaves=3,
)
attrs: SearchStrategy[Any] = st.none() | st.dictionaries(_attribute_keys, _attribute_values)
"""Attributes of a node, or None."""


@st.composite
def keys(draw: st.DrawFn, *, max_num_nodes: int | None = None) -> str:
    """Draw keys of several names, joined by slashes.

    Parameters
    ----------
    max_num_nodes : int, optional
        The maximal number of names.
    """
    return "/".join(draw(st.lists(node_names, min_size=1, max_size=max_num_nodes)))


@st.composite
def paths(draw: st.DrawFn, *, max_num_nodes: int | None = None) -> str:
    """Draw paths of nodes; the root is written as a slash.

    Parameters
    ----------
    max_num_nodes : int, optional
        The maximal number of names.
    """
    return draw(st.just("/") | keys(max_num_nodes=max_num_nodes))


def clear_store(x: Store) -> Store:
    """Empty a store and return it."""
    sync(x.clear())
    return x


stores: SearchStrategy[Any] = st.builds(MemoryStore, st.just({})).map(clear_store)
"""Empty stores in memory."""


def key_ranges(
    keys: SearchStrategy[str] = node_names, max_size: int = sys.maxsize
) -> SearchStrategy[list[tuple[str, ByteRequest | None]]]:
    """Draw lists of keys, each with a byte range or None.

    Parameters
    ----------
    keys : strategy
        The strategy of the keys.
    max_size : int
        Beyond which byte no range goes.
    """

    @st.composite
    def requests(draw: st.DrawFn) -> ByteRequest | None:
        start = draw(st.integers(min_value=0, max_value=max_size))
        length = draw(st.integers(min_value=0, max_value=max_size))
        kind = draw(st.sampled_from(["whole", "range", "offset", "suffix"]))
        if kind == "range":
            return RangeByteRequest(start, min(start + length, max_size))
        if kind == "offset":
            return OffsetByteRequest(start)
        return SuffixByteRequest(length) if kind == "suffix" else None

    return st.lists(st.tuples(keys, requests()), min_size=1, max_size=10)


@st.composite
def dimension_names(draw: st.DrawFn, *, ndim: int | None = None) -> list[str | None] | None:
    """Draw names of dimensions, some of them None, or no names at all.

    Parameters
    ----------
    ndim : int, optional
    """
    name = st.text(alphabet=zarr_key_chars, max_size=5)
    count = draw(st.integers(min_value=0, max_value=4)) if ndim is None else ndim
    return draw(st.none() | st.lists(st.none() | name, min_size=count, max_size=count))


def dtypes() -> SearchStrategy[np.dtype[Any]]:
    """Draw numpy data types that both formats can store."""
    return (
        npst.boolean_dtypes()
        | npst.integer_dtypes(endianness="=")
        | npst.unsigned_integer_dtypes(endianness="=")
        | npst.floating_dtypes(endianness="=", sizes=(16, 32, 64))
        | npst.complex_number_dtypes(endianness="=", sizes=(64, 128))
        | npst.byte_string_dtypes(endianness="=", min_len=1, max_len=16)
        | npst.unicode_string_dtypes(endianness="=", min_len=1, max_len=16)
        | npst.datetime64_dtypes(endianness="=")
        | npst.timedelta64_dtypes(endianness="=")
    )


def v3_dtypes() -> SearchStrategy[np.dtype[Any]]:
    """Draw numpy data types that format 3 can store."""
    return dtypes()


def v2_dtypes() -> SearchStrategy[np.dtype[Any]]:
    """Draw numpy data types that format 2 can store."""
    return dtypes()


_FIELD_NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=4)


def _fields(children: SearchStrategy[np.dtype[Any]]) -> SearchStrategy[np.dtype[Any]]:
    named = st.lists(st.tuples(_FIELD_NAMES, children), min_size=1, max_size=3)
    return named.map(lambda fields: np.dtype([(f"{name}{i}", dtype) for i, (name, dtype) in enumerate(fields)]))


@st.composite
def structured_dtypes(draw: st.DrawFn, *, allow_extended: bool = False, max_depth: int = 3) -> np.dtype[np.void]:
    """Draw structured numpy data types, nested up to a depth.

    Parameters
    ----------
    allow_extended : bool
        If True, fields may also be arrays of fixed shape.
    max_depth : int
    """
    leaves: SearchStrategy[np.dtype[Any]] = (
        npst.boolean_dtypes()
        | npst.integer_dtypes()
        | npst.unsigned_integer_dtypes()
        | npst.floating_dtypes(sizes=(16, 32, 64))
        | npst.complex_number_dtypes(sizes=(64, 128))
        | npst.byte_string_dtypes(min_len=1, max_len=8)
    )
    if allow_extended:
        shapes = npst.array_shapes(max_dims=2, max_side=3)
        leaves = leaves | st.tuples(leaves, shapes).map(np.dtype)
    level = leaves
    for _ in range(draw(st.integers(min_value=0, max_value=max(0, max_depth - 1)))):
        level = leaves | _fields(level)
    return draw(_fields(level))


@st.composite
def zdtypes(draw: st.DrawFn, *, max_leaves: int = 6) -> ZDType[TBaseDType, TBaseScalar]:
    """Draw zarr data types, records among them.

    Parameters
    ----------
    max_leaves : int
        The maximal number of fields of a record.
    """
    leaf = dtypes().filter(lambda dtype: dtype.itemsize > 0)
    native = draw(leaf | _fields(leaf)) if max_leaves > 1 else draw(leaf)
    return get_data_type_from_native_dtype(native)


def safe_unicode_for_dtype(dtype: np.dtype[np.str_]) -> SearchStrategy[str]:
    """Draw texts that fit a data type: no longer than it, no surrogates, no zeros at the end.

    Parameters
    ----------
    dtype : numpy.dtype
    """
    width = max(1, dtype.itemsize // 4)
    letters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
    return st.text(alphabet=letters, max_size=width)


array_shapes = npst.array_shapes(max_dims=4, min_side=3, max_side=5) | npst.array_shapes(max_dims=4, min_side=0)
"""Shapes of arrays, now and then with lengths of 0."""


@st.composite
def numpy_arrays(
    draw: st.DrawFn,
    *,
    shapes: SearchStrategy[tuple[int, ...]] = array_shapes,
    dtype: np.dtype[Any] | None = None,
) -> npt.NDArray[Any]:
    """Draw numpy arrays.

    Parameters
    ----------
    shapes : strategy
    dtype : numpy.dtype, optional
    """
    chosen = draw(dtypes()) if dtype is None else dtype
    elements = safe_unicode_for_dtype(chosen) if chosen.kind == "U" else None
    return draw(npst.arrays(dtype=chosen, shape=draw(shapes), elements=elements))


__all__ = ["DATETIME_UNIT"]
