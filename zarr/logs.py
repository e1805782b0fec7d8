"""The loggers of the library, and the report of versions for bug reports.

Four loggers log at level ``DEBUG`` each thing that is done, one line each, with key, bytes and milliseconds:

- ``zarr.array``, ``zarr.group``: one line an operation: ``getitem /a/b: 3 requests, 2048 bytes, 0.913 ms``;
- ``zarr.store``: one line a request: ``get a/b/c/0/1: 1024 bytes, 0.204 ms``. If one request moves many chunks,
  its line has the first key and the number of chunks; the bytes are then those of the decoded chunks;
- ``zarr.codec``: one line a chunk: ``decode bytes, zstd: 1024 bytes, 0.051 ms, 4096 bytes decoded``. While it is on,
  chunks are decoded one by one, so that each has its line: it must be turned on by its own name, or by
  :func:`set_log_level`.

``logging.getLogger("zarr.store").setLevel("DEBUG")`` turns one on, :func:`set_log_level` all of them. The records have
the attributes ``key``, ``nbytes`` and ``milliseconds``. Off, they cost one look-up in a dictionary for each operation.

The author of a store, a codec or another extension takes a logger below: ``logging.getLogger("zarr.store.mine")``; it
is turned on and off with the others.

``logging`` itself is not loaded here: a program that does not use it saves the time. Once it is loaded, it remembers
for each logger the levels that are on, and forgets them when any level changes. The loggers of this library keep that
memory in the dictionaries of this module. So an operation only checks ``"logging" in MODULES and SWITCH.get(TRACING) is
not False``; if that is true, a logger is on, or :func:`is_tracing` has to find out.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

import zarr_core

if TYPE_CHECKING:
    import logging

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

MODULES: Final = sys.modules
DEBUG: Final = 10
"""The level of all messages about normal work: ``DEBUG`` of ``logging``."""

SWITCH: Final[dict[Any, bool]] = {}
"""The enabled levels of the logger ``zarr.store``; under TRACING, True if operations are logged."""
CODEC_SWITCH: Final[dict[Any, bool]] = {}
"""The enabled levels of the logger ``zarr.codec``."""
TRACING: Final = "zarr.tracing"


@cache
def loggers() -> tuple[logging.Logger, logging.Logger, logging.Logger, logging.Logger]:
    """Return the loggers of arrays, groups, stores and codecs.

    Examples
    --------
    >>> [log.name for log in loggers()]
    ['zarr.array', 'zarr.group', 'zarr.store', 'zarr.codec']
    """
    import logging

    array, group, store, codec = map(logging.getLogger, ("zarr.array", "zarr.group", "zarr.store", "zarr.codec"))
    # A program that turns on the loggers of every library shall not have its chunks decoded one by one for that. (This
    # runs at the first use of the library, so after the program has set its levels.)
    if codec.level == logging.NOTSET:
        codec.setLevel(logging.INFO)
    # The dictionaries in which the loggers remember their levels can be read without a call.
    vars(store)["_cache"], vars(codec)["_cache"] = SWITCH, CODEC_SWITCH
    return array, group, store, codec


def is_tracing() -> bool:
    """Return True if operations or requests are logged; remembered until a level of any logger is changed.

    Examples
    --------
    >>> is_tracing()
    False
    """
    listening = any(log.isEnabledFor(DEBUG) for log in loggers()[:3])
    SWITCH[TRACING] = listening
    return listening


def logs_codecs() -> bool:
    """Return True if the logger ``zarr.codec`` takes messages of level DEBUG, one for each chunk.

    Examples
    --------
    >>> logs_codecs()
    False
    """
    return "logging" in MODULES and CODEC_SWITCH.get(DEBUG) is not False and loggers()[3].isEnabledFor(DEBUG)


def set_log_level(level: LogLevel) -> None:
    """Set the lowest level of the library's messages that are shown.

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
    logger = _shown_logger()
    logger.setLevel(level)
    loggers()[3].setLevel(level)
    for handler in logger.handlers:
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
    import logging

    for handler in _shown_logger().handlers:
        handler.setFormatter(logging.Formatter(fmt=log_format))


def _shown_logger() -> logging.Logger:
    """Return the logger above all others, with a handler."""
    import logging

    logger = logging.getLogger("zarr")
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler())
    return logger


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    from importlib import metadata

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
    import platform

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
