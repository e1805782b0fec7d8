"""What is loaded when: nothing at import, everything when it is asked for, by whichever name and by many at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import zarr
import zarr.codecs
import zarr.core
import zarr.metadata
import zarr.storage

ROOT = Path(__file__).parents[3]


def run(script: str) -> str:
    """Run a script in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_loads_neither_rooms_nor_libraries() -> None:
    script = """
import sys
import zarr
print(*sorted(name for name in sys.modules if name.split(".")[0] in ("zarr", "zarr_core", "numpy", "donfig")))
"""
    assert run(script) == "zarr zarr._lazy zarr._process"


@pytest.mark.parametrize("module", [zarr, zarr.codecs, zarr.storage, zarr.metadata, zarr.core])
def test_every_name_that_is_offered_is_found_and_listed(module: object) -> None:
    names = module.__all__  # type: ignore[attr-defined]
    for name in names:
        assert getattr(module, name) is not None
    assert set(names) <= set(dir(module))


def test_packages_answer_for_their_modules() -> None:
    script = """
import sys
import zarr
zarr.core.array, zarr.storage.local.store, zarr.codecs.sharding, zarr.groups.group
packages = "zarr abc api arrays codecs core groups metadata runners steps storage".split()
for name, module in sorted(sys.modules.items()):
    parent, _, child = name.rpartition(".")
    if parent.removeprefix("zarr.") in packages and vars(sys.modules[parent]).get(child) is module:
        delattr(sys.modules[parent], child)
        assert getattr(sys.modules[parent], child) is module, name
"""
    run(script)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'zarr' has no attribute 'opne'"):
        _ = zarr.opne
    with pytest.raises(AttributeError, match=r"module 'zarr\.storage' has no attribute '__wrapped__'"):
        _ = zarr.storage.__wrapped__


def test_names_of_types_come_from_the_rooms_above() -> None:
    script = """
from zarr.types import AnyArray, ArrayV3, Array, AsyncArrayV2
import zarr
assert Array is zarr.Array and AnyArray.__origin__ is zarr.Array
assert AsyncArrayV2.__args__ == (zarr.metadata.v2.ArrayV2Metadata,)
assert "AnyArray" in dir(zarr.types)
"""
    run(script)


def test_the_level_of_a_log_that_was_set_before_stays() -> None:
    script = """
import logging, zarr
logging.getLogger("zarr.codec").setLevel("DEBUG")
zarr.create_array({}, shape=4, chunks=2, dtype="i4")[:] = 1
print(logging.getLogger("zarr.codec").level)
"""
    assert run(script) == "10"


def test_many_threads_may_be_the_first_to_ask() -> None:
    script = """
import sys
import threading
import zarr
sys.setswitchinterval(1e-5)
names = [name for name in zarr.__all__ if name != "__version__"]
barrier, found, errors = threading.Barrier(8), [], []
def ask(number):
    barrier.wait()
    try:
        for name in names[number * 5:] + names[:number * 5]:
            found.append(getattr(zarr, name))
        zarr.create_array({}, shape=4, chunks=2, dtype=("f4", "i8", "str", "bool")[number % 4])[:2]
    except BaseException as error:
        errors.append(error)
threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not errors, errors
assert len(found) == 8 * len(names)
"""
    run(script)
