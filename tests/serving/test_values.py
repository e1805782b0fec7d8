"""What is served is what is stored: whole values and ranges of each kind of store, conditions, documents, folders."""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.runners.choose import runner_for
from zarr.serving import serve
from zarr.steps.requests import Put, ask_steps
from zarr.storage import FsspecStore, LMDBStore, LocalStore, MemoryStore, ObjectStore, SQLiteStore, ZipStore

from .client import ask

VALUES = {
    "zarr.json": json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {"text": "ä" * 3000}}).encode(),
    "a/zarr.json": b"{}",
    "a/c/0": random.Random(0).randbytes(3_500_000),
    "a/c/1": random.Random(1).randbytes(1000),
    "a/c/2": b"",
    "a b/ä/x#?%": b"odd",
}


def make_store(kind: str, folder: Path) -> Any:
    if kind == "obstore":
        return ObjectStore(pytest.importorskip("obstore.store").MemoryStore())
    if kind == "lmdb":
        pytest.importorskip("lmdb")
        return LMDBStore(folder / "x.lmdb", sync=False, map_size=1 << 26)
    return {
        "local": lambda: LocalStore(folder / "x"),
        "memory": MemoryStore,
        "sqlite": lambda: SQLiteStore(folder / "x.sqlite"),
        "zip": lambda: ZipStore(folder / "x.zip", mode="w"),
    }[kind]()


@pytest.fixture(params=["local", "memory", "zip", "sqlite", "lmdb", "obstore"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    store = make_store(request.param, tmp_path)
    for key, value in VALUES.items():
        runner_for(store).run(ask_steps(Put(key, Buffer.from_bytes(value))))
    if request.param == "zip":
        store.close()
        store = ZipStore(tmp_path / "x.zip", mode="r")
    time.sleep(0.15 if request.param == "local" else 0)  # then files have stamps, and keep their tags
    with serve(store) as url:
        yield url
    store.close()


def test_whole_values(url: str) -> None:
    for key, value in VALUES.items():
        path = "/" + key.replace("%", "%25").replace(" ", "%20").replace("#", "%23").replace("?", "%3F")
        path = path.replace("ä", "%C3%A4")
        got = ask(url, path)
        assert (got.status, got.body) == (200, value)
        head = ask(url, path, "HEAD")
        assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(value)))
        if "etag" in head.headers:
            assert head.headers["etag"] == got.headers["etag"]
    for path in ("/nothing", "/a/c/7", "/a/c/0/zarr.json", "/a/c/0/1", "/a/zarr.json/", "/nowhere/"):
        assert ask(url, path).status == 404


def test_ranges(url: str) -> None:
    choose = random.Random(2)
    for key in ("a/c/0", "a/c/1"):
        value = VALUES[key]
        size = len(value)
        for _ in range(6):
            start = choose.randrange(size)
            stop = choose.randrange(start, 2 * size)
            suffix = choose.randrange(1, 2 * size)
            last = min(stop, size - 1)
            for text, expected, first, end in (
                (f"{start}-{stop}", value[start : stop + 1], start, last),
                (f"{start}-", value[start:], start, size - 1),
                (f"-{suffix}", value[-suffix:] if suffix < size else value, max(0, size - suffix), size - 1),
            ):
                got = ask(url, f"/{key}", Range=f"bytes={text}")
                assert (got.status, got.headers["content-range"]) == (206, f"bytes {first}-{end}/{size}")
                assert got.body == expected
        for text in (
            f"{size}-",
            f"{size + 5}-{size + 9}",
            "-0",
            "5-2",
            "-",
            "",
            "a-b",
            "1-2-3",
            "0x1-2",
            "9" * 30 + "-",
        ):
            got = ask(url, f"/{key}", Range=f"bytes={text}")
            assert (got.status, got.headers["content-range"]) == (416, f"bytes */{size}")
        for several in ("bytes=0-1,4-5", "items=0-1"):
            got = ask(url, f"/{key}", Range=several)
            assert (got.status, got.body) == (200, value)


def test_conditions(url: str) -> None:
    first = ask(url, "/a/c/1")
    tag = first.headers["etag"]
    same = ask(url, "/a/c/1", If_None_Match=f'"x", W/{tag}')
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
    assert ask(url, "/a/c/1", If_None_Match='"other"').status == 200
    assert ask(url, "/a/c/1", If_None_Match="*").status == 304
    for condition in ('"other"', "Tue, 24 Nov 2026 03:56:15 GMT"):
        got = ask(url, "/a/c/1", Range="bytes=1-2", If_Range=condition)
        assert (got.status, got.body) == (200, VALUES["a/c/1"])


