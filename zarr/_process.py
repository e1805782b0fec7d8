"""Actions for the moments when this process is forked and when its program ends."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

Action = Callable[[], object]

FORK_WAIT_SECONDS: Final = 5.0
"""The seconds that a fork waits until other threads have ended what the child could never finish."""

_closing: list[Action] = []


def at_fork(pause: Action | None = None, resume: Action | None = None, renew: Action | None = None) -> None:
    """Register what a fork needs; do nothing where processes cannot be forked.

    Parameters
    ----------
    pause : callable, optional
        Called before the fork: waits until nothing runs that the child could not finish.
    resume : callable, optional
        Called after the fork in the parent: ends the pause.
    renew : callable, optional
        Called in the child: replaces locks, and forgets what belongs to the parent.
    """
    if hasattr(os, "register_at_fork"):
        actions = {"before": pause, "after_in_parent": resume, "after_in_child": renew}
        os.register_at_fork(**{name: action for name, action in actions.items() if action is not None})


def living(members: Callable[[], Iterable[T]]) -> list[T]:
    """Return the members of a weak collection, to which other threads may add meanwhile.

    Parameters
    ----------
    members : callable
        Begins to go over them: the method ``__iter__`` of a weak set, ``values`` of a dictionary of weak values.

    Examples
    --------
    >>> import weakref
    >>> living(weakref.WeakSet().__iter__)
    []
    """
    while True:
        try:
            return list(members())
        except RuntimeError:  # it has changed on the way
            continue


def forget_closed(by_loop: MutableMapping[asyncio.AbstractEventLoop, Any]) -> None:
    """Remove what belongs to event loops that are closed.

    Weak keys alone do not: what belongs to a loop mostly refers to it, and so keeps its own key alive.

    Parameters
    ----------
    by_loop : MutableMapping
        A value for each loop.

    Examples
    --------
    >>> import asyncio
    >>> loop = asyncio.new_event_loop()
    >>> loop.close()
    >>> table = {loop: "connections"}
    >>> forget_closed(table)
    >>> table
    {}
    """
    for loop in living(by_loop.__iter__):
        if loop.is_closed():
            by_loop.pop(loop, None)


def at_exit(close: Action) -> Action:
    """Register what commits and closes files at the end of the program, while modules can still be imported.

    The actions run in the reverse order of their registration, after all that the program itself has registered since
    it imported the library. An error in one does not stop the others.
    """
    _closing.append(close)
    return close


@atexit.register
def _close_all() -> None:
    if _closing:
        try:
            _closing.pop()()
        finally:
            _close_all()
