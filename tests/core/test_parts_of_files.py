"""Parts of blosc chunks in files: the values of the whole chunk, however the file is damaged or replaced meanwhile."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zarr_core import bulk, grid, keys, planners, program
from zarr_core.decoders import decode_blosc_range, encode

CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
DTYPES = ("u1", "<u2", "<i4", "<f8", "<c16", "S3")
COUNT = 60_000
KEYS = keys.KeyFormat("", "/", "default")


def numbers(rng: np.random.Generator, dtype: str, count: int = COUNT) -> Any:
    """Some that hardly compress, some that do: chunks hold streams of both kinds."""
    noise = int(rng.choice([1, 3, 250, 60_000]))
    values = np.cumsum(rng.integers(0, 3, count)) // 50 * 1000 + rng.integers(0, noise, count)
    return values.astype(dtype if dtype != "S3" else "<i8").astype(dtype)


def parameters(rng: np.random.Generator, cname: str, itemsize: int) -> dict[str, Any]:
    return {
        "cname": cname,
        "clevel": int(rng.choice([0, 1, 5, 9])),
        "shuffle": int(rng.choice([0, 1, 1, 1, 2])),
        "typesize": int(rng.choice([itemsize, itemsize, itemsize, 4])),
        "blocksize": int(rng.choice([0, 0, 4096, 30_000])),
    }


def part_plan(made: grid.Grid, start: int, stop: int, step: int = 1) -> Any:
    return planners.plan_basic(made, (slice(start, stop, step),))


def read(folder: Path, chain: Any, plan: Any, dtype: Any) -> Any:
    """The part of the one chunk, or None where the job says that it failed."""
    job = bulk.ReadJob(plan, chain, np.zeros(plan.shape, dtype), None)
    job.from_files(str(folder), KEYS)
    assert not len(job.missing)
    return None if len(job.failed) else job.out


def one_chunk(folder: Path, count: int = COUNT) -> tuple[grid.Grid, Path]:
    (folder / "c").mkdir(exist_ok=True)
    return grid.Grid([grid.RegularAxis(count, count)]), folder / "c" / "0"


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


needs_counts = pytest.mark.skipif(
    not Path("/proc/self/io").exists() or os.environ.get("ZARR_CORE_IMPL") == "reference",
    reason="needs the system's count of bytes, and the core that saves some",
)


@pytest.mark.parametrize("cname", CNAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_part(cname: str, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(CNAMES.index(cname) * 10 + DTYPES.index(dtype))
    made, file = one_chunk(tmp_path)
    for _ in range(10):
        value = numbers(rng, dtype)
        params = parameters(rng, cname, value.itemsize)
        swap = value.itemsize if value.itemsize in (2, 4, 8) and rng.random() < 0.2 else 0
        chain = program.Program(value.itemsize, swap, None, [("blosc", params)])
        stored = value.byteswap().tobytes() if swap else value.tobytes()
        frame = encode("blosc", stored, **params)
        file.write_bytes(frame)
        for _ in range(12):
            start = int(rng.integers(0, COUNT))
            stop = min(COUNT, start + int(rng.choice([1, 1, 7, 3000, 25_000])))
            step = int(rng.choice([1, 1, 3]))
            found = read(tmp_path, chain, part_plan(made, start, stop, step), value.dtype)
            np.testing.assert_array_equal(found, value[start:stop:step], err_msg=f"{params} {start} {stop}")
            low, high = start * value.itemsize + 1, stop * value.itemsize
            assert bytes(decode_blosc_range(frame, low, high)) == stored[low:high], params


def hurt(rng: np.random.Generator, frame: bytes) -> bytes:
    """A frame with lies in its header, its table, the lengths of its streams or anywhere."""
    data = bytearray(frame)
    nblocks = max(1, -(-struct.unpack("<i", frame[4:8])[0] // max(1, struct.unpack("<i", frame[8:12])[0])))
    kind = rng.integers(0, 5)
    if kind == 0:
        data[int(rng.integers(0, 16))] = int(rng.integers(0, 256))
    elif kind == 1:
        at = 16 + 4 * int(rng.integers(0, nblocks))
        other = int(rng.integers(16 + 4 * nblocks, len(data)))
        lie = int(rng.choice([-1, 0, 15, 16 + 4 * nblocks, len(data) - 3, len(data), other, other, 2**31 - 1]))
        data[at : at + 4] = struct.pack("<i", lie)
    elif kind == 2:
        at = struct.unpack("<i", data[16:20])[0]
        lie = int(rng.choice([-1, 0, 1, len(data), len(data) // 2, 2**31 - 1]))
        data[at : at + 4] = struct.pack("<i", lie)
    elif kind == 3:
        return bytes(data[: int(rng.integers(0, len(data)))])
    else:
        for _ in range(4):
            data[int(rng.integers(0, len(data)))] = int(rng.integers(0, 256))
    return bytes(data)


def read_after(folder: Path, frame: bytes, before: bytes, chain: Any, plans: tuple[Any, Any], dtype: Any) -> Any:
    """A part, read with memory in which another chunk was read just before."""
    file = folder / "c" / "0"
    file.write_bytes(before)
    assert read(folder, chain, plans[0], dtype) is not None
    file.write_bytes(frame)
    return read(folder, chain, plans[1], dtype)


@pytest.mark.parametrize("cname", ["lz4", "blosclz", "zstd"])
def test_damage_shows_nothing_of_other_chunks(cname: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(cname))
    made, _ = one_chunk(tmp_path)
    for _ in range(100):
        value = numbers(rng, "<i4") if rng.random() < 0.7 else rng.integers(0, 2**27, COUNT, "i4")
        params = {**parameters(rng, cname, 4), "shuffle": int(rng.choice([0, 1, 1])), "clevel": 5}
        chain = program.Program(4, 0, None, [("blosc", params)])
        bad = hurt(rng, encode("blosc", value.tobytes(), **params))
        start = int(rng.integers(0, COUNT - 900))
        plan = part_plan(made, start, start + int(rng.choice([1, 900])))
        whole = part_plan(made, 0, COUNT)
        others = [encode("blosc", rng.integers(0, 2**31, COUNT, "i4").tobytes(), **params) for _ in range(2)]
        first, second = (read_after(tmp_path, bad, other, chain, (whole, plan), "<i4") for other in others)
        assert (first is None) == (second is None)
        np.testing.assert_array_equal(first, second)
        complete = read(tmp_path, chain, whole, "<i4")
        if complete is not None:  # what no decoder minds is read alike
            np.testing.assert_array_equal(first, complete[start : start + plan.shape[0]])


def overlapping_frame(size: int, blocks: int) -> bytes:
    """A frame of plain streams, that of its second block amid that of the first: strange, but every length holds."""
    value = np.arange(size * blocks // 4, dtype="<i4").tobytes()
    places, data, table = [], b"", 16 + 4 * blocks
    for k in range(blocks):
        places.append(table + len(data))
        data += struct.pack("<i", size) + value[k * size : (k + 1) * size]
    places[1] = places[0] + 4 + size // 2
    data = data[: 4 + size // 2] + struct.pack("<i", size) + data[8 + size // 2 :]
    header = struct.pack("<BBBBiii", 2, 1, 0x30, 4, size * blocks, size, table + len(data))
    return header + struct.pack(f"<{blocks}i", *places) + data


def test_blocks_that_share_their_bytes(tmp_path: Path) -> None:
    size, blocks = 8192, 12
    count = size * blocks // 4
    made, _ = one_chunk(tmp_path, count)
    frame = overlapping_frame(size, blocks)
    chain = program.Program(4, 0, None, [("blosc", {"typesize": 4, "shuffle": 0})])
    other = encode("blosc", np.random.default_rng(1).integers(0, 9, count, "i4").tobytes(), typesize=4, shuffle=0)
    whole = part_plan(made, 0, count)
    expected = read_after(tmp_path, frame, other, chain, (whole, whole), "<i4")
    assert expected is not None
    for start in range(0, count // 2, 501):
        found = read_after(tmp_path, frame, other, chain, (whole, part_plan(made, start, start + 3)), "<i4")
        np.testing.assert_array_equal(found, expected[start : start + 3])


@needs_counts
@pytest.mark.parametrize("noise", [1, 60_000])
def test_no_more_is_read_than_an_element_takes(noise: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(noise)
    count = 400_000
    made, file = one_chunk(tmp_path, count)
    value = (np.cumsum(rng.integers(0, 9, count)) * 1000 + rng.integers(0, noise, count)).astype("<i4")
    chain = program.Program(4, 0, None, [("blosc", {"cname": "lz4", "shuffle": 1, "typesize": 4, "clevel": 5})])
    file.write_bytes(encode("blosc", value.tobytes(), cname="lz4", shuffle=1, typesize=4, clevel=5))
    plan = part_plan(made, 30_000, 30_001)
    before = bytes_read()
    found = read(tmp_path, chain, plan, "<i4")
    taken = bytes_read() - before
    assert found.tolist() == [value[30_000]]
    assert 0 < taken < file.stat().st_size // 4


def test_a_file_that_is_replaced_is_never_read_in_part(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    made, file = one_chunk(tmp_path)
    params = {"cname": "lz4", "shuffle": 1, "typesize": 4, "blocksize": 16_384}
    # The second has no pattern in common with the first, and other places for its blocks.
    values = [numbers(rng, "<i4"), -1 - np.sort(rng.integers(0, 2**31, COUNT, "i4"))]
    frames = [encode("blosc", value.astype("<i4").tobytes(), **params) for value in values]
    chain = program.Program(4, 0, None, [("blosc", params)])
    file.write_bytes(frames[0])
    done = threading.Event()

    def replace() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            (tmp_path / "next").write_bytes(frames[turn % 2])
            os.replace(tmp_path / "next", file)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(400):
            start = int(rng.integers(0, COUNT - 20_000))
            found = read(tmp_path, chain, part_plan(made, start, start + 20_000), "<i4")
            assert found is not None
            assert any(np.array_equal(found, value[start : start + 20_000]) for value in values)
    finally:
        done.set()
        writer.join()
