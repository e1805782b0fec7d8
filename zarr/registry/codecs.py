"""The registered codecs of format 3 and of numcodecs, and the codec pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

import numpy as np

import zarr_core
from zarr._lazy import numcodecs
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecPipeline
from zarr.defaults import CODEC_EXTRAS, BadConfigError
from zarr.defaults import settings as all_settings
from zarr.errors import MetadataValidationError, UnknownCodecError, UnnamedCodecError, ZarrUserWarning
from zarr.notices import warn
from zarr.registry import tables
from zarr.registry.tables import Registry, failure_of
from zarr.types import JSON, ZarrFormat

if TYPE_CHECKING:
    from zarr.abc.codec import CodecJSON_V2
    from zarr.abc.numcodec import Numcodec


CodecT = TypeVar("CodecT")


def register_codec(key: str, codec_cls: type[Codec], *, qualname: str | None = None) -> None:
    """Add an implementation of a codec.

    It is used at once if it is the first one of that name. If there are others, ``zarr.config``'s ``codecs.<key>``
    chooses one.

    Parameters
    ----------
    key
        The name of the codec in array metadata.
    codec_cls
        The class.
    qualname
        The name of the class in the configuration; its dotted path if None.

    Examples
    --------
    >>> from zarr.registry import get_codec_class, register_codec
    >>> from zarr.abc.codec import BytesBytesCodec
    >>> class Nothing(BytesBytesCodec):
    ...     pass
    >>> register_codec("example.nothing", Nothing)
    >>> get_codec_class("example.nothing").__name__
    'Nothing'
    """
    tables._codec_registries.setdefault(key, Registry()).register(codec_cls, qualname)


def get_codec_class(key: str, reload_config: bool = False) -> type[Codec]:
    """Return the implementation of a codec.

    Parameters
    ----------
    key
        The name of the codec in array metadata.
    reload_config
        If True, read the configuration files and the environment again first.

    Returns
    -------
    type

    Raises
    ------
    UnknownCodecError
        If there is none; the message names a package that contains it, if one is known.
    BadConfigError
        If the configuration names an implementation that is not registered.
    TypeError
        If the name is no string.

    Examples
    --------
    >>> from zarr.registry import get_codec_class
    >>> get_codec_class("gzip").__name__
    'GzipCodec'
    """
    if reload_config:
        all_settings.refresh()
    if not isinstance(key, str):
        raise TypeError(f"The name of a codec is a string, got {key!r} of {type(key)}.")
    registries = tables._codec_registries
    configured, registry = all_settings.values.get("codecs", {}), registries.get(key)
    wanted = configured.get(key)
    if "." in key or type(wanted) is not str:  # a dotted name may be set whole, or part by part
        by_parts = all_settings.get(f"codecs.{key}", None)
        wanted = by_parts if isinstance(by_parts, str) else wanted
    found: type[Codec] | None = None
    if registry is not None and wanted is not None:
        found = registry.get(wanted) or registry.find(wanted)
    if found is None:
        tables.collect_entry_points()
        found = _choose_codec(key, registries.get(key), wanted)
    return found


def _choose_codec(key: str, registry: Registry[Any] | None, wanted: str | None) -> type[Any]:
    if registry is not None and registry.lazy_load_list:
        registry.lazy_load()
    if registry is None or not (registry or registry.builtins):
        raise UnknownCodecError(_missing_codec_message(key, zarr_format=3) + failure_of(key))
    if wanted is not None:
        found = registry.find(wanted)
        if found is None:
            raise BadConfigError(
                f"Codec {key!r} is configured to use the implementation {wanted!r}, which is not registered. "
                f"Registered implementations of this codec: {registry.known()}."
            )
        return found
    # Of a copy: another thread may register a class meanwhile.
    added = [cls for name, cls in registry.copy().items() if name not in registry.builtins]
    if len(set(added)) > 1:
        warn(f"Codec {key!r} not configured in config. Selecting any implementation.", ZarrUserWarning)
    return added[-1] if added else cast("type[Any]", registry.find(next(iter(registry.builtins))))


def _resolve_codec(data: Mapping[str, JSON] | str) -> Codec:
    """Make a codec from its JSON form, ``{"name": ..., "configuration": ...}`` or a bare name."""
    document: dict[str, JSON] = {"name": data} if isinstance(data, str) else dict(data)
    name = document.get("name")
    if not isinstance(name, str):
        raise TypeError(f"A codec needs a 'name' that is a string. Got {data!r}.")
    return get_codec_class(name).from_dict(document)


def _parse_codec(data: object, cls: type[CodecT]) -> CodecT:
    article = "a" if cls is BytesBytesCodec else "an"
    if isinstance(data, Mapping):
        codec: object = _resolve_codec(data)
        if not isinstance(codec, cls):
            raise TypeError(
                f"Expected a dict representation of {article} {cls.__name__}; got a dict representation of a "
                f"{type(codec)} instead."
            )
        return codec
    if not isinstance(data, cls):
        raise TypeError(f"Expected {article} {cls.__name__}. Got {type(data)} instead.")
    return data


def _parse_bytes_bytes_codec(data: Mapping[str, JSON] | Codec) -> BytesBytesCodec:
    return _parse_codec(data, BytesBytesCodec)


def _parse_array_bytes_codec(data: Mapping[str, JSON] | Codec) -> ArrayBytesCodec:
    return _parse_codec(data, ArrayBytesCodec)


def _parse_array_array_codec(data: Mapping[str, JSON] | Codec) -> ArrayArrayCodec:
    return _parse_codec(data, ArrayArrayCodec)


def get_numcodec(data: CodecJSON_V2[str]) -> Numcodec:
    """Make a numcodecs codec from its configuration in format 2.

    Parameters
    ----------
    data
        ``{"id": ..., **parameters}``.

    Returns
    -------
    numcodecs.abc.Codec

    Raises
    ------
    UnknownCodecError
        If numcodecs has no codec of that id.
    MetadataValidationError
        If it is no object.
    UnnamedCodecError
        If it has no ``id``: no package can bring such a codec.

    Examples
    --------
    >>> from zarr.registry import get_numcodec
    >>> get_numcodec({"id": "zlib", "level": 1})
    Zlib(level=1)
    """
    if not isinstance(data, Mapping):
        raise MetadataValidationError(f"the configuration of a codec must be an object with an 'id', got {data!r}")
    settings: dict[str, object] = {key: whole_number(key, value) for key, value in data.items()}
    name = settings.get("id")
    if not isinstance(name, str):
        raise UnnamedCodecError(
            f"codec not available: its configuration needs an 'id' that is a string, got {str(settings)[:200]}"
        )
    check_numcodec_parameters(name, settings)
    if name == CRC32C.codec_id and name not in numcodecs.registry.codec_registry:
        parameters: dict[str, Any] = {key: value for key, value in settings.items() if key != "id"}
        return CRC32C(**parameters)
    try:
        return cast("Numcodec", numcodecs.registry.get_codec(settings))
    except ValueError as error:
        if name in numcodecs.registry.codec_registry:  # another error
            raise
        raise UnknownCodecError(_missing_codec_message(name, zarr_format=2)) from error


_WHOLE_NUMBERS = frozenset(
    ("level", "clevel", "shuffle", "blocksize", "typesize", "acceleration", "elementsize", "keepbits", "digits")
)


def whole_number(key: str, value: object) -> object:
    """Return a parameter of a codec as a number, if netCDF-C wrote its digits as text.

    Examples
    --------
    >>> whole_number("level", "5"), whole_number("cname", "lz4")
    (5, 'lz4')
    """
    if key in _WHOLE_NUMBERS and isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit():
        return int(value)
    return value


def check_numcodec_parameters(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse numbers that the codec itself would refuse only when it is used, with the message of the codec.

    Parameters
    ----------
    name
        The codec's id.
    settings
        Its parameters.

    Raises
    ------
    TypeError
        If a whole number is needed and another value is given.
    ValueError
        If the number does not fit in 32 bits.

    Examples
    --------
    >>> check_numcodec_parameters("zlib", {"level": "9"})
    Traceback (most recent call last):
    ...
    TypeError: codec 'zlib': level must be a whole number, got '9'
    """
    for key in _WHOLE_NUMBERS & settings.keys():
        value = settings[key]
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"codec {name!r}: {key} must be a whole number, got {str(value)[:200]!r}")
        if not -(2**31) <= int(value) < 2**31:
            raise ValueError(f"codec {name!r}: {key} must fit in 32 bits, got {value}")


