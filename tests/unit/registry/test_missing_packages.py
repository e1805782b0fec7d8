"""Messages about packages that are not installed: each names the extra that brings them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HIDE = """
import json, sys, warnings
warnings.simplefilter("ignore")
for name in ("ml_dtypes", "zfpy", "pcodec"):
    sys.modules[name] = None
import zarr
from zarr.codecs.numcodecs import PCodec, ZFPY

def write(serializer):
    zarr.create_array({}, shape=4, dtype="f8", serializer=serializer)[:] = 1

for statement in json.loads(sys.argv[1]):
    try:
        eval(statement)
    except Exception as error:
        print([each.__name__ for each in type(error).__mro__], error)
"""
CASES = (
    ("zarr.create_array({}, shape=2, dtype='bfloat16')", "TypeError", "zarr[ml-dtypes]"),
    ("zarr.create_array({}, shape=2, dtype='bfloat16', zarr_format=2)", "TypeError", "zarr[ml-dtypes]"),
    ("zarr.zeros(2, dtype='int4')", "TypeError", "zarr[ml-dtypes]"),
    ("zarr.zeros(2, dtype='complex_bfloat16')", "TypeError", "zarr[ml-dtypes]"),
    ("zarr.zeros(2, dtype='complex_float8_e5m2')", "TypeError", "zarr[ml-dtypes]"),
    ("zarr.dtype.parse_dtype({'name': 'float8_e4m3'}, zarr_format=3)", "ValueError", "zarr[ml-dtypes]"),
    ("write(PCodec())", "UnknownCodecError", "zarr[pcodec]"),
    ("write({'name': 'pcodec', 'configuration': {}})", "UnknownCodecError", "zarr[pcodec]"),
    ("write(ZFPY(mode=4, tolerance=0.1))", "UnknownCodecError", "zarr[zfp]"),
    ("write({'name': 'zfp', 'configuration': {'mode': 'reversible'}})", "ImportError", "zarr[zfp]"),
    ("zarr.create_array({}, shape=2, dtype='f8', compressors={'id': 'pcodec'}, zarr_format=2)",
     "UnknownCodecError", "zarr[pcodec]"),
    ("zarr.create_array({}, shape=2, dtype='f8', filters=[{'id': 'zfpy'}], zarr_format=2)",
     "UnknownCodecError", "zarr[zfp]"),
)  # fmt: skip


def test_the_extra_is_named() -> None:
    statements = json.dumps([statement for statement, _, _ in CASES])
    done = subprocess.run([sys.executable, "-c", HIDE, statements], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(CASES)
    for line, (statement, kind, extra) in zip(lines, CASES, strict=True):
        assert f"{kind!r}" in line, statement
        assert f"pip install '{extra}'" in line, statement


def test_other_names_are_what_they_were() -> None:
    import zarr

    with pytest.raises(TypeError, match="data type 'bfloat17' not understood"):
        zarr.zeros(2, dtype="bfloat17")
