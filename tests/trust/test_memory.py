"""Sizes are checked before they are allocated; and an allocation that fails is a MemoryError, not a hang or a crash."""

from __future__ import annotations

import bz2
import lzma
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
import zarr_core
from tests.trust.fuzzing.moulds import Template, template
from zarr.buffer.cpu import Buffer
from zarr.codecs import numcodecs as v3
from zarr.errors import ArrayTooLargeError, ChunkDecodeError

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
BOMB_MIB = 256
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from Linux's own account of a process")


VARIABLE_NBYTES = 8 * MIB
"""The bound on chunks of elements of any length that the tests set."""


def allowance(stored: int) -> float:
    """How many MiB elements of any length may take beyond their stored bytes: the bound, and room to grow up to it."""
    return 2 * max(VARIABLE_NBYTES, 256 * stored) / MIB


def pieces(compressor: Any) -> bytes:
    """What a compressor makes of zeros, a piece at a time."""
    return b"".join([compressor.compress(bytes(MIB)) for _ in range(BOMB_MIB)]) + bytes(compressor.flush())


BOMBS: dict[str, tuple[Callable[[], bytes], Any, Any]] = {
    "gzip": (lambda: pieces(zlib.compressobj(9, zlib.DEFLATED, 31)), zarr.codecs.GzipCodec(), numcodecs.GZip()),
    "zlib": (lambda: pieces(zlib.compressobj(9)), v3.Zlib(), numcodecs.Zlib()),
    "bz2": (lambda: pieces(bz2.BZ2Compressor()), v3.BZ2(), numcodecs.BZ2()),
    "lzma": (lambda: pieces(lzma.LZMACompressor(preset=0)), v3.LZMA(), numcodecs.LZMA()),
    "zstd": (lambda: zarr_core.encode("zstd", bytes(BOMB_MIB * MIB)), zarr.codecs.ZstdCodec(), numcodecs.Zstd()),
    "lz4": (lambda: zarr_core.encode("lz4", bytes(BOMB_MIB * MIB)), v3.LZ4(), numcodecs.LZ4()),
    "blosc": (
        lambda: zarr_core.encode("blosc", bytes(BOMB_MIB * MIB), cname="zstd", typesize=1),
        zarr.codecs.BloscCodec(typesize=1),
        numcodecs.Blosc(),
    ),
}


def peak_of(action: Callable[[], Any]) -> tuple[str, int]:
    """What an action raises, and how many MiB the process grows by at most, told by a forked child."""
    import resource

    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            action()
            name = "nothing"
        except BaseException as error:
            name = type(error).__name__
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        os.write(send, f"{name} {grown}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    name, grown = os.read(receive, 1000).decode().split()
    os.close(receive)
    os.close(send)
    return name, int(grown)


def moulds(name: str) -> list[Template]:
    """Arrays whose chunk the bomb is to be."""
    _, modern, old = BOMBS[name]
    made = [template(f"3 {dtype}", dtype=dtype, compressors=modern) for dtype in ("i4", str, "variable_length_bytes")]
    return made + [template(f"2 {dtype}", dtype=dtype, compressors=old, zarr_format=2) for dtype in ("i4", str)]


@LINUX
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_no_memory(name: str) -> None:
    bomb = BOMBS[name][0]()
    for mould in moulds(name):
        mould.store._store_dict[mould.keys[0]] = Buffer.from_bytes(bomb)
        limit = 32 + 2 * len(bomb) / MIB + (allowance(len(bomb)) if mould.array.dtype.kind in "OT" else 0)
        with zarr.config.set({"array.variable_chunk_bytes": VARIABLE_NBYTES}):
            raised, grown = peak_of(lambda mould=mould: mould.array[...])  # type: ignore[misc]
        assert raised == "ChunkDecodeError", (mould.label, raised)
        assert grown <= limit, (mould.label, grown, limit)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_much_text_in_few_bytes_is_read(name: str, zarr_format: Any) -> None:
    """What looks like a bomb and is none: long equal strings."""
    _, modern, old = BOMBS[name]
    codec = modern if zarr_format == 3 else old
    text = np.array(["x" * (6 << 20), "y" * (6 << 20)], dtype=object)
    array = zarr.create_array(
        {}, shape=(2,), chunks=(2,), dtype=str, compressors=codec, filters="auto", zarr_format=zarr_format
    )
    array[...] = text
    assert [len(item) for item in array[...]] == [6 << 20, 6 << 20]  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["zstd", "bz2"])
def test_the_bound_on_elements_of_any_length_is_a_setting(name: str, zarr_format: Any) -> None:
    _, modern, old = BOMBS[name]
    codec = modern if zarr_format == 3 else old
    array = zarr.create_array({}, shape=(2,), dtype=str, compressors=codec, zarr_format=zarr_format)
    with zarr.config.set({"array.variable_chunk_bytes": 1 << 20}):
        array[...] = np.array(["x" * (3 << 20), "y"], dtype=object)
        with pytest.raises(ChunkDecodeError, match=r"array\.variable_chunk_bytes"):
            array[...]
        array[...] = np.array(["x" * 1000, "y"], dtype=object)
        assert array[0] == "x" * 1000
    array[...] = np.array(["x" * (3 << 20), "y"], dtype=object)
    assert array[0] == "x" * (3 << 20)


def test_an_array_larger_than_memory_says_so() -> None:
    array = zarr.create_array({}, name="a/b", shape=(2**62,), chunks=(2**20,), dtype="f8")
    assert array[2**61] == 0
    with pytest.raises(ArrayTooLargeError, match=str(2**65)) as caught:
        array[...]
    assert isinstance(caught.value, MemoryError)
    assert "a/b" in " ".join(caught.value.__notes__)


def test_a_chunk_larger_than_memory_says_so() -> None:
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(store, name="a/b", shape=(2**40,), chunks=(2**40,), dtype="f8")
    store._store_dict["a/b/c/0"] = Buffer.from_bytes(zarr_core.encode("zstd", b"12345678"))
    with pytest.raises(ChunkDecodeError) as caught:
        array[5]
    assert caught.value.key == "a/b/c/0"
    assert caught.value.array == "a/b"


FAILING = """
import faulthandler, sys, warnings
import _testcapi
import numpy as np
import zarr
from zarr.storage import MemoryStore

warnings.simplefilter("ignore")
faulthandler.dump_traceback_later(100, exit=True)
codec = {"zstd": zarr.codecs.ZstdCodec(), "raw": None}[sys.argv[1]]
shards = (8,) if sys.argv[2] == "shards" else None
array = zarr.create_array(MemoryStore(), shape=(16,), chunks=(4,), shards=shards, dtype="i4", compressors=codec)
data = np.arange(16, dtype="i4")
array[...] = data
read = array[...]
failed = 0
for start in range(int(sys.argv[3])):
    for action in (lambda: array[...], lambda: array[1:7], lambda: array.__setitem__(slice(None), data)):
        _testcapi.set_nomemory(start, start + 1)
        try:
            action()
        except MemoryError:
            failed += 1
        finally:
            _testcapi.remove_mem_hooks()
array[...] = data
assert (array[...] == data).all()
print(failed)
"""


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["zstd", "raw"])
@pytest.mark.parametrize("layout", ["chunks", "shards"])
def test_failed_allocations_end_in_memory_errors(codec: str, layout: str) -> None:
    """Each allocation of reads and writes fails in turn: 4 x 100 and more of them, and the array goes on working."""
    pytest.importorskip("_testcapi")
    command = [sys.executable, "-c", FAILING, codec, layout, "60"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) >= 100
