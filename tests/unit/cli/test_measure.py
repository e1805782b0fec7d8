"""The commands that measure: ``tune`` and ``bench``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run


def test_tune(run: Run, store: str, tmp_path: Path) -> None:
    array = f"{store}::a/x"
    gzip = '{"name": "gzip", "configuration": {"level": 1}}'
    found = run("tune", array, "--reads", "map,line:0", "--codecs", "none,zstd:1", "--codecs", gzip)
    assert found.out.startswith("chunks")
    assert found.err == ""
    words = ("--reads", "plane:0,1", "--chunks", "10,2", "--chunks", "5,-1", "--codecs", "")
    told = run("tune", array, *words, "--size", "0", "--json").json
    assert [row["chunks"] for row in told["chunks"]] in ([[10, 2], [5, 4]], [[5, 4], [10, 2]])
    assert (told["codecs"], told["dest"], told["left_out"]) == ([], None, 0)


def test_tune_makes_the_best_layout(run: Run, store: str, tmp_path: Path) -> None:
    target = f"{tmp_path}/tuned.zarr"
    words = ("tune", store, "a/x", "--reads", "all", "--codecs", "", "--apply", f"{target}::x", "--seconds", "9")
    assert run(*words).out.endswith(f"made {target}::x\n")
    np.testing.assert_array_equal(zarr.open_array(target, path="x")[...], np.arange(40).reshape(10, 4))
    assert "--overwrite" in run(*words, code=1).err
    assert "--yes" in run(*words, "--overwrite", code=1).err
    assert run(*words, "--overwrite", "--yes", "--json").json["dest"] == f"{target}::x"
    assert "lies within" in run("tune", store, "a/x", "--apply", f"{store}::a/x/y", code=1).err


def test_tune_draws(run: Run, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    run("tune", f"{store}::a/x", "--reads", "all", "--codecs", "", "--plot", f"{tmp_path}/x.svg")
    assert "<svg" in Path(tmp_path, "x.svg").read_text()
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert "pip install 'zarr[plot]'" in run("tune", f"{store}::a/x", "--plot", "x.png", code=1).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--reads", "mapp"), "did you mean 'map'?"),
        (("--reads", "plane:0,0"), "two different dimensions"),
        (("--codecs", "zstdd"), "zstdd"),
        (("--codecs", "zstd:99"), "99"),
        (("--memory", "0"), "memory must be"),
        (("--size", "much"), "'much' is no number of bytes"),
        (("--seconds", "nan"), "seconds must be"),
        (("--scratch", "/no/such/folder"), "/no/such/folder"),
    ],
)
def test_what_is_refused(run: Run, store: str, words: tuple[str, ...], message: str) -> None:
    assert message in run("tune", f"{store}::a/x", *words, code=1).err


def test_groups_are_refused(run: Run, store: str) -> None:
    for command in ("tune", "bench"):
        assert f"{command} takes one array; it has a/s, a/x" in run(command, store, code=1).err
    run("tune", f"{store}::a/x", "--chunks", "x", code=2)


def test_bench(run: Run, store: str) -> None:
    said = run("bench", f"{store}::a/s", "--write", "--seconds", "0.1").out.splitlines()
    assert said[0] == "(8,) uint8, chunks (2,) in shards (4,), zstd(level=0)"
    assert [line.split()[0] for line in said[2:]] == ["chunks", "write"]
    rows = run("bench", store, "a/x", "--reads", "all,line:1", "--seconds", "0.1", "--json").json["rows"]
    assert [(row["name"], row["nbytes"]) for row in rows] == [("all", 160), ("line:1", 16)]
