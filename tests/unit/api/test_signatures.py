"""One record of parameters: all functions that make arrays show the same ones, with the same defaults and words."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import zarr
from zarr.api import asynchronous
from zarr.arrays.create.parameters import CREATE_ARRAY, CreateArray

MAKERS = [zarr.create_array, zarr.Group.create_array, zarr.Group.create, zarr.AsyncGroup.create_array]


@pytest.mark.parametrize("maker", MAKERS)
def test_every_parameter_is_shown_and_described(maker: Any) -> None:
    shown = inspect.signature(maker).parameters
    described = inspect.cleandoc(CreateArray.__doc__ or "").split("\n")
    for name, default in CREATE_ARRAY.items():
        if name in shown:
            assert shown[name].default == default
            at = next(number for number, line in enumerate(described) if line.startswith(f"{name} : "))
            assert all(line.strip() in maker.__doc__ for line in described[at : at + 2])
    assert len(CREATE_ARRAY.keys() - shown.keys()) == 1  # "compressor" belongs to groups, "zarr_format" to functions


@pytest.mark.parametrize("name", ["create", "create_array", "from_array", "open_group"])
def test_coroutines_have_the_signature_and_the_documentation_of_their_twins(name: str) -> None:
    one, other = getattr(zarr, name), getattr(asynchronous, name)
    assert inspect.iscoroutinefunction(other)
    assert inspect.signature(one).parameters == inspect.signature(other).parameters
    assert one.__doc__ == other.__doc__


@pytest.mark.parametrize(
    "call",
    [
        lambda: zarr.create_array({}, shape=1, dtype="i1", unknown=1),  # type: ignore[call-arg]
        lambda: zarr.create_array({}, shape=1, dtype="i1", compressor=None),  # type: ignore[call-arg]
        lambda: zarr.group().create_array("x", shape=1, dtype="i1", zarr_format=3),
        lambda: zarr.from_array({}, data=[1], unknown=1),  # type: ignore[call-arg]
        lambda: zarr.create(1, unknown=1),
    ],
)
def test_unknown_parameters_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="got an unexpected keyword argument"):
        call()
