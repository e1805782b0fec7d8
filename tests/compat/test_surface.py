"""Every public name of zarr-python 3.4.2 is here, with the same parameters in the same order and the same defaults.

The facts are a listing of its names and parameters (``tests/data/surfaces``; a default is written as 0 there). What
differs on purpose is listed below, each with its reason.
"""

from __future__ import annotations

import inspect
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from .names import resolve

SURFACE = Path(__file__).resolve().parents[1] / "data" / "surfaces" / "zarr_3.4.2.json"
RECORDS: list[dict[str, Any]] = json.loads(SURFACE.read_text())["records"]

# name -> why it differs
DIFFERENT: dict[str, str] = {
    "zarr.__version__": "our own version follows the generation that we match",
    "zarr.testing.utils.gpu_test": "a decorator object",
}
# Imported by chance into modules of zarr-python where they are not defined; here they are offered by their own modules.
LEFT_OUT: dict[str, str] = {
    "zarr.api.synchronous": (
        "zarr "
    ),
    "zarr.codecs.blosc": (
        "HasItemSize as_numpy_array_wrapper parse_field parse_named_configuration "
    ),
    "zarr.codecs.bytes": (
        "HasEndianness Struct parse_named_configuration "
    ),
    "zarr.codecs.cast_value": (
        "CAST_VALUE_RS_MIN_VERSION parse_named_configuration "
    ),
    "zarr.codecs.crc32c_": (
        "parse_named_configuration "
    ),
    "zarr.codecs.gzip": (
        "as_numpy_array_wrapper parse_field parse_named_configuration "
    ),
    "zarr.codecs.scale_offset": (
        "parse_named_configuration "
    ),
    "zarr.codecs.sharding": (
        "BasicIndexer Buffer BufferPrototype ByteGetter ByteRequest ByteSetter ChunkGrid ChunkProjection "
        "ChunkTransform CoordinateIndexer HasEndianness NDBuffer RangeByteRequest "
        "RectilinearChunkGridMetadata RegularChunkGridMetadata SliceDimIndexer Store StorePath Struct "
        "SuffixByteRequest colexicographic_order_coords decode_and_scatter_chunk default_buffer_prototype "
        "encode_or_elide_chunk evolve_codecs get_indexer get_ndbuffer_class lexicographic_order_coords "
        "merge_and_encode_chunk morton_order_coords parse_chunk_shape parse_named_configuration product "
        "zarr_config "
    ),
    "zarr.codecs.transpose": (
        "ArraySpec parse_named_configuration "
    ),
    "zarr.codecs.vlen_utf8": (
        "parse_named_configuration "
    ),
    "zarr.codecs.zstd": (
        "as_numpy_array_wrapper parse_field parse_named_configuration "
    ),
}
LEFT_OUT_NAMES = {f"{module}.{name}" for module, names in LEFT_OUT.items() for name in names.split()}
INHERITED = {"add_note", "args", "with_traceback"}


def parameters(signature: str) -> list[tuple[str, str, bool]]:
    """Return (name, kind, has a default) of each parameter in a signature written as text."""
    body = signature[1 : signature.rindex(")")] if "->" not in signature else signature[1 : signature.index(") ->")]
    result, keyword_only = [], False
    for piece in split(body):
        name = re.match(r"\**\w+|\*|/", piece)
        if name is None or piece == "/":
            continue
        if piece == "*":
            keyword_only = True
            continue
        stars = len(piece) - len(piece.lstrip("*"))
        kind = ("keyword" if keyword_only else "positional") if not stars else "*" * stars
        keyword_only = keyword_only or stars == 1
        result.append((name.group().lstrip("*"), kind, top_level_equals(piece)))
    return result


def split(text: str) -> list[str]:
    """Split at the commas that stand outside brackets and quotes."""
    pieces, depth, quote, start = [], 0, "", 0
    for i, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>" and text[i - 1] != "-":
            depth -= 1
        elif letter == "," and depth == 0:
            pieces.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*pieces, text[start:].strip()] if p]


