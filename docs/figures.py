"""Draw the figures of measurements: ``python docs/figures.py`` reads what the programs in ``benchmarks`` have saved.

In the figure of speed, of ``benchmarks/RESULTS.md``, a dot stands where a library needs so many times the CPU time of
this library for the same work; the rows are those of the table ``CPU time``, and none that the table holds in one of
these groups is left out because of its value.

In the figure of growth, of ``benchmarks/growth.json``, each row has a pair of axes, both logarithmic. A dotted grey
line is as steep as n. What a library could not do has no dot here; the table below the figure names it.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PICTURE = Path(__file__).resolve().parent / "pictures" / "speed.svg"
GROWTH = ROOT / "benchmarks" / "growth.json"
GROWTH_PICTURE = PICTURE.with_name("growth.svg")
GROWTH_LIBRARIES = {"ours": ("#222222", "o"), "zarr-python": ("#d55e00", "s"), "tensorstore": ("#0072b2", "D")}
COLUMNS = 4

ROWS = {
    "read_256MiB_zstd": "read 256 MiB, Zstandard",
    "read_4096_files_64KiB": "read 4,096 chunks of 64 KiB",
    "write_4096_files_64KiB": "write 4,096 chunks of 64 KiB",
    "read_10000_files_1KiB": "read 10,000 chunks of 1 KiB",
    "write_10000_files_1KiB": "write 10,000 chunks of 1 KiB",
    "small_slice_local": "read a small slice",
    "element_500KB_blosc_file": "read an element, Blosc",
    "oindex_1000_by_1000": "orthogonal selection, 1,000 × 1,000",
    "vindex_100000_points": "100,000 points",
    "read_shards_of_64KiB": "read shards",
    "write_shards_of_64KiB": "write shards",
    "random_inner_chunk": "read a chunk of a shard",
    "open_array": "open an array",
    "create_array": "create an array",
    "list_1000_arrays": "list 1,000 arrays",
    "read_2M_strings": "read 2 million strings",
}
LIBRARIES = {
    "z34": ("zarr-python 3.4.2", "#d55e00", "o"),
    "z2": ("zarr-python 2.18.7", "#e69f00", "s"),
    "ts": ("TensorStore 0.1.86", "#0072b2", "D"),
    "zarrs": ("zarrs 0.2.3", "#009e73", "^"),
    "h5py": ("h5py 3.16.0 (HDF5)", "#7f7f7f", "v"),
}


def ratios(text: str) -> dict[str, dict[str, float]]:
    """Return, for each row, the CPU time of each library divided by that of this one."""
    table = text.partition("## CPU time")[2].partition("\n## ")[0]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    found = {}
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        times = {name: float(cells[name].split()[0]) for name in ("ours", *LIBRARIES) if cells[name] != "-"}
        found[cells["workload"]] = {name: time / times["ours"] for name, time in times.items() if name != "ours"}
    return found


def draw(found: dict[str, dict[str, float]], path: Path) -> None:
    """Draw the rows from top to bottom, with a line where all are equal."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "zarr", "font.family": "sans-serif"})
    figure = Figure(figsize=(8.2, 5.6), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(1, color="black", linewidth=1.2)
    for name, (label, color, marker) in LIBRARIES.items():
        places = [(found[row][name], place) for place, row in enumerate(ROWS) if name in found[row]]
        axes.scatter(*zip(*places, strict=True), color=color, marker=marker, s=38, label=label, zorder=3)
    axes.set_xscale("log")
    axes.set_yticks(range(len(ROWS)), list(ROWS.values()))
    axes.invert_yaxis()
    axes.set_xlabel("CPU time, this library = 1 (to the right: takes longer)")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", linewidth=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.35, -0.11), ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def draw_row(axes: Any, name: str, row: dict[str, Any]) -> None:
    """Draw n against the cost, for each library that has numbers."""
    for library, (color, marker) in GROWTH_LIBRARIES.items():
        values = row["libraries"].get(library, [])
        dots = [(size, value) for size, value in zip(row["sizes"], values, strict=False) if isinstance(value, float)]
        if dots:
            axes.loglog(*zip(*dots, strict=True), color=color, marker=marker, markersize=4, linewidth=1, label=library)
    low, high = axes.get_ylim()
    sizes = row["sizes"]
    axes.plot(sizes, [low * size / sizes[0] for size in sizes], color="0.6", linewidth=0.8, linestyle=":")
    axes.set_ylim(low, max(high, low * 10))
    what, _, unit_of_n = name.partition("; ")
    axes.set_title("\n".join(textwrap.wrap(what, 30)), fontsize=8)
    axes.set_xlabel(unit_of_n or what, fontsize=7)
    axes.set_ylabel(row["unit"], fontsize=7)
    axes.tick_params(labelsize=7)
    axes.minorticks_off()


def draw_growth(rows: dict[str, Any], path: Path) -> None:
    """Draw all rows of the table of growth."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "zarr", "font.family": "sans-serif"})
    height = -(-len(rows) // COLUMNS)
    figure = Figure(figsize=(2.7 * COLUMNS, 2.1 * height + 0.4), layout="constrained")
    all_axes = figure.subplots(height, COLUMNS).ravel()
    for axes, (name, row) in zip(all_axes, rows.items(), strict=False):
        draw_row(axes, name, row)
    for axes in all_axes[len(rows) :]:
        axes.set_axis_off()
    names = {name: line for axes in all_axes for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(names.values(), names, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    draw_growth(json.loads(GROWTH.read_text(encoding="utf-8"))["rows"], GROWTH_PICTURE)
    text = RESULTS.read_text(encoding="utf-8")
    for label, _, _ in LIBRARIES.values():
        version = re.findall(r"[\d.]+$", label.partition(" (")[0])[0]
        assert version in text, f"{RESULTS.name} has no figures of {label}"
    draw(ratios(text), PICTURE)


if __name__ == "__main__":
    main()
