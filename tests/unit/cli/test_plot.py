"""Arrays drawn into files by a command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from tests.unit.cli.conftest import Run

pytest.importorskip("matplotlib", reason="pictures need the extra plot")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def place(tmp_path: Path) -> str:
    root = zarr.create_group(tmp_path / "x.zarr")
    root.create_array("image", data=np.arange(60.0).reshape(3, 4, 5), chunks=(1, 2, 5))
    return str(tmp_path / "x.zarr")


def test_values_and_chunks_become_pictures(place: str, run: Run, tmp_path: Path) -> None:
    said = run("plot", f"{place}::image", str(tmp_path / "a.png")).out
    assert said == f"{tmp_path}/a.png: image, dimension 0 = 1\n"
    said = run("plot", f"{place}::image", str(tmp_path / "b.png"), "--select", "0,0:1", "--chunks").out
    assert said == f"{tmp_path}/b.png: reads 1 of 6 chunks; 6 of 6 are stored\n"
    assert (tmp_path / "a.png").read_bytes()[:8] == (tmp_path / "b.png").read_bytes()[:8] == PNG
    run("plot", f"{place}::image", str(tmp_path / "c.svg"), "--select", "0,0")
    assert "<svg" in (tmp_path / "c.svg").read_text()


def test_a_group_is_refused_with_the_names_of_its_arrays(place: str, run: Run, tmp_path: Path) -> None:
    said = run("plot", place, str(tmp_path / "a.png"), code=1).err
    assert "group" in said
    assert "(image)" in said
    assert not (tmp_path / "a.png").exists()
