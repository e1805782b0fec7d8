"""Each command on a folder, a zip file, SQLite, S3 and a web server, with good and with bad input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.remote.test_tools import Folders, stored
from tests.tools.places import put
from zarr.storage import FsspecStore, LocalStore, SQLiteStore, ZipStore

from .test_s3 import bucket, endpoint, s3fs_options  # noqa: F401

cli = pytest.importorskip("zarr._cli.cli", reason="the command line needs the extra cli")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

READING = {
    "info": ("info {at}", "Zarr format : 3"),
    "tree": ("tree {at}", "└── t (5,) <class 'str'>|└── t (5,)"),
    "ls": ("ls -l {at}::g", "array  b  (10,)  float64  (4,)"),
    "plot": ("plot {at}::a {new}.png", ".png"),
    "cat": ("cat {at}::a --select 1 --format json", "[5, 6, 7, 8]"),
    "stat": ("stat {at}::a", "chunks stored  6 of 6"),
    "du": ("du {at} --depth 1", "total"),
    "verify": ("verify {at}", "no fault found (7 nodes, 18 chunks read)"),
    "checksum": ("checksum {at}", "sha256:"),
    "diff": ("diff {at}::a {at}::a", ""),
    "stats": ("stats {at}::a", "min 1, max 24, mean 12.5"),
    "bench": ("bench {at}::a --seconds 0.05", "chunks  "),
    "tune": ("tune {at}::a --reads map --chunks 6,4 --codecs none --seconds 0.05", "chunk shapes:"),
    "attrs get": ("attrs get {at} title", "x"),
    "copy": ("copy {at} {new}", "6 copied, 0 skipped"),
    "rechunk": ("rechunk {at} {new} --chunks 3,3", "made "),
    "reencode": ("reencode {at} {new} --codec gzip:1", "made "),
    "coarsen": ("coarsen {at}::a {new} --convention none", "made "),
    "convert": ("convert {at} {new} --zarr-format 2", "made "),
    "repair": ("repair {at} --dry-run", "nothing to mend"),
}
WRITING = {
    "create": ("create {at}::new --shape 4 --dtype i4", "stat {at}::new", "0 of 1"),
    "attrs set": ("attrs set {at}::a unit=K", "attrs get {at}::a unit", "K"),
    "attrs unset": ("attrs unset {at} title", "cat {at} --part attributes", "{}"),
    "copy": ("copy {at}::a ::g/c", "checksum {at}::g/c", "sha256"),
    "move": ("move {at}::a ::g/c", "ls {at}::g", "c"),
    "rm": ("rm {at}::a --yes", "ls {at}", "g"),
    "consolidate": ("consolidate {at}", "verify {at}", "no fault found"),
    "repair": ("repair {at} --yes", "verify {at}", "no fault found"),
    "migrate": ("migrate v3 {at}", "cat {at}::a --part metadata", '"zarr_format": 3'),
    "remove-metadata": ("remove-metadata v2 {at} --force", "verify {at}", "no-node"),
}
REFUSED = {
    "create": ("create {at}::a --shape 4 --dtype i4", "--overwrite"),
    "attrs set": ("attrs set {at}::x/y unit=K", "x/y"),
    "attrs unset": ("attrs unset {at}::a nothere", "nothere"),
    "copy": ("copy {at}::a ::g", "--if-exists"),
    "move": ("move {at}::x/y ::g/c", "x/y"),
    "rm": ("rm {at}::x/y --yes", "x/y"),
    "consolidate": ("consolidate {at}::x/y", "x/y"),
    "repair": ("repair {at}::x/y --yes", "has nothing to mend"),
    "migrate": ("migrate v3 {at}::a", "names a node"),
    "remove-metadata": ("remove-metadata v2 {at}", "say --force"),
}
FORMATS = {"migrate": 2, "remove-metadata": 2}
PLACES = ("folder", "zip", "sqlite", "s3", "http")
NOWHERE = {"diff": "diff {at}::nothere {at}::a"}


class ReadOnly(Folders):  # type: ignore[misc]
    """Takes no changes."""

    def answer(self, head: bytes, body: bytes) -> Any:
        if head.startswith((b"PUT", b"DELETE")):
            return [b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"]
        return super().answer(head, body)


class Place:
    """Where a hierarchy lies, as words of a command."""

    def __init__(self, at: str, options: list[str], folder: Path) -> None:
        self.at, self.options, self.folder = at, options, folder

    def run(self, text: str, new: str = "new.zarr") -> int:
        words = text.format(at=self.at, new=self.folder / new).split()
        code: int = cli.main([*words, *self.options])
        return code


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    values = stored(FORMATS.get(request.node.callspec.params["command"], 3), True)
    if request.param == "http":
        pytest.importorskip("aiohttp", reason="aiohttp, which fsspec needs for the web, is not installed")
        with ReadOnly(values) as server:
            yield Place(server.url, [], tmp_path)
        return
    at, options, store = str(tmp_path / "h.zarr"), [], None
    if request.param == "folder":
        store = LocalStore(at)
    elif request.param == "zip":
        at = str(tmp_path / "h.zip")
        store = ZipStore(at, mode="w")
    elif request.param == "sqlite":
        at = f"sqlite://{tmp_path / 'h.sqlite'}"
        store = SQLiteStore(tmp_path / "h.sqlite")
    else:
        at = f"s3://{request.getfixturevalue('bucket')}/data"
        given = s3fs_options(request.getfixturevalue("endpoint"))
        options = [word for key, value in given.items() for word in ("--option", f"{key}={json.dumps(value)}")]
        store = FsspecStore.from_url(at, storage_options=given)
    for key, value in values.items():
        put(store, key, value)
    store.close()
    yield Place(at, options, tmp_path)


@pytest.mark.parametrize("place", PLACES, indirect=True)
@pytest.mark.parametrize("command", READING)
def test_commands_that_read(command: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = READING[command]
    capsys.readouterr()
    code = place.run(text)
    said = capsys.readouterr()
    assert code == 0, said.err
    assert any(each in said.out for each in expected.split("|")), said.out
    plain = text.replace("{at}::a", "{at}").replace("{at}::g", "{at}")
    code = place.run(NOWHERE.get(command, plain.replace("{at}", "{at}::x/y")), new="other.zarr")
    said = capsys.readouterr()
    assert code == 1, said.out
    assert said.err.startswith("zarr: ")
    assert said.err.count("\n") == 1
    assert not (place.folder / "other.zarr").exists()


@pytest.mark.parametrize("place", PLACES[:-1], indirect=True)
@pytest.mark.parametrize("command", WRITING)
def test_commands_that_write(command: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    text, look, expected = WRITING[command]
    code = place.run(text)
    said = capsys.readouterr()
    assert code == 0, said.err
    assert place.run(look) == (1 if expected == "no-node" else 0)
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize("place", PLACES[:-1], indirect=True)
@pytest.mark.parametrize("command", WRITING)
def test_commands_that_are_refused_change_nothing(
    command: str, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.run("checksum {at}")
    before = capsys.readouterr().out
    text, expected = REFUSED[command]
    assert place.run(text) == (2 if command == "migrate" else 1)
    said = capsys.readouterr().err
    assert said.startswith("zarr: ")
    assert expected in said
    assert said.count("\n") == 1
    place.run("checksum {at}")
    assert capsys.readouterr().out == before


def test_all_commands_are_here() -> None:
    """Servers run until they are stopped: their tests are in ``tests/serving``."""
    named = {words for rows in cli.COMMANDS.values() for words in rows}
    assert named == READING.keys() | WRITING.keys() | {"serve", "view"}
    assert REFUSED.keys() == WRITING.keys()


@pytest.mark.parametrize("place", ["http"], indirect=True)
@pytest.mark.parametrize("command", sorted(WRITING.keys() - {"repair"}))
def test_a_web_server_takes_no_changes(command: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.run(WRITING[command][0]) == 1
    said = capsys.readouterr().err
    assert said.startswith("zarr: ")
    assert said.count("\n") == 1
