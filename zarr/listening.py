"""The loggers of the library and the levels that are on; ``logging`` itself is loaded by those who listen.

A program in which nobody has loaded ``logging`` has nobody who listens, and is spared the time of loading it. Where it
is loaded, it remembers of each logger which levels are on, and forgets it where any level is changed; the loggers of
:mod:`zarr.logs` remember it in the dictionaries that are kept here. So all that an operation does is to look:
``"logging" in MODULES and SWITCH.get(TRACING) is not False`` means that somebody listens, or that it has to be found
out.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule

if TYPE_CHECKING:
    import logging
else:
    logging = LazyModule("logging")

MODULES: Final = sys.modules
DEBUG: Final = 10
"""The level at which the library says what it does: that of ``logging``."""

SWITCH: Final[dict[Any, bool]] = {}
"""Of the logger ``zarr.store``: which levels are on; and under TRACING, whether anything is told of operations."""
CODEC_SWITCH: Final[dict[Any, bool]] = {}
"""Of the logger ``zarr.codec``: which levels are on."""
TRACING: Final = "zarr.tracing"


@cache
def loggers() -> tuple[logging.Logger, logging.Logger, logging.Logger, logging.Logger]:
    """Return the loggers of arrays, groups, stores and codecs.

    Examples
    --------
    >>> [log.name for log in loggers()]
    ['zarr.array', 'zarr.group', 'zarr.store', 'zarr.codec']
    """
    array, group, store, codec = map(logging.getLogger, ("zarr.array", "zarr.group", "zarr.store", "zarr.codec"))
    # A program that listens to every library shall not have its chunks decoded one by one for it. (Called at the
    # first use of the library, this comes after what the program itself has set.)
    if codec.level == logging.NOTSET:
        codec.setLevel(logging.INFO)
    # Where they remember which levels are on, it is seen without a call.
    vars(store)["_cache"], vars(codec)["_cache"] = SWITCH, CODEC_SWITCH
    return array, group, store, codec


def is_tracing() -> bool:
    """Return whether operations or requests are logged; remembered until a level of any logger is changed.

    Examples
    --------
    >>> is_tracing()
    False
    """
    listening = any(log.isEnabledFor(DEBUG) for log in loggers()[:3])
    SWITCH[TRACING] = listening
    return listening


def logs_codecs() -> bool:
    """Return whether the logger ``zarr.codec`` takes messages of level DEBUG, one for each chunk.

    Examples
    --------
    >>> logs_codecs()
    False
    """
    return "logging" in MODULES and CODEC_SWITCH.get(DEBUG) is not False and loggers()[3].isEnabledFor(DEBUG)
