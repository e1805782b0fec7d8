"""What files name is shown escaped and never run; lost chunks and damage are told; guarantees have tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.fuzzing.documents import stored_objects
from zarr.buffer.cpu import Buffer
from zarr.errors import ChunkChecksumError, ChunkNotFoundError, PickleCodecDisabledError
from zarr.storage import LocalStore, MemoryStore

ROOT = Path(__file__).resolve().parents[2]
EVIL = "a\x1b[31m\u202e<script>"


def test_names_are_escaped_where_they_are_shown() -> None:
    root: Any = zarr.create_group(MemoryStore())
    group = root.create_group(EVIL)
    array = group.create_array(EVIL, shape=(2,), dtype=[(EVIL, "i4")], fill_value=(0,))
    text = zarr.create_array({}, shape=(2,), dtype=str, fill_value=EVIL)
    shown = [repr(root.tree()), repr(group), repr(array), str(array.info), str(group.info), str(text.info)]
    for line in shown:
        assert "\x1b" not in line
        assert "\u202e" not in line
    assert "\\x1b[31m\\u202e<script>" in shown[0]
    page = root.tree()._repr_html_()
    assert "<script>" not in page
    assert "\x1b" not in page
    assert group.basename == EVIL


def test_pickled_data_is_refused() -> None:
    import numcodecs

    stored = stored_objects(numcodecs.Pickle())
    store = MemoryStore({key: Buffer.from_bytes(raw) for key, raw in stored.items()})
    array = zarr.open_array(store, path="a/b", mode="r")
    with pytest.raises(PickleCodecDisabledError, match="allow_unsafe_pickle_decode"):
        array[...]


@pytest.mark.parametrize("kind", ["memory", "local"])
@pytest.mark.parametrize("shards", [None, (4,)])
def test_a_lost_chunk_is_not_an_empty_one(kind: str, shards: Any, tmp_path: Path) -> None:
    store: Any = MemoryStore() if kind == "memory" else LocalStore(tmp_path)
    config: Any = {"write_empty_chunks": True, "read_missing_chunks": False}
    array = zarr.create_array(store, name="a/b", shape=(8,), chunks=(2,), shards=shards, dtype="i4", config=config)
    array[...] = 0
    assert array[...].tolist() == [0] * 8  # type: ignore[union-attr]
    store.delete_sync("a/b/c/1")
    for read in (lambda: array[...], lambda: array[2:8] if shards is None else array[4:8]):
        with pytest.raises(ChunkNotFoundError, match="c/1"):
            read()
    lenient = array.with_config({"read_missing_chunks": True})
    assert lenient[...].tolist() == [0] * 8  # type: ignore[union-attr]


@pytest.mark.parametrize("shards", [None, (4,)])
@pytest.mark.parametrize("make", ["create_array", "create", "group"])
def test_a_checksum_finds_damage(make: str, shards: Any) -> None:
    store = MemoryStore()
    given: Any = {"shape": (8,), "chunks": (2,), "shards": shards, "dtype": "i4", "checksum": True}
    array: Any
    if make == "create_array":
        array = zarr.create_array(store, name="a/b", compressors=None, **given)
    elif make == "create":
        array = zarr.create(store=store, path="a/b", **given)
    else:
        array = zarr.create_group(store).create_array("a/b", compressors=None, **given)
    array[...] = np.arange(8)
    assert array[...].tolist() == list(range(8))
    raw = bytearray(store._store_dict["a/b/c/0"].to_bytes())
    raw[1] ^= 4
    store._store_dict["a/b/c/0"] = Buffer.from_bytes(bytes(raw))
    with pytest.raises(ChunkChecksumError) as caught:
        array[0:2]
    assert caught.value.array == "a/b"


def test_a_checksum_is_of_format_3() -> None:
    with pytest.raises(ValueError, match="format 3"):
        zarr.create_array({}, shape=(2,), dtype="i4", zarr_format=2, checksum=True)
    with pytest.raises(ValueError, match="format 3"):
        zarr.group(zarr_format=2).create_array("x", shape=(2,), dtype="i4", checksum=True)


def test_a_chunk_has_one_checksum() -> None:
    named = zarr.create_array({}, shape=(2,), dtype="i4", checksum=True, compressors=zarr.codecs.Crc32cCodec())
    assert [type(codec).__name__ for codec in named.metadata.codecs] == ["BytesCodec", "Crc32cCodec"]  # type: ignore[union-attr]
    shards = zarr.create_array({}, shape=(4,), chunks=(2,), shards=(4,), dtype="i4", checksum=True).metadata.codecs  # type: ignore[union-attr]
    assert [type(codec).__name__ for codec in shards[0].codecs][-1] == "Crc32cCodec"  # type: ignore[union-attr]
    plain = zarr.create_array({}, shape=(2,), dtype="i4", checksum=False).metadata.codecs  # type: ignore[union-attr]
    assert not any(isinstance(codec, zarr.codecs.Crc32cCodec) for codec in plain)


def test_a_copy_of_an_array_takes_a_checksum_too() -> None:
    source = zarr.array(np.arange(4), chunks=(2,))
    copy = zarr.create_array({}, data=source, checksum=True)  # type: ignore[arg-type]
    assert isinstance(copy.metadata.codecs[-1], zarr.codecs.Crc32cCodec)  # type: ignore[union-attr]
    assert copy[:].tolist() == [0, 1, 2, 3]


def test_each_guarantee_has_its_test() -> None:
    page = (ROOT / "docs/reference/guarantees.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 20
    for path, test in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text, f"{path} has no {test}"
