"""Array documents that earlier writers left malformed, and how they are repaired when they are read.

Older releases stored chunk lengths of 0 for empty axes, JSON booleans and floats in place of integers, and lists of
chunk lengths in regular grids. The meaning of such a document is clear, so it is read. If other readers of the document
would look for the chunks at other places, the metadata remember the stored document; the first write of a chunk then
stores the repaired document (`zarr.arrays.documents`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from zarr._lazy import LazyModule
from zarr._records import record, set_values
from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.chunks.shapes import are_lengths, parse_chunk_edge
from zarr.defaults import settings
from zarr.errors import ZarrUserWarning
from zarr.notices import warn
from zarr.registry import get_codec_class

if TYPE_CHECKING:
    from zarr.chunks import rectilinear
    from zarr.codecs.extensions import arrow_vlen
else:
    rectilinear = LazyModule("zarr.chunks.rectilinear")
    arrow_vlen = LazyModule("zarr.codecs.extensions.arrow_vlen")


Lengths: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The shape of an array and its chunk shape."""

RECREATE_HINT: Final = (
    "Nothing is stored along such an axis, so nothing is lost where the array is made anew with the chunks that it "
    "should have: `zarr.from_array(array.store, name=array.path, data=array, chunks=<chunk shape>, overwrite=True, "
    "write_data=False)`; where a group above it has consolidated metadata, call zarr.consolidate_metadata then."
)
RESAVE_HINT: Final = (
    "To store the repaired document, update the attributes of the array, if only with {}; where a group above it has "
    "consolidated metadata, call zarr.consolidate_metadata then."
)

_MAX_QUOTED: Final = 80


@record(frozen=True)
class Repair:
    """One member of a document that was repaired.

    Parameters
    ----------
    moves : bool
        If True, a reader that follows the stored document literally looks for the chunks at other places.
    message : str, optional
        The warning for the user; None if every reader understands the same.
    """

    moves: bool
    message: str | None

    def __init__(self, moves: bool, message: str | None = None) -> None:
        set_values(self, moves=moves, message=message)


def repair_array_document(document: Mapping[str, Any], zarr_format: int) -> tuple[Mapping[str, Any], list[Repair]]:
    """Replace malformed members of an array document by their meaning, if that is known.

    Parameters
    ----------
    document : mapping
        The members of ``zarr.json`` or ``.zarray``; it is not changed.
    zarr_format : 2 or 3

    Returns
    -------
    document : mapping
        The same one, if there is nothing to repair. Parsers refuse what cannot be repaired.
    repairs : list of Repair

    Raises
    ------
    TypeError, ValueError
        If a length listed in a regular grid is no length.

    Examples
    --------
    >>> repaired, repairs = repair_array_document({"shape": [0], "chunks": [0]}, 2)
    >>> repaired["chunks"], repairs
    ([1], [Repair(moves=True, message=None)])
    """
    shape = document.get("shape")
    if not isinstance(shape, list | tuple) or not are_lengths(shape, 0):
        return document, []
    if zarr_format == 3 and plain_lengths(document) is not None and not has_shards(document.get("codecs")):
        return document, []
    if zarr_format == 2:
        lengths, repairs = _repair_lengths(document.get("chunks"), shape)
        return ({**document, "chunks": lengths} if repairs else document), repairs
    codecs, repairs = _repair_codecs(document.get("codecs"))
    grid, of_grid = _repair_grid(document.get("chunk_grid"), shape, _inner_shape(codecs))
    repairs = of_grid + repairs
    return ({**document, "chunk_grid": grid, "codecs": codecs} if repairs else document), repairs


def plain_lengths(document: Mapping[str, Any]) -> Lengths | None:
    """Return the shape and the chunk shape of a document with a regular grid; None if the document needs repairs.

    Examples
    --------
    >>> grid = {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}
    >>> plain_lengths({"shape": [4, 3], "chunk_grid": grid})
    ((4, 3), (2, 3))
    """
    try:
        shape, grid = document["shape"], document["chunk_grid"]
        edges = grid["configuration"]["chunk_shape"]
    except (KeyError, TypeError):
        return None
    if type(shape) not in (list, tuple) or type(edges) not in (list, tuple):
        return None
    plain = grid == {"name": "regular", "configuration": {"chunk_shape": edges}}
    return (tuple(shape), tuple(edges)) if plain and are_lengths(shape, 0) and are_lengths(edges, 1) else None


def warn_of_repairs(repairs: Sequence[Repair], place: object) -> None:
    """Warn once about the repairs of a document; the warning names the array, if its place is known."""
    messages = [each.message for each in repairs if each.message is not None] if repairs else ()
    if messages:
        name = getattr(place, "label", place)
        warn(f"{f'Array {name!r}: ' if name else ''}{' '.join(messages)}", ZarrUserWarning)


def keep_stored(metadata: Any, stored: Mapping[str, Any], repairs: Sequence[Repair]) -> None:
    """Keep the stored document in the metadata, if its chunks would be looked for at other places."""
    if repairs and any(each.moves for each in repairs):
        metadata.__dict__["_stored_document"] = deepcopy(dict(stored))


