"""What a program loads that opens an array and reads from it, or makes one and writes to it: not what it never uses.

Names of modules are counted, not milliseconds: the same on every machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import zarr
import zarr_core

ROOT = Path(__file__).parents[2]
# Of the standard library and of other packages: what takes long to load.
HEAVY = (
    "asyncio bz2 donfig ipaddress lzma pathlib shutil yaml numcodecs fsspec hashlib random ssl socket sqlite3 zipfile "
    "concurrent.futures importlib.metadata typing_extensions html lmdb ml_dtypes logging traceback dataclasses inspect "
    "numpy.typing"
)
# Of our own: what arrays of numbers in a folder do not need.
UNUSED = (
    "zarr.settings zarr.typed_dicts zarr.api.asynchronous zarr.api.saving zarr.arrays.interop "
    "zarr.arrays.methods.indexers zarr.arrays.views.view zarr.arrays.io.read_many zarr.arrays.change "
    "zarr.arrays.outside zarr.chunks.dimensions "
    "zarr.arrays.create.unsaved zarr.buffer.gpu zarr.codecs.sharding zarr.dtype.types.nullable "
    "zarr.dtype.types.small zarr.dtype.types.structured zarr.dtype.types.text zarr.dtype.types.times "
    "zarr.chunks.grid zarr.chunks.rectilinear zarr.groups.group zarr.metadata.group zarr.runners.asynchronous "
    "zarr.runners.locks.leases zarr.steps.layouts zarr.storage.remote.fsspec "
    "zarr.runners.tracing zarr.runners.caches zarr.arrays.io.batch zarr.storage.local.changes "
    "zarr_core.bulk zarr_core.decoders zarr_core.vlen zarr_core.shard_reading "
    "zarr_core.shard_writing zarr_core.casting"
)
READ = "zarr.open_array(place, mode='r')[0, 0]"
READ_ANY = "zarr.open(place, mode='r')[0, 0]"


def loaded(tmp_path: Path, statement: str, environment: dict[str, str] | None = None) -> set[str]:
    """The modules that a fresh program, which had loaded numpy, has loaded after a statement."""
    place = str(tmp_path / "array")
    begin = "import sys, numpy\nbefore = set(sys.modules)\nimport zarr"
    script = f"{begin}\nplace = {place!r}\n{statement}\nprint(*sys.modules.keys() - before)"
    kept = {name: value for name, value in os.environ.items() if name[:5] != "ZARR_" or name[:10] == "ZARR_CORE_"}
    inherited = {**kept, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), **(environment or {})}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], check=False, capture_output=True, text=True, env=inherited
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.skipif(zarr_core.IMPLEMENTATION != "compiled", reason="the twin in Python is not made to be loaded fast")
@pytest.mark.parametrize("statement", [READ, READ_ANY])
def test_opening_and_reading_an_element(tmp_path: Path, statement: str) -> None:
    zarr.create_array(str(tmp_path / "array"), shape=(4, 4), chunks=(2, 2), dtype="f4")[:] = 1
    found = loaded(tmp_path, statement)
    assert sorted(found & set(HEAVY.split())) == []
    assert sorted(found & set(UNUSED.split())) == []
    assert sum(name.split(".")[0] == "zarr" for name in found) <= 104


def test_settings_in_the_environment_are_read(tmp_path: Path) -> None:
    zarr.create_array(str(tmp_path / "array"), shape=(4, 4), chunks=(2, 2), dtype="f4")[:] = 1
    statement = READ + "\nassert zarr.open_array(place).config.order == 'F'"
    assert "donfig" in loaded(tmp_path, statement, {"ZARR_ARRAY__ORDER": "F"})


def test_settings_in_a_file_are_read(tmp_path: Path) -> None:
    zarr.create_array(str(tmp_path / "array"), shape=(4, 4), chunks=(2, 2), dtype="f4")[:] = 1
    folder = tmp_path / ".config" / "zarr"
    folder.mkdir(parents=True)
    (folder / "zarr.yaml").write_text("array:\n  order: F\n")
    assert "yaml" in loaded(tmp_path, READ + "\nassert zarr.open_array(place).config.order == 'F'")


def test_settings_that_are_made_later_count(tmp_path: Path) -> None:
    zarr.create_array(str(tmp_path / "array"), shape=(4, 4), chunks=(2, 2), dtype="f4")[:] = 1
    lines = [
        READ,
        "assert zarr.open_array(place).config.order == 'C'",
        "with zarr.config.set({'array.order': 'F'}):",
        "    assert zarr.open_array(place).config.order == 'F'",
        "assert zarr.open_array(place).config.order == 'C'",
        "import os; os.environ['ZARR_ARRAY__ORDER'] = 'F'; zarr.config.refresh()",
        "assert zarr.open_array(place).config.order == 'F'",
    ]
    loaded(tmp_path, "\n".join(lines))


def test_data_types_are_found_alike_before_and_after_all_are_loaded(tmp_path: Path) -> None:
    script = """
import numpy as np
from zarr.dtype import data_type_registry as registry, parse_dtype
codes = [c + str(n) for c in "iu" for n in (1, 2, 4, 8)] + ["b1", "f2", "f4", "f8", "c8", "c16"]
marked = [mark + c for c in codes for mark in ("", "<", ">", "=", "|")]
names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
def attempt(spec, zarr_format):
    try:
        return parse_dtype(spec, zarr_format=zarr_format)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
def json_v2(name):
    return {"name": name, "object_codec_id": None}
def numbers():
    specs = [np.dtype(c) for c in marked] + marked
    return [attempt(s, f) for s in specs for f in (2, 3)] + [registry.match_json(n, zarr_format=3) for n in names]
def documents():
    return [attempt(json_v2(np.dtype(c).str), 2) for c in marked]
before = numbers() + documents()
assert "zarr.dtype.types.text" not in sys.modules
registry.contents
assert "zarr.dtype.types.text" in sys.modules
assert before == numbers() + documents()
"""
    loaded(tmp_path, script)


@pytest.mark.skipif(zarr_core.IMPLEMENTATION != "compiled", reason="the twin in Python is not made to be loaded fast")
def test_a_first_create_loads_no_codec_that_it_does_not_use(tmp_path: Path) -> None:
    statement = "zarr.create_array(place, shape=(4, 4), chunks=(2, 2), dtype='f4')[:] = 1"
    found = loaded(tmp_path, statement)
    unused = ["sharding", "vlen_utf8", "extensions.optional", "extensions.bits", "blosc", "crc32c_", "gzip"]
    assert sorted(found & {f"zarr.codecs.{name}" for name in unused}) == []
    unused = ["binary", "nullable", "structured", "text", "times"]
    assert sorted(found & {f"zarr.dtype.types.{name}" for name in unused}) == []
    # Each dataclass is compiled anew in each process: `dataclasses` is imported by a module that makes one.
    others = ["zarr.chunks.rectilinear", "zarr.buffer.gpu", "typing_extensions", "dataclasses", "numpy.typing"]
    assert sorted(found & set(others)) == []
    in_memory = loaded(tmp_path, "zarr.create_array({}, shape=(4, 4), chunks=(2, 2), dtype='f4')[:] = 1")
    assert sorted(in_memory & {*others, "zarr.storage.url"}) == []
