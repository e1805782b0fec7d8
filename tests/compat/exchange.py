"""Write and read the same arrays with one library: ``python exchange.py write|read LIBRARY FOLDER``.

LIBRARY: ``zarr`` (whichever is installed), ``zarrs`` (its codec pipeline under zarr-python) or ``tensorstore``.
A case is a data type, a codec, a memory order, sharded or not, and a format. ``write`` makes FOLDER/LIBRARY/<case>,
``read`` compares what every other library left in FOLDER with the formula that all of them used, and prints one JSON
object: case -> library -> "equal", or what went wrong. What a library does not support is left out by ``supports``.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SHAPE, CHUNKS, SHARDS = (23, 17), (5, 4), (10, 8)
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", "string", "datetime64[ns]", "timedelta64[s]", "S5", "U5",
]  # fmt: skip
CODECS = ["raw", "big", "gzip", "zstd", "blosc-lz4", "blosc-zstd", "blosc-zlib", "blosc-blosclz", "blosc-lz4hc",
          "crc32c", "zstd+crc32c", "transpose"]  # fmt: skip
V2_CODECS = ["raw", "big", "gzip", "zlib", "zstd", "lz4", "blosc-lz4", "blosc-zstd", "shuffle+zlib", "delta+zstd"]
Case = tuple[int, str, str, str, bool]


def all_cases() -> list[Case]:
    """Return every (format, dtype, codec, order, sharded)."""
    new = itertools.product([3], DTYPES, CODECS, ["C"], [False, True])
    old = itertools.product([2], DTYPES, V2_CODECS, ["C", "F"], [False])
    return [case for case in [*new, *old] if sensible(case)]


def sensible(case: Case) -> bool:
    """Leave out what means nothing: byte orders of single bytes, differences of text."""
    _, dtype, codec, _, _ = case
    if dtype in ("bool", "int8", "uint8", "string", "S5") and codec == "big":
        return False
    if dtype == "string" and codec == "transpose":
        return False
    if codec.startswith("delta"):
        return dtype[0] in "iu" and dtype != "U5"  # differences of floats are rounded
    return not (codec.startswith("shuffle") and dtype[0] not in "iuf")


def name_of(case: Case) -> str:
    """Return the folder name of a case."""
    form, dtype, codec, order, sharded = case
    return f"v{form}-{dtype.replace('[', '_').replace(']', '')}-{codec}-{order}-{'sharded' if sharded else 'plain'}"


def values_of(case: Case) -> np.ndarray[Any, Any]:
    """Return the data of a case: the same formula everywhere."""
    _, dtype, codec, _, _ = case
    count = int(np.prod(SHAPE))
    numbers = (np.arange(count) * 37 + 11) % 251
    if dtype == "string":
        flat: Any = np.array([f"{n}é" if n % 3 else "" for n in numbers], dtype=object)
    elif dtype in ("S5", "U5"):
        flat = np.array([str(n) for n in numbers], dtype=dtype)
    elif dtype.startswith(("datetime", "timedelta")):
        flat = numbers.astype("i8").astype(dtype)
        flat[::50] = "NaT"
    elif dtype.startswith("complex"):
        flat = (numbers - 1j * numbers[::-1]).astype(dtype)
    elif dtype == "bool":
        flat = numbers % 3 == 0
    elif dtype.startswith("float"):
        flat = (numbers / 4 - 20).astype(dtype)
        flat[7], flat[8], flat[9] = np.nan, np.inf, -0.0
    else:
        flat = (numbers % 120).astype(dtype)
    values = flat.reshape(SHAPE)
    values[10:20, 8:16] = flat.reshape(SHAPE)[0, 0] if dtype == "string" else np.zeros(1, values.dtype)[0]
    return values.astype(values.dtype.newbyteorder(">")) if codec == "big" and case[0] == 2 else values


def supports(library: str, case: Case) -> bool:
    """Say whether a library claims to support a case."""
    form, dtype, codec, order, _ = case
    if library == "zarr":
        return not (codec == "big" and dtype in ("U5",) and form == 3)
    if library == "zarrs":
        # Its pipeline covers numbers; it hands the rest back, and does not read big-endian or F-ordered format 2.
        plain = dtype[0] in "biufc" and not dtype.startswith(("complex", "float16"))
        return plain and (form == 3 or (order == "C" and codec in ("raw", "gzip", "zstd", "blosc-lz4", "blosc-zstd")))
    if dtype in ("string", "U5", "S5") or dtype.startswith(("datetime", "timedelta")):
        return False
    if form == 2:
        return codec in ("raw", "big", "gzip", "zlib", "zstd", "blosc-lz4", "blosc-zstd")
    return True


class WithZarr:
    """zarr-python's calls: this library, or zarr-python, or zarrs under it."""

    def __init__(self, library: str) -> None:
        import zarr

        self.zarr = zarr
        if library == "zarrs":
            zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})

    def write(self, path: Path, case: Case) -> None:
        form, dtype, codec, order, sharded = case
        values = values_of(case)
        options: dict[str, Any] = self.options_v2(codec, values) if form == 2 else self.options_v3(codec)
        kind = values.dtype if dtype != "string" else "string"
        array = self.zarr.create_array(
            str(path), shape=SHAPE, chunks=CHUNKS, dtype=kind, zarr_format=form, overwrite=True, order=order,
            shards=SHARDS if sharded else None, fill_value=None, **options,
        )  # fmt: skip
        array[...] = values

    def options_v2(self, codec: str, values: Any) -> dict[str, Any]:
        import numcodecs as nc

        kind = values.dtype.str if values.dtype != object else ""
        table: dict[str, tuple[list[Any] | None, Any]] = {
            "raw": (None, None), "big": (None, None), "gzip": (None, nc.GZip(3)), "zlib": (None, nc.Zlib(3)),
            "zstd": (None, nc.Zstd(3)), "lz4": (None, nc.LZ4()), "blosc-lz4": (None, nc.Blosc("lz4", 5, 1)),
            "blosc-zstd": (None, nc.Blosc("zstd", 3, 2)),
            "shuffle+zlib": ([nc.Shuffle(values.dtype.itemsize)] if kind else None, nc.Zlib(3)),
            "delta+zstd": ([nc.Delta(kind)] if kind else None, nc.Zstd(3)),
        }  # fmt: skip
        filters, compressor = table[codec]
        return {"compressors": compressor} | ({"filters": filters} if filters else {})

    def options_v3(self, codec: str) -> dict[str, Any]:
        c = self.zarr.codecs
        if codec.startswith("blosc-"):
            return {"compressors": c.BloscCodec(cname=codec[6:], clevel=5, shuffle="bitshuffle")}
        table: dict[str, dict[str, Any]] = {
            "raw": {"compressors": None},
            "big": {"compressors": None, "serializer": c.BytesCodec(endian="big")},
            "gzip": {"compressors": c.GzipCodec(level=4)},
            "zstd": {"compressors": c.ZstdCodec(level=3)},
            "crc32c": {"compressors": c.Crc32cCodec()},
            "zstd+crc32c": {"compressors": [c.ZstdCodec(level=1, checksum=True), c.Crc32cCodec()]},
            "transpose": {"filters": c.TransposeCodec(order=(1, 0)), "compressors": c.ZstdCodec(level=1)},
        }
        return table[codec]

    def read(self, path: Path) -> Any:
        return self.zarr.open_array(str(path), mode="r")[...]