def test_documents_are_packed_and_chunks_are_not(url: str) -> None:
    plain, packed = ask(url, "/zarr.json"), ask(url, "/zarr.json", Accept_Encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) == int(plain.headers["content-length"])
    assert packed.headers["etag"] != plain.headers["etag"]
    assert ask(url, "/zarr.json", If_None_Match=packed.headers["etag"], Accept_Encoding="gzip").status == 304
    assert "Accept-Encoding" in packed.headers["vary"]
    part = ask(url, "/zarr.json", Range="bytes=3-9", Accept_Encoding="gzip")
    assert (part.status, part.body) == (206, VALUES["zarr.json"][3:10])
    assert "content-encoding" not in ask(url, "/a/c/0", Accept_Encoding="gzip").headers


def test_folders(url: str) -> None:
    listed = ask(url, "/", Accept="application/json")
    assert json.loads(listed.body) == {"path": "", "folders": ["a", "a b"], "keys": ["zarr.json"]}
    listed = ask(url, "/a/?format=json")
    assert json.loads(listed.body) == {"path": "a", "folders": ["c"], "keys": ["zarr.json"]}
    page = ask(url, "/a%20b/%C3%A4/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert 'href="/a b/ä/x%23%3F%25"' in page.body.decode()
    to_folder = ask(url, "/a/c")
    assert (to_folder.status, to_folder.headers["location"]) == (307, "/a/c/")


@pytest.mark.parametrize("url_of_store", ["memory://served-folders", "local://{}"])
def test_folders_of_stores_of_fsspec(url_of_store: str, tmp_path: Path) -> None:
    """Its file systems tell a size of a folder, too."""
    pytest.importorskip("fsspec")
    store = FsspecStore.from_url(url_of_store.format(tmp_path))
    zarr.open_group(store, mode="w").create_array("x", data=[1, 2])
    with serve(store) as url:
        listed = json.loads(ask(url, "/", Accept="application/json").body)
        assert listed == {"path": "", "folders": ["x"], "keys": ["zarr.json"]}
        assert ask(url, "/x").status == 307
        assert ask(url, "/x", method="HEAD").status == 307


def test_many_clients_at_once(url: str) -> None:
    def client(number: int) -> None:
        choose = random.Random(number)
        for _ in range(12):
            key = choose.choice(["a/c/0", "a/c/1", "a/c/2", "zarr.json"])
            value = VALUES[key]
            start = choose.randrange(len(value) + 1)
            length = choose.choice([1, 100, 2_000_000])
            if start == len(value):
                assert ask(url, f"/{key}").body == value
            else:
                asked = f"bytes={start}-{start + length - 1}"
                assert ask(url, f"/{key}", Range=asked).body == value[start : start + length]

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(client, range(16)))


def test_a_new_value_has_a_new_tag(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    tags = set()
    with serve(store) as url:
        for number in range(20):
            store.set_sync("x", Buffer.from_bytes(b"%03d" % number))
            answer = ask(url, "/x")
            assert answer.body == b"%03d" % number
            tags.add(answer.headers["etag"])
        assert len(tags) == 20
        time.sleep(0.15)
        assert ask(url, "/x").headers["etag"] == ask(url, "/x").headers["etag"]


def test_who_has_begun_to_read_reads_the_old_value(tmp_path: Path) -> None:
    """A value that is replaced while it is sent comes whole, as it was."""
    from zarr.serving.values import open_value

    store = LocalStore(tmp_path)
    store.set_sync("x", Buffer.from_bytes(b"a" * 3_000_000))
    value = open_value(store, "x")
    assert value is not None
    store.set_sync("x", Buffer.from_bytes(b"b" * 2_000_000))
    assert value.size == 3_000_000
    assert value.read(2_999_990, 3_000_000) == b"a" * 10
    value.close()


def test_files_are_closed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(4_000_000))
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("open files are counted by /proc")
    with serve(tmp_path) as url:
        for _ in range(30):
            ask(url, "/x", "HEAD")
            ask(url, "/x", Range="bytes=7000000-")
            ask(url, "/x", If_None_Match="*")
            ask(url, "/x")
        opened = [name for name in os.listdir(folder) if os.path.islink(folder / name)]
        held = [name for name in opened if os.path.realpath(folder / name) == str((tmp_path / "x").resolve())]
        assert held == []
