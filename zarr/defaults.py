"""The defaults of all settings, and the object from which the library reads settings.

``zarr.config`` is made with donfig, which loads a reader of YAML. While the program has not used ``zarr.config``, no
environment variable is named ``ZARR_...`` and no folder or file of settings exists, every setting has its default, and
neither is loaded.

May import nothing of ours. The registry, the runners' resources, and the creation and layout of arrays read settings
here; everything below gets what it needs as an argument.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterator
from typing import Any, Final

BATCH_BYTES: Final = 256 << 20
"""The number of bytes that a batch holds before it begins to store."""

NUMCODECS_CLASSES: Final[dict[str, str]] = {
    "jenkins_lookup3": "JenkinsLookup3",
    **{
        name.lower(): name
        for name in (
            "BZ2", "CRC32", "CRC32C", "LZ4", "LZMA", "ZFPY", "Adler32", "AsType", "BitRound", "Blosc", "Delta",
            "FixedScaleOffset", "Fletcher32", "GZip", "PCodec", "PackBits", "Shuffle", "Quantize", "Zlib", "Zstd",
        )
    },
}  # fmt: skip
CODEC_CLASSES: Final[dict[str, Any]] = {
    "blosc": "zarr.codecs.blosc.BloscCodec",
    "gzip": "zarr.codecs.gzip.GzipCodec",
    "zstd": "zarr.codecs.zstd.ZstdCodec",
    "bytes": "zarr.codecs.bytes.BytesCodec",
    "endian": "zarr.codecs.bytes.BytesCodec",
    "crc32c": "zarr.codecs.crc32c_.Crc32cCodec",
    "sharding_indexed": "zarr.codecs.sharding.ShardingCodec",
    "transpose": "zarr.codecs.transpose.TransposeCodec",
    "vlen-utf8": "zarr.codecs.vlen_utf8.VLenUTF8Codec",
    "vlen-bytes": "zarr.codecs.vlen_utf8.VLenBytesCodec",
    **{f"numcodecs.{name}": f"zarr.codecs.numcodecs.{attribute}" for name, attribute in NUMCODECS_CLASSES.items()},
}
"""The codecs that ``zarr.config`` lists under ``codecs``, and where their classes are, as in zarr-python."""
EXTENSION_CODECS: Final[dict[str, str]] = {
    "bitround": "zarr.codecs.extensions.bits.BitRoundCodec",
    "cast_value": "zarr.codecs.cast_value.CastValue",
    "conditional": "zarr.codecs.extensions.conditional.ConditionalCodec",
    "n5_default": "zarr.codecs.extensions.n5.N5DefaultCodec",
    "optional": "zarr.codecs.extensions.optional.OptionalCodec",
    "packbits": "zarr.codecs.extensions.bits.PackBitsCodec",
    "pcodec": "zarr.codecs.numcodecs.PCodec",
    "reshape": "zarr.codecs.extensions.reshape.ReshapeCodec",
    "scale_offset": "zarr.codecs.scale_offset.ScaleOffset",
    "zarr.n5_lz4": "zarr.codecs.extensions.n5.N5LZ4Codec",
    "zarr_core.arrow-vlen": "zarr.codecs.extensions.arrow_vlen.ArrowVLenCodec",
    "zarrs.optional": "zarr.codecs.extensions.optional.OptionalCodec",
    "zarrs.squeeze": "zarr.codecs.extensions.reshape.SqueezeCodec",
    "zfp": "zarr.codecs.extensions.zfp.ZfpCodec",
}
"""All other codecs: a new one is a line here; its registration and its name in ``zarr.codecs`` follow from it."""
CODEC_EXTRAS: Final[dict[str, str]] = {"pcodec": "pcodec", "zfpy": "zfp", "zfp": "zfp"}
"""The extra of this library that installs the package of a codec."""
STORES: Final[dict[str, tuple[str, str, str, str]]] = {
    # class: module, schemes of URLs that its ``from_url`` opens, suffixes of files that its ``is_at`` knows, extra
    "DBMStore": ("zarr.storage.databases.dbm", "", "", ""),
    "FsspecStore": ("zarr.storage.remote.fsspec", "", "", "remote"),
    "GpuMemoryStore": ("zarr.storage.memory", "", "", "gpu"),
    "LMDBStore": ("zarr.storage.databases.lmdb", "lmdb", "", "lmdb"),
    "LocalStore": ("zarr.storage.local.store", "", "", ""),
    "LoggingStore": ("zarr.storage.wrappers.logging", "", "", ""),
    "ManagedMemoryStore": ("zarr.storage.memory", "", "", ""),
    "MappingStore": ("zarr.storage.payloads", "", "", ""),
    "MemoryStore": ("zarr.storage.memory", "", "", ""),
    "N5Store": ("zarr.storage.layouts.n5", "", "", ""),
    "ObjectStore": ("zarr.storage.remote.obstore", "", "", "remote"),
    "ReferenceStore": ("zarr.storage.references.store", "", ".json .parq .parquet", ""),
    "SQLiteStore": ("zarr.storage.databases.sqlite", "sqlite", "", ""),
    "TarStore": ("zarr.storage.references.tar", "", ".tar", ""),
    "WrapperStore": ("zarr.storage.wrappers.wrapper", "", "", ""),
    "ZipStore": ("zarr.storage.zip.store", "", ".zip", ""),
}
"""The stores: a new one is a line here; its public name follows from it, and the URLs and paths that open it."""
DEFAULTS: Final[dict[str, Any]] = {
    "default_zarr_format": 3,
    "array": {
        "order": "C",
        "write_empty_chunks": False,
        "read_missing_chunks": True,
        "missing_chunk_retries": 0,
        "missing_chunk_delay": 0.1,
        "target_shard_size_bytes": None,
        "rectilinear_chunks": True,
        "sharding_coalesce_max_gap_bytes": 1 << 20,
        "sharding_coalesce_max_bytes": 16 << 20,
        "variable_chunk_bytes": 256 << 20,
        "allow_unsafe_pickle_decode": None,
        "locking": "auto",
        "lock_lease_seconds": 20.0,
        "chunk_cache_bytes": 0,
        "immutable": False,
        "index_cache_bytes": 64 << 20,
        "array_namespace": False,
    },
    "async": {"concurrency": 128, "timeout": None},
    "network": {"tries": 20, "seconds": 180.0, "request_seconds": 60.0},
    "threading": {"max_workers": None},
    "json_indent": 2,
    "codec_pipeline": {
        "path": "zarr.core.codec_pipeline.BatchedCodecPipeline",
        "batch_size": 1,
        "max_workers": None,
    },
    "codecs": CODEC_CLASSES,
    "buffer": "zarr.buffer.cpu.Buffer",
    "ndbuffer": "zarr.buffer.cpu.NDBuffer",
}


class BadConfigError(ValueError):
    """A configuration value names something that cannot be used.

    Examples
    --------
    >>> from zarr.registry import BadConfigError
    >>> issubclass(BadConfigError, ValueError)
    True
    """

    _msg = "bad Config: %r"


_OF_THE_CORE: Final = "ZARR_CORE"  # variables that zarr_core reads itself, among them ZARR_CORE_IMPL, are no settings


def _places() -> Iterator[str]:
    """Return the folders in which files of settings may lie; donfig looks at the same places."""
    yield os.environ.get("ZARR_ROOT_CONFIG", "/etc/zarr")
    yield from (os.path.join(prefix, "etc", "zarr") for prefix in (sys.prefix, *site.PREFIXES))
    yield os.path.join(os.path.expanduser("~"), ".config", "zarr")


def _something_to_read() -> bool:
    named = any(name.startswith("ZARR_") and not name.startswith(_OF_THE_CORE) for name in os.environ)
    return named or any(map(os.path.exists, _places()))


def _config() -> Any:
    """Return ``zarr.config``, which the package loads at its first use: imports go down only."""
    return sys.modules["zarr"].config


class Settings:
    """The settings as the library reads them: those of ``zarr.config``, or the defaults while it is not loaded.

    Attributes
    ----------
    values : dict
        All settings, nested; not to be changed. Read at the first use, and by ``zarr.config.refresh``.

    Examples
    --------
    >>> Settings().get("json_indent"), Settings().get("no.such.key", 7)
    (2, 7)
    """

    __slots__ = ("values",)
    values: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name != "values":
            raise AttributeError(name)
        self.values = _config().config if _something_to_read() else DEFAULTS
        return self.values

    def get(self, key: str, *default: Any) -> Any:
        """Return a setting.

        Parameters
        ----------
        key : str
            With dots, like ``"array.order"``.
        *default : optional
            The result if there is no such setting.

        Raises
        ------
        KeyError
            If there is no such setting and no default is given.
        """
        found: Any = self.values
        try:
            for name in key.split("."):
                found = found[name] if name in found else found[_spelled_otherwise(name)]
        except (KeyError, TypeError, IndexError):
            if not default:
                raise
            return default[0]
        return found

    def refresh(self) -> None:
        """Read files and environment again."""
        _config().refresh()


def _spelled_otherwise(name: str) -> str:
    """Return the other spelling of a key; donfig knows both, too."""
    return name.replace("_", "-") if "_" in name else name.replace("-", "_")


settings: Final = Settings()


def pickle_allowed() -> bool:
    """Return True if the user allowed to unpickle stored data, which can run any code.

    The user may have allowed it to this library, or to numcodecs: by its switch, which its environment variable sets.
    Another value of the setting than True forbids it, whatever numcodecs may do.

    Examples
    --------
    >>> pickle_allowed()
    False
    """
    # Only True counts: an environment variable with "false" comes as a string, and any string is true.
    allowed = settings.get("array.allow_unsafe_pickle_decode", None)
    if allowed is not None:
        return allowed is True
    return getattr(sys.modules.get("numcodecs.pickles"), "ALLOW_UNSAFE_PICKLE_DECODE", False) is True
