from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.unit.buffer import stand_in_cupy
from zarr.arrays.io import foreign_pipeline
from zarr.buffer import cpu, gpu
from zarr.codecs import TransposeCodec
from zarr.errors import ZarrUserWarning
from zarr.storage import GpuMemoryStore, LocalStore, MemoryStore

HAS_CUPY = importlib.util.find_spec("cupy") is not None
VALUES = np.arange(17 * 23, dtype="i4").reshape(17, 23)
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"shards": (8, 12)},
    {"compressors": None},
    {"filters": TransposeCodec(order=(1, 0))},
]


@pytest.fixture(params=[pytest.param("device", marks=pytest.mark.gpu), "stand-in"])
def cupy(request: Any, monkeypatch: Any) -> Iterator[Any]:
    """Return cupy on a machine with a device, and in any case a module that stands for it."""
    gpu._cupy.cache_clear()
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "cupy", stand_in_cupy.module())
    elif not HAS_CUPY:
        pytest.skip("needs cupy and a device")
    yield gpu._cupy()
    gpu._cupy.cache_clear()


@pytest.fixture(params=[MemoryStore, GpuMemoryStore, "local"])
def store(request: Any, tmp_path: Path) -> Any:
    return LocalStore(tmp_path) if request.param == "local" else request.param()


def test_importing_does_not_import_cupy() -> None:
    code = "import sys, zarr.buffer; print('cupy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(HAS_CUPY, reason="cupy is installed")
def test_without_cupy_the_error_says_what_to_do() -> None:
    with pytest.raises(ImportError, match=r"zarr\[gpu\]"):
        gpu.Buffer.from_bytes(b"abc")


def test_round_trip_through_the_device(cupy: Any) -> None:
    buffer = gpu.Buffer.from_bytes(b"abc")
    assert buffer.to_bytes() == b"abc"
    array = gpu.NDBuffer.from_numpy_array(np.arange(4))
    assert array[1:3].as_numpy_array().tolist() == [1, 2]


def check(cupy: Any, found: Any, expected: Any) -> None:
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(found), expected)


@pytest.mark.filterwarnings("ignore:Creating a zarr.buffer.gpu.Buffer")
@pytest.mark.parametrize("options", LAYOUTS)
@pytest.mark.parametrize("whole", [True, False], ids=["host memory", "pipeline"])
def test_arrays_in_the_memory_of_the_device(cupy: Any, store: Any, options: Any, whole: bool, monkeypatch: Any) -> None:
    if not whole:
        monkeypatch.setattr(foreign_pipeline, "device_prototype", lambda layout, prototype: None)
    values = VALUES.copy()
    with zarr.config.enable_gpu():
        array = zarr.create_array(store, data=cupy.asarray(values), chunks=(4, 6), **options)
        check(cupy, array[...], values)
        array[3, ::2] = cupy.asarray(values[2, ::2])
        values[3, ::2] = values[2, ::2]
        array[2:9, 5:20] = 7
        values[2:9, 5:20] = 7
        array.oindex[[1, 3], :] = cupy.asarray(values[[0, 4], :])
        values[[1, 3], :] = values[[0, 4], :]
        array.vindex[[0, 1], [2, 3]] = cupy.asarray([8.0, 9.0])
        values[[0, 1], [2, 3]] = [8, 9]
        array = zarr.open_array(store, mode="r+")
        check(cupy, array[1:10, ::3], values[1:10, ::3])
        check(cupy, array.oindex[[1, 5, 9], :], values[[1, 5, 9], :])
        check(cupy, array.vindex[values % 2 == 0], values[values % 2 == 0])
        check(cupy, array[3], values[3])
        assert array[3, 4] == values[3, 4]
        array.append(cupy.asarray(values[:2]))
        check(cupy, array[:], np.concatenate([values, values[:2]]))
    np.testing.assert_array_equal(array[:17], values)


@pytest.mark.parametrize("whole", [True, False], ids=["host memory", "pipeline"])
def test_values_of_a_device_are_cast_and_broadcast(cupy: Any, whole: bool, monkeypatch: Any) -> None:
    if not whole:
        monkeypatch.setattr(foreign_pipeline, "device_prototype", lambda layout, prototype: None)
    with zarr.config.enable_gpu():
        array = zarr.create_array({}, shape=(8, 8), chunks=(4, 4), dtype="i4")
        array[...] = cupy.arange(8, dtype="f8")
        check(cupy, array[...], np.broadcast_to(np.arange(8), (8, 8)))
        array[2:4] = cupy.asarray(5.0)
        check(cupy, array[1:5, 0], [0, 5, 5, 0])
        with pytest.raises(ValueError, match="broadcast"):
            array[...] = cupy.arange(7)


def test_arrays_of_the_older_functions(cupy: Any, tmp_path: Path) -> None:
    with zarr.config.enable_gpu():
        check(cupy, zarr.array(cupy.arange(10), chunks=3)[...], np.arange(10))
        zarr.save(tmp_path / "a", cupy.arange(10))
        check(cupy, zarr.load(tmp_path / "a"), np.arange(10))


def test_one_read_and_write_with_buffers_of_the_device(cupy: Any) -> None:
    array = zarr.create_array({}, data=np.arange(10), chunks=3)
    check(cupy, array.get_basic_selection(slice(2, 7), prototype=gpu.buffer_prototype), np.arange(2, 7))
    array.set_basic_selection(slice(0, 3), cupy.asarray([7, 8, 9]), prototype=gpu.buffer_prototype)
    out = gpu.NDBuffer.create(shape=(3,), dtype="i8")
    array.get_basic_selection(slice(0, 3), out=out, prototype=gpu.buffer_prototype)
    check(cupy, out.as_ndarray_like(), [7, 8, 9])
    assert array[:4].tolist() == [7, 8, 9, 3]


def test_elements_of_a_device_are_refused_without_buffers_of_the_device(cupy: Any) -> None:
    array = zarr.create_array({}, shape=4, chunks=2, dtype="i8")
    with pytest.raises(TypeError, match="cannot be stored as int64"):
        array[...] = cupy.arange(4)


def test_values_of_a_store_are_copied_to_the_device(cupy: Any) -> None:
    with pytest.warns(ZarrUserWarning, match="slow copy"):
        store = GpuMemoryStore.from_dict({"a": cpu.Buffer.from_bytes(b"abc")})
    found = store.get_sync("a", prototype=gpu.buffer_prototype)
    assert isinstance(found, gpu.Buffer)
    assert found.to_bytes() == b"abc"
    with pytest.warns(ZarrUserWarning, match="slow copy"):
        store.set_sync("b", cpu.Buffer.from_bytes(b"abc"))
    assert isinstance(store._store_dict["b"], gpu.Buffer)
