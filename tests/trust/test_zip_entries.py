"""Zip files whose entries are not what they should be: the right data, or an error that names file and entry."""

from __future__ import annotations

import io
import struct
import time
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.cases import text_of
from zarr.errors import BaseZarrError, FolderInPlaceError, StoreDamagedError
from zarr.storage import MemoryStore, ZipStore

CHUNK, DOCUMENT = "a/x/c/1", "a/x/zarr.json"
MIB = 1 << 20


def contents() -> dict[str, bytes]:
    store = MemoryStore()
    array = zarr.create_group(store, path="a").create_array("x", shape=(16,), chunks=(4,), dtype="i4", compressors=None)
    array[...] = np.arange(16)
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


SOUND = contents()


def archive(method: int = zipfile.ZIP_STORED, more: dict[str, bytes] | None = None, **options: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as writer:
        for key, value in (SOUND | (more or {})).items():
            with writer.open(zipfile.ZipInfo(key) if method == 0 else key, "w", **options) as entry:
                entry.write(value)
    return file.getvalue()


def patched(offset: int, form: str, value: int, name: str = CHUNK, signature: bytes = b"PK\1\2") -> bytes:
    """An archive with one field of the central (or local) header of one entry changed."""
    data = bytearray(archive())
    header, at_length = (46, 28) if signature == b"PK\1\2" else (30, 26)
    place = data.find(signature)
    while place >= 0:
        (length,) = struct.unpack_from("<H", data, place + at_length)
        if data[place + header : place + header + length] == name.encode():
            struct.pack_into(form, data, place + offset, value)
        place = data.find(signature, place + header)
    return bytes(data)


def ended(offset: int, form: str, value: int) -> bytes:
    """An archive with one field of the end record changed."""
    data = bytearray(archive())
    struct.pack_into(form, data, data.rfind(b"PK\5\6") + offset, value)
    return bytes(data)


def bomb(name: str, size: int = 1 << 27) -> bytes:
    """An archive of which one entry unpacks to very much."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join([packer.compress(bytes(MIB)) for _ in range(size // MIB)]) + packer.flush()
    out, directory = b"", b""
    entries = {key: (0, raw, zlib.crc32(raw), len(raw)) for key, raw in SOUND.items()} | {name: (8, packed, 0, size)}
    for key, (method, raw, crc, full) in entries.items():
        common = struct.pack("<5H3I2H", 20, 0, method, 0, 33, crc, len(raw), full, len(key), 0)
        directory += b"PK\1\2\x14\0" + common + struct.pack("<3H2I", 0, 0, 0, 0, len(out)) + key.encode()
        out += b"PK\3\4" + common + key.encode() + raw
    count = len(entries)
    return out + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), len(out), 0)


def duplicated() -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as writer:
        warnings.simplefilter("ignore")
        for key, value in SOUND.items():
            writer.writestr(key, b"old")
            writer.writestr(key, value)
    return file.getvalue()


GOOD: dict[str, Callable[[], bytes]] = {
    "stored": archive,
    "deflated": lambda: archive(zipfile.ZIP_DEFLATED),
    "bzip2": lambda: archive(zipfile.ZIP_BZIP2),
    "lzma": lambda: archive(zipfile.ZIP_LZMA),
    "zip64": lambda: archive(force_zip64=True),
    "climbing names beside": lambda: archive(more={"../../x": b"x", "a/../x": b"x", "/etc/x": b"x", "a\\b": b"x"}),
    "entries for folders": lambda: archive(more={"a/": b"", "a/x/": b"", "a/x/c/": b""}),
    "folder with data": lambda: archive(more={"a/": b"data"}),
    "an archive as a value": lambda: archive(more={"in.zip": archive()}),
    "duplicated names": duplicated,
    "bytes before": lambda: b"#!/bin/sh\n" + archive(),
    "bytes behind": lambda: archive() + b"trailing",
    "another disk": lambda: patched(34, "<H", 7),
}
BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "encrypted": (lambda: patched(8, "<H", 1), CHUNK),
    "encrypted document": (lambda: patched(8, "<H", 1, DOCUMENT), DOCUMENT),
    "wrong checksum": (lambda: patched(16, "<I", 123), CHUNK),
    "wrong checksum of a document": (lambda: patched(16, "<I", 123, DOCUMENT), DOCUMENT),
    "size too large": (lambda: patched(24, "<I", 2**31), CHUNK),
    "size 0": (lambda: patched(24, "<I", 0), CHUNK),
    "stored size too large": (lambda: patched(20, "<I", 2**31), "lies outside"),
    "method of AES": (lambda: patched(10, "<H", 99), CHUNK),
    "method deflate64": (lambda: patched(10, "<H", 9), CHUNK),
    "deflated in name only": (lambda: patched(10, "<H", 8), CHUNK),
    "bzip2 in name only": (lambda: patched(10, "<H", 12), CHUNK),
    "lzma in name only": (lambda: patched(10, "<H", 14), CHUNK),
    "place outside": (lambda: patched(42, "<I", 2**31), "lies outside"),
    "place of another": (lambda: patched(42, "<I", 0), CHUNK),
    "another name in its header": (lambda: archive().replace(b"a/x/c/1", b"a/x/c/9", 1), CHUNK),
    "long name in its header": (lambda: patched(26, "<H", 60000, signature=b"PK\3\4"), CHUNK),
    "long field in its header": (lambda: patched(28, "<H", 60000, signature=b"PK\3\4"), CHUNK),
    "too few counted": (lambda: ended(8, "<I", 2 | 2 << 16), "holds"),
    "none counted": (lambda: ended(8, "<I", 0), "holds"),
    "too many counted": (lambda: ended(8, "<I", 999 | 999 << 16), "directory"),
    "no directory": (lambda: ended(12, "<I", 0), "directory"),
    "directory of 4 GiB": (lambda: ended(12, "<I", 2**32 - 2), "does not fit"),
    "directory elsewhere": (lambda: ended(16, "<I", 2**32 - 2), "does not fit"),
    "long comment": (lambda: ended(20, "<H", 65535), "does not fit"),
    "end cut off": (lambda: archive()[:-30], "no zip directory"),
    "cut in half": (lambda: archive()[: len(archive()) // 2], "no zip directory"),
    "full of ends": (lambda: b"PK\5\6" * 200_000, "full of end records"),
    "full of ends with directories": (
        lambda: struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 65000, 65000, 1 << 20, 0, 0) * 50_000,
        "full of end records",
    ),
    "empty": (lambda: b"", "empty"),
    "bomb for a chunk": (lambda: bomb(CHUNK), CHUNK),
    "bomb for a document": (lambda: bomb(DOCUMENT), DOCUMENT),
}


def read(path: Path) -> Any:
    store = ZipStore(path)
    try:
        array: Any = zarr.open_group(store, path="a", mode="r")["x"]
        return [*array[...].tolist(), array[5].item(), *array[3:7].tolist()]
    finally:
        store.close()


@pytest.mark.parametrize("name", GOOD)
def test_unusual_entries_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(GOOD[name]())
    assert read(tmp_path / "data.zip") == [*range(16), 5, 3, 4, 5, 6]


@pytest.mark.clock
@pytest.mark.parametrize("name", BAD)
def test_damaged_entries_are_named(name: str, tmp_path: Path) -> None:
    make, said = BAD[name]
    (tmp_path / "data.zip").write_bytes(make())
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(BaseZarrError) as caught:
        read(tmp_path / "data.zip")
    took, (_, peak) = time.perf_counter() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(caught.value, StoreDamagedError)
    assert "data.zip" in str(caught.value)
    assert said in text_of(caught.value)
    assert took < 20  # traced, on a busy machine
    assert peak < 32 * MIB + 2 * (tmp_path / "data.zip").stat().st_size


def test_a_folder_in_the_place_of_a_chunk(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as writer:
        for key, value in SOUND.items():
            writer.writestr(key if key != CHUNK else f"{CHUNK}/", b"" if key == CHUNK else value)
    (tmp_path / "data.zip").write_bytes(file.getvalue())
    with pytest.raises(FolderInPlaceError, match="c/1"):
        read(tmp_path / "data.zip")


def test_much_that_is_announced_is_unpacked(tmp_path: Path) -> None:
    """A chunk of zeros is no bomb: its array says how large its chunks are."""
    store = ZipStore(tmp_path / "data.zip", mode="w", compression=zipfile.ZIP_DEFLATED)
    config: Any = {"write_empty_chunks": True}
    made = zarr.create_array(
        store, name="a", shape=(5, MIB), chunks=(5, MIB), dtype="f8", compressors=None, config=config
    )
    made[...] = 0
    store.close()
    assert (tmp_path / "data.zip").stat().st_size < MIB
    assert not zarr.open_array(ZipStore(tmp_path / "data.zip"), path="a", mode="r")[...].any()
