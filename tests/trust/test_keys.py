"""No key leaves its store, in any store, by any call."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import zarr
from tests.stores import KINDS, make
from zarr.abc.store import RangeByteRequest
from zarr.buffer import default_buffer_prototype
from zarr.buffer.cpu import Buffer
from zarr.errors import MetadataValidationError
from zarr.storage import (
    FsspecStore,
    LocalStore,
    MemoryStore,
)

VALUE = Buffer.from_bytes(b"x")
PART = RangeByteRequest(0, 1)
BAD_FOLDERS = [
    "..", "../x", "a/../../x", "a/..", ".", "./a", "a/./b", "/a", "//a", "/etc/passwd", "a//b",
    "a\0b", "\0", "a\\b", "..\\x",
]  # fmt: skip
BAD_KEYS = [*BAD_FOLDERS, "", "a/", "a/b/"]


def fsspec_store(url: str) -> Any:
    pytest.importorskip("fsspec")
    return FsspecStore.from_url(url)


def reference_store(path: Path) -> Any:
    """References by kerchunk's plan, one of them out of its folder."""
    fsspec = pytest.importorskip("fsspec")
    references = {"version": 1, "refs": {"a": "base64:eA==", "../x": "base64:eA=="}}
    return FsspecStore(fsspec.filesystem("reference", fo=references, asynchronous=True, remote_protocol="memory"))


