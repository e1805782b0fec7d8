"""Single calls that once did something else than in zarr-python; ``tests/compat/test_calls.py`` compares them all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.codecs import GzipCodec
from zarr.errors import (
    ArrayNotFoundError,
    FieldsError,
    UnknownCodecError,
    UnnamedCodecError,
    VindexInvalidSelectionError,
    WrongTypeError,
    ZarrUserWarning,
)
from zarr.settings import RULES, BadConfigError, check_settings
from zarr.storage import MemoryStore


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("face", ["sync", "async"])
def test_a_group_copies_arrays(zarr_format: Any, face: str) -> None:
    elements = np.arange(6, dtype="i4").reshape(2, 3)
    model = zarr.create_array(
        {}, data=elements, chunks=(1, 2), compressors=GzipCodec(), attributes={"q": 1}, fill_value=4
    )
    group = zarr.create_group(MemoryStore(), zarr_format=zarr_format)
    if face == "sync":
        copy = group.create_array("x", data=model, chunks=(2, 2))
        with pytest.raises(ValueError, match="shape"):
            group.create_array("y", data=model, shape=(2, 3))
    else:

        async def made() -> Any:
            opened = await zarr.api.asynchronous.open_group(group.store_path)
            return await opened.create_array("x", data=model, chunks=(2, 2))

        asyncio.run(made())
        copy = group["x"]
    assert (copy.chunks, dict(copy.attrs), copy.fill_value) == ((2, 2), {"q": 1}, 4)
    assert copy.metadata.zarr_format == zarr_format
    np.testing.assert_array_equal(copy[:], elements)
    assert group.create_array("lent", data=model, write_data=False)[:].tolist() != elements.tolist()


def test_an_array_of_an_array_keeps_what_describes_it() -> None:
    model = zarr.create_array({}, data=np.arange(4), chunks=2, attributes={"q": 1}, dimension_names=["x"])
    copy = zarr.array(model)
    assert (dict(copy.attrs), copy.metadata.dimension_names, copy.chunks) == ({"q": 1}, ("x",), (2,))
    assert dict(zarr.array(model, dtype="f4").attrs) == {"q": 1}


@pytest.mark.parametrize("value", ["x", object(), None, b"x", 2**40, 1j, float("nan"), np.array(["x"])])
@pytest.mark.parametrize("selection", [slice(0, 0), slice(3, 1)])
def test_an_empty_selection_takes_elements_only(value: Any, selection: slice) -> None:
    array = zarr.zeros((4,), dtype="i4", store=MemoryStore())
    with pytest.raises((TypeError, ValueError, OverflowError)):
        array[selection] = value
    array[selection] = [1, 2]  # whatever its shape
    array[selection] = "3"
    assert not array[:].any()


@pytest.mark.parametrize("function", ["create", "zeros", "zeros_like"])
def test_the_configuration_has_the_order_of_the_document(function: str) -> None:
    shape = zarr.zeros((2, 3), store=MemoryStore()) if function == "zeros_like" else (2, 3)
    array = getattr(zarr, function)(shape, order="F", zarr_format=2, store=MemoryStore())
    assert (array.order, array.config.order, array.metadata.order) == ("F", "F", "F")


def test_shards_of_format_2_are_warned_of_and_refused() -> None:
    with pytest.warns(ZarrUserWarning, match="Automatic shard"), pytest.raises(ValueError, match="format 2"):
        zarr.create_array({}, shape=(3,), dtype="i4", shards="auto", zarr_format=2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("codec_pipeline.batch_size", value) for value in (0, -1, "x", None, 1.5, True)],
        *[("async.concurrency", value) for value in (0, -1, "x", 1.5)],
        ("async.timeout", "x"),
        ("threading.max_workers", 0),
        ("array.order", "A"),
        ("array.write_empty_chunks", "x"),
        ("default_zarr_format", 4),
    ],
)
def test_settings_have_ranges(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = zarr.config.get(name)
    section, _, key = name.rpartition(".")
    given: list[Any] = [{name: value}, {section: {key: value}}] if section else [{name: value}]
    for settings in given:
        with pytest.raises(BadConfigError, match=f"setting '{name}' must be") as raised:
            zarr.config.set(settings)
        assert isinstance(raised.value, TypeError)
        assert zarr.config.get(name) == before
    monkeypatch.setenv(f"ZARR_{name.replace('.', '__').upper()}", repr(value))
    with pytest.raises(BadConfigError, match=f"setting '{name}' must be"):
        type(zarr.config)("zarr", defaults=[zarr.config.defaults[0]])


def test_defaults_and_settings_of_others_are_let_through() -> None:
    check_settings(zarr.config.defaults[0])
    with zarr.config.set({"nobody.knows": object(), "codecs.bytes": "a.b"}), zarr.config.set(async__concurrency=None):
        assert zarr.config.get("async.concurrency") is None
    assert not [name for name in RULES if zarr.config.get(name, "absent") == "absent"]


def test_errors_are_those_of_zarr_python_too() -> None:
    array = zarr.create((5, 4), dtype="i4", store=MemoryStore())
    with pytest.raises(ValueError, match="axis"):
        array.append(np.ones((2, 4)), axis="x")
    with pytest.raises(VindexInvalidSelectionError):
        array.vindex["nope"]
    with pytest.raises(VindexInvalidSelectionError):
        array.vindex[1.0]
    fields = zarr.array(np.zeros(2, dtype=[("a", "i4")]), store=MemoryStore())
    with pytest.raises(IndexError, match="string or list of strings") as raised:
        fields.get_basic_selection(0, fields=5)
    assert isinstance(raised.value, FieldsError)
    with pytest.raises(ValueError, match="Cannot convert") as refused:
        zarr.create(3, dtype="M8[s]", fill_value={}, store=MemoryStore())
    assert isinstance(refused.value, WrongTypeError)
    assert not issubclass(UnnamedCodecError, UnknownCodecError)
    assert issubclass(UnnamedCodecError, TypeError)
    with pytest.raises(ArrayNotFoundError):
        zarr.open(MemoryStore(), mode="r", shape=(3,))
    with pytest.raises(TypeError, match="Expected dict"):
        array.update_attributes("x")
    array.update_attributes([("k", 1)])
    assert dict(array.attrs) == {"k": 1}


def test_the_chunk_of_an_array_without_dimensions_is_counted() -> None:
    for zarr_format in (2, 3):
        array = zarr.array(np.array(3), store=MemoryStore(), zarr_format=zarr_format)
        assert array.nchunks_initialized == 1


def test_a_list_of_bools_is_a_mask_of_a_line() -> None:
    array = zarr.array(np.arange(5), chunks=2, store=MemoryStore())
    mask = [True, False, True, False, True]
    assert array.vindex[mask].tolist() == [0, 2, 4]
    array.vindex[mask] = 7
    assert array[:].tolist() == [7, 1, 7, 3, 7]


@pytest.mark.parametrize("value", ["x", ["x"], [["x"]], np.array(["x"]), np.array([["x"]], dtype=object)])
def test_one_text_in_an_array_is_written_to_one_place(value: Any) -> None:
    array = zarr.create(3, dtype=str, store=MemoryStore())
    array[0] = value
    assert array[:].tolist() == ["x", "", ""]


@pytest.mark.parametrize(("zarr_format", "others"), [(2, {"zarr.json"}), (3, {".zgroup", ".zattrs"})])
def test_documents_of_another_format_beside_those_of_a_group_are_warned_of(zarr_format: Any, others: set[str]) -> None:
    store = MemoryStore()
    for other in (3, 2):
        zarr.create_group(store, zarr_format=other)
    group = zarr.open_group(store, zarr_format=zarr_format)
    group.create_group("member")
    for look in (group.members, group.nmembers, lambda: list(group.keys()), lambda: str(group.tree())):
        with pytest.warns(ZarrUserWarning, match="not recognized") as told:
            look()
        assert {str(warning.message).split()[2] for warning in told} == others


def test_missing_texts_are_no_texts() -> None:
    array = zarr.create_array({}, shape=2, dtype="string")
    for missing in (None, np.nan):
        array[:] = np.array(["x", "y"], dtype=np.dtypes.StringDType(na_object=missing))
        assert array[:].tolist() == ["x", "y"]
    array[:] = np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None))
    assert array[:].tolist() == ["a", ""]
    with pytest.raises(ValueError, match=r"1 of 2 texts are missing \(nan\)"):
        array[:] = np.array(["b", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan))
    assert array[:].tolist() == ["a", ""]


def test_an_array_from_a_chunked_dataset_has_its_chunks(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=np.arange(35).reshape(5, 7), chunks=(2, 3))
        assert zarr.array(dataset).chunks == (2, 3)
        assert zarr.array(dataset, chunks=(5, 5)).chunks == (5, 5)
        assert zarr.array(dataset)[...].tolist() == dataset[...].tolist()


def test_a_mask_that_is_not_kept_is_told() -> None:
    values: Any = np.ma.array([1, 2, 3], mask=[False, True, False])  # type: ignore[no-untyped-call]
    for dtype in ("int64", "int16"):
        array = zarr.create_array({}, shape=3, chunks=2, dtype=dtype)
        with pytest.warns(ZarrUserWarning, match="1 masked elements are stored as the values below the mask"):
            array[:] = values
        assert array[:].tolist() == [1, 2, 3]
    with pytest.warns(ZarrUserWarning, match="mask"):
        zarr.create_array({}, data=values)
    array[:] = values.filled(9)
    array[:] = values[:1]
    kept = zarr.create_array({}, shape=3, dtype=zarr.dtype.Nullable(inner=zarr.dtype.Int64()))
    kept[:] = values
    assert np.asarray(kept[:].mask).tolist() == [False, True, False]  # type: ignore[union-attr]
