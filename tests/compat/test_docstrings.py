"""The examples in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import warnings
from pathlib import Path

import pytest

import zarr

NAMES = sorted(module.name for module in pkgutil.walk_packages(zarr.__path__, "zarr."))
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
            runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            count += runner.run(test, out=told.append).attempted
    assert told == []
    assert count > 1500
