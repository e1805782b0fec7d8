"""copy, move, rm and consolidate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run

VALUES = np.arange(40, dtype="i4").reshape(10, 4)


def nodes(store: str) -> list[str]:
    root = zarr.open_group(store, mode="r")
    try:
        return [name for name, _ in root.members(None)]
    finally:
        root.store.close()


# --------------------------------------------------------------------------------------------------- copy


@pytest.mark.parametrize("name", ["new.zarr", "new.zip"])
def test_copy_a_hierarchy(store: str, run: Run, tmp_path: Path, name: str) -> None:
    dest = str(tmp_path / name)
    said = run("copy", store, dest, "--json").json
    assert said == {"copied": 4, "skipped": 0, "bytes": 168}
    root = zarr.open_group(dest, mode="r")
    np.testing.assert_array_equal(root["a/x"][:], VALUES)
    assert root["a/s"].shards == (4,)
    assert dict(root.attrs) == {"title": "t"}
    assert dict(root["a/x"].attrs) == {"units": "K"}
    root.store.close()


def test_a_new_store_gets_the_bytes_as_they_are(store: str, run: Run, tmp_path: Path) -> None:
    def files(folder: Path) -> dict[Path, bytes]:
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    run("copy", store, str(tmp_path / "whole.zarr"))
    run("copy", f"{store}::a", str(tmp_path / "part.zarr"))
    assert files(tmp_path / "whole.zarr") == files(Path(store))
    assert files(tmp_path / "part.zarr") == files(Path(store) / "a")


def test_copy_parts(store: str, run: Run, tmp_path: Path) -> None:
    run("copy", f"{store}::a/x", "::c/y")
    np.testing.assert_array_equal(zarr.open_array(store, path="c/y", mode="r")[:], VALUES)
    alone = str(tmp_path / "alone.zarr")
    assert run("copy", f"{store}::a/x", alone).out == "1 copied, 0 skipped, 160 bytes of values\n"
    array = zarr.open_array(alone, mode="r")
    np.testing.assert_array_equal(array[:], VALUES)
    assert dict(array.attrs) == {"units": "K"}
    archive = str(tmp_path / "x.zip")
    run("copy", f"{store}::a", f"{archive}::deep/a")
    assert nodes(archive) == ["deep", "deep/a", "deep/a/s", "deep/a/x"]
    run("copy", f"{archive}::deep/a/x", "::deep/y")
    assert "deep/y" in nodes(archive)
    run("copy", f"{store}::a", f"memory://{tmp_path.name}/m.zarr::b")
    assert run("ls", f"memory://{tmp_path.name}/m.zarr::b").out == "s\nx\n"


def test_copy_keeps_the_format(run: Run, tmp_path: Path) -> None:
    old, new = str(tmp_path / "v2.zarr"), str(tmp_path / "new.zarr")
    zarr.open_group(old, mode="w", zarr_format=2).create_array("x", data=VALUES)
    run("copy", old, new)
    assert zarr.open_group(new, mode="r").metadata.zarr_format == 2
    run("create", str(tmp_path / "v3.zarr"))
    run("copy", f"{old}::x", f"{tmp_path / 'v3.zarr'}::x")
    assert zarr.open_array(tmp_path / "v3.zarr", path="x", mode="r").metadata.zarr_format == 3


def test_what_is_there_already(store: str, run: Run, tmp_path: Path) -> None:
    dest = str(tmp_path / "new.zarr")
    zarr.open_group(dest, mode="w").create_array("a/x", shape=3, dtype="i1")
    assert "--if-exists" in run("copy", store, dest, code=1).err
    assert nodes(dest) == ["a", "a/x"]  # nothing was copied before the refusal
    assert run("copy", store, dest, "--if-exists", "skip", "--json").json["skipped"] == 1
    assert zarr.open_array(dest, path="a/x", mode="r").shape == (3,)
    assert "--yes" in run("copy", store, dest, "--if-exists", "replace", code=1).err
    assert zarr.open_array(dest, path="a/x", mode="r").shape == (3,)
    run("copy", store, dest, "--if-exists", "replace", "--yes")
    np.testing.assert_array_equal(zarr.open_array(dest, path="a/x", mode="r")[:], VALUES)
    alone = str(tmp_path / "alone.zarr")
    zarr.create_array(alone, shape=3, dtype="i1")
    assert "--overwrite" in run("copy", f"{store}::a/x", alone, code=1).err
    run("copy", f"{store}::a/x", alone, "--if-exists", "skip")
    assert zarr.open_array(alone, mode="r").shape == (3,)
    run("copy", f"{store}::a/x", alone, "--if-exists", "replace", answer="y\n")
    assert zarr.open_array(alone, mode="r").shape == (10, 4)
    run("copy", store, dest, "--if-exists", "never", code=2)


def test_a_copy_onto_itself(store: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(Path(store).rglob("*"))
    for source, dest in [
        (store, store),
        ("data.zarr", "./data.zarr"),
        ("data.zarr::a", "data.zarr/a"),
        (f"{store}::a", "::a/b"),
        (f"{store}::a/x", "::a"),
        (f"{store}::a/x", f"file://{store}::a"),
    ]:
        assert "within" in run("copy", source, dest, "--if-exists", "replace", "--yes", code=1).err
        assert "within" in run("move", source, dest, "--yes", code=1).err
    assert sorted(Path(store).rglob("*")) == before


# --------------------------------------------------------------------------------------------------- move


def test_move(store: str, run: Run, tmp_path: Path) -> None:
    assert run("move", f"{store}::a/x", "::c/y").out == ""
    assert nodes(store) == ["a", "a/s", "b", "c", "c/y"]
    np.testing.assert_array_equal(zarr.open_array(store, path="c/y", mode="r")[:], VALUES)
    run("move", f"{store}::c", f"{store}::a/c")
    assert "a/c/y" in nodes(store)
    dest = str(tmp_path / "other.zip")
    run("move", f"{store}::a", f"{dest}::a")
    assert nodes(store) == ["b"]
    assert nodes(dest) == ["a", "a/c", "a/c/y", "a/s"]
    whole = str(tmp_path / "whole.zarr")
    run("move", dest, whole)
    assert not Path(dest).exists()
    assert nodes(whole) == ["a", "a/c", "a/c/y", "a/s"]


def test_move_onto_something(store: str, run: Run) -> None:
    assert "the array" in run("move", f"{store}::b", "::a/x", code=1).err
    assert "a/x" in nodes(store)
    run("move", f"{store}::nothing", "::a/x", "--yes", code=1)
    assert "a/x" in nodes(store)
    run("move", f"{store}::b", "::a/x", "--yes")
    assert nodes(store) == ["a", "a/s", "a/x"]
    assert isinstance(zarr.open(store, path="a/x", mode="r"), zarr.Group)


# ----------------------------------------------------------------------------------------------------- rm


def test_rm(store: str, run: Run) -> None:
    refused = run("rm", f"{store}::a", code=1).err
    assert "2 nodes below it, and all else that lies there" in refused
    assert "--yes" in refused
    run("rm", store, "a", code=1, answer="n\n")
    assert nodes(store) == ["a", "a/s", "a/x", "b"]
    run("rm", store, "a/x", answer="y\n")
    assert nodes(store) == ["a", "a/s", "b"]
    run("rm", f"{store}::a", "-y")
    assert nodes(store) == ["b"]
    assert "does not exist" not in run("rm", store, "a", "-y", code=1).err
    run("rm", store, "--yes")
    assert not Path(store).exists()
    assert "does not exist" in run("rm", store, "--yes", code=1).err


def test_rm_in_a_zip_file_and_of_it(store: str, run: Run, tmp_path: Path) -> None:
    archive = str(tmp_path / "x.zip")
    run("copy", store, archive)
    run("rm", f"{archive}::a/x", "--yes")
    assert nodes(archive) == ["a", "a/s", "b"]
    run("rm", archive, "--yes")
    assert not Path(archive).exists()


def test_rm_in_a_store_of_fsspec(store: str, run: Run, tmp_path: Path) -> None:
    remote = f"memory://{tmp_path.name}/r.zarr"
    run("copy", store, remote)
    run("rm", f"{remote}::a/x", "--yes")
    assert run("ls", f"{remote}::a").out == "s\n"
    run("rm", remote, "--yes")
    run("ls", remote, code=1)


# -------------------------------------------------------------------------------------------- consolidate


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidate(tmp_path: Path, run: Run, zarr_format: int) -> None:
    place = str(tmp_path / "data.zarr")
    root = zarr.open_group(place, mode="w", zarr_format=zarr_format, attributes={"title": "t"})
    root.create_array("a/x", shape=3, dtype="i1")
    run("consolidate", place)
    assert zarr.open_consolidated(place)["a/x"].shape == (3,)
    run("rm", f"{place}::a/x", "--yes")
    assert list(zarr.open_consolidated(place)["a"]) == []  # the copy is kept up to date
    run("consolidate", place, "--remove")
    with pytest.raises(ValueError, match="onsolidated"):
        zarr.open_consolidated(place)
    assert dict(zarr.open_group(place, mode="r").attrs) == {"title": "t"}
    assert list(zarr.open_group(place, mode="r")) == ["a"]
    run("consolidate", place, "--remove")  # there is none: nothing to do
    run("consolidate", place, "a")
    assert zarr.open_group(place, mode="r", path="a").metadata.consolidated_metadata is not None


def test_consolidate_an_array(store: str, run: Run) -> None:
    assert "is an array" in run("consolidate", store, "a/x", code=1).err


def test_the_option_of_other_commands_is_not_meant(store: str, run: Run, tmp_path: Path) -> None:
    said = run("copy", store, str(tmp_path / "new.zarr"), "--overwrite", code=2).err
    assert "No such option: --overwrite, say --if-exists replace (see zarr" in said


@pytest.mark.parametrize("whole", [True, False])
def test_move_of_nodes_that_consolidated_metadata_lack(whole: bool, store: str, run: Run, tmp_path: Path) -> None:
    run("consolidate", store)
    zarr.create_array(tmp_path / "y", data=VALUES)
    (tmp_path / "y").rename(tmp_path / "data.zarr/y")
    dest = str(tmp_path / "new.zarr")
    if not whole:
        run("create", dest)
    run("move", store, dest if whole else f"{dest}::b")
    np.testing.assert_array_equal(zarr.open_array(dest, path="y" if whole else "b/y")[:], VALUES)
    assert not (tmp_path / "data.zarr").exists()


def test_copy_within_a_store_of_nodes_that_consolidated_metadata_lack(store: str, run: Run, tmp_path: Path) -> None:
    run("consolidate", store)
    zarr.create_array(tmp_path / "y", data=VALUES)
    (tmp_path / "y").rename(tmp_path / "data.zarr/a/y")
    run("copy", f"{store}::a", "::c")
    np.testing.assert_array_equal(zarr.open_array(store, path="c/y")[:], VALUES)


@pytest.mark.parametrize("name", ["a/notes.txt", "a/x/notes.txt", "extra/notes.txt"])
def test_move_keeps_files_that_are_no_nodes(name: str, store: str, run: Run, tmp_path: Path) -> None:
    note = Path(store, name)
    note.parent.mkdir(exist_ok=True)
    note.write_text("x")
    dest = str(tmp_path / "new.zarr")
    run("create", dest)
    assert f"({name})" in run("move", store, f"{dest}::b", code=1).err
    run("create", f"{dest}::b", "--shape", "3", "--dtype", "i1")
    assert f"({name})" in run("move", store, f"{dest}::b", "--yes", code=1).err
    assert nodes(dest) == ["b"]  # what is in the way was not removed before the refusal
    assert note.read_text() == "x"
    whole = str(tmp_path / "whole.zarr")
    run("move", store, whole)  # as it is stored, with all files
    assert Path(whole, name).read_text() == "x"
    assert not Path(store).exists()


def test_skip_copies_what_a_stopped_copy_has_begun(
    store: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zarr._cli.cli import main

    dest, alone = str(tmp_path / "new.zarr"), str(tmp_path / "alone.zarr")
    run("create", dest)
    Path(alone).mkdir()
    Path(alone, "README").write_text("x")

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(zarr.Array, "__setitem__", stop)
    assert main(["copy", f"{store}::a", f"{dest}::b"]) == 130
    assert main(["copy", f"{store}::a/x", alone]) == 130
    monkeypatch.undo()
    assert run("verify", dest, "--json", code=1).json["counts"] == {"left-over-job": 1}
    assert run("copy", f"{store}::a", f"{dest}::b", "--if-exists", "skip", "--json").json["skipped"] == 0
    assert run("copy", f"{store}::a", f"{dest}::b", "--if-exists", "skip", "--json").json["skipped"] == 2
    run("copy", f"{store}::a/x", alone, "--if-exists", "skip")
    for place in (f"{dest}/b/x", alone):
        np.testing.assert_array_equal(zarr.open_array(place)[:], VALUES)
    run("verify", dest)


def test_skip_leaves_a_job_that_can_go_on(
    store: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dest = str(tmp_path / "new.zarr")
    run("create", dest)

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("zarr.tools.plans.plan.run_tasks", stop)
    words = ("rechunk", f"{store}::a/x", f"{dest}::x", "--chunks", "1,1")
    run(*words, code=130)
    monkeypatch.undo()
    assert "--resume" in run("copy", f"{store}::a/x", f"{dest}::x", "--if-exists", "skip", code=1).err
    run(*words, "--resume")
    np.testing.assert_array_equal(zarr.open_array(dest, path="x")[:], VALUES)


def test_copy_keeps_dimension_names(store: str, run: Run, tmp_path: Path) -> None:
    root = zarr.open_group(store)
    root.create_array("named", data=VALUES, dimension_names=("y", "x"))
    run("copy", f"{store}::named", "::b/named")
    assert zarr.open_array(store, path="b/named").metadata.dimension_names == ("y", "x")
