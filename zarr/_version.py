"""The version of the installed distribution, looked up when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import LazyModule

if TYPE_CHECKING:
    from importlib import metadata

    version: str
    __version__: str
else:
    metadata = LazyModule("importlib.metadata")


def __getattr__(name: str) -> str:
    if name not in ("version", "__version__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = metadata.version("zarr")
    except metadata.PackageNotFoundError:  # a source tree that was never installed
        found = "3.4.2+core.0.1.0"
    globals().update(version=found, __version__=found)
    return found
