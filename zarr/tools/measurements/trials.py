"""The trials of candidates: chunk shapes first, then codecs, then chunk shapes near the best one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from zarr.tools.measurements.candidates import Grid, Layout, neighbours
from zarr.tools.measurements.costs import Model, Sample, Trial
from zarr.tools.measurements.reads import Read
from zarr.tools.measurements.results import ALIKE, Row, Tuning, ranked

_AGAIN: Final = 2.0
"""Layouts with scores up to this multiple of the best one are measured again: the first measurement may have been
disturbed."""

_MOST_AGAIN: Final = 6

_CALM_ROUNDS: Final = 2
"""They are measured until so many measurements in turn have lowered no cost."""

_MOST_ROUNDS: Final = 8

FINALISTS: Final = 4
"""Number of the best chunk shapes in which all codecs are tried."""

_SHARE: Final = 0.5
"""The part of the time limit for chunk shapes, if codecs are tried after them."""

SEARCHES: Final = 3
"""Number of times that chunks near the best ones are tried."""

_ABOUT: Final = 1.25
"""Those near layouts with a score up to this multiple of the best one are tried."""

MOST_NEAR: Final = 2
"""Maximum number of these layouts at a time."""


class Trials:
    """The trials of one call of :func:`tune`.

    Parameters
    ----------
    sample : Sample
    reads : list of Read
    seconds : float, optional
    waits : tuple of two floats
        Additional seconds for each chunk and for each stored byte.
    report : callable
    """

    def __init__(
        self,
        sample: Sample,
        reads: list[Read],
        seconds: float | None,
        waits: tuple[float, float],
        report: Callable[[int], None],
    ) -> None:
        self.sample, self.reads, self.waits, self.report = sample, reads, waits, report
        self.seconds, self.begin = seconds or math.inf, time.monotonic()
        self.found: dict[tuple[Grid, str], Trial] = {}
        self.searched: set[tuple[Grid, str]] = set()
        self.model = Model(0.0, 0.0, 0.0, 0.0)
        self.by_size, self.left_out = False, 0

    def tuning(self, layouts: Sequence[Layout], encodings: Sequence[dict[str, Any]], search: bool) -> Tuning:
        """Try layouts, then codecs in the best ones, then the best codec in the others, then chunks near the best."""
        self._try(layouts, self.seconds * (_SHARE if encodings else 1), least=2)
        self.model = Model.fitted([c for trial in self.found.values() for c in (trial.probe, *trial.costs.values())])
        self._try_again()
        if encodings:
            self._try_codecs(encodings)
        for _ in range(SEARCHES if search else 0):
            self._try_near()
        rows = ranked([self._row(trial) for trial in self.found.values() if not trial.layout.codecs], by_size=False)
        return Tuning(self.sample.whole, rows, self._rows() if self.by_size else [], self.sample.shape, self.left_out)

    def _try_codecs(self, encodings: Sequence[dict[str, Any]]) -> None:
        """Try codecs in the best chunks, and the best codec in the others."""
        rows = self._rows()
        self._try([Layout(*row.grid, codecs) for row in rows[:FINALISTS] for codecs in encodings])
        self.by_size = len(self.found) > len(rows)
        codecs = self._best().layout.codecs
        others = [Layout(*row.grid, codecs) for row in rows[FINALISTS:]]
        if codecs:
            self._try(others)
            self._try_again()
        else:
            self.report(len(others))

    def _try_near(self) -> None:
        """Try chunks that are half or twice as long along one axis as the best ones, with the same codec.

        Of the best ones those are taken whose neighbours are not tried yet: two reads that want different chunks may
        each be served better by a step, and both by two steps.
        """
        rows = self._rows()
        near = [row for row in rows if row.score <= _ABOUT * rows[0].score and row.key not in self.searched][:MOST_NEAR]
        self.searched.update(row.key for row in near)
        beside = [(row.codec, neighbours(self.sample.whole, self.found[row.key].layout)) for row in near]
        layouts = {(layout.grid, codec): layout for codec, found in beside for layout in found}
        untried = [layout for key, layout in layouts.items() if key not in self.found]
        self._try(untried)
        self.report(2 * MOST_NEAR * len(self.sample.shape) - len(untried))
        if untried:
            self._try_again()

    def _try(self, layouts: Sequence[Layout], limit: float | None = None, least: int = 0) -> None:
        """Try layouts while there is time, some of them in any case."""
        for number, layout in enumerate(layouts):
            if number < least or self._is_time(limit):
                trial = self.sample.trial(layout, self.reads)
                self.found[layout.grid, trial.codec] = trial
            else:
                self.left_out += 1
            self.report(1)

    def _try_again(self) -> None:
        """Measure the best layouts, and the best one for each read, in turn until no cost gets lower.

        Other work on the machine disturbs some measurements of a layout, but not all.
        """
        calm = 0
        for _ in range(_MOST_ROUNDS):
            rows = self._rows()
            if len(rows) == 1 or calm == _CALM_ROUNDS:
                break
            near = [row for row in rows if row.score <= _AGAIN * rows[0].score][:_MOST_AGAIN]
            near += [min(rows, key=lambda row: row.seconds[name]) for name in rows[0].seconds]
            lower = [self._is_lower(key) for key in {row.key: None for row in near}]
            calm = 0 if any(lower) else calm + 1

    def _is_lower(self, key: tuple[Grid, str]) -> bool:
        """Measure a layout again; return True if that lowers a cost of it."""
        before = self.found[key]
        if self._is_time():
            self.found[key] = before.least(self.sample.trial(before.layout, self.reads))
        after = self.found[key].costs
        return any(ALIKE * after[name].seconds < cost.seconds for name, cost in before.costs.items())

    def _is_time(self, limit: float | None = None) -> bool:
        return time.monotonic() - self.begin < (limit or self.seconds)

    def _best(self) -> Trial:
        return self.found[self._rows()[0].key]

    def _rows(self) -> list[Row]:
        return ranked([self._row(trial) for trial in self.found.values()], self.by_size)

    def _row(self, trial: Trial) -> Row:
        whole, layout = self.sample.whole, trial.layout
        stored = trial.stored / self.sample.nbytes
        seconds = {}
        for read in self.reads:
            files = read.chunks(whole.shape, layout.shards or layout.chunks)
            count = read.chunks(whole.shape, layout.chunks)
            nbytes = count * math.prod(layout.chunks) * whole.dtype.itemsize
            requests = read.requests(whole.shape, layout.chunks, layout.shards)
            wait = self.waits[0] * requests + self.waits[1] * nbytes * stored
            seconds[read.name] = self.model.carried_over(trial.costs[read.name], files, count, nbytes) + wait
        return Row(
            chunks=layout.chunks, shards=layout.shards, codec=trial.codec, nbytes=round(whole.nbytes * stored),
            ratio=1 / max(stored, 1e-9), seconds=seconds, score=math.nan,
            parameters={"chunks": layout.chunks, "shards": layout.shards, **layout.codecs},
        )  # fmt: skip
