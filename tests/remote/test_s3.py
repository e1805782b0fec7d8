"""A user's work on S3, through s3fs and through obstore; the service is moto's, started here on the loopback."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import logging
import multiprocessing
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.buffer.core import default_buffer_prototype
from zarr.runners.sync import sync
from zarr.storage import FsspecStore, ObjectStore
from zarr.tools import verify

moto_server = pytest.importorskip("moto.server", reason="moto, which stands in for S3, is not installed")
botocore_session = pytest.importorskip("botocore.session", reason="botocore is not installed")
logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line for each request

pytestmark = pytest.mark.slow

KEYS = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
VALUES = np.arange(60 * 50, dtype="f4").reshape(60, 50)
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    responses = importlib.import_module("moto.s3.responses").S3Response
    put, one = responses.put_object, threading.Lock()

    def put_alone(response: Any) -> Any:
        """A condition and the change are one step in S3; in moto's threads they are two."""
        with one:
            return put(response)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(responses, "put_object", put_alone)
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


@pytest.fixture
def bucket(endpoint: str) -> str:
    name = f"bucket-{os.getpid()}-{next(NUMBERS)}"
    client = botocore_session.Session().create_client("s3", endpoint_url=endpoint, region_name="us-east-1", **KEYS)
    client.create_bucket(Bucket=name)
    return name


def s3fs_options(endpoint: str) -> dict[str, Any]:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    client = {"endpoint_url": endpoint, "region_name": "us-east-1"}
    return {"key": "nobody", "secret": "nothing", "client_kwargs": client, "skip_instance_cache": True}


Make = Callable[..., Any]


@pytest.fixture(params=["s3fs", "obstore"])
def make(request: pytest.FixtureRequest, endpoint: str, bucket: str) -> Make:
    """Makes a store of the bucket, a new one each time."""
    if request.param == "s3fs":
        options = s3fs_options(endpoint)
        return lambda **more: FsspecStore.from_url(f"s3://{bucket}/data", storage_options=options, **more)
    stores = pytest.importorskip("obstore.store", reason="obstore is not installed")
    config = {**KEYS, "aws_region": "us-east-1", "aws_endpoint": endpoint}
    options = {"prefix": "data", "config": config, "client_options": {"allow_http": True}}
    return lambda **more: ObjectStore(stores.S3Store(bucket, **options), **more)


@pytest.mark.parametrize("layout", [{}, {"shards": (40, 50)}, {"zarr_format": 2}], ids=["plain", "sharded", "v2"])
def test_write_change_read(make: Make, layout: dict[str, Any]) -> None:
    options = {"shape": (60, 50), "chunks": (20, 25), "dtype": "f4", **layout}
    array = zarr.create_array(make(), name="deep/values", attributes={"unit": "K"}, **options)
    array[...] = VALUES
    array[3:30, 10] = -1
    array.append(VALUES[:7])
    expected = np.concatenate([VALUES, VALUES[:7]])
    expected[3:30, 10] = -1
    again = zarr.open_array(make(read_only=True), path="deep/values", mode="r")
    np.testing.assert_array_equal(again[...], expected)
    np.testing.assert_array_equal(again[15:45:7, 9:11], expected[15:45:7, 9:11])
    np.testing.assert_array_equal(again.oindex[[1, 66], [0, 49]], expected[np.ix_([1, 66], [0, 49])])
    assert dict(again.attrs) == {"unit": "K"}
    array.resize((10, 50))
    np.testing.assert_array_equal(zarr.open_array(make(), path="deep/values")[...], expected[:10])
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 0


def test_groups_list_consolidate_delete(make: Make) -> None:
    root = zarr.create_group(make(), attributes={"title": "S3"})
    for name in ("a", "b/c", "b/d"):
        root.create_array(name, data=VALUES, chunks=(30, 50))
    assert sorted(name for name, _ in root.members(max_depth=None)) == ["a", "b", "b/c", "b/d"]
    with warnings.catch_warnings(action="ignore"):
        zarr.consolidate_metadata(make())
    found = zarr.open_consolidated(make(read_only=True), mode="r")
    assert sorted(name for name, _ in found.members(max_depth=None)) == ["a", "b", "b/c", "b/d"]
    np.testing.assert_array_equal(found["b/d"][29:31], VALUES[29:31])  # type: ignore[index]
    del root["b"]
    assert list(zarr.open_group(make(), mode="r", use_consolidated=False)) == ["a"]
    root.create_array("a", data=VALUES[:2], overwrite=True)
    assert zarr.open_array(make(), path="a").shape == (2, 50)
    with pytest.raises(FileNotFoundError):
        zarr.open_array(make(), path="nowhere", mode="r")


