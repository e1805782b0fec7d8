"""The 21 codecs. Their parameters are those of the numcodecs classes of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr.codecs.base.bound import element_count, native_dtype, replace_spec
from zarr.codecs.numcodecs._base import (
    NumcodecDelta,
    _NumcodecsArrayArrayCodec,
    _NumcodecsArrayBytesCodec,
    _NumcodecsBytesBytesCodec,
    _NumcodecsChecksumCodec,
)
from zarr.dtype import UInt8, get_data_type_from_native_dtype

if TYPE_CHECKING:
    from typing import Self

    from zarr.chunks.spec import ArraySpec
    from zarr.codecs.base.bound import BoundBase
    from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType


def _retyped(spec: ArraySpec, dtype: Any) -> ArraySpec:
    """Return a description with another data type, given in the manner of numcodecs."""
    return replace_spec(spec, dtype=get_data_type_from_native_dtype(np.dtype(dtype)))


class Blosc(_NumcodecsBytesBytesCodec, codec_name="blosc"):
    """Compress with blosc.

    See [numcodecs.Blosc][] for its parameters.
    """


class LZ4(_NumcodecsBytesBytesCodec, codec_name="lz4"):
    """Compress with LZ4.

    See [numcodecs.LZ4][] for its parameters.
    """


class Zstd(_NumcodecsBytesBytesCodec, codec_name="zstd"):
    """Compress with Zstandard.

    See [numcodecs.Zstd][] for its parameters.
    """


class Zlib(_NumcodecsBytesBytesCodec, codec_name="zlib"):
    """Compress with zlib.

    See [numcodecs.Zlib][] for its parameters.
    """


class GZip(_NumcodecsBytesBytesCodec, codec_name="gzip"):
    """Compress with gzip.

    See [numcodecs.GZip][] for its parameters.
    """


class BZ2(_NumcodecsBytesBytesCodec, codec_name="bz2"):
    """Compress with bzip2.

    See [numcodecs.BZ2][] for its parameters.
    """


class LZMA(_NumcodecsBytesBytesCodec, codec_name="lzma"):
    """Compress with LZMA.

    See [numcodecs.LZMA][] for its parameters.
    """


class Shuffle(_NumcodecsBytesBytesCodec, codec_name="shuffle"):
    """Put the first bytes of all elements together, then the second bytes, and so on.

    See [numcodecs.Shuffle][] for its parameters.
    """

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with the element size of the array, if none was given."""
        itemsize = native_dtype(array_spec).itemsize
        if self.codec_config.get("elementsize") is not None or not itemsize:  # 0 means that nothing is shuffled
            return self
        return type(self)(**{**self.codec_config, "elementsize": itemsize})


class Delta(_NumcodecsArrayArrayCodec, codec_name="delta"):
    """Store differences of neighbours.

    See [numcodecs.Delta][] for its parameters.
    """

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the data type of the differences."""
        astype = self.codec_config.get("astype")
        return _retyped(chunk_spec, astype) if astype else chunk_spec

    def bind(self, spec: ArraySpec) -> BoundBase:
        """Make the codec ready for chunks of one description."""
        return NumcodecDelta(self.codec_name, spec, self.resolve_metadata(spec), self._codec, self.codec_config)


class BitRound(_NumcodecsArrayArrayCodec, codec_name="bitround"):
    """Keep only some bits of the mantissa.

    See [numcodecs.BitRound][] for its parameters.
    """


class FixedScaleOffset(_NumcodecsArrayArrayCodec, codec_name="fixedscaleoffset"):
    """Store ``(x - offset) * scale``, rounded.

    See [numcodecs.FixedScaleOffset][] for its parameters.
    """

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the data type of what is stored."""
        astype = self.codec_config.get("astype")
        return _retyped(chunk_spec, astype) if astype else chunk_spec

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with the data type of the array, if none was given."""
        if self.codec_config.get("dtype"):
            return self
        return type(self)(**{**self.codec_config, "dtype": str(native_dtype(array_spec))})


class Quantize(_NumcodecsArrayArrayCodec, codec_name="quantize"):
    """Keep only some decimal digits.

    See [numcodecs.Quantize][] for its parameters.
    """

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the data type of what is stored."""
        astype = self.codec_config.get("astype")
        return _retyped(chunk_spec, astype) if astype else chunk_spec

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with the data type of the array, if none was given."""
        if self.codec_config.get("dtype"):
            return self
        return type(self)(**{**self.codec_config, "dtype": str(native_dtype(array_spec))})


class PackBits(_NumcodecsArrayArrayCodec, codec_name="packbits"):
    """Store eight booleans in a byte, behind a byte that says how many bits of the last one are unused.

    See [numcodecs.PackBits][] for its parameters.
    """

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description of the packed bytes."""
        nbytes = 1 + -(-element_count(chunk_spec.shape) // 8)
        return replace_spec(chunk_spec, shape=(nbytes,), dtype=UInt8(), fill_value=np.uint8(0))

    def validate(self, *, dtype: ZDType[TBaseDType, TBaseScalar], **_kwargs: Any) -> None:
        """Raise ValueError if the array does not hold booleans."""
        if dtype.to_native_dtype() != np.dtype("bool"):
            raise ValueError(f"Packbits filter requires bool dtype. Got {dtype}.")


class AsType(_NumcodecsArrayArrayCodec, codec_name="astype"):
    """Store elements in another data type.

    See [numcodecs.AsType][] for its parameters.
    """

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description with the data type of what is stored."""
        return _retyped(chunk_spec, self.codec_config["encode_dtype"])

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with the data type of the array, if none was given."""
        if self.codec_config.get("decode_dtype"):
            return self
        return type(self)(**{**self.codec_config, "decode_dtype": str(native_dtype(array_spec))})


class CRC32(_NumcodecsChecksumCodec, codec_name="crc32"):
    """Store a CRC-32 checksum with the bytes.

    See [numcodecs.CRC32][] for its parameters.
    """


class CRC32C(_NumcodecsChecksumCodec, codec_name="crc32c"):
    """Store a CRC-32C checksum with the bytes.

    See [numcodecs.CRC32C][] for its parameters.
    """


class Adler32(_NumcodecsChecksumCodec, codec_name="adler32"):
    """Store an Adler-32 checksum with the bytes.

    See [numcodecs.Adler32][] for its parameters.
    """


class Fletcher32(_NumcodecsChecksumCodec, codec_name="fletcher32"):
    """Store a Fletcher-32 checksum with the bytes.

    See [numcodecs.Fletcher32][] for its parameters.
    """


class JenkinsLookup3(_NumcodecsChecksumCodec, codec_name="jenkins_lookup3"):
    """Store a Jenkins lookup3 checksum with the bytes.

    See [numcodecs.JenkinsLookup3][] for its parameters.
    """


class PCodec(_NumcodecsArrayBytesCodec, codec_name="pcodec"):
    """Compress numbers with pcodec; needs the ``pcodec`` package.

    See [numcodecs.PCodec][] for its parameters.
    """


class ZFPY(_NumcodecsArrayBytesCodec, codec_name="zfpy"):
    """Compress floating-point numbers with zfp; needs the ``zfpy`` package.

    See [numcodecs.ZFPY][] for its parameters.
    """