def top_level_equals(piece: str) -> bool:
    """Say whether a parameter has a default."""
    return bool(re.search(r"(?<![=!<>])=(?!=)", re.sub(r"'[^']*'|\"[^\"]*\"", "", piece)))


def ours(function: Any) -> list[tuple[str, str, bool]]:
    """Return the same triples for one of our callables."""
    kinds = {
        inspect.Parameter.KEYWORD_ONLY: "keyword",
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    return [
        (p.name, kinds.get(p.kind, "positional"), p.default is not p.empty)
        for p in inspect.signature(function).parameters.values()
    ]


def mismatch(expected: str, function: Any) -> str | None:
    """Say how a signature differs, or None. Parameters of our own may follow, if they have defaults."""
    if inspect.ismethoddescriptor(function) and getattr(dict, getattr(function, "__name__", ""), None) is function:
        return None  # the methods of dict tell no signature
    want, have = parameters(expected), ours(function)
    if any(kind == "*" for _, kind, _ in want) and any(kind == "**" for _, kind, _ in want):
        return None  # (*args, **kwargs): anything goes
    names = {name: (kind, default) for name, kind, default in have}
    for name, kind, default in want:
        if kind == "**":
            if not any(k == "**" for _, k, _ in have):
                return f"takes no **{name}"
        elif name not in names:
            return f"lacks the parameter {name}"
        elif names[name] != (kind, default) and not (kind == "keyword" and names[name] == ("positional", default)):
            return f"{name}: {names[name]} instead of {(kind, default)}"
    order = [name for name, kind, _ in want if kind == "positional"]
    have_order = [name for name, kind, _ in have if kind == "positional"][: len(order)]
    if order != have_order:
        return f"positional parameters {have_order} instead of {order}"
    known = {name for name, _, _ in want}
    extra = [name for name, kind, default in have if name not in known and not default and kind[0] != "*"]
    return f"asks for {extra}" if extra else None


def chosen(*kinds: str, tiers: tuple[str, ...] = ("public", "public-path", "internal")) -> list[Any]:
    """Return the records of some kinds as test parameters."""
    offered = [r for r in RECORDS if r["name"] not in LEFT_OUT_NAMES]
    return [pytest.param(r, id=r["name"]) for r in offered if r["kind"] in kinds and r["tier"] in tiers]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize(
    "record", chosen("module", "const", "typealias", "typeddict", "func", "class", "exception", "warning", "protocol")
)
def test_name_is_there(record: dict[str, Any]) -> None:
    resolve(record["name"])


SIGNED = [p for p in chosen("func") if p.values[0].get("signature") and p.id not in DIFFERENT]


@pytest.mark.parametrize("record", SIGNED)
def test_function_signature(record: dict[str, Any]) -> None:
    assert mismatch(record["signature"], resolve(record["name"])) is None


@pytest.mark.parametrize("record", chosen("class", "exception", tiers=("public",)))
def test_class_members(record: dict[str, Any]) -> None:
    cls, problems = resolve(record["name"]), {}
    for name, listed in record.get("members", {}).items():
        if name in INHERITED or listed == "dataclass field" or name in DIFFERENT:
            continue
        if not hasattr(cls, name):
            problems[name] = "absent"
        elif listed.startswith("(self") and not name.startswith("__") and callable(getattr(cls, name)):
            found = mismatch(listed, getattr(cls, name))
            if found:
                problems[name] = found
    assert problems == {}


@pytest.mark.parametrize("record", chosen("exception", "warning", tiers=("public",)))
def test_bases_of_errors(record: dict[str, Any]) -> None:
    ancestors = {base.__name__ for base in resolve(record["name"]).__mro__}
    assert {base.rpartition(".")[2] for base in record.get("bases", [])} <= ancestors
