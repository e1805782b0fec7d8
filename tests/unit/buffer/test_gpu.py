from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from zarr.buffer import gpu

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