def test_tools(make: Make) -> None:
    root = zarr.create_group({})
    root.create_array("a", data=VALUES, chunks=(1, 50), attributes={"unit": "K"})
    remote = zarr.tools.rechunk(root, make(), chunks=(60, 1), memory=2 * 60 * 8 * 4)
    assert remote["a"].chunks == (60, 1)
    assert zarr.tools.checksum(remote) == zarr.tools.checksum(root)
    assert zarr.tools.verify(make())
    back = zarr.tools.copy(make(), {})
    np.testing.assert_array_equal(back["a"][...], VALUES)
    assert [found.aspect for found in zarr.tools.diff(root, back)] == ["chunks"]
    (found,) = zarr.tools.stats(remote)
    assert (found.max, found.chunks_stored) == (VALUES.max(), 50)


def test_missing_chunks_and_fill(make: Make) -> None:
    array = zarr.create_array(make(), shape=(40,), chunks=(10,), dtype="i4", fill_value=7)
    array[10:20] = 1
    array[:10] = 7
    assert array.nchunks_initialized == 1
    assert array[...].tolist() == [7] * 10 + [1] * 10 + [7] * 20


def test_many_at_once(make: Make) -> None:
    root = zarr.create_group(make())
    arrays = [root.create_array(f"x{i}", data=VALUES + i, chunks=(20, 25)) for i in range(4)]

    async def read_all() -> list[Any]:
        return await asyncio.gather(*(array.async_array.getitem(slice(5, 45)) for array in arrays))

    for i, got in enumerate(asyncio.run(read_all())):
        np.testing.assert_array_equal(got, VALUES[5:45] + i)
    for i, got in enumerate(zarr.read_many([(array, (0, slice(0, 9))) for array in arrays])):
        np.testing.assert_array_equal(got, VALUES[0, :9] + i)
    again = pickle.loads(pickle.dumps(arrays[2]))
    np.testing.assert_array_equal(again[:3], VALUES[:3] + 2)


def test_what_another_process_changed_is_listed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """fsspec keeps listings until its own file system changes something; another one is another process."""
    mine, theirs = make(), make()
    root = zarr.create_group(mine)
    root.create_array("x", shape=(8,), chunks=(8,), dtype="i8", compressors=None)[:] = 1
    assert sorted(root.array_keys()) == ["x"]
    other = zarr.open_group(theirs)
    other.create_array("y", data=VALUES, chunks=(60, 50))
    other.create_array("x", data=VALUES[0], chunks=(50,), compressors=None, overwrite=True)
    assert sorted(root.array_keys()) == ["x", "y"]
    assert asyncio.run(mine.getsize("x/c/0")) == VALUES[0].nbytes
    assert verify(mine)
    del other["y"]
    assert not asyncio.run(mine.exists("y/zarr.json"))
    assert sorted(root.array_keys()) == ["x"]
    monkeypatch.setattr("zarr.storage.remote.fsspec._SECONDS_OF_SIZES", 0)
    other.create_array("x", data=VALUES[0, :3], overwrite=True, compressors=None)
    assert asyncio.run(mine.getsize("x/c/0")) == VALUES[0, :3].nbytes


@pytest.mark.parametrize("layout", [{}, {"shards": (40, 50)}], ids=["plain", "sharded"])
def test_by_url(endpoint: str, bucket: str, layout: dict[str, Any]) -> None:
    options = s3fs_options(endpoint)
    url = f"s3://{bucket}/by/url.zarr"
    array = zarr.create_array(
        url, shape=(60, 50), chunks=(20, 25), dtype="f4", storage_options=options, **layout
    )
    array[...] = VALUES
    np.testing.assert_array_equal(zarr.open(url, mode="r", storage_options=options)[50:], VALUES[50:])
    with pytest.raises(FileNotFoundError):
        zarr.open(f"s3://{bucket}/by/typo", mode="r", storage_options=options)


