"""Find chunks, shards and codecs of an array that are good for all of some reads, by trials on a sample of it."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from zarr._lazy import load_extra
from zarr.arrays.array import Array
from zarr.arrays.show.cf import dimension_names
from zarr.storage import LocalStore
from zarr.tools.copies.rechunking import rechunk
from zarr.tools.measurements.candidates import (
    Grid,
    Layout,
    default_codecs,
    given_layouts,
    ladder,
    own_layout,
    parse_codecs,
)
from zarr.tools.measurements.costs import Model, Sample, Trial, sample_shape
from zarr.tools.measurements.reads import Read, Shape, check_seconds, open_measured, parse_limit, parse_reads
from zarr.tools.plans.plan import MEMORY, human
from zarr.tools.plans.progress import Progress, reporting

READS: Final = ("time-series", "map")
SAMPLE: Final = "64 MiB"

COPIES: Final = 4
"""Maximum number of copies of the sample in memory: its values, stored, read back, decoded."""

_ALIKE: Final = 1.05
"""Scores that differ by less are equal: then the smaller layout is better."""

_AGAIN: Final = 2.0
"""Layouts with scores up to this multiple of the best one are measured again: the first measurement may have been
disturbed."""

_MOST_AGAIN: Final = 6

FINALISTS: Final = 4
"""Number of the best chunk shapes in which codecs are tried: the best shape may depend on the codec."""

_SHARE: Final = 0.7
"""The part of the time limit for chunk shapes, if codecs are tried after them."""


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
        The codecs in the chunks of the best four of these, the best first; empty if none were tried.
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
        """Return all rows as text.

        Returns
        -------
        str
        """
        heads = ["chunks", "shards", "codec", "stored", "ratio", *(f"{name} ms" for name in self.best.seconds), "score"]
        parts = [("chunk shapes:", self.rows), ("codecs, in the best chunk shapes:", self.codecs)]
        lines = [heads]
        for title, rows in parts:
            lines += [[title], *map(_cells, rows)] if rows else []
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


def tune(
    array: Any,
    *,
    reads: str | Iterable[str] = READS,
    chunks: Iterable[Any] | None = None,
    codecs: Iterable[Any] | None = None,
    sample: int | str | None = SAMPLE,
    seconds: float | None = None,
    memory: int | str = MEMORY,
    latency: float = 0.0,
    bandwidth: int | str | None = None,
    scratch: str | Path | None = None,
    progress: Progress = "auto",
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Tuning:
    """Find chunks, shards and codecs that are good for all of some reads, by trials on a sample of an array.

    The sample is from the middle of the array, or from a place with fewer fill values. It is stored in each candidate
    in turn, in a temporary place, and each read is measured there. First chunk shapes are compared, with the codecs of
    the array; then codecs, in the best four of them. The score of a layout is that of its worst read. Times are CPU
    times of all processors, for reads of the whole array, without the time of a remote store (see ``latency``,
    ``bandwidth``). The array itself is only read.

    Parameters
    ----------
    array : Array, store, path or URL
        The array.
    reads : str or iterable of str, default ("time-series", "map")
        The important reads: "time-series" is all along the axis named time, or else the first one, of one element of
        the others; "map" all of the last two axes but time; "window:256" 256 elements along each of these two;
        "plane:lat,lon" and "line:depth" all of the dimensions given by name or number; "all" the array.
    chunks : iterable, optional
        The chunk shapes to try, each as in :func:`rechunk`. Default: shapes between the best ones for each read. The
        present chunks are tried in any case.
    codecs : iterable, optional
        The codecs to try, each as ``compressors`` in :func:`zarr.create_array`, or a mapping with ``compressors``,
        ``filters`` and ``serializer``; None for no compression; an empty list: none are tried. Default: Zstandard of
        levels 1 and 9, Blosc with LZ4 and with Zstandard. The present codecs are tried in any case.
    sample : int or str, default "64 MiB"
        The size of the sample in memory; 0 or None: the whole array.
    seconds : float, optional
        Time after which no further trial begins. Default: no limit.
    memory : int or str, default "512 MiB"
        At most a quarter of it is for the sample.
    latency : float, default 0.0
        Additional seconds for each request of a read. For a remote store: the time of a request, divided by the number
        of parallel requests. A chunk is one request; a shard is one for its index, and one for each run of chunks that
        lie in a row. Without it small chunks look better than they are there.
    bandwidth : int or str, optional
        Stored bytes that the store delivers in a second, such as "100 MB". Default: the time of the transfer is not
        counted.
    scratch : str or Path, optional
        A folder for the trials, which are removed at the end. Default: the system's folder for temporary files if the
        array is in a folder, else memory.
    progress : "auto", bool or callable, default "auto"
        As in :func:`rechunk`.
    path : str, optional
        The path of the array in the store.
    storage_options : dict, optional
        Options for URLs of fsspec.

    Returns
    -------
    Tuning
        Rows of all layouts; ``best``, ``table()``, ``plot()``, ``apply(target)``.

    Raises
    ------
    ValueError
        If there is no such read of the array, a chunk shape or a codec does not fit it, a limit is invalid, the sample
        does not fit into the memory, or there is a group and no array.

    Examples
    --------
    >>> import numpy as np, zarr
    >>> data = np.arange(64 * 32 * 32, dtype="f4").reshape(64, 32, 32)
    >>> array = zarr.array(data, chunks=(1, 32, 32))
    >>> found = zarr.tools.tune(array, reads=["line:0"], chunks=[(64, 8, 8)], codecs=[])
    >>> found.best.chunks, len(found.rows)
    ((64, 8, 8), 2)
    >>> found.apply(zarr.storage.MemoryStore()).chunks
    (64, 8, 8)
    """
    check_seconds(seconds)
    if isinstance(latency, bool) or not isinstance(latency, int | float) or not 0 <= latency < math.inf:
        raise ValueError(f"latency must be a number of seconds from 0 on, not {latency!r}")
    rate = math.inf if bandwidth is None else parse_limit(bandwidth, "bandwidth")
    node = open_measured(array, path, storage_options, "tune")
    wanted = parse_reads(reads, node.shape, dimension_names(node))
    layouts = ladder(node, wanted) if chunks is None else given_layouts(node, chunks)
    layouts = list({each.grid: each for each in (own_layout(node), *layouts)}.values())
    encodings = parse_codecs(node, default_codecs(node) if codecs is None else codecs)
    shape = sample_shape(node, layouts[1:] or layouts, sample_limit(node, sample, parse_limit(memory, "memory")))
    folder = scratch_folder(node, scratch)
    count = len(layouts) + min(FINALISTS, len(layouts)) * len(encodings)
    with reporting(progress, f"tune {node.name or node.store_path}", count) as report:
        trials = _Trials(Sample(node, shape, folder), wanted, seconds, (latency, 1 / rate), report)
        return trials.tuning(layouts, encodings)


def sample_limit(array: Array[Any], sample: int | str | None, memory: int) -> int:
    """Return the maximum number of bytes of a sample.

    Raises
    ------
    ValueError
        If it does not fit into the memory.

    Examples
    --------
    >>> import zarr
    >>> sample_limit(zarr.zeros(1000, dtype="u1"), "100 B", 1 << 20)
    100
    """
    wanted = array.nbytes if sample in (None, 0) else min(array.nbytes, parse_limit(sample, "sample"))
    if COPIES * wanted > memory:
        way = f"at least {human(COPIES * wanted)} of memory, or a sample of at most {human(memory // COPIES)}"
        raise ValueError(f"a sample of {human(wanted)} does not fit into memory of {human(memory)}: allow {way}")
    return wanted


def scratch_folder(array: Array[Any], scratch: str | Path | None) -> Path | None:
    """Return the folder for copies of a sample; None: in memory.

    Raises
    ------
    ValueError
        If there is no such folder.

    Examples
    --------
    >>> import zarr
    >>> scratch_folder(zarr.zeros(3), None) is None
    True
    """
    if scratch is None:
        return Path(tempfile.gettempdir()) if isinstance(array.store, LocalStore) else None
    if not Path(scratch).is_dir():
        raise ValueError(f"scratch: there is no folder {str(scratch)!r}")
    return Path(scratch)


class _Trials:
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

    def tuning(self, layouts: Sequence[Layout], encodings: Sequence[dict[str, Any]]) -> Tuning:
        """Try layouts, then codecs in the best one."""
        limit = self.seconds * (_SHARE if encodings else 1)
        tried = self._try(layouts, limit, least=2)
        model = Model.fitted([cost for trial in tried for cost in (trial.probe, *trial.costs.values())])
        rows = self._rows(tried, model)
        tried = self._try_again(tried, [row.grid for row in rows if row.score <= _AGAIN * rows[0].score], limit)
        rows = self._rows(tried, model)
        finalists = [Layout(row.chunks, row.shards) for row in rows[:FINALISTS]]
        others = [Layout(each.chunks, each.shards, codecs) for each in finalists for codecs in encodings]
        more = self._try(others, self.seconds, least=0)
        codecs = [*rows[:FINALISTS], *(self._row(trial, model) for trial in more)] if more else []
        left_out = len(layouts) + len(others) - len(tried) - len(more)
        return Tuning(self.sample.whole, rows, _ranked(codecs, by_size=True), self.sample.shape, left_out)

    def _rows(self, trials: Sequence[Trial], model: Model) -> list[Row]:
        return _ranked([self._row(trial, model) for trial in trials], by_size=False)

    def _try_again(self, tried: Sequence[Trial], grids: Sequence[Grid], limit: float) -> list[Trial]:
        """Measure the trials of some layouts once more, and keep the lower costs."""
        again = grids[:_MOST_AGAIN] if len(grids) > 1 else ()
        return [
            trial.least(self.sample.trial(trial.layout, self.reads))
            if trial.layout.grid in again and time.monotonic() - self.begin < limit
            else trial
            for trial in tried
        ]

    def _try(self, layouts: Sequence[Layout], limit: float, least: int) -> list[Trial]:
        """Try layouts while there is time, some of them in any case."""
        tried: list[Trial] = []
        for layout in layouts:
            if len(tried) < least or time.monotonic() - self.begin < limit:
                tried.append(self.sample.trial(layout, self.reads))
            self.report(1)
        return tried

    def _row(self, trial: Trial, model: Model) -> Row:
        whole, layout = self.sample.whole, trial.layout
        stored = trial.stored / self.sample.nbytes
        seconds = {}
        for read in self.reads:
            files = read.chunks(whole.shape, layout.shards or layout.chunks)
            count = read.chunks(whole.shape, layout.chunks)
            nbytes = count * math.prod(layout.chunks) * whole.dtype.itemsize
            requests = read.requests(whole.shape, layout.chunks, layout.shards)
            wait = self.waits[0] * requests + self.waits[1] * nbytes * stored
            seconds[read.name] = model.carried_over(trial.costs[read.name], files, count, nbytes) + wait
        return Row(
            chunks=layout.chunks, shards=layout.shards, codec=trial.codec, nbytes=round(whole.nbytes * stored),
            ratio=1 / max(stored, 1e-9), seconds=seconds, score=math.nan,
            parameters={"chunks": layout.chunks, "shards": layout.shards, **layout.codecs},
        )  # fmt: skip


def _ranked(rows: Sequence[Row], by_size: bool) -> list[Row]:
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
    alike = _ALIKE * min(scores)
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
