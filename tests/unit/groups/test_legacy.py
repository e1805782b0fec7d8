"""What groups could do in zarr-python 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr


@pytest.fixture
def filled(root: zarr.Group) -> zarr.Group:
    root.create_array("a/x", shape=(4,), dtype="int8")
    root.create_group("b")
    return root


def test_walks(filled: zarr.Group) -> None:
    paths: list[str] = []
    assert filled.visit(paths.append) is None
    assert paths == ["a", "a/x", "b"]
    assert filled.visititems(lambda path, node: node if path == "a/x" else None).shape == (4,)
    found: list[Any] = []
    filled.visitvalues(found.append)
    assert [node.path for node in found] == ["a", "a/x", "b"]
    assert filled.visitkeys(lambda path: path if path == "b" else None) == "b"


def test_items_and_values(filled: zarr.Group) -> None:
    assert [name for name, _ in filled.items()] == ["a", "b"]
    assert [node.path for node in filled.values()] == ["a", "b"]


def test_with_closes_the_store(tmp_path: Path) -> None:
    with zarr.open_group(zarr.storage.ZipStore(tmp_path / "a.zip", mode="w")) as group:
        group.create_group("a")
    assert list(zarr.open_group(f"{tmp_path}/a.zip", mode="r")) == ["a"]


@pytest.mark.parametrize(
    ("given", "chunks"),
    [
        ({"shape": (100,), "dtype": "int32", "chunks": (10,)}, (10,)),
        ({"shape": (100,), "dtype": "int32", "chunks": True}, (100,)),
        ({"shape": (100,), "dtype": "int32", "chunks": False}, (100,)),
        ({"shape": 100, "dtype": "int32", "chunks": False}, (100,)),
        ({"data": list(range(100)), "chunks": 7}, (7,)),
        ({"data": np.arange(100.0), "dtype": "int16", "compressor": None}, (100,)),
        ({"shape": 100, "dtype": "int32", "write_empty_chunks": True, "synchronizer": None}, (100,)),
    ],
)
def test_create_dataset(root: zarr.Group, given: dict[str, Any], chunks: Any) -> None:
    array = root.create_dataset("x", **given)
    assert array.shape == (100,)
    assert array.chunks == chunks
    if "data" in given:
        np.testing.assert_array_equal(array[:], np.arange(100))
        assert array.dtype == given.get("dtype", np.asarray(given["data"]).dtype)


def test_create_dataset_of_one_chunk_along_an_empty_axis(root: zarr.Group) -> None:
    assert root.create_dataset("x", shape=(0, 3), chunks=False).chunks == (1, 3)


def test_old_parameters_go_into_the_configuration(root: zarr.Group, tmp_path: Path) -> None:
    synchronizer = zarr.ProcessSynchronizer(str(tmp_path))
    given = {"order": "F"}
    array = root.create_dataset("x", shape=4, config=given, write_empty_chunks=True, synchronizer=synchronizer)
    assert (array.config.order, array.config.write_empty_chunks) == ("F", True)
    assert array.config.locking == f"process:{tmp_path}"
    assert given == {"order": "F"}


def test_dimension_separator(root: zarr.Group) -> None:
    root.create_dataset("x", data=np.arange(4).reshape(2, 2), chunks=(1, 1), dimension_separator="/")
    assert "x/1/0" in zarr.core.sync.collect_aiterator(root.store.list())


def test_require_dataset(root: zarr.Group) -> None:
    made = root.require_dataset("x", shape=(4,), dtype="int16", chunks=True)
    assert root.require_dataset("x", shape=(4,), dtype="int16") == made
    with pytest.raises(TypeError, match="shape"):
        root.require_dataset("x", shape=(5,), dtype="int16")


def test_array(root: zarr.Group) -> None:
    np.testing.assert_array_equal(root.array("x", [1, 2, 3])[:], [1, 2, 3])
