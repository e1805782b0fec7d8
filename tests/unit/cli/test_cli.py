"""The command line."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import zarr
from zarr._cli.cli import app, main


@pytest.fixture
def store(tmp_path: Path) -> str:
    root = zarr.open_group(tmp_path / "data.zarr", mode="w", zarr_format=2, attributes={"title": "t"})
    root.create_array("a/x", data=np.arange(10))
    root.create_group("b")
    return str(tmp_path / "data.zarr")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_looking(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "tree", store) == "/\n├── a\n│   └── x (10,) int64\n└── b\n"
    assert said(capsys, "tree", store, "--level", "0") == "/\n├── a\n└── b\n"
    assert said(capsys, "tree", store, "a/x") == "/a/x (10,) int64\n"
    assert said(capsys, "ls", store) == "a\nb\n"
    assert said(capsys, "ls", "-l", store, "a") == "array  x  (10,)  int64\n"
    assert said(capsys, "ls", store, "b") == ""
    assert "title: 't'" in said(capsys, "info", store)
    assert "Shape" in said(capsys, "info", store, "a/x")


def test_migrate_and_remove(store: str) -> None:
    assert main(["migrate", "v3", store, "--dry-run"]) == 0
    with pytest.raises(FileNotFoundError):
        zarr.open_group(store, mode="r", zarr_format=3)
    assert main(["migrate", "v3", store]) == 0
    root = zarr.open_group(store, mode="r", zarr_format=3)
    np.testing.assert_array_equal(root["a/x"][:], np.arange(10))
    assert main(["migrate", "v3", store, "--overwrite", "--remove-v2-metadata"]) == 0
    with pytest.raises(FileNotFoundError):
        zarr.open_group(store, mode="r", zarr_format=2)
    assert main(["remove-metadata", "v3", store]) == 1
    assert main(["remove-metadata", "v3", store, "--force"]) == 0


def test_what_cannot_be_migrated_keeps_the_documents_that_it_has(store: str) -> None:
    assert main(["migrate", "v3", store]) == 0
    (Path(store) / "a" / "x" / ".zarray").write_text(
        (Path(store) / "a" / "x" / ".zarray").read_text().replace('"<i8"', '"<f1"')
    )
    assert main(["migrate", "v3", store, "--overwrite", "--force"]) == 1
    root = zarr.open_group(store, mode="r", zarr_format=3)
    np.testing.assert_array_equal(root["a/x"][:], np.arange(10))


def test_migrate_to_another_store(store: str, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    assert main(["migrate", "v3", store, str(tmp_path / "new")]) == 0
    assert [name for name, _ in zarr.open_group(tmp_path / "new", mode="r").members(None)] == ["a", "a/x", "b"]
    with pytest.raises(FileNotFoundError):
        zarr.open_group(store, mode="r", zarr_format=3)


def test_what_goes_wrong_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(tmp_path / "nothing")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("zarr: ")
    assert error.count("\n") == 1
    with pytest.raises(SystemExit):
        main(["dance"])


def test_entry_point(monkeypatch: pytest.MonkeyPatch, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["zarr", "ls", store])
    with pytest.raises(SystemExit) as ended:
        app()
    assert ended.value.code == 0
    assert capsys.readouterr().out == "a\nb\n"


def test_a_dry_run_says_so_first_and_changes_nothing(store: str, caplog: pytest.LogCaptureFixture) -> None:
    before = sorted(Path(store).rglob("*"))
    logging.getLogger("zarr").addHandler(caplog.handler)
    level = caplog.handler.level
    try:
        for arguments, gist in [
            (["migrate", "v3", store], "no new files will be created or changed"),
            (["remove-metadata", "v2", store, "--force"], "no files will be deleted or changed"),
        ]:
            caplog.clear()
            assert main([*arguments, "--dry-run"]) == 0
            assert caplog.messages[0].startswith(f"Dry run enabled - {gist}")
            assert len(caplog.messages) > 3
    finally:
        logging.getLogger("zarr").removeHandler(caplog.handler)
        caplog.handler.setLevel(level)  # the command line has set it, with those of all handlers
    assert sorted(Path(store).rglob("*")) == before


def test_metadata_of_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remove-metadata", "v2", str(tmp_path / "typo")]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert not (tmp_path / "typo").exists()
