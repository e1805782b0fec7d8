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


@pytest.mark.parametrize("options", [{}, {"shards": (40, 30)}], ids=["plain", "sharded"])
def test_growing_shrinking_and_appending(repo: Any, options: dict[str, Any]) -> None:
    session = repo.writable_session("main")
    array = fill(session.store, **options)
    array.resize((90, 40))
    array.resize((33, 17))
    array.resize((50, 40))
    expected = np.zeros_like(DATA)
    expected[:33, :17] = DATA[:33, :17]
    np.testing.assert_array_equal(array[...], expected)
    array.append(DATA)
    array.append(np.ones((100, 3)), axis=1)
    session.commit("resized")
    again: Any = zarr.open_array(repo.readonly_session("main").store, path="deep/values", mode="r")
    expected = np.hstack([np.vstack([expected, DATA]), np.ones((100, 3))])
    np.testing.assert_array_equal(again[...], expected)


async def test_growing_and_appending_by_coroutines(repo: Any) -> None:
    session = repo.writable_session("main")
    array = await zarr.api.asynchronous.create_array(session.store, name="x", data=np.arange(10), chunks=(3,))
    await array.append(np.arange(7))
    await array.resize((4,))
    await array.resize((9,))
    np.testing.assert_array_equal(await array.getitem(Ellipsis), [0, 1, 2, 3, 0, 0, 0, 0, 0])


def test_xarray_appends_and_writes_regions(repo: Any) -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")

    def days(start: int, count: int) -> Any:
        values = np.arange(start * 5, (start + count) * 5, dtype="f8").reshape(count, 5)
        return xarray.Dataset({"v": (("t", "y"), values)}, coords={"t": np.arange(start, start + count)})

    session = repo.writable_session("main")
    days(0, 6).to_zarr(session.store, mode="w", consolidated=False, encoding={"v": {"chunks": (3, 5)}})
    session.commit("first")
    for start in (6, 12):
        session = repo.writable_session("main")
        days(start, 6).to_zarr(session.store, append_dim="t", consolidated=False)
        session.commit("appended")
    session = repo.writable_session("main")
    (-days(3, 3)).drop_vars("t").to_zarr(session.store, region={"t": slice(3, 6)}, consolidated=False)
    session.commit("region")
    expected = days(0, 18)["v"].values
    expected[3:6] *= -1
    found = xarray.open_zarr(repo.readonly_session("main").store, consolidated=False)
    np.testing.assert_array_equal(found["v"].values, expected)
    np.testing.assert_array_equal(found["t"].values, np.arange(18))


def test_an_append_is_shared_among_workers(repo: Any) -> None:
    session = repo.writable_session("main")
    fill(session.store)
    session.commit("first")
    session = repo.writable_session("main")
    zarr.open_array(session.store, path="deep/values").resize((90, 40))
    with pytest.raises(ValueError, match="uncommitted"):
        session.fork()
    session.commit("grown")
    session = repo.writable_session("main")
    workers = [pickle.loads(pickle.dumps(session.fork())) for _ in range(2)]
    for number, worker in enumerate(workers):
        rows = slice(60, 80) if number else slice(50, 60)
        zarr.open_array(worker.store, path="deep/values", mode="r+")[rows] = number + 1
    session.merge(*workers)
    session.commit("merged")
    array: Any = zarr.open_array(repo.readonly_session("main").store, path="deep/values", mode="r")
    np.testing.assert_array_equal(array[48:84:4, 0], [DATA[48, 0], 1, 1, 2, 2, 2, 2, 2, 0])


def test_transactions_moves_and_copies(repo: Any) -> None:
    session = repo.writable_session("main")
    array = fill(session.store)
    with zarr.transaction(session.store) as changes:
        changes.group()["deep/values"].append(DATA[:9])
        changes.group().create_array("new", data=DATA[0], chunks=(7,))
    root = zarr.open_group(session.store)
    root.move("deep", "deeper")
    zarr.copy(root["deeper/values"], root, name="copy")
    zarr.create_group(session.store, path="deeper", overwrite=True)
    session.commit("changed")
    assert array.shape == (50, 40), "of a handle that was opened before"
    again: Any = zarr.open_group(repo.readonly_session("main").store, mode="r")
    np.testing.assert_array_equal(again["copy"][...], np.vstack([DATA, DATA[:9]]))
    np.testing.assert_array_equal(again["new"][...], DATA[0])
    assert sorted(again.keys()) == ["copy", "deeper", "new"]


def test_changes_that_fail_end_and_leave_the_handle_as_the_store_is(repo: Any) -> None:
    session = repo.writable_session("main")
    array = fill(session.store)
    session.commit("first")
    read_only = zarr.open_array(repo.readonly_session("main").store, path="deep/values")
    for _ in range(200):
        with pytest.raises(Exception, match=r"read.?only|commit"):
            array.append(DATA)
        with pytest.raises(ValueError, match=r"read.?only"):
            read_only.append(DATA)
    assert array.shape == read_only.shape == (50, 40)
