"""Helps for rules of state machines."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from hypothesis.stateful import precondition

F = TypeVar("F", bound=Callable[..., Any])


def with_frequency(frequency: float) -> Callable[[F], F]:
    """Let a rule run only now and then; give it to the rule below ``@rule``.

    Parameters
    ----------
    frequency : float
        How often, between 0 and 1.

    Returns
    -------
    callable
        A decorator.

    Examples
    --------
    >>> @with_frequency(0.5)
    ... def clear(self):
    ...     pass
    >>> clear.__name__
    'clear'
    """

    def decorate(function: F) -> F:
        counter = f"_{function.__name__}_turns"

        @functools.wraps(function)
        def sometimes(self: Any, *args: Any, **kwargs: Any) -> Any:
            return function(self, *args, **kwargs)

        def is_due(self: Any) -> bool:
            # Counted, not drawn: hypothesis must meet the same decisions when it replays a run.
            turns = getattr(self, counter, 0) + 1
            setattr(self, counter, turns)
            return int(turns * frequency) > int((turns - 1) * frequency)

        return cast("F", precondition(is_due)(sometimes))

    return decorate


def split_prefix_name(path: str) -> tuple[str, str]:
    """Split a path into that of its parent and its last name.

    Examples
    --------
    >>> split_prefix_name("a/b/c"), split_prefix_name("a")
    (('a/b', 'c'), ('', 'a'))
    """
    prefix, _, name = path.rpartition("/")
    return prefix, name
