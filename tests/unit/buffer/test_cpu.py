from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from zarr.buffer import BufferPrototype, NDArrayLike, cpu, default_buffer_prototype
from zarr.buffer.core import Buffer as BaseBuffer
from zarr.settings import config


@given(st.binary(), st.integers(0, 20), st.integers(0, 20))
def test_a_buffer_is_its_bytes(data: bytes, start: int, stop: int) -> None:
    buffer = cpu.Buffer.from_bytes(data)
    assert buffer.to_bytes() == data
    assert bytes(buffer.as_buffer_like()) == data
    assert len(buffer) == len(data)
    assert buffer[start:stop].to_bytes() == data[start:stop]
    assert buffer == cpu.Buffer.from_bytes(data)
    assert (buffer + cpu.Buffer.from_bytes(b"!")).to_bytes() == data + b"!"


def test_buffers_compare_only_with_buffers() -> None:
    assert cpu.Buffer.from_bytes(b"a") != b"a"
    assert cpu.Buffer.from_bytes(b"a") != cpu.Buffer.from_bytes(b"ab")
    with pytest.raises(TypeError, match="unhashable"):
        hash(cpu.Buffer.from_bytes(b"a"))


def test_wrapping_does_not_copy() -> None:
    raw = bytearray(b"abc")
    buffer = cpu.Buffer.from_bytes(raw)
    raw[0] = ord("z")
    assert buffer.to_bytes() == b"zbc"
    buffer[1:3] = cpu.Buffer.from_bytes(b"xy")
    assert raw == b"zxy"


def test_bytes_come_back_without_a_copy() -> None:
    raw = b"abc"
    assert cpu.Buffer.from_bytes(raw).to_bytes() is raw
    assert cpu.Buffer.from_bytes(raw)[0:2].to_bytes() == b"ab"
    backwards = np.ndarray((3,), "u1", raw, offset=2, strides=(-1,))
    assert cpu.Buffer.from_array_like(backwards).to_bytes() == b"cba"
    assert not cpu.Buffer.from_bytes(b"abc").as_numpy_array().flags.writeable


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 2), "u1"), "only 1-dim allowed"),
        (np.zeros(4, "i4"), "only byte dtype allowed"),
        (np.zeros(4, "i1"), "only byte dtype allowed"),
    ],
)
def test_only_runs_of_bytes(array: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cpu.Buffer(array)


def test_only_contiguous_slices() -> None:
    buffer = cpu.Buffer.from_bytes(b"abc")
    with pytest.raises(TypeError, match="expected slice, got int"):
        buffer[0]  # type: ignore[index]
    with pytest.raises(ValueError, match="slice must be contiguous"):
        buffer[::2]


def test_combine_and_empty() -> None:
    parts = [cpu.Buffer.from_bytes(b"b"), cpu.Buffer.from_bytes(b"c")]
    assert cpu.Buffer.from_bytes(b"a").combine(parts).to_bytes() == b"abc"
    assert len(cpu.Buffer.create_zero_length()) == 0
    with pytest.raises(NotImplementedError, match="abstract class 'Buffer'"):
        BaseBuffer.from_bytes(b"a")


def test_prototype_follows_the_configuration() -> None:
    assert default_buffer_prototype() == BufferPrototype(cpu.Buffer, cpu.NDBuffer) == cpu.buffer_prototype
    with config.set({"buffer": "no.such.Buffer"}), pytest.raises(ValueError, match=r"no\.such\.Buffer"):
        default_buffer_prototype()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["i4", ">f8", "S3", "U3", "M8[s]", "O", np.dtypes.StringDType()])
def test_create(dtype: Any, order: Any) -> None:
    buffer = cpu.NDBuffer.create(shape=(2, 3), dtype=dtype, order=order)
    assert buffer.shape == (2, 3)
    assert buffer.dtype == np.dtype(dtype)
    assert buffer.as_numpy_array().flags[f"{order}_CONTIGUOUS"]
    if buffer.dtype.kind in "if":
        assert not buffer.as_numpy_array().any()


