"""h5py's filter keywords as zarr codecs.

========================  ===========================================================================================
keyword                   codecs
========================  ===========================================================================================
``compression="gzip"``    ``gzip`` with the level of ``compression_opts`` (4 unless told)
``compression="lzf"``     ``numcodecs.lz4``: zarr has no LZF; LZ4 is its quick codec. ``.compression`` answers "lzf".
``compression="zstd"``    ``zstd``; "blosc" likewise: beyond h5py
``shuffle=True``          ``numcodecs.shuffle`` before the compressor
``fletcher32=True``       ``numcodecs.fletcher32`` after it
``scaleoffset=n``         floats: ``numcodecs.fixedscaleoffset`` keeps n decimal digits, then zstd. Integers: kept
                          whole, shuffled and packed by zstd (HDF5 would drop bits beyond n; here nothing is lost)
========================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
from zarr.codecs.numcodecs import LZ4, FixedScaleOffset, Fletcher32, Shuffle
from zarr.h5py_compat.errors import UnsupportedFeature
from zarr.h5py_compat.types.dtypes import Dtype

__all__ = [
    "FILTER_DEFLATE",
    "FILTER_FLETCHER32",
    "FILTER_LZF",
    "FILTER_SHUFFLE",
    "Filters",
    "Gzip",
    "decode",
    "encode",
    "parse_filters",
]

FILTER_DEFLATE, FILTER_SHUFFLE, FILTER_FLETCHER32, FILTER_SZIP, FILTER_SCALEOFFSET = 1, 2, 3, 4, 6
FILTER_LZF = 32000
NAMES = ("gzip", "lzf", "zstd", "blosc")

encode = decode = frozenset({*NAMES, "shuffle", "fletcher32", "scaleoffset"})
"""The names of the filters that can be written and read, as h5py lists them."""


class Gzip(Mapping[str, Any]):
    """A gzip filter, for ``compression=Gzip(level)`` or ``**Gzip(level)``."""

    def __init__(self, level: int = 4) -> None:
        self._items: dict[str, Any] = {"compression": FILTER_DEFLATE, "compression_opts": (level,)}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(self._items["compression_opts"])


@dataclass(frozen=True)
class Filters:
    """The filters of a dataset, as asked for and as found again among its notes."""

    compression: str | None = None
    compression_opts: int | None = None
    shuffle: bool = False
    fletcher32: bool = False
    scaleoffset: int | None = None

    @property
    def any(self) -> bool:
        """Say whether there is a filter at all."""
        return self != Filters()

    @property
    def ids(self) -> tuple[int, ...]:
        """HDF5's numbers of the filters, in the order in which they are applied."""
        numbers = {"gzip": FILTER_DEFLATE, "lzf": FILTER_LZF}
        found = [FILTER_SCALEOFFSET] if self.scaleoffset is not None else []
        found += [FILTER_SHUFFLE] if self.shuffle else []
        found += [numbers[self.compression]] if self.compression in numbers else []
        return (*found, *((FILTER_FLETCHER32,) if self.fletcher32 else ()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the filters, in the order in which they are applied."""
        found = [("scaleoffset", self.scaleoffset is not None), ("shuffle", self.shuffle)]
        found += [(self.compression or "", self.compression is not None), ("fletcher32", self.fletcher32)]
        return tuple(name for name, there in found if there)

    def codecs(self, dtype: Dtype) -> tuple[list[Any], list[Any]]:
        """Return zarr's ``filters`` and ``compressors`` for elements of ``dtype``."""
        before: list[Any] = []
        if self.scaleoffset is not None and dtype.kind == "f":
            stored = f"<i{dtype.itemsize}"
            scale = float(10**self.scaleoffset)
            before = [FixedScaleOffset(offset=0.0, scale=scale, dtype=dtype.str, astype=stored)]
        after: list[Any] = []
        if self.shuffle or (self.scaleoffset is not None and dtype.itemsize > 1):
            after.append(Shuffle(elementsize=dtype.itemsize))
        after += self._compressors()
        return before, after + ([Fletcher32()] if self.fletcher32 else [])

    def _compressors(self) -> list[Any]:
        if self.compression == "gzip":
            return [GzipCodec(level=4 if self.compression_opts is None else self.compression_opts)]
        if self.compression == "lzf":
            return [LZ4()]
        if self.compression == "blosc":
            return [BloscCodec()]
        if self.compression == "zstd":
            return [ZstdCodec(level=self.compression_opts or 0)]
        return [ZstdCodec()] if self.scaleoffset is not None else []

    def to_json(self) -> dict[str, Any]:
        """Return the filters as notes."""
        return {key: value for key, value in vars(self).items() if value is not None and value is not False}


def parse_filters(
    dtype: Dtype, compression: Any, compression_opts: Any, shuffle: Any, fletcher32: Any, scaleoffset: Any
) -> Filters:
    """Return the filters that h5py's keywords ask for.

    Raises
    ------
    ValueError
        For a compression or an option that h5py would refuse.
    """
    name, options = _parse_compression(compression, compression_opts)
    offset = _parse_scaleoffset(dtype, scaleoffset)
    if offset is not None and fletcher32:
        raise ValueError("fletcher32 cannot be used with potentially lossy scale/offset filter")
    return Filters(name, options, bool(shuffle), bool(fletcher32), offset)


def _parse_compression(compression: Any, options: Any) -> tuple[str | None, int | None]:
    if isinstance(compression, Mapping):
        compression, options = compression["compression"], compression["compression_opts"]
    if compression is None or compression is False:
        if options is not None:
            raise TypeError("Compression method must be specified")
        return None, None
    if compression is True:
        compression = "gzip"
    if isinstance(compression, int):
        compression, options = _parse_number(compression, options)
    if compression == "szip":
        raise UnsupportedFeature("zarr has no SZIP codec: use gzip or zstd")
    if compression not in NAMES:
        raise ValueError(f'Compression filter "{compression}" is unavailable: there are {", ".join(NAMES)}')
    if compression == "gzip":
        options = 4 if options is None else options
        if options not in range(10):
            raise ValueError(f"GZIP setting must be an integer from 0-9, not {options!r}")
    elif options is not None and compression != "zstd":
        raise ValueError(f"{compression.upper()} compression filter accepts no options")
    return compression, options


def _parse_number(number: int, options: Any) -> tuple[str, Any]:
    if options is None and number in range(10):
        return "gzip", number
    if number == FILTER_DEFLATE:
        return "gzip", options[0] if isinstance(options, tuple) else options
    if number == FILTER_LZF:
        return "lzf", None
    if number < 0:
        raise ValueError(f"Invalid filter number {number}")
    raise ValueError(f"Unknown compression filter number: {number}")


def _parse_scaleoffset(dtype: Dtype, scaleoffset: Any) -> int | None:
    if scaleoffset is None or scaleoffset is False:
        return None
    if dtype.kind not in "iuf":
        raise TypeError(f"scale/offset filter only supports integer and floating-point types, not {dtype}")
    if scaleoffset < 0:
        raise ValueError(f"scale factor must be >= 0, not {scaleoffset}")
    if dtype.kind == "f":
        if scaleoffset is True:
            raise ValueError("integer scaleoffset must be provided for floating point types")
        if np.dtype(dtype).itemsize not in (4, 8):
            raise TypeError(f"scale/offset filter keeps 4- and 8-byte floats, not {dtype}")
    return 0 if scaleoffset is True else int(scaleoffset)
