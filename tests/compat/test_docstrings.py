"""The examples in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr

NAMES = sorted(module.name for module in pkgutil.walk_packages(zarr.__path__, "zarr."))
PAGES = Path(__file__).parents[2] / "docs" / "site" / "pages.py"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEEDED = ("awkward", "ml_dtypes", "pyarrow", "lmdb", "obstore", "typer")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_examples_of_all_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDED:
        pytest.importorskip(package, reason=f"some examples need {package}")
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    count = 0
    for name in NAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
        for test in doctest.DocTestFinder(exclude_empty=True).find(module):
            runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
            count += runner.run(test, out=told.append).attempted
    assert told == []
    assert count > 1500


def public_examples() -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each public object with examples, and of the members of classes."""
    pages: Any = importlib.import_module("pages")
    for module in pages.MODULES:
        for name in pages.public_names(module):
            found = getattr(importlib.import_module(module), name)
            members = vars(found) if inspect.isclass(found) else {}
            every = {f"{module}.{name}": found}
            every |= {f"{module}.{name}.{each}": getattr(found, each) for each in members if each[0] != "_"}
            for full, each in every.items():
                text = inspect.getdoc(each) or ""
                if ">>>" in text and not str(getattr(each, "__module__", "zarr")).startswith("numpy"):
                    yield full, text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_examples_of_public_names_import_what_they_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever copies an example from ``help`` has imported ``zarr`` and ``np``, and nothing else."""
    for package in NEEDED:
        pytest.importorskip(package, reason=f"some examples need {package}")
    if not PAGES.exists():
        pytest.skip("the pages are not in this copy")
    monkeypatch.syspath_prepend(str(PAGES.parent))
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    for name, text in public_examples():
        test = doctest.DocTestParser().get_doctest(text, {"zarr": zarr, "np": np}, name, None, 0)
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=told.append)
    assert told == []
