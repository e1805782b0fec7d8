"""The door of zarr_core: both implementations offer the same names, and a missing one says what to do."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import zarr_core


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = [os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_both_implementations_offer_all_names() -> None:
    code = "import zarr_core; assert all(hasattr(zarr_core, n) for n in zarr_core.__all__); print(zarr_core.Plan)"
    assert "zarr_core.plan.Plan" in run(code, ZARR_CORE_IMPL="compiled").stdout
    assert "zarr_core.reference.plan.Plan" in run(code, ZARR_CORE_IMPL="reference").stdout


def test_reference_loads_no_extension() -> None:
    code = (
        "import sys, zarr_core; "
        "print([m.__name__ for n, m in sys.modules.items() if n.startswith('zarr_core') and m.__file__[-3:] != '.py'])"
    )
    assert run(code, ZARR_CORE_IMPL="reference").stdout == "[]\n"


def test_missing_extension_names_the_remedy() -> None:
    code = "import sys; sys.modules['zarr_core.plan'] = None; import zarr_core"
    error = run(code, ZARR_CORE_IMPL="compiled").stderr
    assert "ImportError: zarr's compiled core cannot be imported" in error
    assert "build_ext --inplace" in error
    assert "ZARR_CORE_IMPL=reference" in error


def test_unknown_implementation() -> None:
    assert "must be 'compiled' or 'reference', got 'fast'" in run("import zarr_core", ZARR_CORE_IMPL="fast").stderr


def test_every_function_has_a_runnable_example() -> None:
    import doctest

    for name in zarr_core.__all__:
        function: Any = getattr(zarr_core, name)
        room = getattr(function, "__module__", "").rpartition(".")[2]
        if room not in ("planners", "point_planners", "chunks", "fill_values") or inspect.isclass(function):
            continue
        tests = doctest.DocTestFinder().find(function, name, globs={})
        examples = [test for test in tests if test.examples]
        assert examples, name
        for test in examples:
            assert doctest.DocTestRunner(verbose=False).run(test).failed == 0, name


@pytest.mark.parametrize("nchunks", [10**8, 10**12])
def test_points_on_a_huge_grid_cost_nothing(nchunks: int) -> None:
    grid = zarr_core.Grid([zarr_core.RegularAxis(nchunks * 10, 10)])
    plan = zarr_core.plan_points(grid, (np.array([nchunks * 10 - 1, 0, 55]),))
    assert plan.all_coords().tolist() == [[0], [5], [nchunks - 1]]
