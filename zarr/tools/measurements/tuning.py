"""Find chunks, shards and codecs of an array that are good for all of some reads, by trials on a sample of it."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from zarr.arrays.array import Array
from zarr.arrays.show.cf import dimension_names
from zarr.storage import LocalStore
from zarr.tools.measurements.candidates import default_codecs, given_layouts, ladder, own_layout, parse_codecs
from zarr.tools.measurements.costs import Sample, sample_shape
from zarr.tools.measurements.reads import check_seconds, open_measured, parse_limit, parse_reads
from zarr.tools.measurements.results import Tuning
from zarr.tools.measurements.trials import FINALISTS, MOST_NEAR, SEARCHES, Trials
from zarr.tools.plans.plan import MEMORY, human
from zarr.tools.plans.progress import Progress, reporting

READS: Final = ("time-series", "map")
SAMPLE: Final = "64 MiB"

COPIES: Final = 4
"""Maximum number of copies of the sample in memory: its values, stored, read back, decoded."""


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
    the array; then codecs, in the best four of them; then all shapes with the best codec, and shapes near the best
    one. The score of a layout is that of its worst read. Times are CPU times of all processors, for reads of the whole
    array, without the time of a remote store (see ``latency``, ``bandwidth``). The array itself is only read.

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
    finalists = min(FINALISTS, len(layouts))
    count = len(layouts) + (finalists * len(encodings) + len(layouts) - finalists if encodings else 0)
    count += 2 * node.ndim * MOST_NEAR * SEARCHES if chunks is None else 0
    with reporting(progress, f"tune {node.name or node.store_path}", count) as report:
        trials = Trials(Sample(node, shape, folder), wanted, seconds, (latency, 1 / rate), report)
        return trials.tuning(layouts, encodings, search=chunks is None)


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