def register_pipeline(pipe_cls: type[CodecPipeline]) -> None:
    """Add a codec pipeline; the setting ``codec_pipeline.path`` chooses one.

    It reads and writes all selections. Appending, resizing, copying and the tools run the codecs of the document
    themselves, so a pipeline has to store what these codecs make.

    Parameters
    ----------
    pipe_cls : type[CodecPipeline]
        The class of the pipeline.

    Examples
    --------
    >>> from zarr.registry import register_pipeline
    >>> from zarr.abc.codec import CodecPipeline
    >>> class Mine(CodecPipeline):
    ...     pass
    >>> register_pipeline(Mine)
    """
    tables._pipeline_registry.register(pipe_cls)


def get_pipeline_class(reload_config: bool = False) -> type[CodecPipeline]:
    """Return the codec pipeline that the configuration names.

    Parameters
    ----------
    reload_config : bool
        If True, read the settings again. Default: False.

    Returns
    -------
    type

    Raises
    ------
    BadConfigError
        If it is not registered.

    Examples
    --------
    >>> from zarr.registry import get_pipeline_class
    >>> get_pipeline_class().__name__
    'BatchedCodecPipeline'
    """
    registry = tables._pipeline_registry
    return tables.configured_class(registry, "codec_pipeline.path", "Pipeline", "pipelines", reload_config)


