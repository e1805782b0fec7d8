"""The commands for attributes: ``attrs get``, ``set`` and ``unset``."""

from __future__ import annotations

from typing import Annotated

import typer

from zarr._cli.answers import say, say_json
from zarr._cli.arguments import AsJson, Options, Store, parse_pairs, parse_place

Key = Annotated[str | None, typer.Argument(help="The name of an attribute; by default all.")]
Keys = Annotated[list[str], typer.Argument(help="Names of attributes.")]
Pairs = Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", help="Values are JSON if they can be, else text.")]


def get(store: Store, key: Key = None, option: Options = None, as_json: AsJson = False) -> None:
    """Print the attributes of a node, or one of them; text without quotes, all else as JSON."""
    place = parse_place(store, None, option)
    with place.opened() as node:
        found = dict(node.attrs)
    if key is None:
        say_json(found)
        return
    if key not in found:
        raise KeyError(f"{place} has no attribute {key!r}; it has {', '.join(map(repr, found)) or 'none'}")
    value = found[key]
    if isinstance(value, str) and not as_json:
        say(value)
    else:
        say_json(value)


def change(store: Store, pairs: Pairs, option: Options = None) -> None:
    """Set attributes of a node; those that are not named stay."""
    place, changes = parse_place(store, None, option), parse_pairs(pairs, "KEY=VALUE")
    with place.opened("r+") as node:
        node.attrs.update(changes)


def unset(store: Store, keys: Keys, option: Options = None) -> None:
    """Remove attributes of a node; if one is not there, nothing is changed."""
    place = parse_place(store, None, option)
    with place.opened("r+") as node:
        missing = [key for key in keys if key not in node.attrs]
        if missing:
            names = ", ".join(map(repr, missing))
            raise KeyError(f"{place} has no attribute {names}; zarr attrs get {place} lists them")
        for key in dict.fromkeys(keys):
            del node.attrs[key]
