"""Documents of the drafts of format 3 from 2019 and 2020, and what they are in format 3 as it is.

Sources: the design of June 2019 (bootstrap document, ``meta/root/<path>.array``) and the protocol draft of 2020, which
zarrita and the experimental interface of zarr-python 2 wrote.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from zarr.errors import MetadataValidationError

CORE_URI: Final = "http://purl.org/zarr/spec/protocol/core/3.0"
CODEC_URI: Final = "http://purl.org/zarr/spec/codec/"
DATETIME_URI: Final = "http://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0"

_NATIVE_CODECS: Final = ("blosc", "gzip", "zstd", "crc32c")
_SHUFFLES: Final = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}


@dataclass(frozen=True)
class Draft3Layout:
    """Where the keys of a hierarchy lie.

    Parameters
    ----------
    suffix : str
        What follows ``.array`` and ``.group``: nothing in 2019, usually ``.json`` in 2020.
    rooted : bool
        Whether chunks lie below ``data/root/`` and their names begin with ``c``, as in 2020.
    """

    suffix: str = ""
    rooted: bool = False


def is_bootstrap(document: object) -> bool:
    """Whether a document ``zarr.json`` is the bootstrap of a draft: its format is a URI.

    Examples
    --------
    >>> is_bootstrap({"zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0"}), is_bootstrap({"zarr_format": 3})
    (True, False)
    """
    return isinstance(document, Mapping) and isinstance(document.get("zarr_format"), str)


def parse_bootstrap(document: Mapping[str, Any], place: object) -> Draft3Layout:
    """Read a bootstrap document.

    Raises
    ------
    MetadataValidationError
        If it is of another protocol, its metadata is not JSON, or it has an extension that must be understood.
    """
    protocol = document["zarr_format"]
    if "/zarr/spec/protocol/core/3" not in protocol:
        raise MetadataValidationError(
            f"{place}/zarr.json: zarr_format is {protocol!r}, which is not known; it is 3, or {CORE_URI!r}"
        )
    encoding = document.get("metadata_encoding", "application/json")
    if encoding != "application/json" and "/zarr/spec/protocol/core/3" not in str(encoding):
        raise MetadataValidationError(
            f"{place}/zarr.json: metadata in the encoding {encoding!r}; only JSON ('application/json') can be read"
        )
    check_extensions(document, f"{place}/zarr.json")
    suffix = document.get("metadata_key_suffix", "")
    if not isinstance(suffix, str) or "/" in suffix:
        raise MetadataValidationError(
            f"{place}/zarr.json: metadata_key_suffix must be the end of a name, got {suffix!r}"
        )
    return Draft3Layout(suffix, rooted="metadata_key_suffix" in document)


def check_extensions(document: Mapping[str, Any], name: str) -> None:
    """Refuse a document with an extension that must be understood; a draft's extension must be, unless it says so.

    Raises
    ------
    MetadataValidationError
    """
    extensions = document.get("extensions", [])
    if not isinstance(extensions, list):
        raise MetadataValidationError(f"{name}: extensions must be a list, got {extensions!r}")
    for extension in extensions:
        if not isinstance(extension, Mapping) or extension.get("must_understand", True) is not False:
            uri = extension.get("extension") if isinstance(extension, Mapping) else extension
            raise MetadataValidationError(f"{name}: the extension {uri!r} must be understood, and is not known")


# ------------------------------------------------------------------------------------------- reading


def group_document(draft: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """The document of a group in format 3; without a draft's document, that of an implicit group."""
    draft = draft or {}
    check_extensions(draft, name)
    return {"zarr_format": 3, "node_type": "group", "attributes": draft.get("attributes", {})}


