"""Warnings that name the line of the program that called the library.

All warnings of the library go through :func:`warn` or :func:`warn_once`. The number of calls between them and the
program varies, since steps are generators and some run in other threads; so the line is searched for.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, takewhile
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

CALLER: Final[ContextVar[int | asyncio.Task[Any] | None]] = ContextVar("zarr.caller", default=None)
"""The number of the thread, or the task, that waits for the code running here in another thread or task."""

_PASSED_OVER: Final = frozenset(
    ("zarr", "zarr_core", "asyncio", "concurrent", "contextlib", "functools", "importlib", "threading", "donfig")
)
"""Packages whose lines are never the program's: the library, and packages that call it for the program."""

_SHOWN: Final[dict[Any, Any]] = {}
_SILENT: Final[ContextVar[bool]] = ContextVar("zarr.silent", default=False)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Leave out the warnings of :func:`warn` in a block, which must not yield requests.

    Examples
    --------
    >>> with without_warnings():
    ...     warn("the user knows this", UserWarning)
    """
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn about a call of the program, and name the line that called the library.

    Filters by module see the module of the library that warns, except for deprecations: Python shows those by default
    if the module is the main program.

    Parameters
    ----------
    message
        The text to show.
    category
        The class of the warning.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always")
    ...     warn("take care", UserWarning)
    >>> str(shown[0].message)
    'take care'
    """
    if _SILENT.get():
        return
    frame = _program_frame()
    _warn_at(frame, message, category, frame.f_globals.setdefault("__warningregistry__", {}))


def warn_once(message: str, category: type[Warning]) -> None:
    """Warn about something that does not depend on the place: by default each message is shown once in a process.

    Python's own filters decide: ``"always"``, ``"error"`` and ``"ignore"`` act on every call.

    Parameters
    ----------
    message
        The text to show.
    category
        The class of the warning.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always")
    ...     for _ in range(2):
    ...         warn_once("take care", UserWarning)
    >>> len(shown)
    2
    """
    frame = _program_frame()
    # Python remembers shown warnings by text, class and line, and forgets them when a filter changes. A key without the
    # line stands for all lines, and is forgotten with the others.
    anywhere, here = (message, category), (message, category, frame.f_lineno)
    if anywhere in _SHOWN:
        _SHOWN[here] = True
    _warn_at(frame, message, category, _SHOWN)
    if here in _SHOWN:
        _SHOWN[anywhere] = True


def _warn_at(frame: FrameType, message: str, category: type[Warning], registry: dict[Any, Any]) -> None:
    names = frame.f_globals if issubclass(category, DeprecationWarning) else sys._getframe(2).f_globals
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=str(names.get("__name__") or "<string>"),
        registry=registry,
    )


def _program_frame() -> FrameType:
    """Return the innermost frame of the program: of this task, of its waiting task, or of the event loop's caller."""
    library = sys._getframe(2)
    own = list(_outward(library))
    task = list(takewhile(lambda frame: not _name(frame).startswith("asyncio."), own))
    return next(filter(_is_program, chain(task, _waiting(CALLER.get()), own)), library)


def _name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _is_program(frame: FrameType) -> bool:
    return _name(frame).partition(".")[0] not in _PASSED_OVER


def _outward(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _waiting(caller: int | asyncio.Task[Any] | None) -> Iterable[FrameType]:
    """Return the frames of a thread or of a task, the innermost first."""
    if caller is None:
        return ()
    if isinstance(caller, int):
        return _outward(sys._current_frames().get(caller))
    frames: list[FrameType] = []
    awaited: Any = caller.get_coro()
    while (frame := getattr(awaited, "cr_frame", None)) is not None:
        frames.append(frame)
        awaited = awaited.cr_await
    return reversed(frames)
