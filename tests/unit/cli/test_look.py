"""info, tree, ls, stat and du."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run


def test_files_of_other_formats_are_read_in_place(run: Run, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    data = np.arange(12, dtype="f4").reshape(3, 4)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("g/x", data=data, chunks=(2, 2), compression="gzip").attrs["units"] = "K"
    place = f"{tmp_path}/a.h5"
    assert run("tree", place).out.splitlines() == ["/", "└── g", "    └── x (3, 4) float32"]
    assert run("cat", f"{place}::g/x", "--select", "1", "--format", "json").json == data[1].tolist()
    assert run("cat", f"{place}::/g/x", "--part", "attributes", "--json").json == {"units": "K"}
    assert run("stats", f"{place}::g", "--json").json[0]["max"] == 11
    assert "no fault" in run("verify", place).out
    run("copy", f"{place}::g", f"{tmp_path}/b.zarr")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr", path="x", mode="r")[...], data)
    assert "zarr convert" in run("attrs", "set", place, "a=1", code=1).err


def test_an_unlimited_dimension_is_no_reason_for_a_warning(run: Run, tmp_path: Path) -> None:
    h5netcdf = pytest.importorskip("h5netcdf", reason="h5netcdf is not installed")
    with h5netcdf.File(tmp_path / "a.nc", "w") as file:
        file.dimensions = {"time": None}
        file.resize_dimension("time", 3)
        file.create_variable("time", ("time",), "i4", data=np.arange(3))
    done = run("tree", f"{tmp_path}/a.nc")
    assert "time (3,) int32" in done.out
    assert done.err == ""


def test_tree(store: str, run: Run) -> None:
    assert run("tree", store).out == "/\n├── a\n│   ├── s (8,) uint8\n│   └── x (10, 4) int32\n└── b\n"
    assert run("tree", store, "--level", "0").out == "/\n├── a\n└── b\n"
    assert run("tree", store, "a/x").out == "/a/x (10, 4) int32\n"
    nested = run("tree", store, "--json").json
    assert nested["name"] == "/"
    assert [member["name"] for member in nested["members"]] == ["a", "b"]
    assert nested["members"][0]["members"][1] == {
        "name": "x", "kind": "array", "shape": [10, 4], "dtype": "int32", "chunks": [5, 4]
    }  # fmt: skip
    assert nested["members"][1]["members"] == []


def test_ls(store: str, run: Run) -> None:
    assert run("ls", store).out == "a\nb\n"
    assert run("ls", "-l", store, "a").out == "array  s  (8,)     uint8  (2,)\narray  x  (10, 4)  int32  (5, 4)\n"
    assert run("ls", f"{store}::b").out == ""
    assert run("ls", f"{store}::a/x").out == "x\n"
    assert run("ls", store, "--json").json == [{"name": "a", "kind": "group"}, {"name": "b", "kind": "group"}]
    assert run("ls", f"{store}::b", "--json").json == []


def test_info(store: str, run: Run) -> None:
    assert "title: 't'" in run("info", store).out
    assert "Shape" in run("info", f"{store}::/a/x").out
    said = run("info", store, "--json").json
    assert said == {
        "path": "/", "kind": "group", "zarr_format": 3, "arrays": 2, "groups": 2, "attributes": {"title": "t"}
    }  # fmt: skip
    assert run("info", store, "a/x", "--json").json["attributes"] == {"units": "K"}


def test_stat_says_how_much_of_an_array_is_stored(store: str, run: Run) -> None:
    said = run("stat", store, "a/s", "--json").json
    array = zarr.open_array(store, path="a/s", mode="r")
    assert said.pop("bytes_stored") == array.nbytes_stored()
    assert said.pop("codecs")[0] == {"name": "bytes"}
    assert said == {
        "path": "/a/s", "kind": "array", "zarr_format": 3, "shape": [8], "dtype": "uint8", "fill_value": 7,
        "dimension_names": None, "chunks": [2], "shards": [4], "bytes": 8, "shards_stored": 1, "shards_total": 2,
    }  # fmt: skip
    assert "shards stored  1 of 2\n" in run("stat", store, "a/s").out
    text = run("stat", f"{store}::a/x").out
    assert "codecs         bytes(endian=little)\n" in text
    assert "chunks stored  2 of 2\n" in text
    assert "zarr du" in run("stat", store, code=1).err


def test_stat_of_format_2_and_of_chunks_that_differ(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "v2.zarr")
    zarr.create_array(place, shape=(4,), dtype="f4", zarr_format=2, fill_value=float("nan"))
    said = run("stat", place, "--json").json
    assert said["codecs"] == [{"id": "zstd", "level": 0, "checksum": False}]
    assert said["fill_value"] == "NaN"
    assert "zstd(level=0, checksum=False)" in run("stat", place).out
    place = str(tmp_path / "variable.zarr")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        zarr.create_array(place, shape=(4,), dtype="f4", chunks=[[1, 3]])
        assert run("stat", place, "--json").json["chunks"] is None
        assert "chunks         variable\n" in run("stat", place).out
        assert run("ls", "-l", place).out.endswith("variable\n")


def test_du_counts_what_lies_in_the_folder(store: str, run: Run) -> None:
    said = run("du", store, "--json").json
    sizes = {node["path"]: node["bytes"] for node in said["nodes"]}
    for path, size in sizes.items():
        files = [file for file in (Path(store) / path.strip("/")).rglob("*") if file.is_file()]
        assert size == sum(file.stat().st_size for file in files)
    assert said["total"] == sizes["/"]
    assert set(sizes) == {"/", "/a", "/a/x", "/a/s", "/b"}
    lines = run("du", store, "--depth", "1").out.splitlines()
    assert [line.split()[1] for line in lines] == ["/", "/a", "/b", "total"]
    assert run("du", f"{store}::a/x").out.splitlines()[-1].split() == [str(sizes["/a/x"]), "total"]
    assert "K" in run("du", "-h", store).out


def test_a_zip_file_and_a_store_of_fsspec(store: str, tmp_path: Path, run: Run) -> None:
    archive = str(tmp_path / "data.zip")
    run("copy", store, archive)
    assert run("tree", archive).out == run("tree", store).out
    assert run("du", archive, "--json").json["nodes"][0]["path"] == "/"
    remote = f"memory://{tmp_path.name}/data.zarr"
    run("copy", store, remote)
    assert run("tree", remote).out == run("tree", store).out
    assert run("stat", f"{remote}::a/x", "--json").json == run("stat", f"{store}::a/x", "--json").json
