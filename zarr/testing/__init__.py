"""Tests that authors of stores and codecs inherit, hypothesis strategies, and state machines; also a pytest plugin.

May import: everything. ``store`` needs pytest; ``strategies`` (with ``grids`` and ``names``) and ``stateful`` need
hypothesis.
Read first: ``store.py``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zarr.errors import ZarrUserWarning
from zarr.notices import warn
from zarr.testing.utils import assert_bytes_equal

if TYPE_CHECKING:
    import pytest

    from zarr.testing.store import StoreTests


if find_spec("pytest") is None:
    warn("pytest not installed: zarr.testing has no tests of stores without it", ZarrUserWarning)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of tests that need a graphics card."""
    config.addinivalue_line("markers", "gpu: mark a test as requiring CuPy and GPU")


def __getattr__(name: str) -> Any:
    # Every run of pytest loads the plugin, but the tests themselves only on request.
    if name == "StoreTests":
        import importlib

        return importlib.import_module("zarr.testing.store").StoreTests
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["StoreTests", "ZarrUserWarning", "assert_bytes_equal", "pytest_configure"]
