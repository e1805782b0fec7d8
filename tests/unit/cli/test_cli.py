"""The application: how it is started, what it says of errors, its help; and the commands for formats."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr

pytest.importorskip("typer", reason="the command line needs the extra cli")

from typer.testing import CliRunner

from tests.unit.cli.conftest import Run
from zarr._cli.cli import COMMANDS, app, main

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path: Path) -> str:
    root = zarr.open_group(tmp_path / "data.zarr", mode="w", zarr_format=2, attributes={"title": "t"})
    root.create_array("a/x", data=np.arange(10))
    root.create_group("b")
    return str(tmp_path / "data.zarr")


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
    assert main(["dance"]) == 2


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


# ---------------------------------------------------------------------------------------- the application


def started(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python in a process of its own."""
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def test_python_m_zarr(store: str) -> None:
    done = started("-m", "zarr", "ls", store)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\nb\n", "")
    done = started("-m", "zarr", "rm", store)
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert Path(store).exists()


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra(package: str, tmp_path: Path) -> None:
    if package == "rich":  # typer itself may need it: what matters is the line that is said
        (tmp_path / "typer.py").write_text("import rich")
    program = f"import sys; sys.modules[{package!r}] = None; from zarr.__main__ import main; main()"
    done = started("-c", program, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode == 2
    assert done.stderr == f'zarr: the command line needs the package {package}: pip install "zarr[cli]"\n'
    assert done.stdout == ""


MISSING = {
    "h5py": ("tree x.h5", "h5py: pip install 'zarr[hdf5]'"),
    "h5netcdf": ("convert {store} x.nc", "h5netcdf: pip install 'zarr[hdf5]'"),
    "tifffile": ("convert {store}::a x.tif", "tifffile: pip install 'zarr[tiff]'"),
    "rasterio": ("convert {store}::a x.geo.tif", "rasterio: pip install 'zarr[geo]'"),
    "pyarrow": ("convert {store} x.parquet", "pyarrow: pip install 'zarr[arrow]'"),
    "matplotlib": ("plot {store}::a x.png", "matplotlib: pip install 'zarr[plot]'"),
    "starlette": ("serve {store}", "starlette: pip install 'zarr[serve]'"),
    "uvicorn": ("serve {store}", "uvicorn: pip install 'zarr[serve]'"),
    "fsspec": ("ls gs://bucket/x", "fsspec: pip install 'zarr[remote]'"),
    "s3fs": ("ls s3://bucket/x", "s3fs is missing: pip install s3fs"),
}


@pytest.mark.parametrize("package", MISSING)
def test_without_a_package(package: str, store: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason="those that it needs may be missing, too")
    words, expected = MISSING[package]
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    program = (
        f"import os, sys; sys.modules[{package!r}] = None; os.chdir({str(tmp_path)!r})\n"
        f"from zarr._cli.cli import main; sys.exit(main({words.format(store=store).split()!r}))"
    )
    done = started("-W", "ignore", "-c", program)
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_importing_zarr_does_not_load_typer() -> None:
    done = started("-c", "import sys, zarr; zarr.open; print('typer' in sys.modules, 'rich' in sys.modules)")
    assert done.stdout == "False False\n"


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"zarr {zarr.__version__}\n"
    said = run("--help").out
    for word in ("info", "remove-metadata", "Exit codes", "--install-completion", "--show-completion"):
        assert word in said


@pytest.mark.parametrize("words", [words for rows in COMMANDS.values() for words in rows])
def test_each_command_has_a_help_with_an_example(words: str, run: Run) -> None:
    said = run(*words.split(), "--help").out
    assert f"Example: zarr {words}" in said
    command = next(rows[words] for rows in COMMANDS.values() if words in rows)
    assert command.example.startswith(f"{words} ")


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef zarr"), ("fish", "complete")])
def test_completion(shell: str, word: str) -> None:
    done = started("-m", "zarr", _ZARR_COMPLETE=f"source_{shell}")
    assert done.returncode == 0
    assert word in done.stdout


def test_wrong_usage_ends_with_2(run: Run) -> None:
    assert "No such command" in run("dance", code=2).err
    run("info", code=2)
    run("info", "x", "--option", "anon", code=2)
    run("tree", "x", "--level", "-1", code=2)


def test_errors_of_other_libraries_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class ServerError(Exception):
        pass

    def fail(*given: Any, **parameters: Any) -> None:
        warnings.warn("slow\nserver", UserWarning, stacklevel=2)
        raise ServerError("no\nanswer")

    monkeypatch.setattr("zarr.open", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run("ls", "s3://x", code=1).err == "zarr: ServerError: no answer\n"
    assert main(["--traceback", "ls", "s3://x"]) == 1


def test_warnings_are_said_in_one_line(
    store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "zarr._cli.cli.speak_up", lambda verbose: warnings.warn("slow\nserver", UserWarning, stacklevel=1)
    )
    warnings.simplefilter("always")
    assert main(["--verbose", "ls", store]) == 0
    assert capsys.readouterr().err == "zarr: warning: slow server\n"


def test_a_traceback_if_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--traceback", "ls", str(tmp_path / "nothing")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.splitlines()[-1].startswith("zarr: ")
    assert main(["ls", str(tmp_path / "nothing")]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_errors_name_words_of_the_command_line(store: str, run: Run) -> None:
    assert "--overwrite" in run("create", store, code=1).err
    run("create", f"{store}::b/x", "--shape", "4", "--dtype", "i4")
    assert "--if-exists" in run("copy", f"{store}::a/x", "::b/x", code=1).err
    assert "--option is for URLs" in run("ls", store, "--option", "anon=true", code=1).err
    assert "zarr tree" in run("ls", f"{store}::zzz", code=1).err
    assert "did you mean" in run("ls", f"{store}::aa", code=1).err
    assert "a store that holds zarr.json" in run("ls", str(Path(store).parent), code=1).err
    file = Path(store).parent / "x.nc"
    file.write_bytes(b"CDF\x01")
    assert run("ls", str(file), code=1).err.endswith("read it with xarray.open_dataset\n")


# ------------------------------------------------------------------------------------ as zarr-python's tests do


def test_the_application_under_a_runner_of_typer(store: str, tmp_path: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["migrate", "v3", store, "--no-dry-run"])
    assert done.exit_code == 0
    done = runner.invoke(app, ["--verbose", "remove-metadata", "v2", store])
    assert done.exit_code == 0
    assert not list(Path(store).rglob(".zarray"))
    done = runner.invoke(app, ["remove-metadata", "v2", str(tmp_path / "typo")])
    assert done.exit_code == 1
    assert isinstance(done.exception, FileNotFoundError)  # as it is, for whoever calls from Python
