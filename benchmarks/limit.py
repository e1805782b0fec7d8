"""The C limit as a peer: ``limit.c``, compiled at first use, moving the chunks that this library has laid out.

It knows regular grids of one or two dimensions without overhang, and shards whose index lies at the end; what it is
asked beyond that, a workload must leave out. Selections by index arrays and masks decode every chunk touched and
leave the gathering out: less than that nobody can do.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import itertools
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from peers import Zarr3

HERE = Path(__file__).resolve().parent
CODECS = {"raw": 0, "zstd": 1, "blosc": 2}


class Chunk(ctypes.Structure):
    """One chunk: where it is stored and where it belongs."""

    _fields_ = [
        ("path", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
        ("nbytes", ctypes.c_int64),
        ("place", ctypes.c_int64),
    ]


def compiled() -> Any:
    """Return the library, compiled by gcc into a folder of this user unless it is there already."""
    folder = Path(tempfile.gettempdir()) / f"zarr-bench-limit-{(HERE / 'limit.c').stat().st_mtime_ns}"
    target = folder / "limit.so"
    if not target.exists():
        folder.mkdir(exist_ok=True)
        subprocess.run(
            ["gcc", "-O3", "-shared", "-fPIC", "-o", str(target), str(HERE / "limit.c"), "-lpthread", "-ldl"],
            check=True,
        )
    library = ctypes.CDLL(str(target))
    library.zl_codecs(codec_path("zstd"), codec_path("blosc"))
    numbers = [ctypes.c_int64] * 4
    library.zl_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(Chunk), *numbers, *[ctypes.c_int] * 3]
    return library


def codec_path(name: str) -> bytes:
    """Return the path of one of numcodecs' compiled modules."""
    spec = importlib.util.find_spec("numcodecs")
    assert spec is not None
    for folder, suffix in itertools.product(
        spec.submodule_search_locations or (), importlib.machinery.EXTENSION_SUFFIXES
    ):
        path = Path(folder) / (name + suffix)
        if path.exists():
            return str(path).encode()
    raise SystemExit(f"numcodecs has no compiled module {name}")


