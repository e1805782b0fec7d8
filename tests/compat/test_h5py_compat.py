"""``zarr.h5py_compat``: one program with h5py and with ours, h5py's own tests, and what a reader of zarr finds."""

from __future__ import annotations

import importlib.metadata
import io
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
import zarr.h5py_compat as h5
from tests.compat.h5py_tour import tour
from tests.trust.together import run_together
from zarr.h5py_compat.base import from_json, to_json
from zarr.h5py_compat.dtypes import describe, guess, parse_description, to_elements, unpack
from zarr.storage import MemoryStore

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")


@pytest.fixture
def file() -> Any:
    with h5.File(MemoryStore(), "w") as opened:
        yield opened


def _told(h5py: Any, folder: Path) -> list[str]:
    lines: list[str] = []

    def say(*items: Any) -> None:
        out = io.StringIO()
        print(*items, file=out)
        lines.append(out.getvalue())

    folder.mkdir()
    tour(h5py, str(folder / "first.h5"), str(folder / "second.h5"), say)
    return lines


def test_one_program_prints_the_same_with_h5py_and_with_ours(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is the oracle here")
    assert _told(h5, tmp_path / "ours") == _told(h5py, tmp_path / "theirs")


def test_the_same_program_in_a_zip_file(tmp_path: Path) -> None:
    with h5.File(tmp_path / "a.zip", "w") as file:
        file.create_dataset("x/y", data=np.arange(5), chunks=(2,))
        file["x"].attrs["unit"] = "m"
    with h5.File(tmp_path / "a.zip") as file:
        assert file["x/y"][1:3].tolist() == [1, 2]
        assert dict(file["x"].attrs) == {"unit": "m"}
    with pytest.raises(FileExistsError, match="exists"):
        h5.File(tmp_path / "a.zip", "x")


@pytest.mark.slow
def test_the_tests_that_h5py_ships() -> None:
    try:
        version = importlib.metadata.version("h5py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("h5py is not installed: its tests are in its wheel")
    if not version.startswith("3.16."):
        pytest.skip(f"the count is that of the tests of h5py 3.16, and {version} is installed")
    sys.path.insert(0, str(ROOT / "ci"))
    try:
        import h5py_tests
    finally:
        sys.path.remove(str(ROOT / "ci"))
    counts = h5py_tests.run()
    assert counts.failures == {}
    assert counts.passed >= h5py_tests.AT_LEAST


DTYPES = [
    "<i4", ">f8", "c8", "?", "S3", "V5",
    h5.string_dtype(), h5.string_dtype("ascii"), h5.string_dtype("utf-8", 7), h5.vlen_dtype(np.dtype("f4")),
    h5.vlen_dtype(h5.string_dtype()), h5.enum_dtype({"A": 1, "B": 2}, "i2"), h5.opaque_dtype("M8[s]"),
    np.dtype([("a", "i4"), ("b", h5.string_dtype()), ("c", "f4", (2,))]), np.dtype("i4,f8,i2", align=True),
    np.dtype(("f4", (2, 3))), np.dtype(np.longdouble),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_described_type_comes_back_with_its_marks(dtype: Any) -> None:
    given = np.dtype(dtype)
    back = parse_description(describe(given))
    assert back == given
    assert describe(back) == describe(given)
    for check in (h5.check_string_dtype, h5.check_enum_dtype, h5.check_opaque_dtype):
        assert check(back) == check(given)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_dataset_of_every_type_is_reopened_with_it(tmp_path: Path, dtype: Any) -> None:
    given = np.dtype(dtype)
    with h5.File(tmp_path / "f", "w") as file:
        made = file.create_dataset("d", (2, 3), dtype=given)
        before = made[...]
        made[...] = before
    with h5.File(tmp_path / "f") as file:
        found = file["d"]
        assert found.dtype == given
        assert found.shape == (2, 3)
        assert describe(found.dtype) == describe(given)
        assert repr(found[...]) == repr(before)


VALUES = [
    1, 2.5, True, "text", b"bytes", np.float32(1.1), np.int8(-3), np.uint64(2**64 - 1), np.array([1, 2], "i2"),
    [1.5, 2.5], ["a", "bé"], np.array([b"x", b"yz"]), np.nan, np.array([np.inf, 1.0]), 1 + 2j, np.zeros((0, 3)),
    np.zeros((2, 2), "c8"), np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), np.float16(0.1),
    np.array([1, 2], ">f4"), np.longdouble(1) / 3,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_an_attribute_keeps_type_shape_and_value(file: Any, value: Any) -> None:
    file.attrs["v"] = value
    found = file.attrs["v"]
    expected = np.asarray(value)
    np.testing.assert_array_equal(np.asarray(found), expected if not isinstance(value, bytes) else "bytes")
    assert np.shape(found) == expected.shape
    if isinstance(value, np.ndarray | np.generic):
        assert found.dtype == value.dtype
    else:
        assert from_json(to_json(to_elements(value, guess(value), None), guess(value))) is not None


@pytest.mark.parametrize("value", [["a", 0], ["a", None], ["a", False]], ids=repr)
def test_what_is_no_string_never_becomes_one(file: Any, value: Any) -> None:
    with pytest.raises(TypeError, match="non-string"):
        file.create_dataset("s", data=value, dtype=h5.string_dtype())
    with pytest.raises(TypeError):
        file.attrs["s"] = value


def test_plain_values_are_plain_json_for_other_readers(file: Any) -> None:
    file.attrs.update(a=1, b=2.5, c="x", d=[1, 2], e=np.float32(1))
    stored = zarr.open_group(file.id.storage.root.store, mode="r").attrs.asdict()
    assert {key: stored[key] for key in "abcd"} == {"a": 1, "b": 2.5, "c": "x", "d": [1, 2]}
    assert stored["e"] == {"h5py_compat:value": {"dtype": "<f4", "shape": [], "data": [1.0]}}


def test_other_readers_see_arrays_strings_and_dimension_names(file: Any) -> None:
    data = file.create_dataset("a/t", data=np.arange(6.0).reshape(2, 3), chunks=(1, 3), compression="gzip")
    data.dims[1].label = "x"
    file["s"] = ["u", "v"]
    root = zarr.open_group(file.id.storage.root.store, mode="r")
    array = root["a/t"]
    assert isinstance(array, zarr.Array)
    assert array.metadata.dimension_names == (None, "x")
    assert array.chunks == (1, 3)
    np.testing.assert_array_equal(array[...], data[...])
    strings = root["s"]
    assert isinstance(strings, zarr.Array)
    assert strings[...].tolist() == ["u", "v"]


def test_any_zarr_hierarchy_opens(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "z", mode="w")
    root.create_array("g/a", data=np.arange(10), chunks=(5,))
    root.create_array("s", data=np.array(["a", "b"], dtype=np.dtypes.StringDType()))
    with h5.File(tmp_path / "z") as file:
        assert sorted(file) == ["g", "s"]
        assert file["g/a"].chunks == (5,)
        assert file["g/a"][[1, 3]].tolist() == [1, 3]
        assert file["s"][0] == b"a"


def test_what_is_not_ours_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OSError, match="no zarr group"):
        h5.File(tmp_path, "w")
    with pytest.raises(OSError, match="not a zarr hierarchy"):
        h5.File(tmp_path / "notes.txt", "w")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_maxshape_is_kept_and_holds(tmp_path: Path) -> None:
    with h5.File(tmp_path / "f", "w") as file:
        file.create_dataset("d", (2, 3), maxshape=(4, None), dtype="i4")
    with h5.File(tmp_path / "f", "r+") as file:
        file["d"].resize((4, 100))
        with pytest.raises(RuntimeError, match="maxshape allows 4"):
            file["d"].resize((5, 100))
        assert file["d"].maxshape == (4, None)


@pytest.mark.parametrize(
    ("attempt", "match"),
    [
        (lambda f: f.__setitem__("b", f["a"]), "hard link"),
        (lambda f: f["a"].ref, "references"),
        (lambda f: f["a"].regionref, "references"),
        (lambda f: f.create_dataset("x", (1,), "f4", external="y"), "external"),
        (lambda f: f.create_dataset("x", (1,), "f4", track_times=True), "times"),
        (lambda f: f.create_dataset("x", (1,), "f4", fill_time="never"), "fill_time"),
        (lambda f: f.create_dataset("x", (4,), "f4", compression="szip"), "SZIP"),
        (lambda f: f.copy("a", "c", expand_refs=True), "references"),
        (lambda f: f.attrs.get_id("unit"), "identifier"),
        (lambda f: h5.File("x", "w", driver="core"), "driver"),
        (lambda f: h5.File(io.BytesIO(), "w"), "file object"),
        (lambda f: setattr(f, "swmr_mode", True), "SWMR"),
    ],
)
def test_what_a_hierarchy_has_no_place_for_is_refused_by_name(file: Any, attempt: Any, match: str) -> None:
    file["a"] = [1, 2]
    file.attrs["unit"] = "m"
    with pytest.raises(h5.UnsupportedFeature, match=match):
        attempt(file)


def test_selections_agree_with_numpy(file: Any) -> None:
    rng = np.random.default_rng(5)
    data = rng.integers(0, 100, (7, 5, 6))
    found = file.create_dataset("d", data=data, chunks=(3, 2, 4))
    for _ in range(150):
        picks: list[Any] = []
        for length in data.shape:
            start, stop = sorted(rng.integers(-length, length + 1, 2))
            pick = slice(int(start), int(stop), int(rng.integers(1, 4)))
            picks.append(int(start) % length if rng.random() < 0.5 else pick)
        if rng.random() < 0.5:
            axis = int(rng.integers(0, 3))
            rest = [slice(None) if isinstance(pick, int) else pick for pick in picks]
            rest[axis] = sorted(rng.choice(data.shape[axis], 3, replace=False).tolist())
            picks = rest
        index = tuple(picks)
        np.testing.assert_array_equal(found[index], data[index])
        block = rng.integers(0, 100, data[index].shape)
        data[index] = block
        found[index] = block
    np.testing.assert_array_equal(found[...], data)


def test_objects_follow_a_move_and_end_with_their_file(tmp_path: Path) -> None:
    with h5.File(tmp_path / "f", "w") as file:
        file["g/d"] = [1, 2]
        held = file["g/d"]
        file.move("g", "h")
        assert held.name == "/h/d"
        assert held[...].tolist() == [1, 2]
    assert not held
    assert repr(held) == "<Closed HDF5 dataset>"
    with pytest.raises(ValueError, match="closed"):
        held[...]


@pytest.mark.parametrize("kind", [{"compression": "lzf"}, {"shuffle": True, "fletcher32": True}, {"compression": 9}])
def test_filters_are_codecs_and_are_found_again(tmp_path: Path, kind: dict[str, Any]) -> None:
    data = np.arange(1000).reshape(10, 100)
    with h5.File(tmp_path / "f", "w") as file:
        names = file.create_dataset("d", data=data, **kind).filter_names
    with h5.File(tmp_path / "f") as file:
        np.testing.assert_array_equal(file["d"][...], data)
        assert file["d"].filter_names == names
        assert len(names) == len(file["d"].id.array.compressors)


@pytest.mark.parametrize(("source", "dest"), [("a", "a/b"), ("a", "a/c/d"), ("/", "r")])
def test_a_copy_into_its_source_is_no_part_of_itself(source: str, dest: str) -> None:
    with h5.File(MemoryStore(), "w") as file:
        file["a/x"] = np.arange(3)
        file.create_group("a/c")
        before: list[str] = []
        file[source].visit(before.append)
        file.copy(source, dest)
        copied: list[str] = []
        file[dest].visit(copied.append)
        assert copied == before
        assert list(file["a/x"][...]) == [0, 1, 2]


@pytest.mark.parametrize("kind", [str, np.dtype("i4"), h5.vlen_dtype(str)], ids=["text", "numbers", "texts"])
def test_damaged_lengths_of_packed_values_are_errors(kind: Any) -> None:
    dtype = h5.vlen_dtype(kind) if kind is not str else h5.string_dtype()
    for raw in ((2**32 - 1).to_bytes(4, "little") + b"abc", (5).to_bytes(4, "little") + b"abc"):
        with pytest.raises(ValueError, match=r"bytes|buffer"):
            unpack(raw, 0, dtype)


def test_a_copy_ends_where_a_link_leads_to_what_is_copied(file: Any) -> None:
    file.create_dataset("a/b/x", data=np.arange(3))
    file.create_dataset("other/y", data=np.arange(4))
    file["a/b/up"] = h5.SoftLink("/a")
    file["a/side"] = h5.SoftLink("/other")
    file["other/back"] = h5.SoftLink("/a/b")
    file.copy("a", "c", expand_soft=True)
    assert isinstance(file["c/b"].get("up", getlink=True), h5.SoftLink)
    assert isinstance(file["c"].get("side", getlink=True), h5.HardLink)
    assert file["c/side/y"][...].tolist() == [0, 1, 2, 3]
    assert file["c/side/back/x"][...].tolist() == [0, 1, 2]


def test_the_file_behind_a_link_is_closed_with_the_last_object_of_it(tmp_path: Path) -> None:
    with h5.File(tmp_path / "other.zip", "w") as other:
        other["g/x"] = np.arange(3)
    with h5.File(tmp_path / "between", "w") as between:
        between["on"] = h5.ExternalLink("other.zip", "/g")
    with h5.File(tmp_path / "first", "w") as file:
        file["link"] = h5.ExternalLink("between", "/on")
        file["nowhere"] = h5.ExternalLink("other.zip", "/none")
        group = file["link"]
        data = group["x"]
        data[0] = 7
        with pytest.raises(KeyError):
            file["nowhere"]
        group.id.close()
        assert data
        assert not group
        data.id.close()
        # Closed, a zip file is whole: anybody may read it while these objects are still referred to.
        assert not data.id.storage.opened
        with h5.File(tmp_path / "other.zip", "r") as other:
            assert other["g/x"][...].tolist() == [7, 1, 2]
        assert file


def test_threads_that_change_one_group_lose_no_link_and_no_place() -> None:
    with h5.File(MemoryStore(), "w", track_order=True) as file:
        file["scale"], file["data"] = np.arange(3), np.zeros((3, 3))
        file["scale"].make_scale("s")

        def change(number: int) -> None:
            for i in range(4):
                file[f"link{number}.{i}"] = h5.SoftLink("/data")
                file.create_group(f"{number}.{i}")
            file["data"].dims[number % 2].attach_scale(file["scale"])

        run_together([partial(change, number) for number in range(4)])
        names = {f"{kind}{number}.{i}" for kind in ("link", "") for number in range(4) for i in range(4)}
        assert set(file) == names | {"scale", "data"}
        assert [name for name in file if name.startswith("1.")] == [f"1.{i}" for i in range(4)]
        assert sorted(file.id.storage.notes("")["order"]) == sorted(file)
        assert [len(dimension) for dimension in file["data"].dims] == [1, 1]
        for name in ("link0.0", "link3.3"):
            del file[name]
        assert set(file) == (names | {"scale", "data"}) - {"link0.0", "link3.3"}


def test_objects_that_another_thread_opens_while_one_is_moved() -> None:
    with h5.File(MemoryStore(), "w") as file:
        group, storage = file.create_group("a"), file.id.storage

        def open_more() -> None:
            for number in range(20_000):
                storage.identities[number] = group.id

        thread = threading.Thread(target=open_more)
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            thread.start()
            while thread.is_alive():
                storage.moved("b", "c")
        finally:
            sys.setswitchinterval(before)
            thread.join(60)
