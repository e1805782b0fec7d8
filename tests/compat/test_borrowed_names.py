"""Programs import names of zarr.core from modules that only use them: each is the very object of its home."""

from __future__ import annotations

import importlib

import pytest

from zarr.core import HOMES

BORROWERS = ["array", "group", "indexing", "metadata.v2", "metadata.v3", "codec_pipeline"]


@pytest.mark.parametrize("borrower", BORROWERS)
def test_every_name_is_that_of_its_home(borrower: str) -> None:
    module = importlib.import_module(f"zarr.core.{borrower}")
    for home, names in HOMES.items():
        for name in names.split():
            assert getattr(module, name) is getattr(importlib.import_module(home), name), name


@pytest.mark.parametrize("borrower", BORROWERS)
def test_any_other_name_is_missing(borrower: str) -> None:
    module = importlib.import_module(f"zarr.core.{borrower}")
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018
    with pytest.raises(ImportError):
        importlib.import_module(f"zarr.core.{borrower}.no_such_name")


def test_the_import_statements_of_programs() -> None:
    from zarr.core.array import ArraySpec, ChunkGrid, default_buffer_prototype
    from zarr.core.group import MemoryStore, parse_shapelike, sync
    from zarr.core.metadata.v3 import ArraySpec as Spec

    assert Spec is ArraySpec
    assert all([ChunkGrid, default_buffer_prototype, MemoryStore, parse_shapelike, sync])
