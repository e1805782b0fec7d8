"""Values, attributes and documents as text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run

VALUES = np.arange(40, dtype="i4").reshape(10, 4)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("0:10,1", VALUES[0:10, 1]),
        ("-1", VALUES[-1]),
        ("::2", VALUES[::2]),
        ("..., 0", VALUES[..., 0]),
        ("[0,3],1:3", VALUES[[0, 3], 1:3]),
        ("[0,3],[1,2]", VALUES[np.ix_([0, 3], [1, 2])]),
        ("3,2", VALUES[3, 2]),
    ],
)
def test_selections_are_those_of_numpy(store: str, run: Run, tmp_path: Path, selection: str, expected: object) -> None:
    file = tmp_path / "values.npy"
    assert run("cat", store, "a/x", "--select", selection, "--format", "npy", "-o", str(file)).out == ""
    np.testing.assert_array_equal(np.load(file), expected)
    said = run("cat", f"{store}::a/x", "--select", selection, "--json").json
    np.testing.assert_array_equal(said, expected)


def test_formats(store: str, run: Run) -> None:
    place = f"{store}::a/x"
    assert run("cat", place, "--select", "0:2").out == "[[0 1 2 3]\n [4 5 6 7]]\n"
    assert run("cat", place, "--select", "1,1").out == "5\n"
    assert run("cat", place, "--select", "0:2", "--format", "csv").out == "0,1,2,3\n4,5,6,7\n"
    assert run("cat", place, "--select", "0", "--format", "csv").out == "0\n1\n2\n3\n"
    assert run("cat", place, "--select", "1,1", "--format", "csv").out == "5\n"
    assert run("cat", place, "--select", "0:2,1", "--format", "json").out == "[1, 5]\n"


@pytest.mark.parametrize(
    ("values", "as_csv", "as_json"),
    [
        (np.array([0.1, np.nan, np.inf], dtype="f4"), "0.1\nnan\ninf\n", [float(np.float32(0.1)), "NaN", "Infinity"]),
        (np.array([1 + 2j]), "(1+2j)\n", [[1.0, 2.0]]),
        (np.array([True, False]), "True\nFalse\n", [True, False]),
        (np.array(["2001-02-03", "NaT"], dtype="M8[D]"), "2001-02-03\nNaT\n", ["2001-02-03", "NaT"]),
        (np.array(["ä", "b,c"], dtype="U3"), 'ä\n"b,c"\n', ["ä", "b,c"]),
        (np.array([b"ab", b"c"]), "ab\nc\n", ["ab", "c"]),
        (
            np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("v", "f8")]),
            "n,v\n1,2.5\n3,4.5\n",
            [{"n": 1, "v": 2.5}, {"n": 3, "v": 4.5}],
        ),
    ],
    ids=lambda value: str(getattr(value, "dtype", ""))[:8],
)
@pytest.mark.filterwarnings("ignore")
def test_data_types(tmp_path: Path, run: Run, values: np.ndarray, as_csv: str, as_json: object) -> None:
    place = str(tmp_path / "x.zarr")
    zarr.create_array(place, data=values)
    assert run("cat", place, "--format", "csv").out == as_csv
    assert run("cat", place, "--json").json == as_json


def test_text_of_any_length(tmp_path: Path, run: Run) -> None:
    place = str(tmp_path / "x.zarr")
    array = zarr.create_array(place, shape=(2,), dtype="string")
    array[:] = np.array(["a", "long text"], dtype=object)
    assert run("cat", place, "--json").json == ["a", "long text"]
    run("cat", place, "--format", "npy", "-o", str(tmp_path / "x.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.array(["a", "long text"]))


def test_documents(store: str, run: Run, tmp_path: Path) -> None:
    assert run("cat", f"{store}::a/x", "--part", "attributes").json == {"units": "K"}
    stored = (Path(store) / "a" / "x" / "zarr.json").read_text()
    assert run("cat", f"{store}::a/x", "--part", "metadata").out.rstrip() == stored.rstrip()
    assert run("cat", store, "--part", "metadata").json["node_type"] == "group"
    old = str(tmp_path / "v2.zarr")
    zarr.create_array(old, shape=3, dtype="i1", zarr_format=2)
    assert run("cat", old, "--part", "metadata").out.rstrip() == (Path(old) / ".zarray").read_text().rstrip()
    file = tmp_path / "document.json"
    run("cat", store, "--part", "metadata", "--output", str(file))
    assert json.loads(file.read_text())["attributes"] == {"title": "t"}


def test_what_cannot_be_printed(store: str, run: Run) -> None:
    assert "--part" in run("cat", store, code=1).err
    assert "out of bounds" in run("cat", store, "a/x", "--select", "10", code=1).err
    root = zarr.open_group(store)
    root.create_array("cube", data=np.zeros((2, 2, 2)))
    assert "--select" in run("cat", f"{store}::cube", "--format", "csv", code=1).err
    for wrong in ("foo", "1:2:3:4", "[1,", "1.5", "", "[]x"):
        run("cat", store, "a/x", "--select", wrong, code=2)
    run("cat", store, "a/x", "--part", "attributes", "--select", "0", code=2)
    run("cat", store, "a/x", "--json", "--format", "csv", code=2)
    run("cat", f"{store}::a", "x", code=2)
