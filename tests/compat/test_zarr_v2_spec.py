"""The specification of storage format 2, statement by statement (zarr-v2-spec.rst).

The examples of its last section run as they stand, with the store classes that they name.
"""

from __future__ import annotations

import base64
import doctest
import json
import math
import zlib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.core.buffer.cpu import Buffer
from zarr.errors import MetadataValidationError, PickleCodecDisabledError
from zarr.storage import MemoryStore

ARRAY = {
    "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": None, "fill_value": 7, "order": "C",
    "filters": None,
}  # fmt: skip

EXAMPLES = r"""
>>> import zarr
>>> store = zarr.DirectoryStore('data/example.zarr')
>>> a = zarr.create(shape=(20, 20), chunks=(10, 10), dtype='i4',
...                 fill_value=42, compressor=zarr.Zlib(level=1),
...                 store=store, overwrite=True)
>>> import os
>>> sorted(os.listdir('data/example.zarr'))
['.zarray']
>>> print(open('data/example.zarr/.zarray').read())
{
    "chunks": [
        10,
        10
    ],
    "compressor": {
        "id": "zlib",
        "level": 1
    },
    "dtype": "<i4",
    "fill_value": 42,
    "filters": null,
    "order": "C",
    "shape": [
        20,
        20
    ],
    "zarr_format": 2
}
>>> a[0:10, 0:10] = 1
>>> sorted(os.listdir('data/example.zarr'))
['.zarray', '0.0']
>>> a[0:10, 10:20] = 2
>>> a[10:20, :] = 3
>>> sorted(os.listdir('data/example.zarr'))
['.zarray', '0.0', '0.1', '1.0', '1.1']
>>> import zlib
>>> buf = zlib.decompress(open('data/example.zarr/0.0', 'rb').read())
>>> import numpy as np
>>> chunk = np.frombuffer(buf, dtype='<i4')
>>> chunk
array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
       1, 1, 1, 1, 1, 1, 1, 1], dtype=int32)
>>> a.attrs['foo'] = 42
>>> a.attrs['bar'] = 'apples'
>>> a.attrs['baz'] = [1, 2, 3, 4]
>>> sorted(os.listdir('data/example.zarr'))
['.zarray', '.zattrs', '0.0', '0.1', '1.0', '1.1']
>>> print(open('data/example.zarr/.zattrs').read())
{
    "bar": "apples",
    "baz": [
        1,
        2,
        3,
        4
    ],
    "foo": 42
}

>>> import zarr
>>> store = zarr.DirectoryStore('data/group.zarr')
>>> root_grp = zarr.group(store, overwrite=True)
>>> import os
>>> sorted(os.listdir('data/group.zarr'))
['.zgroup']
>>> print(open('data/group.zarr/.zgroup').read())
{
    "zarr_format": 2
}
>>> sub_grp = root_grp.create_group('foo')
>>> sorted(os.listdir('data/group.zarr'))
['.zgroup', 'foo']
>>> sorted(os.listdir('data/group.zarr/foo'))
['.zgroup']
>>> a = sub_grp.create_dataset('bar', shape=(20, 20), chunks=(10, 10))
>>> a[:] = 42
>>> a.attrs['comment'] = 'answer to life, the universe and everything'
>>> sorted(os.listdir('data/group.zarr'))
['.zgroup', 'foo']
>>> sorted(os.listdir('data/group.zarr/foo'))
['.zgroup', 'bar']
>>> sorted(os.listdir('data/group.zarr/foo/bar'))
['.zarray', '.zattrs', '0.0', '0.1', '1.0', '1.1']
>>> store = zarr.ZipStore('data/group.zip', mode='w')
>>> root_grp = zarr.group(store)
>>> sub_grp = root_grp.create_group('foo')
>>> a = sub_grp.create_dataset('bar', shape=(20, 20), chunks=(10, 10))
>>> a[:] = 42
>>> a.attrs['comment'] = 'answer to life, the universe and everything'
>>> store.close()
>>> import zipfile
>>> zf = zipfile.ZipFile('data/group.zip', mode='r')
>>> for name in sorted(zf.namelist()):
...     print(name)
.zgroup
foo/.zgroup
foo/bar/.zarray
foo/bar/.zattrs
foo/bar/0.0
foo/bar/0.1
foo/bar/1.0
foo/bar/1.1
"""


