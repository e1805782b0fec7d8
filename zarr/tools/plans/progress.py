"""Show the progress of a plan: a bar on a terminal or in a notebook, or a call of the user's function."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from zarr._lazy import load_extra

Progress: TypeAlias = 'Literal["auto"] | bool | Callable[[int, int], object]'
"""The type of ``progress`` in each tool."""

PATIENCE_SECONDS = 2.0
"""Shorter work shows no bar by default."""


@contextmanager
def reporting(
    progress: Progress, title: str, total: int | Callable[[], int]
) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of tasks that have ended since the last call.

    A total that takes time to count is given as a callable, and counted only if the progress is shown.

    Examples
    --------
    >>> with reporting(lambda ended, total: print(ended, "of", total), "work", 3) as report:
    ...     report(2)
    2 of 3
    """
    if callable(progress):
        yield _Count(progress, total() if callable(total) else total)
        return
    if progress not in (True, False, "auto"):
        raise TypeError(f"progress must be True, False, 'auto' or a callable, not {progress!r}")
    if progress is False or (progress == "auto" and not _is_watched()):
        yield lambda ended: None
        return
    bar = _Bar(title, total() if callable(total) else total, 0 if progress is True else PATIENCE_SECONDS)
    try:
        yield bar
    finally:
        bar.close()


def _is_watched() -> bool:
    """Return True if a bar would be visible, and the package that draws it is installed."""
    if not (sys.stderr is not None and sys.stderr.isatty()) and "ipykernel" not in sys.modules:
        return False
    try:
        console = load_extra("rich.console", "cli", "a progress bar").Console(stderr=True)
    except ImportError:
        return False
    return bool(console.is_terminal or console.is_jupyter)


class _Count:
    """Call a function of the user with the number of finished tasks."""

    def __init__(self, tell: Callable[[int, int], object], total: int) -> None:
        self.tell, self.total, self.ended = tell, total, 0

    def __call__(self, ended: int) -> None:
        if ended:
            self.ended += ended
            self.tell(self.ended, self.total)


class _Bar:
    """A bar that appears after some seconds."""

    def __init__(self, title: str, total: int, patience: float) -> None:
        progress = load_extra("rich.progress", "cli", "a progress bar")
        console = load_extra("rich.console", "cli", "a progress bar").Console(stderr=True)
        self._bar: Any = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task(title, total=total)
        # A timer, and no check of the clock in each report: the first task may take long.
        self._timer = threading.Timer(patience, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, ended: int) -> None:
        self._bar.update(self._task, advance=ended)

    def close(self) -> None:
        """Remove the bar; its last state stays visible."""
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()
