"""The codecs of a Zarr array as documents of format 3, and translated to format 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
from zarr.arrays.array import Array
from zarr.metadata.convert import convert_array_metadata, numcodec_configuration
from zarr.metadata.v2 import ArrayV2Metadata
from zarr.registry import get_codec_class
from zarr.tools.contents.canonical import plain_document

Document = dict[str, Any]

_PLAIN_SERIALIZERS = frozenset(("bytes", "vlen-utf8", "vlen-bytes"))
"""Serializers that the data type determines."""


@dataclass(frozen=True)
class Codecs:
    """The codecs of the chunks of an array, by their kind, as documents of format 3.

    Parameters
    ----------
    filters, serializers, compressors : sequence of dict
    """

    filters: tuple[Document, ...]
    serializers: tuple[Document, ...]
    compressors: tuple[Document, ...]

    @property
    def is_big_endian(self) -> bool:
        """Return True if elements are stored with the most significant byte first."""
        return any(_settings(document).get("endian") == "big" for document in self.serializers)

    @property
    def odd_serializers(self) -> tuple[str, ...]:
        """The names of serializers that the data type does not determine."""
        return tuple(each["name"] for each in self.serializers if each["name"] not in _PLAIN_SERIALIZERS)


def codecs_of(array: Array[Any]) -> Codecs:
    """Return the codecs of an array of any format; with shards, those of the inner chunks.

    Raises
    ------
    TypeError, ValueError
        If a codec of format 2 has no counterpart in format 3.

    Examples
    --------
    >>> import zarr
    >>> codecs_of(zarr.create_array({}, shape=4, dtype="i4", zarr_format=2)).compressors
    ({'name': 'zstd', 'configuration': {'level': 0, 'checksum': False}},)
    """
    metadata: Any = array.metadata
    if isinstance(metadata, ArrayV2Metadata):
        metadata = convert_array_metadata(metadata)
    documents = plain_document(metadata.to_dict()["codecs"])
    names = [document["name"] for document in documents]
    if "n5_default" in names:  # its blocks are in Fortran order, by codecs that belong to N5
        documents = [each for each in _inner(documents[names.index("n5_default")]) if each["name"] != "transpose"]
        documents = [{"name": "numcodecs.lz4"} if each["name"] == "zarr.n5_lz4" else each for each in documents]
    elif "sharding_indexed" in names:
        documents = _inner(documents[names.index("sharding_indexed")])
    kinds: tuple[list[Document], list[Document], list[Document]] = ([], [], [])
    for document in documents:
        cls = get_codec_class(document["name"])
        kinds[0 if issubclass(cls, ArrayArrayCodec) else 1 if issubclass(cls, ArrayBytesCodec) else 2].append(document)
    return Codecs(*map(tuple, kinds))


def to_format_2(documents: Sequence[Document], ndim: int, byte_order: str) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of ``create_array`` in format 2 for codecs, and the names of codecs that it does not have.

    Parameters
    ----------
    documents : sequence of dict
        Filters and compressors in their order, as documents of format 3.
    ndim : int
        The number of dimensions of the array.
    byte_order : "<" or ">"
        That of the array: a filter of format 2 takes bytes for elements of its own data type.

    Examples
    --------
    >>> to_format_2([{"name": "gzip", "configuration": {"level": 3}}], 1, "<")
    ({'filters': None, 'compressors': {'id': 'gzip', 'level': 3}, 'order': 'C'}, [])
    """
    found: list[Document] = []
    lost, order = [], "C"
    for document in documents:
        if document["name"] == "transpose" and list(_settings(document)["order"]) == list(range(ndim))[::-1]:
            order = "F"
        elif (codec := numcodec_configuration(document, byte_order)) is not None:
            found.append(codec)
        else:
            lost.append(document["name"])
    compressor = found.pop() if found else None
    return {"filters": found or None, "compressors": compressor, "order": order}, lost


def _settings(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return document.get("configuration") or {}


def _inner(document: Document) -> list[Document]:
    return list(_settings(document)["codecs"])


def documents_of(codecs: Any) -> Any:
    """Return the documents of codecs given as for :func:`zarr.create_array`; ``"auto"`` unchanged.

    Raises
    ------
    TypeError
        If one is no codec of format 3.

    Examples
    --------
    >>> import zarr
    >>> documents_of(zarr.codecs.GzipCodec(level=2)), documents_of(None)
    ([{'name': 'gzip', 'configuration': {'level': 2}}], [])
    """
    if isinstance(codecs, str):
        return codecs
    given = [] if codecs is None else list(codecs) if isinstance(codecs, list | tuple) else [codecs]
    found = plain_document(given)
    for document in found:
        if not isinstance(document, Mapping) or "name" not in document:
            raise TypeError(f"a codec for a file is one of format 3, or its document, not {document!r}")
    return found
