"""Folders of another user: what may not be removed stays, and what may not be read is not called missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.trust.test_places import without_rights
from zarr.storage import LocalStore

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights are those of POSIX")

REMOVALS: dict[str, Callable[[Path], Any]] = {
    "del": lambda root: zarr.open_group(root, mode="r+").__delitem__("a"),
    "mode w": lambda root: zarr.open_group(root, mode="w"),
    "clear": lambda root: zarr.open_group(root, mode="r+").clear(),
    "overwrite": lambda root: zarr.create_array(root, name="a", shape=2, dtype="i1", overwrite=True),
}


@pytest.fixture
def root(tmp_path: Path) -> Any:
    """A group that anybody may change, with an array that nobody may."""
    root = tmp_path / "shared"
    array = zarr.open_group(root, mode="w").create_array("a", shape=(4,), chunks=(2,), dtype="i4")
    array[...] = np.arange(4)
    (root / "a").chmod(0o555)
    root.chmod(0o777)
    yield root
    (root / "a").chmod(0o755)


@pytest.mark.parametrize("name", REMOVALS)
def test_what_may_not_be_removed_keeps_its_name(root: Path, name: str) -> None:
    with without_rights("unreadable", root), pytest.raises(PermissionError) as caught:
        REMOVALS[name](root)
    assert {"a", "zarr.json"} <= set(os.listdir(root))
    assert zarr.open_group(root, mode="r")["a"][...].tolist() == [0, 1, 2, 3]  # type: ignore[union-attr, index]
    assert name == "overwrite" or "/.a." not in str(caught.value)


@pytest.mark.parametrize("opened", [zarr.open, zarr.open_array, lambda place, mode: zarr.open_group(place.parent)["a"]])
def test_what_may_not_be_read_is_not_missing(root: Path, opened: Callable[..., Any]) -> None:
    with without_rights("unreadable", root):
        (place := root / "a").parent.stat()
    root.chmod(0)
    try:
        with without_rights("unreadable", root.parent), pytest.raises(PermissionError):
            opened(place, mode="r")
        with without_rights("unreadable", root.parent), pytest.raises(PermissionError):
            zarr.open_array(LocalStore(place, read_only=True), mode="r")
    finally:
        root.chmod(0o777)
