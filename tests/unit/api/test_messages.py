"""Messages about mistakes name the place, the numbers and what to do, around the words of zarr-python."""

from __future__ import annotations

import ast
import asyncio
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from zarr.errors import ArrayNotFoundError, ContainsArrayError, ContainsGroupError, GroupNotFoundError, like_names
from zarr.storage import LocalStore, MemoryStore

both_formats = pytest.mark.parametrize("zarr_format", [2, 3])


@pytest.fixture
def filled(tmp_path: Path, zarr_format: int) -> Path:
    root = zarr.open_group(tmp_path / "f.zarr", mode="w", zarr_format=zarr_format)
    root.create_array("temperature", shape=(4,), dtype="int8")
    root.create_group("winds")
    return tmp_path / "f.zarr"


@both_formats
def test_the_other_kind_of_node(filled: Path) -> None:
    for path in ("", "winds"):
        with pytest.raises(ValueError, match=r"group.*use open_group"):
            zarr.open_array(filled, path=path, mode="r")
    with pytest.raises(ValueError, match=r"(?s)array.*(use|with) open_array"):
        zarr.open_group(filled, path="temperature", mode="r")
    with pytest.raises(ValueError, match=r"group.*use open_group"):
        asyncio.run(zarr.api.asynchronous.open_array(store=filled, mode="r"))


@both_formats
def test_missing_members_name_near_ones(filled: Path) -> None:
    group = zarr.open_group(filled, mode="r")
    for missing, near in (("temprature", "temperature"), ("WINDS", "winds")):
        with pytest.raises(KeyError, match=f"{missing}.*did you mean '{near}'") as caught:
            group[missing]
        assert caught.value.args == (missing,)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
        with pytest.raises(ArrayNotFoundError, match=f"did you mean '{near}'"):
            group.get_array(missing)
        with pytest.raises(GroupNotFoundError, match=f"did you mean '{near}'"):
            zarr.open_group(filled, path=missing, mode="r")
    with pytest.raises(KeyError) as plain:
        group["pressure"]
    assert str(plain.value) == "'pressure'"
    assert "temprature" not in group
    assert group.get("temprature") is None


def test_near_names_are_paths_of_the_same_kind(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "data.zarr", mode="w")
    root.create_array("winds/speed{", shape=(4,), dtype="int8")
    with pytest.raises(KeyError, match=r"did you mean 'winds/speed\{'"):
        root["winds/sped{"]
    with pytest.raises(KeyError, match=r"did you mean 'speed\{'"):
        root["winds"]["sped{"]
    with pytest.raises(KeyError, match=r"wnds.*did you mean 'winds'"):
        root.move("wnds", "x")


@pytest.mark.parametrize("name", ["dta.zarr", "data", "data.zar", "DATA.zarr", "data.zarr/wnds"])
def test_missing_places_name_near_ones(name: str, tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "data.zarr", mode="w").create_group("winds")
    near = str(tmp_path / "data.zarr") + ("/winds" if "/" in name else "")
    for opener in (zarr.open, zarr.open_array, zarr.open_group):
        with pytest.raises(FileNotFoundError, match=re.escape(f"does not exist (did you mean '{near}'?)")):
            opener(tmp_path / name, mode="r")
    with pytest.raises(FileNotFoundError, match=r"other.zarr does not exist$"):
        zarr.open(tmp_path / "other.zarr", mode="r")


FOREIGN = {
    "a.h5": (b"\x89HDF\r\n\x1a\n", "HDF5 or NetCDF-4 file.*zarr.tools.convert.*h5py.File or xarray.open_dataset"),
    "a.nc": (b"CDF\x01", "NetCDF-3 file.*xarray.open_dataset"),
    "a.tif": (b"II*\0", "TIFF file.*zarr.tools.convert.*tifffile.imread"),
    "a.npy": (b"\x93NUMPY", "file of NumPy.*zarr.tools.convert.*numpy.load"),
    "a.parquet": (b"PAR1", "Parquet file.*zarr.tools.convert"),
    "a.grib": (b"GRIB", "GRIB file.*cfgrib"),
    "a.tar.gz": (b"\x1f\x8b\x08", "gzip.*unpack it first"),
    "a.txt": (b"text", "file of an unknown format; a store is a folder, a zip file or a database"),
    "empty": (b"", "file of an unknown format"),
}


@pytest.mark.parametrize("name", [*FOREIGN, "a.npz"])
def test_files_that_are_no_stores(name: str, tmp_path: Path) -> None:
    if name == "a.npz":
        np.savez(tmp_path / name, x=np.arange(3))
    else:
        (tmp_path / name).write_bytes(FOREIGN[name][0])
    words = FOREIGN["a.npy" if name == "a.npz" else name][1]
    for opener in (zarr.open, zarr.open_array, zarr.open_group, zarr.open_consolidated):
        with pytest.raises(FileNotFoundError, match=f"(?s){re.escape(name)}.*this is .*{words}"):
            opener(tmp_path / name, mode="r")


