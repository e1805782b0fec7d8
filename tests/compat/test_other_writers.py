"""Documents as other writers make them, of all ages: each opens, and holds the right values.

The files are made here by hand, in the manner of the writer that is named; nothing of them was copied.
"""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.storage import MemoryStore

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")

VALUES = np.arange(6, dtype="<i4").reshape(2, 3)
RAW = VALUES.tobytes()
OF_2 = {
    "zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<i4", "compressor": None, "fill_value": 0,
    "order": "C", "filters": None,
}  # fmt: skip
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
OF_3 = {
    "zarr_format": 3, "node_type": "array", "shape": [2, 3], "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0, "codecs": [LITTLE], "attributes": {},
}  # fmt: skip


def store_of(files: dict[str, Any]) -> MemoryStore:
    raw = {key: value if isinstance(value, bytes) else json.dumps(value).encode() for key, value in files.items()}
    return MemoryStore({key: Buffer.from_bytes(value) for key, value in raw.items()})


def opened(files: dict[str, Any], **options: Any) -> Any:
    return zarr.open_array(store_of(files), mode="r", **options)


def v2(raw: Any = RAW, leave_out: str = "", **members: Any) -> dict[str, Any]:
    document = {key: value for key, value in {**OF_2, **members}.items() if key != leave_out}
    separator = members.get("dimension_separator") or "."
    attributes = document.pop("attributes", {})
    return {".zarray": document, ".zattrs": attributes, f"0{separator}0": bytes(raw)}


def v3(raw: Any = RAW, leave_out: str = "", **members: Any) -> dict[str, Any]:
    document = {key: value for key, value in {**OF_3, **members}.items() if key != leave_out}
    return {"zarr.json": document, "c/0/0": bytes(raw)}


def shuffled(width: int = 4) -> bytes:
    return bytes(numcodecs.Shuffle(width).encode(RAW))


