"""Tables of references: the forms that kerchunk's specification names, and what must not be read."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.errors import BrokenReferenceError, MetadataValidationError, ReadOnlyError
from zarr.storage import ReferenceStore
from zarr.storage.references.store import parse_table

if TYPE_CHECKING:
    from pathlib import Path

DATA = np.arange(24, dtype="<i4").reshape(4, 6)
ZARRAY = {
    "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i4", "order": "C", "fill_value": -1,
    "compressor": None, "filters": None,
}  # fmt: skip
CHUNKS = [np.ascontiguousarray(DATA[i : i + 2, j : j + 3]).tobytes() for i in (0, 2) for j in (0, 3)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "all.bin").write_bytes(b"head" + b"".join(CHUNKS))
    (tmp_path / "data" / "one.bin").write_bytes(CHUNKS[3])
    return tmp_path


def references(**more: Any) -> dict[str, Any]:
    return {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "x/.zarray": ZARRAY,
        "x/.zattrs": json.dumps({"unit": "K"}),
        "x/0.0": ["data/all.bin", 4, 24],
        "x/0.1": "base64:" + base64.b64encode(CHUNKS[1]).decode(),
        "x/1.0": ["data/all.bin", 52, 24],
        "x/1.1": ["data/one.bin"],
        **more,
    }


def write(folder: Path, document: Any, name: str = "refs.json") -> str:
    (folder / name).write_text(json.dumps(document))
    return str(folder / name)


@pytest.mark.parametrize("version", [0, 1])
def test_ranges_whole_files_and_inline_content(folder: Path, version: int) -> None:
    path = write(folder, {"version": 1, "refs": references()} if version else references())
    for place in (path, f"file://{path}"):
        group = zarr.open(place)
        assert isinstance(group, zarr.Group)
        np.testing.assert_array_equal(group["x"][:], DATA)
        assert group["x"].attrs.asdict() == {"unit": "K"}
        assert list(group) == ["x"]
        assert group["x"].nchunks_initialized == 4
    np.testing.assert_array_equal(zarr.open_array(path, path="x", mode="r")[1:3, 2:5], DATA[1:3, 2:5])


def test_a_chunk_that_is_not_in_the_table_is_fill(folder: Path) -> None:
    refs = references()
    del refs["x/0.0"]
    array = zarr.open_array(write(folder, refs), path="x", mode="r")
    assert (array[:2, :3] == -1).all()
    np.testing.assert_array_equal(array[2:], DATA[2:])


def test_parts_of_values(folder: Path) -> None:
    store = ReferenceStore.from_path(write(folder, references()))
    for key, chunk in zip(("x/0.0", "x/0.1", "x/1.0", "x/1.1"), CHUNKS, strict=True):
        assert store.getsize_sync(key) == 24
        for part, wanted in (
            (RangeByteRequest(4, 12), chunk[4:12]),
            (OffsetByteRequest(20), chunk[20:]),
            (SuffixByteRequest(8), chunk[-8:]),
            (RangeByteRequest(20, 99), chunk[20:]),
            (RangeByteRequest(5, 5), b""),
        ):
            found = store.get_sync(key, byte_range=part)
            assert found is not None
            assert found.to_bytes() == wanted


def test_templates_and_generators(folder: Path) -> None:
    refs = references()
    for key in ("x/0.0", "x/0.1", "x/1.0", "x/1.1"):
        del refs[key]
    document = {
        "version": 1,
        "templates": {"u": "data", "f": "{{name}}.bin"},
        "gen": [
            {
                "key": "x/{{i}}.{{j}}",
                "url": "{{u}}/{{f(name='all')}}",
                "offset": "{{4 + (i * 2 + j) * 24}}",
                "length": "24",
                "dimensions": {"i": {"stop": 2}, "j": [0, 1]},
            }
        ],
        "refs": {**refs, "y": ["{{u}}/one.bin"]},
    }
    path = write(folder, document)
    np.testing.assert_array_equal(zarr.open_array(path, path="x", mode="r")[:], DATA)
    found = ReferenceStore.from_path(path).get_sync("y")
    assert found is not None
    assert found.to_bytes() == CHUNKS[3]


@pytest.mark.parametrize(
    "template", ["{{nobody}}", "{{u.x}}", "{{().__class__}}", "{{f('x')}}", "{{1/0}}", "{{1//0}}", "{{", "{{u + 1}}"]
)
def test_templates_that_are_no_such_thing(template: str) -> None:
    if template == "{{":
        assert parse_table({"refs": {"a": [template]}}, "t") == {"a": [template]}
        return
    with pytest.raises(MetadataValidationError, match="cannot be filled in"):
        parse_table({"version": 1, "templates": {"u": "x", "f": "y"}, "refs": {"a": [template]}}, "t")


def test_parquet(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = folder / "table.parq"
    (table / "x").mkdir(parents=True)
    metadata = {".zgroup": {"zarr_format": 2}, "x/.zarray": ZARRAY, "x/.zattrs": {"unit": "K"}}
    (table / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 3}))
    rows = [("data/all.bin", 4, 24, None), (None, 0, 0, CHUNKS[1]), ("data/all.bin", 52, 24, None),
            ("data/one.bin", 0, 0, None)]  # fmt: skip
    for record in range(2):
        columns = list(zip(*rows[3 * record : 3 * record + 3], strict=True))
        names = ("path", "offset", "size", "raw")
        pq.write_table(pa.table(dict(zip(names, columns, strict=True))), table / "x" / f"refs.{record}.parq")
    array = zarr.open_group(str(table), mode="r")["x"]
    np.testing.assert_array_equal(array[:], DATA)
    assert array.nchunks_initialized == 4
    (table / "x" / "refs.1.parq").unlink()
    assert (zarr.open_array(str(table), path="x", mode="r")[2:, 3:] == -1).all()


@pytest.mark.parametrize(
    "value",
    [["data/all.bin", 4], ["data/all.bin", 4, None], ["data/all.bin", -4, 9], ["data/all.bin", 4, 24, 1], [], [4], 4,
     None, "base64:?"],
)  # fmt: skip
def test_malformed_references_are_named(folder: Path, value: Any) -> None:
    array = zarr.open_array(write(folder, references(**{"x/0.0": value})), path="x", mode="r")
    with pytest.raises(MetadataValidationError, match=r"x/0\.0"):
        array[:]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["data/none.bin", 0, 24], "cannot be read"),
        (["data/none.bin"], "cannot be read"),
        (["data/all.bin", 90, 24], "only 10"),
        (["data/all.bin", 4000, 24], "only 0"),
        (["data", 0, 24], "cannot be read"),
    ],
)
def test_files_that_are_not_there_or_too_short(folder: Path, value: Any, message: str) -> None:
    array = zarr.open_array(write(folder, references(**{"x/0.0": value})), path="x", mode="r")
    with pytest.raises(BrokenReferenceError, match=message):
        array[:]


def outside(folder: Path) -> list[str]:
    secret = folder / "secret.bin"
    secret.write_bytes(CHUNKS[0])
    inner = folder / "inner"
    (inner / "a").mkdir(parents=True, exist_ok=True)
    (inner / "link.bin").unlink(missing_ok=True)
    (inner / "link.bin").symlink_to(secret)
    return [
        "../secret.bin", "a/../../secret.bin", str(secret), f"file://{secret}", f"file:{secret}", "link.bin",
        f"local://{secret}", f"simplecache::file://{secret}",
    ]  # fmt: skip


@pytest.mark.parametrize("which", range(8))
def test_paths_out_of_the_folder_are_refused(folder: Path, which: int) -> None:
    url = outside(folder)[which]
    path = write(folder / "inner", references(**{"x/0.0": [url, 0, 24]}))
    with pytest.raises(BrokenReferenceError, match=r"refused.*allow_outside"):
        zarr.open_array(path, path="x", mode="r")[:2, :3]
    if which not in (6, 7):  # those go through fsspec
        array = zarr.open_array(path, path="x", mode="r", storage_options={"allow_outside": True})
        np.testing.assert_array_equal(array[:2, :3], DATA[:2, :3])


def test_absolute_paths_within_the_folder_are_followed(folder: Path) -> None:
    (folder / "part.bin").write_bytes(CHUNKS[0])
    for url in (str(folder / "part.bin"), f"file://{folder}/part.bin"):
        path = write(folder, references(**{"x/0.0": [url, 0, 24]}))
        np.testing.assert_array_equal(zarr.open_array(path, path="x", mode="r")[:2, :3], DATA[:2, :3])


def test_urls(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    fs = fsspec.filesystem("memory")
    fs.pipe("/tables/data/all.bin", b"head" + b"".join(CHUNKS))
    fs.pipe("/tables/data/one.bin", CHUNKS[3])
    refs = references(**{"x/0.0": ["memory://tables/data/all.bin", 4, 24]})
    fs.pipe("/tables/refs.json", json.dumps(refs).encode())
    for key in ("x/1.0", "x/1.1"):
        refs[key] = [f"memory://tables/{refs[key][0]}", *refs[key][1:]]
    np.testing.assert_array_equal(zarr.open_array(write(folder, refs), path="x", mode="r")[:], DATA)
    store = ReferenceStore.from_path("memory://tables/refs.json")
    np.testing.assert_array_equal(zarr.open_array(store, path="x", mode="r")[:], DATA)
    bad = ReferenceStore(references(**{"x/0.0": ["../../etc/passwd", 0, 24]}), folder="memory://tables")
    with pytest.raises(BrokenReferenceError, match="refused"):
        zarr.open_array(bad, path="x", mode="r")[:]


def test_nothing_is_written(folder: Path) -> None:
    store = ReferenceStore.from_path(write(folder, references()))
    group = zarr.open_group(store, mode="r")
    with pytest.raises((ReadOnlyError, ValueError), match=r"read.only"):
        group.create_group("y")
    with pytest.raises(ReadOnlyError):
        store.with_read_only(read_only=False)


@pytest.mark.parametrize(
    "document",
    [
        [1],
        {"version": 7, "refs": {}},
        {"refs": {}, "gen": [{}]},
        {"refs": [1]},
        {"refs": {}, "templates": ["u"]},
        {"refs": {}, "gen": [{"dimensions": [], "key": "a/0", "url": "x"}]},
        {"refs": {}, "gen": [{"dimensions": {"i": {"stop": 3, "step": 0}}, "key": "a/{{i}}", "url": "x"}]},
        {"refs": {}, "gen": [{"dimensions": {"i": [1]}, "key": "a/{{i}}", "url": "x", "offset": "{{i}}"}]},
    ],
)
def test_malformed_tables(folder: Path, document: Any) -> None:
    with pytest.raises(MetadataValidationError):
        zarr.open(write(folder, document))


@pytest.mark.parametrize(
    "documents",
    [
        {"record_size": 10},
        {"metadata": [], "record_size": "many"},
        {"metadata": {}, "record_size": 0},
        {"metadata": {"a/.zarray": {}}, "record_size": 10},
        {"metadata": {"a/.zarray": {"shape": [4], "chunks": [0]}}, "record_size": 10},
        {"metadata": {"a/.zarray": {"shape": [4], "chunks": [2, 2]}}, "record_size": 10},
    ],
)
def test_malformed_tables_of_parquet(folder: Path, documents: Any) -> None:
    (folder / "bad.parq").mkdir()
    (folder / "bad.parq" / ".zmetadata").write_text(json.dumps(documents))
    with pytest.raises(MetadataValidationError, match=r"bad\.parq"):
        ReferenceStore.from_path(folder / "bad.parq")


def parquet(folder: Path, zarray: dict[str, Any], columns: dict[str, list[Any]], record_size: int = 4) -> Path:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = folder / "big.parq"
    (table / "x").mkdir(parents=True, exist_ok=True)
    metadata = {".zgroup": {"zarr_format": 2}, "x/.zarray": {**ZARRAY, **zarray}}
    (table / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": record_size}))
    pq.write_table(pa.table(columns), table / "x" / "refs.0.parq")
    return table


ROW: dict[str, list[Any]] = {"path": ["data/all.bin"], "offset": [4], "size": [24], "raw": [None]}


def test_a_grid_of_any_size_costs_what_is_looked_at(folder: Path) -> None:
    size = 2**60
    table = parquet(folder, {"shape": [size, 6], "chunks": [2, 3]}, ROW)
    group = zarr.open_group(str(table), mode="r")
    assert [name for name, _ in group.members()] == ["x"]
    assert sorted(ReferenceStore.from_path(table).list_dir_sync("")) == [".zgroup", "x"]
    array: Any = group["x"]
    np.testing.assert_array_equal(array[:2, :3], DATA[:2, :3])
    assert (array[size - 1] == -1).all()
    with pytest.raises(MetadataValidationError, match=r"big\.parq/x has \d+ chunks, more than the 1000000"):
        array.nchunks_initialized  # noqa: B018
    empty = parquet(folder, {"shape": [0, size], "chunks": [2, 3]}, ROW)
    assert sorted(ReferenceStore.from_path(empty).list_sync()) == [".zgroup", "x/.zarray"]


@pytest.mark.parametrize(
    ("columns", "record_size", "message"),
    [
        ({name: values * 5 for name, values in ROW.items()}, 4, r"refs\.0\.parq has 5 rows"),
        ({"offset": np.zeros(5_000_000, "i1")}, 2**40, "5000000 rows, in"),
        ({"path": ["x"], "offset": [4]}, 4, r"no columns \['size'\]"),
        ({**ROW, "offset": [-4]}, 4, "0 or more"),
        ({**ROW, "size": ["a"]}, 4, "0 or more"),
        ({**ROW, "path": [5]}, 4, "must be a text"),
    ],
    ids=["more rows than a record", "a bomb", "a column is missing", "negative", "text", "no path"],
)  # fmt: skip
def test_files_of_references_that_are_wrong(
    columns: dict[str, Any], record_size: int, message: str, folder: Path
) -> None:
    table = parquet(folder, {}, columns, record_size)
    with pytest.raises(MetadataValidationError, match=message):
        zarr.open_array(str(table), path="x", mode="r")[...]


def test_the_column_of_values_may_be_left_out(folder: Path) -> None:
    table = parquet(folder, {}, {name: values for name, values in ROW.items() if name != "raw"})
    array = zarr.open_array(str(table), path="x", mode="r")
    np.testing.assert_array_equal(array[:2, :3], DATA[:2, :3])


def test_no_bytes_are_not_all_bytes(folder: Path) -> None:
    store = ReferenceStore.from_path(parquet(folder, {}, {**ROW, "size": [0]}))
    assert store.get_sync("x/0.0").to_bytes() == b""  # type: ignore[union-attr]
    store = ReferenceStore.from_path(parquet(folder, {}, {**ROW, "offset": [0], "size": [0]}))
    assert len(store.get_sync("x/0.0").to_bytes()) > 24  # type: ignore[union-attr]


def test_keys_with_slashes_are_refused_where_rows_are_found_by_dots(folder: Path) -> None:
    with pytest.raises(MetadataValidationError, match="dimension_separator"):
        ReferenceStore.from_path(parquet(folder, {"dimension_separator": "/"}, ROW))


def test_templates_and_generators_are_bounded() -> None:
    with pytest.raises(MetadataValidationError, match="8192 characters"):
        parse_table({"version": 1, "templates": {"u": "x" * 5000}, "refs": {"a": ["{{u}}{{u}}"]}}, "t")
    generator = {"key": "{{i}}", "url": "u"}
    with pytest.raises(MetadataValidationError, match="more than 1000000"):
        parse_table({"refs": {}, "gen": [{**generator, "dimensions": {"i": {"stop": 2**61}}}]}, "t")
    nothing = {"i": {"stop": 0}, "j": {"stop": 2**61}}
    assert parse_table({"refs": {}, "gen": [{**generator, "dimensions": nothing}]}, "t") == {}


@pytest.mark.parametrize("text", ["\ud800", "base64:\u00e9"])
def test_references_that_are_no_text(text: str) -> None:
    with pytest.raises(MetadataValidationError, match="a/0"):
        ReferenceStore({"a/0": text}).get_sync("a/0")
