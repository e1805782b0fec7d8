"""N5 written by the stores of zarr-python 2, and read by them, by the reader of N5 and by tensorstore."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.codecs.extensions.n5 import decode_lz4_frames, encode_lz4_frames
from zarr.n5 import N5ChunkWrapper, n5_keywords

PEER = Path(__file__).resolve().parents[2] / ".venv-peers" / "bin" / "python"
CODECS: list[Any] = [
    None, numcodecs.GZip(1), numcodecs.Zlib(9), numcodecs.BZ2(2), numcodecs.LZMA(), numcodecs.LZ4(),
    numcodecs.Blosc(), numcodecs.Zstd(3),
]  # fmt: skip
READ = """
import json, sys, tensorstore as ts
for path in json.loads(sys.argv[1]):
    array = ts.open({"driver": "n5", "kvstore": "file://" + path}).result()
    print(json.dumps(array.read().result().T.tolist()))
"""


@pytest.fixture(params=["N5Store", "N5FSStore"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return getattr(zarr, request.param)(str(tmp_path / "a.n5"))


def values_of(dtype: str) -> Any:
    return (np.arange(35) * 3).astype(dtype).reshape(5, 7)


@pytest.mark.parametrize("dtype", ["i1", "u2", ">i4", "<u8", "f4", "f8"])
def test_what_is_written_is_read(store: Any, dtype: str, tmp_path: Path) -> None:
    root = zarr.group(store)
    values = values_of(dtype)
    for number, codec in enumerate(CODECS):
        array = root.create_dataset(f"g/x{number}", shape=(5, 7), chunks=(2, 3), dtype=dtype, compressor=codec)
        array[:] = values
        array.attrs["unit"] = "m"
        assert array[:].tolist() == values.tolist()
    again = zarr.open_group(type(store)(store.path), mode="r")["g"]
    by_reader = zarr.open_group(zarr.storage.N5Store(zarr.storage.LocalStore(store.path)), mode="r")["g"]
    for number in range(len(CODECS)):
        for found in (again[f"x{number}"], by_reader[f"x{number}"]):
            assert (found[:].tolist(), dict(found.attrs)) == (values.tolist(), {"unit": "m"})


@pytest.mark.skipif(not PEER.exists(), reason="needs .venv-peers (ci/peers.sh)")
def test_tensorstore_reads_it(store: Any) -> None:
    root, paths = zarr.group(store), []
    for number, codec in enumerate(codec for codec in CODECS if getattr(codec, "codec_id", "") != "lz4"):
        root.create_dataset(f"x{number}", data=values_of(">i2"), chunks=(2, 3), compressor=codec)
        paths.append(f"{store.path}/x{number}/")
    command = [str(PEER), "-c", READ, json.dumps(paths)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [json.loads(line) for line in told] == [values_of("i2").tolist()] * len(paths)


def test_files_are_those_of_n5(store: Any) -> None:
    array = zarr.create((4, 6), chunks=(2, 3), dtype="u1", compressor=None, store=store, path="a")
    array[2:, 3:] = 7
    array.attrs["x"] = 1
    folder = Path(store.path) / "a"
    assert json.loads((folder / "attributes.json").read_text()) == {
        "dimensions": [6, 4], "blockSize": [3, 2], "dataType": "uint8", "compression": {"type": "raw"}, "x": 1,
    }  # fmt: skip
    assert (folder / "1" / "1").read_bytes() == struct.pack(">HHII", 0, 2, 3, 2) + b"\7" * 6
    assert store.listdir("a") == [".zarray", ".zattrs", "1.1"]
    assert "a/1.1" in store
    assert sorted(key for key in store if key.startswith("a/")) == ["a/.zarray", "a/.zattrs", "a/1.1"]
    array.attrs.clear()
    assert "a/.zattrs" not in store
    assert zarr.open(store, mode="r", path="a")[3, 5] == 7


def test_blocks_cut_at_the_edge_and_of_varlength_mode() -> None:
    codec = N5ChunkWrapper("<i2", (2, 2))
    assert codec.decode(struct.pack(">HHIIhh", 0, 2, 1, 2, 5, 6)).tolist() == [[5, 0], [6, 0]]
    assert codec.decode(struct.pack(">HHIIIhhhh", 1, 2, 2, 2, 4, 1, 2, 3, 4)).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="mode 2"):
        codec.decode(struct.pack(">HHII", 2, 2, 2, 2))
    with pytest.raises(ValueError, match="not both"):
        N5ChunkWrapper("<i2", (2, 2), numcodecs.GZip().get_config(), numcodecs.GZip())


@pytest.mark.parametrize("size", [0, 1, 100, 65536, 200_000])
def test_frames_of_lz4(size: int) -> None:
    raw = bytes(np.random.default_rng(1).integers(0, 4, size, dtype="u1"))
    framed = encode_lz4_frames(raw)
    assert framed.startswith(b"LZ4Block")
    assert decode_lz4_frames(framed) == raw


def test_what_n5_cannot_hold_is_refused(store: Any) -> None:
    for words, error in [
        ({"order": "F"}, ValueError), ({"fill_value": 1}, ValueError), ({"dtype": "S3"}, TypeError),
        ({"filters": [numcodecs.Delta("f8")]}, ValueError), ({"zarr_format": 3}, ValueError),
    ]:  # fmt: skip
        with pytest.raises(error):
            zarr.create((4, 4), store=store, path="x", **words)
    array = zarr.create((4, 4), store=store, path="y")
    for name in n5_keywords:
        with pytest.warns(UserWarning, match=name):
            array.attrs[name] = ""


def test_copies_to_and_from_n5(store: Any) -> None:
    source = zarr.group(zarr_format=2)
    source.create_dataset("a/x", data=np.arange(10, dtype="i4"), chunks=4).attrs["k"] = "v"
    root = zarr.group(store)
    zarr.copy(source["a"], root)
    back = zarr.group(zarr_format=2)
    zarr.copy(root["a"], back)
    assert back["a/x"][:].tolist() == list(range(10))
    assert dict(back["a/x"].attrs) == {"k": "v"}


def test_a_path_means_the_store_that_writes(tmp_path: Path) -> None:
    store = zarr.storage.N5Store(tmp_path / "a.n5")
    assert type(store) is zarr.N5Store
    assert zarr.storage.N5Store(zarr.storage.MemoryStore()).read_only
    assert type(zarr.storage.normalize_store_arg(str(tmp_path / "b.n5"))) is zarr.N5Store
