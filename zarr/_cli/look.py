"""The commands that look at nodes: ``info``, ``tree``, ``ls``, ``stat``, ``du``; or show them: ``serve``, ``view``."""

from __future__ import annotations

import contextlib
import webbrowser
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Literal, cast

import typer

from zarr import serving
from zarr._cli.answers import columns, finite, say, say_json, say_result
from zarr._cli.arguments import AsJson, NodePath, Options, Store, parse_place
from zarr._lazy import load_extra
from zarr.arrays.array import Array
from zarr.arrays.show.info import byte_info, human_readable_size
from zarr.groups.group import Group
from zarr.storage.keys import ancestors
from zarr.storage.local.store import LocalStore
from zarr.tools.contents.canonical import codec_text
from zarr.tools.contents.nodes import check_members, keys_of, sizes_of, walk
from zarr.types import METADATA_NAMES

Port = Annotated[
    int | None, typer.Option(min=0, max=65535, help="By default 8000, or a free one where it is taken.")
]


def info(store: Store, path: NodePath = None, option: Options = None, as_json: AsJson = False) -> None:
    """Describe an array or a group: its shape, codecs, members, attributes."""
    with parse_place(store, path, option).opened() as node:
        check_members(node)
        if as_json:
            say_json({**_describe(node), "attributes": dict(node.attrs)})
            return
        say(repr(node.info_complete()))
        if node.attrs:
            say("Attributes:\n" + "\n".join(f"  {name}: {value!r}" for name, value in node.attrs.items()))


