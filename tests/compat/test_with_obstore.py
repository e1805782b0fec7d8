"""A user's work with obstore: local, in-memory and wrapped object stores under arrays and groups."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr
from zarr.storage import ObjectStore

if TYPE_CHECKING:
    from pathlib import Path

obstore = pytest.importorskip("obstore", reason="obstore is not installed")
stores = pytest.importorskip("obstore.store", reason="this obstore has no stores")

DATA = np.random.default_rng(6).normal(size=(50, 40)).astype("f4")


@pytest.fixture(params=["memory", "local", "prefixed"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        return stores.MemoryStore()
    folder = tmp_path if request.param == "local" else tmp_path / "below" / "deep"
    return stores.LocalStore(prefix=str(folder), mkdir=True)


@pytest.mark.parametrize("options", [{}, {"shards": (40, 30)}, {"zarr_format": 2}], ids=["plain", "sharded", "v2"])
def test_groups_and_arrays(backend: Any, options: dict[str, Any]) -> None:
    zarr_format: Any = options.get("zarr_format", 3)
    options = {name: value for name, value in options.items() if name != "zarr_format"}
    root = zarr.create_group(ObjectStore(backend), zarr_format=zarr_format, attributes={"a": 1})
    array = root.create_array("deep/values", shape=DATA.shape, chunks=(20, 15), dtype="f4", **options)
    array[:] = DATA
    array[3:9, 30:] = 0
    expected = DATA.copy()
    expected[3:9, 30:] = 0
    again = zarr.open_group(ObjectStore(backend, read_only=True), mode="r", zarr_format=zarr_format)
    assert dict(again.attrs) == {"a": 1}
    assert [name for name, _ in again.members(max_depth=None)] == ["deep", "deep/values"]
    np.testing.assert_array_equal(again["deep/values"][:], expected)  # type: ignore[index]
    np.testing.assert_array_equal(again["deep/values"][10:45:6, 17], expected[10:45:6, 17])  # type: ignore[index]


def test_changes(backend: Any) -> None:
    root = zarr.create_group(ObjectStore(backend))
    array = root.create_array("x", data=DATA, chunks=(20, 40))
    array.append(DATA[:5])
    array.resize((30, 40))
    array.attrs["unit"] = "m"
    np.testing.assert_array_equal(zarr.open_array(ObjectStore(backend), path="x")[:], DATA[:30])
    root.create_array("x", data=DATA[:2], overwrite=True)
    assert root["x"].shape == (2, 40)  # type: ignore[union-attr]
    del root["x"]
    assert list(root) == []


def test_consolidated(backend: Any) -> None:
    store = ObjectStore(backend)
    root = zarr.create_group(store)
    root.create_array("a/b", data=DATA)
    zarr.consolidate_metadata(store)
    opened = zarr.open_consolidated(store)
    np.testing.assert_array_equal(opened["a/b"][:3], DATA[:3])  # type: ignore[index]


def test_what_is_stored_are_plain_objects(backend: Any) -> None:
    zarr.create_array(ObjectStore(backend), name="x", data=DATA, chunks=(25, 40), compressors=None)
    paths = sorted(meta["path"] for batch in obstore.list(backend) for meta in batch)
    assert [path for path in paths if path.startswith("x/")] == ["x/c/0/0", "x/c/1/0", "x/zarr.json"]
    payload = bytes(obstore.get(backend, "x/c/1/0").bytes())
    np.testing.assert_array_equal(np.frombuffer(payload, "<f4").reshape(25, 40), DATA[25:])


def test_pickling(tmp_path: Path) -> None:
    store = ObjectStore(stores.LocalStore(prefix=str(tmp_path)))
    array = zarr.create_array(store, data=DATA, chunks=(20, 15))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[:], DATA)


async def test_async_faces(backend: Any) -> None:
    array = await zarr.api.asynchronous.create_array(
        ObjectStore(backend), shape=DATA.shape, chunks=(20, 15), dtype="f4"
    )
    await array.setitem(Ellipsis, DATA)
    np.testing.assert_array_equal(await array.getitem((slice(3, 33), 5)), DATA[3:33, 5])