BLOSC = numcodecs.Blosc("lz4", 5, 1).encode(RAW)
FLOATS, BYTES, TRUTH = VALUES.astype("<f4").tobytes(), VALUES.astype("u1").tobytes(), (VALUES > 2).tobytes()
TIMES, TEXT = VALUES.astype("<i8").tobytes(), VALUES.astype("<U3").tobytes()
FORMS: dict[str, dict[str, Any]] = {
    # zarr-python 1.1 to 2.17
    "2.0: no dimension_separator": v2(),
    "2.0: blosc without block size": v2(BLOSC, compressor={"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}),
    "2.x: filters as an empty list": v2(filters=[]),
    "2.x: numbers of text, fill value 0": v2(VALUES.astype("S3").tobytes(), dtype="|S3", fill_value=0),
    "2.x: text, fill value null": v2(TEXT, dtype="<U3", fill_value=None),
    "2.x: text, fill value 0": v2(TEXT, dtype="<U3", fill_value=0),
    "2.x: NaN of JSON's own making": v2(FLOATS, dtype="<f4", fill_value=float("nan")),
    "2.x: times, fill value 0": v2(TIMES, dtype="<M8[ns]", fill_value=0),
    "2.x: times, NaT": v2(TIMES, dtype="<M8[ns]", fill_value="NaT"),
    "2.x: times, NaT as a number": v2(TIMES, dtype="<M8[ns]", fill_value=-(2**63)),
    "2.x: a checksum before the bytes": v2(numcodecs.CRC32().encode(RAW), filters=[{"id": "crc32"}]),
    "2.12: fletcher32, as in HDF5": v2(numcodecs.Fletcher32().encode(RAW), filters=[{"id": "fletcher32"}]),
    "2.15: zstd without a word of checksums": v2(numcodecs.Zstd().encode(RAW), compressor={"id": "zstd", "level": 1}),
    # netCDF-C writes the parameters of codecs as text, and fill values in lists
    "netCDF-C: level as text": v2(zlib.compress(RAW), compressor={"id": "zlib", "level": "5"}),
    "netCDF-C: shuffle and deflate": v2(
        zlib.compress(shuffled()), compressor={"id": "zlib", "level": "9"},
        filters=[{"id": "shuffle", "elementsize": "4"}],
    ),
    "netCDF-C 4.10: shuffle of what size the elements have": v2(
        zlib.compress(shuffled()), compressor={"id": "zlib", "level": 5}, filters=[{"id": "shuffle", "elementsize": 0}],
        attributes={"_nczarr_array": {"dimension_references": ["/x", "/y"]}},
    ),
    "netCDF-C 4.10: the same as the last filter": v2(shuffled(), compressor={"id": "shuffle", "elementsize": "0"}),
    "netCDF-C: blosc": v2(
        BLOSC, compressor={"id": "blosc", "clevel": "5", "blocksize": "0", "cname": "lz4", "shuffle": "1"}
    ),
    "netCDF-C 4.8.0: fill value in a list": v2(fill_value=[-1]),
    "netCDF-C: keys of its own": v2(
        dimension_separator=".", _NCZARR_ARRAY={"dimrefs": ["/x", "/y"], "storage": "chunked"},
    ),
    "netCDF-C 4.9.3: keys of its own": v2(
        _nczarr_array={"dimension_references": ["/x", "/y"], "storage": "chunked"}
    ),
    "netCDF-C: characters": v2(VALUES.astype("S1").tobytes(), dtype=">S1", fill_value=""),
    "netCDF-C: characters, one as fill value": v2(VALUES.astype("S1").tobytes(), dtype="|S1", fill_value="z"),
    "netCDF-C: characters, null as text": v2(VALUES.astype("S1").tobytes(), dtype="|S1", fill_value="\u0000"),
    # Java
    "n5-zarr: fill value as text": v2(fill_value="0"),
    "n5-zarr: fill value of floats as text": v2(FLOATS, dtype="<f4", fill_value="0.0"),
    "jzarr: null separator": v2(dimension_separator=None),
    "jzarr: big-endian": v2(VALUES.astype(">i4").tobytes(), dtype=">i4"),
    "bioformats2raw": v2(
        numcodecs.Blosc("lz4", 5, 1).encode(VALUES.astype(">u2").tobytes()), dtype=">u2", dimension_separator="/",
        compressor={"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
    ),
    "zarr-java: nulls": v3(attributes=None, dimension_names=None, storage_transformers=None),
    # Julia
    "Zarr.jl: a byte order for single bytes": v2(BYTES, dtype="<u1"),
    "Zarr.jl: booleans": v2(TRUTH, dtype="<b1", fill_value=False),
    "Zarr.jl: columns first": v2(VALUES.T.tobytes(), order="F"),
    # JavaScript
    "zarr.js: fill value as text": v2(FLOATS, dtype="<f4", fill_value="NaN"),
    "JavaScript: whole floats": v2(fill_value=0.0),
    # C++
    "z5: big-endian order of single bytes": v2(BYTES, dtype=">u1"),
    "tensorstore: names of dimensions": v3(dimension_names=[None, "x"]),
    "tensorstore 3: blosc that shuffles nothing, without a typesize": v3(
        numcodecs.Blosc("lz4", 5, 0).encode(RAW), codecs=[LITTLE, {"name": "blosc", "configuration": {
            "cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0}}],
    ),
    # GDAL
    "GDAL: gzip": v2(gzip.compress(RAW), compressor={"id": "gzip", "level": 6}),
    "GDAL 3.5: `endian`": v3(codecs=[{"name": "endian", "configuration": {"endian": "little"}}]),
    # zarr-python 3, zarrita, zarrs
    "3.0: no transformers": v3(storage_transformers=[]),
    "zarrita: no attributes": v3(leave_out="attributes"),
    "zarrita: the separator beside the name": v3(chunk_key_encoding={"name": "default", "separator": "/"}),
    "zarrs: bytes without configuration": v3(BYTES, data_type="uint8", codecs=[{"name": "bytes"}]),
    "zarrs: empty configuration": v3(BYTES, data_type="uint8", codecs=[{"name": "bytes", "configuration": {}}]),
    "zarrs: key encoding without configuration": v3(chunk_key_encoding={"name": "default"}),
    "zarrs: its mark": v3(attributes={"_zarrs": {"version": "0.23"}}),
    "zarrs: what need not be understood": v3(other={"must_understand": False}),
    "xarray: whole floats of integers": v3(fill_value=0.0),
    "numpy writers: booleans as numbers": v3(TRUTH, data_type="bool", fill_value=0, codecs=["bytes"]),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_arrays(form: str) -> None:
    array = opened(FORMS[form])
    found = array[...]
    wanted = VALUES > 2 if found.dtype.kind == "b" else VALUES
    assert found.shape == wanted.shape
    assert (found.astype("i8") if found.dtype.kind != "b" else found).tolist() == wanted.tolist()
    assert array[1, 1:].astype("i8").tolist() == wanted[1, 1:].astype("i8").tolist()


def test_what_text_of_numbers_means_is_written_back_as_numbers() -> None:
    store = store_of(FORMS["netCDF-C: shuffle and deflate"])
    array = zarr.open_array(store, mode="r+")
    array.attrs["touched"] = True
    array[0, 0] = 9
    array.resize((2, 4))
    document = json.loads(store.get_sync(".zarray").to_bytes())
    assert document["compressor"] == {"id": "zlib", "level": 9}
    assert document["filters"] == [{"id": "shuffle", "elementsize": 4}]
    assert zarr.open_array(store)[0].tolist() == [9, 1, 2, 0]


def test_a_shuffle_of_what_size_the_elements_have_is_written_as_it_is_read() -> None:
    store = store_of(FORMS["netCDF-C 4.10: shuffle of what size the elements have"])
    array = zarr.open_array(store, mode="r+")
    array[0, 0] = 9
    array.attrs["touched"] = True
    array.resize((2, 4))
    document = json.loads(store.get_sync(".zarray").to_bytes())
    assert document["filters"] == [{"id": "shuffle", "elementsize": 4}]
    assert zlib.decompress(store.get_sync("0.0").to_bytes())[:6] == bytes([9, 1, 2, 3, 4, 5])
    assert zarr.open_array(store)[:, :3].tolist() == [[9, 1, 2], [3, 4, 5]]


def test_a_character_as_fill_value_is_one() -> None:
    files = FORMS["netCDF-C: characters, one as fill value"]
    array = opened({".zarray": files[".zarray"]})
    assert array.fill_value == b"z"
    assert (array[...] == b"z").all()
    with pytest.raises(ValueError, match="fill_value"):
        opened(v2(VALUES.astype("S2").tobytes(), dtype="|S2", fill_value="z"))


def test_a_document_without_codecs_says_what_to_do() -> None:
    with pytest.raises(KeyError, match=r'little-endian order.*add "codecs": \[\{"name": "bytes"'):
        opened(v3(leave_out="codecs"))


def test_a_dataset_of_netcdf_c() -> None:
    """Groups, dimensions and attributes in keys of its own, in all three ways that it has had."""
    group = {"zarr_format": 2, "_NCZARR_SUPERBLOCK": {"version": "2.0.0"}, "_NCZARR_GROUP": {"dims": {"x": 2}}}
    files: dict[str, Any] = {".zgroup": group, ".zattrs": {"_NCZARR_ATTR": {"types": {"t": "<i4"}}, "t": 1}}
    files |= {f"v/{key}": value for key, value in FORMS["netCDF-C: keys of its own"].items()}
    files |= {"v/.zattrs": {"_ARRAY_DIMENSIONS": ["x", "y"]}, ".nczarr": b"{}", "v/.nczvar": b"{}"}
    files["scalar/.zarray"] = {**OF_2, "shape": [1], "chunks": [1], "_NCZARR_ARRAY": {"dimrefs": ["/_scalar_"]}}
    files["scalar/0"] = b"\x07\0\0\0"
    root = zarr.open_group(store_of(files), mode="r")
    assert sorted(root) == ["scalar", "v"]
    assert root["v"][...].tolist() == VALUES.tolist()
    assert root["scalar"][...].tolist() == [7]
    assert root.attrs["t"] == 1


@pytest.mark.parametrize("fill", [0, None, "", "AAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAA=="])
def test_tables_of_early_anndata(fill: Any) -> None:
    """Before its version 0.7 anndata stored tables as records."""
    table = np.array([("cell1", 3), ("cell2", 4)], dtype=[("index", "<U4"), ("n", "<i2")])
    kinds = [["index", "<U4"], ["n", "<i2"]]
    document = {**OF_2, "shape": [2], "chunks": [2], "dtype": kinds, "fill_value": fill}
    if isinstance(fill, str) and len(fill) != 24:
        with pytest.raises(ValueError, match="fill_value"):
            opened({".zarray": document, "0": table.tobytes()})
        return
    found = opened({".zarray": document, "0": table.tobytes()})[...]
    assert found.tolist() == table.tolist()


@pytest.mark.parametrize(("config", "codec"), [
    ({"id": "vlen-utf8"}, numcodecs.VLenUTF8()), ({"id": "json2"}, numcodecs.JSON()),
    ({"id": "categorize", "dtype": "|O", "astype": "|u1", "labels": ["a", "é"]},
     numcodecs.Categorize(["a", "é"], "|O", "u1")),
])  # fmt: skip
@pytest.mark.parametrize("fill", [0, None, ""])
def test_text_of_xarray_and_anndata(config: dict[str, Any], codec: Any, fill: Any) -> None:
    values = np.array(["a", "é", "a"], dtype=object)
    members = {"shape": [3], "chunks": [3], "dtype": "|O", "filters": [config], "fill_value": fill}
    array = opened({".zarray": {**OF_2, **members}, "0": bytes(codec.encode(values))})
    assert array[...].tolist() == values.tolist()


@pytest.mark.parametrize("nested", ["null", "missing"])
def test_consolidated_groups_of_zarr_python_3(nested: str) -> None:
    """Until 3.1.3 the documents of groups said ``"consolidated_metadata": null``."""
    member = {"consolidated_metadata": None} if nested == "null" else {}
    inner = {"zarr_format": 3, "node_type": "group", "attributes": {}, **member}
    copy = {"kind": "inline", "must_understand": False, "metadata": {"g": inner, "g/a": OF_3}}
    files = {"zarr.json": {**inner, "consolidated_metadata": copy}, "g/zarr.json": inner}
    files |= {f"g/a/{key}": value for key, value in v3().items()}
    root = zarr.open_group(store_of(files), mode="r")
    assert root["g/a"][...].tolist() == VALUES.tolist()
    assert sorted(dict(root.members(max_depth=None))) == ["g", "g/a"]


def test_attributes_that_are_not_quite_json() -> None:
    array = opened({**v2(), ".zattrs": b'\xef\xbb\xbf{"a": NaN, "b": -Infinity}'})
    assert np.isnan(array.attrs["a"])
    assert array.attrs["b"] == -np.inf


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_shuffle_of_parts_of_elements_is_not_written(zarr_format: Any) -> None:
    """Others would not read it."""
    numbers: Any = {2: [numcodecs.PackBits(), numcodecs.Shuffle(4)], 3: [zarr.codecs.numcodecs.PackBits()]}
    shuffle: Any = {2: None, 3: zarr.codecs.numcodecs.Shuffle(elementsize=4)}
    array = zarr.create_array(
        {}, shape=(40,), chunks=(40,), dtype="bool", zarr_format=zarr_format, filters=numbers[zarr_format],
        compressors=shuffle[zarr_format],
    )  # fmt: skip
    with pytest.raises(ValueError, match="shuffle"):
        array[:] = True
