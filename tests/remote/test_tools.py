"""Tools on S3 and on web servers, with and without listings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.answers import TOOLS
from tests.tools.places import fill
from zarr.storage import FsspecStore, MemoryStore, ObjectStore
from zarr.tools import checksum, copy, diff, rechunk, repair, stats, verify
from zarr.tools.contents.nodes import walk

from .test_s3 import bucket, endpoint, make  # noqa: F401
from .web import WebServer

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

REFUSED = [(b"folders are not served", 404), (b"folders are not served", 405), (b"<html>no links</html>", 200)]


def stored(zarr_format: int, consolidated: bool) -> dict[str, bytes]:
    store = MemoryStore()
    fill(store, zarr_format, consolidated)
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


class NoFolders(WebServer):  # type: ignore[misc]
    """Answers to a request for a folder in one of the ways of servers that do not list."""

    refusal = REFUSED[0]

    def answer(self, head: bytes, body: bytes) -> Any:
        target = head.split(b" ", 2)[1].decode().lstrip("/")
        text, status = self.refusal
        if target in self.values or status == 404 or (target and not target.endswith("/") and "." in target):
            return super().answer(head, body)
        is_folder = any(key.startswith(target) for key in self.values)
        if not is_folder:
            return super().answer(head, body)
        lines = f"HTTP/1.1 {status} Told\r\nContent-Type: text/html\r\nContent-Length: {len(text)}\r\n\r\n"
        return [lines.encode(), b"" if head.startswith(b"HEAD") else text]


def over_http(kind: str, url: str) -> Any:
    if kind == "fsspec":
        pytest.importorskip("aiohttp", reason="aiohttp, which fsspec needs for the web, is not installed")
        return FsspecStore.from_url(url, read_only=True)
    stores = pytest.importorskip("obstore.store", reason="obstore is not installed")
    return ObjectStore(stores.HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_on_s3(tool: str, make: Callable[..., Any]) -> None:  # noqa: F811
    source = make()
    fill(source, 3)
    TOOLS[tool](source, MemoryStore())


@pytest.mark.parametrize("tool", ["copy", "rechunk", "coarsen"])
def test_tools_to_s3(tool: str, make: Callable[..., Any]) -> None:  # noqa: F811
    source = MemoryStore()
    fill(source, 3)
    TOOLS[tool](source, make())


class Folders(WebServer):  # type: ignore[misc]
    """Answers to a request for a folder by a page of links."""

    def answer(self, head: bytes, body: bytes) -> Any:
        target = head.split(b" ", 2)[1].decode().strip("/")
        prefix = f"{target}/" if target else ""
        below = {key[len(prefix) :].partition("/") for key in self.values if key.startswith(prefix)}
        if not below or head.startswith(b"HEAD"):
            return super().answer(head, body)
        page = "".join(f'<a href="{name}{slash}">{name}</a>' for name, slash, _ in below).encode()
        return [b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page), page]


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_on_a_server_that_lists(tool: str) -> None:
    with Folders(stored(3, False)) as server:
        TOOLS[tool](over_http("fsspec", server.url), MemoryStore())


@pytest.mark.parametrize("kind", ["fsspec", "obstore"])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("tool", sorted(TOOLS.keys() - {"repair"}))
def test_consolidated_metadata_name_what_is_not_listed(tool: str, zarr_format: int, kind: str) -> None:
    with WebServer(stored(zarr_format, True)) as server:
        TOOLS[tool](over_http(kind, server.url), MemoryStore())


@pytest.mark.parametrize("kind", ["fsspec", "obstore"])
@pytest.mark.timeout(20)  # nothing is repeated: such an answer is final
@pytest.mark.parametrize("refusal", REFUSED)
def test_a_group_whose_members_cannot_be_found_is_an_error(refusal: tuple[bytes, int], kind: str) -> None:
    with NoFolders(stored(3, False)) as server:
        server.refusal = refusal
        store = over_http(kind, server.url)
        tools: list[Callable[[], Any]] = [
            lambda: verify(store), lambda: checksum(store), lambda: diff(store, store), lambda: stats(store),
            lambda: copy(store, MemoryStore()), lambda: rechunk(store, MemoryStore(), chunks={}),
            lambda: list(walk(zarr.open_group(store, mode="r"))), lambda: repair(store),
        ]  # fmt: skip
        for tool in tools:
            with pytest.raises(ValueError, match=r"cannot list .*consolidate"):
                tool()
        assert checksum(store, path="a") == checksum(zarr.array(np.arange(1, 25, dtype="i4").reshape(6, 4)))
        assert stats(zarr.open_array(store, path="a", mode="r")).chunks_stored == 6
        assert verify(store, path="a")


def test_damage_on_a_server_that_does_not_list() -> None:
    values = stored(3, True)
    values["a/c/0/1"] = b"short"
    del values["g/zarr.json"]
    with WebServer(values) as server:
        report = verify(server.url)
        found = {(fault.kind, fault.path) for fault in report.faults}
        assert found == {("chunk-truncated", "a"), ("document-missing", "g")}
        assert "cannot list" in str(report)
        with pytest.raises(ValueError, match="cannot be mended"):
            repair(server.url)


def test_commands_on_a_server_that_does_not_list(capsys: pytest.CaptureFixture[str]) -> None:
    main = pytest.importorskip("zarr._cli.cli", reason="the command line needs the extra cli").main
    with WebServer(stored(3, False)) as server:
        for command in ("info", "tree", "ls", "du", "verify"):
            assert main([command, server.url]) == 1
            assert "cannot list its keys" in capsys.readouterr().err
        assert main(["stat", f"{server.url}::a"]) == 0
        assert "6 of 6" in capsys.readouterr().out
    with WebServer(stored(3, True)) as server:
        assert main(["du", server.url]) == 0
        assert int(capsys.readouterr().out.split()[-2]) == sum(map(len, stored(3, True).values()))
