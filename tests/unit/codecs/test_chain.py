"""A chain through the compiled core, the same chain codec by codec, and plain numpy and numcodecs say the same."""

from __future__ import annotations

import gc
import pickle
import sys
from typing import Any

import numcodecs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zarr
from tests.unit.codecs.specs import FIXED_DTYPES, buffer, chunk_spec, random_array, same
from zarr.buffer.core import default_buffer_prototype
from zarr.chunks.spec import ArraySpec, parse_array_config
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    VLenBytesCodec,
    VLenUTF8Codec,
    ZstdCodec,
)
from zarr.codecs import numcodecs as wrapped
from zarr.codecs.base.chain import CodecChain
from zarr.dtype import Int16
from zarr.errors import ChunkDecodeError, ChunkEncodeError

MANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])

bytes_codecs = st.sampled_from(
    [
        (),
        (ZstdCodec(level=3),),
        (ZstdCodec(level=-5, checksum=True),),
        (GzipCodec(level=1),),
        (Crc32cCodec(),),
        (ZstdCodec(), Crc32cCodec()),
        (BloscCodec(),),
        (BloscCodec(cname="lz4", shuffle="bitshuffle", blocksize=64),),
        (BloscCodec(cname="zlib", shuffle="noshuffle", clevel=1),),
        (BloscCodec(cname="blosclz", shuffle="shuffle"),),
        (wrapped.Shuffle(elementsize=4), wrapped.Zlib(level=2)),
        (wrapped.LZ4(),),
        (wrapped.BZ2(),),
        (wrapped.LZMA(),),
        (wrapped.CRC32(), wrapped.Adler32(location="end"), wrapped.JenkinsLookup3()),
        (wrapped.CRC32C(location="start"),),
        (wrapped.Fletcher32(), GzipCodec()),
        (wrapped.Blosc(cname="lz4hc", shuffle=-1),),
        (Crc32cCodec(), ZstdCodec(), Crc32cCodec()),
    ]
)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(1, 5), max_size=4)))


def both_ways(chain: CodecChain, array: np.ndarray[Any, Any]) -> None:
    stored = chain.encode(array)
    plain = chain._encode_stages(array)
    assert plain is not None
    for raw in (stored, buffer(plain)):
        assert same(chain.decode(raw), array)
        assert same(chain._decode_stages(raw.as_numpy_array()), array)
    size = chain.encoded_size()
    if size is not None:
        assert len(stored) == len(plain) == size


@MANY
@given(
    name=st.sampled_from(FIXED_DTYPES), shape=shapes(), last=bytes_codecs, endian=st.sampled_from(["little", "big"]),
    seed=st.integers(0, 1000), data=st.data(),
)  # fmt: skip
def test_native_and_plain_agree(
    name: str, shape: tuple[int, ...], last: Any, endian: Any, seed: int, data: st.DataObject
) -> None:
    first = [
        TransposeCodec(order=data.draw(st.permutations(range(len(shape))))) for _ in range(data.draw(st.integers(0, 2)))
    ]
    chain = CodecChain.build([*first, BytesCodec(endian=endian), *last], chunk_spec(name, shape))
    array = random_array(name, shape, seed)
    if any(isinstance(codec, wrapped.Shuffle) for codec in last) and array.nbytes % 4:
        for encode in (chain.encode, chain._encode_stages):  # it takes whole elements only
            with pytest.raises(ValueError, match="shuffle"):
                encode(array)
        return
    both_ways(chain, array)
    both_ways(chain, np.asarray(array, order="F"))
    both_ways(pickle.loads(pickle.dumps(chain)), array)


@pytest.mark.parametrize("name", FIXED_DTYPES)
@pytest.mark.parametrize("endian", ["little", "big"])
def test_bytes_are_numpy_bytes(name: str, endian: Any) -> None:
    array = random_array(name, (3, 4), 1)
    chain = CodecChain.build([TransposeCodec(order=(1, 0)), BytesCodec(endian=endian)], chunk_spec(name, (3, 4)))
    expected = array.T.astype(array.dtype.newbyteorder("<" if endian == "little" else ">")).tobytes()
    assert chain.encode(array).to_bytes() == expected


