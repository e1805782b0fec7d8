"""Documents as the draft of the object models has them, brought to what the final specifications say.

The draft writes data types as numpy does (``"|u1"``), codecs by other names (``"GZip"``) and without the one that
makes bytes, ``null`` where nothing is, and in its format 2 ``zarr_version``, ``"filters": {}`` and members left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarr.dtype.registry import parse_dtype
from zarr.errors import MetadataValidationError
from zarr.models.plain import plain

_CODEC_NAMES = {"endian": "bytes", "transposecodec": "transpose", "sharding": "sharding_indexed"}
_ARRAY_CODECS = frozenset(("transpose", "reshape", "bitround", "scale_offset", "cast_value"))
_SERIALIZERS = frozenset(("bytes", "sharding_indexed", "vlen-utf8", "vlen-bytes", "packbits", "zfp", "pcodec"))


def repair_v3(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document of format 3 and those of its members, as the final specification has them.

    Examples
    --------
    >>> repair_v3({"zarr_format": 3, "node_type": "group", "attributes": None, "members": None})["attributes"]
    {}
    """
    found = {**document, "attributes": document.get("attributes") or {}}
    found.setdefault("zarr_format", 3)
    found.setdefault("node_type", "array" if "shape" in found else "group")
    if found["node_type"] == "group":
        return _with_members(found, repair_v3)
    return _repair_array_v3(found)


def _with_members(document: dict[str, Any], repair: Any) -> dict[str, Any]:
    members = document.get("members")
    document["members"] = {name: repair(member) for name, member in (members or {}).items()}
    return document


def _repair_array_v3(found: dict[str, Any]) -> dict[str, Any]:
    data_type, endian = _data_type(found.get("data_type"))
    found["data_type"] = data_type
    found["storage_transformers"] = found.get("storage_transformers") or []
    found.setdefault("chunk_key_encoding", "default")
    found["codecs"] = _codecs(found.get("codecs") or [], endian, data_type)
    for name in ("chunk_grid", "chunk_key_encoding"):
        if isinstance(found.get(name), Mapping):
            found[name] = _extension(found[name])
    if found.get("dimension_names", 0) is None:
        del found["dimension_names"]
    return found


def _data_type(value: Any) -> tuple[Any, str | None]:
    """A data type by its name of format 3, and the byte order that numpy's name for it says."""
    if not isinstance(value, str) or value[:1] not in "<>|=":
        return value, None
    try:
        dtype = np.dtype(value)
        document = parse_dtype(dtype, zarr_format=3).to_json(zarr_format=3)
    except (TypeError, ValueError) as error:
        raise MetadataValidationError(f"{value!r} is no data type: {error}") from error
    return plain(document), "big" if dtype.byteorder == ">" else "little"


def _extension(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if not (key == "configuration" and item is None)}


def _codecs(codecs: list[Any], endian: str | None, data_type: Any) -> list[Any]:
    """Codecs by their registered names, with one among them that makes bytes of the array."""
    found = []
    for codec in codecs:
        document = {"name": codec} if isinstance(codec, str) else _extension(codec)
        name = str(document.get("name"))
        lower = name.lower()
        known = lower in _ARRAY_CODECS | _SERIALIZERS | {"gzip", "zstd", "blosc", "crc32c"}
        document["name"] = _CODEC_NAMES.get(lower, lower if known else name)
        found.append(document)
    names = [document["name"] for document in found]
    if not any(name in _SERIALIZERS or name.startswith("numcodecs.") for name in names):
        at = next((i for i, name in enumerate(names) if name not in _ARRAY_CODECS), len(names))
        found.insert(at, _serializer(endian, data_type))
    return found


def _serializer(endian: str | None, data_type: Any) -> dict[str, Any]:
    name = data_type.get("name") if isinstance(data_type, Mapping) else data_type
    if name in ("string", "variable_length_utf8"):
        return {"name": "vlen-utf8"}
    if name in ("bytes", "variable_length_bytes"):
        return {"name": "vlen-bytes"}
    if name in ("bool", "int8", "uint8"):
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": endian or "little"}}


_V2_DEFAULTS: dict[str, Any] = {"compressor": None, "fill_value": None, "order": "C", "dimension_separator": "."}


def repair_v2(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document of format 2 and those of its members, as the final specification has them.

    Examples
    --------
    >>> repair_v2({"zarr_version": 2, "attributess": {"a": 1}, "members": {}})
    {'zarr_format': 2, 'attributes': {'a': 1}, 'members': {}}
    """
    renamed = {"zarr_version": "zarr_format", "attributess": "attributes"}
    found = {"zarr_format": 2, **{renamed.get(key, key): value for key, value in document.items()}}
    found["attributes"] = found.get("attributes") or {}
    if "shape" not in found:
        return _with_members(found, repair_v2)
    found = {**_V2_DEFAULTS, **found}
    found["filters"] = found.get("filters") or None
    if isinstance(found.get("dtype"), str) and found["dtype"][:1] not in "<>|":
        found["dtype"] = np.dtype(found["dtype"]).str
    return found
