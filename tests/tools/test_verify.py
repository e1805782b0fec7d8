"""``zarr.tools.verify`` finds what was planted, each fault by its kind and key, in any store; and nothing else."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools import faults
from tests.tools.places import STORES, delete, edit, fill, get, keys, make_store, put
from zarr.codecs import GzipCodec
from zarr.core.sync import sync
from zarr.storage import FsspecStore, LocalStore, MemoryStore, ZipStore
from zarr.tools import repair, verify
from zarr.tools.verification import report as reports

DEAD = "7ffffff0"  # no process has this number


def found(report: Any) -> list[tuple[str, str]]:
    return [(fault.kind, fault.key) for fault in report.faults]


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("form", [2, 3])
def test_sound(kind: str, form: int, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    fill(store, form)
    before = keys(store)
    report = verify(store)
    assert report, str(report)
    assert (report.nodes, report.chunks) == ((5, 12) if form == 2 else (7, 18))
    assert "no fault found" in str(report)
    assert keys(store) == before


# All in memory; in folders and zip files, which take longer, one of three each.
PLANTED = [
    pytest.param(plant, form, kind, id=f"{plant.__name__}-{form}-{kind}")
    for number, (plant, form) in enumerate(faults.CASES)
    for turn, kind in enumerate(STORES)
    if kind == "memory" or number % 3 == turn
]


@pytest.mark.parametrize(("plant", "form", "kind"), PLANTED)
def test_planted(plant: faults.Plant, form: int, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    fill(store, form)
    expected = plant(store, form)
    report = verify(store)
    assert not report
    assert expected in found(report), str(report)
    fault = next(fault for fault in report.faults if (fault.kind, fault.key) == expected)
    assert len(str(fault).splitlines()) == 1
    assert expected[0] in str(report)
    others = {kind for kind, _ in found(report)} - {expected[0]}
    # What follows from a fault: copies of changed documents, documents of nodes that are not where they were.
    allowed = {"copy-stale", "parent-missing", "document-missing", "document-invalid", "chunk-undecodable"}
    assert others <= (allowed | {"chunk-outside-grid"} if plant is faults.boolean_length else allowed), str(report)


def test_enough_is_planted() -> None:
    assert len(PLANTED) > 130
    assert len({plant for plant, _ in faults.CASES}) >= 60


def test_through_fsspec(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    fill(LocalStore(tmp_path / "x"), 3)
    store = FsspecStore.from_url(f"file://{tmp_path / 'x'}")
    assert verify(store), str(verify(store))
    put(store, "stray", b"x")
    assert found(verify(store)) == [("key-stray", "stray")]


def test_a_path_and_a_part_of_it(tmp_path: Path) -> None:
    fill(LocalStore(tmp_path / "x"), 3)
    put(LocalStore(tmp_path / "x"), "a/stray", b"x")
    assert found(verify(str(tmp_path / "x"))) == [("key-stray", "a/stray")]
    assert verify(tmp_path / "x", path="g")
    assert verify(tmp_path / "x", path="g").nodes == 2
    assert found(verify(zarr.open_array(tmp_path / "x", path="a"))) == [("key-stray", "a/stray")]


def test_nothing_is_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "none")
    assert found(verify(MemoryStore())) == [("no-node", "zarr.json")]
    assert found(verify(MemoryStore(), path="a")) == [("no-node", "a/zarr.json")]


def test_several_hierarchies_and_other_things_in_a_store() -> None:
    store = MemoryStore()
    for path in ("x/one", "y/two"):
        zarr.create_array(store, name=path, shape=4, chunks=2, dtype="i4")[:] = 1
    for path in ("x/zarr.json", "y/zarr.json", "zarr.json"):
        delete(store, path)
    put(store, "README.md", b"no part of any of them")
    assert verify(store), str(verify(store))


@pytest.mark.parametrize("sample", [3, 0.5, 1.0, 1000])
def test_samples(sample: Any) -> None:
    store = MemoryStore()
    zarr.create_array(store, shape=400, chunks=2, dtype="i4", compressors=None)[:] = 1
    report = verify(store, sample=sample)
    assert report
    low, high = {3: (3, 3), 0.5: (50, 150), 1.0: (200, 200), 1000: (200, 200)}[sample]
    assert low <= report.chunks <= high


def test_samples_find_faults() -> None:
    store = MemoryStore()
    zarr.create_array(store, shape=20, chunks=2, dtype="i4", compressors=None)[:] = 1
    for at in range(10):
        put(store, f"c/{at}", b"x")
    assert [fault.kind for fault in verify(store, sample=2).faults] == ["chunk-truncated"] * 2


@pytest.mark.parametrize("sample", [0, -1, 0.0, 1.5, True, "1", float("nan")])
def test_samples_that_mean_nothing(sample: Any) -> None:
    with pytest.raises(ValueError, match="sample must be"):
        verify(MemoryStore(), sample=sample)


def test_without_values() -> None:
    store = MemoryStore()
    fill(store, 3)
    put(store, "a/c/0/0", b"x")
    put(store, "a/stray", b"x")
    report = verify(store, values=False)
    assert found(report) == [("key-stray", "a/stray")]
    assert report.chunks == 0


def test_report_for_programs() -> None:
    store = MemoryStore()
    fill(store, 3)
    put(store, "x", b"x")
    document = json.loads(json.dumps(verify(store).to_json()))
    assert document["sound"] is False
    assert document["counts"] == {"key-stray": 1}
    assert document["faults"][0].keys() == {"kind", "key", "path", "text", "mendable"}


def test_no_more_faults_are_listed_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MOST_LISTED", 3)
    store = MemoryStore()
    fill(store, 3)
    for at in range(5):
        put(store, f"x{at}", b"x")
    report = verify(store)
    assert (len(report.faults), report.counts["key-stray"]) == (3, 5)
    assert str(report).endswith("and 2 more")


def test_every_kind_is_documented() -> None:
    table = verify.__doc__ or ""
    assert all(f"``{kind}``" in table for kind in reports.Kind.__args__)


# --------------------------------------------------------------------------------------------- left-overs


def test_values_of_dead_writers_in_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "x"
    fill(LocalStore(root), 3)
    (root / "a" / f".zarr.json.{DEAD}-1.partial").write_bytes(b"{")
    (root / "g" / f".0.{os.getpid():x}-2.partial").write_bytes(b"this one is being written")
    (root / "a" / "c" / "0" / ".x.0123456789abcdef0123456789abcdef.partial").write_bytes(b"of zarr-python")
    expected = [
        ("left-over-value", f"a/.zarr.json.{DEAD}-1.partial"),
        ("left-over-value", "a/c/0/.x.0123456789abcdef0123456789abcdef.partial"),
    ]
    assert sorted(found(verify(root))) == expected
    assert (root / "a" / f".zarr.json.{DEAD}-1.partial").exists()  # nothing is changed


def test_a_new_root_beside_the_old_one(tmp_path: Path) -> None:
    fill(LocalStore(tmp_path / "x"), 3)
    (tmp_path / f".x.{DEAD}-3.partial").mkdir()
    assert found(verify(tmp_path / "x")) == [("left-over-value", f"../.x.{DEAD}-3.partial")]


def test_a_new_zip_file_beside_the_old_one(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        fill(store, 3)
    (tmp_path / f".x.zip.{DEAD}-3.partial").write_bytes(b"PK")
    assert found(verify(tmp_path / "x.zip")) == [("left-over-value", f"../.x.zip.{DEAD}-3.partial")]


def test_lock_folders(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    root = tmp_path / "x"
    fill(LocalStore(root), 3)
    (root / "a" / ".zarr-locks").mkdir()
    (root / "a" / ".zarr-locks" / "0.node").touch()
    assert found(verify(root)) == [("left-over-locks", "a/.zarr-locks")]
    with open(root / "a" / ".zarr-locks" / "0.node") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert verify(root)


def test_journals(tmp_path: Path) -> None:
    root = tmp_path / "x"
    store = LocalStore(root)
    fill(store, 3)
    (root / ".zarr-journal").mkdir()
    (root / ".zarr-journal" / f"owner.{os.getpid():x}").touch()
    assert verify(store)  # the transaction is under way
    (root / ".zarr-journal" / f"owner.{os.getpid():x}").rename(root / ".zarr-journal" / f"owner.{DEAD}")
    assert found(verify(store)) == [("left-over-journal", ".zarr-journal")]
    (root / ".zarr-journal" / "list.json").write_bytes(b"{")
    for path in (root / ".zarr-journal").iterdir():
        path.unlink()
    assert verify(root)  # who opens the folder clears it


@pytest.mark.parametrize("kind", ["memory", "zip"])
def test_left_overs_among_keys(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    fill(store, 3)
    put(store, f"a/.0.{DEAD}-1.partial", b"x")
    put(store, "a/.zarr-locks/0.node", {"owner": None, "beat": 1, "seconds": 20.0})
    put(store, "g/.zarr-locks/0.node", {"owner": "somebody", "beat": 1, "seconds": 20.0})
    put(store, ".zarr-journal/values/a", b"x")
    put(store, ".zarr-journal/list", b"x")
    assert sorted(found(verify(store))) == [
        ("left-over-journal", ".zarr-journal"),
        ("left-over-locks", "a/.zarr-locks/0.node"),
        ("left-over-value", f"a/.0.{DEAD}-1.partial"),
    ]


# ------------------------------------------------------------------------------------------------ hostile


def test_a_value_that_is_a_folder(tmp_path: Path) -> None:
    fill(LocalStore(tmp_path / "x"), 3)
    os.mkfifo(tmp_path / "x" / "a" / "c" / "0" / "2")
    (tmp_path / "x" / "a" / "c" / "0" / "0").unlink()
    os.mkfifo(tmp_path / "x" / "a" / "c" / "0" / "0")
    report = verify(tmp_path / "x")
    assert ("key-unreadable", "a/c/0/0") in found(report), str(report)


def test_enormous_claims_take_no_time() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, name="a", shape=(2**40, 2**20), chunks=(2**30, 2**10), dtype="f8")
    put(store, "a/c/0/0", b"abc")
    assert found(verify(store)) == [("chunk-too-large", "a/c/0/0")]
    sharded = zarr.create_array(store, name="s", shape=2**50, chunks=1, shards=2**40, dtype="u1")
    put(store, "s/c/0", b"abc")
    assert ("shard-index", "s/c/0") in found(verify(store, path="s"))
    assert array.size > sharded.size


NO_NODES = ["../x", "/etc", "a//b", "a/c", "a/c/0", "./g", "g/..", ".zarr-repair/1/a", "\ud800", ""]


@pytest.mark.parametrize("name", NO_NODES)
@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_copies_that_name_what_can_be_no_node(name: str, form: int, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    fill(store, form)
    put(store, ".zarr-repair/1/a/x", b"x")

    def change(document: dict[str, Any]) -> None:
        table = (document["consolidated_metadata"] if form == 3 else document)["metadata"]
        part = ("a" if form == 3 else "a/.zarray", name if form == 3 else f"{name}/.zarray")
        table[part[1]] = table[part[0]]

    edit(store, "zarr.json" if form == 3 else ".zmetadata", change)
    before = keys(store)
    assert {kind for kind, _ in found(verify(store))} <= {"copy-stale"}
    repair(store, dry_run=False)
    assert verify(store)
    assert [key for key in keys(store) if not key.startswith(".zarr-repair/2")] == before


def test_names_are_shown_escaped() -> None:
    store = MemoryStore()
    fill(store, 3)
    put(store, "a/x\n\x1b[2J", b"x")
    (fault,) = verify(store).faults
    (change,) = repair(store)
    assert str(fault).isprintable()
    assert str(change).isprintable()
    assert len(str(verify(store)).splitlines()) == 2
    assert fault.key == "a/x\n\x1b[2J"


def test_a_shard_of_nothing_but_damage_is_told_once() -> None:
    store = MemoryStore()
    array = zarr.create_array(store, shape=4000, chunks=1, shards=2000, dtype="i4", compressors=GzipCodec())
    array[:] = np.arange(1, 4001)
    data = get(store, "c/0")
    put(store, "c/0", bytes(len(data) - 2000 * 16 - 4) + data[-2000 * 16 - 4 :])
    report = verify(store)
    assert set(report.counts) == {"chunk-undecodable"}
    assert 1 <= report.counts["chunk-undecodable"] <= 100


def test_zip_files_that_are_only_read(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        fill(store, 2)
        put(store, "junk", b"x")
    assert found(verify(ZipStore(tmp_path / "x.zip", mode="r"))) == [("key-stray", "junk")]


def test_nothing_is_told_but_in_the_report() -> None:
    store = MemoryStore()
    fill(store, 3)
    put(store, "g/.zgroup", {"zarr_format": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(verify(store)) == [("two-formats", "g/.zgroup")]


def test_rectilinear_grids_are_checked() -> None:
    store = MemoryStore()
    with zarr.config.set({"array.rectilinear_chunks": True}):
        zarr.create_array(store, shape=6, chunks=[[1, 2, 3]], dtype="i2", compressors=None)[:] = 1
    assert verify(store)
    put(store, "c/1", b"abc")
    assert found(verify(store)) == [("chunk-truncated", "c/1")]
    sync(store.clear())
