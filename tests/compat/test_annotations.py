"""No public function or method without its types: what a caller's type checker sees is whole."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import zarr

OPTIONAL = ("zarr._cli", "zarr.testing")


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(zarr.__path__, "zarr."):
        if not found.name.startswith(OPTIONAL):
            yield found.name


def functions_of(module: Any) -> Iterator[tuple[str, Any]]:
    for name, member in vars(module).items():
        if getattr(member, "__module__", None) != module.__name__ or name.startswith("_"):
            continue
        if inspect.isfunction(member):
            yield name, member
        elif inspect.isclass(member):
            for inner, method in vars(member).items():
                plain = getattr(method, "__func__", getattr(method, "fget", method))
                own = getattr(plain, "__module__", None) == module.__name__
                if inspect.isfunction(plain) and own and plain.__code__.co_filename == module.__file__:
                    yield f"{name}.{inner}", plain


def bare(function: Any) -> list[str]:
    """The parameters that bear no type, and "return"."""
    known = function.__annotations__
    parameters = list(inspect.signature(function).parameters)
    missing = [name for index, name in enumerate(parameters) if name not in known]
    if missing and missing[0] == parameters[0] and missing[0] in ("self", "cls"):
        missing = missing[1:]
    return missing + ([] if "return" in known else ["return"])


@pytest.mark.parametrize("name", sorted(modules()))
def test_every_public_function_has_types(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"needs an optional package: {error}")
    untyped = {label: missing for label, function in functions_of(module) if (missing := bare(function))}
    assert not untyped
