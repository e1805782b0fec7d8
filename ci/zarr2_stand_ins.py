"""A pytest plugin for zarr 2.18.7's tests with another zarr: it provides what they import and that zarr lacks.

A missing class or function becomes a stand-in that fails when it is used, so a module with one private name can still
be run. The package ``zarr.tests`` is found in the folder ``$ZARR2_TESTS``, a copy of 2.18.7's.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import zarr

CONSTANTS = {
    "v3_api_available": False,
    "v3_sharding_available": False,
    "DEFAULT_ZARR_VERSION": 2,
    "meta_root": "meta/root/",
    "data_root": "data/root/",
    "_default_entry_point_metadata_v3": {},
}
"""Values of its experimental format 3, whose tests it skips when these say that it is off."""

FOLDER = Path(os.environ["ZARR2_TESTS"])


class StandInUsedError(Exception):
    """A name that is missing was used."""


def make_stand_in(module: str, name: str) -> Any:
    """Return what stands in for a missing name."""
    if name in CONSTANTS:
        return CONSTANTS[name]

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise StandInUsedError(f"{module}.{name} is missing")

    return type(name, (), {"__init__": refuse})


def find_module(name: str) -> ModuleType:
    """Return a module of zarr, an empty one where there is none."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        sys.modules[name] = ModuleType(name)
        return sys.modules[name]


def provide(module_name: str, names: list[str]) -> None:
    """Give a module the names that it lacks."""
    module = find_module(module_name)
    for name in names:
        if not hasattr(module, name):
            elsewhere = getattr(sys.modules["zarr.storage"], name, None)
            setattr(module, name, elsewhere or make_stand_in(module_name, name))


def provide_all() -> None:
    """Provide all names that the tests import from zarr."""
    importlib.import_module("zarr.storage")
    for file in sorted(FOLDER.glob("zarr/tests/*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                name = f"zarr.{node.module}" if node.level == 2 else str(node.module)
                if node.level != 1 and name.startswith("zarr.") and not name.startswith("zarr.tests"):
                    provide(name, [alias.name for alias in node.names])


zarr.__path__.append(str(FOLDER / "zarr"))
provide_all()
