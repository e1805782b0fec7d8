"""A copy is not read again where its file is known to be the one that was stored last: as true as with reading."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.errors import ZarrUserWarning
from zarr.metadata import copies
from zarr.steps import consolidated
from zarr.storage import LocalStore, LoggingStore
from zarr.storage.local import files

STEP_SECONDS = 0.02
"""At least one step of the clock of file times."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files have no time of change there")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently", category=ZarrUserWarning)
        yield
    copies._kept.clear()


def slowly(path: str, data: memoryview, *, fsync: bool = False, exclusive: bool = False) -> bool:
    """Store a document as a large one is stored: the clock advances while it is written."""

    def fill(fd: int) -> None:
        files.write_all(fd, data)
        if os.path.basename(path) in ("zarr.json", ".zmetadata") and b'"metadata"' in data.tobytes():
            time.sleep(STEP_SECONDS)

    return files.replace_file(path, fill, fsync=fsync, exclusive=exclusive)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys that are read; documents with a copy take some time to be written."""
    read: list[str] = []
    get = LocalStore.get_sync

    def noted(self: Any, key: str, **options: Any) -> Any:
        if options.get("byte_range") is None:
            read.append(key)
        return get(self, key, **options)

    monkeypatch.setattr(LocalStore, "get_sync", noted)
    monkeypatch.setattr(files, "write_file", slowly)
    return read


def consolidated_group(store: Any, zarr_format: Any = 3) -> zarr.Group:
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"title": "aaaa"})
    root.create_array("x", shape=(4,), dtype="int8")
    return zarr.consolidate_metadata(store)


def check_true(folder: Path) -> None:
    """The copy says what the folder holds."""
    seen = [
        {name: node.attrs.asdict() for name, node in group.members(max_depth=None)}
        for group in (zarr.open_group(folder, use_consolidated=known) for known in (True, False))
    ]
    assert seen[0] == seen[1]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_document_that_was_stored_here_is_not_read_again(tmp_path: Path, reads: list[str], zarr_format: Any) -> None:
    array = consolidated_group(tmp_path, zarr_format)["x"]
    key = "zarr.json" if zarr_format == 3 else ".zmetadata"
    array.attrs["n"] = 0  # the text of ``consolidate_metadata`` is not kept
    assert key in reads
    reads.clear()
    for number in range(3):
        array.attrs["n"] = number
    assert key not in reads
    check_true(tmp_path)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_large_document_is_not_read_again_however_fast_it_is_written(tmp_path: Path, zarr_format: Any) -> None:
    root = consolidated_group(tmp_path, zarr_format)
    root["x"].attrs["long"] = "a" * 70_000
    place = tmp_path / ("zarr.json" if zarr_format == 3 else ".zmetadata")
    stamps = set()
    for number in range(20):
        root["x"].attrs["n"] = number
        stamps.add(files.fresh_stamp(str(place)))
        assert copies._kept[-1].stamp == files.fresh_stamp(str(place)) is not None
    place.write_bytes(same_size(place.read_bytes()))  # at once
    assert files.fresh_stamp(str(place)) not in stamps
    root["x"].attrs["n"] = 20
    assert b'"bbbb"' in place.read_bytes()
    check_true(tmp_path)


def test_after_another_writer_the_document_is_read_once(tmp_path: Path, reads: list[str]) -> None:
    array, place = consolidated_group(tmp_path)["x"], tmp_path / "zarr.json"
    array.attrs["n"] = 0
    renamed(place, other_text(place.read_bytes()))
    array.attrs["n"] = 1
    reads.clear()
    array.attrs["n"] = 2
    assert "zarr.json" not in reads
    assert "foreign" in json.loads(place.read_bytes())["consolidated_metadata"]["metadata"]


class Other(LocalStore):
    """A store that does something of its own with values."""

    def set_sync(self, key: str, value: Any) -> None:
        super().set_sync(key, value)


class Awaited(LocalStore):
    """A store that is called by coroutines."""

    async def delete(self, key: str) -> None:
        await super().delete(key)


@pytest.mark.parametrize("make", [Other, Awaited, lambda folder: LoggingStore(LocalStore(folder))])
def test_stores_with_ways_of_their_own_are_read(tmp_path: Path, reads: list[str], make: Callable[..., Any]) -> None:
    array = consolidated_group(make(tmp_path))["x"]
    array.attrs["n"] = 0
    reads.clear()
    array.attrs["n"] = 1
    assert "zarr.json" in reads
    check_true(tmp_path)


def other_text(raw: bytes) -> bytes:
    """Return the text of a group with another title and another member."""
    document = json.loads(raw)
    document["attributes"]["title"] = f"foreign {len(raw)}"
    document["consolidated_metadata"]["metadata"]["foreign"] = {"zarr_format": 3, "node_type": "group"}
    return json.dumps(document).encode()


def same_size(raw: bytes) -> bytes:
    return raw.replace(b'"aaaa"', b'"bbbb"') if b'"aaaa"' in raw else raw.replace(b'"bbbb"', b'"aaaa"')


def renamed(place: Path, raw: bytes) -> None:
    place.with_name("other").write_bytes(raw)
    os.replace(place.with_name("other"), place)


def with_old_times(place: Path, raw: bytes) -> None:
    status = place.stat()
    place.write_bytes(raw)
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def linked(place: Path, raw: bytes) -> None:
    place.with_name("other").write_bytes(raw)
    place.unlink()
    place.symlink_to(place.with_name("other"))


WRITERS: dict[str, Callable[[Path], Any]] = {
    "none": lambda place: None,
    "replaces it": lambda place: renamed(place, other_text(place.read_bytes())),
    "replaces it, same size": lambda place: renamed(place, same_size(place.read_bytes())),
    "replaces it twice, same size": lambda place: [renamed(place, same_size(place.read_bytes())) for _ in range(2)],
    "writes in place": lambda place: place.write_bytes(other_text(place.read_bytes())),
    "writes in place, same size": lambda place: place.write_bytes(same_size(place.read_bytes())),
    "writes in place, same size and times": lambda place: with_old_times(place, same_size(place.read_bytes())),
    "places a link": lambda place: linked(place, same_size(place.read_bytes())),
    "sets the times": os.utime,
    "removes it": lambda place: place.unlink(),
    "cuts it": lambda place: os.truncate(place, 10),
}


def write_in(writer: str, folder: Path) -> None:
    WRITERS[writer](folder / "zarr.json")


def change(folder: Path, number: int, kind: str) -> str:
    """Make one change below a group; return what came of it."""
    try:
        if kind == "create":
            zarr.create_array(folder, name=f"g/a{number}", shape=(4,), dtype="int8", overwrite=True)
        elif kind == "delete":
            zarr.open_group(folder, use_consolidated=False).create_array("y", shape=(4,), dtype="int8", overwrite=True)
            del zarr.open_group(folder, use_consolidated=False)["y"]
        elif kind == "attribute":
            zarr.open_array(folder, path="x").attrs["n"] = number
        else:
            zarr.open_array(folder, path="x").resize((number + 1,))
    except Exception as error:
        return type(error).__name__
    return "done"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Callable[[Path], Any]], list[Any]]:
    """Return what does the same in two folders, in the second one without stamps; it returns both results."""
    known = [True]
    monkeypatch.setattr(files, "write_file", slowly)
    monkeypatch.setattr(consolidated, "gives_fresh_stamps", lambda store: known[0])
    kept: dict[bool, list[Any]] = {True: [], False: []}
    folders = {True: tmp_path / "stamps", False: tmp_path / "none"}

    def both(call: Callable[[Path], Any]) -> list[Any]:
        found = []
        for known[0], folder in folders.items():
            copies._kept.extend(kept[known[0]])
            found.append(call(folder))
            kept[known[0]] = list(copies._kept)
            copies._kept.clear()
        return found

    return both


def text_of(folder: Path) -> bytes | None:
    place = folder / "zarr.json"
    return place.read_bytes() if place.exists() else None


@pytest.mark.filterwarnings("ignore:consolidated metadata was not updated")
@pytest.mark.parametrize("writer", WRITERS)
def test_the_same_comes_of_each_foreign_writer(writer: str, compared: Any) -> None:
    compared(consolidated_group)
    for number, kind in enumerate(("attribute", "create", "delete", "append")):
        compared(partial(change, number=number, kind=kind))
        if (results := compared(text_of))[0] is None:
            break
        assert results[0] == results[1]
        compared(partial(write_in, writer))
    results = compared(partial(change, number=9, kind="attribute"))
    assert results[0] == results[1]
    results = compared(text_of)
    assert results[0] == results[1]


@pytest.mark.filterwarnings("ignore:consolidated metadata was not updated")
@pytest.mark.parametrize("seed", range(8))
def test_the_same_comes_of_random_changes(seed: int, compared: Any) -> None:
    rng = random.Random(seed)
    compared(consolidated_group)
    writers = [name for name in WRITERS if name not in ("removes it", "cuts it")]
    for number in range(12):
        kind = rng.choice(("attribute", "create", "delete", "append"))
        results = compared(partial(change, number=number, kind=kind))
        assert results[0] == results[1]
        results = compared(text_of)
        assert results[0] == results[1]
        writer = rng.choice([*writers, *["none"] * len(writers)])
        compared(partial(write_in, writer))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_failed_write_leaves_no_stamp(
    moment: str, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    array = consolidated_group(tmp_path)["x"]
    array.attrs["n"] = 0

    def failing(path: str, data: memoryview, **options: Any) -> bool:
        if path == str(tmp_path / "zarr.json"):
            if moment == "after":
                slowly(path, data, **options)
            raise OSError(28, "No space left on device")
        return slowly(path, data, **options)

    with monkeypatch.context() as full:
        full.setattr(files, "write_file", failing)
        with pytest.raises(OSError, match="No space"):
            array.attrs["n"] = 1
    assert all(kept.stamp is None for kept in copies._kept)
    reads.clear()
    array.attrs["m"] = 2
    assert "zarr.json" in reads
    check_true(tmp_path)


def test_a_writer_just_after_ours_keeps_its_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no lock, and comes before the stamp is asked for."""
    array, place = consolidated_group(tmp_path)["x"], tmp_path / "zarr.json"

    def write(path: str, data: memoryview, **options: Any) -> bool:
        stored = slowly(path, data, **options)
        if path == str(place) and b'"foreign"' not in data.tobytes():
            slowly(path, memoryview(other_text(place.read_bytes())))
        return stored

    monkeypatch.setattr(files, "write_file", write)
    array.attrs["n"] = 0
    array.attrs["n"] = 1
    stored = json.loads(place.read_bytes())["consolidated_metadata"]["metadata"]
    assert list(stored) == ["foreign", "x"]


