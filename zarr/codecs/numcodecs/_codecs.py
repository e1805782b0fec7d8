"""Define the 21 codecs ``numcodecs.*`` of format 3.

The parameters of a codec are those of the class of numcodecs with the same name. ``zarr.codecs.numcodecs`` exports the
classes; the registry finds them by their names in documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self, cast

import numpy as np

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, CodecJSON_V2
from zarr.abc.numcodec import Numcodec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.bound import (
    AnyArray,
    BoundBase,
    Bytes,
    FunctionCodec,
    as_bytes,
    fixed_nbytes,
    native_dtype,
    replace_spec,
)
from zarr.codecs.base.described import ArrayArrayMethods, ArrayBytesMethods, BytesBytesMethods, configuration_of
from zarr.codecs.base.streams import DTYPE_PARAMETERS, bytes_codec, numcodec_decode, numcodec_encode
from zarr.dtype import UInt8, get_data_type_from_native_dtype
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.errors import ChunkDecodeError, ChunkEncodeError
from zarr.registry import get_numcodec
from zarr.registry.codecs import check_numcodec_parameters
from zarr.types import JSON

__all__ = [
    "BZ2", "CRC32", "CRC32C", "LZ4", "LZMA", "ZFPY", "Adler32", "AsType", "BitRound", "Blosc", "Delta",
    "FixedScaleOffset", "Fletcher32", "GZip", "JenkinsLookup3", "PCodec", "PackBits", "Quantize", "Shuffle",
    "Zlib", "Zstd",
]  # fmt: skip

CODEC_PREFIX = "numcodecs."


@dataclass(frozen=True)
class _NumcodecsCodec:
    """A codec that a numcodecs object carries out.

    Parameters
    ----------
    **codec_config
        The parameters of the numcodecs class.
    """

    codec_name: ClassVar[str]
    codec_config: dict[str, JSON]
    """The configuration in numcodecs, with the ``id``."""

    def __init_subclass__(cls, *, codec_name: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if codec_name is not None:
            cls.codec_name = CODEC_PREFIX + codec_name

    def __new__(cls, *args: Any, **codec_config: Any) -> Any:
        """Return a codec; with parameters by position return the numcodecs codec, as in zarr-python 2."""
        if args:
            return type(get_numcodec({"id": cls.codec_name.removeprefix(CODEC_PREFIX)}))(*args, **codec_config)
        return super().__new__(cls)

    def __init__(self, **codec_config: JSON) -> None:
        if not hasattr(type(self), "codec_name"):
            raise TypeError(f"{type(self).__name__} has no codec name; use one of its subclasses")
        config = dict(codec_config)
        given = config.pop("id", self._id)
        if given != self._id:
            raise ValueError(f"Codec id does not match {self._id}. Got: {given}.")
        check_numcodec_parameters(self._id, config)
        object.__setattr__(self, "codec_config", {"id": self._id, **config})

    @property
    def _id(self) -> str:
        return self.codec_name.removeprefix(CODEC_PREFIX)

    @property
    def _parameters(self) -> dict[str, JSON]:
        return {name: value for name, value in self.codec_config.items() if name != "id"}

    @cached_property
    def _codec(self) -> Numcodec:
        return get_numcodec(cast("CodecJSON_V2[str]", dict(self.codec_config)))

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return the codec of a JSON object; the configuration and the prefix may be missing.

        Parameters
        ----------
        data : dict
            The codec as it stands in a metadata document.

        Returns
        -------
        codec
        """
        if data.get("name") == cls.codec_name.removeprefix(CODEC_PREFIX):
            data = {**data, "name": cls.codec_name}
        return cls(**configuration_of(data, cls.codec_name, required=False))

    def to_dict(self) -> dict[str, JSON]:
        """Return the JSON object of this codec.

        Returns
        -------
        dict
            With ``name`` and ``configuration``.
        """
        return {"name": self.codec_name, "configuration": self._parameters}

    def get_config(self) -> dict[str, JSON]:
        """Return the configuration of the numcodecs object, with the ``id``: in format 2 this is the codec's JSON.

        Returns
        -------
        dict
            The configuration.

        Examples
        --------
        >>> import zarr
        >>> zarr.codecs.BZ2(level=4).get_config()
        {'id': 'bz2', 'level': 4}
        """
        return dict(self._codec.get_config())

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> Any:
        """Raise an error: the size depends on the data."""
        raise NotImplementedError(f"The encoded size of {self.codec_name} is not known beforehand.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(codec_name={self.codec_name!r}, codec_config={self._parameters!r})"

    def __hash__(self) -> int:
        return hash((type(self), repr(sorted(self.codec_config.items(), key=lambda item: item[0]))))

    def __getstate__(self) -> dict[str, Any]:
        # The numcodecs object is made again at its next use; some of them cannot be pickled.
        return {"codec_config": self.codec_config}


class _NumcodecsBytesBytesCodec(_NumcodecsCodec, BytesBytesMethods, BytesBytesCodec):
    """A codec of numcodecs from bytes to bytes."""

    def bind(self, spec: ArraySpec) -> BoundBase:
        """Return the codec bound to chunks of one description."""
        return bytes_codec(self.codec_name, spec, self.codec_config)


class _NumcodecsChecksumCodec(_NumcodecsBytesBytesCodec):
    """A checksum of numcodecs."""

    is_fixed_size = True

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Return the number of bytes with the checksum."""
        return input_byte_length + 4


class _NumcodecsArrayArrayCodec(_NumcodecsCodec, ArrayArrayMethods, ArrayArrayCodec):
    """A codec of numcodecs from arrays to arrays."""

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the stored data type, if the codec states it."""
        stored = self.codec_config.get(DTYPE_PARAMETERS.get(self._id, ("", ""))[1])
        if not stored:
            return chunk_spec
        return replace_spec(chunk_spec, dtype=get_data_type_from_native_dtype(np.dtype(cast("str", stored))))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with the data type of the array, if it needs one and has none."""
        name = DTYPE_PARAMETERS.get(self._id, ("", ""))[0]
        if not name or isinstance(self, Delta) or self.codec_config.get(name):
            return self
        return type(self)(**{**self.codec_config, name: str(native_dtype(array_spec))})

    def bind(self, spec: ArraySpec) -> BoundBase:
        """Return the codec bound to chunks of one description."""
        return NumcodecArray(self.codec_name, spec, self.resolve_metadata(spec), self._codec)


class _NumcodecsArrayBytesCodec(_NumcodecsCodec, ArrayBytesMethods, ArrayBytesCodec):
    """A codec of numcodecs from arrays to bytes."""

    def bind(self, spec: ArraySpec) -> BoundBase:
        """Return the codec bound to chunks of one description."""
        return NumcodecSerializer(self.codec_name, spec, self._codec)


class NumcodecArray(FunctionCodec):
    """A bound array-to-array codec of numcodecs.

    These codecs read an array in the order of its memory, so they get contiguous arrays only; otherwise the stored
    bytes would depend on the memory layout of the caller's array. They also read it in the byte order of their own
    parameters (``dtype=">f4"``), which a document of format 3 keeps, while the array that is opened has another one.
    """

    def __init__(self, name: str, spec: ArraySpec, out_spec: ArraySpec, codec: Numcodec) -> None:
        super().__init__(name, out_spec, self._decode_array, self._encode_array)
        self._codec = codec
        self._shape, self._dtype = spec.shape, native_dtype(spec)
        self._out_shape, self._out_dtype = out_spec.shape, native_dtype(out_spec)
        plain, stored = (codec.get_config().get(key) for key in DTYPE_PARAMETERS.get(codec.codec_id, ("", "")))
        self._plain = np.dtype(plain or self._dtype)
        self._stored = np.dtype(stored or plain or self._out_dtype)

    def _encode_array(self, data: AnyArray) -> AnyArray:
        contiguous = np.ascontiguousarray(in_byte_order(data, self._plain)).reshape(data.shape)
        encoded = np.asarray(numcodec_encode(self.name, self._codec, contiguous))
        nbytes = prod(self._out_shape) * self._out_dtype.itemsize
        if encoded.nbytes != nbytes:
            raise ChunkEncodeError(
                f"codec {self.name!r} makes {encoded.nbytes} bytes of this chunk, and not the {nbytes} of shape "
                f"{self._out_shape} and dtype {self._out_dtype}: its data type does not fit that of the array",
                codec=self.name,
            )
        encoded = in_byte_order(encoded, self._out_dtype)
        # Some return the bits of their result as integers; these are not to be converted as numbers.
        return np.ascontiguousarray(encoded).reshape(-1).view(self._out_dtype).reshape(self._out_shape)

    def _decode_array(self, data: AnyArray) -> AnyArray:
        contiguous = np.ascontiguousarray(in_byte_order(data, self._stored)).reshape(data.shape)
        decoded = np.asarray(numcodec_decode(self.name, self._codec, contiguous, None))
        return shaped(self.name, decoded, self._shape, self._dtype)


class NumcodecSerializer(BoundBase):
    """A bound array-to-bytes codec of numcodecs."""

    def __init__(self, name: str, spec: ArraySpec, codec: Numcodec) -> None:
        super().__init__(name, spec)
        self._codec = codec
        self._shape, self._dtype, self._nbytes = spec.shape, native_dtype(spec), fixed_nbytes(spec)

    def encode(self, data: AnyArray) -> Bytes:
        """Encode one chunk."""
        return as_bytes(numcodec_encode(self.name, self._codec, np.ascontiguousarray(data).reshape(data.shape)))

    def decode(self, data: Bytes) -> AnyArray:
        """Decode one chunk."""
        decoded = np.asarray(numcodec_decode(self.name, self._codec, data, self._nbytes))
        return shaped(self.name, decoded, self._shape, self._dtype)


def in_byte_order(data: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    """Return numbers in the byte order of a dtype; as they are if their own dtype differs in more than that.

    Examples
    --------
    >>> in_byte_order(np.array([1, 2], ">i2"), np.dtype("<i2")).tobytes()
    b'\\x01\\x00\\x02\\x00'
    >>> in_byte_order(np.array([1.5], "<f4"), np.dtype("<i4"))
    array([1.5], dtype=float32)
    """
    if data.dtype == dtype or data.dtype.newbyteorder("=") != dtype.newbyteorder("="):
        return data
    return data.astype(dtype)


def shaped(name: str, decoded: AnyArray, shape: tuple[int, ...], dtype: np.dtype[Any]) -> AnyArray:
    """Return the decoded result of a numcodecs object as an array of a shape and dtype.

    Raises
    ------
    ChunkDecodeError
        If it has another number of bytes.

    Examples
    --------
    >>> shaped("x", np.zeros(8, dtype="u1"), (2,), np.dtype("i4"))
    array([0, 0], dtype=int32)
    """
    count = prod(shape)
    decoded = in_byte_order(decoded, dtype)
    if decoded.dtype != dtype and decoded.nbytes == count * dtype.itemsize:
        decoded = np.ascontiguousarray(decoded).reshape(-1).view(dtype)
    if decoded.size != count:
        raise ChunkDecodeError(
            f"codec {name!r} decoded {decoded.size} elements where {count} are needed for a chunk of shape {shape}",
            codec=name,
        )
    return decoded.reshape(shape)


class Blosc(_NumcodecsBytesBytesCodec, codec_name="blosc"):
    """Compress with blosc.

    See [numcodecs.Blosc](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Blosc
    >>> Blosc(cname="zstd", clevel=5, shuffle=2).to_dict()["name"]
    'numcodecs.blosc'
    """


class LZ4(_NumcodecsBytesBytesCodec, codec_name="lz4"):
    """Compress with LZ4.

    See [numcodecs.LZ4](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import LZ4
    >>> LZ4(acceleration=2).to_dict()["name"]
    'numcodecs.lz4'
    """


class Zstd(_NumcodecsBytesBytesCodec, codec_name="zstd"):
    """Compress with Zstandard.

    See [numcodecs.Zstd](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Zstd
    >>> Zstd(level=3).to_dict()["name"]
    'numcodecs.zstd'
    """


class Zlib(_NumcodecsBytesBytesCodec, codec_name="zlib"):
    """Compress with zlib.

    See [numcodecs.Zlib](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Zlib
    >>> Zlib(level=6).to_dict()["name"]
    'numcodecs.zlib'
    """


class GZip(_NumcodecsBytesBytesCodec, codec_name="gzip"):
    """Compress with gzip.

    See [numcodecs.GZip](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import GZip
    >>> GZip(level=6).to_dict()["name"]
    'numcodecs.gzip'
    """


class BZ2(_NumcodecsBytesBytesCodec, codec_name="bz2"):
    """Compress with bzip2.

    See [numcodecs.BZ2](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import BZ2
    >>> BZ2(level=9).to_dict()["name"]
    'numcodecs.bz2'
    """


class LZMA(_NumcodecsBytesBytesCodec, codec_name="lzma"):
    """Compress with LZMA.

    See [numcodecs.LZMA](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import LZMA
    >>> LZMA(preset=6).to_dict()["name"]
    'numcodecs.lzma'
    """


class Shuffle(_NumcodecsBytesBytesCodec, codec_name="shuffle"):
    """Put the first bytes of all elements together, then the second bytes, and so on.

    See [numcodecs.Shuffle](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Shuffle
    >>> Shuffle(elementsize=4).to_dict()["name"]
    'numcodecs.shuffle'
    """

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with the element size of the array, if it has none."""
        itemsize = native_dtype(array_spec).itemsize
        if self.codec_config.get("elementsize") is not None or not itemsize:  # 0 means that nothing is shuffled
            return self
        return type(self)(**{**self.codec_config, "elementsize": itemsize})


class Delta(_NumcodecsArrayArrayCodec, codec_name="delta"):
    """Store differences of neighbours.

    See [numcodecs.Delta](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Delta
    >>> Delta(dtype="<i4").to_dict()["name"]
    'numcodecs.delta'
    """

    def bind(self, spec: ArraySpec) -> BoundBase:
        """Return the codec bound to chunks of one description.

        The compiled core supports differences of numbers in the machine's byte order.
        """
        bound = super().bind(spec)
        config: dict[str, Any] = self.codec_config
        dtype = np.dtype(config["dtype"])
        if native_dtype(spec) == dtype and np.dtype(config.get("astype") or dtype) == dtype:
            bound.native = ("delta", {"dtype": dtype.str})
        return bound


class BitRound(_NumcodecsArrayArrayCodec, codec_name="bitround"):
    """Keep only some bits of the mantissa.

    See [numcodecs.BitRound](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import BitRound
    >>> BitRound(keepbits=10).to_dict()["name"]
    'numcodecs.bitround'
    """


class FixedScaleOffset(_NumcodecsArrayArrayCodec, codec_name="fixedscaleoffset"):
    """Store ``(x - offset) * scale``, rounded.

    See [numcodecs.FixedScaleOffset](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import FixedScaleOffset
    >>> FixedScaleOffset(offset=0, scale=10, dtype="<f8", astype="<i4").to_dict()["name"]
    'numcodecs.fixedscaleoffset'
    """


class Quantize(_NumcodecsArrayArrayCodec, codec_name="quantize"):
    """Keep only some decimal digits.

    See [numcodecs.Quantize](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Quantize
    >>> Quantize(digits=2, dtype="<f8").to_dict()["name"]
    'numcodecs.quantize'
    """


class PackBits(_NumcodecsArrayArrayCodec, codec_name="packbits"):
    """Store eight booleans in a byte, after a byte with the number of unused bits of the last one.

    See [numcodecs.PackBits](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import PackBits
    >>> PackBits().to_dict()["name"]
    'numcodecs.packbits'
    """

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description of the packed bytes."""
        nbytes = 1 + -(-prod(chunk_spec.shape) // 8)
        return replace_spec(chunk_spec, shape=(nbytes,), dtype=UInt8(), fill_value=np.uint8(0))

    def validate(self, *, dtype: ZDType[TBaseDType, TBaseScalar], **_kwargs: Any) -> None:
        """Raise ValueError if the array has no booleans."""
        if dtype.to_native_dtype() != np.dtype("bool"):
            raise ValueError(f"Packbits filter requires bool dtype. Got {dtype}.")


class AsType(_NumcodecsArrayArrayCodec, codec_name="astype"):
    """Store elements in another data type.

    See [numcodecs.AsType](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import AsType
    >>> AsType(encode_dtype="<f4", decode_dtype="<f8").to_dict()["name"]
    'numcodecs.astype'
    """


class CRC32(_NumcodecsChecksumCodec, codec_name="crc32"):
    """Store a CRC-32 checksum with the bytes.

    See [numcodecs.CRC32](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import CRC32
    >>> CRC32().to_dict()["name"]
    'numcodecs.crc32'
    """


class CRC32C(_NumcodecsChecksumCodec, codec_name="crc32c"):
    """Store a CRC-32C checksum with the bytes.

    See [numcodecs.CRC32C](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import CRC32C
    >>> CRC32C().to_dict()["name"]
    'numcodecs.crc32c'
    """


class Adler32(_NumcodecsChecksumCodec, codec_name="adler32"):
    """Store an Adler-32 checksum with the bytes.

    See [numcodecs.Adler32](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Adler32
    >>> Adler32().to_dict()["name"]
    'numcodecs.adler32'
    """


class Fletcher32(_NumcodecsChecksumCodec, codec_name="fletcher32"):
    """Store a Fletcher-32 checksum with the bytes.

    See [numcodecs.Fletcher32](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import Fletcher32
    >>> Fletcher32().to_dict()["name"]
    'numcodecs.fletcher32'
    """


class JenkinsLookup3(_NumcodecsChecksumCodec, codec_name="jenkins_lookup3"):
    """Store a Jenkins lookup3 checksum with the bytes.

    See [numcodecs.JenkinsLookup3](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import JenkinsLookup3
    >>> JenkinsLookup3().to_dict()["name"]
    'numcodecs.jenkins_lookup3'
    """


class PCodec(_NumcodecsArrayBytesCodec, codec_name="pcodec"):
    """Compress numbers with pcodec; needs the ``pcodec`` package.

    See [numcodecs.PCodec](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import PCodec
    >>> PCodec(level=8).to_dict()["name"]
    'numcodecs.pcodec'
    """


class ZFPY(_NumcodecsArrayBytesCodec, codec_name="zfpy"):
    """Compress floating-point numbers with zfp; needs the ``zfpy`` package.

    See [numcodecs.ZFPY](https://numcodecs.readthedocs.io/) for the parameters, which are given by name.

    Examples
    --------
    >>> from zarr.codecs.numcodecs import ZFPY
    >>> ZFPY(mode=4, tolerance=0.01).to_dict()["name"]
    'numcodecs.zfpy'
    """
