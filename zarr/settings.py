"""The ``zarr.config`` object: defaults, files and environment variables, read through donfig.

Users ask this object; the library itself asks ``zarr.defaults``, which loads this module where there is something to
read.
"""

from __future__ import annotations

from typing import Any, Final

from donfig import Config as DonfigConfig

from zarr.defaults import CODEC_CLASSES, DEFAULTS, NUMCODECS_CLASSES, BadConfigError, settings

__all__ = ["CODEC_CLASSES", "NUMCODECS_CLASSES", "BadConfigError", "Config", "config", "deprecations"]

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
    restored = Config(name, defaults=[DEFAULTS], deprecations=deprecations, paths=[], env={})
    restored.update(values)
    return restored


config: Final[Config] = Config("zarr", defaults=[DEFAULTS], deprecations=deprecations)
# From now on the library, too, asks this object.
settings.values = config.config