def test_files_that_could_be_mistaken_have_no_stamp(tmp_path: Path) -> None:
    place = tmp_path / "x"
    assert files.fresh_stamp(str(place)) is None
    place.write_bytes(b"in place")
    assert files.fresh_stamp(str(place)) is None
    slowly(str(place), memoryview(b"renamed at once"))  # no copy: the clock need not have advanced
    status, stamp = place.stat(), files.fresh_stamp(str(place))
    assert (stamp is None) == (status.st_mtime_ns == status.st_ctime_ns)
    time.sleep(STEP_SECONDS)
    os.replace(place, tmp_path / "y")
    status, stamp = (tmp_path / "y").stat(), files.fresh_stamp(str(tmp_path / "y"))
    assert stamp == (15, (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev))


_PROCESS = """
import sys, time, warnings
warnings.simplefilter("ignore")
import zarr
from zarr.storage import LocalStore
from zarr.storage.local import files

files.sync_file = lambda fd: time.sleep(0.01)  # the clock advances before a file gets its name
get, whole = LocalStore.get_sync, []
def noted(self, key, **options):
    if key == "zarr.json" and options.get("byte_range") is None:
        whole.append(key)
    return get(self, key, **options)
LocalStore.get_sync = noted
store, count = LocalStore(sys.argv[1], fsync=True), int(sys.argv[3])
for number in range(count):
    zarr.create_array(store, name=f"g/{sys.argv[2]}{number}", shape=(4,), dtype="int8")
print(count - len(whole), len(whole))
"""


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    consolidated_group(tmp_path)
    command = [sys.executable, "-c", _PROCESS, str(tmp_path)]
    wanted = {"p": "12", "q": "36"}  # in the end q is alone, and looks at no text but its own
    running = [subprocess.Popen([*command, *each], stdout=subprocess.PIPE, text=True) for each in wanted.items()]
    counts = [process.communicate(timeout=120)[0].split() for process in running]
    check_true(tmp_path)
    assert len(list(zarr.open_group(tmp_path)["g"])) == 48  # type: ignore[arg-type]
    assert sum(int(known) for known, _ in counts) > 0
    assert sum(int(other) for _, other in counts) > 0  # of the other process
