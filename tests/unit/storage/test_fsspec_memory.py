"""A store in the memory of fsspec, in a process that does not have this memory."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import zarr
from zarr.storage import FsspecStore

pytest.importorskip("fsspec")

_USE = """
import pickle, sys
array = pickle.loads(sys.stdin.buffer.read())
try:
    {}
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("use", ["print(array[:])", "array[0] = 1"])
def test_another_process_neither_reads_nothing_nor_loses_what_it_writes(use: str) -> None:
    array = zarr.create_array(FsspecStore.from_url("memory://other-processes/a"), data=[1, 2], overwrite=True)
    there = subprocess.run(
        [sys.executable, "-c", _USE.format(use)], input=pickle.dumps(array), capture_output=True, check=True
    )
    assert b"came from another process" in there.stdout
    assert pickle.loads(pickle.dumps(array))[:].tolist() == [1, 2]
