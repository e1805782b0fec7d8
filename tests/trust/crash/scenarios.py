"""What the writer does when it is hit: for each scenario, what was there before and the operation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import zarr
from zarr.storage import LocalStore, SQLiteStore, ZipStore

OLD = np.arange(10, dtype="int32") + 1
NEW = np.arange(10, dtype="int32") + 101


class Scenario(NamedTuple):
    """One operation, and how much of it may be seen by itself."""

    prepare: Callable[[Any], object]
    act: Callable[[Any], object]
    piecewise: bool = False
    """Whether each stored value may be old or new by itself, as in a write to many chunks."""


def open_store(kind: str, folder: Path, fsync: bool = False) -> Any:
    """The store of a kind, in a folder."""
    if kind == "local":
        return LocalStore(folder / "data.zarr", fsync=fsync)
    if kind == "zip":
        return ZipStore(folder / "data.zip", mode="a", fsync=fsync)
    if kind == "sqlite":
        return SQLiteStore(folder / "data.sqlite")
    from zarr.storage import LMDBStore  # an optional package

    return LMDBStore(folder / "data.lmdb", map_size=1 << 22)


def _array(store: Any, **parameters: Any) -> Any:
    return zarr.create_array(store, name="g/x", data=OLD, chunks=(4,), **parameters)


def _sharded(store: Any) -> Any:
    return zarr.create_array(store, name="g/x", data=OLD, chunks=(2,), shards=(4,))


def _plane(store: Any) -> Any:
    data = np.arange(1, 61, dtype="int16").reshape(6, 10)
    return zarr.create_array(store, name="g/x", data=data, chunks=(4, 4))


def _group(store: Any) -> Any:
    _array(store)
    group = zarr.open_group(store, path="g")
    group.create_array("below/y", data=OLD, chunks=(4,))
    group.update_attributes({"old": 1})
    return group


def _x(store: Any) -> Any:
    return zarr.open_array(store, path="g/x", mode="r+")


def _write(store: Any) -> None:
    _x(store)[:] = NEW


def _write_part(store: Any) -> None:
    _x(store)[1:3] = NEW[1:3]


def _append_in_batch(store: Any) -> None:
    array = _x(store)
    with contextlib.suppress(KeyError), array.batch():
        array.append(NEW)
        raise KeyError("an error ends the batch")


def _append_in_group_batch(store: Any) -> None:
    group = zarr.open_group(store, path="g", mode="r+")
    with group.batch():
        group["x"].append(NEW)


def _hierarchy(store: Any) -> None:
    like = zarr.create_array({}, data=OLD, chunks=(4,)).metadata
    group = zarr.create_group({}).metadata
    zarr.create_hierarchy(store=store, nodes={"g": group, "g/a": group, "g/a/x": like, "g/y": like}, overwrite=True)


def _consolidate(store: Any) -> None:
    zarr.consolidate_metadata(store, path="g")


def _transaction(store: Any) -> None:
    with zarr.transaction(store) as tx:
        root = tx.group()
        root["g/x"].append(NEW)
        root["g/below/y"].resize((3,))
        root["g"].attrs["new"] = 1
        root.create_array("h", data=OLD, chunks=(4,))
        root.create_array("g/below/y2", data=OLD, chunks=(4,))


def _transaction_anew(store: Any) -> None:
    with zarr.transaction(store) as tx:
        zarr.create_array(tx, name="g/x", data=NEW * 2, chunks=(3,), overwrite=True)
        zarr.create_group(tx, path="g/below", overwrite=True)


SCENARIOS: dict[str, Scenario] = {
    "write": Scenario(_array, _write, piecewise=True),
    "write_shards": Scenario(_sharded, _write, piecewise=True),
    "write_part": Scenario(_array, _write_part),
    "write_part_of_shard": Scenario(_sharded, _write_part),
    "append": Scenario(_array, lambda store: _x(store).append(NEW)),
    "append_shards": Scenario(_sharded, lambda store: _x(store).append(NEW)),
    "append_in_batch": Scenario(_array, _append_in_batch),
    "append_in_batch_of_shards": Scenario(_sharded, _append_in_group_batch),
    "append_columns": Scenario(_plane, lambda store: _x(store).append(np.ones((6, 5), "int16"), axis=1)),
    "shrink": Scenario(_array, lambda store: _x(store).resize((3,))),
    "shrink_plane": Scenario(_plane, lambda store: _x(store).resize((3, 5))),
    "grow": Scenario(_array, lambda store: _x(store).resize((23,))),
    "recreate": Scenario(
        _array, lambda store: zarr.create_array(store, name="g/x", shape=5, dtype="i1", overwrite=True)
    ),
    "recreate_with_data": Scenario(
        _array, lambda store: zarr.create_array(store, name="g/x", data=NEW * 2, chunks=(3,), overwrite=True)
    ),
    "recreate_group": Scenario(
        _group, lambda store: zarr.create_group(store, path="g", overwrite=True, attributes={"new": 1})
    ),
    "recreate_root": Scenario(_group, lambda store: zarr.create_array(store, data=NEW, chunks=(3,), overwrite=True)),
    "recreate_hierarchy": Scenario(_group, _hierarchy),
    "create": Scenario(_group, lambda store: zarr.create_array(store, name="g/new/z", shape=5, dtype="i1")),
    "create_with_data": Scenario(_group, lambda store: zarr.create_array(store, name="g/z", data=NEW, chunks=(4,))),
    "create_in_nothing": Scenario(
        lambda store: None, lambda store: zarr.create_array(store, name="a/b", data=NEW, chunks=(4,))
    ),
    "create_root": Scenario(lambda store: None, lambda store: zarr.create_array(store, data=NEW, chunks=(4,))),
    "create_format_2": Scenario(
        _group,
        lambda store: zarr.create_array(
            store, name="h/z", data=NEW, chunks=(4,), zarr_format=2, attributes={"unit": "m"}
        ),
    ),
    "create_group": Scenario(
        _group, lambda store: zarr.create_group(store, path="g/h/i", attributes={"new": 1})
    ),
    "attributes": Scenario(_array, lambda store: _x(store).update_attributes({"new": [1, 2]})),
    "group_attributes": Scenario(
        _group, lambda store: zarr.open_group(store, path="g").update_attributes({"new": [1, 2]})
    ),
    "consolidate": Scenario(_group, _consolidate),
    "delete": Scenario(_group, lambda store: zarr.open_group(store).__delitem__("g")),
    "delete_array": Scenario(_group, lambda store: zarr.open_group(store, path="g").__delitem__("x")),
    "transaction": Scenario(_group, _transaction),
    "transaction_anew": Scenario(_group, _transaction_anew),
}
