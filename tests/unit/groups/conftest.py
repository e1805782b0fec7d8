"""Groups to try things on: both formats, in memory and on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

import zarr
from zarr.storage import LocalStore, MemoryStore


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> zarr.abc.store.Store:
    return MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "data.zarr")


@pytest.fixture
def root(store: zarr.abc.store.Store, zarr_format: int) -> zarr.Group:
    return zarr.create_group(store, zarr_format=zarr_format)  # type: ignore[arg-type]
