"""attrs get, set and unset."""

from __future__ import annotations

from pathlib import Path

import zarr
from tests.unit.cli.conftest import Run


def test_attributes(store: str, run: Run) -> None:
    place = f"{store}::a/x"
    assert run("attrs", "set", place, "long name=air temperature", "valid=[0, 400.5]", "n=1", "none=null").out == ""
    expected = {"units": "K", "long name": "air temperature", "valid": [0, 400.5], "n": 1, "none": None}
    assert dict(zarr.open_array(store, path="a/x", mode="r").attrs) == expected
    assert run("attrs", "get", place).json == expected
    assert run("attrs", "get", place, "units").out == "K\n"
    assert run("attrs", "get", place, "units", "--json").out == '"K"\n'
    assert run("attrs", "get", place, "valid").json == [0, 400.5]
    assert run("attrs", "unset", place, "valid", "none").out == ""
    assert run("attrs", "get", place).json == {"units": "K", "long name": "air temperature", "n": 1}
    assert run("attrs", "get", f"{store}::b").json == {}


def test_attributes_in_a_zip_file(store: str, run: Run, tmp_path: Path) -> None:
    archive = str(tmp_path / "x.zip")
    run("copy", store, archive)
    run("attrs", "set", f"{archive}::a/x", "units=degC")
    assert run("attrs", "get", f"{archive}::a/x", "units").out == "degC\n"


def test_what_goes_wrong(store: str, run: Run) -> None:
    assert "'title'" in run("attrs", "get", store, "titel", code=1).err
    run("attrs", "unset", store, "title", "titel", code=1)
    assert dict(zarr.open_group(store, mode="r").attrs) == {"title": "t"}  # all or nothing
    run("attrs", "set", store, "title", code=2)
    run("attrs", "set", store, code=2)
    run("attrs", "dance", store, code=2)
