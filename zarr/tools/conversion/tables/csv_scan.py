"""Find the places of the rows of a csv file and the types of its columns; read some of its rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from zarr._lazy import load

BLOCK: Final = 16 << 20
EVERY: Final = 65_536
"""Number of rows after which a place in the file is noted; they are one chunk."""

_SEPARATORS: Final = ",;\t|"
_QUOTE, _LINE_FEED, _RETURN = b'"'[0], b"\n"[0], b"\r"[0]
_EXACT: Final = 1 << 53
_ZEROS: Final = re.compile(rb"(?:^|[,;\t|\n\r\"])[ ]*[-+]?0[0-9]")
"""What a value with a leading zero looks like; moments have it, too."""


class CsvScan(NamedTuple):
    """The result of a scan: names, types and nulls of columns, the number of rows, and the begin of each part."""

    names: tuple[str, ...]
    types: tuple[Any, ...]
    nulls: tuple[bool, ...]
    separator: str
    rows: int
    every: int
    starts: tuple[int, ...]


def scan_csv(path: str) -> CsvScan:
    """Read a file once and return the data for reading some of its rows.

    Raises
    ------
    ValueError
        If it is empty or no text, or its rows are not of the same length.
    """
    with open(path, "rb") as file:
        ends = (end for _, ends in _row_places(file) for end in ends.tolist())
        first = next(ends, 0)
        file.seek(0)
        header = file.read(first)
    try:
        text = header.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read as csv: it is no text in UTF-8") from error
    if not text:
        raise ValueError(f"{path} cannot be read as csv: it is empty")
    separator = max(_SEPARATORS, key=text.count)
    names = tuple(next(csv.reader(io.StringIO(text), delimiter=separator)))
    starts, rows = _starts(path)
    found = CsvScan(names, (), (), separator, rows, EVERY, starts)
    try:
        types, nulls = _types(path, found)
    except load("pyarrow").ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as csv: {error}") from error
    return found._replace(types=types, nulls=nulls)


def _row_places(file: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the places of rows, many at once; line feeds between quotes end no row, and empty lines are no rows."""
    offset, quotes, start = 0, 0, 0
    last = 0
    while block := file.read(BLOCK):
        numbers = np.frombuffer(block, dtype=np.uint8)
        inside = (np.cumsum(numbers == _QUOTE, dtype=np.uint8) + quotes) % 2
        quotes = int(inside[-1])
        places = np.flatnonzero((numbers == _LINE_FEED) & (inside == 0))
        if len(places):
            ends = places + (offset + 1)
            starts = np.concatenate(([start], ends[:-1]))
            before = np.where(places > 0, numbers[places - 1], last)
            full = ends - starts > np.where(before == _RETURN, 2, 1)
            yield starts[full], ends[full]
            start = int(ends[-1])
        last, offset = int(numbers[-1]), offset + len(block)
    if offset > start:
        yield np.array([start]), np.array([offset])


def _starts(path: str) -> tuple[tuple[int, ...], int]:
    """Return the begin of each part of the rows, the end of the last, and the number of rows."""
    found: list[int] = []
    count, stop = -1, 0
    with open(path, "rb") as file:
        for starts, ends in _row_places(file):
            if len(starts):
                # The first row has the names.
                found += starts[1 if count < 0 else -count % EVERY :: EVERY].tolist()
                count, stop = count + len(starts), int(ends[-1])
    return (*found, stop), max(count, 0)


def parse_rows(path: str, scan: CsvScan, first: int, last: int, columns: Sequence[int], types: Any) -> Any:
    """Return some parts of the rows as a table of Arrow.

    Parameters
    ----------
    path : str
    scan : CsvScan
    first, last : int
        The numbers of parts.
    columns : sequence of int
    types : dict or None
        The type of each column by its number; None: find them.
    """
    arrow, reader = load("pyarrow"), load("pyarrow.csv")
    data = _bytes_of(path, scan, first, last)
    labels = [str(place) for place in range(len(scan.names))]
    return reader.read_csv(
        arrow.BufferReader(data),
        read_options=reader.ReadOptions(column_names=labels, use_threads=False, block_size=max(len(data), 1)),
        parse_options=reader.ParseOptions(delimiter=scan.separator, newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            include_columns=[labels[place] for place in columns],
            column_types=None if types is None else {labels[place]: kind for place, kind in types.items()},
        ),
    )


