"""Subclasses of codecs of numcodecs in arrays of format 2: they keep the ``id``, and their own coding is called."""

from __future__ import annotations

from functools import cache
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr

DATA = np.arange(24, dtype="i4").reshape(4, 6)
BASES: dict[str, tuple[type, dict[str, Any]]] = {
    "zlib": (numcodecs.Zlib, {}),
    "gzip": (numcodecs.GZip, {}),
    "zstd": (numcodecs.Zstd, {}),
    "lz4": (numcodecs.LZ4, {}),
    "blosc": (numcodecs.Blosc, {}),
    "bz2": (numcodecs.BZ2, {}),
    "lzma": (numcodecs.LZMA, {}),
    "crc32c": (numcodecs.checksum32.CRC32C, {}),
    "shuffle": (numcodecs.Shuffle, {"elementsize": 4}),
    "delta": (numcodecs.Delta, {"dtype": "<i4"}),
}


@cache
def turning(base: Any) -> Any:
    """A subclass that turns the bits of what it encodes, and counts."""

    class Turning(base):  # type: ignore[misc]
        calls: list[str] = []

        def encode(self, buf: Any) -> Any:
            self.calls.append("encode")
            encoded = super().encode(buf)
            return ~np.frombuffer(np.ascontiguousarray(encoded) if isinstance(encoded, np.ndarray) else encoded, "u1")

        def decode(self, buf: Any, out: Any = None) -> Any:
            self.calls.append("decode")
            return super().decode(~np.frombuffer(buf, "u1"), out)

    return Turning


@pytest.mark.parametrize("role", ["filter", "compressor"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", BASES)
def test_own_coding_is_called(name: str, order: Any, role: str) -> None:
    base, parameters = BASES[name]
    cls = turning(base)
    cls.calls.clear()
    codec = cls(**parameters)
    given = (
        {"filters": None, "compressors": codec} if role == "compressor" else {"filters": [codec], "compressors": None}
    )
    plain = base(**parameters)
    twin = (
        {"filters": None, "compressors": plain} if role == "compressor" else {"filters": [plain], "compressors": None}
    )
    stored: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for store, codecs in ((expected, twin), (stored, given)):
        array = zarr.create_array(
            store, shape=DATA.shape, chunks=(2, 6), dtype="i4", order=order, zarr_format=2, **codecs
        )
        array[...] = DATA
    assert (array[...] == DATA).all()
    assert cls.calls == ["encode"] * 2 + ["decode"] * 2
    for key in ("0.0", "1.0"):
        back = plain.decode(~stored[key].as_numpy_array())
        assert bytes(np.asarray(back)) == bytes(np.asarray(plain.decode(expected[key].to_bytes())))


@pytest.mark.parametrize("compressor", [None, numcodecs.Zstd()])
def test_strings(compressor: Any) -> None:
    cls = turning(numcodecs.VLenUTF8)
    cls.calls.clear()
    words = np.array(["a", "", "longer", "ä"], dtype=object)
    array = zarr.create_array(
        {}, shape=(4,), chunks=(2,), dtype=str, zarr_format=2, filters=[cls()], compressors=compressor
    )
    array[...] = words
    assert list(array[...]) == list(words)
    assert cls.calls == ["encode"] * 2 + ["decode"] * 2


@pytest.mark.parametrize("name", BASES)
def test_a_subclass_that_overrides_neither_is_left_to_the_core(name: str) -> None:
    base, parameters = BASES[name]
    named = type("Named", (base,), {})(**parameters)
    given = [
        zarr.create_array({}, data=DATA, zarr_format=2, filters=[codec], compressors=None)
        for codec in (base(**parameters), named)
    ]
    programs = [array._handle.layout.outer_chain.program is None for array in given]
    assert programs[0] == programs[1]
    assert (given[1][...] == DATA).all()
