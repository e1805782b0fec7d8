"""The commands that count bytes and chunks: ``stat``, ``du``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zarr._cli.answers import columns, finite, say, say_json
from zarr._cli.arguments import AsJson, NodePath, Options, Store, parse_place
from zarr.arrays.array import Array
from zarr.arrays.show.info import byte_info, human_readable_size
from zarr.core.sync import sync
from zarr.groups.group import Group
from zarr.tools.contents.blocks import stored_sizes
from zarr.tools.contents.canonical import codec_text
from zarr.tools.contents.listing import can_list
from zarr.tools.contents.nodes import walk
from zarr.types import METADATA_NAMES


def describe_array(array: Array[Any], stored: bool = True) -> dict[str, Any]:
    """Return the properties of an array under the keys of ``--json``.

    Parameters
    ----------
    array : Array
    stored : bool
        If True, list the store to count the stored chunks.
    """
    described = {
        "path": array.name,
        "kind": "array",
        "zarr_format": array.metadata.zarr_format,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "fill_value": array.metadata.to_dict().get("fill_value"),
        "dimension_names": getattr(array.metadata, "dimension_names", None),
        "chunks": _shape(array, "chunks"),
        "shards": _shape(array, "shards"),
        "codecs": codecs_of(array),
        "bytes": array.nbytes,
    }
    return {**described, **_stored(array)} if stored else described


def _shape(array: Array[Any], name: str) -> list[int] | None:
    """Return the shape of chunks or shards; None if there are none, or if they differ."""
    try:
        shape = getattr(array, name)
    except NotImplementedError:
        return None
    return None if shape is None else list(shape)


def _stored(array: Array[Any]) -> dict[str, int]:
    """Return the stored part of an array, in chunks, or in shards if it has any."""
    unit = "chunks" if array.metadata.shards is None else "shards"
    listed = can_list(array.store_path)
    stored = array._nshards_initialized if listed else sum(1 for _ in stored_sizes(array))
    return {"bytes_stored": _own(array), f"{unit}_stored": stored, f"{unit}_total": array._nshards}


def codecs_of(array: Array[Any]) -> list[Any]:
    """Return the codecs of an array in the order in which they encode, each as in its document."""
    listed = [*array.filters, *([] if array.serializer is None else [array.serializer]), *array.compressors]
    return [codec.get_config() if array.metadata.zarr_format == 2 else codec.to_dict() for codec in listed]


def stat(store: Store, path: NodePath = None, option: Options = None, as_json: AsJson = False) -> None:
    """Show how an array is cut and encoded, and how much of it is stored."""
    with parse_place(store, path, option).opened() as node:
        if isinstance(node, Group):
            raise TypeError(f"{node.name} is a group: zarr stat describes arrays, zarr du counts the bytes of a group")
        described = describe_array(node)
    if as_json:
        say_json(described)
    else:
        say(columns([(name, text) for name, text in _rows(described) if text]))


def _rows(described: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the properties of an array as names and texts; a missing property has an empty text."""
    unit = "shards" if "shards_total" in described else "chunks"
    raw, stored = described["bytes"], described["bytes_stored"]
    return [
        ("path", described["path"]),
        ("zarr format", str(described["zarr_format"])),
        ("shape", _lengths(described["shape"])),
        ("data type", described["dtype"]),
        ("fill value", str(finite(described["fill_value"]))),
        ("dimension names", ", ".join(map(str, described["dimension_names"] or ()))),
        ("chunks", _lengths(described["chunks"]) or "variable"),
        ("shards", _lengths(described["shards"])),
        ("codecs", ", ".join(map(codec_text, described["codecs"]))),
        ("bytes", byte_info(raw)),
        ("bytes stored", f"{byte_info(stored)}, ratio {raw / stored:.1f}" if stored else "0"),
        (f"{unit} stored", f"{described[f'{unit}_stored']} of {described[f'{unit}_total']}"),
    ]


def _lengths(shape: list[int] | None) -> str:
    """Return a shape in the notation of the command line."""
    return "" if shape is None else ",".join(map(str, shape)) or "()"


def du(
    store: Store,
    path: NodePath = None,
    human: Annotated[bool, typer.Option("--human", "-h", help="Print K, M, G instead of bytes.")] = False,
    depth: Annotated[int | None, typer.Option(min=0, help="How many levels of nodes are printed.")] = None,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Count the bytes that are stored for each node, with all nodes below it; the last line is the total."""
    with parse_place(store, path, option).opened() as node:
        above, (sizes, groups) = node.name.rstrip("/"), _count(node, depth)
    rows = ((f"{above}/{name}" if name else node.name, name, size) for name, size in sizes.items())
    if as_json:
        nodes = [{"path": p, "kind": "group" if n in groups else "array", "bytes": size} for p, n, size in rows]
        say_json({"total": sizes[""], "nodes": nodes})
        return
    form = human_readable_size if human else str
    width = max(len(form(size)) for size in sizes.values())
    for text, _, size in rows:
        say(f"{form(size):>{width}}  {text}")
    say(f"{form(sizes['']):>{width}}  total")


def _depth(name: str) -> int:
    return name.count("/") + 1 if name else 0


def _count(node: Array[Any] | Group, depth: int | None) -> tuple[dict[str, int], set[str]]:
    """Return the bytes of a node, under "", and of those down to a depth, each with all below it; and the groups."""
    sizes: dict[str, int] = {}
    groups: set[str] = set()
    for name, member in walk(node):
        if depth is None or _depth(name) <= depth:
            sizes[name] = 0
            if isinstance(member, Group):
                groups.add(name)
        parts, own = name.split("/") if name else [], _own(member)
        for level in range(len(parts) + 1):
            above = "/".join(parts[:level])
            if above in sizes:
                sizes[above] += own
    return sizes, groups


def _own(node: Array[Any] | Group) -> int:
    """Return the bytes of an array with its documents; of a group its documents only."""
    if isinstance(node, Array) and can_list(node.store_path):
        return node.nbytes_stored()
    chunks = stored_sizes(node) if isinstance(node, Array) else ()
    return sync(_documents_size(node)) + sum(size for _, size in chunks)


async def _documents_size(node: Array[Any] | Group) -> int:
    total = 0
    for name in sorted(METADATA_NAMES):
        place = node.store_path / name
        if await place.exists():
            total += await node.store.getsize(place.path)
    return total