def test_encoded_bytes_are_readable_by_numcodecs() -> None:
    array = random_array("int32", (50, 40), 3)
    spec = chunk_spec("int32", (50, 40))
    pairs: list[tuple[Any, Any]] = [
        (ZstdCodec(level=1), numcodecs.Zstd()),
        (GzipCodec(), numcodecs.GZip()),
        (BloscCodec(cname="lz4"), numcodecs.Blosc()),
        (wrapped.LZ4(), numcodecs.LZ4()),
        (wrapped.Zlib(), numcodecs.Zlib()),
    ]
    for ours, theirs in pairs:
        chain = CodecChain.build([BytesCodec(), ours], spec)
        assert bytes(theirs.decode(chain.encode(array).to_bytes())) == array.tobytes()
        assert same(chain.decode(buffer(theirs.encode(array.tobytes()))), array)


def test_native_form_folds_transposes_and_byte_orders() -> None:
    codecs = [TransposeCodec(order=(1, 2, 0)), TransposeCodec(order=(1, 2, 0)), BytesCodec(endian="big"), ZstdCodec()]
    chain = CodecChain.build(codecs, chunk_spec("int16", (2, 3, 4)))
    assert chain.program is not None
    assert chain.program.order == (2, 0, 1)
    assert chain.program.swap_width == 2
    assert [name for name, _ in chain.program.stages] == ["zstd"]


def test_delta_is_native_in_native_order_only() -> None:
    spec = chunk_spec("int32", (8,))
    native = CodecChain.build([wrapped.Delta(dtype="<i4"), BytesCodec(), ZstdCodec()], spec)
    assert native.program is not None
    swapped = CodecChain.build([wrapped.Delta(dtype="<i4"), BytesCodec(endian="big"), ZstdCodec()], spec)
    assert swapped.program is None
    for chain in (native, swapped):
        both_ways(chain, random_array("int32", (8,), 5))


ARRAY_CODECS: list[tuple[Any, str, Any]] = [
    (wrapped.Delta(dtype="<i4"), "int32", numcodecs.Delta("<i4")),
    (wrapped.Delta(dtype="<i4", astype="<i2"), "int32", numcodecs.Delta("<i4", "<i2")),
    (wrapped.BitRound(keepbits=4), "float32", numcodecs.BitRound(4)),
    (wrapped.FixedScaleOffset(offset=0, scale=9, astype="i2"), "float64", numcodecs.FixedScaleOffset(0, 9, "f8", "i2")),
    (wrapped.Quantize(digits=2), "float64", numcodecs.Quantize(2, "f8")),
    (wrapped.AsType(encode_dtype="<i8"), "int32", numcodecs.AsType("<i8", "<i4")),
    (wrapped.PackBits(), "bool", numcodecs.PackBits()),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "name", "theirs"), ARRAY_CODECS, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("order", ["C", "F"])
def test_array_codecs_are_those_of_numcodecs(ours: Any, name: str, theirs: Any, order: Any) -> None:
    chain = CodecChain.build([ours, BytesCodec()], chunk_spec(name, (4, 6)))
    array = random_array(name, (4, 6), 8)
    if name == "int32":
        array &= 0xFF
    stored = np.asarray(theirs.encode(array))
    assert chain.encode(np.asarray(array, order=order)).to_bytes() == stored.tobytes()
    expected = np.asarray(theirs.decode(stored)).view(array.dtype).reshape(4, 6)
    assert same(chain.decode(buffer(stored.tobytes())), expected)


