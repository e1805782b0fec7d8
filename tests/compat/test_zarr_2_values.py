"""Values that programs for zarr-python 2 give and get: objects, and what they put into dictionaries."""

from __future__ import annotations

from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr

OBJECTS = [
    (numcodecs.VLenUTF8(), ["a", "1", None], ["a", "1", ""]),
    (numcodecs.VLenBytes(), [b"a", b"1", None], [b"a", b"1", b""]),
    (numcodecs.JSON(), [10**20, True, None], [10**20, True, None]),
]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("codec", "data", "expected"), OBJECTS, ids=lambda value: getattr(value, "codec_id", ""))
def test_objects_keep_their_values_without_a_data_type(codec: Any, data: Any, expected: Any, zarr_format: Any) -> None:
    group = zarr.group({}, zarr_format=zarr_format)
    objects = np.array(data, dtype=object)
    if zarr_format == 3 and codec.codec_id == "json2":
        with pytest.raises(ValueError, match="no data type for what the codec 'json2' stores"):
            group.create_dataset("a", data=objects, object_codec=codec)
        return
    assert group.create_dataset("a", data=objects, object_codec=codec)[:].tolist() == expected
    assert group.array("b", objects, object_codec=codec)[:].tolist() == expected
    made = group.create_dataset("c", shape=3, dtype=object, object_codec=codec)
    made[:] = objects[:2].tolist() + expected[2:]
    assert made[:].tolist() == expected
    assert group.require_dataset("c", shape=3, dtype=object, object_codec=codec)[:].tolist() == expected


def test_a_codec_of_objects_does_not_change_numbers() -> None:
    for zarr_format in (2, 3):
        with pytest.warns(zarr.errors.ZarrUserWarning, match="no effect on other data types"):
            made = zarr.group({}, zarr_format=zarr_format).create_dataset(
                "a", data=np.arange(3) + 2**53, object_codec=numcodecs.JSON()
            )
        np.testing.assert_array_equal(made[:], np.arange(3) + 2**53)


def test_a_dataset_has_the_chunks_of_its_data() -> None:
    group = zarr.group({}, zarr_format=2)
    data = zarr.array(np.arange(100), chunks=10)
    assert group.create_dataset("a", data=data).chunks == (10,)
    assert group.array("b", data).chunks == (10,)
    assert group.create_dataset("c", data=data, chunks=(20,)).chunks == (20,)


class Folding(dict[str, Any]):
    """A dictionary that folds its keys, by the methods of items only."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key.upper())

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key.upper(), value)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key.upper())

    def __contains__(self, key: object) -> bool:
        return super().__contains__(str(key).upper())


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_dictionary_that_overrides_items(zarr_format: Any) -> None:
    values = Folding()
    array = zarr.create_array(values, shape=4, chunks=2, dtype="i4", zarr_format=zarr_format)
    array[:] = 3
    array[1] = 5
    assert {key for key in dict.keys(values) if key != key.upper()} == set()
    again = zarr.open_array(values)
    again.append(np.arange(3, dtype="i4"))
    assert again[:].tolist() == [3, 5, 3, 3, 0, 1, 2]
    array.resize(2)
    assert zarr.open_array(values)[:].tolist() == [3, 5]
    assert zarr.storage.MemoryStore(values).lock_prefix == zarr.storage.MemoryStore(values).lock_prefix


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.frombuffer], ids=lambda kind: kind.__name__)
def test_a_dictionary_holds_bytes_of_any_kind(kind: Any) -> None:
    values: dict[str, Any] = {}
    array = zarr.create_array(values, shape=4, chunks=2, dtype="i4", zarr_format=2, compressors=None)
    array[:] = [1, 2, 3, 4]
    values[".zarray"] = values[".zarray"].to_bytes().decode()
    raw = values["1"].to_bytes()
    values["1"] = np.frombuffer(raw, dtype="u1") if kind is np.frombuffer else kind(raw)
    again = zarr.open_array(values, mode="r")
    assert again[:].tolist() == [1, 2, 3, 4]
    assert again[3] == 4


@pytest.mark.parametrize("synchronizer", [zarr.ThreadSynchronizer(), None])
def test_a_view_with_a_synchronizer(synchronizer: Any) -> None:
    view = zarr.array(np.arange(4)).view(synchronizer=synchronizer)
    view[0] = 7
    assert view[:].tolist() == [7, 1, 2, 3]