def test_create_keeps_the_sign_of_zero() -> None:
    assert np.signbit(cpu.NDBuffer.create(shape=(1,), dtype="f8", fill_value=-0.0).as_numpy_array()).all()


def test_views_and_changes() -> None:
    buffer = cpu.NDBuffer.from_numpy_array(np.arange(6).reshape(1, 6))
    assert buffer.squeeze((0,)).shape == (6,)
    assert buffer.reshape((2, 3)).transpose((1, 0)).shape == (3, 2)
    assert buffer.reshape(-1).shape == (6,)
    assert buffer[0].shape == (6,)
    assert buffer[0, 0].shape == ()
    assert buffer.astype("f4").dtype == np.dtype("f4")
    assert len(buffer) == 1
    buffer[0, :2] = cpu.NDBuffer.from_numpy_array(np.array([9, 9]))
    assert buffer.as_numpy_array().tolist() == [[9, 9, 2, 3, 4, 5]]
    copy = buffer.copy()
    copy.fill(0)
    assert buffer.as_numpy_array().any()
    assert repr(copy).startswith("<NDBuffer shape=(1, 6) dtype=int64 array(")


def test_as_scalar() -> None:
    assert cpu.NDBuffer.from_numpy_array(np.array(4)).as_scalar() == 4
    with pytest.raises(ValueError, match="single scalar"):
        cpu.NDBuffer.from_numpy_array(np.zeros(2)).as_scalar()


def test_byteorder() -> None:
    assert cpu.NDBuffer.from_numpy_array(np.zeros(1, ">i4")).byteorder == "big"
    assert cpu.NDBuffer.from_numpy_array(np.zeros(1, "<i4")).byteorder == "little"


def test_protocol_is_checkable() -> None:
    assert isinstance(np.zeros(2), NDArrayLike)
    assert not isinstance([1, 2], NDArrayLike)


@pytest.mark.parametrize(
    ("data", "other", "equal"),
    [
        ([0.0, 0.0], 0.0, True),
        ([0.0, -0.0], 0.0, False),
        ([0.0], -0.0, False),
        ([np.nan, np.nan], np.nan, True),
        ([np.nan, 1.0], np.nan, False),
        ([0, 0], 0, True),
        ([0, 0], None, False),
        ([0, 1], 0, False),
        ([0j], 0j, True),
        ([complex(0.0, -0.0)], 0j, False),
        ([complex(np.nan, 1)], complex(np.nan, 1), True),
        (["a", "a"], "a", True),
        ([b"a", b"b"], b"a", False),
    ],
)
def test_all_equal(data: list[Any], other: Any, equal: bool) -> None:
    assert cpu.NDBuffer.from_numpy_array(np.array(data)).all_equal(other) is equal


def test_all_equal_of_other_kinds() -> None:
    assert cpu.NDBuffer.from_numpy_array(np.array(["a"], dtype=object)).all_equal("a")
    assert cpu.NDBuffer.from_numpy_array(np.array(["NaT"], dtype="M8[s]")).all_equal(np.datetime64("NaT"))
    record = np.zeros(2, dtype="i4,f8")
    assert cpu.NDBuffer.from_numpy_array(record).all_equal(record[0])
    record[1] = (1, 0.0)
    assert not cpu.NDBuffer.from_numpy_array(record).all_equal(record[0])
    assert not cpu.NDBuffer.from_numpy_array(np.array([np.nan])).all_equal(np.nan, equal_nan=False)


@given(hnp.arrays(dtype=st.sampled_from(["i2", "f4", "c8", "?", "S2", "M8[s]"]), shape=hnp.array_shapes(max_dims=2)))
def test_all_equal_to_itself_only(array: Any) -> None:
    buffer = cpu.NDBuffer.from_numpy_array(array)
    assert buffer.all_equal(array.copy())
    changed = np.array(array, copy=True)
    changed.reshape(-1).view("u1")[0] ^= 1
    if array.dtype.kind in "i?":
        assert not buffer.all_equal(changed)
