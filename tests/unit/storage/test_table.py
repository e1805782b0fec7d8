"""The table of stores: what a line of it brings, for every line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import zarr
from tests.stores import KINDS, WRITABLE, make
from zarr.defaults import STORES
from zarr.registry import get_store_factory, store_class
from zarr.storage.resolve import resolve_store

ROOT = Path(__file__).parents[3]
READ_ONLY = [kind for kind in KINDS if kind not in WRITABLE]
SCHEMES = [(scheme, name) for name, row in STORES.items() for scheme in row[1].split()]
SUFFIXES = [(suffix, name) for name, row in STORES.items() for suffix in row[2].split()]


@pytest.mark.parametrize("name", STORES)
def test_a_store_is_public_under_its_name_and_described_in_the_guide(name: str) -> None:
    assert getattr(zarr.storage, name) is store_class(name)
    assert name in zarr.storage.__all__
    assert name in dir(zarr.storage)
    assert store_class(name).__doc__
    guide = (ROOT / "docs/guide/stores.md").read_text(encoding="utf-8")
    assert name in guide or name == "GpuMemoryStore"


@pytest.mark.parametrize("extra", sorted({row[3] for row in STORES.values()} - {""}))
def test_what_a_store_needs_is_an_extra_of_this_library(extra: str) -> None:
    assert re.search(rf"^{extra} = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("scheme", "name"), SCHEMES)
def test_a_url_of_its_scheme_means_the_store(scheme: str, name: str, tmp_path: Path) -> None:
    store = make(name, tmp_path)  # skips where a library is missing
    store.close()
    assert get_store_factory(scheme) is not None
    assert type(resolve_store(f"{scheme}://{tmp_path}/other")) is store_class(name)


@pytest.mark.parametrize(("suffix", "name"), SUFFIXES)
def test_only_what_is_there_in_its_form_means_a_store_of_a_suffix(suffix: str, name: str, tmp_path: Path) -> None:
    folder = tmp_path / f"folder{suffix}"
    zarr.create_group(zarr.storage.LocalStore(folder))
    assert type(resolve_store(folder)) is zarr.storage.LocalStore


@pytest.mark.parametrize("kind", READ_ONLY)
def test_a_store_that_is_only_read_says_so(kind: str, tmp_path: Path) -> None:
    store: Any = make(kind, tmp_path)
    assert store.read_only
    assert not store.supports_deletes
    assert type(store.with_read_only(True)) is type(store)
    changes = (lambda: store.with_read_only(False), lambda: store.delete_sync("a"), lambda: store.set_sync("a", None))
    for change in changes:
        with pytest.raises(zarr.errors.ReadOnlyError):
            change()