SITES = {
    "arrays/show/html.py": "http://www.w3.org/2000/svg",
    "models/schema.py": "https://json-schema.org/draft/",
    "serving/server.py": "http://",
    "storage/layouts/draft3.py": "http://purl.org/zarr/spec/",
    "tools/conversion/images/geotiff.py": "https://",
    "tools/copies/multiscales.py": "https://",
}
"""Texts in documents and pages, by file: no messages."""


def test_a_near_name_comes_once() -> None:
    assert like_names("tme", ["time", "lat", "time"]) == " (did you mean 'time'?)"
    assert like_names("tme", map(str, range(2000))) == ""


def test_no_message_names_a_site() -> None:
    for file in sorted(Path(zarr.__file__).parent.rglob("*.py")):
        name, tree = file.relative_to(Path(zarr.__file__).parent).as_posix(), ast.parse(file.read_text("utf-8"))
        described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in described)
        for text in (node.value for node in texts if isinstance(node.value, str)):
            for word in re.findall(r"(?:https?://|www\.)\S*", text):
                assert word.startswith(SITES.get(name, "no site")), (name, text)


def test_only_the_error_looks_for_near_names() -> None:
    listed = []

    class Listing(MemoryStore):
        def list_dir_sync(self, prefix: str) -> list[str]:
            listed.append(prefix)
            return list(super().list_dir_sync(prefix))

    group = zarr.group(Listing())
    assert group.get("x") is None
    assert "x" not in group
    assert listed == []


def test_missing_members_of_a_copy() -> None:
    root = zarr.group({})
    root.create_array("a/temperature", shape=(4,), dtype="int8")
    with pytest.raises(KeyError, match=r"not found in consolidated metadata.*did you mean 'a/temperature'"):
        zarr.consolidate_metadata(root.store)["a/temprature"]


@both_formats
def test_what_is_there_can_be_overwritten(zarr_format: Any) -> None:
    root = zarr.group({}, zarr_format=zarr_format)
    root.create_array("x", shape=(4,), dtype="int8")
    root.create_group("g")
    with pytest.raises(ContainsArrayError, match=r"(?s)An array exists in store .* at path 'x'\..*overwrite=True"):
        root.create_array("x", shape=(4,), dtype="int8")
    with pytest.raises(ContainsGroupError, match=r"(?s)A group exists in store .* at path 'g'\..*overwrite=True"):
        root.create_group("g")


def test_masks_of_another_shape() -> None:
    array = zarr.create_array({}, shape=(4, 5), chunks=(2, 5), dtype="int32")
    mask = np.ones((300, 5), bool)
    for call in (lambda: array[mask], lambda: array.vindex[mask], lambda: array.__setitem__(mask, 1)):
        with pytest.raises(IndexError, match=r"mask of shape \(300, 5\) for an array of shape \(4, 5\)") as caught:
            call()
        assert "True," not in str(caught.value)


@pytest.mark.parametrize(("chunks", "shards", "fitting"), [(30, 50, 60), (30, 10, 30), (7, 20, 21)])
def test_shards_that_hold_no_whole_chunks(chunks: int, shards: int, fitting: int) -> None:
    words = f"Chunk edge length {shards} in dimension 0 is not divisible by the shard's inner chunk size {chunks}."
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        zarr.create_array({}, shape=(100,), chunks=(chunks,), shards=(shards,), dtype="int32")
    assert f"chunks of {chunks} elements make shards of {fitting}" in str(caught.value)
    zarr.create_array({}, shape=(100,), chunks=(chunks,), shards=(fitting,), dtype="int32")


@pytest.mark.parametrize("value", ["abc", ["a", "b", "c", "d"], np.array(["a", "b", "c", "d"])])
@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64", "datetime64[s]"])
def test_values_that_are_no_numbers(value: Any, dtype: str) -> None:
    array = zarr.create_array({}, shape=(4,), chunks=(2,), dtype=dtype)
    with pytest.raises(ValueError, match=f"value.*of type {type(value).__name__} cannot be stored as {dtype[:4]}"):
        array[:] = value


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux has it")
def test_a_place_where_nothing_can_be_made() -> None:
    with pytest.raises(OSError, match=r"nothing can be made in '/proc'.*another place.*/proc/x.zarr"):
        zarr.create_array("/proc/x.zarr", shape=(4,), dtype="int8")
    with pytest.raises(OSError, match=r"nothing can be made in '/proc'.*another place.*/proc/x.zip"):
        zarr.storage.ZipStore("/proc/x.zip", mode="w")._sync_open()
    with pytest.raises(FileNotFoundError):
        zarr.save("/proc/x.zarr", np.arange(3))


