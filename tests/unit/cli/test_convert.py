"""``zarr convert``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run


def test_there_and_back(run: Run, store: str, tmp_path: Path) -> None:
    done = run("convert", store, str(tmp_path / "a.npz"))
    assert done.out.splitlines() == [
        f"made {tmp_path / 'a.npz'}",
        "not carried:",
        "  /: attributes (title): files of NumPy have none",
        "  /a/x: attributes (units): files of NumPy have none",
        "  /b: the group: npz files have arrays only",
    ]
    told = run("convert", f"{tmp_path / 'a.npz'}::a/x", str(tmp_path / "x.zip"), "--chunks", "3,-1", "--json").json
    assert (told["made"], told["losses"]) == (True, [])
    array = zarr.open_array(tmp_path / "x.zip", mode="r")
    assert array.chunks == (3, 4)
    np.testing.assert_array_equal(array[:], np.arange(40).reshape(10, 4))


def test_dry_run(run: Run, store: str, tmp_path: Path) -> None:
    done = run("convert", store, str(tmp_path / "b.zarr"), "--zarr-format", "2", "--codec", "zlib:3", "--dry-run")
    assert done.out.splitlines()[0] == "convert to Zarr format 2"
    assert done.out.splitlines()[-2:] == [
        "cannot be carried:",
        "  /a/s: shards: format 2 has none, its chunks are stored one by one",
    ]
    assert not (tmp_path / "b.zarr").exists()


@pytest.mark.parametrize("name", ["a.npz", "b.zarr"])
def test_it_asks_before_it_replaces(run: Run, store: str, tmp_path: Path, name: str) -> None:
    words = ("convert", store, str(tmp_path / name), "--zarr-format", "2")
    run(*words)
    assert "--overwrite" in run(*words, code=1).err
    assert "Replace" in run(*words, "--overwrite", answer="n", code=1).err
    run(*words, "--overwrite", "--yes")


def test_unknown_formats(run: Run, store: str, tmp_path: Path) -> None:
    said = run("convert", store, str(tmp_path / "a"), "--to", "doc", code=1).err
    assert "there is no format 'doc': there are hdf5" in said
    (tmp_path / "a.bin").write_bytes(b"hello")
    assert "is of no known format" in run("convert", str(tmp_path / "a.bin"), str(tmp_path / "c.zarr"), code=1).err


def test_references(run: Run, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(6)
    run("convert", str(tmp_path / "a.h5"), str(tmp_path / "a.json"), "--virtual")
    assert zarr.open_array(tmp_path / "a.json", path="x", mode="r")[2:4].tolist() == [2, 3]


def test_opening_a_file_tells_how_to_convert_it(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    assert "convert it by zarr convert" in run("tree", str(tmp_path / "a.npy"), code=1).err
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    pytest.importorskip("h5py", reason="h5py is not installed")
    assert "a.h5 cannot be read as HDF5" in run("tree", str(tmp_path / "a.h5"), code=1).err
    with pytest.raises(FileNotFoundError, match=r"convert it with zarr\.tools\.convert"):
        zarr.open(tmp_path / "a.h5", mode="r")


def test_chunks_that_are_chosen(run: Run, tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=np.zeros((1000, 10)), chunks=(1, 1))
    run("convert", str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr"), "--zarr-format", "2", "--chunks", "auto")
    assert zarr.open_array(tmp_path / "b.zarr").chunks[0] > 1
    run("convert", str(tmp_path / "a.zarr"), str(tmp_path / "c.zarr"), "--chunks", "large", code=2)


def test_an_array_that_is_no_table(run: Run, tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=np.zeros((3, 2)))
    said = run("convert", str(tmp_path / "a.zarr"), str(tmp_path / "a.csv"), code=1).err
    assert "it is no array of one dimension, and no column" in said
    assert ".zarr-convert" not in said
