"""Arrays of format 2 that netCDF-C wrote, and what their shuffle of elements of size 0 stands for.

netCDF-C writes ``"elementsize": 0`` for the item size of the data type; to numcodecs it means that no byte changes its
place. Both are in use, so that the writer decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from zarr.registry import get_numcodec

if TYPE_CHECKING:
    from zarr.abc.numcodec import Numcodec
    from zarr.dtype.base import ZDType

# What it keeps for itself: in older releases among the members of the document, since 4.9.3 among the attributes.
_MARKS: Final = ("_nczarr_", "_NCZARR_")
# Without them (pure Zarr, or no names of dimensions) nothing but the order tells: that of the members that it writes.
_ORDER: Final = ["zarr_format", "shape", "dtype", "chunks", "fill_value", "order", "compressor", "filters"]


def settle_shuffles(members: dict[str, Any], document: Mapping[str, Any], dtype: ZDType[Any, Any]) -> None:
    """Give shuffles of elements of size 0 the item size, where netCDF-C wrote the document.

    Parameters
    ----------
    members
        With ``filters`` and ``compressor`` as they were parsed; changed in place.
    document
        The members of the document, and its attributes.
    dtype
        The data type of the array.

    Examples
    --------
    >>> from numcodecs import Shuffle
    >>> from zarr.dtype import Int32
    >>> members = {"filters": (Shuffle(0),), "compressor": None}
    >>> settle_shuffles(members, {"attributes": {"_nczarr_array": {}}}, Int32())
    >>> members["filters"][0].elementsize
    4
    """
    filters, compressor = members["filters"], members["compressor"]
    if not any(map(_is_open, (*(filters or ()), compressor))) or not _is_of_netcdf(document):
        return
    size = dtype.to_native_dtype().itemsize
    members["filters"] = None if filters is None else tuple([_settled(codec, size) for codec in filters])
    members["compressor"] = _settled(compressor, size)


def _is_open(codec: Any) -> bool:
    return getattr(codec, "codec_id", None) == "shuffle" and codec.elementsize == 0


def _settled(codec: Any, size: int) -> Numcodec:
    settings: Any = {"id": "shuffle", "elementsize": size}
    return get_numcodec(settings) if _is_open(codec) else codec


def _is_of_netcdf(document: Mapping[str, Any]) -> bool:
    attributes = document.get("attributes")
    names = [*document, *(attributes if isinstance(attributes, Mapping) else ())]
    if any(name.startswith(_MARKS) for name in names if isinstance(name, str)):
        return True
    # Numbers as text are its own way, too.
    text = any(isinstance(codec.get("elementsize"), str) for codec in _stored_codecs(document))
    return text or list(islice(document, len(_ORDER))) == _ORDER


def _stored_codecs(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for codec in (*(document.get("filters") or ()), document.get("compressor")):
        if isinstance(codec, Mapping):
            yield codec
