"""Packages that load names late list them in a table, and for type checkers: by name, or all names of a module."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest


def imports_for_type_checkers(file: Path) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """The names that a package imports for type checkers alone: one by one, and as all names of a module."""
    single: dict[str, tuple[str, str]] = {}
    whole: dict[str, tuple[str, str]] = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                assert line.module is not None
                if line.names[0].name == "*":
                    public = [name for name in vars(importlib.import_module(line.module)) if not name.startswith("_")]
                    whole |= {name: (line.module, name) for name in public}
                else:
                    single |= {each.asname or each.name: (line.module, each.name) for each in line.names}
    return single, whole


@pytest.mark.parametrize(
    "package",
    ["zarr.abc.store", "zarr.chunks", "zarr.codecs", "zarr.dtype", "zarr.metadata", "zarr.registry", "zarr.storage"],
)
def test_both_lists_say_the_same(package: str) -> None:
    module = importlib.import_module(package)
    single, whole = imports_for_type_checkers(Path(str(module.__file__)))
    assert single.keys() - set(dir(module)) == set()
    for name in module.__all__:
        if not name.startswith("_"):
            home, there = single.get(name) or whole[name]
            assert getattr(module, name) is getattr(importlib.import_module(home), there), name
