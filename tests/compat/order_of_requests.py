"""Programs over a store that is not of any library, and the order in which it is asked to change something.

Run as a script by zarr-python's interpreter it prints what is recorded in ``tests/data/order_of_requests.json``.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import groupby
from typing import Any

import numpy as np

import zarr
from zarr.abc.store import Store

DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


class NotingStore(Store):
    """A store as others write them: coroutines over a dict; notes every request that changes it."""

    supports_writes = True
    supports_deletes = True
    supports_listing = True

    def __init__(self, values: dict[str, Any] | None = None, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self.values: dict[str, Any] = {} if values is None else values
        self.requests: list[tuple[str, str]] = []
        self.refused = ""
        """A key that can be neither set nor deleted."""

    def _note(self, verb: str, key: str) -> None:
        self.requests.append((verb, key))
        if key == self.refused:
            raise KeyError(f"no {verb} of {key}")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def with_read_only(self, read_only: bool = False) -> Any:
        other = type(self)(self.values, read_only=read_only)
        other.requests = self.requests
        return other

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        value = self.values.get(key)
        if value is None or byte_range is None:
            return value
        data = value.to_bytes()
        start = getattr(byte_range, "start", getattr(byte_range, "offset", None))
        if start is None:
            return prototype.buffer.from_bytes(data[-byte_range.suffix :])
        return prototype.buffer.from_bytes(data[start : getattr(byte_range, "end", None)])

    async def get_partial_values(self, prototype: Any, key_ranges: Iterable[Any]) -> list[Any]:
        return [await self.get(key, prototype, part) for key, part in key_ranges]

    async def exists(self, key: str) -> bool:
        return key in self.values

    async def set(self, key: str, value: Any) -> None:
        self._note("set", key)
        self.values[key] = value

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        if key not in self.values:
            await self.set(key, value)

    async def delete(self, key: str) -> None:
        self._note("delete", key)
        self.values.pop(key, None)

    async def delete_dir(self, prefix: str) -> None:
        prefix = prefix.rstrip("/")
        self.requests.append(("delete all", prefix))
        for key in [key for key in self.values if not prefix or key.startswith(f"{prefix}/")]:
            del self.values[key]

    async def list(self) -> AsyncIterator[str]:
        for key in list(self.values):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in list(self.values):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        folder = f"{prefix.rstrip('/')}/" if prefix else ""
        for name in dict.fromkeys(key[len(folder) :].split("/")[0] for key in self.values if key.startswith(folder)):
            yield name


def _array(store: Store, **parameters: Any) -> Any:
    return zarr.create_array(store, name="x", data=np.arange(1, 11, dtype="i4"), chunks=(3,), **parameters)


def _tree(store: Store) -> Any:
    root = zarr.create_group(store)
    root.create_group("g")
    root.create_array("g/x", data=np.arange(1, 5, dtype="i4"), chunks=(2,))
    return root


def _consolidated(store: Store) -> Any:
    root = _tree(store)
    zarr.consolidate_metadata(store)
    return root


def _x(store: Store) -> Any:
    return zarr.open_array(store, path="x", mode="r+")


def _async_append(store: Store) -> None:
    async def run() -> None:
        array = await zarr.api.asynchronous.open_array(store=store, path="x", mode="r+")
        await array.append(np.ones(5, "i4"))

    asyncio.run(run())


def _failing(store: Any, act: Callable[[], object]) -> None:
    """Run what fails at the chunk 3 of the array x."""
    store.refused = "x/c/3"
    try:
        act()
    except KeyError:
        return
    raise AssertionError("nothing failed")


def _nothing(store: Store) -> None:
    pass


PROGRAMS: dict[str, tuple[Callable[[Any], object], Callable[[Any], object]]] = {
    "create group": (_nothing, zarr.create_group),
    "create group below": (_nothing, lambda s: zarr.create_group(s, path="a/b")),
    "open group, mode a": (_nothing, lambda s: zarr.open_group(s, mode="a")),
    "open group, mode w": (_tree, lambda s: zarr.open_group(s, path="g", mode="w")),
    "require group": (_tree, lambda s: zarr.open_group(s).require_group("h/i")),
    "require array": (_tree, lambda s: zarr.open_group(s).require_array("y", shape=(4,), chunks=(2,), dtype="i4")),
    "create array": (_nothing, lambda s: zarr.create_array(s, name="x", shape=(4,), chunks=(2,), dtype="i4")),
    "create array, format 2": (
        _nothing,
        lambda s: zarr.create_array(
            s, name="x", shape=(4,), chunks=(2,), dtype="i4", zarr_format=2, attributes={"u": 1}
        ),
    ),
    "create array with data": (_nothing, _array),
    "create array with data below": (
        _nothing, lambda s: zarr.create_array(s, name="a/x", data=np.ones(4, "i4"), chunks=(2,))
    ),
    "overwrite array": (
        _array, lambda s: zarr.create_array(s, name="x", shape=(4,), chunks=(2,), dtype="i4", overwrite=True)
    ),
    "overwrite array with data": (_array, lambda s: _array(s, overwrite=True)),
    "open array, mode w": (_array, lambda s: zarr.open_array(s, path="x", mode="w", shape=(2,), dtype="i4")),
    "save array": (_nothing, lambda s: zarr.save_array(s, np.ones(4, "i4"), path="x")),
    "save group": (_nothing, lambda s: zarr.save_group(s, a=np.ones(4, "i4"))),
    "array from data": (_nothing, lambda s: zarr.array(np.ones(4, "i4"), store=s, path="x", chunks=(2,))),
    "from array": (
        _array, lambda s: zarr.from_array(s, name="y", data=zarr.open_array(s, path="x", mode="r"), chunks=(3,))
    ),
    "write": (_array, lambda s: _x(s).__setitem__(slice(0, 6), 7)),
    "write fill value": (_array, lambda s: _x(s).__setitem__(slice(0, 3), 0)),
    "grow": (_array, lambda s: _x(s).resize((20,))),
    "shrink": (_array, lambda s: _x(s).resize((4,))),
    "shrink to a whole chunk": (_array, lambda s: _x(s).resize((3,))),
    "append": (_array, lambda s: _x(s).append(np.ones(5, "i4"))),
    "append by coroutines": (_array, _async_append),
    "attributes of an array": (_array, lambda s: _x(s).attrs.update({"a": 1})),
    "attributes of a group": (_tree, lambda s: zarr.open_group(s).attrs.update({"a": 1})),
    "delete array": (_tree, lambda s: zarr.open_group(s).__delitem__("g/x")),
    "delete chunks by a write": (_array, lambda s: _x(s).__setitem__(slice(None), 0)),
    "delete group": (_tree, lambda s: zarr.open_group(s).__delitem__("g")),
    "create group again": (_tree, lambda s: zarr.create_group(s, path="g", overwrite=True)),
    "failed append": (_array, lambda s: _failing(s, lambda: _x(s).append(np.ones(5, "i4")))),
    "failed shrink": (_array, lambda s: _failing(s, lambda: _x(s).resize((2,)))),
    "create hierarchy": (
        _nothing,
        lambda s: dict(
            zarr.create_hierarchy(
                store=s, nodes={"g": zarr.core.group.GroupMetadata(), "g/h": zarr.core.group.GroupMetadata()}
            )
        ),
    ),
    "consolidate": (_tree, zarr.consolidate_metadata),
    "create array under a consolidated group": (
        _consolidated, lambda s: zarr.open_group(s).create_array("y", shape=(4,), chunks=(2,), dtype="i4")
    ),
    "delete array under a consolidated group": (_consolidated, lambda s: zarr.open_group(s).__delitem__("g/x")),
    "resize under a consolidated group": (
        _consolidated, lambda s: zarr.open_array(s, path="g/x", mode="r+").resize((8,))
    ),
}


def in_order(requests: list[tuple[str, str]]) -> list[str]:
    """Requests as text; those for chunks that follow each other may go in any order, and are sorted."""

    def kind(request: tuple[str, str]) -> tuple[str, str]:
        verb, key = request
        return (verb, key if key.endswith(DOCUMENTS) or verb == "delete all" else "")

    return [f"{verb} {key}" for _, run in groupby(requests, kind) for verb, key in sorted(run)]


def transcript(name: str) -> list[str]:
    """What a program asks a store to change."""
    prepare, act = PROGRAMS[name]
    store = NotingStore()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepare(store)
        store.requests.clear()
        act(store)
    return in_order(store.requests)


if __name__ == "__main__":
    print(json.dumps({name: transcript(name) for name in PROGRAMS}))