class CRC32C:
    """A CRC-32C checksum beside the bytes, with the methods of a codec of numcodecs.

    Parameters
    ----------
    location
        ``"end"`` or ``"start"``.

    Raises
    ------
    ValueError
        If the location is another one.

    Examples
    --------
    >>> CRC32C().decode(CRC32C().encode(b"abc")).tobytes()
    b'abc'
    """

    codec_id = "crc32c"
    location = "end"

    def __init__(self, location: str | None = None) -> None:
        if location not in (None, "start", "end"):
            raise ValueError(f"the location of a checksum must be 'start' or 'end', got {location!r}")
        if location is not None:
            self.location = location

    def encode(self, buf: Any) -> bytes:
        """Return the bytes with their checksum."""
        return zarr_core.encode("crc32c", np.ascontiguousarray(buf).view(np.uint8), location=self.location)

    def decode(self, buf: Any, out: Any | None = None) -> Any:
        """Return the bytes without their checksum.

        Raises
        ------
        ValueError
            If the checksum is wrong.
        """
        data = zarr_core.decode("crc32c", buf, location=self.location)
        if out is None:
            return data
        np.asarray(out).reshape(-1).view(np.uint8)[...] = data
        return out

    def get_config(self) -> dict[str, Any]:
        """Return the id, and the location if one was given."""
        return {"id": self.codec_id, **vars(self)}

    @classmethod
    def from_config(cls, config: Any) -> Self:
        """Return the codec from a configuration."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CRC32C) and self.location == other.location

    def __hash__(self) -> int:
        return hash((self.codec_id, self.location))

    def __repr__(self) -> str:
        return f"CRC32C(location={self.location!r})"


# The packages with codecs that are not installed, for the message.

# Functions that register a codec. In zarr-python these names hold addresses of pages about its own code.
_ZARR_CODEC_DOCS_URL: Final = "zarr.registry.register_codec"
_NUMCODECS_CODEC_DOCS_URL: Final = "numcodecs.registry.register_codec"

# Codecs of the imagecodecs library: the two packages that wrap some of them for format 3.
_IMAGECODECS_ZARR: Final = """
    aec apng avif b2nd bfloat16 bitorder bitshuffle blosc blosc2 bmp brotli byteshuffle bz2 ccittfax3 ccittfax4
    ccittrle checksum chunked cms dds deflate delta dicomrle eer exr float24 floatpred gif hcomp heif htj2k isal
    jpeg jpeg2k jpegls jpegxl jpegxr jpegxs lerc ljpeg lz4 lz4f lz4h5 lzf lzfse lzham lzma lzo lzw meshopt
    openzl packbits packints pcodec pcx pglz pixarlog plio png qoi quantize rcomp rgbe snappy sperr spng sz3
    szip tga tiff ultrahdr wavpack webp wic xor zfp zlib zlibng zopfli zstd zstd1
