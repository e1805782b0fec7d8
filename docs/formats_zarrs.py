"""zarrs, asked by its own pipeline: it knows data types and codecs that zarr-python, in front of it, has no names for.

An array here is a document and a pipeline that was made of it: whole arrays are read and written, chunk by chunk, in
regular grids under the keys of the specification. Everything else goes through zarr-python (see formats_peers.py).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from formats_cases import Case

COMPLEX = {
    "complex_float32": "complex64", "complex_float64": "complex128", "complex_float16": ml_dtypes.complex32,
    "complex_bfloat16": ml_dtypes.bcomplex32,
}  # fmt: skip


class NotAskedDirectlyError(Exception):
    """Something that has to go through zarr-python."""


def dtype_of(data_type: Any) -> np.dtype[Any]:
    """The numpy dtype whose bytes are those of a data type in memory."""
    name = data_type if isinstance(data_type, str) else data_type["name"]
    settings = {} if isinstance(data_type, str) else data_type.get("configuration", {})
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        return np.dtype(f"{name[6].replace('d', 'M').replace('t', 'm')}8[{settings['scale_factor']}{settings['unit']}]")
    if name[0] == "r" and name[1:].isdigit():
        return np.dtype(f"V{int(name[1:]) // 8}")
    if name in COMPLEX:
        return np.dtype(COMPLEX[name])
    if name.startswith("complex_"):
        part = dtype_of(name.removeprefix("complex_"))
        return np.dtype([("real", part), ("imag", part)])
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError as error:  # text of any length, records, elements that may be missing
        raise NotAskedDirectlyError(name) from error


def separator_of(encoding: Any) -> tuple[str, str]:
    """Return the prefix of chunk keys, and the separator of their coordinates."""
    name = encoding if isinstance(encoding, str) else encoding["name"]
    settings = {} if isinstance(encoding, str) else encoding.get("configuration", {})
    if name not in ("default", "v2"):
        raise NotAskedDirectlyError(name)
    separator = settings.get("separator", "/" if name == "default" else ".")
    return ("c" + separator if name == "default" else ""), separator


def as_numbers(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory as elements of which the pipeline has heard."""
    if values.dtype.isbuiltin == 1 and values.dtype.kind in "biufc":
        return values
    size = values.dtype.itemsize
    return values.view(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")


class ZarrsArray:
    """An array that zarrs reads and writes as a whole."""

    def __init__(self, folder: Path, case: Case) -> None:
        from zarrs._internal import CodecPipelineImpl

        import zarr

        document = json.loads((folder / case.file).read_text())
        grid = document.get("chunk_grid", {"name": "of format 2"})
        if grid["name"] != "regular":
            raise NotAskedDirectlyError(grid["name"])
        self.shape, self.chunks = tuple(document["shape"]), grid["configuration"]["chunk_shape"]
        self.dtype = dtype_of(document["data_type"])
        if self.dtype.kind in "OSU":
            raise NotAskedDirectlyError(self.dtype)
        self.start, self.separator = separator_of(document["chunk_key_encoding"])
        store = zarr.storage.LocalStore(str(folder))
        self.pipeline = CodecPipelineImpl(json.dumps(document), store, validate_checksums=True)

    def items(self) -> Iterator[Any]:
        """All chunks, as the pipeline wants them named."""
        from zarrs._internal import ChunkItem

        for at in itertools.product(*(range(-(-n // c)) for n, c in zip(self.shape, self.chunks))):
            place = [slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(at, self.chunks, self.shape)]
            within = [slice(0, part.stop - part.start) for part in place]
            key = self.start + self.separator.join(map(str, at))
            yield ChunkItem(key, within, list(self.chunks), place, list(self.shape))

    def __getitem__(self, selection: Any) -> np.ndarray[Any, Any]:
        values = np.zeros(self.shape, self.dtype)
        self.pipeline.retrieve_chunks_and_apply_index(list(self.items()), as_numbers(values))
        return values

    def __setitem__(self, selection: Any, value: Any) -> None:
        values = np.ascontiguousarray(value, self.dtype)
        self.pipeline.store_chunks_with_indices(list(self.items()), as_numbers(values), True)
