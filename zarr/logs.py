"""How the library speaks to the log, and what it says of itself when something is wrong.

Four loggers say at level ``DEBUG`` what is done, one line each, with key, bytes and milliseconds:

- ``zarr.array``, ``zarr.group``: one line an operation: ``getitem /a/b: 3 requests, 2048 bytes, 0.913 ms``;
- ``zarr.store``: one line a request: ``get a/b/c/0/1: 1024 bytes, 0.204 ms``. Where many chunks are moved by one
  request, its line names the first and how many there are; the bytes are those of the decoded chunks then;
- ``zarr.codec``: one line a chunk: ``decode bytes, zstd: 1024 bytes, 0.051 ms, 4096 bytes decoded``. While somebody
  listens, chunks are decoded one by one, so that each has its line: it has to be turned on by its own name, or by
  :func:`set_log_level`.

``logging.getLogger("zarr.store").setLevel("DEBUG")`` turns one on, :func:`set_log_level` all of them. The records bear
``key``, ``nbytes`` and ``milliseconds``. Off, they cost one look into a dictionary an operation.

Who writes a store, a codec or another extension takes a logger below: ``logging.getLogger("zarr.store.mine")``; it is
turned on and off with the others.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

import zarr_core
from zarr._lazy import LazyModule
from zarr.listening import loggers

if TYPE_CHECKING:
    import platform
    from importlib import metadata
else:
    platform = LazyModule("platform")
    metadata = LazyModule("importlib.metadata")

LogLevel = Literal["NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

REQUIRED = ("numpy", "numcodecs", "google-crc32c", "typing_extensions", "donfig")
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

ARRAY_LOG, GROUP_LOG, STORE_LOG, CODEC_LOG = loggers()


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
    CODEC_LOG.setLevel(level)
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
    """Return the version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def debug_lines(own_version: str) -> list[str]:
    """Return what :func:`zarr.print_debug_info` prints.

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
