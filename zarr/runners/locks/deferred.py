"""Operations that are put off: what a finalizer asks for amid an operation that has locked the same.

A finalizer runs in the thread that it interrupts, and cannot wait for what it has interrupted. So its operation stops
where it would have to wait, with everything that it is a part of, and goes on from there later: in the same thread as
soon as the interrupted operation has let go, or in a thread of its own where it holds keys already, for others may wait
for those. What is put off is no longer at work in any thread, so nobody is ever put off until something that is put
off itself is done: two of them could wait for each other for ever.

No step is ever answered before it is done, and no caller is given a result that is not there yet: he gets an
:class:`~zarr.errors.OperationPutOffError`.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule
from zarr.errors import OperationPutOffError

if TYPE_CHECKING:
    import logging
    from types import FrameType

    from zarr.runners import finalizers
    from zarr.runners.locks.operation import Holder
else:
    logging = LazyModule("logging")
    finalizers = LazyModule("zarr.runners.finalizers")

LAST_SECONDS: Final = 10
"""How long the end of the interpreter waits for what was put off."""

UNDER_WAY: dict[object, None] = {}
"""What was put off and goes on in a thread of its own now."""


class Resumed:
    """A request in whose midst steps were put off.

    Parameters
    ----------
    go_on : callable
        Returns the reply.
    """

    __slots__ = ("go_on",)

    def __init__(self, go_on: Callable[[], Any]) -> None:
        self.go_on = go_on


class PutOff(BaseException):
    """Raised where waiting for a key could never end: what this thread was at when it was interrupted holds it.

    Whoever it passes says how he goes on later; each calls the one below him for that.

    Parameters
    ----------
    outer : Holder or None
        Who lets go in this same thread. None where that is not known, or is a task.
    """

    def __init__(self, outer: Holder | None) -> None:
        self._outer = outer
        self._holds = False
        self.go_on: Callable[[], Any] | None = None

    def request(self, request: Any) -> Any:
        """What to answer first when steps go on that were put off at this request."""
        return request if self.go_on is None else Resumed(self.go_on)

    def pause(self, holder: Holder | None, go_on: Callable[[], Any]) -> None:
        """Note how somebody goes on, and that nobody is at work on what he holds until then."""
        self.go_on = go_on
        if holder is not None:
            holder.pause()
            self._holds = self._holds or holder.holds
            self.go_on = partial(_resume, holder, go_on)

    def passed_on(self, whole: bool) -> BaseException:
        """What to raise; a whole operation is done as soon as the interrupted one has let go of its keys."""
        if not whole:
            return self
        assert self.go_on is not None
        work = partial(copy_context().run, self.go_on)
        if self._outer is None or self._holds:
            _start(work)
        else:
            self._outer.after.append(work)
        return OperationPutOffError(
            "this operation was asked for by a finalizer, or by a synchronous call amid tasks of the same event loop, "
            "and needs what the interrupted one has locked: it is done as soon as that has ended, so there is no "
            "result yet; ask for it outside of __del__, and in event loops await the asynchronous twin of the call"
        )


def run_now_or_later(run: Callable[[Any], Any], steps: Any) -> None:
    """Run steps that have no result: they may be put off until what this thread is amid has ended.

    Examples
    --------
    >>> run_now_or_later(list, iter([1, 2]))
    """
    with suppress(OperationPutOffError):
        run(steps)


def _resume(holder: Holder, go_on: Callable[[], Any]) -> Any:
    holder.resume()
    return go_on()


def do_all(work: Sequence[Callable[[], Any]]) -> None:
    """Do what was put off; nobody is there to be told of errors, so they are logged."""
    for each in work:
        try:
            each()
        except OperationPutOffError:
            pass  # it has to wait for something else now
        except Exception:
            _tell("what a finalizer asked for, and what had to wait for its turn, ended with an error")


def _tell(message: str) -> None:
    logging.getLogger("zarr.runners").exception(message)


def _start(work: Callable[[], Any]) -> None:
    """Go on in a new thread: made without a lock of Python, which the interrupted code could hold."""
    mark = object()

    def go_on() -> None:
        try:
            do_all([work])
        finally:
            UNDER_WAY.pop(mark, None)

    UNDER_WAY[mark] = None
    try:
        _thread.start_new_thread(go_on, ())
    except BaseException:
        UNDER_WAY.pop(mark, None)
        _tell("what a finalizer asked for could not be done: there is no thread to be had")
        raise


def wait_for_all(seconds: float = LAST_SECONDS) -> bool:
    """Wait until all is done that was put off; whether it is.

    Examples
    --------
    >>> wait_for_all()
    True
    """
    deadline = time.monotonic() + seconds
    while UNDER_WAY and time.monotonic() < deadline:
        time.sleep(0.001)
    return not UNDER_WAY


def known_to_callers() -> set[int]:
    """The identities of all that the functions of the runners have in variables which the caller was called from.

    What an operation holds is in a variable of the function that lets go of it: so this tells whether this thread is
    amid that operation. The number of a thread does not: it may stand for one that was killed.
    """
    found: set[int] = set()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("zarr.runners."):
            found.update(map(id, frame.f_locals.values()))
        frame = frame.f_back
    return found


@atexit.register
def _end() -> None:
    """What must be done while threads run and modules are found."""
    wait_for_all()
    finalizers.prepare()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=UNDER_WAY.clear)
