from __future__ import annotations

import enum

import numpy as np
import pytest

from zarr.types import (
    ceildiv,
    ceildiv_int,
    parse_bool,
    parse_enum,
    parse_int,
    parse_named_configuration,
    parse_order,
    parse_shapelike,
    product,
)


def test_shapes() -> None:
    assert parse_shapelike(3) == (3,)
    assert parse_shapelike(np.int64(3)) == (3,)
    assert parse_shapelike([1, np.uint8(2)]) == (1, 2)
    assert parse_shapelike(()) == ()
    assert all(type(n) is int for n in parse_shapelike(np.array([1, 2])))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (-1, ValueError, "Expected a non-negative integer. Got -1 instead"),
        ((-1, 2), ValueError, r"Expected all values to be non-negative. Got \(-1, 2\) instead."),
        ("ab", TypeError, "Expected an iterable of integers. Got ab instead."),
        ((1.5,), TypeError, "Expected an iterable of integers"),
        (1.5, TypeError, "Expected an integer or an iterable of integers. Got 1.5 instead."),
        (None, TypeError, "Expected an integer or an iterable of integers. Got None instead."),
    ],
)
def test_wrong_shapes(data: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        parse_shapelike(data)  # type: ignore[arg-type]


def test_small_checks() -> None:
    assert parse_bool(True) is True
    assert parse_int(4) == 4
    assert parse_order("F") == "F"
    for parse, bad in ((parse_bool, 1), (parse_int, True), (parse_int, "1"), (parse_order, "Q"), (parse_order, 3)):
        with pytest.raises(ValueError, match=r"."):
            parse(bad)


def test_named_configuration() -> None:
    full = {"name": "a", "configuration": {"x": 1}}
    assert parse_named_configuration(full, "a") == ("a", {"x": 1})
    assert parse_named_configuration({"name": "a"}, require_configuration=False) == ("a", None)
    assert parse_named_configuration("a", "a", require_configuration=False) == ("a", None)
    with pytest.raises(ValueError, match=r"Expected 'b'. Got a instead."):
        parse_named_configuration(full, "b")
    with pytest.raises(ValueError, match="does not have a 'configuration' key"):
        parse_named_configuration({"name": "a"})
    with pytest.raises(ValueError, match="does not have a 'name' key"):
        parse_named_configuration({})
    with pytest.raises(TypeError, match="Expected dict"):
        parse_named_configuration(5)
    with pytest.raises(TypeError, match="Expected dict"):
        parse_named_configuration({"name": "a", "configuration": None})


def test_enumerations() -> None:
    side = enum.Enum("side", ["left", "right"])
    assert parse_enum("left", side) is side["left"]
    assert parse_enum(side["left"], side) is side["left"]
    with pytest.raises(ValueError, match=r"Value must be one of \['left', 'right'\]. Got up instead."):
        parse_enum("up", side)
    with pytest.raises(TypeError, match="Expected str"):
        parse_enum(3, side)


def test_arithmetic() -> None:
    assert product(()) == 1
    assert product((2**40, 2**40)) == 2**80
    assert ceildiv(5, 2) == ceildiv_int(5, 2) == 3
    assert ceildiv(4, 2) == ceildiv_int(4, 2) == 2
    with pytest.raises(ZeroDivisionError):
        ceildiv(5, 0)
