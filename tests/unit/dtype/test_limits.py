"""What documents may say of data types and scalars, and must not: sizes that numpy has not, text that is no base64."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

from zarr.dtype import Int8, NullTerminatedBytes, RawBytes, Struct, TimeDelta64
from zarr.dtype.base import MAX_ITEM_BYTES
from zarr.dtype.scalars import bytes_from_json
from zarr.dtype.types.text import FixedLengthUTF32


@pytest.mark.parametrize("kind", [NullTerminatedBytes, RawBytes, FixedLengthUTF32])
def test_elements_larger_than_numpy_has(kind: Any) -> None:
    most = MAX_ITEM_BYTES // (4 if kind is FixedLengthUTF32 else 1)
    assert kind(length=most).to_native_dtype().itemsize > 2**31 - 5
    with pytest.raises(ValueError, match=f"length must be <= {most}"):
        kind(length=most + 1)


def test_records_larger_than_numpy_has() -> None:
    half = NullTerminatedBytes(length=2**30)
    with pytest.raises(ValueError, match="at most 2147483647 bytes, got fields of 2147483648"):
        Struct(fields=(("a", half), ("b", half)))
    with pytest.raises(ValueError, match="names of their own"):
        Struct(fields=(("a", Int8()), ("a", Int8())))


def test_a_record_of_other_fields_is_no_scalar() -> None:
    record = Struct(fields=(("a", Int8()), ("b", Int8())))
    assert record.from_json_scalar({"a": 1}, zarr_format=3).item() == (1, 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError) as caught:
        record.from_json_scalar({"a": 1, "B": 2}, zarr_format=3)  # type: ignore[arg-type]
    assert "'B'" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("text", ["$$$$", "QQ==QQ==", "QQ", "QQ=x", "QU$J", "é", "=", "QUJD$"])
def test_what_is_no_base64_is_no_other_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        bytes_from_json(text)


def test_folded_base64() -> None:
    assert bytes_from_json("QU\nJD") == b"ABC"


def test_no_filter_of_warnings_is_touched() -> None:
    """They belong to all threads: who changes one for a moment may leave it so for ever."""
    before, seen = list(warnings.filters), []
    wide = TimeDelta64(unit="generic")

    def cast() -> None:
        for _ in range(200):
            assert np.isnat(wide.cast_scalar("NaT"))
            seen.append(warnings.filters == before)

    threads = [threading.Thread(target=cast) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(seen)
    assert len(seen) == 400
