"""How the library speaks to the log, and what it says of itself when something is wrong."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

import zarr_core
from zarr._lazy import LazyModule

if TYPE_CHECKING:
    import platform
    from importlib import metadata
else:
    platform = LazyModule("platform")
    metadata = LazyModule("importlib.metadata")

LogLevel = Literal["NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

REQUIRED = ("packaging", "numpy", "numcodecs", "typing_extensions", "donfig")
OPTIONAL = (
    "botocore",
    "cupy-cuda12x",
    "fsspec",
    "numcodecs",
    "s3fs",
    "gcsfs",
    "universal-pathlib",
    "obstore",
    "rich",
    "typer",
)

_logger = logging.getLogger("zarr")


def set_log_level(level: LogLevel) -> None:
    """Set from which level on the library's messages are shown.

    Parameters
    ----------
    level : {"NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}

    Raises
    ------
    ValueError
        If there is no such level.

    Examples
    --------
    >>> import zarr
    >>> zarr.set_log_level("WARNING")
    """
    _ensure_handler()
    _logger.setLevel(level)
    for handler in _logger.handlers:
        handler.setLevel(level)


def set_format(log_format: str) -> None:
    """Set the form of the library's messages.

    Parameters
    ----------
    log_format : str
        As for :class:`logging.Formatter`.

    Examples
    --------
    >>> import zarr
    >>> zarr.set_format("%(levelname)s %(message)s")
    """
    _ensure_handler()
    for handler in _logger.handlers:
        handler.setFormatter(logging.Formatter(fmt=log_format))


def _ensure_handler() -> None:
    if not _logger.handlers:
        _logger.addHandler(logging.StreamHandler())


def version_of(distribution: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def debug_lines(own_version: str) -> list[str]:
    """What :func:`zarr.print_debug_info` prints.

    Parameters
    ----------
    own_version : str

    Returns
    -------
    list of str
    """
    lines = [f"platform: {platform.platform()}", f"python: {platform.python_version()}", f"zarr: {own_version}"]
    implementation = getattr(zarr_core, "IMPLEMENTATION", "unknown")
    lines += [f"zarr_core: {implementation}", "", "**Native codecs:**"]
    available = sorted(zarr_core.available().items())
    lines += [f"{name}: {'yes' if native else 'through numcodecs'}" for name, native in available]
    lines += ["", "**Required dependencies:**"]
    lines += [f"{name}: {version_of(name)}" for name in REQUIRED]
    installed = {name: version_of(name) for name in OPTIONAL}
    lines += ["", "**Optional dependencies:**"]
    lines += [f"{name}: {found}" for name, found in installed.items() if found is not None]
    lines += ["", "**Not Installed:**"]
    lines += [name for name, found in installed.items() if found is None]
    return lines
