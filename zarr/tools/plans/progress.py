"""Show how far a plan is: a bar on a terminal or in a notebook, or a call of the user."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from zarr._lazy import load_extra, loaded

Progress: TypeAlias = 'Literal["auto"] | bool | Callable[[int, int], object]'
"""Accepted by each tool as ``progress``."""

PATIENCE_SECONDS = 2.0
"""Work that is shorter shows no bar by itself."""


@contextmanager
def reporting(progress: Progress, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield what is called with the number of tasks that have ended since the last call.

    Examples
    --------
    >>> with reporting(lambda ended, total: print(ended, "of", total), "work", 3) as report:
    ...     report(2)
    2 of 3
    """
    if callable(progress):
        yield _Count(progress, total)
        return
    if progress not in (True, False, "auto"):
        raise TypeError(f"progress must be True, False, 'auto' or a callable, not {progress!r}")
    if progress is False or (progress == "auto" and not _is_watched()):
        yield lambda ended: None
        return
    bar = _Bar(title, total, 0 if progress is True else PATIENCE_SECONDS)
    try:
        yield bar
    finally:
        bar.close()


def _is_watched() -> bool:
    """Return whether somebody sees a bar, and the package that draws it is installed."""
    if not (sys.stderr is not None and sys.stderr.isatty()) and loaded("ipykernel") is None:
        return False
    try:
        console = load_extra("rich.console", "cli", "a progress bar").Console(stderr=True)
    except ImportError:
        return False
    return bool(console.is_terminal or console.is_jupyter)


class _Count:
    """Tells a function of the user how many tasks have ended."""

    def __init__(self, tell: Callable[[int, int], object], total: int) -> None:
        self.tell, self.total, self.ended = tell, total, 0

    def __call__(self, ended: int) -> None:
        if ended:
            self.ended += ended
            self.tell(self.ended, self.total)


class _Bar:
    """A bar that appears when some seconds have passed."""

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
        # A timer, and no look at the clock in each report: the first task may take long.
        self._timer = threading.Timer(patience, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, ended: int) -> None:
        self._bar.update(self._task, advance=ended)

    def close(self) -> None:
        """Take the bar away, with the last state standing."""
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()
