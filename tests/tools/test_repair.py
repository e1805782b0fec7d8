"""``zarr.tools.repair`` says what it would do, does it, loses nothing, and leaves a hierarchy without the fault."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools import faults
from tests.tools.places import STORES, delete, edit, fill, get, keys, make_store, put
from zarr.errors import ReadOnlyError
from zarr.storage import LocalStore, MemoryStore, ZipStore
from zarr.tools import repair, verify

MENDED: list[faults.Plant] = [
    faults.not_json, faults.empty_document, faults.not_utf8, faults.list_document, faults.deep_document,
    faults.wrong_format, faults.no_shape, faults.negative_shape, faults.unknown_type, faults.wrong_fill,
    faults.wrong_separator, faults.missing_array, faults.missing_group, faults.parent_missing,
    faults.copy_of_old_attributes, faults.copy_lacks_node, faults.copy_has_gone_node, faults.copy_is_no_object,
    faults.copy_of_damage, faults.outside_grid, faults.misplaced_encoding,
    faults.stray_in_array, faults.stray_of_other_rank, faults.stray_leading_zero,
]  # fmt: skip
MENDED_2 = [faults.damaged_attributes, faults.copy_cut_off, faults.copy_of_other_version]
MENDED_3 = [
    faults.names_of_other_rank, faults.unknown_member, faults.no_node_type, faults.impossible_codecs,
    faults.inner_chunks_do_not_fit, faults.shard_outside_grid, faults.attributes_of_the_other_format,
    faults.copy_of_the_other_format,
]  # fmt: skip
CASES = [(plant, form) for form, plants in ((2, MENDED + MENDED_2), (3, MENDED + MENDED_3)) for plant in plants]
PLANTED = [
    pytest.param(plant, form, kind, id=f"{plant.__name__}-{form}-{kind}")
    for number, (plant, form) in enumerate(CASES)
    for turn, kind in enumerate(STORES)
    if kind == "memory" or number % 3 == turn
]
# Files in groups may be those of other programs.
LEFT_ALONE = [
    faults.truncated_plain, faults.truncated_compressed, faults.wrong_checksum, faults.flipped_index,
    faults.stray_in_group, faults.stray_in_root, faults.misplaced_separator,
]  # fmt: skip


def contents(store: Any) -> dict[str, bytes]:
    return {key: get(store, key) for key in keys(store)}


@pytest.mark.parametrize(("plant", "form", "kind"), PLANTED)
def test_mended(plant: faults.Plant, form: int, kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    fill(store, form)
    sound = contents(store)
    plant(store, form)
    before = contents(store)
    planned = repair(store)
    assert planned
    assert contents(store) == before  # by default, nothing is changed
    done = repair(store, dry_run=False)
    assert done == planned
    after = verify(store)
    assert after, str(after)
    assert repair(store) == []
    now = contents(store)
    kept = {key.partition(".zarr-repair/1/")[2]: value for key, value in now.items() if ".zarr-repair/1/" in key}
    for key, value in before.items():
        assert value in (now.get(key), kept.get(key)), key
    changed = {key for key in now if key in sound and now[key] != sound[key]}
    assert all(key.endswith(("zarr.json", ".zmetadata", ".zattrs", ".zarray", ".zgroup")) for key in changed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
        assert "a" in dict(zarr.open_group(store, mode="r", use_consolidated=False).members(max_depth=None))


@pytest.mark.parametrize("form", [2, 3])
def test_values_come_back_with_their_document(form: int) -> None:
    store = MemoryStore()
    fill(store, form)
    name = "a/zarr.json" if form == 3 else "a/.zarray"
    delete(store, name)
    changes = repair(store, dry_run=False)
    assert [(change.action, change.key) for change in changes][-1] == ("write", name)
    assert np.array_equal(zarr.open_array(store, path="a")[:], np.arange(1, 25).reshape(6, 4))


def test_attributes_come_back_with_the_document_of_an_array() -> None:
    store = MemoryStore()
    fill(store, 2)
    put(store, "g/.zattrs", b"{")
    repair(store, dry_run=False)
    assert dict(zarr.open_group(store, path="g", use_consolidated=False).attrs) == {"n": 1}
    assert get(store, ".zarr-repair/1/g/.zattrs") == b"{"


def test_sound_documents_that_are_newer_than_the_copy_stay() -> None:
    for damaged in (".zattrs", ".zarray"):
        store = MemoryStore()
        fill(store, 2)
        edit(store, "a/.zarray", lambda document: document.update(shape=[8, 4]))
        put(store, "a/.zattrs", {"new": 1})
        put(store, f"a/{damaged}", b"{")
        changes = repair(store, dry_run=False)
        assert [change.key for change in changes if change.action != "consolidate"] == [f"a/{damaged}"] * 2
        array = zarr.open_group(store, use_consolidated=False)["a"]
        assert (array.shape == (8, 4)) == (damaged == ".zattrs")
        assert ("new" in array.attrs) == (damaged == ".zarray")


def test_chunks_of_a_document_that_lost_its_separator_stay() -> None:
    store = MemoryStore()
    array = zarr.create_array(
        store, data=np.arange(1, 5).reshape(2, 2), chunks=(1, 1), zarr_format=2,
        chunk_key_encoding={"name": "v2", "separator": "/"}, fill_value=0,
    )  # fmt: skip
    edit(store, ".zarray", lambda document: document.pop("dimension_separator"))
    report = verify(store)
    assert report.counts == {"key-misplaced": 4}
    assert "separator" in report.faults[0].text
    assert repair(store, dry_run=False) == []
    edit(store, ".zarray", lambda document: document.update(dimension_separator="/"))
    np.testing.assert_array_equal(array[:], np.arange(1, 5).reshape(2, 2))


@pytest.mark.parametrize("plant", LEFT_ALONE, ids=lambda plant: plant.__name__)
def test_damaged_chunks_and_files_of_others_stay_as_they_are(plant: faults.Plant) -> None:
    store = MemoryStore()
    fill(store, 3)
    plant(store, 3)
    before = contents(store)
    assert repair(store, dry_run=False) == []
    assert contents(store) == before


def test_second_repair_does_not_touch_what_the_first_set_aside() -> None:
    store = MemoryStore()
    fill(store, 3)
    for content in (b"one", b"two"):
        put(store, "a/stray", content)
        (change,) = repair(store, dry_run=False)
    assert change.target == ".zarr-repair/2/a/stray"
    assert (get(store, ".zarr-repair/1/a/stray"), get(store, ".zarr-repair/2/a/stray")) == (b"one", b"two")
    assert verify(store)


def test_part_of_a_store(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "x")
    fill(store, 3)
    put(store, "g/b/stray", b"x")
    put(store, "a/stray", b"x")
    (change,) = repair(tmp_path / "x", path="g", dry_run=False)
    assert (change.key, change.target) == ("g/b/stray", "g/.zarr-repair/1/b/stray")
    assert (tmp_path / "x" / "g" / ".zarr-repair" / "1" / "b" / "stray").read_bytes() == b"x"
    assert [fault.key for fault in verify(tmp_path / "x").faults] == ["a/stray"]


def test_left_overs_in_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "x"
    fill(LocalStore(root), 3)
    (root / "a" / ".zarr.json.7ffffff0-1.partial").write_bytes(b"{")
    (root / "g" / ".zarr-locks").mkdir()
    (root / "g" / ".zarr-locks" / "0.node").touch()
    (root / "g" / f".0.{os.getpid():x}-2.partial").write_bytes(b"this one is being written")
    changes = repair(root, dry_run=False)
    assert sorted(change.key for change in changes) == ["a/.zarr.json.7ffffff0-1.partial", "g/.zarr-locks"]
    assert verify(root)
    assert (root / ".zarr-repair" / "1" / "a" / ".zarr.json.7ffffff0-1.partial").read_bytes() == b"{"
    assert (root / ".zarr-repair" / "1" / "g" / ".zarr-locks" / "0.node").exists()
    assert (root / "g" / f".0.{os.getpid():x}-2.partial").exists()


def test_many_faults_at_once() -> None:
    store = MemoryStore()
    fill(store, 3)
    for plant in (faults.not_json, faults.stray_leading_zero, faults.parent_missing, faults.misplaced_encoding):
        plant(store, 3)
    edit(store, "t/zarr.json", lambda document: document.update(attributes={"new": 1}))
    repair(store, dry_run=False)
    # The keys below an array whose document was damaged are looked at when it is put back.
    repair(store, dry_run=False)
    assert verify(store), str(verify(store))
    assert zarr.open_group(store)["t"].attrs["new"] == 1
    assert "h/i" in dict(zarr.open_group(store).members(max_depth=None))


def test_old_consolidated_metadata_are_kept() -> None:
    store = MemoryStore()
    fill(store, 3)
    faults.copy_lacks_node(store, 3)
    before = get(store, "zarr.json")
    (change,) = repair(store, dry_run=False)
    assert (change.action, change.key) == ("consolidate", "zarr.json")
    assert get(store, ".zarr-repair/1/zarr.json") == before


def test_read_only(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        fill(store, 3)
        put(store, "a/stray", b"x")
    only_read = ZipStore(tmp_path / "x.zip", mode="r")
    assert len(repair(only_read)) == 1
    with pytest.raises(ReadOnlyError, match="read-only"):
        repair(only_read, dry_run=False)


def test_a_change_is_one_line() -> None:
    store = MemoryStore()
    fill(store, 3)
    put(store, "a/stray", b"x")
    (change,) = repair(zarr.open_group(store))
    assert str(change).startswith("move a/stray to .zarr-repair/1/a/stray: the array /a has no chunk")
    assert "\n" not in str(change)


def test_a_sound_hierarchy_stays_as_it_is(tmp_path: Path) -> None:
    for form in (2, 3):
        store = LocalStore(tmp_path / str(form))
        fill(store, form)
        assert repair(store, dry_run=False) == []
        assert not (tmp_path / str(form) / ".zarr-repair").exists()
