"""``zarr.tools.tune`` and ``bench``: what they try and choose, and what a sample says about the whole array."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.places import STORES, fill, make_store
from zarr.storage import MemoryStore
from zarr.tools import bench, tune
from zarr.tools.measurements import candidates, costs, results
from zarr.tools.measurements.candidates import (
    MOST_FILES,
    SHARD_BYTES,
    SIZES,
    SMALL_SIZES,
    Layout,
    ladder,
    neighbours,
    own_layout,
)
from zarr.tools.measurements.costs import Cost, Model, Sample, cpu_seconds, sample_shape
from zarr.tools.measurements.reads import Read, chunks_met, parse_reads

NAMES = ("time", "lat", "lon")
RANDOM = np.random.default_rng(3)


def smooth(shape: tuple[int, ...]) -> Any:
    """Elements that compress about as measured ones do."""
    return np.round(np.cumsum(RANDOM.normal(size=shape), axis=-1), 1).astype("f4")


@pytest.fixture(scope="module")
def array() -> Any:
    return zarr.create_array({}, data=smooth((64, 48, 40)), chunks=(1, 48, 40), dimension_names=NAMES)


# --------------------------------------------------------------------------------------------------------- reads


@pytest.mark.parametrize(
    ("word", "spans"),
    [
        ("time-series", (9, 1, 1, 1)),
        ("map", (1, 1, 30, 40)),
        ("window:8", (1, 1, 8, 8)),
        ("window:35", (1, 1, 30, 35)),
        ("plane:lev,lon", (1, 5, 1, 40)),
        ("plane:0,2", (9, 1, 30, 1)),
        ("line:lat", (1, 1, 30, 1)),
        ("all", (9, 5, 30, 40)),
    ],
)
def test_words(word: str, spans: tuple[int, ...]) -> None:
    assert parse_reads([word], (9, 5, 30, 40), ("time", "lev", "lat", "lon"))[0].spans == spans


def test_words_follow_the_axis_named_time() -> None:
    reads = parse_reads("time-series,map,window:2", (30, 40, 9), ("lat", "lon", "Time"))
    assert [read.spans for read in reads] == [(1, 1, 9), (30, 40, 1), (2, 2, 1)]
    assert [read.spans for read in parse_reads("time-series,map", (5, 4, 3), (None,) * 3)] == [(5, 1, 1), (1, 4, 3)]


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        ([], "no reads are named"),
        ("maps", r"'maps' is no read \(did you mean 'map'\?\): there are time-series, map"),
        ("map:3", "'map:3' is no read"),
        ("window", "'window' is no read"),
        ("window:0", "window:256"),
        ("window:x", "window:256"),
        ("plane:lat,lat", "two different dimensions"),
        ("plane:lat", "two different dimensions"),
        ("line:lat,lon", "one dimension"),
        ("line:lta", r"no dimension 'lta' \(did you mean 'lat'\?\); its dimensions are time, lat, lon"),
        ("line:3", "no dimension '3'"),
    ],
)
def test_words_that_mean_nothing(array: Any, reads: Any, message: str) -> None:
    words = [reads] if reads == "line:lat,lon" else reads
    for tool in (tune, bench):
        with pytest.raises(ValueError, match=message):
            tool(array, reads=words)


def test_chunks_of_a_read_are_the_mean_over_all_places() -> None:
    for span, length, chunk in [(3, 100, 10), (1, 7, 3), (7, 7, 3), (25, 100, 10)]:
        read = Read("x", (span,))
        places = [chunks_met((slice(at, at + span),), (chunk,)) for at in range(length - span + 1)]
        assert read.chunks((length,), (chunk,)) == pytest.approx(np.mean(places), rel=0.05)


# ---------------------------------------------------------------------------------------------------- candidates


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1000, 512, 512), "time-series,map"),
        ((1000, 512, 512), "time-series,map,window:256"),
        ((8, 91, 120), "time-series,map"),
        ((10**6, 20, 700, 1), "line:0,map,all"),
        ((5,), "all"),
        ((10**12,), "line:0"),
    ],
)
def test_ladders(shape: tuple[int, ...], words: str) -> None:
    array = zarr.create_array({}, shape=shape, dtype="f4", chunks=tuple(min(64, length) for length in shape))
    reads = parse_reads(words, shape, (None,) * len(shape))
    layouts = ladder(array, reads)
    assert layouts == ladder(array, reads)
    assert 1 <= len(layouts) <= 24
    assert len({layout.chunks for layout in layouts}) == len(layouts)
    for layout in layouts:
        assert all(1 <= chunk <= length for chunk, length in zip(layout.chunks, shape, strict=True))
        size = 4 * math.prod(layout.chunks)
        assert min(array.nbytes, SMALL_SIZES[0]) / 3 <= size <= SIZES[-1] * 3
        count = math.prod(-(-length // chunk) for length, chunk in zip(shape, layout.chunks, strict=True))
        assert layout.shards is not None or count <= MOST_FILES
        assert layout.shards is not None or size >= min(array.nbytes, SIZES[0]) / 3
        if layout.shards is not None:
            assert not any(shard % chunk for shard, chunk in zip(layout.shards, layout.chunks, strict=True))
            assert size < 4 * math.prod(layout.shards) <= SHARD_BYTES
        zarr.from_array({}, data=array, write_data=False, **layout.parameters(shape))
        zarr.from_array({}, data=array, write_data=False, **layout.parameters(tuple(min(50, n) for n in shape)))


def test_neighbours() -> None:
    grid = zarr.create_array({}, shape=(8, 91, 120), dtype="f4", chunks=(1, 46, 60))
    near = neighbours(grid, Layout((1, 31, 30), (8, 93, 120), {"compressors": None}))
    assert [layout.chunks for layout in near] == [(2, 31, 30), (1, 16, 30), (1, 62, 30), (1, 31, 15), (1, 31, 60)]
    assert {layout.codecs["compressors"] for layout in near} == {None}
    for layout in near:
        zarr.from_array({}, data=grid, write_data=False, **layout.parameters(grid.shape))
    # Not below 1 KiB in a shard, nor below a part of 64 KiB without one.
    assert [layout.chunks for layout in neighbours(grid, Layout((1, 16, 20), (8, 96, 120)))] == [
        (2, 16, 20), (1, 32, 20), (1, 16, 40)
    ]  # fmt: skip
    older = zarr.create_array({}, shape=(8, 91, 120), dtype="f4", chunks=(1, 91, 120), zarr_format=2)
    assert [layout.grid for layout in neighbours(older, own_layout(older))] == [((2, 91, 120), None)]


def test_samples_fit(array: Any) -> None:
    layouts = [Layout((8, 8, 8), None), Layout((1, 48, 40), None)]
    assert sample_shape(array, layouts, array.nbytes) == array.shape
    for limit in (array.nbytes - 1, 4096, 4):
        assert 4 * math.prod(sample_shape(array, layouts, limit)) <= limit


def test_a_sample_holds_what_is_stored() -> None:
    array = zarr.create_array({}, shape=(100, 100), chunks=(10, 100), dtype="f4", fill_value=np.nan)
    with pytest.raises(ValueError, match=r"all elements of the sample .* equal the fill value"):
        tune(array, codecs=[])
    array[60:] = 3
    sample = Sample(array, (20, 30), None)
    assert (sample.values == 3).all()
    assert sample.template.shape == (20, 30)


@pytest.mark.parametrize(("length", "size", "part"), [(100, 10, 20), (100, 10, 3), (100, 70, 40), (10, 100, 4)])
def test_a_sample_meets_few_chunks(length: int, size: int, part: int) -> None:
    array = zarr.create_array({}, data=np.arange(1, length + 1), chunks=(size,))
    values = Sample(array, (part,), None).values
    assert len(set((values - 1) // size)) == -(-part // size)


def test_many_chunks_get_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_FILES", 20)
    array = zarr.create_array({}, data=smooth((64, 48, 40)), chunks=(64, 48, 40))
    found = tune(array, chunks=[(4, 8, 8)], sample="20 kB", codecs=[])
    row = next(row for row in found.rows if row.shards)
    assert not any(shard % chunk for shard, chunk in zip(row.shards, row.chunks, strict=True))
    copy = zarr.tools.rechunk(array, {}, **row.parameters)
    assert (copy.chunks, copy.shards) == (row.chunks, row.shards)


def test_a_model_is_found_again() -> None:
    places = [(f, n, b) for f in (1, 4) for n in (f, 30) for b in (100, 5000, 10**6)]
    model = Model.fitted([Cost(3e-5 + 5e-6 * f + 2e-6 * n + 4e-10 * b, f, n, b) for f, n, b in places])
    assert (model.call, model.file, model.chunk, model.byte) == pytest.approx((3e-5, 5e-6, 2e-6, 4e-10), rel=1e-3)
    assert min(Model.fitted([Cost(1.0, 1, 1, 10), Cost(0.9, 1, 2, 20)]).__dict__.values()) >= 0


# ---------------------------------------------------------------------------------------------------------- tune


@pytest.mark.parametrize("kind", STORES)
def test_stores(kind: str, tmp_path: Path) -> None:
    store = make_store(kind, tmp_path)
    zarr.create_array(store, name="a", data=smooth((16, 20, 20)), chunks=(1, 20, 20), dimension_names=NAMES)
    found = tune(store, path="a", chunks=[{"time": -1, "lat": 5, "lon": 5}, (4, 10, 10)], codecs=[None], seconds=30)
    assert {row.chunks for row in found.rows} == {(1, 20, 20), (16, 5, 5), (4, 10, 10)}
    assert {row.codec for row in found.codecs} == {"zstd(level=0)", "none"}
    assert found.left_out == 0
    assert list(found.best.seconds) == ["time-series", "map"]
    copy = found.apply(tmp_path / "copy.zarr")
    np.testing.assert_array_equal(copy[...], zarr.open_array(store, path="a")[...])
    assert copy.chunks == found.best.chunks
    assert bool(copy.compressors) == (found.best.codec != "none")
    assert [row["name"] for row in bench(store, path="a", seconds=0.05, write=True).rows] == ["chunks", "write"]
    assert not [each for each in tmp_path.iterdir() if "trial" in each.name]


@pytest.mark.parametrize(
    "how",
    [{"zarr_format": 2}, {"shards": (8, 16, 20)}, {"dtype": "i2"}, {"fill_value": 7}, {"dtype": "M8[s]"}],
    ids=str,
)
def test_kinds_of_arrays(how: dict[str, Any]) -> None:
    data = np.arange(16 * 20 * 20).reshape(16, 20, 20)
    array = zarr.create_array({}, shape=data.shape, chunks=(1, 4, 20), **{"dtype": "f4", **how})
    array[:] = data.astype(array.dtype)
    found = tune(array, reads="map,window:5", sample="10 kB", seconds=0.01)
    assert found.left_out > 0
    assert math.prod(found.sample) * array.dtype.itemsize <= 10_000
    assert {row.chunks for row in found.rows} >= {(1, 4, 20)}
    np.testing.assert_array_equal(found.apply(MemoryStore())[...], array[...])


def test_the_choice_is_the_best_compromise(monkeypatch: pytest.MonkeyPatch) -> None:
    """With costs that are known, from a small sample, and though the first measurement of the best one is disturbed."""
    array = zarr.create_array({}, data=smooth((128, 96, 80)), chunks=(1, 96, 80), dimension_names=NAMES)
    reads = parse_reads(("time-series", "map"), array.shape, NAMES)
    ladders = (own_layout(array), *ladder(array, reads))
    best = ranked_exactly(array, reads, ladders)[0][1].chunks
    calls: list[int] = []

    def cpu_seconds(array: Any, selection: Any) -> float:
        calls.append(1)
        disturbed = array.chunks == best and len(calls) < 7 * len(ladders)
        files, count = chunks_met(selection, array.shards or array.chunks), chunks_met(selection, array.chunks)
        return _seconds(files, count, 4 * math.prod(array.chunks)) * (1.8 if disturbed else 1)

    monkeypatch.setattr(costs, "cpu_seconds", cpu_seconds)
    for sample in (0, array.nbytes // 2):
        calls.clear()
        found = tune(array, sample=sample, codecs=[])
        exact = ranked_exactly(array, reads, [Layout(row.chunks, row.shards) for row in found.rows])
        score = next(score for score, layout in exact if layout.grid == found.best.grid)
        assert score <= 1.05 * exact[0][0]
        assert found.best.score == pytest.approx(score, rel=0.02 if sample == 0 else 0.3)
        # Chunks near the best ones of the ladder are better here than all of the ladder.
        assert found.best.grid not in {layout.grid for layout in ladders}


def ranked_exactly(array: Any, reads: Any, layouts: Any) -> list[tuple[float, Layout]]:
    """Layouts with their scores by the known costs, the best first."""
    seconds = []
    for layout in layouts:
        files = [read.chunks(array.shape, layout.shards or layout.chunks) for read in reads]
        counts = [read.chunks(array.shape, layout.chunks) for read in reads]
        size = 4 * math.prod(layout.chunks)
        seconds.append([_seconds(*numbers, size) for numbers in zip(files, counts, strict=True)])
    scores = np.max(np.array(seconds) / np.min(seconds, axis=0), axis=1)
    return sorted(zip(map(float, scores), layouts, strict=True), key=lambda pair: pair[0])


def test_the_best_codec_is_tried_in_all_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best chunks may be others with another codec."""
    data = RANDOM.normal(size=(64, 96, 80))  # of about the same size with each codec
    array = zarr.create_array({}, data=data, chunks=(1, 96, 80), dimension_names=NAMES)
    chunks = [(64, 2, 2), (64, 4, 4), (64, 8, 8), (32, 8, 8), (16, 96, 80)]

    def cpu_seconds(array: Any, selection: Any) -> float:
        large = array.chunks == chunks[-1]
        return 1e-3 * ((9 if large else 1) if array.compressors else (0.1 if large else 0.5))

    monkeypatch.setattr(costs, "cpu_seconds", cpu_seconds)
    found = tune(array, chunks=chunks, codecs=[None], reads="map", sample=0)
    assert found.rows[-1].chunks == chunks[-1]
    assert (found.best.chunks, found.best.codec) == (chunks[-1], "none")
    assert len(found.codecs) == 2 * len(found.rows) == 12


