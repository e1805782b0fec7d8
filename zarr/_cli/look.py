"""The commands that look at nodes: ``info``, ``tree``, ``ls``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from zarr._cli.answers import columns, say, say_json
from zarr._cli.arguments import AsJson, NodePath, Options, Store, parse_place
from zarr._cli.sizes import describe_array
from zarr.arrays.array import Array
from zarr.groups.group import Group


def info(store: Store, path: NodePath = None, option: Options = None, as_json: AsJson = False) -> None:
    """Describe an array or a group: its shape, codecs, members, attributes."""
    with parse_place(store, path, option).opened() as node:
        if as_json:
            say_json({**_describe(node), "attributes": dict(node.attrs)})
            return
        say(repr(node.info_complete()))
        if node.attrs:
            say("Attributes:\n" + "\n".join(f"  {name}: {value!r}" for name, value in node.attrs.items()))


def _describe(node: Array[Any] | Group) -> dict[str, Any]:
    """Return what ``info`` says of a node, without its attributes."""
    if isinstance(node, Array):
        return describe_array(node)
    members = [member for _, member in node.members(None)]
    arrays = sum(isinstance(member, Array) for member in members)
    return {
        "path": node.name,
        "kind": "group",
        "zarr_format": node.metadata.zarr_format,
        "arrays": arrays,
        "groups": len(members) - arrays,
    }


def tree(
    store: Store,
    path: NodePath = None,
    level: Annotated[int | None, typer.Option(min=0, help="How many levels below the members.")] = None,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Draw the hierarchy below a group."""
    with parse_place(store, path, option).opened() as node:
        if as_json:
            say_json(_branch(node, level))
        elif isinstance(node, Array):
            say(f"{node.name} {node.shape} {node.dtype}")
        else:
            say(str(node.tree(level=level)).rstrip("\n"))


def _branch(node: Array[Any] | Group, level: int | None) -> dict[str, Any]:
    """Return a node with all below it, as nested dictionaries."""
    top = _row(node.name, node)
    found: dict[str, dict[str, Any]] = {"": top}
    members = [] if isinstance(node, Array) else sorted(node.members(level), key=lambda pair: pair[0].count("/"))
    for name, member in members:
        above, _, own = name.rpartition("/")
        found[name] = _row(own, member)
        found[above]["members"].append(found[name])
    return top


def ls(
    store: Store,
    path: NodePath = None,
    long: Annotated[bool, typer.Option("--long", "-l", help="With kind, shape, data type and chunks.")] = False,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """List the members of a group."""
    with parse_place(store, path, option).opened() as node:
        members = list(node.members()) if isinstance(node, Group) else [(node.basename or "/", node)]
    rows = [_row(name, member) for name, member in members]
    if as_json:
        for row in rows:
            row.pop("members", None)
        say_json(rows)
    elif long:
        say(columns([_cells(row) for row in rows]))
    else:
        say("\n".join(str(row["name"]) for row in rows))


def _row(name: str, node: Array[Any] | Group) -> dict[str, Any]:
    if isinstance(node, Group):
        return {"name": name, "kind": "group", "members": []}
    described = describe_array(node, stored=False)
    return {"name": name, "kind": "array", **{key: described[key] for key in ("shape", "dtype", "chunks")}}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if row["kind"] == "group":
        return ("group", str(row["name"]), "", "", "")
    chunks = "variable" if row["chunks"] is None else tuple(row["chunks"])
    return ("array", str(row["name"]), str(tuple(row["shape"])), str(row["dtype"]), str(chunks))