STORES: dict[str, Callable[[Path], Any]] = {
    **{kind: partial(make, kind) for kind in KINDS},
    "references by fsspec": reference_store,
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = STORES[request.param](tmp_path)
    yield made
    made.close()


async def drain(names: Any) -> list[str]:
    return [name async for name in names]


def calls_on_keys(store: Any) -> dict[str, Callable[[str], Any]]:
    """Every call that takes a key, coroutines and their plain twins."""
    prototype = default_buffer_prototype()
    calls: dict[str, Callable[[str], Any]] = {
        "get": lambda key: store.get(key, prototype),
        "get a range": lambda key: store.get(key, prototype, PART),
        "get_partial_values": lambda key: store.get_partial_values(prototype, [(key, PART)]),
        "exists": store.exists,
        "getsize": store.getsize,
        "set": lambda key: store.set(key, VALUE),
        "set_if_not_exists": lambda key: store.set_if_not_exists(key, VALUE),
        "_set_many": lambda key: store._set_many([(key, VALUE)]),
    }
    for name in ("get_sync", "exists_sync", "getsize_sync"):
        if hasattr(store, name):
            calls[name] = getattr(store, name)
    for name in ("set_sync", "set_if_not_exists_sync", "put_if_absent", "put_if_absent_sync"):
        if hasattr(store, name):
            calls[name] = lambda key, name=name: getattr(store, name)(key, VALUE)  # type: ignore[misc]
    return calls


def calls_on_folders(store: Any) -> dict[str, Callable[[str], Any]]:
    """Every call that takes a prefix; and deletions, which take the root for a folder."""
    calls: dict[str, Callable[[str], Any]] = {
        "delete": store.delete,
        "delete_dir": store.delete_dir,
        "list_prefix": lambda prefix: drain(store.list_prefix(prefix)),
        "list_dir": lambda prefix: drain(store.list_dir(prefix)),
        "is_empty": store.is_empty,
        "getsize_prefix": store.getsize_prefix,
    }
    for name in ("delete_sync", "delete_dir_sync"):
        if hasattr(store, name):
            calls[name] = getattr(store, name)
    for name in ("list_prefix_sync", "list_dir_sync"):
        if hasattr(store, name):
            calls[name] = lambda prefix, name=name: list(getattr(store, name)(prefix))  # type: ignore[misc]
    return calls


async def done(call: Callable[[str], Any], key: str) -> Any:
    answer = call(key)
    return await answer if asyncio.iscoroutine(answer) else answer


def accepted(calls: dict[str, Callable[[str], Any]], keys: list[str]) -> list[str]:
    """Which calls took which keys."""

    async def run() -> list[str]:
        found = []
        for name, call in calls.items():
            for key in keys:
                try:
                    await done(call, key)
                except ValueError:
                    continue
                except Exception as error:
                    found.append(f"{name}({key!r}): {type(error).__name__}: {error}")
                else:
                    found.append(f"{name}({key!r}) was accepted")
        return found

    return asyncio.run(run())


def test_no_call_takes_a_bad_key(store: Any) -> None:
    found = accepted(calls_on_keys(store), BAD_KEYS)
    if isinstance(store, MutableMapping):  # its getsize takes a path, which is put in order as in zarr-python 2
        found = [each for each in found if not each.startswith("getsize('") or ".." in each or "\\0" in each]
    assert found == []


def test_no_call_takes_a_bad_folder(store: Any) -> None:
    assert accepted(calls_on_folders(store), BAD_FOLDERS) == []


def test_a_conditional_write_takes_no_bad_key(store: Any) -> None:
    async def write(key: str) -> None:
        try:
            await store.set_if_match(key, VALUE, None)
        except NotImplementedError as error:  # the store has no conditional write: it takes no key at all
            raise ValueError(key) from error

    assert accepted({"set_if_match": write}, BAD_KEYS) == []


@pytest.mark.parametrize("path", ["..", "a/../b", "a/.", "a\0b"])
def test_no_node_lies_outside(store: Any, path: str) -> None:
    for action in (
        lambda: zarr.open_group(store, path=path, mode="r"),
        lambda: zarr.create_group(store, path=path),
        lambda: zarr.create_array(store, name=path, shape=(2,), dtype="i1"),
    ):
        with pytest.raises(ValueError):
            action()


@pytest.mark.parametrize("name", ["..", ".", "a/../../b", "...", "zarr.json"])
def test_no_member_has_a_reserved_name(name: str) -> None:
    group = zarr.create_group(MemoryStore())
    for action in (
        lambda: group.create_group(name),
        lambda: group.create_array(name, shape=(2,), dtype="i1"),
    ):
        with pytest.raises(ValueError):
            action()


def test_what_lies_outside_stays_untouched(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    for made in (LocalStore(tmp_path / "inside"), fsspec_store(f"file://{tmp_path}/inside")):
        accepted(calls_on_keys(made) | calls_on_folders(made), ["../secret", f"{tmp_path}/secret", ".."])
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert sorted(os.listdir(tmp_path)) in (["secret"], ["inside", "secret"])


JOURNALS: dict[str, Any] = {
    "deletes outside": {"removed": [], "chunks": [], "documents": [], "deleted": ["../secret"]},
    "writes outside": {"removed": [], "chunks": ["../planted"], "documents": [], "deleted": []},
    "removes outside": {"removed": [["../folder", None]], "chunks": [], "documents": [], "deleted": []},
    "by a link": {"removed": [], "chunks": [], "documents": [], "deleted": ["link/secret"]},
    "no numbers": {"removed": [["a", "b"]], "chunks": [], "documents": [], "deleted": []},
    "no lists": {"removed": [], "chunks": "ab", "documents": {}, "deleted": []},
    "no object": [1],
}


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_reaches_nothing_outside(name: str, tmp_path: Path) -> None:
    """The rest of a transaction that somebody else left behind is done within the store, or not at all."""
    inside, journal = tmp_path / "inside", tmp_path / "inside/.zarr-journal"
    (journal / "values/x").mkdir(parents=True)
    (journal / "planted").write_bytes(b"planted")
    (journal / "owner.xyz").touch()
    (journal / "journal.json").write_text(json.dumps(JOURNALS[name]))
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "folder").mkdir()
    (inside / "link").symlink_to(tmp_path)
    with pytest.raises(MetadataValidationError, match="journal"):
        zarr.open_group(inside, mode="a")
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert sorted(os.listdir(tmp_path)) == ["folder", "inside", "secret"]
