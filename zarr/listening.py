"""Whether somebody listens to the log of the library; the log itself is loaded when somebody may.

A program in which nobody has loaded ``logging`` has nobody who listens, and is spared the time of loading it. Where it
is loaded, it remembers of each logger which levels are on, and forgets it where any level is changed; the loggers of
:mod:`zarr.logs` remember it in the dictionaries that are kept here. So all that an operation does is to look:
``"logging" in MODULES and SWITCH.get(TRACING) is not False`` means that somebody listens, or that it has to be found
out.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import LazyModule

if TYPE_CHECKING:
    from zarr import logs
else:
    logs = LazyModule("zarr.logs")

MODULES: Final = sys.modules
DEBUG: Final = 10
"""The level at which the library says what it does: that of ``logging``."""

SWITCH: Final[dict[Any, bool]] = {}
"""Of the logger ``zarr.store``: which levels are on; and under TRACING, whether anything is told of operations."""
CODEC_SWITCH: Final[dict[Any, bool]] = {}
"""Of the logger ``zarr.codec``: which levels are on."""
TRACING: Final = "zarr.tracing"


def is_tracing() -> bool:
    """Whether somebody listens to operations and requests; remembered until a level of any logger is changed.

    Examples
    --------
    >>> is_tracing()
    False
    """
    listening = any(log.isEnabledFor(DEBUG) for log in (logs.STORE_LOG, logs.ARRAY_LOG, logs.GROUP_LOG))
    SWITCH[TRACING] = listening
    return listening


def logs_codecs() -> bool:
    """Return whether the logger ``zarr.codec`` takes messages of level DEBUG, one for each chunk.

    Examples
    --------
    >>> logs_codecs()
    False
    """
    return "logging" in MODULES and CODEC_SWITCH.get(DEBUG) is not False and logs.CODEC_LOG.isEnabledFor(DEBUG)
