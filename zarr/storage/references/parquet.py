"""Tables of references in a folder of parquet files, the format of kerchunk for many references."""

from __future__ import annotations

import base64
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from zarr._lazy import load, load_extra
from zarr.errors import MetadataValidationError
from zarr.storage.checks import require
from zarr.storage.keys import child_names, dir_prefix

MAX_GENERATED: Final = 1_000_000
"""The number of references of a table that does not name each of them."""

MAX_OFFSET: Final = 2**62
"""The maximum length of a file."""

COLUMNS: Final = ("path", "offset", "size", "raw")

_ROW_BYTES: Final = 24
_FREE_BYTES: Final = 32 << 20
_MAX_RATIO: Final = 200
_MOST_RECORDS: Final = 32


class ParquetTable(Mapping[str, Any]):
    """References in a folder of parquet files: ``.zmetadata``, and ``<array>/refs.<n>.parq`` with a row a chunk.

    Parameters
    ----------
    read : callable
        Returns the bytes of a file by its name in the folder; raises FileNotFoundError if there is none.
    name : str
        The name of the folder, for messages.

    Raises
    ------
    MetadataValidationError
        If ``.zmetadata`` is malformed; the methods raise it if a file of references is.
    """

    def __init__(self, read: Callable[[str], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._documents, self._record_size = _parsed_documents(read(".zmetadata"), f"{name}/.zmetadata")
        self._records: dict[tuple[str, int], Any] = {}
        self._grids = {
            key.removesuffix("/.zarray"): _grid_of(value, f"{name}/{key}")
            for key, value in self._documents.items()
            if key.endswith("/.zarray")
        }

    def __getitem__(self, key: str) -> Any:
        if key in self._documents:
            return self._documents[key]
        array, _, name = key.rpartition("/")
        row = _row_of(name, self._grids[array])
        if row is None:
            raise KeyError(key)
        record, row = divmod(row, self._record_size)
        found = self._row(array, record, row)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self.under("")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParquetTable) and self._name == other._name and self._documents == other._documents

    def under(self, prefix: str) -> Iterator[str]:
        """Return the keys that begin with a prefix; arrays without such a key are not read.

        Raises
        ------
        MetadataValidationError
            If an array among them has more chunks than can be listed.
        """
        yield from (key for key in self._documents if key.startswith(prefix))
        for array in self._grids:
            if f"{array}/".startswith(prefix) or prefix.startswith(f"{array}/"):
                yield from (key for key in self._chunks_of(array) if key.startswith(prefix))

    def names_under(self, folder: str) -> list[str]:
        """Return the names directly under a folder; no chunk of the arrays below it is read."""
        documents = child_names(list(self._documents), folder)
        array = folder.strip("/")
        if array not in self._grids:
            return documents
        return sorted({*documents, *child_names(list(self._chunks_of(array)), dir_prefix(array))})

    def _chunks_of(self, array: str) -> Iterator[str]:
        grid = self._grids[array]
        count = math.prod(grid)
        name = f"{self._name}/{array}"
        require(count <= MAX_GENERATED, f"{name} has {count} chunks, more than the {MAX_GENERATED} that are listed")
        if not count:  # one of the others may be longer than any memory
            return
        for row, coords in enumerate(itertools.product(*map(range, grid))):
            if self._row(array, *divmod(row, self._record_size)) is not None:
                yield f"{array}/{'.'.join(map(str, coords)) or '0'}"

    def _row(self, array: str, record: int, row: int) -> Any:
        """Return a reference in the form of a JSON table; None if there is none."""
        found = self._records.get((array, record), self)
        if found is self:
            if len(self._records) >= _MOST_RECORDS:
                self._records.clear()
            found = self._records[array, record] = self._record(f"{array}/refs.{record}.parq")
        if found is None or row >= found["path"].length():
            return None
        try:
            path, offset, size, raw = (found[name][row].as_py() if name in found else None for name in COLUMNS)
        except (ValueError, LookupError, OverflowError) as error:  # times out of range and similar values
            raise MetadataValidationError(f"{self._name}/{array}/refs.{record}.parq, row {row}: {error}") from error
        if isinstance(raw, bytes):
            return "base64:" + base64.b64encode(raw).decode()
        if isinstance(raw, str):
            return raw
        if path is None:
            return None
        span = [_whole(offset), _whole(size)]
        return [path] if span == [0, 0] else [path, *span]

    def _record(self, name: str) -> dict[str, Any] | None:
        """Return the columns of a file, in Arrow's form; None if there is no such file."""
        pa = load_extra("pyarrow", "arrow", f"reading the references in {self._name}")
        pq = load("pyarrow.parquet")
        try:
            data = self._read(name)
        except FileNotFoundError:
            return None
        place = f"{self._name}/{name}"
        try:
            about = pq.read_metadata(pa.BufferReader(data))
            self._check_rows(about.num_rows, len(data), place)
            wanted = [column for column in COLUMNS if column in about.schema.names]
            missing = {"path", "offset", "size"} - set(wanted)
            require(not missing, f"{place} has no columns {sorted(missing)}")
            # Long paths are the same in many rows: as a dictionary they are stored once.
            repeated = [column for column in ("path", "raw") if column in wanted]
            file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=repeated)
            columns = file.read(columns=wanted, use_threads=False)
            columns.validate(full=True)
            return {column: columns.column(column) for column in wanted}
        except MetadataValidationError:
            raise
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError) as error:
            raise MetadataValidationError(f"{place} is not a sound parquet file: {error}") from error

    def _check_rows(self, nrows: int, nbytes: int, place: str) -> None:
        """Refuse a file that is small and declares very many rows."""
        fits = nrows * _ROW_BYTES <= _FREE_BYTES + _MAX_RATIO * nbytes
        require(fits, f"{place} states {nrows} rows, in {nbytes} bytes")
        size = self._record_size
        require(nrows <= size, f"{place} has {nrows} rows, and the record_size of the table is {size}")