def _seconds(files: float, count: float, size: float) -> float:
    return 1e-5 + 1e-5 * files + 1e-6 * count + 1e-9 * count * size


@pytest.mark.parametrize("seed", range(20))
def test_requests_of_shards(seed: int) -> None:
    """Those of a shard are its index and each run of chunks that lie in a row."""
    rng = np.random.default_rng(seed)
    inner, outer, cut = rng.integers(1, 5, 3), rng.integers(1, 4, 3), rng.integers(1, 4, 3)
    chunks, shards, shape = (tuple(map(int, each)) for each in (cut, cut * inner, cut * inner * outer))
    read = Read("", tuple(length if whole else 1 for length, whole in zip(shape, rng.random(3) < 0.5, strict=True)))
    met: dict[Any, set[int]] = {}
    for element in np.ndindex(read.spans):
        place = np.asarray(element)
        number = np.ravel_multi_index(tuple(place % shards // chunks), tuple(inner))
        met.setdefault(tuple(place // shards), set()).add(int(number))
    runs = [sum(number - 1 not in numbers for number in numbers) for numbers in met.values()]
    assert read.requests(shape, chunks, shards) == pytest.approx(sum(runs) + len(met))
    assert read.requests(shape, chunks, None) == pytest.approx(sum(map(len, met.values())))


def test_sizes_are_compared_between_codecs_and_not_between_chunks() -> None:
    def row(chunks: Any, codec: str, nbytes: int, seconds: float) -> results.Row:
        return results.Row(chunks, None, codec, nbytes, 1.0, {"map": seconds}, math.nan, {})

    rows = [row((4,), "a", 200, 1.0), row((4,), "b", 100, 1.5), row((9,), "a", 60, 1.8), row((9,), "b", 50, 2.6)]
    ranked = results.ranked(rows, by_size=True)
    assert [(each.chunks, each.codec, each.score) for each in ranked] == [
        ((4,), "b", 1.5), ((9,), "a", 1.8), ((4,), "a", 2.0), ((9,), "b", 2.6)
    ]  # fmt: skip


def test_small_chunks_in_shards_are_the_best_for_both_reads(tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "x", data=smooth((64, 192, 192)), chunks=(1, 192, 192), dimension_names=NAMES, compressors=None
    )
    found = (tune(array, codecs=[]).best for _ in range(3))  # other work on the machine may mislead one, not all
    assert any(best.shards is not None and math.prod(best.chunks) * 4 < SIZES[0] for best in found)
    older = zarr.create_array({}, shape=(64, 192, 192), chunks=(1, 192, 192), dtype="f4", zarr_format=2)
    reads = parse_reads(("time-series", "map"), older.shape, (None,) * 3)
    assert all(layout.shards is None for layout in ladder(older, reads))


def test_text_and_json(array: Any) -> None:
    codecs = [zarr.codecs.GzipCodec(level=1), {"filters": [], "compressors": None}]
    found = tune(array, chunks=[(64, 8, 8)], codecs=codecs)
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["chunks", "shards", "codec"]
    assert lines[-1] == "sample (64, 48, 40) of (64, 48, 40)"
    assert "gzip(level=1)" in str(found)
    told = json.loads(json.dumps(found.to_json()))
    assert told["best"] == told["codecs"][0]
    assert [row["chunks"] for row in told["chunks"]] == [list(row.chunks) for row in found.rows]
    assert min(row.score for row in found.rows) >= 1


def test_size_decides_between_codecs_too() -> None:
    array = zarr.create_array({}, data=np.ones((64, 64, 64), "f4"), chunks=(64, 16, 16))
    found = tune(array, chunks=[], codecs=[None])
    assert found.best.codec != "none"


def test_latency_asks_for_larger_chunks(array: Any) -> None:
    options: dict[str, Any] = {"chunks": [(8, 6, 5), (32, 24, 20)], "codecs": [], "reads": "all"}
    assert tune(array, latency=0.1, **options).best.chunks == (32, 24, 20)


def test_a_slow_store_asks_for_compression() -> None:
    noisy = zarr.create_array({}, data=RANDOM.integers(0, 9, (64, 64, 64)), chunks=(64, 16, 16), compressors=None)
    found = tune(noisy, chunks=[], codecs=[zarr.codecs.ZstdCodec(level=1)], bandwidth="1 MB")
    assert found.best.codec == "zstd(level=1)"
    assert found.best.seconds["map"] > found.best.nbytes / 1e6


def test_picture(array: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = tune(array, chunks=[(64, 8, 8)], codecs=[])
    assert found.plot(tmp_path / "x.png").axes
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_no_picture_without_matplotlib(array: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'zarr\[plot\]'"):
        tune(array, chunks=[], codecs=[]).plot()


def test_progress(array: Any) -> None:
    told: list[tuple[int, int]] = []
    tune(array, chunks=[(64, 8, 8)], codecs=[None], progress=lambda *numbers: told.append(numbers))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# -------------------------------------------------------------------------------------- the sample and the whole


def test_a_small_sample_tells_what_the_whole_costs() -> None:
    """A read of the array costs what was said from one part in 32 of it, within a factor of two."""
    data = smooth((256, 128, 128))
    array = zarr.create_array({}, data=data, chunks=(1, 128, 128), dimension_names=NAMES)
    options: dict[str, Any] = {"codecs": [], "chunks": [(256, 8, 8), (64, 16, 16), (16, 32, 32), (4, 64, 64)]}
    # Other work of the machine may disturb a measurement, but hardly the same one three times.
    tries = [_said_and_measured(array, tune(array, sample=array.nbytes // 32, **options)) for _ in range(3)]
    for place in tries[0][0]:
        ratios = [ratios[place] for ratios, _ in tries]
        assert any(0.5 < ratio < 2 for ratio in ratios), (place, ratios)
    assert any(is_best for _, is_best in tries)


def _said_and_measured(array: Any, part: Any) -> tuple[dict[Any, float], bool]:
    """What was said of each read in each layout, divided by what it costs; and whether the best layout is the best."""
    assert math.prod(part.sample) * 4 <= array.nbytes // 32
    measured = {}
    for row in part.rows:
        copy = zarr.tools.rechunk(array, MemoryStore(), chunks=row.chunks)
        for read in parse_reads(("time-series", "map"), array.shape, NAMES):
            places = read.selections(array.shape)
            measured[row.chunks, read.name] = sum(cpu_seconds(copy, place) for place in places) / len(places)
    said = {(row.chunks, name): seconds for row in part.rows for name, seconds in row.seconds.items()}
    best = {name: min(measured[row.chunks, name] for row in part.rows) for name in ("time-series", "map")}
    scores = {row.chunks: max(measured[row.chunks, name] / best[name] for name in best) for row in part.rows}
    ratios = {place: seconds / measured[place] for place, seconds in said.items()}
    return ratios, scores[part.best.chunks] <= 1.5 * min(scores.values())


# -------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, True, "5"])
@pytest.mark.parametrize("tool", [tune, bench])
def test_seconds_that_are_none(array: Any, tool: Any, seconds: Any) -> None:
    with pytest.raises(ValueError, match="seconds must be a number above 0"):
        tool(array, seconds=seconds)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": 0}, "memory must be a number of bytes above 0"),
        ({"memory": "-5 MB"}, "memory must be"),
        ({"memory": "much"}, "'much' is no number of bytes"),
        ({"sample": -1}, "sample must be"),
        ({"sample": None, "memory": 1000}, "a sample of at most 250 B"),
        ({"chunks": [(2, 2)]}, "2 dimensions, the array has 3"),
        ({"chunks": [(0, 2, 2)]}, "no chunk shape"),
        ({"chunks": [{"tim": 3}]}, "no chunk shape"),
        ({"codecs": [{"name": "zstdd"}]}, "codecs: .*zstdd.* cannot encode float32"),
        ({"codecs": [3]}, "codecs: 3 cannot encode"),
        ({"codecs": "zstd"}, "codecs must be a list"),
        ({"latency": -1}, "latency must be"),
        ({"bandwidth": 0}, "bandwidth must be"),
        ({"scratch": "/no/such/folder"}, "no folder '/no/such/folder'"),
    ],
)
def test_what_is_refused(array: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tune(array, **options)


@pytest.mark.parametrize("tool", [tune, bench])
def test_groups_and_nothing(tool: Any) -> None:
    store = MemoryStore()
    fill(store, 3)
    with pytest.raises(ValueError, match=r"is a group: .* takes one array; it has a, c, g/b, s, t"):
        tool(store)
    for shape in ((), (0, 3)):
        with pytest.raises(ValueError, match="there is nothing to read"):
            tool(zarr.zeros(shape))
    with pytest.raises(ValueError, match="needs an array of two dimensions"):
        tool(zarr.zeros(5), reads="map")
    with pytest.raises(FileNotFoundError):
        tool(store, path="no")


# --------------------------------------------------------------------------------------------------------- bench


def test_bench(array: Any) -> None:
    before = dict(array.store._store_dict)
    found = bench(array, reads=["chunks", "map", "line:time"], write=True, seconds=0.2)
    rows = {row["name"]: row for row in found.rows}
    assert {name: row["nbytes"] for name, row in rows.items()} == {
        "chunks": 4 * 48 * 40, "map": 4 * 48 * 40, "line:time": 4 * 64, "write": 4 * 48 * 40
    }  # fmt: skip
    assert all(row["count"] > 0 and row["bytes_per_second"] > 0 for row in found.rows)
    assert [line.split()[0] for line in str(found).splitlines()[2:]] == list(rows)
    assert json.loads(json.dumps(found.to_json()))["rows"][0]["name"] == "chunks"
    assert array.store._store_dict == before


def test_bench_of_shards_and_memory() -> None:
    array = zarr.create_array({}, data=smooth((20, 30)), chunks=(2, 5), shards=(10, 10))
    assert bench(array, seconds=0.01).rows[0]["nbytes"] == 400
    assert "in shards (10, 10)" in bench(array, seconds=0.01).table()
    with pytest.raises(ValueError, match=r"'all' reads 2.3 KiB, more than memory='1000 B' allows"):
        bench(array, reads="all", memory=1000)
