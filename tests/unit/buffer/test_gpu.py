from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import zarr
from zarr.buffer import gpu
from zarr.storage import GpuMemoryStore

HAS_CUPY = importlib.util.find_spec("cupy") is not None


def test_importing_does_not_import_cupy() -> None:
    code = "import sys, zarr.buffer; print('cupy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(HAS_CUPY, reason="cupy is installed")
def test_without_cupy_the_error_says_what_to_do() -> None:
    with pytest.raises(ImportError, match=r"zarr\[gpu\]"):
        gpu.Buffer.from_bytes(b"abc")


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_CUPY, reason="needs cupy and a device")
def test_round_trip_through_the_device() -> None:
    buffer = gpu.Buffer.from_bytes(b"abc")
    assert buffer.to_bytes() == b"abc"
    array = gpu.NDBuffer.from_numpy_array(np.arange(4))
    assert array[1:3].as_numpy_array().tolist() == [1, 2]


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_CUPY, reason="needs cupy and a device: not run here")
@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_arrays_in_the_memory_of_the_device(shards: tuple[int, int] | None) -> None:
    import cupy

    values = np.arange(48).reshape(8, 6)
    with zarr.config.enable_gpu():
        array = zarr.create_array(GpuMemoryStore(), data=values, chunks=(2, 3), shards=shards)
        array[1, ::2] = cupy.asarray([7, 8, 9])
        values[1, ::2] = [7, 8, 9]
        read = zarr.open_array(array.store, mode="r")[...]
    assert isinstance(read, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(read), values)


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_CUPY, reason="needs cupy and a device: not run here")
def test_values_of_a_store_are_copied_to_the_device() -> None:
    from zarr.buffer import cpu

    store = GpuMemoryStore.from_dict({"a": cpu.Buffer.from_bytes(b"abc")})
    found = store.get_sync("a", prototype=gpu.buffer_prototype)
    assert isinstance(found, gpu.Buffer)
    assert found.to_bytes() == b"abc"