def _bytes_of(path: str, scan: CsvScan, first: int, last: int) -> bytes:
    """Return some parts of the rows as they are stored."""
    with open(path, "rb") as file:
        file.seek(scan.starts[first])
        return file.read(scan.starts[last] - scan.starts[first])


def _types(path: str, scan: CsvScan) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
    """Return the type of each column that holds all of its values, and True if some values are missing."""
    arrow = load("pyarrow")
    types: list[Any] = [arrow.null() for _ in scan.names]
    nulls, long = [False] * len(types), [False] * len(types)
    padded: set[int] = set()
    places = range(len(types))
    for part in range(len(scan.starts) - 1):
        table = parse_rows(path, scan, part, part + 1, places, None)
        if table.num_rows != min(EVERY, scan.rows - part * EVERY):
            raise arrow.ArrowInvalid(f"rows after {part * EVERY} have quotes that do not begin and end a value")
        for place, column in enumerate(table.columns):
            types[place] = _common(arrow, types[place], column.type)
            nulls[place] = nulls[place] or column.null_count > 0
            long[place] = long[place] or _is_long(path, scan, part, place, column)
        padded.update(_zero_padded(path, scan, part, table))
    for place, kind in enumerate(types):
        floating = arrow.types.is_floating(kind)
        is_text = arrow.types.is_null(kind) or arrow.types.is_string(kind) or (floating and long[place])
        if is_text or place in padded:
            types[place] = arrow.string()
        nulls[place] = nulls[place] and not floating and types[place] != arrow.string()
    return tuple(types), tuple(nulls)


def _is_long(path: str, scan: CsvScan, part: int, place: int, column: Any) -> bool:
    """Return True if a column of numbers has integers that no float can hold, such as identifiers of 20 digits."""
    arrow, compute = load("pyarrow"), load("pyarrow.compute")
    if not _is_number(arrow, column.type):
        return False
    limits = compute.min_max(column).as_py()
    large = any(abs(limit) > _EXACT for limit in limits.values() if limit is not None)
    if not large or arrow.types.is_integer(column.type):
        return large
    texts = parse_rows(path, scan, part, part + 1, [place], {place: arrow.string()}).column(0)
    return bool(compute.any(compute.match_substring_regex(texts, r"^\s*[-+]?\d{17,}\s*$")).as_py())


def _zero_padded(path: str, scan: CsvScan, part: int, table: Any) -> Iterator[int]:
    """Yield the columns of numbers with zeros before a digit, such as postal codes: as numbers they would lose them."""
    arrow, compute = load("pyarrow"), load("pyarrow.compute")
    places = [place for place, column in enumerate(table.columns) if _is_number(arrow, column.type)]
    if not places or not _ZEROS.search(_bytes_of(path, scan, part, part + 1)):
        return
    texts = parse_rows(path, scan, part, part + 1, places, dict.fromkeys(places, arrow.string()))
    for place, column in zip(places, texts.columns, strict=True):
        if compute.any(compute.match_substring_regex(column, r"^\s*[-+]?0\d")).as_py():
            yield place


def _is_number(arrow: Any, kind: Any) -> bool:
    return bool(arrow.types.is_integer(kind) or arrow.types.is_floating(kind))


def _common(arrow: Any, first: Any, second: Any) -> Any:
    """Return a type that can hold the values of two."""
    types = arrow.types
    if first == second or types.is_null(second):
        return first
    if types.is_null(first):
        return second
    numbers = [_is_number(arrow, kind) for kind in (first, second)]
    if all(numbers):
        return arrow.float64()
    moments = [types.is_timestamp(kind) or types.is_date(kind) for kind in (first, second)]
    zones = {getattr(kind, "tz", None) for kind in (first, second)}
    if all(moments) and len(zones) == 1:
        return arrow.timestamp("ns", zones.pop())
    return arrow.string()


class CsvRows:
    """Read rows of one column, in any process.

    Parameters
    ----------
    path : str
    scan : CsvScan
    place : int
        The number of the column.
    """

    def __init__(self, path: str, scan: CsvScan, place: int) -> None:
        self.path, self.scan, self.place = path, scan, place

    def __call__(self, start: int, stop: int) -> Any:
        """Return rows as a column of Arrow."""
        every = self.scan.every
        first, last = start // every, max(-(-stop // every), start // every + 1)
        kind = self.scan.types[self.place]
        table = parse_rows(self.path, self.scan, first, last, [self.place], {self.place: kind})
        return table.column(0).slice(start - first * every, stop - start)
