"""zarrita.js, an implementation of its own, reads what this library writes. It needs node and ``bash ci/viewer.sh``."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

VIEWER = Path(__file__).parents[2] / "viewer"
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="no node on the path"),
    pytest.mark.skipif(not (VIEWER / "node_modules/zarrita").exists(), reason="no zarrita.js: bash ci/viewer.sh"),
]
BLOSC = ("lz4", "lz4hc", "zstd", "zlib", "blosclz")
RNG = np.random.default_rng(0)
# Half precision needs a newer node than some machines have; an index at the start of a shard is not read there.
NUMBERS = ["b1", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "f4", "f8"]
CODECS: dict[str, dict[str, Any]] = {
    "raw": {"compressors": None},
    "big endian": {"compressors": None, "serializer": BytesCodec(endian="big")},
    "gzip": {"compressors": GzipCodec(level=1)},
    "zstd": {"compressors": ZstdCodec(level=3)},
    "zstd and checksum": {"compressors": [ZstdCodec(level=3), Crc32cCodec()]},
    **{f"blosc {each}": {"compressors": BloscCodec(cname=each)} for each in BLOSC},
    "blosc bitshuffle": {"compressors": BloscCodec(shuffle="bitshuffle")},
    "transpose": {"filters": TransposeCodec(order=(1, 0))},
    "shards": {"shards": (12, 10)},
}
COMPRESSORS_2 = [None, numcodecs.Zlib(1), numcodecs.GZip(1), numcodecs.Zstd(3), numcodecs.LZ4(), numcodecs.Blosc()]


def values_of(dtype: str, shape: tuple[int, ...] = (13, 11)) -> np.ndarray[Any, Any]:
    """Return random elements, the largest and the least among them."""
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        found = RNG.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        found.flat[:2] = limits.min, limits.max
        return found
    found = (RNG.random(shape) * 100 - 50).astype(dtype) if dtype != "b1" else RNG.random(shape) > 0.5
    if np.dtype(dtype).kind == "f":
        found.flat[:3] = np.nan, np.inf, -np.inf
    return found


def plain(value: Any) -> Any:
    """Return an element as the script prints it."""
    if isinstance(value, float):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN" if math.isnan(value) else value)
    return value


def expected(data: np.ndarray[Any, Any]) -> list[Any]:
    values = data.reshape(-1).tolist()
    return [str(value) for value in values] if data.dtype in ("i8", "u8") else [plain(value) for value in values]


def read(folder: Path, paths: list[str]) -> dict[str, dict[str, Any]]:
    """Return what zarrita.js reads of some arrays."""
    assert NODE is not None
    command = [NODE, str(VIEWER / "read_arrays.mjs"), str(folder), *(f"/{path}" for path in paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["path"].lstrip("/"): row for row in rows}


def check(folder: Path, written: dict[str, np.ndarray[Any, Any]]) -> None:
    found = read(folder, list(written))
    assert {path: row["error"] for path, row in found.items() if "error" in row} == {}
    for path, data in written.items():
        assert tuple(found[path]["shape"]) == data.shape, path
        assert found[path]["values"] == expected(data), path


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_data_types(tmp_path: Path, zarr_format: Any) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    written = {dtype: values_of(dtype) for dtype in NUMBERS}
    if zarr_format == 2:
        written |= {f"big-{dtype}": values_of(dtype).astype(f">{dtype}") for dtype in ("i2", "u4", "f8")}
        written["text"] = np.array([["ab", "", "äöü"], ["c", "d e", "€"]])
    for name, data in written.items():
        root.create_array(name, data=data, chunks=tuple(max(1, length // 3) for length in data.shape))
    check(tmp_path, written)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_strings_of_any_length(tmp_path: Path, zarr_format: Any) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    data = np.array(["", "ab", "äöü€", "x" * 300, "last"], dtype=np.dtypes.StringDType())
    root.create_array("words", shape=data.shape, dtype=str, chunks=(2,))[:] = data
    found = read(tmp_path, ["words"])["words"]
    assert found.get("values") == data.tolist(), found


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_codecs_of_format_3(tmp_path: Path, dtype: str) -> None:
    root = zarr.open_group(tmp_path, mode="w")
    written = {}
    for number, (name, parameters) in enumerate(CODECS.items()):
        data = values_of(dtype)
        root.create_array(f"{number} {name}", **{"chunks": (3, 5), "data": data, **parameters})
        written[f"{number} {name}"] = data
    check(tmp_path, written)


def test_compressors_and_orders_of_format_2(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=2)
    written = {}
    for number, compressor in enumerate(COMPRESSORS_2):
        for order in ("C", "F"):
            data = values_of("i4")
            root.create_array(f"{number}{order}", data=data, chunks=(3, 5), compressors=compressor, order=order)
            written[f"{number}{order}"] = data
    check(tmp_path, written)


@pytest.mark.parametrize("separator", [".", "/"])
def test_keys_missing_chunks_and_fill_values(tmp_path: Path, separator: Any) -> None:
    root = zarr.open_group(tmp_path, mode="w")
    written = {}
    shapes = {"plain": (10, 10), "sharded": (10, 10), "scalar": (), "line": (7,)}
    for name, shape in shapes.items():
        shards = (8, 8) if name == "sharded" else None
        chunks = tuple(min(4, length) for length in shape)
        encoding: Any = {"name": "default", "separator": separator}
        array = root.create_array(
            name, shape=shape, chunks=chunks, shards=shards, dtype="i2", fill_value=-7, chunk_key_encoding=encoding
        )
        if shape == (10, 10):
            array[2:5, 3:9] = np.arange(18).reshape(3, 6)
        written[name] = array[...] if shape else np.asarray(array[()])
    check(tmp_path, written)