@pytest.mark.parametrize("shards", [None, (8,)])
@pytest.mark.parametrize(
    ("codec", "name"),
    [
        (wrapped.Delta(dtype=">i4"), ">i4"),
        (wrapped.Delta(dtype=">i4", astype=">i2"), ">i4"),
        (wrapped.FixedScaleOffset(offset=3, scale=1, astype=">i2"), ">f4"),
        (wrapped.FixedScaleOffset(offset=0, scale=1, dtype=">i4", astype="<i4"), ">i4"),
        (wrapped.Quantize(digits=1), ">f8"),
        (wrapped.AsType(encode_dtype=">f4", decode_dtype=">f8"), ">f8"),
    ],
    ids=lambda value: str(value)[:16],
)
def test_parameters_in_another_byte_order_than_the_array_that_is_opened(codec: Any, name: str, shards: Any) -> None:
    """Documents of format 3 keep the byte order of a codec's parameters, but none of the data type."""
    store = zarr.storage.MemoryStore()
    expected = np.array([200, 500, 900, 1300, 0, 256, 255, 17], dtype=name)
    made = zarr.create_array(store, shape=8, chunks=4, shards=shards, dtype=name, filters=[codec])
    made[:] = expected
    opened = zarr.open_array(store, mode="r+")
    assert opened.dtype == expected.dtype.newbyteorder("=")
    assert opened[:].tolist() == expected.tolist()
    opened[2:6] = expected[2:6] = expected[2:6][::-1]
    assert opened[:].tolist() == made[:].tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "codec"), [("string", VLenUTF8Codec()), ("bytes", VLenBytesCodec())])
@pytest.mark.parametrize("last", [(), (ZstdCodec(),), (BloscCodec(), Crc32cCodec())])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4)])
def test_variable_length(name: str, codec: Any, last: Any, shape: tuple[int, ...]) -> None:
    chain = CodecChain.build([codec, *last], chunk_spec(name, shape))
    assert chain.program is None
    both_ways(chain, random_array(name, shape, 2))
    if len(shape) == 2:
        turned = CodecChain.build([TransposeCodec(order=(1, 0)), codec, *last], chunk_spec(name, shape))
        both_ways(turned, random_array(name, shape, 2))


DAMAGED_CHAINS = [
    [BytesCodec()],
    [BytesCodec(), ZstdCodec()],
    [BytesCodec(), ZstdCodec(checksum=True)],
    [BytesCodec(), GzipCodec()],
    [BytesCodec(), BloscCodec()],
    [BytesCodec(), Crc32cCodec()],
    [BytesCodec(), wrapped.LZ4()],
    [BytesCodec(), wrapped.BZ2()],
    [BytesCodec(), wrapped.LZMA()],
    [BytesCodec(), wrapped.Fletcher32()],
    [BytesCodec(), wrapped.Shuffle(), wrapped.Zlib()],
    [ShardingCodec(chunk_shape=(2, 3)), GzipCodec()],
]


