"""save, load and the copies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import given, settings

import zarr
from zarr.errors import ContainsArrayError, CopyError
from zarr.storage import MemoryStore


def test_save_one_array(tmp_path: Path) -> None:
    zarr.save(tmp_path / "a", np.arange(4))
    np.testing.assert_array_equal(zarr.load(tmp_path / "a"), np.arange(4))
    with pytest.raises(ContainsArrayError):
        zarr.save_array(tmp_path / "a", np.arange(5))
    zarr.save_array(tmp_path / "a", np.arange(5), mode="w", chunks=(2,))
    assert zarr.open(tmp_path / "a").chunks == (2,)


def test_save_a_group_and_load_it_back(tmp_path: Path) -> None:
    zarr.save(tmp_path / "a", np.arange(4), np.zeros(2), k=np.ones(3))
    found = zarr.load(tmp_path / "a")
    assert sorted(found) == ["arr_0", "arr_1", "k"]
    np.testing.assert_array_equal(found["k"], np.ones(3))
    np.testing.assert_array_equal(zarr.load(tmp_path / "a", path="arr_0"), np.arange(4))
    zarr.save(tmp_path / "a", np.arange(2), np.arange(3), path="deep/er")
    assert "deep/er/arr_1" in zarr.load(tmp_path / "a")


@settings(max_examples=30, deadline=None)
@given(data=npst.arrays(npst.scalar_dtypes().filter(lambda d: d.kind not in "mMSU" and d.byteorder != ">"),
                        npst.array_shapes(max_dims=3, max_side=4)))  # fmt: skip
def test_what_is_saved_is_loaded(data: np.ndarray[Any, Any]) -> None:
    if data.dtype.char in "gG":
        return  # long doubles have no zarr type
    store: dict[str, Any] = {}
    zarr.save(store, data)
    np.testing.assert_array_equal(zarr.load(store), data)


def test_what_cannot_be_saved() -> None:
    with pytest.raises(ValueError, match="at least one array"):
        zarr.save({})
    with pytest.raises(ValueError, match="at least one array"):
        zarr.save_group({})
    with pytest.raises(TypeError, match="NDArrayLike"):
        zarr.save({}, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'a'"):
        zarr.save_group({}, a=[1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arr_0 already"):
        zarr.save_group(MemoryStore(), np.arange(3), arr_0=np.arange(4))


def test_save_a_zarr_array() -> None:
    store = MemoryStore()
    zarr.save(store, zarr.array([1, 2, 3]))  # type: ignore[arg-type]
    np.testing.assert_array_equal(zarr.load(store), [1, 2, 3])


def test_load_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        zarr.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        zarr.load({}, path="nothing")


@pytest.fixture
def source() -> zarr.Group:
    root = zarr.group(attributes={"title": "t"})
    root.create_array("a/x", data=np.arange(10), chunks=(3,), attributes={"k": 1})
    root.create_array("y", shape=(4,), dtype="int8", fill_value=7)
    return root


def test_copy_all(source: zarr.Group) -> None:
    dest = zarr.group()
    assert zarr.copy_all(source, dest) == (3, 0, 84)
    assert dest.attrs.asdict() == {"title": "t"}
    np.testing.assert_array_equal(dest["a/x"][:], np.arange(10))
    assert (dest["a/x"].chunks, dest["a/x"].attrs["k"], dest["y"][0]) == ((3,), 1, 7)
    with pytest.raises(ValueError, match="if_exists"):
        zarr.copy_all(source, dest)
    dest["y"][:] = 1
    assert zarr.copy_all(source, dest, if_exists="skip") == (1, 2, 0)
    assert dest["y"][0] == 1
    assert zarr.copy_all(source, dest, if_exists="replace") == (3, 0, 84)
    assert dest["y"][0] == 7


def test_copy(source: zarr.Group) -> None:
    dest = zarr.group()
    said: list[str] = []
    assert zarr.copy(source["a"], dest, name="b/c", log=said.append) == (2, 0, 80)
    assert said == [
        "copy /a", "copy /a/x (10,) int64", "all done: 2 copied, 0 skipped, 80 bytes copied",
    ]  # fmt: skip
    assert list(dest["b/c"]) == ["x"]
    assert zarr.copy(source["a/x"], dest, without_attrs=True, chunks=(5,)) == (1, 0, 80)
    assert (dest["x"].chunks, dest["x"].attrs.asdict()) == ((5,), {})
    assert zarr.copy(source, dest, name="all", shallow=True) == (2, 0, 4)
    assert list(dest["all"]) == ["y"]
    with pytest.raises(TypeError, match="name"):
        zarr.copy(source, dest)
    with pytest.raises(ValueError, match="if_exists"):
        zarr.copy(source["y"], dest, if_exists="perhaps")


@pytest.mark.parametrize(
    ("node", "name"), [("y", "y"), ("a/x", "a"), ("a", "a/b"), ("", "all")], ids=["itself", "above", "below", "root"]
)
def test_a_copy_onto_or_into_its_source_is_refused(source: zarr.Group, node: str, name: str) -> None:
    before = sorted(source.store._store_dict)
    with pytest.raises(ValueError, match="the same store"):
        zarr.copy(source[node], source, name=name, if_exists="replace")
    with pytest.raises(ValueError, match="the same store"):
        zarr.copy_all(source, source["a"], if_exists="replace")
    assert sorted(source.store._store_dict) == before
    assert zarr.copy(source["a/x"], source, name="a/x2") == (1, 0, 80)


def test_a_dry_run_copies_nothing(source: zarr.Group) -> None:
    dest = zarr.group()
    said: list[str] = []
    assert zarr.copy_all(source, dest, dry_run=True, log=said.append) == (3, 0, 0)
    assert all(line.startswith("dry run: ") for line in said)
    assert list(dest) == []


def test_copy_of_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("g/x", data=np.arange(6).reshape(2, 3), chunks=(1, 3))
        file["g"].attrs["k"] = "v"
        dest = zarr.group()
        assert zarr.copy(file["g"], dest) == (2, 0, 48)
    np.testing.assert_array_equal(dest["g/x"][:], np.arange(6).reshape(2, 3))
    assert dest["g/x"].chunks == (1, 3)
    assert dest["g"].attrs["k"] == "v"


def test_copy_store(source: zarr.Group, tmp_path: Path) -> None:
    copied, skipped, nbytes = zarr.copy_store(source.store, tmp_path / "a")
    assert (copied, skipped) == (len(zarr.core.sync.collect_aiterator(source.store.list())), 0)
    assert nbytes > 0
    np.testing.assert_array_equal(zarr.open(tmp_path / "a")["a/x"][:], np.arange(10))
    with pytest.raises(ValueError, match="if_exists"):
        zarr.copy_store(source.store, tmp_path / "a")
    assert zarr.copy_store(source.store, tmp_path / "a", if_exists="skip")[:2] == (0, copied)
    assert zarr.copy_store(source.store, tmp_path / "a", if_exists="replace")[:2] == (copied, 0)


def test_copy_of_some_keys(source: zarr.Group) -> None:
    dest = MemoryStore()
    zarr.copy_store(source.store, dest, source_path="a", dest_path="b", excludes="c/[0-9]", includes=r"c/0$")
    assert sorted(dest._store_dict) == ["b/x/c/0", "b/x/zarr.json", "b/zarr.json"]
    assert zarr.copy_store(source.store, {}, excludes="ZARR", flags=re.IGNORECASE, dry_run=True)[2] == 0


async def test_copies_from_coroutines(source: zarr.Group) -> None:
    dest = zarr.group()
    api = zarr.api.asynchronous
    assert await api.copy(source._async_group, dest._async_group, name="b") == (4, 0, 84)
    assert (await api.copy_all(source, zarr.group()))[0] == 3
    assert (await api.copy_store(source.store, {}))[0] > 0


def test_a_copy_onto_itself(source: zarr.Group) -> None:
    assert zarr.copy(source["y"], source, name="y", if_exists="skip") == (0, 1, 0)
    assert zarr.copy_all(source, source, if_exists="skip") == (1, 2, 0)
    with pytest.raises(CopyError):
        zarr.copy(source["y"], source, name="y")
    with pytest.raises(ValueError, match="of the same store"):
        zarr.copy(source["y"], source, name="y", if_exists="replace")
    np.testing.assert_array_equal(source["a/x"][:], np.arange(10))
