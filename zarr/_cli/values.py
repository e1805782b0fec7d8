"""The commands that show what an array holds: ``cat`` prints it, ``plot`` draws it."""

from __future__ import annotations

import csv
import io
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from zarr._cli.answers import finite
from zarr._cli.arguments import NodePath, Options, Place, Store, parse_place, parse_selection
from zarr._lazy import load_extra
from zarr.arrays.array import Array
from zarr.arrays.show.pictures import plot as plot_values
from zarr.arrays.show.pictures import plot_chunks
from zarr.buffer.core import default_buffer_prototype
from zarr.core.sync import sync
from zarr.groups.group import Group
from zarr.metadata.documents import dump_document


class Part(StrEnum):
    """Parts of a node that can be printed."""

    values = "values"
    attributes = "attributes"
    metadata = "metadata"


class Form(StrEnum):
    """Forms in which values are printed."""

    text = "text"
    json = "json"
    csv = "csv"
    npy = "npy"


Printed = Annotated[Part, typer.Option(help="What is printed: values, attributes or the metadata document.")]
Selection = Annotated[
    str | None, typer.Option("--select", metavar="SELECTION", help="Which values, as NumPy selects them: 0:10,5.")
]
Picture = Annotated[Path, typer.Argument(metavar="PICTURE", help="The file to write: .png, .svg, .pdf or .jpg.")]
Format = Annotated[Form | None, typer.Option("--format", help="How values are printed; by default as text.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; by default what is printed.")]


def cat(
    store: Store,
    path: NodePath = None,
    part: Printed = Part.values,
    select: Selection = None,
    form: Format = None,
    output: Output = None,
    option: Options = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Print values, attributes or the metadata document of a node."""
    if as_json and form not in (None, Form.json):
        raise typer.BadParameter("--json and --format name different formats", param_hint="--format")
    if part is not Part.values and (select is not None or form not in (None, Form.json)):
        raise typer.BadParameter(f"--select and --format are for values, not for {part}", param_hint="--part")
    chosen = Form.json if as_json else form or Form.text
    if chosen is Form.npy and output is None and sys.stdout.isatty():
        raise typer.BadParameter("npy is no text: name a file by --output, or redirect", param_hint="--format")
    place = parse_place(store, path, option)
    if part is Part.values:
        _write(_formatted(_read(place, select), chosen), output)
        return
    with place.opened() as node:
        content = _document(node) if part is Part.metadata else dump_document(finite(dict(node.attrs)))
    _write(content.rstrip(b"\n") + b"\n", output)


def plot(
    store: Store,
    picture: Picture,
    select: Selection = None,
    chunks: Annotated[bool, typer.Option("--chunks", help="Draw the chunks; those that are read are marked.")] = False,
    option: Options = None,
) -> None:
    """Draw an array into a file: one dimension as a line, two as an image, of more the middle; needs matplotlib."""
    figures = load_extra("matplotlib.figure", "plot", "a picture")
    selection = None if select is None else parse_selection(select)
    with parse_place(store, None, option).opened() as node:
        ax = figures.Figure(figsize=(8, 5), layout="constrained").add_subplot()
        draw = plot_chunks if chunks else plot_values
        draw(_array(node), selection, ax)
        ax.figure.savefig(picture, dpi=120)
    typer.echo(f"{picture}: {ax.get_title()}")


def _array(node: Array[Any] | Group) -> Array[Any]:
    """Return an array; refuse a group, and say what to do."""
    if isinstance(node, Group):
        names = ", ".join(sorted(node.array_keys())) or "none"
        raise TypeError(f"{node.name} is a group and cannot be drawn: name one of its arrays ({names}) after '::'")
    return node


def _document(node: Array[Any] | Group) -> bytes:
    """Return the metadata document of a node as it is stored."""
    kind = ".zarray" if isinstance(node, Array) else ".zgroup"
    name = "zarr.json" if node.metadata.zarr_format == 3 else kind
    stored = sync((node.store_path / name).get())
    if stored is None:  # a layout with other documents is shown as format 2 or 3
        stored = node.metadata.to_buffer_dict(default_buffer_prototype())[name]
    return stored.to_bytes()


def _read(place: Place, select: str | None) -> Any:
    selection = ... if select is None else parse_selection(select)
    with place.opened() as node:
        if isinstance(node, Group):
            raise TypeError(
                f"{node.name} is a group and has no values: say --part attributes or --part metadata, or name an array"
            )
        if isinstance(selection, tuple) and any(isinstance(index, list) for index in selection):
            return np.asarray(node.oindex[selection])
        return np.asarray(node[selection])


def _write(content: bytes, output: Path | None) -> None:
    if output is None:
        typer.echo(content, nl=False)
    else:
        output.write_bytes(content)


# ------------------------------------------------------------------------------------------------ formats


def _formatted(values: Any, form: Form) -> bytes:
    """Return values in a format, as the bytes of a file."""
    if form is Form.npy:
        return _npy(values)
    if form is Form.json:
        text = json.dumps(finite(plain_values(values)), ensure_ascii=False) + "\n"
    elif form is Form.csv:
        text = _csv(values)
    else:
        text = np.array2string(values, threshold=sys.maxsize, max_line_width=120) if values.ndim else str(values[()])
        text += "\n"
    return text.encode()


def _npy(values: Any) -> bytes:
    if values.dtype.kind == "T":
        values = np.array(values.tolist(), dtype=str)  # of fixed length: NumPy would pickle text of variable length
    if values.dtype.hasobject:
        raise TypeError("npy has no form for Python objects: use --format json")
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


def _csv(values: Any) -> str:
    """Return values of at most two dimensions as lines; the fields of a structure are columns, with their names."""
    fields = values.dtype.names
    if values.ndim > (1 if fields else 2):
        raise ValueError(
            f"csv has rows and columns, and {values.ndim} dimensions are left: fix some by --select, such as 0,:,:"
        )
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    if fields:
        writer.writerow(fields)
        rows: Any = (tuple(row) for row in np.atleast_1d(values))
    else:
        rows = values if values.ndim == 2 else values.reshape(-1, 1)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: Any) -> str:
    """Return a value as text; bytes as UTF-8."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def plain_values(values: Any) -> Any:
    """Return values in JSON types: nested lists; complex numbers as pairs, dates and bytes as text.

    Examples
    --------
    >>> plain_values(np.array([1 + 2j]))
    [[1.0, 2.0]]
    >>> plain_values(np.array("2001-02-03", dtype="datetime64[D]"))
    '2001-02-03'
    """
    if values.dtype.names:
        if values.ndim:
            return [plain_values(value) for value in values]
        return {name: plain_values(values[name]) for name in values.dtype.names}
    if values.dtype.kind == "c":
        return np.stack([values.real, values.imag], axis=-1).tolist()
    if values.dtype.kind == "M":
        return np.datetime_as_string(values).tolist()
    if values.dtype.kind == "m":
        return values.astype(np.int64).tolist()
    return _texts(values.tolist())


def _texts(value: Any) -> Any:
    """Return nested lists with bytes as text."""
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return value if isinstance(value, bool | int | float | str | None) else _cell(value)
