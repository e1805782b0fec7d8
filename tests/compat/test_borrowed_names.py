"""Programs import names of zarr.core from modules that only use them: each is the very object of its home."""

from __future__ import annotations

import importlib

import pytest

import zarr
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


def test_methods_of_shards_can_be_replaced_in_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    codec = zarr.codecs.ShardingCodec(chunk_shape=(8,))
    for name in ("_load_shard_index_maybe", "_load_partial_shard_maybe", "_get_chunks_per_shard"):
        monkeypatch.setattr(zarr.codecs.ShardingCodec, name, lambda self: "replaced")
        assert getattr(codec, name)() == "replaced"


def test_an_unknown_type_of_a_field_is_named_by_its_place() -> None:
    fields = [{"name": "a", "data_type": "no.such.type"}]
    with pytest.raises(ValueError, match=r"at /configuration/fields/0/data_type$"):
        zarr.dtype.get_data_type_from_json({"name": "struct", "configuration": {"fields": fields}}, zarr_format=3)