def test_the_command_line(endpoint: str, bucket: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("typer", reason="the command line needs the extra cli")
    from zarr._cli.cli import main

    client = json.dumps({"endpoint_url": endpoint, "region_name": "us-east-1"})
    options = ["key=nobody", "secret=nothing", f"client_kwargs={client}"]
    source, dest = [[word for each in options for word in (f"--{name}", each)] for name in ("option", "dest-option")]
    zarr.open_group(tmp_path / "data.zarr", mode="w").create_array("a/x", data=VALUES, chunks=(20, 50))
    url = f"s3://{bucket}/data.zarr"
    assert main(["copy", str(tmp_path / "data.zarr"), url, *dest]) == 0
    capsys.readouterr()
    assert main(["tree", url, *source]) == 0
    assert capsys.readouterr().out == "/\n└── a\n    └── x (60, 50) float32\n"
    assert main(["move", f"{url}::a/x", "::y", *source]) == 0
    assert main(["cat", f"{url}::y", "--select", "1,:2", "--json", *source]) == 0
    assert capsys.readouterr().out == "[50.0, 51.0]\n"
    assert main(["copy", f"{url}::y", str(tmp_path / "y.zarr"), *source]) == 0
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y.zarr", mode="r")[:], VALUES)
    assert main(["rm", url, "--yes", *source]) == 0
    capsys.readouterr()
    assert main(["ls", url, *source]) == 1
    assert capsys.readouterr().err.startswith("zarr: No array or group found")
    assert main(["ls", "s3://no-such-bucket-here/x", *source]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_group_is_removed_by_one_listing(endpoint: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    store = FsspecStore.from_url(f"s3://{bucket}/one", storage_options=s3fs_options(endpoint))
    group = zarr.create_group(store)
    for name in ("a", "*[x]"):  # characters of patterns are those of a key
        group.create_array(f"g/{name}", shape=10, chunks=1, dtype="i4")[:] = 1
    calls: list[str] = []
    call = s3fs.S3FileSystem._call_s3

    async def noting(self: Any, method: str, *args: Any, **options: Any) -> Any:
        calls.append(method)
        return await call(self, method, *args, **options)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", noting)
    del group["g"]
    assert [name for name in calls if name != "get_object"] == ["list_objects_v2", "delete_objects", "delete_objects"]
    assert list(group) == []
    assert sync(_keys(store)) == ["zarr.json"]
    calls.clear()
    sync(store.clear())
    assert calls == ["list_objects_v2", "delete_objects"]
    assert sync(_keys(store)) == []


async def _keys(store: Any) -> list[str]:
    return [key async for key in store.list()]


def _change_rows(store: Any, number: int, rounds: int) -> None:
    """Write every fourth row of all chunks, and an attribute, again and again; run in a process of its own."""
    group = zarr.open_group(store, mode="r+")
    for i in range(1, rounds + 1):
        for name in ("plain", "sharded"):
            group[name][number::4] = 10 * i + number
        group["plain"].attrs[f"{number}-{i}"] = i
        group.attrs[f"{number}-{i}"] = i
        group["log"].append(np.full(3, 10 * i + number, dtype="i4"))


def test_a_value_is_created_by_one_request(endpoint: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")
    store = FsspecStore.from_url(f"s3://{bucket}/data", storage_options=s3fs_options(endpoint))
    group = zarr.create_group(store)
    calls: list[str] = []
    call_s3 = s3fs.S3FileSystem._call_s3

    async def noted(self: Any, method: str, *args: Any, **options: Any) -> Any:
        calls.append(f"{method} {options.get('Key', '')}")
        return await call_s3(self, method, *args, **options)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", noted)
    group.create_group("g")
    assert calls.count("put_object data/g/zarr.json") == 1
    assert not [call for call in calls if call.startswith(("head", "list"))]
    one, other = (default_buffer_prototype().buffer.from_bytes(text) for text in (b"one", b"other"))
    calls.clear()
    assert sync(store.put_if_absent("k", one))
    assert not sync(store.put_if_absent("k", other))
    assert calls == ["put_object data/k"] * 2
    assert sync(store.get("k", default_buffer_prototype())).to_bytes() == b"one"


def test_processes_lose_nothing_by_default(make: Make) -> None:
    """Parts of chunks and shards, and documents, are replaced only if they are still those that were read."""
    rounds = 5
    group = zarr.create_group(make())
    for name, shards in (("plain", None), ("sharded", (16, 8))):
        group.create_array(name, shape=(16, 8), chunks=(8, 4), shards=shards, dtype="i4")
    group.create_array("log", shape=0, chunks=4, dtype="i4")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, context) as pool:
        jobs = [pool.submit(_change_rows, make(), number, rounds) for number in range(4)]
        for job in jobs:
            job.result(120)
    found = zarr.open_group(make(), mode="r")
    expected = 10 * rounds + np.arange(16) % 4
    for name in ("plain", "sharded"):
        np.testing.assert_array_equal(found[name][:, 3], expected)
    names = {f"{number}-{i}" for number in range(4) for i in range(1, rounds + 1)}
    assert set(found.attrs) == set(found["plain"].attrs) == names
    log = found["log"][...].reshape(-1, 3)
    assert (log == log[:, :1]).all()
    assert sorted(log[:, 0]) == sorted(10 * i + number for number in range(4) for i in range(1, rounds + 1))


def test_locks_among_processes(make: Make) -> None:
    """With them, nothing is lost by appends either."""
    zarr.create_array(make(), shape=0, chunks=3, dtype="i4")
    arrays = [zarr.open_array(make(), mode="r+", config={"locking": "process"}) for _ in range(2)]
    for array in arrays:
        array.append([1, 2])
    assert zarr.open_array(make())[...].tolist() == [1, 2, 1, 2]
    assert sorted(sync(_keys(make()))) == ["c/0", "c/1", "zarr.json"]  # what stands for locks is no key
    assert sorted(sync(_names(make()))) == ["c", "zarr.json"]


async def _names(store: Any) -> list[str]:
    return [name async for name in store.list_dir("")]
