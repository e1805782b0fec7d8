"""The ``blosc`` codec."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal, NotRequired, Self, TypeAlias

from typing_extensions import TypedDict

from zarr.abc.codec import BytesBytesCodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import is_variable, native_dtype
from zarr.codecs.base.described import DeprecatedStrEnumMeta, one_of, parse_field_int
from zarr.codecs.base.streams import CompressorMethods
from zarr.types import JSON, NamedRequiredConfig

BloscShuffleLiteral: TypeAlias = Literal["noshuffle", "shuffle", "bitshuffle"]
BloscCnameLiteral: TypeAlias = Literal["lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"]

BLOSC_SHUFFLE: Final = ("noshuffle", "shuffle", "bitshuffle")
BLOSC_CNAME: Final = ("lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd")


class BloscConfigV2(TypedDict):
    """The configuration of blosc in format 2."""

    cname: BloscCnameLiteral
    clevel: int
    shuffle: int
    blocksize: int
    typesize: NotRequired[int]


class BloscConfigV3(TypedDict):
    """The configuration of blosc in format 3."""

    cname: BloscCnameLiteral
    clevel: int
    shuffle: BloscShuffleLiteral
    blocksize: int
    typesize: int


class BloscJSON_V3(NamedRequiredConfig[Literal["blosc"], BloscConfigV3]):
    """The JSON of blosc in format 3."""


class BloscShuffle(metaclass=DeprecatedStrEnumMeta):
    """Deprecated names of the shuffles; give the strings instead.

    Examples
    --------
    >>> from zarr.codecs import BloscShuffle
    >>> BloscShuffle.bitshuffle
    'bitshuffle'
    """

    _members: ClassVar[dict[str, str]] = {name: name for name in BLOSC_SHUFFLE}

    @classmethod
    def from_int(cls, num: int) -> BloscShuffleLiteral:
        """Return the shuffle for its number in blosc.

        Parameters
        ----------
        num : int
            The number in blosc.

        Raises
        ------
        ValueError
            If it is not 0, 1 or 2.

        Examples
        --------
        >>> from zarr.codecs import BloscShuffle
        >>> BloscShuffle.from_int(2)
        'bitshuffle'
        """
        if num not in (0, 1, 2):
            raise ValueError(f"Value must be between 0 and 2. Got {num}.")
        return BLOSC_SHUFFLE[num]


class BloscCname(metaclass=DeprecatedStrEnumMeta):
    """Deprecated names of the compressors in blosc; give the strings instead.

    Examples
    --------
    >>> from zarr.codecs import BloscCname
    >>> BloscCname.zstd
    'zstd'
    """

    _members: ClassVar[dict[str, str]] = {name: name for name in BLOSC_CNAME}


def parse_typesize(data: JSON) -> int:
    """Return a type size of at least 1.

    Examples
    --------
    >>> parse_typesize(4)
    4
    """
    typesize = parse_field_int(data, "typesize")
    if typesize <= 0:
        raise ValueError(f"Value must be greater than 0. Got {typesize}, which is less or equal to 0.")
    return typesize


def parse_clevel(data: JSON) -> int:
    """Return a compression level.

    Examples
    --------
    >>> parse_clevel(5)
    5
    """
    return parse_field_int(data, "clevel")


def parse_blocksize(data: JSON) -> int:
    """Return a block size.

    Examples
    --------
    >>> parse_blocksize(0)
    0
    """
    return parse_field_int(data, "blocksize")


@dataclass(frozen=True)
class BloscCodec(CompressorMethods, BytesBytesCodec):
    """Compress with blosc: shuffle the bytes of items, then compress block by block.

    Parameters
    ----------
    typesize
        Bytes of one item; by default the item size of the array.
    cname
        The compressor inside blosc.
    clevel
        From 0 to 9.
    shuffle
        The unit to shuffle; by default bits for arrays of single bytes, and bytes for all others.
    blocksize
        Bytes of one block; 0 lets blosc choose.

    Examples
    --------
    >>> from zarr.codecs import BloscCodec
    >>> BloscCodec(typesize=4, shuffle="shuffle", cname="lz4").to_dict()["configuration"]["cname"]
    'lz4'
    """

    _name = "blosc"
    _blosc_codec = CompressorMethods._numcodec

    # The parameters without a value, which the array determines.
    _tunable_attrs: frozenset[Literal["typesize", "shuffle"]] = field(init=False, repr=False, compare=False)
    typesize: int
    cname: BloscCnameLiteral
    clevel: int
    shuffle: BloscShuffleLiteral
    blocksize: int

    def __init__(
        self,
        *,
        typesize: int | None = None,
        cname: BloscCname | BloscCnameLiteral = "zstd",
        clevel: int = 5,
        shuffle: BloscShuffle | BloscShuffleLiteral | None = None,
        blocksize: int = 0,
    ) -> None:
        given = {"typesize": typesize, "shuffle": shuffle}
        tunable = frozenset(name for name, value in given.items() if value is None)
        put = object.__setattr__
        put(self, "_tunable_attrs", tunable)
        put(self, "typesize", 1 if typesize is None else parse_typesize(typesize))
        put(self, "cname", one_of(cname, BLOSC_CNAME, "cname", "BloscCodec"))
        put(self, "clevel", parse_clevel(clevel))
        named = "bitshuffle" if shuffle is None else one_of(shuffle, BLOSC_SHUFFLE, "shuffle", "BloscCodec")
        put(self, "shuffle", named)
        put(self, "blocksize", parse_blocksize(blocksize))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return a codec whose missing parameters are those for the array's item size."""
        if not self._tunable_attrs:
            return self
        dtype = native_dtype(array_spec)
        itemsize = 1 if is_variable(dtype) else max(dtype.itemsize, 1)
        codec = self
        if "typesize" in self._tunable_attrs:
            codec = replace(codec, typesize=itemsize)
        if "shuffle" in self._tunable_attrs:
            codec = replace(codec, shuffle="bitshuffle" if itemsize == 1 else "shuffle")
        return codec

    def _config(self) -> Any:
        return {"id": "blosc", **self._configuration(), "shuffle": BLOSC_SHUFFLE.index(self.shuffle)}
