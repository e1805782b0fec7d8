"""Which installable packages bring a codec that is not there, for the message that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zarr.defaults import CODEC_EXTRAS

if TYPE_CHECKING:
    from zarr.types import ZarrFormat

ZARR_CODEC_HELP: Final = "https://zarr.readthedocs.io/en/stable/user-guide/extending/#custom-codecs"
NUMCODECS_HELP: Final = "https://numcodecs.readthedocs.io/en/stable/registry.html#numcodecs.registry.register_codec"

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
    """For every codec the packages that have it, from the codecs of every package."""
    found: dict[str, tuple[str, ...]] = {}
    for package, names in providers.items():
        for name in names.split():
            key = f"imagecodecs_{name}"
            found[key] = (*found.get(key, ()), package.replace("_", "-"))
    return found


CODEC_PACKAGES: Final[dict[str, tuple[str, ...]]] = {
    "gribberish": ("gribberish",),
    **_by_codec(imagecodecs_zarr=_IMAGECODECS_ZARR, virtual_tiff=_VIRTUAL_TIFF),
}
CODEC_PACKAGE_PREFIXES: Final[dict[str, tuple[str, ...]]] = {
    "any-numcodecs.": ("zarr-any-numcodecs",),
    "omfiles.": ("omfiles",),
    "virtual_tiff.": ("virtual-tiff",),
}
NUMCODEC_PACKAGES: Final[dict[str, tuple[str, ...]]] = {
    "msgpack2": ("numcodecs[msgpack]",),
    "pcodec": ("numcodecs[pcodec]",),
    "zfpy": ("numcodecs[zfpy]",),
    "vc-delta3d": ("vc-delta3d",),
    "wavpack": ("wavpack-numcodecs",),
    "rawgrib": ("gribscan",),
    **dict.fromkeys(("FITSAscii", "FITSVarBintable", "fill_hdf_strings", "grib", "record_member"), ("kerchunk",)),
}
NUMCODEC_PACKAGE_PREFIXES: Final[dict[str, tuple[str, ...]]] = {
    "gribscan.": ("gribscan",),
    "imagecodecs_": ("imagecodecs-numcodecs",),
}

def packages_for_codec(name: str, *, zarr_format: ZarrFormat) -> tuple[str, ...]:
    """Return the packages that bring a codec, as far as we know of any.

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
    >>> packages_for_codec("zfpy", zarr_format=2), packages_for_codec("zfpy", zarr_format=3)
    (('numcodecs[zfpy]',), ())
    """
    known, prefixes = (
        (NUMCODEC_PACKAGES, NUMCODEC_PACKAGE_PREFIXES) if zarr_format == 2 else (CODEC_PACKAGES, CODEC_PACKAGE_PREFIXES)
    )
    if name in known:
        return known[name]
    return next((packages for prefix, packages in prefixes.items() if name.startswith(prefix)), ())


def missing_codec_message(name: str, *, zarr_format: ZarrFormat) -> str:
    """Return what to tell a user whose data need a codec that is not there.

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
    >>> missing_codec_message("gribberish", zarr_format=3).endswith("pip install 'gribberish'.")
    True
    """
    library, help_url = ("numcodecs", NUMCODECS_HELP) if zarr_format == 2 else ("zarr", ZARR_CODEC_HELP)
    message = (
        f"An implementation for codec {name!r} is not available. Register one explicitly using the codec registry "
        f"(see {help_url}), or install a Python package that registers a codec implementation with {library}."
    )
    packages = packages_for_codec(name, zarr_format=zarr_format)
    if not packages:
        return message
    best = f"zarr[{CODEC_EXTRAS[name]}]" if zarr_format == 2 and name in CODEC_EXTRAS else packages[0]
    return f"{message} Known packages supporting this codec: {', '.join(packages)}. To install: pip install '{best}'."
