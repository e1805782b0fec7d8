"""The contents of a file of any format, in terms of Zarr: readers of formats make them, writers take them.

A reader is a function ``read(path, losses)`` that returns an :class:`ArrayContents` or a :class:`GroupContents`; a
writer is a function ``write(contents, path, losses)``. Both add to ``losses``, a list of texts, everything that they
cannot carry: the path of the node, the lost thing, and the reason, in the form of :func:`lose`. No elements are read in
advance.

Rules of readers and writers besides types: ``_FillValue`` in the attributes is a plain value, as in NetCDF; the dtype
has the byte order; a dimension with stored coordinates is an array of its name beside the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from zarr.dtype import ZDType
from zarr.storage.keys import join
from zarr.tools.copies.layouts import Borders, grow
from zarr.tools.copies.regions import Regions, every, longest

BLOCK_BYTES = 64 << 20
"""Number of bytes that a writer of a file holds at once, unless one chunk is larger."""


@dataclass(frozen=True)
class ArrayContents:
    """An array.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy.dtype or ZDType
        The data type, with the byte order of the file. Strings of variable length are of ``numpy.dtypes.StringDType``,
        bytes of variable length of :class:`zarr.dtype.VariableLengthBytes`.
    read : callable
        Returns the elements of a region, from a slice of each axis, with bounds inside of the shape and steps of 1. It
        can be pickled: another process opens the file again.
    chunks : tuple of int, optional
        The shape of the parts that are stored together. Default: none.
    shards : tuple of int, optional
        The shape of the shards of a Zarr array.
    fill_value : optional
        Default: that of the data type.
    dimension_names : tuple of str or None, optional
        One for each axis. Default: none.
    attributes : mapping, optional
        JSON values. Default: none.
    filters, compressors : sequence of dict, or "auto"
        Documents of codecs of format 3; a codec without an equivalent in the target is a loss. Default: ``"auto"``,
        those of a new array.
    read_chunks : tuple of int, optional
        The shape of the parts that are read together. Default: ``chunks``.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.arange(6)
    >>> contents = ArrayContents(data.shape, data.dtype, data.__getitem__, dimension_names=("x",))
    >>> contents.read((slice(1, 3),))
    array([1, 2])
    """

    shape: tuple[int, ...]
    dtype: Any
    read: Callable[[tuple[slice, ...]], Any]
    _: KW_ONLY
    chunks: tuple[int, ...] | None = None
    shards: tuple[int, ...] | None = None
    fill_value: Any = None
    dimension_names: tuple[str | None, ...] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    filters: Any = "auto"
    compressors: Any = "auto"
    read_chunks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.read_chunks is None:
            object.__setattr__(self, "read_chunks", self.chunks)

    @property
    def native_dtype(self) -> np.dtype[Any]:
        """The data type as NumPy has it."""
        dtype: np.dtype[Any] = self.dtype.to_native_dtype() if isinstance(self.dtype, ZDType) else np.dtype(self.dtype)
        return dtype


@dataclass(frozen=True)
class GroupContents:
    """A group.

    Parameters
    ----------
    attributes : mapping, optional
        JSON values. Default: none.
    members : mapping, optional
        Arrays and groups by name. Default: none.

    Examples
    --------
    >>> GroupContents({"title": "a"}, {"below": GroupContents()}).members["below"].attributes
    {}
    """

    attributes: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Contents] = field(default_factory=dict)


Contents: TypeAlias = ArrayContents | GroupContents


def lose(losses: list[str], path: str, text: str) -> None:
    """Note a loss.

    Parameters
    ----------
    losses : list of str
    path : str
        Path of the node, without slashes at its ends.
    text : str
        The lost thing, and the reason.

    Examples
    --------
    >>> losses = []
    >>> lose(losses, "a/b", "attributes: npy files have none")
    >>> losses
    ['/a/b: attributes: npy files have none']
    """
    losses.append(f"/{path}: {text}")


def walk_contents(contents: Contents, path: str = "") -> Iterator[tuple[str, Contents]]:
    """Yield a node and all nodes below it with their paths.

    Examples
    --------
    >>> [path for path, _ in walk_contents(GroupContents(members={"a": GroupContents(members={"b": GroupContents()})}))]
    ['', 'a', 'a/b']
    """
    yield path, contents
    if isinstance(contents, GroupContents):
        for name, member in contents.members.items():
            yield from walk_contents(member, join(path, name))


def change_arrays(
    contents: Contents, change: Callable[[str, ArrayContents], ArrayContents], path: str = ""
) -> Contents:
    """Return contents with the arrays that a function makes of the path of each array and of the array.

    Examples
    --------
    >>> array = ArrayContents((3,), "i4", None)
    >>> change_arrays(array, lambda path, each: replace(each, chunks=(2,))).chunks
    (2,)
    """
    if isinstance(contents, ArrayContents):
        return change(path, contents)
    members = {name: change_arrays(each, change, join(path, name)) for name, each in contents.members.items()}
    return replace(contents, members=members)


def borders_of_chunks(contents: ArrayContents) -> tuple[Borders, ...] | None:
    """Return the borders of the parts that are read together along each axis; None if every region can be read alone.

    Examples
    --------
    >>> import numpy as np
    >>> borders_of_chunks(ArrayContents((5,), np.dtype("i4"), lambda region: None, chunks=(2,)))
    ((0, 2, 4, 5),)
    """
    return _borders(contents.read_chunks, contents.shape)


def _borders(chunks: tuple[int, ...] | None, shape: tuple[int, ...]) -> tuple[Borders, ...] | None:
    return None if chunks is None else tuple(every(chunk, length) for chunk, length in zip(chunks, shape, strict=True))


def blocks_of(contents: ArrayContents, limit: int = BLOCK_BYTES) -> Regions:
    """Return regions of whole chunks that cover an array, for a writer that goes through it.

    Parameters
    ----------
    contents : ArrayContents
    limit : int, default 64 MiB
        The bytes of a region, unless one chunk is larger.

    Examples
    --------
    >>> import numpy as np
    >>> contents = ArrayContents((5, 4), np.dtype("i4"), lambda region: None, chunks=(2, 4))
    >>> [rows for rows, _ in blocks_of(contents, limit=32)]
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    read = borders_of_chunks(contents)
    own = _borders(contents.chunks, contents.shape) or read or tuple(every(1, length) for length in contents.shape)
    itemsize = max(1, getattr(contents.dtype, "itemsize", 8))
    least = itemsize * math.prod(map(longest, own))
    return Regions(grow(own, read or own, itemsize, max(limit, least)))
