"""The design of format 3 of June 2019, statement by statement; its layout is read, and written on request only."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr
import zarr.draft3
from zarr.buffer.cpu import Buffer
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec
from zarr.errors import ContainsGroupError, GroupNotFoundError, MetadataValidationError, ReadOnlyError
from zarr.storage import LoggingStore, MemoryStore
from zarr.testing.store import LatencyStore

if TYPE_CHECKING:
    from collections.abc import Mapping

BOOTSTRAP = {
    "zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_encoding": "application/json",
    "extensions": [],
}
# The example of an array's document, with the sizes made smaller.
EXAMPLE: dict[str, Any] = {
    "shape": [10, 5],
    "data_type": "<f8",
    "chunk_grid": {"type": "regular", "chunk_shape": [5, 2]},
    "chunk_memory_layout": "C",
    "compressor": {"codec": "http://purl.org/zarr/spec/codec/gzip", "configuration": {"level": 1}},
    "fill_value": "NaN",
    "extensions": [],
    "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]},
}
DATA = np.arange(50, dtype="f8").reshape(10, 5)
FIXTURES = Path(__file__).resolve().parents[3] / "shared" / "formats" / "fixtures"


def store_of(values: Mapping[str, Any]) -> MemoryStore:
    """A store of these values; what is no bytes is written as JSON."""
    raw = {key: value if isinstance(value, bytes) else json.dumps(value).encode() for key, value in values.items()}
    return MemoryStore({key: Buffer.from_bytes(value) for key, value in raw.items()})


def hierarchy(document: Mapping[str, Any] = EXAMPLE, path: str = "foo/bar", **chunks: bytes) -> MemoryStore:
    return store_of({"zarr.json": BOOTSTRAP, f"meta/root/{path}.array": document, **chunks})


def chunk(data: np.ndarray[Any, Any], order: Any = "C", shape: tuple[int, int] = (5, 2)) -> bytes:
    """One whole chunk, compressed; what overhangs is 99, which nobody must see."""
    whole = np.full(shape, 99, data.dtype)
    whole[tuple(slice(n) for n in data.shape)] = data
    return gzip.compress(whole.tobytes(order))


def chunks_of(path: str = "foo/bar", separator: str = ".", order: Any = "C") -> dict[str, bytes]:
    return {
        f"data/{path}/{i}{separator}{j}": chunk(DATA[5 * i : 5 * i + 5, 2 * j : 2 * j + 2], order)
        for i in range(2)
        for j in range(3)
    }


# D-1: the bootstrap document


def test_d1_bootstrap_names_protocol_and_encoding() -> None:
    assert zarr.draft3.is_draft3(hierarchy())
    assert isinstance(zarr.open(hierarchy()), zarr.Group)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zarr_format": "http://example.org/other/1.0"}, "protocol"),
        ({"metadata_encoding": "application/cbor"}, "encoding 'application/cbor'"),
        ({"extensions": [{"extension": "http://example.org/foo", "must_understand": True}]}, "http://example.org/foo"),
        ({"extensions": [{"extension": "http://example.org/foo"}]}, "http://example.org/foo"),
        ({"extensions": {}}, "extensions must be a list"),
    ],
)
def test_d1_what_must_be_understood_is_refused(change: dict[str, Any], message: str) -> None:
    store = store_of({"zarr.json": {**BOOTSTRAP, **change}, "meta/root/a.array": EXAMPLE})
    with pytest.raises(MetadataValidationError, match=message):
        zarr.open(store, mode="r")


def test_d1_an_extension_that_need_not_be_understood_is_passed_over() -> None:
    extension = {"extension": "http://example.org/zarr/extension/foo", "must_understand": False}
    store = store_of({"zarr.json": {**BOOTSTRAP, "extensions": [extension]}, "meta/root/a.array": EXAMPLE})
    assert list(zarr.open_group(store, mode="r")) == ["a"]


# D-2: keys of documents


def test_d2_documents_lie_below_meta_root() -> None:
    group = {"extensions": [], "attributes": {"spam": "ham", "eggs": 42}}
    values = {"zarr.json": BOOTSTRAP, "meta/root/foo/bar.array": EXAMPLE, "meta/root/foo/baz.group": group}
    root = zarr.open_group(store_of(values), mode="r")
    assert [(name, type(node).__name__) for name, node in root.members(max_depth=None)] == [
        ("foo", "Group"),
        ("foo/bar", "Array"),
        ("foo/baz", "Group"),
    ]
    assert root["foo/baz"].attrs.asdict() == {"spam": "ham", "eggs": 42}


def test_d2_suffix_of_2020() -> None:
    values = {
        "zarr.json": {**BOOTSTRAP, "metadata_key_suffix": ".json"},
        "meta/root.group.json": {"attributes": {"a": 1}},
        "meta/root/x.array.json": {**EXAMPLE, "chunk_grid": {**EXAMPLE["chunk_grid"], "separator": "/"}},
        **{f"data/root/x/c{key.rpartition('/')[2].replace('.', '/')}": value for key, value in chunks_of("x").items()},
    }
    root = zarr.open_group(store_of(values), mode="r")
    assert root.attrs.asdict() == {"a": 1}
    np.testing.assert_array_equal(root["x"][:], DATA)
    assert root["x"].nchunks_initialized == 6


# D-3: keys of chunks


@pytest.mark.parametrize("separator", [".", "/"])
def test_d3_chunks_lie_below_data(separator: str) -> None:
    grid = {**EXAMPLE["chunk_grid"], "separator": separator}
    store = hierarchy({**EXAMPLE, "chunk_grid": grid}, **chunks_of(separator=separator))
    array = zarr.open_array(store, path="foo/bar", mode="r")
    np.testing.assert_array_equal(array[:], DATA)
    assert array.nchunks_initialized == 6


def test_d3_names_that_look_like_keys_of_chunks() -> None:
    store = store_of({"zarr.json": BOOTSTRAP, "meta/root/c/0.array": EXAMPLE, **chunks_of("c/0")})
    np.testing.assert_array_equal(zarr.open_array(store, path="c/0", mode="r")[:], DATA)


def test_d3_an_array_without_axes() -> None:
    document = {**EXAMPLE, "shape": [], "chunk_grid": {"type": "regular", "chunk_shape": []}, "compressor": None}
    store = hierarchy(document, "s", **{"data/s/0": np.float64(7).tobytes()})
    assert zarr.open_array(store, path="s", mode="r")[()] == 7


# D-4: the document of an array


def test_d4_example_document() -> None:
    array = zarr.open_array(hierarchy(), path="foo/bar", mode="r")
    assert (array.shape, array.chunks, array.dtype) == ((10, 5), (5, 2), np.dtype("<f8"))
    assert np.isnan(array.fill_value)
    assert np.isnan(array[:]).all()
    assert array.attrs.asdict() == {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}


def test_d4_column_major() -> None:
    store = hierarchy({**EXAMPLE, "chunk_memory_layout": "F"}, **chunks_of(order="F"))
    np.testing.assert_array_equal(zarr.open_array(store, path="foo/bar", mode="r")[:], DATA)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u1", "<i2", ">i4", "<u8", "<f2", ">f4", "<f8"])
def test_d4_data_types(dtype: str) -> None:
    data = np.arange(10).reshape(5, 2).astype(dtype)
    document = {**EXAMPLE, "shape": [5, 2], "data_type": dtype, "compressor": None, "fill_value": None}
    array = zarr.open_array(hierarchy(document, **{"data/foo/bar/0.0": data.tobytes()}), path="foo/bar", mode="r")
    assert array.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(array[:], data)
    assert array.fill_value == 0


@pytest.mark.parametrize("dtype", ["i4", "x9", "<O8", 7, ["<f8"]])
def test_d4_unknown_data_types_are_refused(dtype: Any) -> None:
    with pytest.raises(MetadataValidationError, match="data type"):
        zarr.open_array(hierarchy({**EXAMPLE, "data_type": dtype}), path="foo/bar", mode="r")


@pytest.mark.parametrize("missing", ["shape", "data_type", "chunk_grid", "chunk_memory_layout"])
def test_d4_missing_members_are_named(missing: str) -> None:
    document = {key: value for key, value in EXAMPLE.items() if key != missing}
    with pytest.raises(MetadataValidationError, match=missing):
        zarr.open_array(hierarchy(document), path="foo/bar", mode="r")


def test_d4_unknown_codec_is_named() -> None:
    document = {**EXAMPLE, "compressor": {"codec": "http://example.org/codec/squash", "configuration": {}}}
    with pytest.raises(ValueError, match="squash"):
        zarr.open_array(hierarchy(document), path="foo/bar", mode="r")[:]


# D-5: extension data types, and what to fall back to


def test_d5_times() -> None:
    given = {"extension": "http://purl.org/zarr/spec/protocol/extensions/", "type": "<M8[ns]", "fallback": "<i8"}
    data = np.arange(10).reshape(5, 2).astype("<M8[ns]")
    document = {**EXAMPLE, "shape": [5, 2], "data_type": given, "compressor": None, "fill_value": None}
    array = zarr.open_array(hierarchy(document, **{"data/foo/bar/0.0": data.tobytes()}), path="foo/bar", mode="r")
    assert array.dtype == np.dtype("M8[ns]")
    np.testing.assert_array_equal(array[:], data)
    assert np.isnat(array.fill_value)


def test_d5_fallback() -> None:
    given = {"extension": "http://example.org/money", "type": "money", "fallback": ">i4"}
    data = np.arange(10, dtype=">i4").reshape(5, 2)
    document = {**EXAMPLE, "shape": [5, 2], "data_type": given, "compressor": None, "fill_value": 0}
    array = zarr.open_array(hierarchy(document, **{"data/foo/bar/0.0": data.tobytes()}), path="foo/bar", mode="r")
    np.testing.assert_array_equal(array[:], data)


def test_d5_no_fallback() -> None:
    given = {"extension": "http://example.org/money", "type": "money"}
    with pytest.raises(MetadataValidationError, match=r"http://example\.org/money"):
        zarr.open_array(hierarchy({**EXAMPLE, "data_type": given}), path="foo/bar", mode="r")


# D-6: implicit groups


def test_d6_groups_that_only_their_members_tell_of() -> None:
    root = zarr.open_group(hierarchy(path="a/b/c"), mode="r")
    assert [name for name, _ in root.members(max_depth=None)] == ["a", "a/b", "a/b/c"]
    assert root["a/b"].attrs.asdict() == {}
    assert "a/x" not in root
    with pytest.raises(GroupNotFoundError):
        zarr.open_group(hierarchy(path="a/b/c"), path="x", mode="a")


# D-7: one listing


def listings(store: LoggingStore[Any]) -> int:
    return sum(count for name, count in store.counter.items() if name.startswith("list"))


def test_d7_children_are_found_by_one_listing() -> None:
    store = LoggingStore(hierarchy())
    shown = zarr.draft3.open_store(store)
    before = listings(store)
    assert sorted(shown.list_dir_sync("foo")) == ["bar", "zarr.json"]
    assert listings(store) == before + 1


def test_d7_all_nodes_are_found_by_one_listing() -> None:
    store = LoggingStore(hierarchy({**EXAMPLE, "shape": [0, 0]}))
    shown = zarr.draft3.open_store(store)
    nodes = [key for key in shown.list_sync() if key.endswith("zarr.json")]
    assert nodes == ["foo/bar/zarr.json", "foo/zarr.json", "zarr.json"]


# D-8: names


@pytest.mark.parametrize("name", ["ä", "a b", "a:b"])
def test_d8_names_are_ascii(name: str) -> None:
    root = zarr.draft3.create({})
    with pytest.raises(ValueError, match=r"other characters|not allowed"):
        root.create_group(name)


# D-9: chunks at the edge


def test_d9_chunks_at_the_edge_are_whole() -> None:
    store: dict[str, Any] = {}
    array = zarr.draft3.create(store).create_array("x", shape=(10, 5), chunks=(5, 2), dtype="<f8", compressors=None)
    array[:] = DATA
    assert {len(value) for key, value in store.items() if key.startswith("data/")} == {5 * 2 * 8}


# D-10: growing and shrinking


def test_d10_resize() -> None:
    store: dict[str, Any] = {}
    array = zarr.draft3.create(store).create_array("x", shape=(10, 5), chunks=(5, 2), dtype="<f8", fill_value=-1)
    array[:] = DATA
    chunks = {key: bytes(value.to_bytes()) for key, value in store.items() if key.startswith("data/")}
    array.resize((20, 5))
    assert {key: bytes(value.to_bytes()) for key, value in store.items() if key.startswith("data/")} == chunks
    assert (array[10:] == -1).all()
    array.resize((5, 2))
    assert [key for key in store if key.startswith("data/")] == ["data/x/0/0"]
    np.testing.assert_array_equal(zarr.open_array(store, path="x", mode="r")[:], DATA[:5, :2])


# D-11: stores


def test_d11_a_store_that_cannot_be_written_to() -> None:
    group = zarr.open_group(hierarchy(), mode="a")
    assert group.read_only
    with pytest.raises(ReadOnlyError):
        group.create_group("new")
    with pytest.raises(ValueError, match="read-only"):
        group["foo/bar"][0, 0] = 1


def test_d11_a_store_of_coroutines() -> None:
    slow = LatencyStore(hierarchy(**chunks_of()), get_latency=0.0, set_latency=0.0)
    np.testing.assert_array_equal(zarr.open_group(slow, mode="r")["foo/bar"][:], DATA)

    async def read() -> Any:
        group = await zarr.api.asynchronous.open_group(hierarchy(**chunks_of()), mode="r")
        return await (await group.getitem("foo/bar")).getitem(...)

    np.testing.assert_array_equal(asyncio.run(read()), DATA)


# Writing on request, and leaving the layout


@pytest.mark.parametrize("suffix", ["", ".json"])
def test_round_trip_and_migration(suffix: str, tmp_path: Path) -> None:
    root = zarr.draft3.create(tmp_path / "old", metadata_key_suffix=suffix)
    root.attrs["title"] = "a"
    rng = np.random.default_rng(1)
    wanted = {}
    for name, dtype, options in (
        ("plain", "<i4", {"compressors": None}),
        ("deep/er/blosc", ">f8", {"compressors": BloscCodec(cname="lz4", shuffle="bitshuffle")}),
        ("deep/f", "<u2", {"compressors": GzipCodec(), "filters": TransposeCodec(order=(1, 0))}),
        ("times", "<M8[10us]", {"chunk_key_encoding": {"name": "default", "separator": "."}}),
    ):
        wanted[name] = rng.integers(0, 99, (7, 9)).astype(dtype)
        array = root.create_array(name, shape=(7, 9), chunks=(3, 4), dtype=np.dtype(dtype), **options)
        array[:] = wanted[name]
    zarr.draft3.migrate(tmp_path / "old", tmp_path / "new")
    new = zarr.open_group(tmp_path / "new", mode="r", zarr_format=3)
    assert new.attrs.asdict() == {"title": "a"}
    for name, data in wanted.items():
        for group in (zarr.open_group(tmp_path / "old", mode="r"), new):
            np.testing.assert_array_equal(group[name][:], data)
            assert group[name].nchunks_initialized == 9
    with pytest.raises(ContainsGroupError):
        zarr.draft3.migrate(tmp_path / "old", tmp_path / "new")
    zarr.draft3.migrate(tmp_path / "old", remove_draft=True)
    assert sorted(path.name for path in (tmp_path / "old").iterdir()) == ["deep", "plain", "times", "zarr.json"]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "old", path="deep/f", mode="r")[:], wanted["deep/f"])


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "complex64"},
        {"dtype": "f4", "compressors": [GzipCodec(), GzipCodec()]},
        {"dtype": "f4", "shards": (8, 8)},
        {"dtype": "f4", "dimension_names": ("x", "y")},
        {"dtype": "f4", "chunk_key_encoding": {"name": "v2", "separator": "."}},
    ],
)
def test_what_the_draft_has_no_words_for_is_refused(options: dict[str, Any]) -> None:
    root = zarr.draft3.create({})
    with pytest.raises(ValueError, match=r"draft of 2019|default encoding"):
        root.create_array("x", shape=(8, 8), chunks=(4, 4), **options)


def test_migration_in_place_minds_names() -> None:
    store: dict[str, Any] = {}
    zarr.draft3.create(store).create_array("meta/x", shape=3, dtype="i1")
    before = dict(store)
    with pytest.raises(ValueError, match="meta/x"):
        zarr.draft3.migrate(store)
    assert store == before


def test_migration_by_command(tmp_path: Path) -> None:
    pytest.importorskip("typer", reason="the command line needs the extra cli")
    from zarr._cli.cli import main

    zarr.draft3.create(tmp_path / "old").create_array("x", data=DATA, chunks=(5, 2))
    assert main(["migrate", "v3", str(tmp_path / "old"), str(tmp_path / "new"), "--overwrite"]) == 1
    assert main(["migrate", "v3", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "new", path="x", mode="r")[:], DATA)


def test_a_hierarchy_of_zarrita() -> None:
    sample = FIXTURES / "zarr_implementations" / "examples" / "zarrita.zr3"
    if not sample.exists():
        pytest.skip("the sample files of other implementations are not part of the repository")
    root = zarr.open_group(sample, mode="r")
    first = root["raw"][:]
    assert first.shape == (512, 512, 3)
    for name in ("blosc/lz4", "gzip", "zlib"):
        np.testing.assert_array_equal(root[name][:], first)


# Further statements, in the order of the document


@pytest.mark.parametrize("name", ["a-b", "a_b", "a.b", "Az09", "-"])
def test_names_of_letters_digits_and_three_marks(name: str) -> None:
    root = zarr.draft3.create({})
    root.create_array(f"g/{name}", data=DATA, chunks=(5, 2))
    np.testing.assert_array_equal(root[f"g/{name}"][:], DATA)


@pytest.mark.parametrize("dtype", ["bool", "i1", "<i4", ">u8", "<f2"])
def test_the_identifiers_of_the_document_are_written(dtype: str) -> None:
    store: dict[str, Any] = {}
    order: Any = "big" if dtype[0] == ">" else "little"
    zarr.draft3.create(store).create_array("x", shape=3, dtype=np.dtype(dtype), serializer=BytesCodec(endian=order))
    assert json.loads(store["meta/root/x.array"].to_bytes())["data_type"] == dtype


def test_the_identifier_of_a_chunk() -> None:
    document = {**EXAMPLE, "shape": [1, 4, 8], "chunk_grid": {"type": "regular", "chunk_shape": [1, 1, 1]}}
    store = hierarchy(document, **{"data/foo/bar/0.3.7": gzip.compress(np.float64(5).tobytes())})
    array = zarr.open_array(store, path="foo/bar", mode="r")
    assert array[0, 3, 7] == 5
    assert array.nchunks_initialized == 1


def test_another_grid_and_another_layout_are_refused() -> None:
    for change in ({"chunk_grid": {"type": "rectilinear", "chunk_shape": [5, 2]}}, {"chunk_memory_layout": "Z"}):
        with pytest.raises(MetadataValidationError, match=r"rectilinear|chunk_memory_layout"):
            zarr.open_array(hierarchy({**EXAMPLE, **change}), path="foo/bar", mode="r")


def test_a_compressor_is_optional() -> None:
    document = {key: value for key, value in EXAMPLE.items() if key != "compressor"}
    raw = {key: gzip.decompress(value) for key, value in chunks_of().items()}
    np.testing.assert_array_equal(zarr.open_array(hierarchy(document, **raw), path="foo/bar", mode="r")[:], DATA)


def test_attributes_may_be_nested() -> None:
    nested = {"@id": "arc:arc0", "@type": ["ome:Arc", "ome:ManufacturerSpec"], "ome:arcType": {"@id": "arcType:Xe"}}
    array = zarr.open_array(hierarchy({**EXAMPLE, "attributes": nested}), path="foo/bar", mode="r")
    assert array.attrs.asdict() == nested


@pytest.mark.parametrize("understand", [True, False])
def test_extensions_of_single_nodes(understand: bool) -> None:
    extensions = [{"extension": "http://example.org/foo", "must_understand": understand}]
    store = store_of({
        "zarr.json": BOOTSTRAP, "meta/root/a.array": {**EXAMPLE, "extensions": extensions},
        "meta/root/g.group": {"extensions": extensions, "attributes": {}},
    })  # fmt: skip
    for opening, path in ((zarr.open_array, "a"), (zarr.open_group, "g")):
        if understand:
            with pytest.raises(MetadataValidationError, match=r"example\.org/foo"):
                opening(store, path=path, mode="r")
        else:
            assert opening(store, path=path, mode="r").path == path


def test_a_store_that_cannot_be_listed() -> None:
    class Unlistable(MemoryStore):
        supports_listing = False

        def list_sync(self) -> Any:
            raise AssertionError("listed")

        list_prefix_sync = list_dir_sync = list_sync  # type: ignore[assignment]

    store = Unlistable(hierarchy(**chunks_of())._store_dict)
    np.testing.assert_array_equal(zarr.open_array(store, path="foo/bar", mode="r")[:], DATA)


def test_keys_of_the_examples() -> None:
    """Each node is made by one value: the groups above it are implicit."""
    store: dict[str, Any] = {}
    root = zarr.draft3.create(store)
    assert list(store) == ["zarr.json"]
    root.create_array("foo/bar", shape=(10, 5), chunks=(5, 2), dtype="f8")
    assert list(store) == ["zarr.json", "meta/root/foo/bar.array"]
    root.create_group("foo/baz")
    assert list(store) == ["zarr.json", "meta/root/foo/bar.array", "meta/root/foo/baz.group"]
    root["foo/bar"][0, 0] = 1
    assert list(store)[3:] == ["data/foo/bar/0/0"]


def test_a_hierarchy_that_is_not_consistent_can_be_read() -> None:
    """An array, and another one below it: to avoid that is up to the user."""
    values = {"zarr.json": BOOTSTRAP, "meta/root/foo.array": EXAMPLE, "meta/root/foo/bar.array": EXAMPLE}
    store = store_of({**values, **chunks_of("foo/bar")})
    assert np.isnan(zarr.open_array(store, path="foo", mode="r")[:]).all()
    np.testing.assert_array_equal(zarr.open_array(store, path="foo/bar", mode="r")[:], DATA)


def test_a_moved_node_leaves_and_makes_no_groups() -> None:
    """The groups around it are implicit at its old and at its new place."""
    store: dict[str, Any] = {}
    root = zarr.draft3.create(store)
    root.create_array("a", data=np.arange(2), compressors=None)
    root.move("a", "x/y")
    assert sorted(store) == ["data/x/y/0", "meta/root/x/y.array", "zarr.json"]