class Laid:
    """An array made by this library, and the table of its chunks."""

    def __init__(self, array: Any, where: Any, spec: dict[str, Any]) -> None:
        self.array, self.where, self.spec = array, where, spec
        self.shape, self.chunk = tuple(spec["shape"]), tuple(spec["chunks"])
        self.itemsize = np.dtype(spec["dtype"]).itemsize
        self.table: Any = None
        self.kept: list[Any] = []

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the file of a stored object."""
        name = "/".join(map(str, coords))
        return f"{self.where}/{'.'.join(map(str, coords)) if self.spec.get('zarr_format') == 2 else 'c/' + name}"

    def chunks(self, only: set[tuple[int, ...]] | None = None) -> Any:
        """Return the table, made at the first call, or the part of it for some inner chunks."""
        grid = [n // c for n, c in zip(self.shape, self.chunk)]
        wanted = [c for c in np.ndindex(*grid) if only is None or c in only]
        rows = [self.row(c) for c in wanted]
        return (Chunk * len(rows))(*rows)

    def row(self, coords: tuple[int, ...]) -> Chunk:
        """Return one line of the table."""
        strides = [self.itemsize * int(np.prod(self.shape[d + 1 :], dtype=int)) for d in range(len(self.shape))]
        place = sum(c * n * s for c, n, s in zip(coords, self.chunk, strides))
        if not isinstance(self.where, Path):
            raw = np.frombuffer(self.where._store_dict["c/" + "/".join(map(str, coords))].to_bytes(), "u1")
            self.kept.append(raw)
            return Chunk(None, raw.ctypes.data, 0, raw.nbytes, place)
        if self.spec.get("shards"):
            return self.inner_row(coords, place)
        return Chunk(self.key(coords).encode(), None, 0, -1, place)

    def inner_row(self, coords: tuple[int, ...], place: int) -> Chunk:
        """Return the line of an inner chunk, from the shard's index."""
        per = [s // c for s, c in zip(self.spec["shards"], self.chunk)]
        path = self.key(tuple(c // n for c, n in zip(coords, per)))
        index = np.fromfile(path, "u1")[-16 * int(np.prod(per)) - 4 : -4].view("<u8").reshape(-1, 2)
        offset, nbytes = index[int(np.ravel_multi_index([c % n for c, n in zip(coords, per)], per))]
        return Chunk(path.encode(), None, int(offset), int(nbytes), place)


class Limit(Zarr3):
    """The C loop with the calls of a peer; arrays are made and described by this library."""

    def __init__(self) -> None:
        super().__init__()
        self.library = compiled()

    def create(self, where: Any, spec: dict[str, Any]) -> Laid:
        laid = Laid(super().create(where, spec), where, spec)
        if isinstance(where, Path):
            where.with_suffix(".spec").write_text(json.dumps(spec))
        return laid

    def open(self, where: Any) -> Laid:
        laid = Laid(super().open(where), where, json.loads(where.with_suffix(".spec").read_text()))
        laid.table = laid.chunks()
        return laid

    def run(self, laid: Laid, table: Any, data: np.ndarray[Any, Any], write: bool) -> None:
        row = laid.chunk[-1] * laid.itemsize
        rows = int(np.prod(laid.chunk[:-1], dtype=int))
        stride = laid.shape[-1] * laid.itemsize
        codec = CODECS[laid.spec["codec"]]
        threads = 2 if len(table) > 1 else 1
        self.library.zl_run(data.ctypes.data, table, len(table), rows, row, stride, codec, write, threads)

    def write(self, array: Laid, selection: Any, value: Any) -> None:
        if array.table is None or array.spec.get("shards") or not isinstance(array.where, Path):
            super().write(array.array, selection, value)
            array.table = array.chunks()
        else:
            self.run(array, array.table, value, True)

    def read(self, array: Laid, selection: Any = ...) -> Any:
        if selection is not ...:
            return self.read_window(array, selection)
        out = np.empty(array.shape, array.spec["dtype"])
        self.run(array, array.table, out, False)
        return out

    def read_window(self, array: Laid, selection: Any) -> Any:
        """Read one inner chunk, named by the window that it covers, or the chunk around one element."""
        if isinstance(selection, int):
            coords: tuple[int, ...] = (selection // array.chunk[0],)
        else:
            coords = tuple(s.start // c for s, c in zip(selection, array.chunk))
        grid = [n // c for n, c in zip(array.shape, array.chunk)]
        found = array.table[int(np.ravel_multi_index(coords, grid))]
        one = (Chunk * 1)(Chunk(found.path, found.data, found.offset, found.nbytes, 0))
        out = np.empty(array.chunk, array.spec["dtype"])
        row, rows = array.chunk[-1] * array.itemsize, int(np.prod(array.chunk[:-1], dtype=int))
        codec = CODECS[array.spec["codec"]]
        self.library.zl_run(out.ctypes.data, one, 1, rows, row, row, codec, False, 1)
        return out

    def touch(self, array: Laid, touched: set[tuple[int, ...]]) -> Any:
        """Decode every chunk of a selection to one place."""
        key = len(touched)
        if getattr(array, "part", (None,))[0] != key:
            array.part = (key, array.chunks(touched))  # type: ignore[attr-defined]
        for chunk in array.part[1]:  # type: ignore[attr-defined]
            chunk.place = 0
        out = np.empty((array.chunk[0], array.shape[-1]), array.spec["dtype"])
        self.run(array, array.part[1], out, False)  # type: ignore[attr-defined]
        return out

    def oindex(self, array: Laid, selection: Any) -> Any:
        axes = [set((np.asarray(s) // c).tolist()) for s, c in zip(selection, array.chunk)]
        return self.touch(array, set(itertools.product(*axes)))

    def vindex(self, array: Laid, selection: Any) -> Any:
        return self.touch(array, set(zip(*((np.asarray(s) // c).tolist() for s, c in zip(selection, array.chunk)))))

    def mask(self, array: Laid, mask: Any) -> Any:
        return self.touch(array, set(np.ndindex(*(n // c for n, c in zip(array.shape, array.chunk)))))