class WithTensorStore:
    """tensorstore, reading and writing local folders."""

    def __init__(self) -> None:
        import tensorstore

        self.ts = tensorstore

    def write(self, path: Path, case: Case) -> None:
        form = case[0]
        spec = self.spec_v2(case) if form == 2 else self.spec_v3(case)
        driver = "zarr" if form == 2 else "zarr3"
        request = {"driver": driver, "kvstore": {"driver": "file", "path": f"{path}/"}, "metadata": spec}
        self.ts.open(request, create=True, delete_existing=True).result()[...] = values_of(case)

    def spec_v2(self, case: Case) -> dict[str, Any]:
        _, _, codec, order, _ = case
        compressors: dict[str, Any] = {
            "gzip": {"id": "gzip", "level": 3}, "zlib": {"id": "zlib", "level": 3}, "zstd": {"id": "zstd", "level": 3},
            "blosc-lz4": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
            "blosc-zstd": {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0},
        }  # fmt: skip
        return {
            "shape": SHAPE, "chunks": CHUNKS, "dtype": values_of(case).dtype.str, "order": order, "fill_value": None,
            "compressor": compressors.get(codec), "filters": None,
        }  # fmt: skip

    def spec_v3(self, case: Case) -> dict[str, Any]:
        _, dtype, codec, _, sharded = case
        codecs = self.codecs(codec, np.dtype(dtype).itemsize)
        if sharded:
            index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
            configuration = {"chunk_shape": CHUNKS, "codecs": codecs, "index_codecs": index}
            codecs = [{"name": "sharding_indexed", "configuration": configuration}]
        grid = {"name": "regular", "configuration": {"chunk_shape": SHARDS if sharded else CHUNKS}}
        return {"shape": SHAPE, "data_type": dtype, "chunk_grid": grid, "codecs": codecs}

    def codecs(self, codec: str, size: int) -> list[dict[str, Any]]:
        serializer = {"name": "bytes", "configuration": {"endian": "big" if codec == "big" else "little"}}
        if codec.startswith("blosc-"):
            blosc = {"cname": codec[6:], "clevel": 5, "shuffle": "bitshuffle", "typesize": size, "blocksize": 0}
            return [serializer, {"name": "blosc", "configuration": blosc}]
        zstd = {"name": "zstd", "configuration": {"level": 1}}
        tails: dict[str, list[dict[str, Any]]] = {
            "gzip": [{"name": "gzip", "configuration": {"level": 4}}], "zstd": [zstd], "crc32c": [{"name": "crc32c"}],
            "zstd+crc32c": [zstd, {"name": "crc32c"}], "transpose": [zstd],
        }  # fmt: skip
        head = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if codec == "transpose" else []
        return [*head, serializer, *tails.get(codec, [])]

    def read(self, path: Path) -> Any:
        driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
        request = {"driver": driver, "kvstore": {"driver": "file", "path": f"{path}/"}}
        return self.ts.open(request).result().read().result()