NUMPY: list[tuple[Any, Any]] = [
    (np.int64(3), 3),
    (np.uint8(3), 3),
    (np.float32(0.5), 0.5),
    (np.float64(0.5), 0.5),
    (np.bool_(True), True),
    (np.str_("q"), "q"),
    ({"b": [np.int8(3), {"c": np.float32(0.5)}]}, {"b": [3, {"c": 0.5}]}),
    ((np.int8(1), 2), [1, 2]),
    (np.float32("inf"), float("inf")),
]


def setters(zarr_format: Any) -> list[Callable[[Any], Any]]:
    def node(make: Callable[[zarr.Group], Any]) -> Any:
        return make(zarr.group({}, zarr_format=zarr_format))

    def assigned(make: Callable[[zarr.Group], Any], value: Any) -> Any:
        made = node(make)
        made.attrs["k"] = value
        return made

    def array(root: zarr.Group) -> Any:
        return root.create_array("x", shape=(3,), dtype="int8")

    return [
        lambda value: assigned(array, value),
        lambda value: assigned(lambda root: root.create_group("x"), value),
        lambda value: node(array).update_attributes({"k": value}),
        lambda value: node(lambda root: root.create_group("x", attributes={"k": value})),
        lambda value: node(lambda root: root.create_array("x", shape=(3,), dtype="int8", attributes={"k": value})),
        lambda value: zarr.create_array(
            {}, shape=(3,), dtype="int8", zarr_format=zarr_format, attributes={"k": value}
        ),
    ]


@both_formats
@pytest.mark.parametrize("number", range(6))
def test_numpy_scalars_in_attributes(zarr_format: int, number: int) -> None:
    for value, expected in NUMPY:
        made = setters(zarr_format)[number](value)
        kept = made.attrs["k"]
        assert json.loads(json.dumps(kept)) == expected
        assert not isinstance(kept, np.generic)
        name = {2: ".zattrs", 3: "zarr.json"}[zarr_format]
        document = json.loads(made.store._store_dict[f"{made.path}/{name}".strip("/")].to_bytes())
        assert (document if zarr_format == 2 else document["attributes"])["k"] == expected
    made = setters(zarr_format)[number](np.float32("nan"))
    assert np.isnan(made.attrs["k"])


@both_formats
@pytest.mark.parametrize("number", range(6))
def test_what_json_has_not_names_its_place_and_the_remedy(zarr_format: int, number: int) -> None:
    for value in (np.arange(3), np.array(3), b"q", np.complex64(1), {1, 2}, np.datetime64("2020-01-01")):
        words = rf"Object of type {type(value).__name__} is not JSON serializable \(at .*k.*tolist"
        with pytest.raises(TypeError, match=words):
            setters(zarr_format)[number](value)


def test_attributes_without_numpy_stay_the_objects_that_they_are() -> None:
    value = {"a": [1, {"b": 2}], "c": (1,)}
    root = zarr.group({})
    root.attrs["k"] = value
    assert root.attrs["k"] == value
    assert root.attrs["k"] is value


def test_names_of_the_store_are_in_messages(tmp_path: Path) -> None:
    with pytest.raises(ArrayNotFoundError, match=r"LocalStore.*x\.zarr"):
        zarr.group(LocalStore(tmp_path / "x.zarr")).get_array("a")


def test_fill_values_that_the_data_type_lacks() -> None:
    for dtype, value in (("int8", "x"), ("uint8", -1), ("M8[s]", "x"), ("complex64", "q")):
        with pytest.raises((ValueError, OverflowError), match=f"the fill value {value!r} of an array of"):
            zarr.create_array({}, shape=3, dtype=dtype, fill_value=value)


def test_objects_as_data_name_a_way_that_is_taken() -> None:
    texts = np.array(["a", "b"], dtype=object)
    with pytest.raises(ValueError, match=r"data\.astype\(numpy\.dtypes\.StringDType\(\)\)"):
        zarr.create_array({}, data=texts)
    assert zarr.create_array({}, data=texts.astype(np.dtypes.StringDType()))[:].tolist() == ["a", "b"]


def test_a_mask_of_one_axis_names_the_way() -> None:
    array, mask = zarr.create_array({}, data=np.arange(6).reshape(3, 2)), np.array([True, False, True])
    with pytest.raises(IndexError, match=r"\.oindex takes a mask"):
        array[mask]
    assert array.oindex[mask].tolist() == [[0, 1], [4, 5]]
