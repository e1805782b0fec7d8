"""The checksum of a hierarchy: one number for its contents, independent of the form of storage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, TypeAlias

from zarr.arrays.array import Array
from zarr.tools.contents.blocks import Coords, block_shape, count_blocks, cut_numbers, read_blocks, touched_blocks
from zarr.tools.contents.canonical import filled_block, json_line, type_name, value_bytes
from zarr.tools.contents.nodes import Node, arrays_of, open_node, walk
from zarr.tools.plans.executors import Piece, part_bytes, run_pieces
from zarr.tools.plans.plan import MEMORY, parse_bytes
from zarr.tools.plans.progress import Progress, reporting

_HEADER: Final = {"zarr_checksum": 1}


@dataclass(frozen=True)
class Checksum:
    """The checksum of a hierarchy.

    Parameters
    ----------
    hexdigest : str
        64 hexadecimal digits.
    nodes : int
        The number of arrays and groups.
    elements : int
        The number of elements of all arrays, stored or not.

    Examples
    --------
    >>> import zarr
    >>> found = zarr.tools.checksum(zarr.array([1, 2, 3]))
    >>> isinstance(found, zarr.tools.Checksum)
    True
    """

    hexdigest: str
    nodes: int
    elements: int

    def __str__(self) -> str:
        return f"sha256:{self.hexdigest}"


def checksum(
    node_or_path: Any,
    *,
    path: str | None = None,
    memory: int | str = MEMORY,
    executor: Any = None,
    progress: Progress = "auto",
    storage_options: dict[str, Any] | None = None,
) -> Checksum:
    """Compute one checksum of an array, or of a group with all below it.

    It is the same for the same content: names, kinds of nodes, attributes, shapes, data types, dimension names, fill
    values and values. It does not depend on the store, the format, chunk shapes, shards, codecs or byte order, nor on
    chunks of the fill value that are stored or left out. It finds damage and differences; it is no signature.

    Parameters
    ----------
    node_or_path : Array, Group or StoreLike
        A node, or a path, a URL, a store, a mapping.
    path : str, optional
        The path below it.
    memory : int or str, default "512 MiB"
        The memory that a task may use: bytes, or a text with a unit. A block of at most 1048576 elements is in memory
        in any case.
    executor : concurrent.futures.Executor, dask.distributed.Client, "dask" or None
        Runs the tasks. Default: this thread.
    progress : "auto", bool or callable, default "auto"
        A bar on a terminal or in a notebook if the work takes more than two seconds; True: always; False: none. A
        callable gets the number of finished blocks, and that of all.
    storage_options : dict, optional
        Options for URLs of fsspec.

    Returns
    -------
    Checksum

    Raises
    ------
    FileNotFoundError
        If there is no node.
    ChunkDecodeError
        If a chunk is damaged.
    TypeError
        If an array holds Python objects without a JSON form.

    Notes
    -----
    The checksum is the SHA-256 of these lines, each ending in a line feed (byte 10). A line is a JSON value in ASCII:
    members sorted by name, no blanks, other characters as ``\\uXXXX``, numbers as Python writes them, ``NaN``,
    ``Infinity`` and ``-Infinity`` for values that JSON does not have.

    1. ``{"zarr_checksum":1}``, the version of this definition.
    2. For each node, in the order of the paths (by code points), one object. All have the members ``path`` (relative
       to the node that was given, ``""`` for itself), ``kind`` (``"array"`` or ``"group"``) and ``attributes``.
       An array also has ``shape``, ``data_type``, ``dimension_names`` (``null`` if no dimension has a name),
       ``fill_value`` (the bytes of one element, in hexadecimal; if it is ``null`` in format 2, the default of the data
          type) and ``values`` (below).

    ``data_type`` is ``numpy.dtype(...).newbyteorder("<").str`` for booleans, numbers, times and strings of fixed
    length; ``"|V<bytes>"`` for raw bytes; ``"string"``, ``"bytes"`` or ``"object"`` for elements of variable length; a
    list of pairs of name and data type for fields; ``{"of":…,"shape":…}`` for a field that is an array;
    ``{"optional":…}`` for elements that may be missing; else the name of the data type in NumPy.

    ``values`` is the SHA-256, in hexadecimal, of one line for each block that has another element than the fill value:
    ``[number,"<SHA-256 of the bytes of the block>"]``, in the order of the numbers. Blocks are cut from the array
    like this: begin with the shape of the array (1 for 0), and, while the block has more than 1048576 elements, halve
    its longest side (the first of equals), rounded up. The blocks are numbered in C order from 0; those at the ends
    are cut off there.

    The bytes of a block are its elements in C order, little-endian. A floating-point -0.0 counts as 0.0, and each NaN
    as the pattern of ``numpy.nan`` in its width, also in parts of complex numbers; types that packages add to NumPy
    (``bfloat16`` …) count by their bytes. Strings of fixed length are UTF-32 or bytes, padded with zeros. An element of
    variable length is its number of bytes, as 8 bytes, and then its UTF-8, its bytes, or (for objects) its JSON in the
    form above; an array in an array of objects is ``{"type":…,"values":…}``. Fields follow each other, each with the
    elements of the whole block. For elements that may be missing (zero or empty if they are) one byte for each follows:
    1 if it exists.

    Examples
    --------
    >>> import zarr
    >>> one = zarr.array([1, 2, 3], chunks=2, zarr_format=2, compressor=None)
    >>> other = zarr.array([1, 2, 3], chunks=3, zarr_format=3)
    >>> zarr.tools.checksum(one) == zarr.tools.checksum(other)
    True
    >>> zarr.tools.checksum(one).elements
    3
    """
    top, at_once = open_node(node_or_path, path, storage_options), part_bytes(parse_bytes(memory))
    digest = hashlib.sha256(f"{json_line(_HEADER)}\n".encode())
    nodes = elements = 0
    with reporting(progress, "checksum", lambda: sum(count_blocks(array) for _, array in arrays_of(top))) as report:
        results = run_pieces(partial(_lines, at_once=at_once), _pieces(top, at_once), executor, report)
        for name, same in groupby(results, key=lambda result: result[0][0]):
            values = hashlib.sha256()
            for (_, node, _), lines in same:  # noqa: B007
                values.update(lines)
            digest.update(f"{json_line(_describe(name, node, values.hexdigest()))}\n".encode())
            nodes += 1
            elements += int(node.size) if isinstance(node, Array) else 0
    return Checksum(digest.hexdigest(), nodes, elements)


_Blocks: TypeAlias = tuple[str, Node, list[int]]
"""A node, after its path, and the numbers of some of its blocks."""


def _pieces(top: Node, at_once: int) -> Iterator[Piece[_Blocks]]:
    """Divide the stored blocks of all nodes into pieces; the last piece of each node has no block."""
    for name, node in walk(top):
        left = 0
        if isinstance(node, Array):
            touched = touched_blocks([node], block_shape(node.shape)) if node.size else []
            left = count_blocks(node) - len(touched)
            for part, nbytes, numbers in cut_numbers(node, touched, at_once):
                yield part, nbytes, (name, node, numbers)
        yield left, 0, (name, node, [])


def _lines(piece: _Blocks, at_once: int) -> bytes:
    """Return the lines of blocks; a block of fill values has no line, so it need not be read."""
    _, array, numbers = piece
    lines = b""
    if not isinstance(array, Array) or not numbers:
        return lines
    empty: dict[Coords, bytes] = {}
    for number, _, values in read_blocks(array, numbers, block_shape(array.shape), at_once):
        found = hashlib.sha256(value_bytes(values)).digest()
        shape = tuple(values.shape)
        if shape not in empty:
            empty[shape] = hashlib.sha256(value_bytes(filled_block(array._handle.layout, shape))).digest()
        if found != empty[shape]:
            lines += f"{json_line([number, found.hex()])}\n".encode()
    return lines


def _describe(name: str, node: Node, values: str) -> dict[str, Any]:
    line: dict[str, Any] = {"path": name, "attributes": dict(node.attrs), "kind": "group"}
    if isinstance(node, Array):
        layout = node._handle.layout
        line |= {
            "kind": "array",
            "shape": list(node.shape),
            "data_type": type_name(layout.zdtype),
            "dimension_names": dimension_names(node),
            "fill_value": value_bytes(filled_block(layout, ())).hex(),
            "values": values,
        }
    return line


def dimension_names(array: Array[Any]) -> list[str | None] | None:
    """Return the names of the dimensions of an array; None if it has none, as in format 2.

    Examples
    --------
    >>> import zarr
    >>> dimension_names(zarr.zeros(1, dimension_names=["x"])), dimension_names(zarr.zeros(1))
    (['x'], None)
    """
    names = getattr(array.metadata, "dimension_names", None)
    return list(names) if names is not None and any(name is not None for name in names) else None
