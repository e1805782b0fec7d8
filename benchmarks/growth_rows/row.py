"""A row of the table of growth: an operation, and the sizes at which it is measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Call = Callable[[], Any]


class Timed(NamedTuple):
    """A call to measure, and what is done before each of its rounds without being measured."""

    call: Call
    before: Call = lambda: None


class Row(NamedTuple):
    """A row: the maker of the call for a size, the sizes, and the unit; in other units than ms the call returns it."""

    make: Callable[[int], Call | Timed]
    sizes: tuple[int, int, int]
    unit: str = "ms"


def sizes(first: int) -> tuple[int, int, int]:
    """Return n, 10 n and 100 n.

    >>> sizes(7)
    (7, 70, 700)
    """
    return first, 10 * first, 100 * first