@pytest.mark.parametrize("codecs", DAMAGED_CHAINS, ids=lambda codecs: type(codecs[-1]).__name__)
def test_damage_is_a_named_error(codecs: list[Any]) -> None:
    spec = chunk_spec("int32", (4, 6))
    chain = CodecChain.build(codecs, spec)
    stored = chain.encode(random_array("int32", (4, 6), 1)).to_bytes()
    damages = [b"", stored[:-1], stored[: len(stored) // 2], stored[:1]]
    if not isinstance(codecs[-1], (BytesCodec, wrapped.Fletcher32)):
        damages.append(b"\xff" * len(stored))
    for damaged in damages:
        with pytest.raises(ValueError, match=r"codec|shard") as caught:
            chain.decode(buffer(damaged))
        assert any("while decoding with codec" in note for note in caught.value.__notes__)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(DAMAGED_CHAINS), st.data())
def test_any_damage_gives_an_array_or_an_error(codecs: list[Any], data: st.DataObject) -> None:
    chain = CodecChain.build(codecs, chunk_spec("int32", (4, 6)))
    stored = bytearray(chain.encode(random_array("int32", (4, 6), 1)).to_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert chain.decode(buffer(stored)).shape == (4, 6)
    except ValueError:
        pass


def test_wrong_size_names_both_sizes() -> None:
    chain = CodecChain.build([BytesCodec()], chunk_spec("int32", (4, 6)))
    with pytest.raises(ChunkDecodeError, match=r"'bytes'.* 95 bytes where 96") as caught:
        chain.decode(buffer(bytes(95)))
    assert caught.value.codec == "bytes"


@pytest.mark.parametrize("make", ["gzip", "zstd", "blosc", "bz2", "lzma", "zlib", "lz4"])
def test_a_bomb_does_not_grow(make: str) -> None:
    inner: dict[str, Any] = {
        "gzip": (GzipCodec(), numcodecs.GZip()),
        "zstd": (ZstdCodec(), numcodecs.Zstd()),
        "blosc": (BloscCodec(), numcodecs.Blosc()),
        "bz2": (wrapped.BZ2(), numcodecs.BZ2()),
        "lzma": (wrapped.LZMA(), numcodecs.LZMA()),
        "zlib": (wrapped.Zlib(), numcodecs.Zlib()),
        "lz4": (wrapped.LZ4(), numcodecs.LZ4()),
    }
    ours, theirs = inner[make]
    chain = CodecChain.build([BytesCodec(), ours], chunk_spec("int32", (4, 6)))
    with pytest.raises(ValueError, match="codec"):
        chain.decode(buffer(theirs.encode(bytes(1 << 22))))


def test_other_shapes_are_kept() -> None:
    chain = CodecChain.build([BytesCodec(), ZstdCodec()], chunk_spec("int32", (4, 6)))
    other = chain.for_shape((2, 3))
    assert other is chain.for_shape((2, 3))
    assert chain.for_shape((4, 6)) is chain
    both_ways(other, random_array("int32", (2, 3), 1))


def test_uncompressed_chunks_are_views() -> None:
    chain = CodecChain.build([BytesCodec()], chunk_spec("int32", (4, 6)))
    array = random_array("int32", (4, 6), 1)
    assert np.shares_memory(chain.encode(array).as_numpy_array(), array)


def test_the_limit_is_named_where_it_is_the_reason() -> None:
    """And not where the number of damaged bytes has the same digits."""
    stream: Any = ZstdCodec().bind(chunk_spec("int32", (4, 6)))
    stream.expect_most(10)
    with pytest.raises(ChunkDecodeError, match="damaged") as raised:
        stream.decode(np.zeros(100, np.uint8))
    assert "raise the bound" not in str(raised.value)
    with pytest.raises(ChunkDecodeError, match="raise the bound"):
        stream.decode(np.frombuffer(numcodecs.Zstd().encode(bytes(1000)), np.uint8))


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
def test_a_filter_for_elements_of_another_size_is_read_back_or_refused() -> None:
    data = np.arange(24, dtype="i8")
    array = zarr.create_array({}, data=data, chunks=10, filters=[wrapped.Delta(dtype="i4")])
    assert np.array_equal(array[:], data)
    array = zarr.create_array({}, shape=24, dtype="i8", filters=[wrapped.AsType(encode_dtype="i2", decode_dtype="i4")])
    with pytest.raises(ChunkEncodeError, match=r"codec 'numcodecs.astype' makes .* its data type does not fit"):
        array[:] = data


def test_a_chain_is_forgotten_also_when_its_description_cannot_be_hashed_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the end of a program the names that the hash needs are gone, and Python prints what a weak mapping raises."""
    messages: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", messages.append)
    spec = ArraySpec((3, 12345), Int16(), 0, parse_array_config(None), default_buffer_prototype())
    chain = CodecChain.build([BytesCodec()], spec)
    assert CodecChain.build([BytesCodec()], spec) is chain
    for number in range(20):  # it is not among the last chains any more
        zarr.create_array({}, shape=(number + 1, 7), dtype="i2")[0, 0] = 1
    monkeypatch.setattr(ArraySpec, "__hash__", None)
    del chain
    gc.collect()
    monkeypatch.undo()
    assert messages == []
