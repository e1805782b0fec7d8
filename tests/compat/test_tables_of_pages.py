"""The tables of the documentation site that are made from the code name everything, and say something of it."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import zarr
import zarr.errors
from zarr.defaults import DEFAULTS

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"

if not SITE.exists():
    pytest.skip("docs lie in the source tree only", allow_module_level=True)


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", SITE / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_setting_has_a_meaning(tables: ModuleType) -> None:
    names = [name for name, _ in tables.flat(DEFAULTS)]
    told = tables.meaning_of_settings()
    assert "array.locking" in names
    assert "codecs" in names
    assert [name for name in names if len(told.get(name, "")) < 20] == []
    table = tables.table_of_settings()
    assert all(f"| `{name}`" in table for name in names)
    assert "process:&lt;folder>" in table


def test_no_docstring_names_a_setting_that_is_none(tables: ModuleType) -> None:
    assert set(tables.meaning_of_settings()) <= {name for name, _ in tables.flat(DEFAULTS)}


def test_the_variables_set_the_settings(tables: ModuleType) -> None:
    values = {"async.concurrency": 7, "json_indent": 3, "array.missing_chunk_retries": 2}
    env = {tables.variable_of(name): str(value) for name, value in values.items()}
    config = type(zarr.config)("zarr", defaults=[DEFAULTS], paths=[], env=env)
    assert {name: config.get(name) for name in values} == values


def test_every_error_has_a_cause_and_a_remedy(tables: ModuleType) -> None:
    classes = tables.public_errors()
    assert {zarr.errors.ReadOnlyError, zarr.errors.ZarrUserWarning} <= set(classes)
    lacking = [cls.__name__ for cls in classes if min(map(len, tables.cause_and_remedy(cls))) < 15]
    assert lacking == []


def test_pages_get_their_tables(tables: ModuleType) -> None:
    pages = [page.read_text() for page in SITE.parent.rglob("*.md")]
    marks = [mark for page in pages for mark in re.findall(tables.MARK, page)]
    assert sorted(marks) == sorted(tables.TABLES)
    assert all(tables.MARK.search(tables.with_tables(page)) is None for page in pages)


def test_every_extra_is_explained() -> None:
    project = tomllib.loads((SITE.parents[1] / "pyproject.toml").read_text())["project"]
    page = (SITE.parent / "start" / "install.md").read_text()
    extras = set(project["optional-dependencies"]) - {"test", "docs"}
    assert sorted(extra for extra in extras if f"`{extra}`" not in page) == []
