"""The version of the installed distribution, looked up at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import metadata

if TYPE_CHECKING:
    version: str
    __version__: str


def __getattr__(name: str) -> str:
    if name not in ("version", "__version__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = metadata.version("zarr")
    except metadata.PackageNotFoundError:  # a source tree that was never installed
        found = _declared()
    globals().update(version=found, __version__=found)
    return found


def _declared() -> str:
    """Return the version that the ``pyproject.toml`` of the source tree declares."""
    import tomllib
    from pathlib import Path

    declared = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    return str(declared["project"]["version"])
