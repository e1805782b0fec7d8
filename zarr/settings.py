"""The ``zarr.config`` object: defaults, files and environment variables, read through donfig.

Only the registry, the runners' resources, and the creation and layout of arrays read it; everything below gets what it
needs as an argument.
"""

from __future__ import annotations

from typing import Any, Final

from donfig import Config as DonfigConfig

NUMCODECS_CLASSES: Final[dict[str, str]] = {
    "bz2": "BZ2",
    "crc32": "CRC32",
    "crc32c": "CRC32C",
    "lz4": "LZ4",
    "lzma": "LZMA",
    "zfpy": "ZFPY",
    "adler32": "Adler32",
    "astype": "AsType",
    "bitround": "BitRound",
    "blosc": "Blosc",
    "delta": "Delta",
    "fixedscaleoffset": "FixedScaleOffset",
    "fletcher32": "Fletcher32",
    "gzip": "GZip",
    "jenkins_lookup3": "JenkinsLookup3",
    "pcodec": "PCodec",
    "packbits": "PackBits",
    "shuffle": "Shuffle",
    "quantize": "Quantize",
    "zlib": "Zlib",
    "zstd": "Zstd",
}
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
    "numcodecs": {name: f"zarr.codecs.numcodecs.{attribute}" for name, attribute in NUMCODECS_CLASSES.items()},
}
_DEFAULTS: Final[dict[str, Any]] = {
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
        "allow_unsafe_pickle_decode": False,
        "locking": "thread",
        "lock_lease_seconds": 20.0,
        "chunk_cache_bytes": 0,
        "array_namespace": False,
    },
    "async": {"concurrency": 128, "timeout": None},
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
# Keys of earlier versions; donfig refuses them by name instead of leaving them without effect.
deprecations: Final[dict[str, str | None]] = dict.fromkeys(
    (
        "array.v2_default_compressor.numeric",
        "array.v2_default_compressor.string",
        "array.v2_default_compressor.bytes",
        "array.v2_default_filters.string",
        "array.v2_default_filters.bytes",
        "array.v3_default_filters.numeric",
        "array.v3_default_filters.raw",
        "array.v3_default_filters.bytes",
        "array.v3_default_serializer.numeric",
        "array.v3_default_serializer.string",
        "array.v3_default_serializer.bytes",
        "array.v3_default_compressors.string",
        "array.v3_default_compressors.bytes",
        "array.v3_default_compressors",
    )
)


class BadConfigError(ValueError):
    """A configuration value names something that cannot be used."""

    _msg = "bad Config: %r"


class Config(DonfigConfig):  # type: ignore[misc]
    """The settings of the library.

    Read with ``config.get("array.order")``; change with ``config.set({"array.order": "F"})``, which is also a context
    manager that takes the change back. Environment variables like ``ZARR_ARRAY__ORDER=F`` and YAML files in
    ``~/.config/zarr`` are read when the settings are first asked for, and by :meth:`refresh`.

    Examples
    --------
    >>> with config.set({"array.order": "F"}):
    ...     config.get("array.order")
    'F'
    """

    def reset(self) -> None:
        """Go back to the defaults, the files and the environment.

        Examples
        --------
        >>> config.reset()
        """
        self.clear()
        self.refresh()

    def enable_gpu(self) -> Any:
        """Hold array data in GPU memory from now on, or inside a ``with`` block.

        Returns
        -------
        A context manager; leaving it goes back to CPU memory.

        Examples
        --------
        >>> with config.enable_gpu():
        ...     config.get("buffer")
        'zarr.buffer.gpu.Buffer'
        """
        return self.set({"buffer": "zarr.buffer.gpu.Buffer", "ndbuffer": "zarr.buffer.gpu.NDBuffer"})

    def __reduce__(self) -> tuple[Any, ...]:
        # The environment and the lock stay where they are; the values travel.
        return _restore, (self.name, self.to_dict())


def _restore(name: str, values: dict[str, Any]) -> Config:
    restored = Config(name, defaults=[_DEFAULTS], deprecations=deprecations, paths=[], env={})
    restored.update(values)
    return restored


config: Final[Config] = Config("zarr", defaults=[_DEFAULTS], deprecations=deprecations)


def pickle_allowed() -> bool:
    """Return whether the user allowed to unpickle stored data, which can run any code.

    Examples
    --------
    >>> pickle_allowed()
    False
    """
    # Nothing but True: an environment variable that says "false" comes as a string, and any string is true.
    return config.get("array.allow_unsafe_pickle_decode", False) is True