def make(library: str) -> Any:
    """Return the writer and reader of a library."""
    return WithTensorStore() if library == "tensorstore" else WithZarr(library)


def write_all(library: str, folder: Path, label: str | None = None) -> dict[str, str]:
    """Write every supported case to FOLDER/LABEL."""
    writer, problems = make(library), {}
    for case in all_cases():
        if supports(library, case):
            try:
                writer.write(folder / (label or library) / name_of(case), case)
            except Exception as error:  # the test lists what a library could not write
                problems[name_of(case)] = f"{type(error).__name__}: {error}"
    return problems


def compare(got: Any, case: Case) -> str:
    """Say "equal", or how what was read differs from the formula."""
    expected = values_of(case)
    got = np.asarray(got)
    if got.shape != expected.shape:
        return f"shape {got.shape}"
    if case[1] == "string":
        return "equal" if got.tolist() == expected.tolist() else "text differs"
    native = expected.dtype.newbyteorder("=")
    if got.dtype.newbyteorder("=") != native:
        return f"dtype {got.dtype}"
    same = got.astype(native).tobytes() == expected.astype(native).tobytes()
    return "equal" if same else f"{int((got != expected).sum())} items differ"


def read_all(library: str, folder: Path) -> dict[str, dict[str, str]]:
    """Read what every library wrote; return what came of it, case by case."""
    reader, outcome = make(library), {}
    for case in all_cases():
        if not supports(library, case):
            continue
        for place in sorted(folder.iterdir()):
            path = place / name_of(case)
            if path.exists():
                try:
                    verdict = compare(reader.read(path), case)
                except Exception as error:  # the test lists what a library could not read
                    verdict = f"{type(error).__name__}: {str(error)[:200]}"
                outcome.setdefault(name_of(case), {})[place.name] = verdict
    return outcome


if __name__ == "__main__":
    action, chosen, where = sys.argv[1:4]
    print(json.dumps(write_all(chosen, Path(where)) if action == "write" else read_all(chosen, Path(where))))