"""
_VIRTUAL_TIFF: Final = """
    deflate delta floatpred jetraw jpeg jpeg2k jpeg8 jpegxl jpegxr lerc lzw packbits png webp zstd
"""


def _by_codec(**providers: str) -> dict[str, tuple[str, ...]]:
    """Return the packages of every codec, from the codecs of every package."""
    found: dict[str, tuple[str, ...]] = {}
    for package, names in providers.items():
        for name in names.split():
            key = f"imagecodecs_{name}"
            found[key] = (*found.get(key, ()), package.replace("_", "-"))
    return found


_CODEC_PACKAGES: Final[dict[str, tuple[str, ...]]] = {
    "gribberish": ("gribberish",),
    "n5_default": ("zarr-n5",),
    **_by_codec(imagecodecs_zarr=_IMAGECODECS_ZARR, virtual_tiff=_VIRTUAL_TIFF),
}
_CODEC_PACKAGE_PREFIXES: Final[dict[str, tuple[str, ...]]] = {
    "any-numcodecs.": ("zarr-any-numcodecs",),
    "omfiles.": ("omfiles",),
    "virtual_tiff.": ("virtual-tiff",),
}
_NUMCODEC_PACKAGES: Final[dict[str, tuple[str, ...]]] = {
    "msgpack2": ("numcodecs[msgpack]",),
    "pcodec": ("numcodecs[pcodec]",),
    "zfpy": ("numcodecs[zfpy]",),
    "crc32c": ("numcodecs[crc32c]",),
    "vc-delta3d": ("vc-delta3d",),
    "wavpack": ("wavpack-numcodecs",),
    "rawgrib": ("gribscan",),
    **dict.fromkeys(("FITSAscii", "FITSVarBintable", "fill_hdf_strings", "grib", "record_member"), ("kerchunk",)),
}
_NUMCODEC_PACKAGE_PREFIXES: Final[dict[str, tuple[str, ...]]] = {
    "gribscan.": ("gribscan",),
    "imagecodecs_": ("imagecodecs-numcodecs",),
}


def _packages_for_codec(name: str, *, zarr_format: ZarrFormat) -> tuple[str, ...]:
    """Return the known packages that contain a codec.

    Parameters
    ----------
    name
        In format 3 the name of the codec, in format 2 its id in numcodecs.
    zarr_format
        The format.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> _packages_for_codec("zfpy", zarr_format=2), _packages_for_codec("zfpy", zarr_format=3)
    (('numcodecs[zfpy]',), ())
    """
    known, prefixes = _CODEC_PACKAGES, _CODEC_PACKAGE_PREFIXES
    if zarr_format == 2:
        known, prefixes = _NUMCODEC_PACKAGES, _NUMCODEC_PACKAGE_PREFIXES
    if name in known:
        return known[name]
    return next((packages for prefix, packages in prefixes.items() if name.startswith(prefix)), ())


def _missing_codec_message(name: str, *, zarr_format: ZarrFormat) -> str:
    """Return the advice for a user whose data need a codec that is not installed.

    Parameters
    ----------
    name
        The name of the codec.
    zarr_format
        The format.

    Returns
    -------
    str

    Examples
    --------
    >>> _missing_codec_message("gribberish", zarr_format=3).endswith("supporting this codec: gribberish.")
    True
    """
    library, help_url = ("numcodecs", _NUMCODECS_CODEC_DOCS_URL) if zarr_format == 2 else ("zarr", _ZARR_CODEC_DOCS_URL)
    message = (
        f"An implementation for codec {name!r} is not available. Register one explicitly using the codec registry "
        f"(see {help_url}), or install a Python package that registers a codec implementation with {library}."
    )
    packages = _packages_for_codec(name, zarr_format=zarr_format)
    if not packages:
        return message
    message += f" Known packages supporting this codec: {', '.join(packages)}."
    if zarr_format == 2 and name in CODEC_EXTRAS:
        message += f" To install: pip install 'zarr[{CODEC_EXTRAS[name]}]'."
    return message
