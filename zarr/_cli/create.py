"""The command that creates nodes: ``create``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal, cast

import typer

import zarr
from zarr._cli.arguments import (
    NodePath,
    Options,
    Place,
    Store,
    Yes,
    parse_lengths,
    parse_pairs,
    parse_place,
    parse_value,
)
from zarr._cli.change import clear_way, find
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
from zarr.registry import get_codec_class
from zarr.types import ZarrFormat

_LEVELS = {"zstd": "level", "gzip": "level", "blosc": "clevel", "zlib": "level", "bz2": "level", "lzma": "preset"}
"""The parameter for a number after the name of a codec."""

Lengths = Annotated[str | None, typer.Option(metavar="LENGTHS", help="The shape of an array: 100,10.")]
Dtype = Annotated[str | None, typer.Option(help="The data type of an array: f4, int16, float32, string.")]
Chunks = Annotated[str | None, typer.Option(metavar="LENGTHS", help="The shape of a chunk; by default it is guessed.")]
Shards = Annotated[str | None, typer.Option(metavar="LENGTHS", help="The shape of a shard; by default there are none.")]
Fill = Annotated[str | None, typer.Option(help="The value of elements that were never written.")]
Codec = Annotated[
    list[str] | None,
    typer.Option(help="A codec: NAME, NAME:LEVEL or its JSON; none for no compression. Repeat, in order."),
]
Attr = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="An attribute. Repeat.")]
Names = Annotated[str | None, typer.Option("--dimension-names", metavar="NAMES", help="Names of dimensions: lat,lon.")]
Format = Annotated[
    int | None, typer.Option("--zarr-format", min=2, max=3, help="2 or 3; by default that of the store.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Remove what is there.")]


def create(
    store: Store,
    path: NodePath = None,
    shape: Lengths = None,
    dtype: Dtype = None,
    chunks: Chunks = None,
    shards: Shards = None,
    fill_value: Fill = None,
    codec: Codec = None,
    attr: Attr = None,
    dimension_names: Names = None,
    zarr_format: Format = None,
    overwrite: Overwrite = False,
    option: Options = None,
    yes: Yes = False,
) -> None:
    """Make an array, or a group if no shape is given."""
    place = parse_place(store, path, option)
    attributes = parse_pairs(attr, "--attr")
    given = {
        "dtype": dtype, "chunks": chunks, "shards": shards, "fill_value": fill_value, "codec": codec,
        "dimension_names": dimension_names,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    wanted = _wanted_format(place, zarr_format)
    if shape is None:
        if given:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise typer.BadParameter(f"a group has no {names}; an array needs --shape", param_hint="--shape")
        make: Callable[..., Any] = partial(zarr.create_group, path=place.path)
    elif dtype is None:
        raise typer.BadParameter("an array needs a data type, such as --dtype float32", param_hint="--dtype")
    else:
        parameters = {"shape": parse_lengths(shape, "--shape"), **_parameters(given, wanted)}
        make = partial(zarr.create_array, name=place.path or None, **parameters)
    clear_way(place, overwrite, yes)
    made = make(
        place.store, zarr_format=wanted, overwrite=overwrite, attributes=attributes, storage_options=place.options
    )
    made.store.close()


def _wanted_format(place: Place, zarr_format: int | None) -> ZarrFormat | None:
    """Return the requested format, else that of the hierarchy, which could not list a node of the other format."""
    if zarr_format is None and place.path and (above := find(place.root)) is not None:
        return above.zarr_format
    return cast("ZarrFormat | None", zarr_format)


def _parameters(given: dict[str, Any], zarr_format: ZarrFormat | None) -> dict[str, Any]:
    """Return the parameters of ``create_array`` for the options of an array."""
    parameters: dict[str, Any] = {"dtype": given["dtype"]}
    for name in ("chunks", "shards"):
        if name in given:
            parameters[name] = parse_lengths(given[name], f"--{name}")
    if "fill_value" in given:
        parameters["fill_value"] = parse_value(given["fill_value"])
    if "dimension_names" in given:
        parameters["dimension_names"] = [name.strip() for name in given["dimension_names"].split(",")]
    if "codec" in given:
        parameters.update(parse_codecs(given["codec"], zarr_format or 3))
    return parameters


def parse_codecs(texts: Sequence[str], zarr_format: ZarrFormat) -> dict[str, Any]:
    """Return the parameters of ``create_array`` for codecs of the command line.

    Parameters
    ----------
    texts : sequence of str
        Each is a name, a name with a level, or the JSON of a metadata document.
    zarr_format : 2 or 3

    Examples
    --------
    >>> parse_codecs(["zstd:5"], 3)
    {'compressors': [{'name': 'zstd', 'configuration': {'level': 5}}]}
    >>> parse_codecs(["none"], 3)
    {'compressors': None}
    """
    if list(texts) == ["none"]:
        return {"compressors": None}
    documents = [_codec_document(text, zarr_format) for text in texts]
    if zarr_format == 2:
        *filters, compressor = documents
        return {"compressors": compressor, **({"filters": filters} if filters else {})}
    sorted_by_kind: dict[str, Any] = {}
    for document in documents:
        kind = _kind(document)
        if kind == "serializer":
            sorted_by_kind[kind] = document
        else:
            sorted_by_kind.setdefault(kind, []).append(document)
    return sorted_by_kind


def _kind(document: dict[str, Any]) -> Literal["filters", "serializer", "compressors"]:
    """Return the parameter of ``create_array`` for a codec of format 3."""
    cls = get_codec_class(document["name"])
    if issubclass(cls, ArrayArrayCodec):
        return "filters"
    return "serializer" if issubclass(cls, ArrayBytesCodec) else "compressors"


def _codec_document(text: str, zarr_format: ZarrFormat) -> dict[str, Any]:
    """Return the document of one codec."""
    key = "name" if zarr_format == 3 else "id"
    if text.startswith("{"):
        try:
            document = json.loads(text)
        except ValueError as error:
            raise typer.BadParameter(f"{text!r} is no JSON: {error}", param_hint="--codec") from error
        if not isinstance(document.get(key), str):
            raise typer.BadParameter(f"{text!r} has no {key!r}", param_hint="--codec")
        return cast("dict[str, Any]", document)
    name, colon, level = text.partition(":")
    if not colon:
        return {key: name, "configuration": {}} if zarr_format == 3 else {key: name}
    parameter = _LEVELS.get(name.removeprefix("numcodecs."))
    if parameter is None or not level.removeprefix("-").isdecimal():
        raise typer.BadParameter(
            f"{text!r}: a level is a number, for {', '.join(_LEVELS)}; give other parameters as JSON, such as "
            f'{{"{key}": "{name}", …}}',
            param_hint="--codec",
        )
    return {key: name, **({"configuration": {parameter: int(level)}} if key == "name" else {parameter: int(level)})}