def _is_number(entry: object, least: int) -> bool:
    """Return True if a JSON value is a length, also one written as a boolean or as a float."""
    return isinstance(entry, int | float) and entry == int(entry) and int(entry) >= least


def _repair_lengths(stored: Any, shape: Sequence[int], inner: Sequence[int] | None = None) -> tuple[Any, list[Repair]]:
    """Return one chunk length for each axis: 1 for true; for 0 the length of an inner chunk, or 1."""
    if not isinstance(stored, list | tuple) or len(stored) != len(shape) or are_lengths(stored, 1):
        return stored, []
    if any(type(entry) not in (int, bool) or entry < 0 for entry in stored):
        return stored, []
    units = [1] * len(shape) if inner is None else inner
    if len(units) != len(shape) or not are_lengths(units, 1):
        return stored, []
    lengths = [int(entry) or unit for entry, unit in zip(stored, units, strict=True)]
    return lengths, [Repair(not all(stored), _zeros_message(stored, lengths, shape, inner is not None))]


def _zeros_message(stored: Sequence[Any], lengths: Sequence[int], shape: Sequence[int], sharded: bool) -> str | None:
    what = ", the inner chunk size" if sharded else ""
    parts = [
        f"{entry!r} in dimension {axis} as {lengths[axis]}{what}"
        for axis, entry in enumerate(stored)
        if not entry and shape[axis]
    ]
    if not parts:
        return None
    return (
        f"The stored chunk shape {_shown(stored)} is invalid: a chunk size is at least 1. "
        f"It is read as {_shown(lengths)}, reading {' and '.join(parts)}, as no chunk can be stored under a chunk size "
        f"of 0. {RECREATE_HINT}"
    )


def _shown(lengths: Sequence[Any]) -> str:
    """Return the lengths for a message, which quotes the beginning of long lists."""
    text = str([list(each) if isinstance(each, tuple) else each for each in lengths])
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}..."


def has_shards(codecs: Any) -> bool:
    """Return True if one of the JSON forms of codecs is that of shards.

    Examples
    --------
    >>> has_shards(["bytes", {"name": "zstd"}])
    False
    """
    for entry in codecs if isinstance(codecs, list | tuple) else ():
        if (type(entry) is dict or isinstance(entry, Mapping)) and entry.get("name") == "sharding_indexed":
            return True
    return False


def _inner_shape(codecs: Any) -> Any:
    """Return the shape of the inner chunks, if there are shards."""
    for entry in codecs if isinstance(codecs, list | tuple) else ():
        if has_shards([entry]):
            configuration = entry.get("configuration")
            return configuration.get("chunk_shape", ()) if isinstance(configuration, Mapping) else ()
    return None


def _repair_codecs(codecs: Any) -> tuple[Any, list[Repair]]:
    """Return the codecs with true read as 1 in the inner chunk shapes, at any depth."""
    repairs: list[Repair] = []
    repaired: list[Any] = []
    if not has_shards(codecs):
        return codecs, repairs
    for entry in codecs:
        configuration = entry.get("configuration") if isinstance(entry, Mapping) else None
        if not (has_shards([entry]) and isinstance(configuration, Mapping)):
            repaired.append(entry)
            continue
        inner, of_inner = _repair_codecs(configuration.get("codecs"))
        shape = configuration.get("chunk_shape")
        if isinstance(shape, list | tuple) and True in shape and all(type(n) in (int, bool) and n > 0 for n in shape):
            if not are_lengths(shape, 1):
                shape, of_inner = [int(length) for length in shape], [*of_inner, Repair(moves=False)]
        repairs += of_inner
        changed = {**configuration, "chunk_shape": shape, "codecs": inner}
        repaired.append({**entry, "configuration": changed} if of_inner else entry)
    return repaired, repairs


def _repair_grid(grid: Any, shape: Sequence[int], inner: Sequence[int] | None) -> tuple[Any, list[Repair]]:
    configuration = grid.get("configuration") if isinstance(grid, Mapping) else None
    if not isinstance(configuration, Mapping):
        return grid, []
    if grid.get("name") == "regular":
        stored = configuration.get("chunk_shape")
        lengths, repairs = _repair_lengths(stored, shape, inner)
        if repairs:
            return {**grid, "configuration": {**configuration, "chunk_shape": lengths}}, repairs
        return _repair_listed(grid, stored, shape) if inner is None else (grid, [])
    if grid.get("name") == "rectilinear":
        stored = configuration.get("chunk_shapes")
        shapes = [_plain_edges(edges) for edges in stored] if isinstance(stored, list | tuple) else stored
        if isinstance(stored, list | tuple) and repr(shapes) != repr(list(stored)):
            return {**grid, "configuration": {**configuration, "chunk_shapes": shapes}}, [Repair(moves=False)]
    return grid, []


def _plain_edges(edges: Any) -> Any:
    """Return the lengths along one axis, or pairs of a length and a count, with the lengths as integers."""
    if not isinstance(edges, list | tuple):
        return edges
    plain: list[Any] = []
    for entry in edges:
        if isinstance(entry, list | tuple):
            size = entry[0] if entry else None
            plain.append([int(size), *entry[1:]] if _is_number(size, 1) else entry)  # type: ignore[arg-type]
        else:
            plain.append(int(entry) if _is_number(entry, 1) else entry)
    return plain


