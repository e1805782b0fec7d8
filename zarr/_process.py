"""Actions for the moments when this process is forked and when its program ends."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable

Action = Callable[[], object]

_closing: list[Action] = []


def at_fork(pause: Action | None = None, resume: Action | None = None, renew: Action | None = None) -> None:
    """Register what a fork needs; nothing happens where processes cannot be forked.

    Parameters
    ----------
    pause : callable, optional
        Called before the fork: waits for what must not be under way in the child.
    resume : callable, optional
        Called after the fork in the parent: ends the pause.
    renew : callable, optional
        Called in the child: replaces locks, and forgets what belongs to the parent.
    """
    if hasattr(os, "register_at_fork"):
        actions = {"before": pause, "after_in_parent": resume, "after_in_child": renew}
        os.register_at_fork(**{name: action for name, action in actions.items() if action is not None})


def at_exit(close: Action) -> Action:
    """Register what commits and closes files at the end of the program, while modules can still be imported.

    The last that was registered is called first, and all after what the program itself has registered since it
    imported the library. An error does not keep the others from being called.
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
