"""What each mode opens, makes and refuses."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.errors import ArrayNotFoundError, ContainsArrayError, GroupNotFoundError, NodeTypeValidationError
from zarr.storage import MemoryStore

READING = ["r", "r+"]
CREATING = ["a", "w", "w-"]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def place(tmp_path: Path, zarr_format: Any) -> Path:
    group = zarr.create_group(tmp_path / "g", zarr_format=zarr_format)
    group.create_array("x", shape=(2,), dtype="int8")
    return tmp_path


@pytest.mark.parametrize("mode", READING)
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        *itertools.product(["open", "open_array"], [{}, {"shape": (3,), "dtype": "int8"}]),
        ("open_group", {}),  # groups have no shape
    ],
)
def test_a_typo_makes_nothing(tmp_path: Path, mode: str, shape: dict[str, Any], function: str) -> None:
    with pytest.raises(FileNotFoundError):
        getattr(zarr, function)(tmp_path / "new", mode=mode, **shape)
    with pytest.raises(FileNotFoundError):
        getattr(zarr, function)(MemoryStore(), mode=mode, path="new", **shape)
    assert list(tmp_path.iterdir()) == []


def test_open_array_without_mode_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ArrayNotFoundError):
        zarr.open_array(tmp_path / "new", shape=(3,), dtype="int8")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", CREATING)
def test_what_is_made_where_nothing_is(tmp_path: Path, mode: Any) -> None:
    assert zarr.open_group(tmp_path / "a", mode=mode).path == ""
    assert isinstance(zarr.open(tmp_path / "b", mode=mode), zarr.Group)
    assert zarr.open(tmp_path / "c", mode=mode, shape=(3,), dtype="int8").shape == (3,)
    assert zarr.open_array(tmp_path / "d", mode=mode, shape=3, dtype="int8").shape == (3,)
    with pytest.raises(TypeError, match="shape"):
        zarr.open_array(tmp_path / "e", mode=mode)
    assert not (tmp_path / "e").exists()
    assert isinstance(zarr.open(tmp_path / "f"), zarr.Group)


@pytest.mark.parametrize("mode", ["r", "r+", "a"])
def test_what_is_there_is_opened(place: Path, mode: Any) -> None:
    before = files(place)
    group = zarr.open_group(place / "g", mode=mode)
    assert list(group) == ["x"]
    assert group.read_only == group["x"].read_only == (mode == "r")
    assert list(zarr.open(place / "g", mode=mode)) == ["x"]
    assert zarr.open(place / "g", path="x", mode=mode).shape == (2,)
    assert zarr.open(place / "g/x", mode=mode, shape=(5,), dtype="int8").shape == (2,)
    assert zarr.open_array(place / "g", path="x", mode=mode).shape == (2,)
    assert files(place) == before


def test_mode_w_begins_anew(place: Path, zarr_format: Any) -> None:
    assert list(zarr.open_group(place / "g", mode="w", zarr_format=zarr_format)) == []
    assert zarr.open(place / "g", mode="w", shape=(5,), dtype="int8", zarr_format=zarr_format).shape == (5,)
    assert zarr.open_array(place / "g", mode="r").shape == (5,)


def test_mode_w_without_a_shape_destroys_no_array(place: Path) -> None:
    before = files(place)
    with pytest.raises(TypeError, match="shape"):
        zarr.open_array(place / "g/x", mode="w")
    assert files(place) == before


@pytest.mark.parametrize("function", ["open", "open_array", "open_group", "create"])
def test_mode_w_minus_refuses_what_is_there(place: Path, function: str) -> None:
    before = files(place)
    shape = {} if function == "open_group" else {"shape": (3,), "dtype": "int8"}
    with pytest.raises(FileExistsError, match="w-"):
        getattr(zarr, function)(store=place / "g", mode="w-", **shape)
    assert files(place) == before


@pytest.mark.parametrize("function", ["open", "open_array", "open_group"])
def test_modes_that_are_none(tmp_path: Path, function: str) -> None:
    with pytest.raises(ValueError, match="Invalid mode: y"):
        getattr(zarr, function)(tmp_path / "new", mode="y")


def test_an_array_is_no_group_and_a_group_no_array(place: Path, zarr_format: Any) -> None:
    with pytest.raises((ContainsArrayError, GroupNotFoundError)):
        zarr.open_group(place / "g/x", mode="r")
    with pytest.raises(ContainsArrayError):
        zarr.open_group(place / "g/x", mode="a", zarr_format=zarr_format)
    with pytest.raises((NodeTypeValidationError, ArrayNotFoundError)):
        zarr.open_array(place / "g", mode="r")


def test_the_format_is_respected(place: Path, zarr_format: Any) -> None:
    assert zarr.open_group(place / "g", mode="r", zarr_format=zarr_format).metadata.zarr_format == zarr_format
    with pytest.raises(GroupNotFoundError):
        zarr.open_group(place / "g", mode="r", zarr_format=5 - zarr_format)
    assert zarr.open(place / "g", mode="r", zarr_version=zarr_format).metadata.zarr_format == zarr_format
    with pytest.raises(ValueError, match="contradict"):
        zarr.open(place / "g", zarr_version=2, zarr_format=3)


def test_read_only_stores() -> None:
    store = MemoryStore()
    zarr.create_group(store).create_array("x", shape=(3,), dtype="int8")
    reader = store.with_read_only(read_only=True)
    assert zarr.open(reader).read_only
    assert zarr.open(reader, path="x").read_only
    for mode in ("r+", "a", "w"):
        with pytest.raises(ValueError, match="read-only"):
            zarr.open_group(reader, mode=mode)  # type: ignore[arg-type]


def test_attributes_are_for_what_is_made() -> None:
    store = MemoryStore()
    assert zarr.open_group(store, attributes={"a": 1}).attrs.asdict() == {"a": 1}
    assert zarr.open_group(store, attributes={"b": 1}).attrs.asdict() == {"a": 1}
    assert zarr.group(store, attributes={"b": 1}).attrs.asdict() == {"a": 1}
    assert zarr.open_group(store, mode="w", attributes={"c": 1}).attrs.asdict() == {"c": 1}
    assert zarr.open(store, mode="w", attributes={"d": 1}).attrs.asdict() == {"d": 1}


def test_group_opens_or_makes() -> None:
    store = MemoryStore()
    zarr.group(store).create_group("a")
    assert list(zarr.group(store)) == ["a"]
    assert list(zarr.group(store, overwrite=True)) == []
    zarr.create(3, store=store, path="x")
    with pytest.raises(ContainsArrayError):
        zarr.group(store, path="x")


def test_create_group() -> None:
    store = MemoryStore()
    made = zarr.create_group(store, path="a/b", attributes={"k": 1})
    assert (made.path, made.attrs["k"]) == ("a/b", 1)
    with pytest.raises(zarr.errors.ContainsGroupError):
        zarr.create_group(store, path="a/b")
    assert zarr.create_group(store, path="a/b", overwrite=True).attrs.asdict() == {}


@pytest.mark.parametrize("name", ["cache_attrs", "synchronizer", "meta_array"])
def test_parameters_without_effect_say_so(name: str) -> None:
    for function in (zarr.group, zarr.open_group):
        with pytest.warns(zarr.errors.ZarrRuntimeWarning, match=name):
            function(MemoryStore(), **{name: object()})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cache_metadata", "cache_attrs", "read_only", "meta_array", "synchronizer"])
@pytest.mark.parametrize("function", ["open", "open_array"])
@pytest.mark.filterwarnings("error")
def test_an_array_that_is_there_passes_over_how_it_was_once_held(place: Path, function: str, name: str) -> None:
    found = getattr(zarr, function)(place, path="g/x", mode="r", **{name: object()})
    assert isinstance(found, zarr.Array)


@pytest.mark.parametrize(("function", "more"), [("open_array", {}), ("open", {"shape": 3, "dtype": "int32"})])
def test_write_empty_chunks_is_deprecated_for_an_array_that_is_there(function: str, more: dict[str, Any]) -> None:
    store = MemoryStore()
    zarr.create(3, store=store, dtype="int32")
    with pytest.warns(zarr.errors.ZarrRuntimeWarning, match="`write_empty_chunks` keyword argument is deprecated"):
        assert getattr(zarr, function)(store, write_empty_chunks=True, **more).config.write_empty_chunks


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(TypeError, match="foo"):
        zarr.open(MemoryStore(), foo=1)
    with pytest.raises(TypeError, match="foo"):
        zarr.open_array(MemoryStore(), mode="w", shape=3, foo=1)
    with pytest.raises(TypeError, match="storage_options"):
        zarr.open(MemoryStore(), storage_options={"a": 1})


def test_configuration_of_an_opened_array() -> None:
    store = MemoryStore()
    zarr.create(3, store=store)
    assert zarr.open_array(store, config={"write_empty_chunks": True}).config.write_empty_chunks
    assert zarr.open(store, config={"order": "F"}).order == "F"
    assert zarr.open(store, write_empty_chunks=True).config.write_empty_chunks


def test_open_like() -> None:
    store = MemoryStore()
    model = zarr.create((10, 4), chunks=(5, 2), dtype="int16", fill_value=3)
    made = zarr.open_like(model, "x", store=store)
    assert (made.shape, made.chunks, made.dtype, made.fill_value) == ((10, 4), (5, 2), np.dtype("int16"), 3)
    made[:] = 1
    assert zarr.open_like(model, "x", store=store)[0, 0] == 1


def test_a_group_where_an_array_was_asked_for() -> None:
    store = MemoryStore()
    zarr.create_group(store)
    for words in ({"shape": (1,)}, {"dtype": "i4"}, {"chunks": (1,)}):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            zarr.open(store, **words)