def opened(files: dict[str, bytes], **options: Any) -> Any:
    return zarr.open(MemoryStore({key: Buffer.from_bytes(raw) for key, raw in files.items()}), mode="r+", **options)


def array_of(stored: dict[str, bytes] | None = None, /, **members: Any) -> Any:
    files = {".zarray": json.dumps({**ARRAY, **members}).encode(), **(stored or {})}
    return opened(files)


def documents(store: MemoryStore) -> dict[str, Any]:
    return {key: json.loads(raw.to_bytes()) for key, raw in store._store_dict.items() if "/." in f"/{key}"}


@pytest.mark.filterwarnings("ignore")
def test_the_examples_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(EXAMPLES, {}, "zarr-v2-spec.rst", None, 0)
    assert len(examples.examples) > 40
    told: list[str] = []
    # numpy breaks the lines of a long array elsewhere than it did when the examples were written.
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    result = runner.run(examples, out=told.append)
    assert result.failed == 0, "".join(told)
    for name in ("example.zarr/.zarray", "example.zarr/.zattrs", "group.zarr/.zgroup"):
        raw = (tmp_path / "data" / name).read_text()
        assert raw in EXAMPLES


# A document without compressor or filters means that there are none: nothing else could be meant.
@pytest.mark.parametrize("missing", sorted(set(ARRAY) - {"compressor", "filters"}))
def test_v2_1_the_keys_that_must_be_there(missing: str) -> None:
    document = {key: value for key, value in ARRAY.items() if key != missing}
    with pytest.raises((MetadataValidationError, FileNotFoundError), match=missing):
        opened({".zarray": json.dumps(document).encode()})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"zarr_format": 3}, "zarr_format"), ({"zarr_format": "2"}, "zarr_format"), ({"order": "A"}, "order"),
        ({"compressor": {"level": 1}}, "id"), ({"filters": [{"dtype": "<i4"}]}, "id"),
        ({"shape": [-4]}, "shape"), ({"chunks": [2, 2]}, "chunks"), ({"compressor": "zlib"}, "compressor"),
    ],
)  # fmt: skip
def test_v2_1_what_the_keys_must_say(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        array_of(**change)


def test_v2_1_the_example_of_a_document() -> None:
    example = """
    {"chunks": [1000, 1000], "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}, "dtype": "<f8",
     "fill_value": "NaN", "filters": [{"id": "delta", "dtype": "<f8", "astype": "<f4"}], "order": "C",
     "shape": [10000, 10000], "zarr_format": 2}
    """
    array = opened({".zarray": example.encode()})
    assert (array.shape, array.chunks, array.dtype, array.nchunks) == ((10000, 10000), (1000, 1000), "<f8", 100)
    block = np.arange(10.0**6).reshape(1000, 1000)
    array[2000:3000, 4000:5000] = block
    assert (array[2000:2002, 4000:4003] == block[:2, :3]).all()
    raw = array.store._store_dict["2.4"].to_bytes()
    assert int.from_bytes(raw[12:16], "little") == len(raw)  # the header of blosc, with nothing in front of it
    values = numcodecs.Delta("<f8", "<f4").decode(numcodecs.Blosc().decode(raw)).reshape(1000, 1000)
    np.testing.assert_array_equal(values, block)


@pytest.mark.parametrize("members", [{}, {"dimension_separator": "."}, {"dimension_separator": None}])
def test_v2_2_the_separator_is_a_point(members: dict[str, Any]) -> None:
    array = array_of({"0.1": np.array([[1, 2]], "<i4").tobytes()}, shape=[1, 4], chunks=[1, 2], **members)
    assert array[:].tolist() == [[7, 7, 1, 2]]


def test_v2_2_the_separator_may_be_a_slash() -> None:
    chunk = {"0/1": np.array([[1, 2]], "<i4").tobytes()}
    array = array_of(chunk, shape=[1, 4], chunks=[1, 2], dimension_separator="/")
    assert array[:].tolist() == [[7, 7, 1, 2]]
    with pytest.raises(MetadataValidationError, match="dimension_separator"):
        array_of(dimension_separator="-")


def test_v2_3_other_keys_are_ignored() -> None:
    array = array_of(_NCZARR_ARRAY={"dimrefs": ["/x"]}, anything=1)
    assert array.shape == (4,)
    assert "anything" not in array.metadata.to_dict()


TYPESTRINGS = (
    "|b1 |i1 |u1 <i2 >i2 <i4 >i4 <i8 >i8 <u2 >u2 <u4 >u4 <u8 >u8 <f2 >f2 <f4 >f4 <f8 >f8 <c8 >c8 <c16 >c16 |S5 <U5 >U5 "
    "|V5 <M8[ns] >M8[D] <m8[s] <M8[25us]"
)


@pytest.mark.parametrize("name", TYPESTRINGS.split())
def test_v2_4_type_strings(name: str) -> None:
    dtype = np.dtype(name)
    values = np.frombuffer(bytes(range(65, 65 + 2 * dtype.itemsize)), dtype)
    if dtype.kind == "U":
        values = np.array(["abc", "é"], dtype)
    if dtype.kind == "b":
        values = np.array([True, False])
    array = array_of({"0": values.tobytes()}, dtype=name, fill_value=None)
    assert array.dtype == dtype
    assert array[:2].tobytes() == values.tobytes()
    array[2:] = values[::-1]
    assert array.store._store_dict["1"].to_bytes() == values[::-1].tobytes()
    assert array.metadata.to_dict()["dtype"] == name


@pytest.mark.parametrize("name", ["f8", "i4", "", "<x4", "=i4", "<i3"])
def test_v2_4_the_byte_order_must_be_said(name: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        array_of(dtype=name)


@pytest.mark.parametrize("name", ["<u1", ">i1", ">b1"])
def test_v2_4_the_order_of_one_byte_means_nothing(name: str) -> None:
    array = array_of({"0": b"\0\1"}, dtype=name, fill_value=0)
    assert array[:2].tolist() == [0, 1]


def test_v2_5_times_have_units() -> None:
    array = array_of({"0": np.array([0, 1], "<i8").tobytes()}, dtype="<M8[D]", fill_value=None)
    assert array[:2].tolist() == np.array(["1970-01-01", "1970-01-02"], "M8[D]").tolist()
    for name in ("<m8[parsecs]", "<M8[0s]", "<M8[s"):
        with pytest.raises((ValueError, TypeError)):
            array_of(dtype=name, fill_value=None)


STRUCTURES: list[list[Any]] = [
    [["r", "|u1"], ["g", "|u1"], ["b", "|u1"]],
    [["x", "<f4"], ["y", "<f4"], ["z", "<f4", [2, 2]]],
    [["foo", "<f4"], ["bar", [["baz", "<f4"], ["qux", "<i4"]]]],
    [["deep", [["a", ">i2", [3]], ["b", "|S2"]]], ["t", "<M8[s]"]],
]


def numpy_descr(fields: list[Any]) -> list[Any]:
    return [
        (field[0], numpy_descr(field[1]) if isinstance(field[1], list) else field[1], *(tuple(s) for s in field[2:]))
        for field in fields
    ]


@pytest.mark.parametrize("fields", STRUCTURES)
def test_v2_6_structured_types(fields: list[Any]) -> None:
    dtype = np.dtype(numpy_descr(fields))
    raw = bytes(range(2 * dtype.itemsize))
    array = array_of({"0": raw}, dtype=fields, fill_value=None)
    assert array.dtype == dtype
    assert array[:2].tobytes() == raw
    stored = zarr.create_array({}, data=array[:], chunks=(2,), zarr_format=2, compressors=None)
    assert stored.metadata.to_dict()["dtype"] == fields or json.loads(
        json.dumps(stored.metadata.to_dict()["dtype"])
    ) == json.loads(json.dumps(fields))
    assert stored[:2].tobytes() == raw


@pytest.mark.parametrize(("text", "value"), [("NaN", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf)])
@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f8"])
def test_v2_7_floats_that_json_has_no_number_for(text: str, value: float, dtype: str) -> None:
    array = array_of(dtype=dtype, fill_value=text)
    np.testing.assert_array_equal(array[:], np.full(4, value))
    assert array.metadata.to_dict()["fill_value"] == text


def test_v2_8_bytes_and_structures_are_filled_by_base64() -> None:
    array = array_of(dtype="|S5", fill_value=base64.b64encode(b"abcde").decode())
    assert array[:].tolist() == [b"abcde"] * 4
    assert array.metadata.to_dict()["fill_value"] == "YWJjZGU="
    dtype = np.dtype([("a", "<i2"), ("b", "|S1")])
    value = np.array((258, b"x"), dtype)
    array = array_of(dtype=[["a", "<i2"], ["b", "|S1"]], fill_value=base64.b64encode(value.tobytes()).decode())
    assert array[:].tolist() == [(258, b"x")] * 4


@pytest.mark.parametrize("fill", [0, None, ""])
@pytest.mark.parametrize(("dtype", "empty"), [("|S5", b""), ("<U5", "")])
def test_v2_8_older_files_fill_strings_with_nothing(fill: Any, dtype: str, empty: Any) -> None:
    assert array_of(dtype=dtype, fill_value=fill)[:].tolist() == [empty] * 4


def test_v2_9_what_is_not_stored_is_fill_value() -> None:
    assert array_of()[:].tolist() == [7] * 4
    assert array_of(fill_value=None).fill_value is None
    assert array_of(fill_value=None)[:].shape == (4,)


def test_v2_10_all_chunks_are_whole() -> None:
    array = array_of(shape=[3])
    array[:] = [1, 2, 3]
    assert len(array.store._store_dict["1"]) == 8
    array = array_of({"1": np.array([5, 99], "<i4").tobytes()}, shape=[3])
    assert array[:].tolist() == [7, 7, 5]


def test_v2_10_the_order_of_a_chunk() -> None:
    values = np.arange(6, dtype="<i4").reshape(2, 3)
    for order in "CF":
        array = array_of({"0.0": values.tobytes(order)}, shape=[2, 3], chunks=[2, 3], order=order)  # type: ignore[arg-type]
        assert array[:].tolist() == values.tolist()
        array[0, 0] = 9
        assert array.store._store_dict["0.0"].to_bytes() == array[:].tobytes(order)


def test_v2_11_filters_in_their_order_then_the_compressor() -> None:
    filters = [{"id": "delta", "dtype": "<i4"}, {"id": "shuffle", "elementsize": 4}]
    array = array_of(filters=filters, compressor={"id": "zlib", "level": 1})
    array[:2] = [10, 13]
    raw = zlib.decompress(array.store._store_dict["0"].to_bytes())
    assert raw == bytes(numcodecs.Shuffle(4).encode(np.array([10, 3], "<i4")))
    assert array[:].tolist() == [10, 13, 7, 7]


def test_v2_11_the_example_of_a_filter() -> None:
    array = array_of(
        dtype="<f8", fill_value="NaN", filters=[{"id": "delta", "dtype": "<f8", "astype": "<f4"}],
        compressor={"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
    )  # fmt: skip
    array[:2] = [1.5, 2.5]
    assert array[:2].tolist() == [1.5, 2.5]
    assert math.isnan(array[3])


def test_v2_12_the_key_of_a_chunk() -> None:
    array = array_of(shape=[10000, 10000], chunks=[1000, 1000])
    array[2500, 4500] = 1
    assert "2.4" in array.store._store_dict
    zero = array_of({"0": np.array(5, "<i4").tobytes()}, shape=[], chunks=[])
    assert zero[()] == 5


@pytest.mark.parametrize("path", ["foo/bar", "/foo/bar", "foo/bar/", "foo//bar", "\\foo\\bar", "//foo\\\\bar//"])
def test_v2_13_paths_are_normalized(path: str) -> None:
    store = MemoryStore()
    zarr.create(shape=(4,), chunks=(2,), dtype="i4", store=store, path=path, zarr_format=2)
    assert "foo/bar/.zarray" in store._store_dict


@pytest.mark.parametrize("path", [".", "..", "foo/../bar", "foo/./bar"])
def test_v2_13_points_are_no_names(path: str) -> None:
    with pytest.raises(ValueError):
        zarr.create(shape=(4,), dtype="i4", store=MemoryStore(), path=path, zarr_format=2)


@pytest.mark.parametrize("kind", ["array", "group"])
def test_v2_14_all_ancestors_are_groups(kind: str) -> None:
    store = zarr.MemoryStore()
    if kind == "array":
        zarr.create(shape=(4,), dtype="i4", store=store, path="foo/bar/baz")
    else:
        zarr.group(store, path="foo/bar/baz")
    for path in ("", "foo/", "foo/bar/"):
        assert json.loads(store[f"{path}.zgroup"]) == {"zarr_format": 2}


def test_v2_15_a_group_says_its_format_and_nothing_else() -> None:
    store = MemoryStore()
    group = zarr.create_group(store, zarr_format=2, attributes={"a": 1})
    group.create_group("b")
    zarr.consolidate_metadata(store)
    for key, document in documents(store).items():
        if key.endswith(".zgroup"):
            assert document == {"zarr_format": 2}
    nested = documents(store)[".zmetadata"]["metadata"]
    assert nested["b/.zgroup"] == {"zarr_format": 2}
    odd = opened({".zgroup": json.dumps({"zarr_format": 2, "_NCZARR_GROUP": {}}).encode()})
    assert list(odd) == []


def test_v2_15_members_are_direct_children() -> None:
    store = MemoryStore()
    root = zarr.create_group(store, zarr_format=2)
    root.create_group("foo").create_group("bar")
    root["foo"].create_array("baz", shape=(1,), dtype="i4")
    assert sorted(root["foo"]) == ["bar", "baz"]
    assert sorted(root) == ["foo"]


def test_v2_16_attributes_need_not_be_there() -> None:
    assert dict(array_of().attrs) == {}
    attributes = {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}
    files = {".zarray": json.dumps(ARRAY).encode(), ".zattrs": json.dumps(attributes).encode()}
    assert dict(opened(files).attrs) == attributes


def test_v2_17_a_zip_file_has_the_same_keys(tmp_path: Path) -> None:
    folder, archive = zarr.DirectoryStore(tmp_path / "a"), zarr.ZipStore(tmp_path / "a.zip", mode="w")
    for store in (folder, archive):
        root = zarr.group(store)
        root.create_dataset("x/y", data=np.arange(4), chunks=(2,))
        root["x"].attrs["t"] = 1
    assert sorted(folder) == sorted(archive)
    assert all(folder[key] == archive[key] for key in folder)
    archive.close()
    assert zarr.open(str(tmp_path / "a.zip"), mode="r")["x/y"][:].tolist() == [0, 1, 2, 3]


def test_v2_18_names_that_are_not_ascii_are_read() -> None:
    array = opened({".zgroup": b'{"zarr_format": 2}', "größe/.zarray": json.dumps(ARRAY).encode()})["größe"]
    assert array[:].tolist() == [7] * 4


def test_entries_of_a_copy_without_a_node_are_passed_over() -> None:
    metadata = {".zgroup": {"zarr_format": 2}, "a/.zarray": ARRAY, "a/.zattrs": {}, "b/unexpected/.zattrs": {"x": 1}}
    copy = {"zarr_consolidated_format": 1, "metadata": metadata}
    group = opened({".zgroup": b'{"zarr_format": 2}', ".zmetadata": json.dumps(copy).encode()}, use_consolidated=True)
    assert list(group) == ["a"]


# --- codecs of numcodecs, and objects

BYTES_CODECS: list[dict[str, Any]] = [
    {"id": "adler32"}, {"id": "crc32"}, {"id": "crc32c"}, {"id": "fletcher32"}, {"id": "jenkins_lookup3"},
    {"id": "bz2", "level": 1}, {"id": "gzip", "level": 1}, {"id": "lz4", "acceleration": 1}, {"id": "zlib", "level": 1},
    {"id": "zstd", "level": 0}, {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}, {"id": "shuffle", "elementsize": 4},
    {"id": "base64"},
]  # fmt: skip


@pytest.mark.parametrize("codec", BYTES_CODECS, ids=lambda codec: codec["id"])
@pytest.mark.parametrize("place", ["compressor", "filter"])
def test_codecs_on_bytes(codec: dict[str, Any], place: str) -> None:
    if codec["id"] not in numcodecs.registry.codec_registry and codec["id"] not in numcodecs.registry.entries:
        pytest.skip(f"{codec['id']} needs another package: numcodecs[{codec['id']}]")
    members: dict[str, Any] = {"compressor": codec} if place == "compressor" else {"filters": [codec]}
    values = np.array([3, -4], "<i4")
    stored = numcodecs.get_codec(dict(codec)).encode(values)
    array = array_of({"0": bytes(stored)}, **members)
    assert array[:].tolist() == [3, -4, 7, 7]
    array[:2] = [5, 6]
    read = numcodecs.get_codec(dict(codec)).decode(array.store._store_dict["0"].to_bytes())
    assert np.frombuffer(bytes(read), "<i4").tolist() == [5, 6]


NUMBER_FILTERS: list[tuple[dict[str, Any], str]] = [
    ({"id": "delta", "dtype": "<i4", "astype": "<i4"}, "<i4"),
    ({"id": "fixedscaleoffset", "scale": 10, "offset": 1, "dtype": "<f8", "astype": "<i4"}, "<f8"),
    ({"id": "quantize", "digits": 2, "dtype": "<f8", "astype": "<f4"}, "<f8"),
    ({"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f8"}, "<f8"),
    ({"id": "bitround", "keepbits": 10}, "<f4"),
    ({"id": "packbits"}, "|b1"),
]


@pytest.mark.parametrize(("codec", "dtype"), NUMBER_FILTERS, ids=lambda v: v["id"] if isinstance(v, dict) else v)
def test_filters_on_numbers(codec: dict[str, Any], dtype: str) -> None:
    values = np.array([1, 0], dtype)
    stored = numcodecs.get_codec(dict(codec)).encode(values)
    array = array_of({"0": np.asarray(stored).tobytes()}, dtype=dtype, fill_value=None, filters=[codec])
    np.testing.assert_array_equal(array[:2], values)
    array[2:] = values
    assert array.store._store_dict["1"].to_bytes() == np.asarray(stored).tobytes()


OBJECTS: list[tuple[Any, list[Any]]] = [
    (numcodecs.VLenUTF8(), ["a", "bé"]),
    (numcodecs.VLenBytes(), [b"a", b"bc"]),
    (numcodecs.VLenArray("<i4"), [np.array([1, 2], "<i4"), np.array([3], "<i4")]),
    (numcodecs.JSON(), [{"a": 1}, [2, None]]),
    (numcodecs.MsgPack(), ["x", {"b": 2}]),
    (numcodecs.Categorize(["a", "b"], dtype=object), ["b", "a"]),
]


@pytest.mark.parametrize(("codec", "items"), OBJECTS, ids=lambda v: getattr(v, "codec_id", ""))
@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_of_objects(codec: Any, items: list[Any], compressed: bool) -> None:
    values = np.empty(2, dtype=object)
    values[:] = items
    store = zarr.MemoryStore()
    compressor = zarr.Zlib(1) if compressed else None
    array = zarr.create(
        shape=(4,), chunks=(2,), dtype=object, object_codec=codec, store=store, compressor=compressor, fill_value=None
    )
    array[:2] = values
    stored = store["0"]
    assert (zlib.decompress(stored) if compressed else stored) == bytes(codec.encode(values))
    got = zarr.open(store, mode="r")[:2]
    assert [np.asarray(item).tolist() for item in got] == [np.asarray(item).tolist() for item in items]
    group = zarr.group(zarr.MemoryStore())
    made = group.create_dataset("x", shape=(4,), chunks=(2,), dtype=object, object_codec=codec)
    assert made.metadata.to_dict()["filters"][0]["id"] == codec.codec_id


def test_pickled_objects_are_read_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = bytes(numcodecs.Pickle().encode(np.array([{"a": 1}, None], dtype=object)))
    array = array_of({"0": stored}, dtype="|O", filters=[{"id": "pickle", "protocol": 5}], fill_value=None)
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", False, raising=False)
    with pytest.raises(PickleCodecDisabledError, match="allow_unsafe_pickle_decode"):
        array[:2]
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    assert array[:2].tolist() == [{"a": 1}, None]
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", False, raising=False)
    with zarr.config.set({"array.allow_unsafe_pickle_decode": True}):
        array = array_of({"0": stored}, dtype="|O", filters=[{"id": "pickle", "protocol": 5}], fill_value=None)
        assert array[:2].tolist() == [{"a": 1}, None]


def test_an_object_codec_is_for_objects() -> None:
    with pytest.warns(UserWarning, match="object_codec is for dtype=object"):
        array = zarr.create(shape=(4,), dtype="i4", object_codec=numcodecs.JSON(), store=zarr.MemoryStore())
    assert array.dtype == np.dtype("i4")
    assert not array.filters
