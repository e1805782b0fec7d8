"""Deterministic guards: the system calls of an operation on files, as strace counts them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
    pytest.mark.skipif(os.environ.get("ZARR_CORE_IMPL") == "reference", reason="the core's own calls are counted"),
]

SCRIPT = """
import os, sys
import numpy as np
import zarr
folder = sys.argv[1]
options = dict(shape=(40,), chunks=(10,), dtype="f4", compressors=None)
group = zarr.open_group(folder + "/group", mode="w")
array = group.create_array("first", **options)
zarr.create_array(folder + "/first", overwrite=True, **options)
zarr.open_array(folder + "/first", mode="r")
large = group.create_array("large", shape=(400_000,), chunks=(400_000,), dtype="i4",
                           compressors=zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle", typesize=4))
large[:] = np.random.default_rng(1).integers(0, 2**20, 400_000)
large[7]
array[:] = 1
array[3]
array.append(np.ones(10, "f4"))
array.attrs.update(a=1)
def mark(name):
    os.access("/mark/" + name, 0)
mark("create"); group.create_array("second", **options)
mark("create by path"); zarr.create_array(folder + "/second", overwrite=True, **options)
mark("open"); zarr.open_array(folder + "/first", mode="r")
mark("element"); array[13]
mark("element of a large chunk"); large[200_000]
mark("append"); array.append(np.ones(10, "f4"))
mark("attributes"); array.attrs.update(b=1)
mark("end")
"""

# Of these a lock among processes takes five: create and attributes take one, an append two.
LIMITS = {
    "create": 20,
    "create by path": 26,
    "open": 8,
    "element": 4,
    "element of a large chunk": 14,
    "append": 26,
    "attributes": 17,
}


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("calls")
    (folder / "data").mkdir()
    trace = folder / "trace"
    command = ["strace", "-f", "-o", str(trace), "-e", "trace=%file,%desc", sys.executable, "-c", SCRIPT]
    done = subprocess.run(
        [*command, str(folder / "data")], check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = {}
    name = ""
    for line in trace.read_text().splitlines():
        if '"/mark/' in line:
            name = line.split('"/mark/')[1].split('"')[0]
        elif name and "exited" not in line:
            found.setdefault(name, []).append(line)
    return found


@pytest.mark.parametrize("name", list(LIMITS))
def test_system_calls_of(name: str, counts: dict[str, list[str]]) -> None:
    assert len(counts[name]) <= LIMITS[name], "\n".join(counts[name])


def test_little_is_read_for_an_element_of_a_large_chunk(counts: dict[str, list[str]]) -> None:
    reads = [line for line in counts["element of a large chunk"] if "pread64(" in line]
    assert sum(int(line.rpartition("=")[2]) for line in reads) < 300_000  # of a million bytes
