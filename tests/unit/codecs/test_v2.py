"""Format 2 chunks: what the library stores and reads is what numcodecs would, filter by filter."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numcodecs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zarr
from tests.unit.codecs.specs import FIXED_DTYPES, buffer, chunk_spec, nd_buffer, random_array, same
from zarr.chunks.spec import ArraySpec
from zarr.codecs._v2 import V2Codec, v2_chain_codecs
from zarr.codecs.base.bound import replace_spec
from zarr.codecs.base.chain import CodecChain
from zarr.dtype.types.text import PythonObject
from zarr.errors import PickleCodecDisabledError
from zarr.settings import config

COMPRESSORS: list[Any] = [
    None,
    numcodecs.Zstd(level=1),
    numcodecs.Blosc(),
    numcodecs.Blosc(cname="zstd", shuffle=-1),
    numcodecs.Blosc(cname="blosclz", shuffle=2, blocksize=32),
    numcodecs.GZip(),
    numcodecs.Zlib(),
    numcodecs.LZ4(),
    numcodecs.BZ2(),
    numcodecs.LZMA(),
]
BYTE_FILTERS: list[Any] = [
    numcodecs.Shuffle(elementsize=4),
    numcodecs.CRC32(),
    numcodecs.Adler32(),
    numcodecs.Fletcher32(),
    numcodecs.Zlib(),
]


def by_numcodecs(array: np.ndarray[Any, Any], filters: list[Any], compressor: Any, order: Any) -> bytes:
    """What a format 2 writer stores, in the words of the format."""
    stored: Any = np.asarray(array, order=order)
    for codec in [*filters, *([] if compressor is None else [compressor])]:
        stored = codec.encode(stored)
    return stored.tobytes(order="A") if isinstance(stored, np.ndarray) else bytes(stored)


def number_filters(name: str) -> list[list[Any]]:
    dtype = np.dtype(name)
    filters: list[list[Any]] = [[]]
    if dtype.kind in "iu":
        filters += [[numcodecs.Delta(dtype=name)], [numcodecs.Delta(dtype=name), numcodecs.Shuffle(dtype.itemsize)]]
        filters += [[numcodecs.AsType(encode_dtype="<i8", decode_dtype=name)]]
        # numcodecs sums unsigned differences in floating point, which loses the low bits of 64-bit numbers.
        filters += [[numcodecs.Delta(dtype=name, astype="<i8")]] if dtype.kind == "i" else []
    if dtype.kind == "f" and dtype.itemsize >= 4:
        filters += [[numcodecs.AsType(encode_dtype=">f8", decode_dtype=name)]]
    if dtype.kind == "b":
        filters += [[numcodecs.PackBits()]]
    return filters


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from(FIXED_DTYPES), order=st.sampled_from(["C", "F"]), compressor=st.sampled_from(COMPRESSORS),
    shape=st.lists(st.integers(1, 6), max_size=3).map(tuple), seed=st.integers(0, 99), data=st.data(),
)  # fmt: skip
def test_same_as_numcodecs(
    name: str, order: Any, compressor: Any, shape: tuple[int, ...], seed: int, data: st.DataObject
) -> None:
    filters = data.draw(st.sampled_from(number_filters(name)))
    if data.draw(st.booleans()) and np.dtype(name).kind != "V":
        filters = [*filters, data.draw(st.sampled_from(BYTE_FILTERS))]
    array = random_array(name, shape, seed)
    names = {codec.codec_id for codec in filters}
    if "shuffle" in names and (array.nbytes % 8 or "packbits" in names):
        return  # it takes whole elements only
    chain = CodecChain.build(v2_chain_codecs(filters or None, compressor, order), chunk_spec(name, shape))
    stored = by_numcodecs(array, filters, compressor, order)
    for raw in (buffer(stored), chain.encode(array), buffer(chain._encode_stages(array))):  # type: ignore[arg-type]
        assert same(chain.decode(raw), array)
        assert same(chain._decode_stages(raw.as_numpy_array()), array)
    ours = chain.encode(array).to_bytes()
    if compressor is None:
        assert ours == stored


def test_native_where_it_can_be() -> None:
    spec = chunk_spec("int32", (4, 6))
    delta, shuffle = numcodecs.Delta("<i4"), numcodecs.Shuffle(4)
    native = CodecChain.build(v2_chain_codecs([delta, shuffle], numcodecs.Blosc(shuffle=-1), "F"), spec)
    assert native.program is not None
    assert native.program.order == (1, 0)
    assert [name for name, _ in native.program.stages] == ["delta", "shuffle", "blosc"]
    for filters, compressor in (([numcodecs.Fletcher32()], None), ([], numcodecs.BZ2())):
        assert CodecChain.build(v2_chain_codecs(filters, compressor), spec).program is None
    swapped = CodecChain.build(v2_chain_codecs([numcodecs.Delta(">i4")], None), chunk_spec(">i4", (4,)))
    array = random_array(">i4", (4,), 1)
    assert same(swapped.decode(swapped.encode(array)), array)


def object_spec(codec_id: str, shape: tuple[int, ...]) -> ArraySpec:
    return replace_spec(chunk_spec("string", shape), dtype=PythonObject(object_codec_id=codec_id), fill_value=None)


OBJECTS: list[tuple[Any, Any, list[Any]]] = [
    (numcodecs.VLenUTF8(), "string", ["a", "", "bé", "日本"]),
    (numcodecs.VLenBytes(), "bytes", [b"a", b"", b"bc", b"\x00\xff"]),
    (numcodecs.JSON(), "json2", [1, "b", None, {"c": [1.5]}]),
    (numcodecs.Categorize(labels=["a", "b", ""], dtype=object), "categorize", ["a", "b", "b", "a"]),
    (getattr(numcodecs, "MsgPack", None) and numcodecs.MsgPack(), "msgpack2", [1, "b", None, {"c": [1.5]}]),
    (numcodecs.VLenArray("<i4"), "vlen-array", [np.arange(3, dtype="<i4"), np.arange(0, dtype="<i4")] * 2),
]


@pytest.mark.parametrize(("codec", "kind", "values"), OBJECTS, ids=lambda value: str(value)[:12])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compressor", [None, numcodecs.Zstd(), numcodecs.Blosc()], ids=str)
@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_object_codecs(codec: Any, kind: str, values: list[Any], order: Any, compressor: Any, shape: Any) -> None:
    if codec is None:
        pytest.skip("the msgpack package is not here")
    spec = chunk_spec(kind, shape) if kind in ("string", "bytes") else object_spec(kind, shape)
    chain = CodecChain.build(v2_chain_codecs([codec], compressor, order), spec)
    array = np.empty(4, dtype=object)
    array[:] = values
    array = array.reshape(shape)
    stored = by_numcodecs(array, [codec], compressor, order)
    for raw in (buffer(stored), chain.encode(array)):
        decoded = chain.decode(raw)
        assert decoded.shape == shape
        for one, other in zip(decoded.reshape(-1).tolist(), array.reshape(-1).tolist(), strict=True):
            assert np.array_equal(one, other)
    if compressor is None:
        assert chain.encode(array).to_bytes() == stored


def test_base64_and_text_of_fixed_width() -> None:
    spec = chunk_spec("int32", (4,))
    chain = CodecChain.build(v2_chain_codecs([numcodecs.Base64()], None), spec)
    array = random_array("int32", (4,), 1)
    assert same(chain.decode(chain.encode(array)), array)
    text = CodecChain.build(
        v2_chain_codecs([numcodecs.Categorize(labels=["a", "b"], dtype="<U3")], numcodecs.Zlib()),
        chunk_spec("<U3", (3,)),
    )
    words = np.array(["a", "b", "a"], dtype="<U3")
    assert same(text.decode(text.encode(words)), words)


def test_none_counts_as_the_empty_string() -> None:
    chain = CodecChain.build(v2_chain_codecs([numcodecs.VLenUTF8()], None), chunk_spec("string", (2,)))
    assert chain.decode(chain.encode(np.array(["a", None], dtype=object))).tolist() == ["a", ""]
    with pytest.raises(TypeError):
        chain.encode(np.array(["a", 1], dtype=object))


def test_pickle_is_refused_unless_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", False, raising=False)
    chain = CodecChain.build(v2_chain_codecs([numcodecs.Pickle()], None), object_spec("pickle", (2,)))
    array = np.array([1, {"a": 2}], dtype=object)
    stored = buffer(pickle.dumps(array))
    with pytest.raises(PickleCodecDisabledError, match="allow_unsafe_pickle_decode"):
        chain.decode(stored)
    with config.set({"array.allow_unsafe_pickle_decode": True}):
        assert chain.decode(stored).tolist() == array.tolist()
        assert chain.decode(chain.encode(array)).tolist() == array.tolist()
    with config.set({"array.allow_unsafe_pickle_decode": "false"}), pytest.raises(PickleCodecDisabledError):
        chain.decode(stored)
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    assert chain.decode(stored).tolist() == array.tolist()
    for refusal in (False, "false", 0):
        with config.set({"array.allow_unsafe_pickle_decode": refusal}), pytest.raises(PickleCodecDisabledError):
            chain.decode(stored)
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", "false", raising=False)
    with pytest.raises(PickleCodecDisabledError):
        chain.decode(stored)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [("NUMCODECS_ALLOW_UNSAFE_PICKLE_DECODE", "1", True), ("NUMCODECS_ALLOW_UNSAFE_PICKLE_DECODE", "no", False),
     ("ZARR_ARRAY__ALLOW_UNSAFE_PICKLE_DECODE", "True", True), ("ANOTHER", "1", False)],
)  # fmt: skip
def test_consent_by_the_environment(name: str, value: str, allowed: bool) -> None:
    if not hasattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE"):
        pytest.skip("this numcodecs asks for no consent")
    program = (
        "import zarr, numpy, numcodecs; store = zarr.storage.MemoryStore();"
        "array = zarr.create(shape=2, dtype=object, object_codec=numcodecs.Pickle(), zarr_format=2, store=store);"
        "array[:] = numpy.array([{'a': 1}, None], dtype=object);"
        "assert array[:].tolist() == [{'a': 1}, None]"
    )
    environment = {key: text for key, text in os.environ.items() if "PICKLE" not in key} | {name: value}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode == 0) is allowed, done.stderr
    assert ("PickleCodecDisabledError" in done.stderr) is not allowed


def test_a_pickle_codec_of_somebody_else_keeps_its_own_rules() -> None:
    class Guarded(numcodecs.Pickle):  # type: ignore[misc]
        def decode(self, buf: Any, out: Any = None) -> Any:
            raise PermissionError("not in this house")

    chain = CodecChain.build(v2_chain_codecs([Guarded()], None), object_spec("pickle", (2,)))
    with config.set({"array.allow_unsafe_pickle_decode": True}), pytest.raises(PermissionError, match="this house"):
        chain.decode(buffer(pickle.dumps(np.array([1, 2], dtype=object))))


def test_objects_need_an_object_codec() -> None:
    chain = CodecChain.build(v2_chain_codecs(None, numcodecs.Zstd()), object_spec("json2", (2,)))
    with pytest.raises(ValueError, match=r"object codec|cannot encode"):
        chain.encode(np.array([1, {"a": 2}], dtype=object))
    with pytest.raises(ValueError, match="object codec"):
        chain.decode(buffer(numcodecs.Zstd().encode(b"abcd" * 4)))


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
@pytest.mark.parametrize("filters", [[], [numcodecs.Delta("<i4")], [numcodecs.Fletcher32()]], ids=str)
def test_damage_is_a_named_error(compressor: Any, filters: list[Any]) -> None:
    chain = CodecChain.build(v2_chain_codecs(filters, compressor), chunk_spec("int32", (4, 6)))
    stored = chain.encode(random_array("int32", (4, 6), 1)).to_bytes()
    for damaged in (b"", stored[:-1], stored[: len(stored) // 2]):
        with pytest.raises(ValueError, match="codec"):
            chain.decode(buffer(damaged))


def test_public_class_takes_the_order_of_the_chunk() -> None:
    codec = V2Codec(filters=None, compressor=numcodecs.Zlib())
    array = np.arange(24, dtype="i4").reshape(4, 6)
    for order in ("C", "F"):
        spec = chunk_spec("int32", (4, 6), order=order)
        stored = codec._encode_sync(nd_buffer(array), spec)
        assert bytes(numcodecs.Zlib().decode(stored.to_bytes())) == array.tobytes(order=order)  # type: ignore[arg-type]
        assert np.array_equal(codec._decode_sync(stored, spec).as_numpy_array(), array)
    assert V2Codec(None, None) == V2Codec(None, None)
    with pytest.raises(NotImplementedError):
        codec.compute_encoded_size(10, chunk_spec())


@pytest.mark.parametrize("config", [{}, {"location": "end"}, {"location": "start"}])
def test_crc32c_needs_no_package(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numcodecs has no crc32c, the compiled core computes it; where it has, both store the same."""
    from numcodecs.registry import codec_registry

    from zarr.registry import get_numcodec
    from zarr.registry.codecs import CRC32C

    settings_: Any = {"id": "crc32c", **config}
    theirs = get_numcodec(settings_)
    monkeypatch.delitem(codec_registry, "crc32c", raising=False)
    ours = get_numcodec(settings_)
    assert isinstance(ours, CRC32C)
    assert ours.get_config() == settings_
    data = np.arange(10, dtype="u1")
    assert bytes(ours.encode(data)) == bytes(theirs.encode(data))
    assert np.asarray(theirs.decode(bytes(ours.encode(data)))).tobytes() == data.tobytes()
    out = np.zeros(10, "u1")
    assert ours.decode(ours.encode(data), out) is out
    assert (out == data).all()
    with pytest.raises(ValueError, match=r"(?i)checksum|crc"):
        ours.decode(b"\0" * 14 + b"x")
    array = zarr.create_array({}, shape=(4,), dtype="i4", zarr_format=2, compressors=settings_)
    array[...] = [1, 2, 3, 4]
    assert zarr.open_array(array.store)[...].tolist() == [1, 2, 3, 4]