def _permission() -> str:
    """Return the step that a user must take before a rectilinear grid can be stored, if any."""
    if settings.get("array.rectilinear_chunks", True):
        return ""
    return (
        "Re-saving the metadata stores that rectilinear chunk grid, so each step that follows requires "
        "`zarr.config.set({'array.rectilinear_chunks': True})`. "
    )


def _repair_listed(grid: Any, stored: Any, shape: Sequence[int]) -> tuple[Any, list[Repair]]:
    """Read a regular grid with lists of lengths along some axes as a rectilinear grid."""
    if not isinstance(stored, list | tuple) or len(stored) != len(shape):
        return grid, []
    listed = [axis for axis, edges in enumerate(stored) if isinstance(edges, list | tuple)]
    if not listed or len(listed) == len(stored):
        return grid, []
    edges = [_plain_edges(stored[axis]) for axis in listed]
    plain = [length for axis, length in enumerate(stored) if axis not in listed]
    rest, _ = _repair_lengths(plain, [0] * len(plain))
    if not are_lengths(rest, 1) or any(isinstance(edge, list | tuple) for along in edges for edge in along):
        return grid, []
    edges = [[parse_chunk_edge(edge, axis) for edge in along] for axis, along in zip(listed, edges, strict=True)]
    by_axis: dict[int, Any] = dict(zip(listed, map(tuple, edges), strict=True))
    others = iter(rest)
    shapes = tuple([by_axis[axis] if axis in by_axis else next(others) for axis in range(len(stored))])
    message = (
        f"The stored chunk grid is invalid: it is named regular, but lists chunk lengths in dimensions {listed}. "
        f"It is read as that rectilinear chunk grid. {_permission()}{RESAVE_HINT}"
    )
    messages = filter(None, (_zeros_message(stored, shapes, shape, False), message))
    return rectilinear.RectilinearChunkGridMetadata(chunk_shapes=shapes), [Repair(True, text) for text in messages]


LARGE_NAMES: Final = frozenset(("large_string", "large_binary", "LargeString", "LargeBinary"))
NAMES: Final = LARGE_NAMES | {"string", "binary"}


def _name_of(document: Mapping[str, Any]) -> object:
    data_type = document.get("data_type")
    return data_type.get("name") if isinstance(data_type, Mapping) else data_type


def with_codecs_member(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document of strings without ``codecs`` with an empty list; any other unchanged.

    Examples
    --------
    >>> with_codecs_member({"data_type": {"name": "string"}})["codecs"]
    []
    """
    name = _name_of(document)
    if not isinstance(name, str) or name not in NAMES:
        return document
    codecs = document.get("codecs", [])
    if not isinstance(codecs, list):
        return document
    within = [_with_inner_codec(codec, name) for codec in codecs]
    return document if within == codecs and "codecs" in document else {**document, "codecs": within}


def _with_inner_codec(codec: Any, name: str) -> Any:
    """Return the JSON form of a codec; in that of shards add the implied codec of strings."""
    configuration = codec.get("configuration") if isinstance(codec, Mapping) else None
    if not isinstance(configuration, Mapping) or codec.get("name") != "sharding_indexed":
        return codec
    inner = [_with_inner_codec(each, name) for each in configuration.get("codecs", [])]
    kinds = [codec_kind(each) for each in inner]
    if not any(issubclass(kind, ArrayBytesCodec) for kind in kinds):
        place = next((i for i, kind in enumerate(kinds) if issubclass(kind, BytesBytesCodec)), len(inner))
        inner.insert(place, _implied(name).to_dict())
    return {**codec, "configuration": {**configuration, "codecs": inner}}


def codec_kind(codec: Any) -> type:
    """Return the class for the JSON form of a codec; ``object`` for an unknown form, which parsing refuses.

    Examples
    --------
    >>> codec_kind("zstd").__name__
    'ZstdCodec'
    """
    name = codec.get("name") if isinstance(codec, Mapping) else codec
    try:
        return get_codec_class(name) if isinstance(name, str) else object
    except (KeyError, ValueError):
        return object


def _implied(name: str) -> arrow_vlen.ArrowVLenCodec:
    return arrow_vlen.ArrowVLenCodec(offset="int64" if name in LARGE_NAMES else "int32")


def add_string_codec(codecs: tuple[Codec, ...], document: Mapping[str, Any]) -> tuple[Codec, ...]:
    """Return the codecs of a document of strings with the one that its data type implies, if it is missing.

    Examples
    --------
    >>> add_string_codec((), {"data_type": "string"})
    (ArrowVLenCodec(offset='int32'),)
    """
    name = _name_of(document)
    if not isinstance(name, str) or name not in NAMES or any(isinstance(codec, ArrayBytesCodec) for codec in codecs):
        return codecs
    place = next((i for i, codec in enumerate(codecs) if isinstance(codec, BytesBytesCodec)), len(codecs))
    return (*codecs[:place], _implied(name), *codecs[place:])
