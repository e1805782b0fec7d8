"""Write one-dimensional arrays as the columns of a parquet or csv file, by pyarrow, some rows at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from zarr._lazy import load
from zarr.tools.conversion.contents import ArrayContents, Contents, GroupContents
from zarr.tools.conversion.tables.arrow_types import TYPE, arrow_type_of, values_of

KEY: Final = b"zarr"
"""The name of the metadata with attributes."""

VALID: Final = "valid_of"
"""The attribute of an array that marks the existing values of another one: the name of the other."""

ROWS: Final = 65_536
"""Minimum number of rows that are written as one group."""


def write_parquet(contents: Contents, path: Any, losses: list[str]) -> None:
    """Write the arrays of a group as the columns of a parquet file.

    Parameters
    ----------
    contents : GroupContents
        One-dimensional arrays of one length, in the order of the attribute ``columns``.
    path : str or PathLike
        The new file, compressed by zstd.
    losses : list of str
        Receives the losses: groups, arrays of more dimensions, data types that Arrow does not have.

    Raises
    ------
    ValueError
        If there is no array that can be a column, or their lengths differ.

    Examples
    --------
    >>> import tempfile, os, numpy as np, pyarrow.parquet
    >>> path = os.path.join(tempfile.mkdtemp(), "a.parquet")
    >>> data = np.arange(3)
    >>> write_parquet(ArrayContents(data.shape, data.dtype, data.__getitem__), path, [])
    >>> pyarrow.parquet.read_table(path).to_pydict()
    {'values': [0, 1, 2]}
    """
    columns = _Columns(contents, losses)
    schema = columns.schema(with_metadata=True)
    for name, kind in columns.types.items():
        if load("pyarrow").types.is_timestamp(kind) and kind.unit == "s":
            losses.append(f"/{name}: the data type datetime64[s]: parquet has milliseconds")
    with load("pyarrow.parquet").ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in columns.batches(schema):
            writer.write_batch(batch, row_group_size=max(columns.step, 1))


def write_csv(contents: Contents, path: Any, losses: list[str]) -> None:
    """Write the arrays of a group as the columns of a csv file; with the suffix ``.tsv``, separated by tabs.

    Parameters
    ----------
    contents : GroupContents
        As for :func:`write_parquet`.
    path : str or PathLike
    losses : list of str
        Receives the losses, attributes included.

    Raises
    ------
    ValueError
        If there is no array that can be a column, or their lengths differ.

    Examples
    --------
    >>> import tempfile, os, numpy as np
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> data = np.arange(3)
    >>> write_csv(ArrayContents(data.shape, data.dtype, data.__getitem__), path, [])
    >>> open(path).read().split()
    ['"values"', '0', '1', '2']
    """
    arrow, writing = load("pyarrow"), load("pyarrow.csv")
    columns = _Columns(contents, losses)
    for name in [name for name, kind in columns.types.items() if arrow.types.is_large_binary(kind)]:
        losses.append(f"/{name}: csv has text and no bytes")
        del columns.arrays[name], columns.types[name]
    if not columns.arrays:
        raise ValueError("there is no column that csv can have: parquet has text, numbers, dates and bytes")
    columns.note_attributes()
    schema = columns.schema(with_metadata=False)
    for place, field in enumerate(schema):
        if arrow.types.is_duration(field.type):
            losses.append(f"/{field.name}: its unit {field.type.unit}: durations become whole numbers")
            schema = schema.set(place, field.with_type(arrow.int64()))
        elif arrow.types.is_dictionary(field.type):
            schema = schema.set(place, field.with_type(field.type.value_type))
    alone = columns.is_one_with_nulls()
    if alone:  # a row of nothing but a null would be an empty line, which is no row: it becomes ""
        schema = schema.set(0, schema.field(0).with_type(arrow.string()))
    separator = "\t" if str(path).lower().endswith(".tsv") else ","
    options = writing.WriteOptions(delimiter=separator)
    with writing.CSVWriter(path, schema, write_options=options) as writer:
        for batch in columns.batches(schema):
            writer.write_batch(_without_nulls(batch) if alone else batch)


def _without_nulls(batch: Any) -> Any:
    arrow, compute = load("pyarrow"), load("pyarrow.compute")
    return arrow.record_batch([compute.fill_null(batch.column(0), "")], batch.schema)


class _Columns:
    """The arrays that become columns, and the masks of their values."""

    def __init__(self, contents: Contents, losses: list[str]) -> None:
        self.losses = losses
        if isinstance(contents, ArrayContents):
            contents = GroupContents(members={"values": contents})
        members, self.attributes = dict(contents.members), dict(contents.attributes)
        order = self.attributes.pop("columns", None)
        order = [name for name in order if name in members] if isinstance(order, list) else []
        self.masks: dict[str, ArrayContents] = {}
        self.arrays: dict[str, ArrayContents] = {}
        self.types: dict[str, Any] = {}
        for name in dict.fromkeys([*order, *members]):
            self._add(name, members[name], members)
        lengths = {array.shape[0] for array in self.arrays.values()}
        if len(lengths) != 1:
            several = f"are arrays of {', '.join(map(str, sorted(lengths)))} elements"
            found = several if lengths else f"is none that can be one ({'; '.join(losses) or 'no array'})"
            raise ValueError(f"a table has columns of one length, and there {found}: name a part of the source by ::")
        self.count = lengths.pop()
        longest = max((array.chunks or (1,))[0] for array in self.arrays.values())
        self.step = longest if longest >= ROWS else -(-ROWS // longest) * longest

    def _add(self, name: str, member: Contents, members: dict[str, Contents]) -> None:
        if not isinstance(member, ArrayContents) or len(member.shape) != 1:
            self.losses.append(f"/{name}: it is no array of one dimension, and no column")
            return
        other = member.attributes.get(VALID)
        if isinstance(other, str) and other in members and other != name:
            self.masks[other] = member
            return
        kind = arrow_type_of(member.dtype, dict(member.attributes))
        if kind is None:
            self.losses.append(f"/{name}: the data type {member.dtype}: Arrow has none such")
            return
        self.arrays[name], self.types[name] = member, kind
        if getattr(member.dtype, "kind", "") in ("U", "S"):
            self.losses.append(f"/{name}: the data type {member.dtype}: texts have any length")
        if member.shards is not None:
            self.losses.append(f"/{name}: shards of shape {member.shards}")
        fill = member.fill_value
        if fill not in (None, 0, "", b"") and fill == fill:
            self.losses.append(f"/{name}: the fill value {fill}")

    def is_one_with_nulls(self) -> bool:
        """Return True if there is one column, and it may have nulls."""
        (name, array), *others = self.arrays.items()
        times = getattr(array.dtype, "kind", "") in ("M", "m")
        return not others and (times or name in self.masks or array.attributes.get("nulls") == "NaN")

    def note_attributes(self) -> None:
        """Note the loss of attributes, which a csv file does not have."""
        self.losses += [f"/: the attribute {name!r}" for name in sorted(set(self.attributes) - {"arrow_metadata"})]
        if "arrow_metadata" in self.attributes:
            self.losses.append("/: the metadata of the table")
        for name, array in self.arrays.items():
            known = {"name", "nulls"} | ({TYPE} if array.attributes.get(TYPE) != "dictionary" else set())
            self.losses += [f"/{name}: the attribute {each!r}" for each in sorted(set(array.attributes) - known)]

    def schema(self, *, with_metadata: bool) -> Any:
        """Return the schema of the table."""
        arrow = load("pyarrow")
        fields = []
        for name, array in self.arrays.items():
            known = {"name", "nulls", "timezone", TYPE}
            own = {key: value for key, value in array.attributes.items() if key not in known}
            metadata = {KEY: json.dumps(own).encode()} if own and with_metadata else None
            fields.append(arrow.field(str(array.attributes.get("name", name)), self.types[name], metadata=metadata))
        return arrow.schema(fields, metadata=self._metadata() if with_metadata else None)

    def _metadata(self) -> dict[bytes, bytes] | None:
        texts = self.attributes.pop("arrow_metadata", {})
        found = {str(key).encode(): str(value).encode() for key, value in texts.items()}
        names = next(iter(self.arrays.values())).dimension_names
        own: dict[str, Any] = {"attributes": self.attributes} if self.attributes else {}
        if names and names[0] not in (None, "row"):
            own["dimension"] = names[0]
        return found | ({KEY: json.dumps(own).encode()} if own else {}) or None

    def batches(self, schema: Any) -> Iterator[Any]:
        """Yield the rows, some at a time."""
        arrow = load("pyarrow")
        for start in range(0, self.count, self.step):
            part = (slice(start, min(start + self.step, self.count)),)
            columns = [self._values(name, part, field.type) for name, field in zip(self.arrays, schema, strict=True)]
            yield arrow.record_batch(columns, schema=schema)

    def _values(self, name: str, part: tuple[slice], kind: Any) -> Any:
        array = self.arrays[name]
        elements = np.asarray(array.read(part))
        valid = self.masks[name].read(part) if name in self.masks else None
        if array.attributes.get("nulls") == "NaN" and elements.dtype.kind == "f":
            valid = ~np.isnan(elements)
        made = values_of(elements, self.types[name], valid)
        return made if made.type == kind else made.cast(kind)
