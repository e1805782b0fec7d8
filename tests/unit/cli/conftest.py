"""A hierarchy to try the command line on, and a way to run it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr


@dataclass
class Done:
    """What a command has left: its exit code and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in this process, without a terminal; it must be done unless another code is named."""
    pytest.importorskip("typer", reason="the command line needs the extra cli")
    from zarr._cli.cli import main

    def call(*arguments: str, code: int = 0, answer: str | None = None) -> Done:
        terminal = io.StringIO("" if answer is None else answer)
        if answer is not None:
            monkeypatch.setattr(terminal, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", terminal)
        capsys.readouterr()
        ended = main(arguments)
        said = capsys.readouterr()
        assert ended == code, said.err
        if code:
            assert said.err.rpartition("[y/N] ")[2].startswith("zarr: ")
            assert said.err.count("\n") == 1
        return Done(ended, said.out, said.err)

    return call


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A folder with a group, an array of ten rows, one with shards, and an empty group."""
    root = zarr.open_group(tmp_path / "data.zarr", mode="w", attributes={"title": "t"})
    root.create_array("a/x", data=np.arange(40, dtype="i4").reshape(10, 4), chunks=(5, 4), compressors=None)
    root["a/x"].attrs["units"] = "K"
    sharded = root.create_array("a/s", shape=(8,), chunks=(2,), shards=(4,), dtype="u1", fill_value=7)
    sharded[:4] = 1
    root.create_group("b")
    return str(tmp_path / "data.zarr")
