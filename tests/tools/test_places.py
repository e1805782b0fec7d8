"""Every tool works on every kind of store, as the source and as the target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.answers import REFUSED, TOOLS
from tests.tools.places import fill, keys
from zarr.storage import LocalStore, MemoryStore, SQLiteStore, ZipStore

PLACES = ("folder", "memory", "zip", "sqlite")

pytestmark = pytest.mark.filterwarnings("ignore")


def make(kind: str, place: Path, mode: Any) -> Any:
    if kind == "zip":
        return ZipStore(f"{place}.zip", mode=mode)
    if kind == "sqlite":
        return SQLiteStore(f"{place}.sqlite")
    return MemoryStore() if kind == "memory" else LocalStore(place)


def source_and_target(kind: str, zarr_format: int, folder: Path) -> tuple[Any, Any]:
    source, target = make(kind, folder / "source", "w"), make(kind, folder / "target", "w")
    fill(source, zarr_format)
    if kind == "zip":
        source.close()
        source = make(kind, folder / "source", "r")
    return source, target


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("tool", TOOLS)
def test_places(tool: str, kind: str, zarr_format: int, tmp_path: Path) -> None:
    source, target = source_and_target(kind, zarr_format, tmp_path)
    TOOLS[tool](source, target)
    source.close()
    target.close()


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_refused_leaves_no_trace(tool: str, kind: str, tmp_path: Path) -> None:
    source, target = source_and_target(kind, 3, tmp_path)
    before = keys(source)
    for call, text in REFUSED[tool]:
        with pytest.raises((ValueError, FileNotFoundError), match=text):
            call(source, target)
        assert keys(target) == []
        assert keys(source) == before
    source.close()
    target.close()
