"""A user's work with icechunk: versioned stores, transactions, references into other files."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr

if TYPE_CHECKING:
    from pathlib import Path

icechunk = pytest.importorskip("icechunk", reason="icechunk is not installed")

DATA = np.random.default_rng(2).normal(size=(50, 40))


@pytest.fixture
def repo(tmp_path: Path) -> Any:
    return icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repo")))


def fill(store: Any, **options: Any) -> zarr.Array[Any]:
    root = zarr.create_group(store, attributes={"title": "weather"})
    array = root.create_array("deep/values", shape=DATA.shape, chunks=(20, 15), dtype="f8", **options)
    array[...] = DATA
    return array


@pytest.mark.parametrize("options", [{}, {"shards": (40, 30)}], ids=["plain", "sharded"])
def test_write_commit_read(repo: Any, options: dict[str, Any]) -> None:
    session = repo.writable_session("main")
    fill(session.store, **options)
    session.commit("first")
    group = zarr.open_group(repo.readonly_session("main").store, mode="r")
    array: Any = group["deep/values"]
    assert group.attrs["title"] == "weather"
    assert [name for name, _ in group.members(max_depth=None)] == ["deep", "deep/values"]
    np.testing.assert_array_equal(array[:], DATA)
    np.testing.assert_array_equal(array[13:45:4, 7], DATA[13:45:4, 7])
    np.testing.assert_array_equal(array.oindex[[49, 0], [3, 38]], DATA[np.ix_([49, 0], [3, 38])])


def test_old_versions_keep_their_values(repo: Any) -> None:
    session = repo.writable_session("main")
    fill(session.store)
    before = session.commit("first")
    session = repo.writable_session("main")
    array = zarr.open_array(session.store, path="deep/values")
    array[10:20] = -1
    array.resize((60, 40))
    array.attrs["changed"] = True
    session.commit("second")
    new = zarr.open_array(repo.readonly_session("main").store, path="deep/values", mode="r")
    old = zarr.open_array(repo.readonly_session(snapshot_id=before).store, path="deep/values", mode="r")
    assert (new.shape, old.shape) == ((60, 40), (50, 40))
    assert (dict(new.attrs), dict(old.attrs)) == ({"changed": True}, {})
    np.testing.assert_array_equal(new[5:15], np.concatenate([DATA[5:10], np.full((5, 40), -1.0)]))
    np.testing.assert_array_equal(old[:], DATA)


def test_a_read_only_session_refuses_writing(repo: Any) -> None:
    session = repo.writable_session("main")
    fill(session.store)
    session.commit("first")
    array = zarr.open_array(repo.readonly_session("main").store, path="deep/values", mode="r")
    with pytest.raises(ValueError, match=r"read.?only"):
        array[0] = 1


def test_deleting_and_overwriting(repo: Any) -> None:
    session = repo.writable_session("main")
    fill(session.store)
    root = zarr.open_group(session.store)
    root.create_array("other", data=DATA[:3])
    del root["deep"]
    assert list(root) == ["other"]
    root.create_array("other", data=DATA[:5], overwrite=True)
    session.commit("second")
    again = zarr.open_group(repo.readonly_session("main").store, mode="r")
    np.testing.assert_array_equal(again["other"][:], DATA[:5])  # type: ignore[index]
    assert "deep" not in again


def test_virtual_chunks_of_a_foreign_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "raw.bin").write_bytes(DATA.tobytes())
    url = f"file://{tmp_path}/data/"
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(
        icechunk.VirtualChunkContainer(url, icechunk.local_filesystem_store(str(tmp_path / "data")))
    )
    repo = icechunk.Repository.create(
        icechunk.in_memory_storage(), config=config, authorize_virtual_chunk_access={url: None}
    )
    store = repo.writable_session("main").store
    array = zarr.create_array(
        store, name="v", shape=DATA.shape, chunks=(25, 40), dtype="f8", compressors=None, filters=None
    )
    half = DATA.nbytes // 2
    for row in range(2):
        store.set_virtual_ref(f"v/c/{row}/0", f"{url}raw.bin", offset=row * half, length=half)
    np.testing.assert_array_equal(array[:], DATA)


def test_distributed_writing(repo: Any) -> None:
    """Sessions travel to workers and come back merged."""
    session = repo.writable_session("main")
    fill(session.store)
    session.commit("first")
    session = repo.writable_session("main")
    fork = session.fork()
    parts = []
    for row in range(2):
        worker = pickle.loads(pickle.dumps(fork))
        zarr.open_array(worker.store, path="deep/values", mode="r+")[20 * row : 20 * row + 20] = row + 1
        parts.append(worker)
    session.merge(*parts)
    session.commit("merged")
    array: Any = zarr.open_array(repo.readonly_session("main").store, path="deep/values", mode="r")
    np.testing.assert_array_equal(array[15:25, 0], [1] * 5 + [2] * 5)
    np.testing.assert_array_equal(array[40:], DATA[40:])


async def test_async_faces(repo: Any) -> None:
    session = repo.writable_session("main")
    group = await zarr.api.asynchronous.create_group(store=session.store)
    array = await group.create_array("x", shape=DATA.shape, chunks=(20, 15), dtype="f8")
    await array.setitem(Ellipsis, DATA)
    np.testing.assert_array_equal(await array.getitem((slice(3, 33), 5)), DATA[3:33, 5])
    assert [name async for name in group.keys()] == ["x"]  # noqa: SIM118


def test_an_array_outlives_pickling(repo: Any) -> None:
    session = repo.writable_session("main")
    fill(session.store)
    session.commit("first")
    array = zarr.open_array(repo.readonly_session("main").store, path="deep/values", mode="r")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[:], DATA)
