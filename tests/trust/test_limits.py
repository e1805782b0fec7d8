"""What the system does not give: descriptors, room for a file. The error says of which key of which store."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.cases import text_of
from zarr.buffer.cpu import Buffer
from zarr.errors import KeyNotAllowedError, NodeNotFoundError
from zarr.storage import LMDBStore, LocalStore, ObjectStore, SQLiteStore, ZipStore

resource = pytest.importorskip("resource")

WITHOUT_DESCRIPTORS = """
import os, resource, sys
import numpy as np, zarr
array = zarr.create_array(sys.argv[1], name="a/b", shape=(8,), chunks=(1,), dtype="i4")
array[...] = np.arange(8)
other = zarr.zeros((1,))  # a program that has done this before needs no file of the library for it
other.append(np.ones(1))
other.attrs["x"] = 1
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
calls = {
    "element": lambda: array[3],
    "all": lambda: array[...],
    "part": lambda: array.__setitem__(3, 1),
    "whole": lambda: array.__setitem__(slice(None), 1),
    "append": lambda: array.append(np.ones(2, "i4")),
    "attributes": lambda: array.attrs.update(x=1),
}
told = {}
for name, call in calls.items():
    try:
        call()
    except OSError as error:
        told[name] = f"{error.errno} {error} {getattr(error, '__notes__', [])}"
for number in held:
    os.close(number)
assert list(told) == list(calls), told
for name, text in told.items():
    assert text.startswith("24 ") and sys.argv[1] in text and "a/b" in text, (name, text)
assert array[...].tolist() == list(range(8)) and array.shape == (8,) and not dict(array.attrs)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="the number of EMFILE is that of Linux")
def test_a_process_without_descriptors_is_told_of_which_key(tmp_path: Path) -> None:
    """Nor is a file of the library needed to say so, where the program has made such calls before."""
    place = str(tmp_path / "data.zarr")
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS, place], check=False, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("kind", ["zip", "sqlite", "lmdb"])
def test_a_node_that_does_not_fit_is_named(kind: str, tmp_path: Path) -> None:
    """Made with its data, it is stored in one step, which is at the key of the node."""
    if kind == "lmdb":
        pytest.importorskip("lmdb")
    path = str(tmp_path / "store")
    store = ZipStore(path, mode="w") if kind == "zip" else SQLiteStore(path) if kind == "sqlite" else LMDBStore(path)
    zarr.create_array(store, name="old", data=np.arange(4))
    noise = np.random.default_rng(1).integers(0, 2**60, 100_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        with pytest.raises(OSError) as caught:
            zarr.create_array(store, name="new", data=noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno in (errno.EFBIG, errno.EIO, errno.ENOSPC)
    assert "'new'" in text_of(caught.value)
    assert type(store).__name__ in text_of(caught.value)
    assert zarr.open_array(store, path="old")[...].tolist() == [0, 1, 2, 3]
    assert "new" not in zarr.open_group(store, mode="a")
    store.close()


@pytest.mark.parametrize("key", ["a\nb", "a\tb", "a\x7fb", "a/\x01"])
def test_control_characters_in_keys_of_objects(key: str) -> None:
    store = ObjectStore(pytest.importorskip("obstore.store").MemoryStore())
    for call in (store.exists, store.getsize, store.delete, store.delete_dir, store.getsize_prefix):
        with pytest.raises(KeyNotAllowedError, match="control"):
            asyncio.run(call(key))
    with pytest.raises(KeyNotAllowedError, match="control"):
        asyncio.run(store.set(key, Buffer.from_bytes(b"")))
    with pytest.raises(KeyNotAllowedError, match="control"):
        zarr.create_group(store, path=key)


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000 + "b"])
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    """Nothing is there; to put something there is an error of the system, of which the key is said."""
    group = zarr.create_group(LocalStore(tmp_path))
    assert name not in group
    with pytest.raises(NodeNotFoundError):
        zarr.open(group.store, path=name, mode="r")
    assert asyncio.run(group.store.get(name)) is None  # type: ignore[call-arg]
    with pytest.raises(OSError, match="name too long") as caught:
        group.create_array(name, shape=1, dtype="i4")
    assert caught.value.errno == errno.ENAMETOOLONG
    assert name[:200] in text_of(caught.value)
    assert not list(group)
    assert [path.name for path in tmp_path.iterdir()] == ["zarr.json"]


def test_a_node_that_lies_deep_is_removed(tmp_path: Path) -> None:
    """Deeper than functions of Python may call each other."""
    group = zarr.create_group(LocalStore(tmp_path))
    group.create_group("/".join("a" * 1200))
    del group["a"]
    assert not list(group)
    assert [path.name for path in tmp_path.iterdir()] == ["zarr.json"]
