"""What codecs that compute leave in a chunk: other libraries read it by a document in which that codec is undone.

No other library here has cast_value or bitround for all of these, but each knows the bytes behind them. What is to be
found there follows from the text of the specifications, by other means than those of the library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr

from .peers import run_peer

COUNT = 90
Case = tuple[str, str, dict[str, Any], str, Callable[[Any], Any]]
ROUNDINGS: dict[str, Callable[[Fraction], int]] = {
    "nearest-even": round, "towards-zero": math.trunc, "towards-positive": math.ceil, "towards-negative": math.floor,
    "nearest-away": lambda x: math.floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1),
}  # fmt: skip


def cast_to_integer(target: str, rounding: str, beyond: str) -> Callable[[Any], int]:
    info = np.iinfo(target)

    def cast(value: Any) -> int:
        whole = ROUNDINGS[rounding](Fraction(float(value)))
        if beyond == "clamp":
            return min(max(whole, info.min), info.max)
        return (whole - info.min) % (info.max - info.min + 1) + info.min

    return cast


def keep_bits(keep: int, width: int, mantissa: int) -> Callable[[int], int]:
    """Of the bits of a float, as a number: half to even among the values with fewer bits of the mantissa."""
    drop = mantissa - keep

    def rounded(bits: int) -> int:
        return min(round(Fraction(bits, 1 << drop)) << drop, (1 << width) - 1)

    return rounded


def bitround_case(random: np.random.Generator) -> Case:
    dtype, width, mantissa = (("float32", 32, 23), ("float64", 64, 52), ("float16", 16, 10))[random.integers(3)]
    keep = int(random.integers(1, mantissa))
    number, sign = np.dtype(f"u{width // 8}"), 1 << (width - 1)
    by_bits = keep_bits(keep, width, mantissa)

    def expected(value: Any) -> Any:
        bits = int(np.asarray(value).view(number))
        return np.array(by_bits(bits & (sign - 1)) | (bits & sign), number).view(dtype)

    return "bitround", dtype, {"keepbits": keep}, dtype, expected


def cast_case(random: np.random.Generator) -> Case:
    dtype = ("float32", "float64", "int32", "int64")[random.integers(4)]
    target = ("int8", "uint8", "int16", "uint32", "int64")[random.integers(5)]
    rounding, beyond = list(ROUNDINGS)[random.integers(5)], ("clamp", "wrap")[random.integers(2)]
    settings = {"data_type": target, "rounding": rounding, "out_of_range": beyond}
    return "cast_value", dtype, settings, target, cast_to_integer(target, rounding, beyond)


def scale_case(random: np.random.Generator) -> Case:
    dtype = ("float32", "float64", "int32")[random.integers(3)]
    kind: Any = np.dtype(dtype).type
    offset, scale = (3, 2) if dtype == "int32" else (float(kind(random.normal())), float(kind(random.normal() + 3)))
    return "scale_offset", dtype, {"offset": offset, "scale": scale}, dtype, lambda x: (x - kind(offset)) * kind(scale)


def document(case: Case, shape: list[int], chunks: list[int], random: np.random.Generator) -> dict[str, Any]:
    name, dtype, settings, _, _ = case
    tail = [{"name": "bytes", "configuration": {"endian": ("little", "big")[random.integers(2)]}}]
    tail += [{"name": "zstd", "configuration": {"level": 1, "checksum": False}}] * int(random.integers(2))
    codecs: list[Any] = [{"name": name, "configuration": settings}, *tail]
    if random.random() < 0.4:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        parts = {"chunk_shape": [1, chunks[1]], "codecs": codecs, "index_codecs": index, "index_location": "end"}
        codecs = [{"name": "sharding_indexed", "configuration": parts}]
    return {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": dtype, "fill_value": 0, "codecs": codecs,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}, "attributes": {},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    }  # fmt: skip


def undone(made: dict[str, Any], case: Case) -> dict[str, Any]:
    """The document of what lies behind the codec."""
    codecs = made["codecs"]
    if codecs[0]["name"] == "sharding_indexed":
        inner = codecs[0]["configuration"]
        codecs = [{**codecs[0], "configuration": {**inner, "codecs": inner["codecs"][1:]}}]
    else:
        codecs = codecs[1:]
    return {**made, "data_type": case[3], "codecs": codecs}


def write_one(folder: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    case = (bitround_case, cast_case, scale_case)[seed % 3](random)
    shape, chunks = random.integers(1, 9, 2).tolist(), random.integers(1, 6, 2).tolist()
    values = random.normal(size=shape) * 10.0 ** random.integers(-2, 4)
    values = np.round(2 * values) / 2 if random.random() < 0.5 else values
    values = values.astype(case[1])
    place = folder / f"{case[0]}-{seed}"
    place.mkdir(parents=True)
    made = document(case, shape, chunks, random)
    (place / "zarr.json").write_text(json.dumps(made))
    zarr.open_array(place, mode="r+", config={"write_empty_chunks": True})[...] = values
    (place / "zarr.json").write_text(json.dumps(undone(made, case)))
    expected = [case[4](value) for value in values.reshape(-1)]
    np.save(place.with_suffix(".npy"), np.array(expected, case[3]).reshape(shape))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("left_behind")
    for seed in range(COUNT):
        write_one(folder, seed)
    return folder


def test_it_is_what_the_specifications_say(written: Path) -> None:
    for place in written.glob("*.npy"):
        expected, found = np.load(place), zarr.open_array(place.with_suffix(""), mode="r")[...]
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), place.name


@pytest.mark.slow
@pytest.mark.parametrize("library", ["zarr", "tensorstore", "zarrs"])
def test_other_libraries_read_it(written: Path, library: str) -> None:
    said = run_peer(Path(__file__).with_name("left_behind.py"), library, str(written))
    assert len(said) == COUNT
    assert {name: what for name, what in said.items() if what} == {}
