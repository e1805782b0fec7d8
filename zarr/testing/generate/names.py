"""Strategies for names, paths, keys, byte ranges and attributes."""

from __future__ import annotations

import sys
from typing import Any

import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.runners.sync import sync
from zarr.storage.memory.store import MemoryStore

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CHARACTERS = ".-0123456789" + _LETTERS.upper() + "_" + _LETTERS

zarr_key_chars: SearchStrategy[str] = st.sampled_from(tuple(_CHARACTERS))
"""What names of nodes are made of, so that every store can hold them."""

node_names: SearchStrategy[str] = (
    st.text(alphabet=zarr_key_chars, min_size=1)
    .filter(lambda name: name not in (".", "..") and not name.startswith("__"))
    .filter(lambda name: name.lower() != "zarr.json")
)
"""Names that a node may have."""

short_node_names: SearchStrategy[str] = (
    st.text(alphabet=zarr_key_chars, min_size=1, max_size=3)
    .filter(lambda name: name not in (".", "..") and not name.startswith("__"))
    .filter(lambda name: name.lower() != "zarr.json")
)
"""Short names, so that they meet now and then."""

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
    """Keys of several names, joined by slashes.

    Parameters
    ----------
    max_num_nodes : int, optional
        How many names at most.
    """
    return "/".join(draw(st.lists(node_names, min_size=1, max_size=max_num_nodes)))


@st.composite
def paths(draw: st.DrawFn, *, max_num_nodes: int | None = None) -> str:
    """Paths of nodes; the root is written as a slash.

    Parameters
    ----------
    max_num_nodes : int, optional
        How many names at most.
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
    """Lists of keys, each with a byte range or None.

    Parameters
    ----------
    keys : strategy
        Which keys.
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
    """Names of dimensions, some of them None, or no names at all.

    Parameters
    ----------
    ndim : int, optional
    """
    name = st.text(alphabet=zarr_key_chars, max_size=5)
    count = draw(st.integers(min_value=0, max_value=4)) if ndim is None else ndim
    return draw(st.none() | st.lists(st.none() | name, min_size=count, max_size=count))