def array_document(draft: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The document of an array in format 3.

    Raises
    ------
    MetadataValidationError
        If a member is missing or malformed, or the array has something that format 3 has no name for.
    """
    missing = [key for key in ("shape", "data_type", "chunk_grid", "chunk_memory_layout") if key not in draft]
    if missing:
        raise MetadataValidationError(f"{name}: the members {missing} are missing")
    check_extensions(draft, name)
    if not isinstance(draft["shape"], list):
        raise MetadataValidationError(f"{name}: shape must be a list of lengths, got {draft['shape']!r}")
    if draft.get("storage_transformers"):
        raise MetadataValidationError(f"{name}: storage transformers of a draft cannot be read")
    grid = draft["chunk_grid"]
    if not isinstance(grid, Mapping) or grid.get("type") != "regular" or not isinstance(grid.get("chunk_shape"), list):
        raise MetadataValidationError(f"{name}: the chunk grid {grid!r} is not a regular one with a chunk_shape")
    data_type, endian, itemsize = _data_type(draft["data_type"], name)
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": draft["shape"],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": grid["chunk_shape"]}},
        # Keys of chunks are translated by the store; with a letter before them, they are told from names of nodes.
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": grid.get("separator", ".")}},
        "fill_value": _fill_value(draft.get("fill_value"), data_type),
        "codecs": [
            *_layout_codecs(draft["chunk_memory_layout"], len(draft["shape"]), name),
            {"name": "bytes", "configuration": {"endian": endian} if endian else {}},
            *_compressor(draft.get("compressor"), itemsize, name),
        ],
        "attributes": draft.get("attributes", {}),
    }


def _layout_codecs(layout: object, ndim: int, name: str) -> list[dict[str, Any]]:
    if layout not in ("C", "F"):
        raise MetadataValidationError(f"{name}: chunk_memory_layout must be 'C' or 'F', got {layout!r}")
    if layout == "C" or ndim < 2:
        return []
    return [{"name": "transpose", "configuration": {"order": list(range(ndim))[::-1]}}]


_CORE_NAMES: Final = {
    "b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
    "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64",
    "c16": "complex128",
}  # fmt: skip


def _data_type(given: Any, name: str) -> tuple[Any, str | None, int]:
    """The name of a data type in format 3, its byte order and the size of an element."""
    if isinstance(given, Mapping):
        found = _named_type(given.get("type"))
        if found is None and isinstance(given.get("fallback"), str):
            return _data_type(given["fallback"], name)
        if found is None:
            raise MetadataValidationError(
                f"{name}: the data type {given.get('type')!r} of the extension {given.get('extension')!r} is not "
                "known, and it names no fallback"
            )
        return found
    found = _named_type(given)
    if found is None:
        raise MetadataValidationError(f"{name}: the data type {given!r} is not known")
    return found


def _named_type(text: Any) -> tuple[Any, str | None, int] | None:
    if not isinstance(text, str):
        return None
    if text == "bool":
        return "bool", None, 1
    if text.startswith("r") and text[1:].isdigit() and int(text[1:]) % 8 == 0:
        return text, None, int(text[1:]) // 8
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError):
        return None
    named = _extended_type(dtype)
    if named is None or (dtype.itemsize > 1 and dtype.kind not in "SV" and text[:1] not in "<>"):
        return None
    endian = None if text[:1] not in "<>" or dtype.kind == "S" else {"<": "little", ">": "big"}[text[0]]
    return named, endian, dtype.itemsize


def _extended_type(dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "mM":
        unit, scale = np.datetime_data(dtype)
        kind = "numpy.datetime64" if dtype.kind == "M" else "numpy.timedelta64"
        return {"name": kind, "configuration": {"unit": unit, "scale_factor": scale}}
    if dtype.kind == "U" and dtype.itemsize:
        return {"name": "fixed_length_utf32", "configuration": {"length_bytes": dtype.itemsize}}
    if dtype.kind == "S" and dtype.itemsize:
        return {"name": "null_terminated_bytes", "configuration": {"length_bytes": dtype.itemsize}}
    return _CORE_NAMES.get(dtype.str[1:])


def _fill_value(value: Any, data_type: Any) -> Any:
    """A fill value of format 3: null, which leaves it open, becomes the one that format 3 implies."""
    name = data_type["name"] if isinstance(data_type, dict) else data_type
    if value is not None:
        return value
    if name.startswith("complex"):
        return [0.0, 0.0]
    if name[0] == "r" and name[1:].isdigit():
        return [0] * (int(name[1:]) // 8)
    zeros: dict[str, Any] = {
        "bool": False,
        "numpy.datetime64": "NaT",
        "numpy.timedelta64": "NaT",
        "fixed_length_utf32": "",
        "null_terminated_bytes": "",
    }
    return zeros.get(name, 0)


def _compressor(given: Any, itemsize: int, name: str) -> list[dict[str, Any]]:
    if given is None:
        return []
    uri = given.get("codec") if isinstance(given, Mapping) else None
    if not isinstance(uri, str):
        raise MetadataValidationError(f"{name}: the compressor {given!r} names no codec")
    codec = uri.partition("/codec/")[2].partition("/")[0] or uri.rpartition("/")[2]
    configuration = {} if given.get("configuration") is None else given["configuration"]
    if not isinstance(configuration, Mapping):
        raise MetadataValidationError(f"{name}: the configuration of {uri!r} must be an object, got {configuration!r}")
    configuration = dict(configuration)
    if codec == "blosc":
        shuffle = configuration.get("shuffle", 1)
        if type(shuffle) is not int:
            raise MetadataValidationError(f"{name}: shuffle of {uri!r} must be -1, 0, 1 or 2, got {shuffle!r}")
        shuffle = (2 if itemsize == 1 else 1) if shuffle == -1 else shuffle
        configuration = {**configuration, "shuffle": _SHUFFLES.get(shuffle, shuffle), "typesize": itemsize}
        configuration.setdefault("blocksize", 0)
    return [{"name": codec if codec in _NATIVE_CODECS else f"numcodecs.{codec}", "configuration": configuration}]


# ------------------------------------------------------------------------------------------- writing


def draft_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The draft's document, of a document of format 3.

    Raises
    ------
    ValueError
        If the node has something that the draft has no words for.
    """
    if document.get("node_type") == "group":
        return {"extensions": [], "attributes": document.get("attributes", {})}
    if any(document.get("dimension_names") or ()) or document.get("storage_transformers"):
        raise ValueError("the draft of 2019 has no dimension names and no storage transformers")
    if document["chunk_key_encoding"]["name"] != "default" or document["chunk_grid"]["name"] != "regular":
        raise ValueError("arrays of the draft of 2019 have a regular grid, and chunk keys in the default encoding")
    codecs = [dict(codec) for codec in document["codecs"]]
    layout = "C"
    ndim = len(document["shape"])
    if codecs[0]["name"] == "transpose":
        if list(codecs.pop(0)["configuration"]["order"]) != list(range(ndim))[::-1]:
            raise ValueError("the draft of 2019 has the memory layouts C and F only")
        layout = "F"
    if codecs[0]["name"] != "bytes" or len(codecs) > 2:
        raise ValueError(f"the draft of 2019 has one compressor and no other codecs; got {document['codecs']}")
    configuration = document["chunk_key_encoding"].get("configuration") or {}
    draft = {
        "shape": document["shape"],
        "data_type": _draft_type(document["data_type"], (codecs[0].get("configuration") or {}).get("endian")),
        "chunk_grid": {
            "type": "regular",
            "chunk_shape": document["chunk_grid"]["configuration"]["chunk_shape"],
            "separator": configuration.get("separator", "/"),
        },
        "chunk_memory_layout": layout,
        "fill_value": document["fill_value"],
        "extensions": [],
        "attributes": document.get("attributes", {}),
    }
    if len(codecs) == 2:
        draft["compressor"] = _draft_compressor(codecs[1])
    return draft


def _draft_compressor(codec: Mapping[str, Any]) -> dict[str, Any]:
    configuration = dict(codec.get("configuration") or {})
    if codec["name"] == "blosc":
        shuffles = {word: number for number, word in _SHUFFLES.items()}
        configuration["shuffle"] = shuffles.get(configuration.get("shuffle", ""), 1)
        configuration.pop("typesize", None)
    return {"codec": f"{CODEC_URI}{codec['name'].removeprefix('numcodecs.')}", "configuration": configuration}


def _draft_type(data_type: Any, endian: str | None) -> Any:
    mark = {"little": "<", "big": ">", None: ""}[endian]
    name = data_type["name"] if isinstance(data_type, Mapping) else data_type
    if name == "bool":
        return "bool"
    kinds = {word: kind for kind, word in _CORE_NAMES.items() if kind[0] in "iuf"}
    if name in kinds:
        return kinds[name] if kinds[name][1] == "1" else (mark or "<") + kinds[name]
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        of = data_type["configuration"]
        number = "" if of["scale_factor"] == 1 else str(of["scale_factor"])
        kind = "M8" if name == "numpy.datetime64" else "m8"
        mark = mark or "<"
        return {"extension": DATETIME_URI, "type": f"{mark}{kind}[{number}{of['unit']}]", "fallback": f"{mark}i8"}
    raise ValueError(f"the draft of 2019 has no data type for {data_type!r}")


def bootstrap_document(suffix: str = "") -> dict[str, Any]:
    """The bootstrap document of a hierarchy of 2019, or of 2020 where metadata keys have a suffix."""
    document: dict[str, Any] = {"zarr_format": CORE_URI, "metadata_encoding": "application/json"}
    if suffix:
        document["metadata_key_suffix"] = suffix
    return {**document, "extensions": []}


def to_bytes(document: Mapping[str, Any]) -> bytes:
    """A document as it is stored."""
    return json.dumps(document, indent=2).encode()
