"""Nodes that are made by the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run


def test_a_group(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "data.zarr")
    assert run("create", place, "--attr", "title=ten days", "--attr", "valid=[0, 1]").out == ""
    assert dict(zarr.open_group(place, mode="r").attrs) == {"title": "ten days", "valid": [0, 1]}
    run("create", f"{place}::a/b", "--zarr-format", "3")
    assert [name for name, _ in zarr.open_group(place, mode="r").members(None)] == ["a", "a/b"]


def test_an_array(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "data.zarr")
    run(
        "create", place, "x", "--shape", "100,50", "--dtype", "f4", "--chunks", "10,10", "--shards", "50,50",
        "--fill-value", "NaN", "--codec", "zstd:5", "--codec", "crc32c", "--attr", "units=K",
        "--dimension-names", "lat,lon",
    )  # fmt: skip
    array = zarr.open_array(place, path="x", mode="r")
    assert (array.shape, array.chunks, array.shards, array.dtype) == ((100, 50), (10, 10), (50, 50), np.dtype("f4"))
    assert np.isnan(array.fill_value)
    assert [codec.to_dict()["name"] for codec in array.compressors] == ["zstd", "crc32c"]
    assert array.compressors[0].to_dict()["configuration"]["level"] == 5
    assert array.metadata.dimension_names == ("lat", "lon")
    assert dict(array.attrs) == {"units": "K"}


@pytest.mark.parametrize(
    ("codecs", "zarr_format", "expected"),
    [
        (["none"], 3, []),
        (["none"], 2, []),
        (["gzip:2"], 3, [{"name": "gzip", "configuration": {"level": 2}}]),
        (["zlib:2"], 2, [{"id": "zlib", "level": 2}]),
        (['{"name": "zstd", "configuration": {"level": 3}}'], 3, [
            {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
        ]),
    ],
)  # fmt: skip
def test_codecs(tmp_path: Path, run: Run, codecs: list[str], zarr_format: int, expected: object) -> None:
    place = str(tmp_path / "x.zarr")
    options = [word for codec in codecs for word in ("--codec", codec)]
    run("create", place, "--shape", "4", "--dtype", "i4", "--zarr-format", str(zarr_format), *options)
    array = zarr.open_array(place, mode="r")
    found = [codec.to_dict() if zarr_format == 3 else codec.get_config() for codec in array.compressors]
    assert found == expected


def test_filters_and_serializers_go_to_their_places(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "x.zarr")
    transpose = '{"name": "transpose", "configuration": {"order": [1, 0]}}'
    big = '{"name": "bytes", "configuration": {"endian": "big"}}'
    shape = ["--shape", "4,2", "--dtype", "i4"]
    run("create", place, *shape, "--codec", transpose, "--codec", big, "--codec", "zstd")
    array = zarr.open_array(place, mode="r")
    assert [codec.to_dict()["name"] for codec in array.filters] == ["transpose"]
    assert array.serializer.to_dict()["configuration"] == {"endian": "big"}
    place = str(tmp_path / "v2.zarr")
    delta = '{"id": "delta", "dtype": "<i4"}'
    run("create", place, *shape, "--zarr-format", "2", "--codec", delta, "--codec", "zstd:1")
    array = zarr.open_array(place, mode="r")
    assert [codec.codec_id for codec in array.filters] == ["delta"]


def test_wrong_usage(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "x.zarr")
    run("create", place, "--dtype", "f4", code=2)
    run("create", place, "--shape", "4", code=2)
    run("create", place, "--shape", "4,x", "--dtype", "f4", code=2)
    run("create", place, "--attr", "title", code=2)
    run("create", place, "--shape", "4", "--dtype", "f4", "--codec", "lz4:fast", code=2)
    run("create", place, "--shape", "4", "--dtype", "f4", "--codec", "{x", code=2)
    run("create", place, "--shape", "4", "--dtype", "f4", "--codec", '{"id": "zstd"}', code=2)
    assert "nonsense" in run("create", place, "--shape", "4", "--dtype", "f4", "--codec", "nonsense", code=1).err
    run("create", place, "--shape", "4", "--dtype", "nonsense", code=1)
    assert not Path(place).exists()


def test_overwriting_asks(store: str, run: Run) -> None:
    assert "--overwrite" in run("create", store, code=1).err
    refused = run("create", store, "--overwrite", code=1).err
    assert "4 nodes below it" in refused
    assert "--yes" in refused
    run("create", store, "--overwrite", code=1, answer="n\n")
    assert "x" in zarr.open_group(store, mode="r")["a"]
    assert "Remove the group" in run("create", f"{store}::a", "--overwrite", answer="y\n").err
    assert list(zarr.open_group(store, mode="r")["a"]) == []
    run("create", store, "--overwrite", "--yes")
    assert list(zarr.open_group(store, mode="r")) == []
    run("create", f"{store}::new", "--overwrite")  # nothing is there, so nothing is asked


def test_the_format_is_that_of_the_hierarchy(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "v2.zarr")
    run("create", place, "--zarr-format", "2")
    run("create", f"{place}::x", "--shape", "4", "--dtype", "i4", "--codec", "zlib:2")
    assert run("ls", place).out == "x\n"
    assert zarr.open_array(place, path="x", mode="r").metadata.zarr_format == 2
    assert "--overwrite" in run("create", place, "--zarr-format", "3", code=1).err
    run("create", place, "--zarr-format", "3", "--overwrite", "--yes")
    assert zarr.open_group(place, mode="r").metadata.zarr_format == 3
    assert not (tmp_path / "v2.zarr" / ".zgroup").exists()
