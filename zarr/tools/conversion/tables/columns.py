"""Read the columns of parquet and csv files, by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from zarr._lazy import load
from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents
from zarr.tools.conversion.tables.arrow_types import Column, column_of, elements_of
from zarr.tools.conversion.tables.csv_scan import CsvRows, scan_csv
from zarr.tools.conversion.tables.writing import KEY, VALID

DIMENSION: Final = "row"


def read_parquet(path: Any, losses: list[str]) -> GroupContents:
    """Return the contents of a parquet file: a group with an array for each column.

    Parameters
    ----------
    path : str or PathLike
    losses : list of str
        Receives the losses.

    Returns
    -------
    GroupContents
        Arrays with the dimension ``row``; a group of rows is a chunk. The attribute ``columns`` keeps their order.
        Dates, times and durations are ``datetime64`` and ``timedelta64``, decimals are text. Nulls are NaN or NaT; for
        nulls of other columns ``x`` an array ``x_valid`` marks the existing values.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        If the file is no parquet file.

    Examples
    --------
    >>> import tempfile, os, pyarrow, pyarrow.parquet
    >>> path = os.path.join(tempfile.mkdtemp(), "a.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"n": [1, None, 3]}), path)
    >>> table = read_parquet(path, [])
    >>> {name: column.read((slice(0, 3),)).tolist() for name, column in table.members.items()}
    {'n': [1, 0, 3], 'n_valid': [True, False, True]}
    """
    arrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as parquet: {error}") from error
    with file:
        schema = file.schema_arrow
        borders = [0]
        for number in range(file.metadata.num_row_groups):
            borders.append(borders[-1] + file.metadata.row_group(number).num_rows)
        nulls = [_nulls_of(file, name) for name in schema.names]
    fields = [(field.name, field.type, field.metadata or {}) for field in schema]
    table = _Table(borders[-1], max(borders[1] if len(borders) > 1 else 1, 1), losses)
    return table.contents(fields, nulls, partial(ParquetRows, str(path), borders), schema.metadata or {})


def read_csv(path: Any, losses: list[str]) -> GroupContents:
    """Return the contents of a csv file: a group with an array for each column.

    The file is read twice. First the types of the columns are found, over all rows; then rows are read on request.

    Parameters
    ----------
    path : str or PathLike
        Text in UTF-8 whose first line has the names, with commas, semicolons, tabs or bars between the values.
    losses : list of str
        Receives the losses.

    Returns
    -------
    GroupContents
        As for :func:`read_parquet`.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        If the rows do not have the same number of values.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("name,size\\na,1.5\\nb,2\\n")
    >>> table = read_csv(path, [])
    >>> table.members["size"].dtype, table.members["name"].read((slice(1, 2),)).tolist()
    (dtype('float64'), ['b'])
    """
    found = scan_csv(str(path))
    table = _Table(found.rows, max(min(found.every, found.rows), 1), losses)
    fields: list[tuple[str, Any, dict[bytes, bytes]]] = [
        (name, kind, {}) for name, kind in zip(found.names, found.types, strict=True)
    ]
    return table.contents(fields, found.nulls, partial(CsvRows, str(path), found), {})


def _nulls_of(file: Any, name: str) -> bool:
    """Return True if a column has nulls: by the statistics, or by reading it."""
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        places = [n for n in range(group.num_columns) if group.column(n).path_in_schema == name]
        statistics = group.column(places[0]).statistics if places else None
        if statistics is not None and statistics.has_null_count:
            if statistics.null_count:
                return True
        elif places and file.read_row_group(number, columns=[name]).column(0).null_count:
            return True
    return False


class ParquetRows:
    """Read rows of one column; each process opens the file itself.

    Parameters
    ----------
    path : str
    borders : sequence of int
        The begin of each group of rows, and the end of the last.
    place : int
        The number of the column.
    """

    def __init__(self, path: str, borders: Sequence[int], place: int) -> None:
        self.path, self.borders, self.place = path, tuple(borders), place
        self._last: tuple[tuple[int, int], Any] = ((0, 0), None)

    def __call__(self, start: int, stop: int) -> Any:
        """Return rows as a column of Arrow."""
        first = int(np.searchsorted(self.borders, start, side="right")) - 1
        last = max(int(np.searchsorted(self.borders, stop, side="left")), first + 1)
        groups, values = self._last
        if groups != (first, last):
            with load("pyarrow.parquet").ParquetFile(self.path) as file:
                name = file.schema_arrow.names[self.place]
                values = file.read_row_groups(list(range(first, last)), columns=[name]).column(0)
            self._last = (first, last), values
        return values.slice(start - self.borders[first], stop - start)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last": ((0, 0), None)}


def read_column(rows: Callable[[int, int], Any], column: Column | None, region: tuple[slice, ...]) -> Any:
    """Return the elements of a region of a column, or, without its form, the mask of its values.

    Parameters
    ----------
    rows : callable
        Returns rows, from and to a number, as a column of Arrow.
    column : Column, optional
    region : tuple of a slice
    """
    values = rows(region[0].start, region[0].stop)
    return elements_of(values, column) if column else np.asarray(values.is_valid())


class _Table:
    """The columns of a table as arrays."""

    def __init__(self, count: int, chunk: int, losses: list[str]) -> None:
        self.count, self.chunk, self.losses = count, chunk, losses

    def contents(
        self,
        fields: Sequence[tuple[str, Any, Mapping[bytes, bytes]]],
        nulls: Sequence[bool],
        rows: Callable[[int], Callable[[int, int], Any]],
        metadata: Mapping[bytes, bytes],
    ) -> GroupContents:
        own = _written(metadata)
        members: dict[str, Contents] = {}
        columns = []
        names = _member_names([name for name, _, _ in fields])
        for place, (label, kind, extra) in enumerate(fields):
            column = column_of(kind)
            if column is None:
                self.losses.append(f"/{label}: the column of type {kind}: Zarr has no such data type")
                continue
            columns.append(names[place])
            self._note_losses(label, kind, column, nulls[place])
            attributes = {**_written(extra), **column.attributes, **({"name": label} if label != names[place] else {})}
            missing = {"nulls": "NaN"} if nulls[place] and column.fill is None and column.kind == "plain" else {}
            read = rows(place)
            members[names[place]] = self._array(read, column, attributes | missing, own)
            if nulls[place] and column.fill is not None:
                mask = _free_name(f"{names[place]}_valid", {*names, *members})
                members[mask] = self._array(read, None, {VALID: names[place]}, own)
        texts = self._texts(metadata)
        return GroupContents({**own.get("attributes", {}), "columns": columns, **texts}, members)

    def _array(
        self, rows: Callable[[int, int], Any], column: Column | None, attributes: dict[str, Any], own: Mapping[str, Any]
    ) -> ArrayContents:
        """Return a column as an array; without its form, the mask of its values."""
        dtype, names = column.dtype if column else np.dtype(bool), (own.get("dimension", DIMENSION),)
        read = partial(read_column, rows, column)
        return ArrayContents(
            (self.count,), dtype, read, chunks=(self.chunk,), dimension_names=names, attributes=attributes
        )

    def _note_losses(self, label: str, kind: Any, column: Column, nulls: bool) -> None:
        if getattr(kind, "ordered", False):
            self.losses.append(f"/{label}: the order of its categories")
        if nulls and column.fill is None and column.kind == "plain":
            self.losses.append(f"/{label}: nulls: they are NaN, as other values of it may be")

    def _texts(self, metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
        found = {}
        for key, value in metadata.items():
            if key in (KEY, b"ARROW:schema"):
                continue
            try:
                found[key.decode()] = value.decode()
            except UnicodeDecodeError:
                self.losses.append(f"/: the metadata {key!r}: it is no text")
        return {"arrow_metadata": found} if found else {}


def _written(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return the metadata that was written from Zarr."""
    try:
        found = json.loads(metadata.get(KEY, b"{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _member_names(labels: Sequence[str]) -> list[str]:
    """Return names of members for columns: without slashes, all different.

    Examples
    --------
    >>> _member_names(["a", "b/c", "", "a"])
    ['a', 'b_c', 'column_2', 'a_2']
    """
    names: list[str] = []
    for place, label in enumerate(labels):
        name = label.replace("/", "_")
        name = f"column_{place}" if not name.strip(".") or name.startswith("__") else name
        names.append(_free_name(name, [*names, *labels[place + 1 :]] if name != label else names))
    return names


def _free_name(name: str, taken: Iterable[str]) -> str:
    taken, number, found = set(taken), 2, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
