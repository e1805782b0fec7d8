"""Layouts that were tried, the best first, and the table and the picture of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from zarr._lazy import load_extra
from zarr.arrays.array import Array
from zarr.tools.copies.rechunking import rechunk
from zarr.tools.measurements.candidates import Grid
from zarr.tools.measurements.reads import Shape
from zarr.tools.plans.plan import human

ALIKE: Final = 1.05
"""Scores that differ by less are equal: then the smaller layout is better."""

SHOWN: Final = 12
"""Maximum number of chunk shapes, and of codecs, in a table."""


@dataclass(frozen=True)
class Row:
    """One tried layout.

    Parameters
    ----------
    chunks : tuple of int
    shards : tuple of int, optional
    codec : str
        Filters and compressors.
    nbytes : int
        Size of the whole array in this layout.
    ratio : float
        Its bytes in memory, divided by that size.
    seconds : dict
        The CPU time of a read of the whole array, by the name of the read.
    score : float
        The largest ratio, over all reads, of the time in this layout to the time in the best layout for that read. If
        codecs are compared, the size counts as a read, in comparison with the other codecs in the same chunks.
    parameters : dict
        Parameters of :func:`zarr.from_array` for this layout.
    """

    chunks: Shape
    shards: Shape | None
    codec: str
    nbytes: int
    ratio: float
    seconds: dict[str, float]
    score: float
    parameters: dict[str, Any]

    @property
    def grid(self) -> Grid:
        """Chunks and shards."""
        return self.chunks, self.shards

    @property
    def key(self) -> tuple[Grid, str]:
        """Chunks, shards and codec."""
        return self.grid, self.codec

    def to_json(self) -> dict[str, Any]:
        """Return the row without its parameters."""
        return {name: value for name, value in self.__dict__.items() if name != "parameters"}


@dataclass(frozen=True)
class Tuning:
    """The result of :func:`tune`.

    Parameters
    ----------
    array : Array
        The tuned array.
    rows : list of Row
        The layouts with the codecs of the array, the best first.
    codecs : list of Row
        These, all codecs in the chunks of the best four, and the best codec in the chunks of the others, the best
        first; empty if no codecs were tried.
    sample : tuple of int
        The shape of the tried part of the array.
    left_out : int
        Number of candidates that were not tried for lack of time.

    Examples
    --------
    >>> import zarr
    >>> found = zarr.tools.tune(zarr.array([1, 2, 3]), reads=("all",), progress=False)
    >>> found.best.chunks
    (3,)
    """

    array: Array[Any]
    rows: list[Row]
    codecs: list[Row]
    sample: Shape
    left_out: int

    @property
    def best(self) -> Row:
        """The best layout."""
        return (self.codecs or self.rows)[0]

    def __str__(self) -> str:
        return self.table()

    def table(self) -> str:
        """Return the best 12 rows of ``rows`` and of ``codecs`` as text.

        Returns
        -------
        str
        """
        heads = ["chunks", "shards", "codec", "stored", "ratio", *(f"{name} ms" for name in self.best.seconds), "score"]
        lines = [heads]
        for title, rows in (("chunk shapes:", self.rows), ("codecs and chunk shapes:", self.codecs)):
            lines += [[title], *map(_cells, rows[:SHOWN])] if rows else []
            lines += [[f"({len(rows) - SHOWN} more)"]] if len(rows) > SHOWN else []
        about = [f"sample {self.sample} of {self.array.shape}"]
        if self.left_out:
            about.append(f"{self.left_out} candidates left out for lack of time")
        return "\n".join([*aligned(lines), "; ".join(about)])

    def to_json(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        return {
            "shape": self.array.shape,
            "sample": self.sample,
            "left_out": self.left_out,
            "best": self.best.to_json(),
            "chunks": [row.to_json() for row in self.rows],
            "codecs": [row.to_json() for row in self.codecs],
        }

    def plot(self, file: str | Path | None = None) -> Any:
        """Draw the time of each read and the size of each layout.

        Parameters
        ----------
        file : str or Path, optional
            The file for the picture; its suffix determines the format.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        figure = load_extra("matplotlib.figure", "plot", "a picture").Figure(layout="constrained")
        rows = [*self.rows, *self.codecs][::-1]
        figure.set_size_inches(10, 1.5 + 0.25 * len(rows))
        times, sizes = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1])
        for name in self.best.seconds:
            times.plot([row.seconds[name] * 1e3 for row in rows], range(len(rows)), "o", label=name)
        times.set(xscale="log", xlabel="CPU time of a read, ms")
        times.set_yticks(range(len(rows)), [f"{_lengths(row.chunks)}  {row.codec}" for row in rows])
        times.grid(alpha=0.3)
        times.legend()
        sizes.barh(range(len(rows)), [row.nbytes / (1 << 20) for row in rows])
        sizes.set(xlabel="stored, MiB")
        if file is not None:
            figure.savefig(file)
        return figure

    def apply(self, target: Any, **options: Any) -> Any:
        """Copy the whole array into the best layout.

        Parameters
        ----------
        target : store, path or URL
            Another place than that of the array.
        **options
            As in :func:`rechunk`: path, overwrite, memory, executor, progress, resume, dry_run, storage_options.

        Returns
        -------
        Array
            The copy; with ``dry_run`` a :class:`Plan`.

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If there is something at the place of the copy, and ``overwrite`` is False.
        """
        return rechunk(self.array, target, **self.best.parameters, **options)


def ranked(rows: Sequence[Row], by_size: bool) -> list[Row]:
    """Return rows with their scores, the best first."""
    if not rows:
        return []
    costs = [list(row.seconds.values()) for row in rows]
    least = [max(min(column), 1e-9) for column in zip(*costs, strict=True)]
    scores = [max(cost / low for cost, low in zip(line, least, strict=True)) for line in costs]
    if by_size:  # chunks are chosen for their reads: a codec must not make up for the size of others
        sizes: dict[Grid, int] = {}
        for row in rows:
            sizes[row.grid] = max(1, min(row.nbytes, sizes.get(row.grid, row.nbytes)))
        scores = [max(score, row.nbytes / sizes[row.grid]) for score, row in zip(scores, rows, strict=True)]
    scored = [replace(row, score=score) for row, score in zip(rows, scores, strict=True)]
    alike = ALIKE * min(scores)
    return sorted(scored, key=lambda row: (0, row.nbytes) if row.score <= alike else (1, row.score))


# ---------------------------------------------------------------------------------------------------------- text


def _cells(row: Row) -> list[str]:
    times = [f"{seconds * 1e3:.3g}" for seconds in row.seconds.values()]
    shards = "" if row.shards is None else _lengths(row.shards)
    return [_lengths(row.chunks), shards, row.codec, human(row.nbytes), f"{row.ratio:.2f}", *times, f"{row.score:.2f}"]


def _lengths(shape: Shape) -> str:
    return ",".join(map(str, shape))


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, their cells aligned; a row of one cell is a title.

    Examples
    --------
    >>> aligned([["a", "b"], ["title"], ["long", "c"]])
    ['a     b', 'title', 'long  c']
    """
    widths = [max(map(len, column)) for column in zip(*(line for line in lines if len(line) > 1), strict=True)]
    return [
        line[0] if len(line) == 1
        else "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]  # fmt: skip