def _describe(node: Array[Any] | Group) -> dict[str, Any]:
    """Return the output of ``info`` for a node, without its attributes."""
    if isinstance(node, Array):
        return describe_array(node)
    kinds = Counter(type(member) for _, member in walk(node))
    return {
        "path": node.name,
        "kind": "group",
        "zarr_format": node.metadata.zarr_format,
        "arrays": kinds[Array],
        "groups": kinds[Group] - 1,
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
        check_members(node)
        if as_json:
            say_json(_branch(node, level))
        elif isinstance(node, Array):
            say(f"{node.name} {node.shape} {node.dtype}")
        else:
            say(str(node.tree(level=level)).rstrip("\n"))


def _branch(node: Array[Any] | Group, level: int | None) -> dict[str, Any]:
    """Return a node with all below it, as nested dictionaries."""
    found: dict[str, dict[str, Any]] = {}
    for name, member in walk(node, level):
        above, _, own = name.rpartition("/")
        found[name] = _row(own if name else member.name, member)
        if isinstance(member, Group):
            found[name]["members"] = []
        if name:
            found[above]["members"].append(found[name])
    return found[""]


def ls(
    store: Store,
    path: NodePath = None,
    long: Annotated[bool, typer.Option("--long", "-l", help="With kind, shape, data type and chunks.")] = False,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """List the members of a group."""
    with parse_place(store, path, option).opened() as node:
        check_members(node)
        members = list(node.members()) if isinstance(node, Group) else [(node.basename or "/", node)]
    rows = [_row(name, member) for name, member in members]
    if as_json:
        say_json(rows)
    elif long:
        say(columns([_cells(row) for row in rows]))
    else:
        say("\n".join(str(row["name"]) for row in rows))


def _row(name: str, node: Array[Any] | Group) -> dict[str, Any]:
    if isinstance(node, Group):
        return {"name": name, "kind": "group"}
    described = describe_array(node, stored=False)
    return {"name": name, "kind": "array", **{key: described[key] for key in ("shape", "dtype", "chunks")}}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if row["kind"] == "group":
        return ("group", str(row["name"]), "", "", "")
    chunks = "variable" if row["chunks"] is None else tuple(row["chunks"])
    return ("array", str(row["name"]), str(tuple(row["shape"])), str(row["dtype"]), str(chunks))


def serve(
    store: Store,
    path: NodePath = None,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 is reached from others.")] = "127.0.0.1",
    port: Port = None,
    token: Annotated[
        str | None,
        typer.Option(envvar="ZARR_SERVE_TOKEN", help="A client with it may store and delete keys; default: none."),
    ] = None,
    show_as: Annotated[
        str | None, typer.Option("--as", metavar="v3", help="Show format 2 and N5 as hierarchies of format 3.")
    ] = None,
    origin: Annotated[
        list[str] | None, typer.Option(help="A web site whose pages may read; by default all. Repeat.")
    ] = None,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Serve what symbolic links lead to outside of the folder.")
    ] = False,
    option: Options = None,
) -> None:
    """Serve a store over HTTP until Ctrl-C: its keys, also by ranges, and lists of its folders."""
    mode: Literal["r", "r+"] = "r" if token is None else "r+"
    with _served(store, path, option, show_as, follow_links, mode) as (named, below, format_3):
        made = serving.make_app(named, path=below, token=token, show_as=format_3, origins=origin or ("*",))
        server = _listen(made, host, port)
        typer.echo(f"{parse_place(store, path, option)} at {server.url}/ (Ctrl-C ends it)")
        server.run()


def view(
    store: Store,
    path: NodePath = None,
    port: Port = None,
    show_as: Annotated[
        str | None, typer.Option("--as", metavar="v3", help="Show N5 and drafts as hierarchies of format 3.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    option: Options = None,
) -> None:
    """Show a store in a browser, until Ctrl-C: the tree, documents, and pictures of arrays to pan and zoom."""
    with _served(store, path, option, show_as, False, "r") as (named, below, format_3):
        server = _listen(serving.make_view_app(named, path=below, show_as=format_3), "127.0.0.1", port)
        typer.echo(f"{parse_place(store, path, option)} at {server.url}/view/ (Ctrl-C ends it)")
        if browser:
            webbrowser.open(f"{server.url}/view/")
        server.run()


@contextlib.contextmanager
def _served(
    store: Store, path: NodePath, option: Options, show_as: str | None, follow_links: bool, mode: Literal["r", "r+"]
) -> Iterator[tuple[Any, str, Literal["v3"] | None]]:
    """Return the store to serve, or its folder, and the path in it."""
    load_extra("starlette", "serve", "a server")
    if show_as not in (None, "v3"):
        raise typer.BadParameter(f"{show_as!r} is not v3", param_hint="--as")
    with parse_place(store, path, option).located(mode) as located:
        named: Any = located.store
        if isinstance(named, LocalStore) and not follow_links:
            named = named.root  # in a folder given by its path, links out of it are not followed
        yield named, located.path, cast("Literal['v3'] | None", show_as)


def _listen(app: Any, host: str, port: int | None) -> serving.Server:
    """Return a server at the given port; by default at the usual port, or at a free one."""
    if port is not None:
        return serving.Server(app, host, port)
    try:
        return serving.Server(app, host, serving.USUAL_PORT)
    except OSError:
        return serving.Server(app, host, 0)


# -------------------------------------------------------------------------------------------------------------- sizes


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
    size = stored = 0
    for key, nbytes in sizes_of(array.store, keys_of(array)):
        size, stored = size + nbytes, stored + (array._handle.layout.coords_of(key) is not None)
    return {"bytes_stored": size, f"{unit}_stored": stored, f"{unit}_total": array._nshards}


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
    say_result(as_json, described, columns([(name, text) for name, text in _rows(described) if text]))


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
    is_array: dict[str, bool] = {}
    for name, member in walk(node):
        is_array[name] = isinstance(member, Array)
        if depth is None or _depth(name) <= depth:
            sizes[name] = 0
    for name, size in _key_sizes(node):
        above = ancestors(name)
        is_document = above[0] in is_array and name.rpartition("/")[2] in METADATA_NAMES
        if is_document or any(is_array.get(path) for path in above):
            for path in above:
                if path in sizes:
                    sizes[path] += size
    return sizes, {name for name in sizes if not is_array[name]}


def _key_sizes(node: Array[Any] | Group) -> Iterator[tuple[str, int]]:
    """Return the stored keys below a node, relative to it, with their sizes."""
    start = len(node.path) + 1 if node.path else 0
    return ((key[start:], size) for key, size in sizes_of(node.store, keys_of(node)))
