"""Files that other implementations wrote: each opens, and holds what its generator, or another reader, says.

They lie beside the repository (``../shared/formats/fixtures``); ``MANIFEST.tsv`` there names their sources.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.compat.peer_fixtures import array_folders, digest
from tests.compat.peers import run_peer
from zarr.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.metadata.v3 import ArrayV3Metadata

TOP = Path(__file__).resolve().parents[3] / "shared" / "formats" / "fixtures"
pytestmark = [
    pytest.mark.skipif(
        not TOP.exists(), reason="the sample files of other implementations are not part of the repository"
    ),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::zarr.errors.ZarrUserWarning"),
]
ARRAYS = array_folders(TOP) if TOP.exists() else []
IMPLEMENTATIONS = "zarr_implementations"


def read(path: str, **options: Any) -> Any:
    return np.asarray(zarr.open_array(str(TOP / path), mode="r", **options)[...])


def all_equal(found: Any, wanted: Any) -> None:
    assert found.shape == np.shape(wanted)
    assert found.tolist() == np.asarray(wanted).tolist()


# ------------------------------------------------------------------------------------------ formulas

# What the generators of zarrita.js put into arrays, by a part of the name; the first that fits counts.
_CUBE = np.arange(27).reshape(3, 3, 3)
_LETTERS = np.array([["a", "aa"], ["aaa", "aaaa"], ["b", "bb"], ["bbb", "bbbb"]]).reshape(2, 2, 2)
ZARRITA: list[tuple[str, Any]] = [
    ("1d.contiguous.U13|1d.contiguous.U7|1d.contiguous.S7", ["a", "b", "cc", "d"]),
    ("2d.chunked.U7", [["a", "b"], ["cc", "d"]]),
    ("1d.contiguous.json2.O", ["foo", "bar", "baz", "qux"]),
    ("3d.chunked.O", _LETTERS),
    ("1d.contiguous.string.vlen", ["hello", "world", "zarr", "v3"]),
    ("1d.contiguous.string.compressed", ["compressed", "string", "test"]),
    ("1d.chunked.string.vlen", ["a", "bb", "ccc", "dddd"]),
    ("2d.chunked.string.vlen", [["hello", "world"], ["foo", "bar"]]),
    ("1d.string.empty", ["", "test", ""]),
    ("1d.string.unicode", ["hello", "世界", "🚀🎉", "Ñoño"]),
    ("delta.shuffle|nested/1d.i2", [10, 20, 30, 40]),
    ("fixedscaleoffset", np.array([1000, 1000.1, 1000.2, 1000.3], "f4")),
    ("bitround.f4", [1.125, 2.25, 3.25, 4.5]),
    (r"\.u1$", [255, 0, 255, 0]),
    (r"\.b1$", [True, False, True, False]),
    (r"1d.*\.f[24](\.|$)", [-1000.5, 0, 1000.5, 0]),
    (r"1d.*\.f8$", [1.5, 2.5, 3.5, 4.5]),
    ("1d.chunked.filled", [1, 2, 0, 0]),
    ("1d.*ragged", [1, 2, 3, 4, 5]),
    ("2d.*ragged", np.arange(1, 10).reshape(3, 3)),
    (r"2d.chunked.compressed.sharded.filled", np.arange(16).reshape(4, 4)),
    (r"2d.chunked.compressed.sharded", np.arange(1, 17).reshape(4, 4)),
    (r"3d.chunked.compressed.sharded", np.arange(64).reshape(4, 4, 4)),
    ("2d", [[1, 2], [3, 4]]),
    ("3d", _CUBE),
    ("1d", [1, 2, 3, 4]),
]


@pytest.mark.parametrize("path", [path for path in ARRAYS if path.startswith("zarrita.js/")])
def test_zarrita_js(path: str) -> None:
    name = path.split("data.zarr/")[1]
    wanted = next(value for pattern, value in ZARRITA if re.search(pattern, name))
    found = read(path)
    all_equal(np.char.decode(found) if found.dtype.kind == "S" else found, wanted)


@pytest.mark.parametrize("path", [path for path in ARRAYS if path.startswith("zarr.js/")])
def test_zarr_js(path: str) -> None:
    found = read(path)
    wanted = np.zeros(found.shape)
    if "empty" not in path:
        # Two elements of the first chunk and one of the last are written.
        last = (0,) * (wanted.ndim - 1)
        wanted[(*last, 0)], wanted[(*last, 1)], wanted[(7, *last[1:], 7)] = 1, 2, 3
    all_equal(found, wanted)


def test_jzarr() -> None:
    found = read("jzarr/example_3.zarr")
    assert found.shape == (1000, 1000)
    rows, columns = np.nonzero(found != -9999)
    assert (found[rows, columns] == 42).all()
    assert found.dtype == ">i4"
    group = zarr.open_group(str(TOP / "jzarr" / "example_5.zarr"), mode="r")
    assert [name for name, _ in group.members(max_depth=None)] == ["foo", "foo/bar", "foo/bar/baz"]
    assert (np.asarray(group["foo/bar/baz"][...]) == 0).all()


def test_n5_zarr() -> None:
    for name in ("c-order", "f-order"):
        all_equal(read(f"n5-zarr/examples/dimensionOrder.zarr/{name}"), np.arange(60).reshape(3, 4, 5))


def test_codecs_of_the_registry() -> None:
    rounded = read("zarr-extensions/codecs/bitround/sample_data/bitround_float32.zarr")
    wanted = np.array([0, 0.1, 1.2, 12.3, 123.4, 1234.5, np.nan, np.inf, -np.inf], "f4")
    numbers = np.isfinite(wanted)
    assert (rounded.view("u4")[numbers] & ((1 << 20) - 1) == 0).all()  # three bits of the mantissa are kept
    np.testing.assert_allclose(rounded[numbers], wanted[numbers], rtol=2**-4)
    np.testing.assert_array_equal(rounded[~numbers], wanted[~numbers])
    kept = read("zarr-extensions/codecs/bitround/sample_data/bitround_uint8.zarr").tolist()
    assert kept == [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]
    assert all(len(f"{value:b}".rstrip("0")) <= 3 for value in kept)
    empty = read("zarr-extensions/codecs/n5_default/examples/zstd_array")
    assert empty.shape == (256, 128)
    assert (empty == 0).all()
    for example in (TOP / "zarr-extensions/codecs/zfp/examples").glob("*.json"):
        document = json.loads(example.read_text())
        cls: Any = zarr.registry.get_codec_class("zfp")  # type: ignore[attr-defined]
        says_the_same(cls.from_dict(document).to_dict(), document)


def png_pixels(path: Path) -> np.ndarray[Any, Any]:
    """The pixels of a PNG file of 8-bit RGB, after its specification."""
    raw, start, packed, size = path.read_bytes(), 8, b"", (0, 0)
    while start < len(raw):
        length, kind = struct.unpack(">I4s", raw[start : start + 8])
        data = raw[start + 8 : start + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[:10])
            assert (depth, colour, data[12]) == (8, 2, 0)
            size = (height, width)
        packed += data if kind == b"IDAT" else b""
        start += 12 + length
    height, width = size
    rows = np.frombuffer(zlib.decompress(packed), "u1").reshape(height, 1 + 3 * width)
    out = np.zeros((height + 1, 3 * width + 3), dtype=int)
    for y, (kind, *line) in enumerate(rows.tolist(), 1):
        up, row = out[y - 1].tolist(), [0] * (3 * width + 3)
        for x, value in enumerate(line, 3):
            left, above, corner = row[x - 3], up[x], up[x - 3]
            guess = left + above - corner
            nearest = min((left, above, corner), key=lambda near, guess=guess: abs(guess - near))  # type: ignore[misc]
            row[x] = (value + (0, left, above, (left + above) // 2, nearest)[kind]) & 0xFF
        out[y] = row
    return out[1:, 3:].reshape(height, width, 3).astype("u1")


@pytest.fixture(scope="module")
def image() -> np.ndarray[Any, Any]:
    return png_pixels(TOP / IMPLEMENTATIONS / "data" / "reference_image.png")


@pytest.mark.parametrize(
    ("hierarchy", "names"),
    [
        ("zarr.zr", ["blosc", "gzip", "raw", "zlib"]),
        ("z5py.n5", ["gzip", "raw"]),
        ("zarrita.zr3", ["blosc/lz4", "gzip", "raw", "zlib"]),
    ],
)
def test_the_same_image_by_three_implementations(hierarchy: str, names: list[str], image: Any) -> None:
    group = zarr.open_group(str(TOP / IMPLEMENTATIONS / "examples" / hierarchy), mode="r")
    arrays = {name: node for name, node in group.members(max_depth=None) if isinstance(node, zarr.Array)}
    assert sorted(arrays) == names
    for name, array in arrays.items():
        np.testing.assert_array_equal(array[...], image, err_msg=name)
        np.testing.assert_array_equal(array[90:310:7, 250:, 1], image[90:310:7, 250:, 1], err_msg=name)


# ------------------------------------------------------------------------------------------ archives


@pytest.mark.parametrize(
    ("archive", "path"),
    [
        ("v2/data.zipped_from_within.zarr.zip", ""),
        ("v2/data.zipped_from_parent.zarr.zip", "data.zarr"),
        ("v3/data.zipped_from_within.zarr.zip", ""),
        ("v3/data.zipped_from_parent.zarr.zip", "data.zarr"),
        ("v3/data.uncompressed.zarr.zip", ""),
    ],
)
def test_archives_hold_what_the_folders_hold(archive: str, path: str) -> None:
    folder = zarr.open_group(str(TOP / "zarrita.js" / archive[:2] / "data.zarr"), mode="r")
    zipped = zarr.open_group(str(TOP / "zarrita.js" / archive), mode="r", path=path)
    wanted, found = dict(folder.members(max_depth=None)), dict(zipped.members(max_depth=None))
    common = wanted.keys() & found.keys()
    assert len(common) > 25
    for name in common:
        if isinstance(wanted[name], zarr.Array):
            assert digest(found[name][...]) == digest(wanted[name][...]), name
    url = f"{TOP}/zarrita.js/{archive}|zip:{path}"
    assert sorted(zarr.open_group(url, mode="r")) == sorted(zipped)


# ------------------------------------------------------------------------------------------ documents


def cases(pattern: str) -> list[Any]:
    found = []
    for file in sorted((TOP / "zarr-metadata").glob(pattern)) if TOP.exists() else ():
        document, label = json.loads(file.read_text()), str(file.relative_to(TOP))
        if file.name in ("cases.json", "fill_values.json"):
            found += [pytest.param(file, case, id=f"{label}:{name}") for name, case in document.items()]
        else:
            found.append(pytest.param(file, document, id=label))
    return found


def document_of(**change: Any) -> dict[str, Any]:
    return {
        "zarr_format": 3, "node_type": "array", "shape": [10], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}}, "chunk_key_encoding": "default",
        "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], **change,
    }  # fmt: skip


def says_the_same(found: Any, given: Any) -> None:
    """What is written says at least what was given; names alone are written as objects."""
    if isinstance(given, dict):
        for key, value in given.items():
            says_the_same(found[key], value)
    elif isinstance(given, list | tuple):
        assert len(found) == len(given)
        for one, other in zip(found, given, strict=True):
            says_the_same(one, other)
    else:
        assert found == given or found["name"] == given


@pytest.mark.parametrize(
    ("file", "document"), cases("v2/*/*.json") + cases("v3/array/*.json") + cases("v3/group/*.json")
)
def test_documents(file: Path, document: dict[str, Any]) -> None:
    kind = file.parts[-2]
    if kind == "consolidated":
        assert ConsolidatedMetadata.from_zmetadata(document) is not None
        return
    cls: Any = GroupMetadata if kind == "group" else ArrayV2Metadata if "v2" in file.parts else ArrayV3Metadata
    with zarr.config.set({"array.rectilinear_chunks": True}):
        metadata = cls.from_dict(document)
        written = json.loads(json.dumps(metadata.to_dict()))
        assert cls.from_dict(written) == metadata
    # Runs of chunks may be written otherwise, and the fill value 0 of records is written as bytes.
    left_out = ("chunk_grid", "fill_value") if isinstance(document.get("dtype"), list) else ("chunk_grid",)
    given = {key: value for key, value in document.items() if value not in ([], None) and key not in left_out}
    says_the_same(written, given)


@pytest.mark.parametrize(("file", "document"), cases("v3/consolidated/*.json"))
def test_copies_of_documents(file: Path, document: dict[str, Any]) -> None:
    group = GroupMetadata.from_dict({"zarr_format": 3, "node_type": "group", "consolidated_metadata": document})
    assert group.consolidated_metadata is not None
    assert group.consolidated_metadata.flattened_metadata.keys() == document["metadata"].keys()


@pytest.mark.parametrize(("file", "case"), cases("v3/codec/*/cases.json"))
def test_descriptions_of_codecs(file: Path, case: Any) -> None:
    name = case if isinstance(case, str) else case["name"]
    if name == "cast_value" and "datetime64" in str(case):
        # A description that is well formed, of something that the codec is not defined for.
        with pytest.raises(ValueError, match="integer and floating-point"):
            zarr.registry.get_codec_class(name).from_dict(case)  # type: ignore[attr-defined]
        return
    codec: Any = zarr.registry.get_codec_class(name).from_dict({"name": case} if isinstance(case, str) else case)  # type: ignore[attr-defined]
    written = json.loads(json.dumps(codec.to_dict()))
    assert written["name"] == name
    if isinstance(case, dict):
        says_the_same(written.get("configuration", {}), case.get("configuration", {}))


@pytest.mark.parametrize(("file", "case"), cases("v3/chunk_grid/*/cases.json"))
def test_descriptions_of_grids(file: Path, case: Any) -> None:
    with zarr.config.set({"array.rectilinear_chunks": True}):
        configuration = case["configuration"]
        axes = configuration.get("chunk_shape") or configuration["chunk_shapes"]
        shape = [20 if isinstance(axis, list) else 100 for axis in axes]
        metadata = ArrayV3Metadata.from_dict(document_of(shape=shape, chunk_grid=case))
        again = ArrayV3Metadata.from_dict(json.loads(json.dumps(metadata.to_dict())))
    assert again == metadata


@pytest.mark.parametrize(("file", "case"), cases("v3/chunk_key_encoding/*/cases.json"))
def test_descriptions_of_key_encodings(file: Path, case: Any) -> None:
    metadata = ArrayV3Metadata.from_dict(document_of(chunk_key_encoding=case))
    separator = (case.get("configuration") or {}).get("separator") if isinstance(case, dict) else None
    encoding = metadata.chunk_key_encoding
    assert encoding.name == file.parts[-2]
    wanted = separator or ("/" if encoding.name == "default" else ".")
    start = f"c{wanted}" if encoding.name == "default" else ""
    assert encoding.encode_chunk_key((1, 2)) == f"{start}1{wanted}2"


@pytest.mark.parametrize(("file", "case"), cases("v3/data_type/*/fill_values.json"))
def test_fill_values(file: Path, case: Any) -> None:
    name = file.parts[-2]
    data_type: Any = name
    if (file.parent / "data_type.json").exists():
        data_type = json.loads((file.parent / "data_type.json").read_text())
    if name == "raw":
        data_type = f"r{8 * len(case)}"
    serializer = {"string": "vlen-utf8", "bytes": "vlen-bytes"}.get(name)
    codecs = [serializer or {"name": "bytes", "configuration": {"endian": "little"}}]
    metadata = ArrayV3Metadata.from_dict(document_of(data_type=data_type, fill_value=case, codecs=codecs))
    again = ArrayV3Metadata.from_dict(json.loads(json.dumps(metadata.to_dict())))
    assert np.asarray(again.fill_value).tobytes() == np.asarray(metadata.fill_value).tobytes() or name in serializers()
    array = zarr.open_array({"zarr.json": _stored(metadata)}, mode="r")
    assert array.shape == (10,)
    assert array[3:4].shape == (1,)


def serializers() -> tuple[str, ...]:
    return ("string", "bytes")


def _stored(metadata: ArrayV3Metadata) -> Any:
    from zarr.buffer.cpu import Buffer

    return Buffer.from_bytes(json.dumps(metadata.to_dict()).encode())


# ------------------------------------------------------------------------------------------ other readers


@pytest.mark.slow
def test_other_readers_find_the_same() -> None:
    others = run_peer(Path(__file__).with_name("peer_fixtures.py"), str(TOP))
    different = {}
    compared = 0
    for path, found in others.items():
        ours = digest(read(path))
        agree = [name for name, theirs in found.items() if theirs == ours]
        compared += bool(agree)
        if found and not agree:
            different[path] = list(found)
        if "tensorstore" in found and "tensorstore" not in agree:
            different[path] = ["tensorstore"]
    assert not different
    assert compared > 80


# ------------------------------------------------------------------------------------------ all of them

_COVERED = (
    *(r"zarrita\.js/", r"zarr\.js/", r"jzarr/", r"n5-zarr/", r"zarr_implementations/", r"zarr-metadata/"),
    r"zarr-extensions/codecs/(bitround/sample_data|n5_default/examples|zfp/examples)/",
    # Descriptions of documents, for validators; they hold no data.
    r"zarr-extensions/.*/schema\.json$",
)


def test_no_fixture_is_left_out() -> None:
    rows = (TOP / "MANIFEST.tsv").read_text().splitlines()[1:]
    names = [row.split("\t")[0] for row in rows]
    left = [name for name in names if not any(re.match(part, name) for part in _COVERED)]
    assert left == []