def _whole(number: Any) -> Any:
    """Return a number as an int, if it is whole: columns of floats mark a missing row by NaN."""
    if number is None:
        return 0
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _parsed_documents(raw: bytes, name: str) -> tuple[dict[str, Any], int]:
    """Return the documents of a hierarchy, and the number of references in a file."""
    try:
        document = json.loads(raw)
        documents, size = document["metadata"], document["record_size"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise MetadataValidationError(f"{name} is not that of references: metadata, record_size ({error})") from error
    require(isinstance(documents, dict), f"{name}: metadata must be an object, got {type(documents).__name__}")
    good = type(size) is int and 1 <= size <= MAX_OFFSET
    require(good, f"{name}: record_size must be a number of at least 1, got {str(size)[:100]}")
    return documents, size


def _grid_of(document: Any, name: str) -> tuple[int, ...]:
    try:
        parsed = json.loads(document) if isinstance(document, str) else document
        pairs = list(zip(parsed["shape"], parsed["chunks"], strict=True))
        separator = parsed.get("dimension_separator", ".")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise MetadataValidationError(f"{name} is no document of an array: shape, chunks ({error})") from error
    good = all(type(n) is int and n >= least for pair in pairs for n, least in zip(pair, (0, 1), strict=True))
    require(good, f"{name}: shape and chunks must be lengths, got {str(pairs)[:100]}")
    rule = "the rows of parquet files are found by keys with dots"
    require(separator in (".", None), f"{name}: {rule}; the dimension_separator is {separator!r}")
    return tuple(-(-length // chunk) for length, chunk in pairs)


def _row_of(name: str, grid: tuple[int, ...]) -> int | None:
    """Return the number of a chunk in the order of its array's chunks; None if the name is not that of a chunk."""
    parts = name.split(".")
    if len(parts) != max(len(grid), 1) or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    if not grid:
        return 0 if name == "0" else None
    row = 0
    for part, length in zip(parts, grid, strict=True):
        if len(part) > len(str(length)) or int(part) >= length:
            return None
        row = row * length + int(part)
    return row
