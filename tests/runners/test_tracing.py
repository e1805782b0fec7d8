"""The four loggers: a line a request, a line an operation, a line a chunk; and nothing where nobody listens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.budget.test_frames import count_frames
from tests.parity.slow_store import SlowStore
from zarr.errors import NodeTypeValidationError
from zarr.logs import loggers
from zarr.storage import LocalStore, MemoryStore

CODEC = zarr.codecs.ZstdCodec()
CODEC_LOG = loggers()[3]
NAMES = ("zarr.array", "zarr.group", "zarr.store", CODEC_LOG.name)  # importing the loggers sets their levels


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    """As in a program that has set none, whatever tests before have set; afterwards as they were."""
    levels = {name: logging.getLogger(name).level for name in ("zarr", *NAMES)}
    handlers = list(logging.getLogger("zarr").handlers)
    for name in levels:
        logging.getLogger(name).setLevel("INFO" if name == CODEC_LOG.name else "NOTSET")
    yield
    logging.getLogger("zarr").handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture(params=["memory", "local", "coroutines"])
def array(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    stores: dict[str, Any] = {"memory": MemoryStore(), "local": LocalStore(tmp_path)}
    store = stores.get(request.param) or SlowStore(MemoryStore())
    made = zarr.create_array(store, name="g/x", shape=(8, 8), chunks=(4, 4), dtype="i4", compressors=None)
    made[...] = np.arange(64).reshape(8, 8)
    return made


def lines(caplog: pytest.LogCaptureFixture, name: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == name]


def test_one_line_a_request_with_key_bytes_and_milliseconds(array: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "zarr.store"):
        assert array[0, 0] == 0
        asyncio.run(array.async_array.getitem((7, 7)))
        array[0, 0] = 5
    told = [record for record in caplog.records if record.name == "zarr.store"]
    assert [(record.key, record.nbytes) for record in told] == [  # type: ignore[attr-defined]
        ("g/x/c/0/0", 64),
        ("g/x/c/1/1", 64),
        ("g/x/c/0/0", 64),
        ("g/x/c/0/0", 64),
    ]
    assert [line.split(":")[0] for line in lines(caplog, "zarr.store")] == [
        "get g/x/c/0/0",
        "get g/x/c/1/1",
        "get g/x/c/0/0",
        "set g/x/c/0/0",
    ]
    assert all(record.milliseconds > 0 for record in told)  # type: ignore[attr-defined]
    assert {record.name for record in caplog.records} == {"zarr.store"}


def test_one_line_an_operation(array: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "zarr.array"), caplog.at_level("DEBUG", "zarr.group"):
        array[...]
        array[...] = 3
        array.attrs["unit"] = "m"
        zarr.open_group(array.store, path="g", mode="r")["x"]
        with pytest.raises(NodeTypeValidationError):
            zarr.Array.open(array.store)
    told = lines(caplog, "zarr.array")
    assert [line.split(":")[0] for line in told] == [
        "getitem /g/x",
        "setitem /g/x",
        "update attributes /g/x",
        "open array /",
    ]
    assert "256 bytes" in told[0]
    assert told[3].endswith("NodeTypeValidationError")
    assert lines(caplog, "zarr.group")[-1].startswith("node /g: ")
    assert not lines(caplog, "zarr.store")


@pytest.mark.parametrize("shards", [None, (8, 8)])
def test_one_line_a_chunk(shards: Any, caplog: pytest.LogCaptureFixture) -> None:
    array = zarr.create_array({}, shape=(8, 8), chunks=(4, 4), shards=shards, dtype="i4", compressors=CODEC)
    data = np.arange(64).reshape(8, 8)
    with caplog.at_level("DEBUG", "zarr.codec"):
        array[...] = data
        np.testing.assert_array_equal(array[...], data)
        np.testing.assert_array_equal(zarr.read_many([(array, slice(0, 3))])[0], data[:3])
    told = [line for line in lines(caplog, "zarr.codec") if "zstd" in line]
    assert sum(line.startswith("encode bytes, zstd: ") for line in told) == 4
    assert sum(line.startswith("decode bytes, zstd: ") for line in told) >= 4
    assert all(line.endswith("64 bytes decoded") for line in told)


def test_what_is_read_is_the_same_with_and_without(array: Any, caplog: pytest.LogCaptureFixture) -> None:
    before = [array[...], array[1:7:2, ::3], array.oindex[[0, 5], [1, 2]]]
    with caplog.at_level("DEBUG", "zarr"):
        after = [array[...], array[1:7:2, ::3], array.oindex[[0, 5], [1, 2]]]
        with array.batch():
            array[2, 2] = -1
        array.resize((9, 9))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert array[2, 2] == -1


def test_levels_are_heeded_at_once_and_cost_no_frame_when_off(caplog: pytest.LogCaptureFixture) -> None:
    array = zarr.create_array({}, shape=(8, 8), chunks=(4, 4), dtype="i4")
    array[...] = 1

    def read() -> None:
        array[0, 0]

    read()
    quiet = count_frames(read)
    for level in ("DEBUG", "WARNING"):
        logging.getLogger("zarr").setLevel(level)
        caplog.clear()
        read()
        assert bool(caplog.records) is (level == "DEBUG")
    read()
    assert count_frames(read) == quiet


def test_a_listener_to_everything_leaves_bulk_reads_alone(caplog: pytest.LogCaptureFixture) -> None:
    array = zarr.create_array({}, shape=(8, 8), chunks=(4, 4), dtype="i4")
    array[...] = 1
    with caplog.at_level("DEBUG"):
        array[...]
    assert [line.split(":")[0] for line in lines(caplog, "zarr.store")] == ["read c/0/0 and 3 more"]
    assert not lines(caplog, "zarr.codec")
    caplog.clear()
    try:
        zarr.set_log_level("DEBUG")
        array[...]
    finally:
        zarr.set_log_level("INFO")
    assert len(lines(caplog, "zarr.codec")) == 4


def test_names_of_files_are_shown_escaped(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    zarr.create_array(store, name="a\x1b[31mb", shape=3, dtype="i1")
    with caplog.at_level("DEBUG", "zarr"):
        zarr.open_array(store, path="a\x1b[31mb")[:]
    assert lines(caplog, "zarr.store")
    assert "\x1b" not in "".join(record.getMessage() for record in caplog.records)


def test_each_operation_names_what_it_is_about(caplog: pytest.LogCaptureFixture) -> None:
    """By the first argument of its steps, whatever that is called."""
    store = MemoryStore()
    with caplog.at_level("DEBUG", "zarr.array"), caplog.at_level("DEBUG", "zarr.group"):
        group = zarr.create_group(store, path="q")
        array = group.create_array("x", shape=(4,), chunks=(2,), dtype="i4")
        array[...] = 1
        array.vindex[[1]] = 2
        array.resize((6,))
        array.append([1])
        array.attrs["k"] = 1
        group.attrs["u"] = 1
        group.require_group("y")
        list(group.members())
        zarr.open(store, path="q/x")
        zarr.open_array(store, path="q/w", mode="a", shape=(1,), dtype="i4")
        zarr.open_group(store, path="q/v", mode="a")
        zarr.save_array(store, np.ones(2), path="q/r")
        group.move("y", "t")
        del group["t"]
    told = [line.split(":")[0] for name in NAMES[:2] for line in lines(caplog, name)]
    assert len(told) > 15
    assert [line for line in told if "/q" not in line] == []
