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
from zarr.types import METADATA_NAMES


def describe_array(array: Array[Any], stored: bool = True) -> dict[str, Any]:
    """Return what is known of an array under the keys that ``--json`` promises.

    Parameters
    ----------
    array : Array
    stored : bool
        Whether the store is listed, to count what is stored.
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
    """Return the shape of chunks or shards; None where there are none, or where they differ."""
    try:
        shape = getattr(array, name)
    except NotImplementedError:
        return None
    return None if shape is None else list(shape)


def _stored(array: Array[Any]) -> dict[str, int]:
    """Return how much of an array is stored, in chunks, or in shards where there are some."""
    unit = "chunks" if array.metadata.shards is None else "shards"
    return {
        "bytes_stored": array.nbytes_stored(),
        f"{unit}_stored": array._nshards_initialized,
        f"{unit}_total": array._nshards,
    }


def codecs_of(array: Array[Any]) -> list[Any]:
    """Return the codecs of an array in the order in which they encode, each as its document has it."""
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
    """Return what is known of an array as names and texts, an empty text for what it does not have."""
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
        ("codecs", ", ".join(map(_codec_text, described["codecs"]))),
        ("bytes", byte_info(raw)),
        ("bytes stored", f"{byte_info(stored)}, ratio {raw / stored:.1f}" if stored else "0"),
        (f"{unit} stored", f"{described[f'{unit}_stored']} of {described[f'{unit}_total']}"),
    ]


def _lengths(shape: list[int] | None) -> str:
    """Return a shape as the command line takes it."""
    return "" if shape is None else ",".join(map(str, shape)) or "()"


def _codec_text(document: Any) -> str:
    """Return a codec as a name and its parameters."""
    if not isinstance(document, dict):
        return str(document)
    name = document.get("name", document.get("id"))
    settings = document.get("configuration", {key: value for key, value in document.items() if key != "id"})
    given = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "name")
    return f"{name}({given})" if given else str(name)


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
        top, counted = node.name, _count(node)
    total = counted[""][1]
    shown = {name: each for name, each in sorted(counted.items()) if depth is None or _depth(name) <= depth}
    rows = [(f"{top.rstrip('/')}/{name}" if name else top, kind, size) for name, (kind, size) in shown.items()]
    if as_json:
        nodes = [{"path": name, "kind": kind, "bytes": size} for name, kind, size in rows]
        say_json({"total": total, "nodes": nodes})
        return
    sizes = [human_readable_size(size) if human else str(size) for size in (*(row[2] for row in rows), total)]
    width = max(map(len, sizes))
    say("\n".join(f"{size:>{width}}  {name}" for size, name in zip(sizes, [*(row[0] for row in rows), "total"])))


def _depth(name: str) -> int:
    return name.count("/") + 1 if name else 0


def _count(node: Array[Any] | Group) -> dict[str, tuple[str, int]]:
    """Return kind and bytes of a node, under "", and of all below it, each with the nodes below it."""
    members = node.members(None) if isinstance(node, Group) else ()
    own = {name: _own(member) for name, member in (("", node), *members)}
    sizes = dict.fromkeys(own, 0)
    for name, size in own.items():
        sizes[name] += size
        while name:
            name = name.rpartition("/")[0]
            sizes[name] += size
    kinds = {name: "array" if isinstance(member, Array) else "group" for name, member in (("", node), *members)}
    return {name: (kinds[name], sizes[name]) for name in own}


def _own(node: Array[Any] | Group) -> int:
    """Return the bytes of an array with its documents, of a group its documents alone."""
    return node.nbytes_stored() if isinstance(node, Array) else sync(_documents_size(node))


async def _documents_size(group: Group) -> int:
    total = 0
    for name in sorted(METADATA_NAMES):
        place = group.store_path / name
        if await place.exists():
            total += await group.store.getsize(place.path)
    return total
