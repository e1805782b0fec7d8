"""Packages that load names late list them twice: for type checkers, and in a table. Both must say the same."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest


def typed_names(file: Path) -> dict[str, tuple[str, str]]:
    """The names that a package imports for type checkers alone: from which module, and as what there."""
    found = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                assert line.module is not None
                found |= {each.asname or each.name: (line.module, each.name) for each in line.names}
    return found


@pytest.mark.parametrize(
    "package", ["zarr.chunks", "zarr.codecs", "zarr.dtype", "zarr.metadata", "zarr.registry", "zarr.storage"]
)
def test_both_lists_say_the_same(package: str) -> None:
    module = importlib.import_module(package)
    typed = typed_names(Path(str(module.__file__)))
    assert set(module.__all__) - typed.keys() == set()
    assert typed.keys() - set(dir(module)) == set()
    for name, (home, there) in typed.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), there), name
