"""Every tool works on every kind of store, as the source and as the target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.answers import REFUSED, TOOLS
from tests.tools.places import fill, keys
from zarr.storage import LocalStore, MemoryStore, SQLiteStore, ZipStore
from zarr.storage.keys import JOB_PREFIX

PLACES = ("folder", "memory", "zip", "sqlite")
ZIPPED: dict[str, dict[str, Any]] = {
    "copy": {}, "rechunk": {"chunks": (2, 8)}, "reencode": {"compressors": None}, "convert": {"zarr_format": 2},
    "coarsen": {"levels": 1},
}  # fmt: skip

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


@pytest.mark.parametrize(("tool", "options"), ZIPPED.items())
def test_a_zip_file_is_complete_when_the_tool_returns(tool: str, options: dict[str, Any], tmp_path: Path) -> None:
    source = zarr.create_array(tmp_path / "a.zarr", data=np.arange(64).reshape(8, 8), chunks=(4, 4))
    made = getattr(zarr.tools, tool)(source, str(tmp_path / "b.zip"), **options)  # the result is open
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.zarr", "b.zip"]
    (tmp_path / "moved.zip").write_bytes((tmp_path / "b.zip").read_bytes())
    found = zarr.open(str(tmp_path / "moved.zip"), mode="r")
    array = found if isinstance(found, zarr.Array) else found["0"]
    assert np.array_equal(array[...], source[...])  # type: ignore[index, arg-type]
    with ZipStore(tmp_path / "moved.zip", mode="r") as store:
        assert not [key for key in keys(store) if key.startswith(JOB_PREFIX)]
    assert made is not None
