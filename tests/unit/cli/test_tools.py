"""The commands over ``zarr.tools``: other layouts, checks, repairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run
from zarr.tools.copies.jobs import FillRegion


def test_rechunk(run: Run, store: str, tmp_path: Path) -> None:
    target = f"{tmp_path}/b.zarr"
    assert "1. copy:" in run("rechunk", store, target, "--chunks", "10,2", "--dry-run").out
    assert not Path(target).exists()
    assert run("rechunk", store, target, "--chunks", "10,2").out.startswith(f"made {target} by ")
    assert zarr.open_array(target, path="a/x").chunks == (10, 2)
    assert "--overwrite" in run("rechunk", store, target, "--chunks", "5,-1", code=1).err
    assert "--yes" in run("rechunk", store, target, "--chunks", "5,-1", "--overwrite", code=1).err
    assert run("rechunk", store, target, "--chunks", "5,-1", "--overwrite", "--yes", "--json").json["made"] is True
    assert zarr.open_array(target, path="a/x").chunks == (5, 4)
    np.testing.assert_array_equal(zarr.open_array(target, path="a/x")[...], np.arange(40).reshape(10, 4))


def test_rechunk_into_a_zip_file(run: Run, store: str, tmp_path: Path) -> None:
    run("rechunk", f"{store}::a/x", f"{tmp_path}/x.zip", "--chunks", "2,2", "--shards", "4,4", "--codec", "zstd:1")
    array = zarr.open_array(tmp_path / "x.zip", mode="r")
    assert (array.chunks, array.shards) == ((2, 2), (4, 4))
    array.store.close()


def test_rechunk_by_processes(run: Run, store: str, tmp_path: Path) -> None:
    run("rechunk", f"{store}::a/x", f"{tmp_path}/x.zarr", "--chunks", "1,4", "--workers", "2", "--memory", "64")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "x.zarr")[...], np.arange(40).reshape(10, 4))


@pytest.mark.parametrize("words", [("--chunks", "1,x"), ("--chunks", ""), ("--chunks", "2,2", "--memory", "much"), ()])
def test_wrong_words(run: Run, store: str, tmp_path: Path, words: tuple[str, ...]) -> None:
    run("rechunk", store, f"{tmp_path}/b.zarr", *words, code=2)


def test_chunks_for_nothing(run: Run, store: str, tmp_path: Path) -> None:
    tools = ("rechunk", store, f"{tmp_path}/b.zarr"), ("convert", store, f"{tmp_path}/c.zarr", "--zarr-format", "2")
    for words in tools:
        assert "no array and no dimension 'row'" in run(*words, "--chunks", "row=2", code=1).err
        assert "as none of the arrays has: a/s, a/x" in run(*words, "--chunks", "2,2,2", code=1).err
    assert not list(tmp_path.glob("[bc].zarr"))


def test_a_job_that_was_stopped_says_how_it_goes_on(
    run: Run, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("rechunk", store, f"{tmp_path}/b.zarr", "--chunks", "1,4")
    calls: list[object] = []

    def stop(work: FillRegion, region: object) -> None:
        calls.append(region)
        if len(calls) == 2:
            raise KeyboardInterrupt
        copy_region(work, region)  # type: ignore[arg-type]

    copy_region = FillRegion.__call__
    monkeypatch.setattr(FillRegion, "__call__", stop)
    assert run(*words, code=130).err == "zarr: stopped: the same command with --resume goes on\n"
    assert "--resume goes on" in run(*words, code=1).err
    run(*words, "--resume")
    assert len(calls) == 3
    assert zarr.tools.checksum(f"{tmp_path}/b.zarr") == zarr.tools.checksum(store)


def test_onto_itself(run: Run, store: str) -> None:
    assert "lies within" in run("rechunk", store, f"{store}::b/c", "--chunks", "1,1", code=1).err


def test_reencode(run: Run, store: str, tmp_path: Path) -> None:
    run("reencode", f"{store}::a", f"{tmp_path}/b.zarr", "--codec", "gzip:9")
    assert "GzipCodec" in repr(zarr.open_array(tmp_path / "b.zarr", path="x").compressors)


def test_coarsen(run: Run, tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a", data=np.arange(64).reshape(8, 8), chunks=(2, 2))
    run("coarsen", f"{tmp_path}/a", f"{tmp_path}/p", "--method", "max", "--factors", "2,2")
    pyramid = zarr.open_group(tmp_path / "p")
    assert sorted(pyramid) == ["0", "1", "2"]
    assert pyramid["2"][1, 1] == 63
    assert "one of" in run("coarsen", f"{tmp_path}/a", f"{tmp_path}/q", "--method", "median", code=1).err
    run("coarsen", f"{tmp_path}/a", f"{tmp_path}/q", "--convention", "none", "--factors", "x", code=2)


def test_verify_and_repair(run: Run, store: str) -> None:
    assert "no fault found" in run("verify", store).out
    assert run("repair", store).out == "nothing to mend\n"
    Path(store, "a/x/notes.txt").write_text("x")
    assert "1 fault in" in run("verify", store, code=1).err
    found = run("verify", store, "--json", "--no-values", code=1).json
    assert (found["sound"], found["counts"]) == (False, {"key-stray": 1})
    assert "move a/x/notes.txt" in run("repair", store, "--dry-run").out
    assert "--yes" in run("repair", store, code=1).err
    assert Path(store, "a/x/notes.txt").exists()
    Path(store, "notes.txt").write_text("x")
    run("repair", store, "--yes")
    assert "the report says of each what to do" in run("verify", store, code=1).err
    Path(store, "notes.txt").unlink()
    Path(store, "a/x/notes.txt").write_text("x")
    assert run("repair", store, "--yes", "--json").json["changed"] is True
    assert Path(store, ".zarr-repair/2/a/x/notes.txt").read_text() == "x"
    run("verify", store)


def test_checksums(run: Run, store: str, tmp_path: Path) -> None:
    said = run("checksum", store).out
    run("rechunk", store, f"{tmp_path}/b.zarr", "--chunks", "1,1")
    assert run("checksum", f"{tmp_path}/b.zarr").out == said
    Path(tmp_path, "sum").write_text(said)
    run("verify", f"{tmp_path}/b.zarr", "--against", f"{tmp_path}/sum")
    zarr.open_array(tmp_path / "b.zarr", path="a/x")[0, 0] = 9
    assert "something else" in run("verify", f"{tmp_path}/b.zarr", "--against", f"{tmp_path}/sum", code=1).err
    Path(tmp_path, "sum").write_text(run("checksum", store, "--json").out)
    assert run("verify", store, "--against", f"{tmp_path}/sum", "--json").json["same_checksum"] is True
    Path(tmp_path, "empty").write_text("")
    assert "no checksum in" in run("verify", store, "--against", f"{tmp_path}/empty", code=1).err
    next(path for path in Path(store, "a/x/c").rglob("*") if path.is_file()).write_bytes(b"damage")
    found = run("verify", store, "--against", f"{tmp_path}/sum", "--json", code=1).json
    assert (found["counts"], found["same_checksum"]) == ({"chunk-truncated": 1}, None)


def test_diff(run: Run, store: str, tmp_path: Path) -> None:
    assert run("diff", store, store).out == ""
    run("copy", store, f"{tmp_path}/b.zip")
    assert run("diff", store, f"{tmp_path}/b.zip", "--json").json == {"equal": True, "differences": []}
    done = run("diff", f"{store}::a/x", f"{store}::a/s", code=1)
    assert "differ" in done.err
    assert "shape" in done.out


def test_stats(run: Run, store: str) -> None:
    assert [found["path"] for found in run("stats", store, "--json").json] == ["/a/s", "/a/x"]
    (found,) = run("stats", f"{store}::a/x", "--json", "--bins", "2").json
    assert (found["min"], found["max"], found["mean"], found["chunks"]) == (0, 39, 19.5, 2)
    assert sum(found["histogram"]["counts"]) == 40
    assert len(run("stats", store).out.splitlines()) == 2
    assert "#" in run("stats", store, "a/x", "--bins", "3").out
    assert json.loads(run("stats", f"{store}::b", "--json").out) == []


def test_workers_and_memory_of_tools_that_read(run: Run, store: str) -> None:
    more = ("--workers", "1", "--memory", "1 MiB")
    for words in (["verify", store], ["stats", store], ["checksum", store], ["diff", store, f"{store}::"]):
        assert run(*words, *more).out == run(*words).out
    run("stats", store, "--memory", "much", code=2)


@pytest.mark.parametrize(
    "words",
    [
        ("rechunk", "STORE", "PLACE", "--chunks", "5,-1", "--overwrite"), ("reencode", "STORE", "PLACE", "--overwrite"),
        ("convert", "STORE", "PLACE", "--zarr-format", "2", "--overwrite"), ("create", "PLACE", "--overwrite"),
        ("create", "PLACE", "--shape", "3", "--dtype", "i1", "--overwrite"),
        ("coarsen", "STORE::a/x", "PLACE", "--overwrite"), ("copy", "STORE::a/x", "PLACE", "--if-exists", "replace"),
        ("tune", "STORE::a/x", "--apply", "PLACE", "--overwrite"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_folder_of_other_files_is_not_replaced(
    run: Run, store: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/text").write_text("x")
    given = [word.replace("STORE", store).replace("PLACE", f"{tmp_path}/thesis") for word in words]
    assert "no node of Zarr" in run(*given, "--yes", code=1).err
    assert (tmp_path / "thesis/text").read_text() == "x"


@pytest.mark.parametrize("command", ["rechunk", "convert"])
def test_resume_asks_where_nothing_was_begun(
    run: Run, store: str, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"{tmp_path}/b.zarr"
    zarr.create_array(target, data=np.arange(3))
    more = ("--chunks", "1,4") if command == "rechunk" else ("--zarr-format", "2")
    words = (command, f"{store}::a/x", target, *more)
    assert "--yes" in run(*words, "--overwrite", "--resume", code=1).err
    assert zarr.open_array(target)[:].tolist() == [0, 1, 2]
    monkeypatch.setattr("zarr.tools.plans.plan.run_tasks", interrupt)
    run(*words, "--overwrite", "--yes", code=130)
    monkeypatch.undo()
    run(*words, "--overwrite", "--resume")  # what was begun goes on
    np.testing.assert_array_equal(zarr.open_array(target)[:], np.arange(40).reshape(10, 4))


def interrupt(*arguments: object) -> None:
    raise KeyboardInterrupt


def test_resume_of_another_job(run: Run, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"{tmp_path}/b.zarr"
    monkeypatch.setattr("zarr.tools.plans.plan.run_tasks", interrupt)
    run("rechunk", f"{store}::a/x", target, "--chunks", "1,4", code=130)
    monkeypatch.undo()
    assert "Another job" in run(
        "rechunk", f"{store}::a/s", target, "--chunks", "1", "--overwrite", "--resume", code=1
    ).err


def test_resume_of_a_file(run: Run, store: str, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"x")
    said = run("convert", f"{store}::a/x", f"{tmp_path}/a.npy", "--overwrite", "--resume", code=1).err
    assert "--yes" in said
    assert (tmp_path / "a.npy").read_bytes() == b"x"
