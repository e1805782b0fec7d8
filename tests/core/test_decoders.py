"""Native codecs against numcodecs, and against damage: a guard page stands behind every damaged payload."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numcodecs.blosc
import numcodecs.zstd
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.guard_page import GuardedMemory
from zarr_core import decoders, symbols
from zarr_core.reference import decoders as plain

MEMORY = GuardedMemory()
NATIVE = [name for name, here in decoders.available().items() if here]
CNAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")

CODECS = st.one_of(
    st.tuples(st.just("zstd"), st.fixed_dictionaries({"level": st.integers(-7, 9), "checksum": st.booleans()})),
    st.tuples(st.sampled_from(["gzip", "zlib"]), st.fixed_dictionaries({"level": st.integers(0, 9)})),
    st.tuples(st.just("lz4"), st.fixed_dictionaries({"acceleration": st.integers(1, 50)})),
    st.tuples(st.just("crc32c"), st.fixed_dictionaries({"location": st.sampled_from(["start", "end"])})),
    st.tuples(st.just("shuffle"), st.fixed_dictionaries({"elementsize": st.integers(1, 20)})),
    st.tuples(st.just("delta"), st.fixed_dictionaries({"dtype": st.sampled_from(["u1", "i2", "u4", "i8"])})),
    st.tuples(
        st.just("blosc"),
        st.fixed_dictionaries(
            {
                "cname": st.sampled_from(CNAMES),
                "clevel": st.integers(0, 9),
                "shuffle": st.integers(0, 2),
                "typesize": st.integers(1, 33),
                "blocksize": st.one_of(st.just(0), st.integers(1, 5000)),
            }
        ),
    ),
)


def sample(seed: int, nbytes: int) -> bytes:
    """Bytes of some kind: noise, runs, a walk, or few values."""
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        return rng.integers(0, 256, nbytes, dtype="u1").tobytes()
    if kind == 1:
        return (np.arange(nbytes) // (1 + seed % 37)).astype("u1").tobytes()
    if kind == 2:
        return np.cumsum(rng.integers(-2, 3, nbytes // 4 + 1)).astype("<i4").tobytes()[:nbytes]
    return (rng.integers(0, 3, nbytes, dtype="u1") * 85).tobytes()


DATA = st.builds(
    sample,
    st.integers(0, 1000),
    st.one_of(st.sampled_from([8, 16, 128, 1024, 4096]), st.integers(1, 40), st.integers(1, 40_000)),
)


def fitting(name: str, params: dict[str, Any], data: bytes) -> bytes:
    """Whole items only, where the codec has items."""
    if name == "shuffle":
        size = params.get("elementsize", 4)
    else:
        size = np.dtype(params["dtype"]).itemsize if name == "delta" else 1
    return data[: len(data) // size * size]


@given(CODECS, DATA)
def test_what_one_side_stores_the_other_reads(codec: tuple[str, dict[str, Any]], data: bytes) -> None:
    name, params = codec
    data = fitting(name, params, data)
    if not data:
        return
    ours, theirs = decoders.encode(name, data, **params), plain.encode(name, data, **params)
    assert bytes(decoders.decode(name, MEMORY.hold(theirs), len(data), **params)) == data
    assert bytes(decoders.decode(name, MEMORY.hold(ours), **params)) == data
    assert bytes(plain.decode(name, ours, len(data), **params)) == data


@pytest.mark.parametrize("name", ["crc32c", "shuffle", "delta"])
@given(data=DATA)
def test_exact_codecs_store_the_same_bytes(name: str, data: bytes) -> None:
    params = {"dtype": "u1"} if name == "delta" else {}
    data = fitting(name, params, data)
    assert decoders.encode(name, data, **params) == plain.encode(name, data, **params)


def test_only_whole_elements_are_shuffled_and_what_others_left_over_is_read() -> None:
    for twin in (decoders, plain):
        with pytest.raises(ValueError, match="7 bytes cannot be encoded"):
            twin.encode("shuffle", b"abcdefg", elementsize=4)
        assert bytes(twin.decode("shuffle", b"acebdfg", 7, elementsize=2)) == b"abcdefg"  # as HDF5 writes it


@given(CODECS, DATA, st.data())
@settings(max_examples=300)
def test_damage_is_refused_or_harmless(codec: tuple[str, dict[str, Any]], data: bytes, draw: st.DataObject) -> None:
    name, params = codec
    data = fitting(name, params, data)
    stored = bytearray(decoders.encode(name, data, **params))
    if draw.draw(st.booleans()):
        del stored[draw.draw(st.integers(0, len(stored))) :]
    for _ in range(draw.draw(st.integers(0, 3))):
        if stored:
            place = draw.draw(st.integers(0, min(len(stored), draw.draw(st.sampled_from([16, 64, 1 << 20]))) - 1))
            stored[place] = draw.draw(st.integers(0, 255))
    payload = MEMORY.hold(bytes(stored))
    for size in (len(data), None):
        try:
            result = decoders.decode(name, payload, size, max_nbytes=1 << 20, **params)
        except ValueError:
            continue
        assert size is None or len(result) == size
    if name == "blosc":
        try:
            assert len(decoders.decode_blosc_range(payload, 0, min(len(data), 5))) == min(len(data), 5)
        except (ValueError, IndexError):
            return


@given(st.binary(max_size=400), st.sampled_from(NATIVE))
def test_noise_is_refused_or_harmless(payload: bytes, name: str) -> None:
    params = {"dtype": "u1"} if name == "delta" else {}
    for size in (0, 1, 100, None):
        try:
            found = decoders.decode(name, MEMORY.hold(payload), size, max_nbytes=1 << 16, **params)
        except ValueError:
            continue
        nbytes = memoryview(found).nbytes
        assert nbytes <= 1 << 16 if size is None else nbytes == size


@given(DATA, st.sampled_from(CNAMES), st.integers(1, 17), st.sampled_from([0, 64, 256, 4096]), st.data())
def test_part_of_a_blosc_frame(data: bytes, cname: str, typesize: int, blocksize: int, draw: st.DataObject) -> None:
    frame = decoders.encode("blosc", data, cname=cname, typesize=typesize, blocksize=blocksize)
    start = draw.draw(st.integers(0, len(data)))
    stop = draw.draw(st.integers(start, len(data)))
    assert bytes(decoders.decode_blosc_range(MEMORY.hold(frame), start, stop)) == data[start:stop]


def test_part_of_a_blosc_frame_must_lie_inside() -> None:
    frame = decoders.encode("blosc", bytes(100))
    for start, stop in ((0, 101), (5, 4), (-1, 3)):
        with pytest.raises(IndexError, match="100 bytes"):
            decoders.decode_blosc_range(frame, start, stop)


def test_only_the_blocks_asked_for_are_decoded() -> None:
    data = np.arange(100_000, dtype="<u4").tobytes()
    frame = bytearray(decoders.encode("blosc", data, typesize=4, blocksize=8192))
    frame[-50:] = bytes(50)
    assert bytes(decoders.decode_blosc_range(bytes(frame), 0, 8192)) == data[:8192]
    with pytest.raises(ValueError, match="damaged"):
        decoders.decode("blosc", bytes(frame), len(data))


# --- forms that our encoders do not write


def zstd_frame_without_size(data: bytes) -> bytes:
    """A frame of one raw block: magic, no flags, a window of 1 MiB, block header."""
    header = (len(data) << 3 | 1).to_bytes(3, "little")
    return bytes.fromhex("28b52ffd") + b"\x00\x50" + header + data


@pytest.mark.parametrize("size", [None, 5000])
def test_zstd_frames_without_a_declared_size(size: int | None) -> None:
    data = sample(0, 5000)
    assert bytes(decoders.decode("zstd", zstd_frame_without_size(data), size)) == data


@pytest.mark.parametrize("size", [None, 90_000])
def test_zstd_frames_one_behind_the_other(size: int | None) -> None:
    parts = [sample(seed, 30_000) for seed in (1, 2, 3)]
    skippable = bytes.fromhex("502a4d18") + (3).to_bytes(4, "little") + b"xyz"
    payload = decoders.encode("zstd", parts[0]) + skippable + zstd_frame_without_size(parts[1])
    payload += numcodecs.zstd.Zstd(1).encode(parts[2])
    assert bytes(decoders.decode("zstd", payload, size)) == b"".join(parts)


@pytest.mark.parametrize("size", [None, 60_000])
def test_gzip_members_one_behind_the_other(size: int | None) -> None:
    parts = [sample(1, 30_000), sample(2, 30_000)]
    payload = gzip.compress(parts[0]) + gzip.compress(parts[1]) + bytes(7)
    assert bytes(decoders.decode("gzip", payload, size)) == b"".join(parts)


def test_gzip_refuses_noise_behind_the_members() -> None:
    with pytest.raises(ValueError, match="gzip"):
        decoders.decode("gzip", gzip.compress(b"abc") + b"noise", 3)


def test_what_grows_by_a_thousand() -> None:
    data = bytes(10_000_000)
    for name in ("zstd", "gzip", "zlib", "lz4", "blosc"):
        assert bytes(decoders.decode(name, decoders.encode(name, data))) == data


def test_zlib_and_gzip_are_the_usual_formats() -> None:
    assert zlib.decompress(decoders.encode("zlib", b"abc" * 50, level=9)) == b"abc" * 50
    assert gzip.decompress(decoders.encode("gzip", b"abc" * 50, level=9)) == b"abc" * 50
    assert decoders.encode("gzip", b"abc") == decoders.encode("gzip", b"abc")


# --- sizes that lie


def test_a_declared_size_buys_no_memory() -> None:
    for name, payload in {
        "lz4": (0x7FFFFFFF).to_bytes(4, "little") + b"\x10a",
        "zstd": bytes.fromhex("28b52ffd") + b"\xc0" + (1 << 50).to_bytes(8, "little") + bytes(8),
        "blosc": bytes([2, 1, 0, 1]) + b"".join(n.to_bytes(4, "little") for n in (0x7FFFFFFF, 64, 24)) + bytes(8),
    }.items():
        with pytest.raises(ValueError, match=name):
            decoders.decode(name, payload)
        with pytest.raises(ValueError, match=name):
            decoders.decode(name, payload, 100)


def test_the_result_must_have_the_size_expected() -> None:
    for name in ("zstd", "gzip", "zlib", "lz4", "blosc", "crc32c", "shuffle"):
        payload = decoders.encode(name, bytes(100))
        for size in (0, 99, 101):
            with pytest.raises(ValueError, match=str(size)):
                decoders.decode(name, payload, size)


def test_the_result_may_not_outgrow_its_limit() -> None:
    payload = decoders.encode("zstd", bytes(1 << 20))
    with pytest.raises(ValueError, match="65536"):
        decoders.decode("zstd", payload, max_nbytes=1 << 16)


def test_what_is_no_snappy_is_named_not_crashed_on() -> None:
    frame = bytearray(decoders.encode("blosc", bytes(range(200)) * 50, cname="lz4"))
    frame[2] = frame[2] & 0x1F | 2 << 5
    with pytest.raises(ValueError, match="blosc"):
        decoders.decode("blosc", bytes(frame), 10_000)


def test_a_wrong_checksum_is_told() -> None:
    payload = bytearray(decoders.encode("crc32c", b"123456789"))
    assert payload[-4:].hex() == "839206e3"
    payload[0] ^= 1
    with pytest.raises(ValueError, match="0xe3069283"):
        decoders.decode("crc32c", bytes(payload), 9)


@given(st.binary(max_size=200), st.integers(0, 7))
def test_the_checksum_by_tables(data: bytes, skip: int) -> None:
    stored = int.from_bytes(decoders.encode("crc32c", data[skip:])[-4:], "little")
    assert symbols.crc32c_portable(data[skip:]) == stored == plain.crc32c_sum(data[skip:])


@pytest.mark.parametrize("n", [3071, 3072, 3073, 3079, 6143, 6144, 9000, 20_011])
def test_the_checksum_of_several_lanes(n: int) -> None:
    for seed in range(4):
        data = np.random.default_rng(seed).bytes(n + seed)[seed:]
        stored = int.from_bytes(decoders.encode("crc32c", data)[-4:], "little")
        assert symbols.crc32c_portable(data) == stored == plain.crc32c_sum(data)
        assert bytes(decoders.decode("crc32c", decoders.encode("crc32c", data), n)) == data


# --- guards

BAD_PARAMS: list[tuple[str, dict[str, Any]]] = [
    ("nothing", {}),
    ("zstd", {"speed": 1}),
    ("zstd", {"level": 23}),
    ("gzip", {"level": 10}),
    ("zlib", {"level": -2}),
    ("blosc", {"cname": "brotli"}),
    ("blosc", {"clevel": 10}),
    ("blosc", {"shuffle": 3}),
    ("blosc", {"typesize": 0}),
    ("blosc", {"blocksize": -1}),
    ("shuffle", {"elementsize": 0}),
    ("crc32c", {"location": "middle"}),
    ("delta", {}),
    ("delta", {"dtype": "f2"}),
    ("delta", {"dtype": ">i4"}),
    ("delta", {"dtype": "i4", "astype": "i2"}),
]


@pytest.mark.parametrize(("name", "params"), BAD_PARAMS)
@pytest.mark.parametrize("side", [decoders, plain])
def test_bad_parameters(side: Any, name: str, params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=name):
        side.encode(name, bytes(8), **params)
    with pytest.raises(ValueError, match=name):
        side.decode(name, bytes(8), 8, **params)


def test_payloads_are_contiguous_bytes() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        decoders.decode("zstd", np.zeros((4, 4), "u1")[:, ::2], 8)
    with pytest.raises(TypeError):
        decoders.decode("zstd", np.array(["a"], dtype=object), 8)
    with pytest.raises(TypeError):
        decoders.decode("zstd", 5, 8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        decoders.decode("zstd", b"", -1)


def test_any_buffer_will_do() -> None:
    stored = decoders.encode("zstd", np.arange(6, dtype="<u2").reshape(2, 3))
    for payload in (stored, bytearray(stored), memoryview(stored), np.frombuffer(stored, "i1")):
        assert decoders.decode("zstd", payload, 12).view("<u2").tolist() == list(range(6))


def test_many_threads() -> None:
    data = [sample(seed, 200_000) for seed in range(8)]

    def there_and_back(k: int) -> bool:
        raw = data[k % 8]
        name = ("zstd", "blosc", "gzip", "lz4")[k % 4]
        return bytes(decoders.decode(name, decoders.encode(name, raw), len(raw))) == raw

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(there_and_back, range(64)))


def test_numcodecs_reads_our_blosc_frames() -> None:
    data = np.arange(5000, dtype="<f8").tobytes()
    for cname in CNAMES:
        frame = decoders.encode("blosc", data, cname=cname, typesize=8)
        assert numcodecs.blosc.Blosc().decode(frame) == data


# --- where numcodecs' modules export nothing

WITHOUT_SYMBOLS = """
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: find_spec(name, *rest) if name not in ("numcodecs", "zlib") else None
import zarr_core
importlib.util.find_spec = find_spec
names = ("zstd", "gzip", "zlib", "lz4", "blosc")
assert not any(zarr_core.available()[name] for name in names), zarr_core.available()
assert all(zarr_core.available()[name] for name in ("crc32c", "shuffle", "delta"))
for name in names:
    assert bytes(zarr_core.decode(name, zarr_core.encode(name, b"abc" * 99), 297)) == b"abc" * 99
    try:
        zarr_core.Program(1, 0, None, [(name, {})])
    except ValueError as error:
        assert "no native form" in str(error)
    else:
        raise AssertionError(name)
    try:
        zarr_core.decode(name, b"nonsense" * 9, 297)
    except ValueError:
        pass
    else:
        raise AssertionError(name)
zarr_core.Program(1, 0, None, [("crc32c", {})])
"""


def test_without_native_codecs_numcodecs_steps_in() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_SYMBOLS], check=True, cwd=Path(decoders.__file__).parents[1])


WITH_NUMCODECS_ALONE = """
import importlib.util, zlib
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "zlib" else find_spec(name, *rest)
import zarr_core
assert zarr_core.available()["zlib"]
zarr_core.Program(1, 0, None, [("zlib", {})])
data = bytes(range(256)) * 99
assert zlib.decompress(zarr_core.encode("zlib", data)) == data
assert bytes(zarr_core.decode("zlib", zlib.compress(data), len(data))) == data
"""


def test_a_static_interpreter_takes_zlib_of_numcodecs() -> None:
    subprocess.run([sys.executable, "-c", WITH_NUMCODECS_ALONE], check=True, cwd=Path(decoders.__file__).parents[1])


def test_numcodecs_is_not_imported_for_its_symbols() -> None:
    code = "import sys, zarr_core; assert all(zarr_core.available().values()); assert 'numcodecs' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(decoders.__file__).parents[1])
