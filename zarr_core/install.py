"""Make ``import zarr`` load this library in this process and in its children, beside an installed zarr-python.

``import zarr_core.install`` before the first import of ``zarr`` is enough. Only the distribution ``zarr-core`` has a
front of its own (``zarr_core/_front``); if this library is the installed ``zarr``, there is nothing to do.

May import: the standard library, little of it, and nothing of ``zarr_core``: Python loads this file when it starts with
``ZARR_CORE=1``, also in programs that never use an array.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False  # True for type checkers; the module typing takes longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from importlib.metadata import Distribution, DistributionFinder
    from types import ModuleType
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
FRONT = os.path.join(HERE, "_front")
VARIABLE = "ZARR_CORE"

IMPORTED_ALREADY = """zarr is imported already, from {place}, so it cannot become the one of zarr-core in this process.
Put `import zarr_core.install` before the first import of zarr and of all that imports it, or start the program by
`python -m zarr_core program.py`, or with ZARR_CORE=1 in its environment. In a notebook, restart the kernel."""


class FrontFinder:
    """Find the package ``zarr`` of this library and its metadata; the first of ``sys.meta_path``.

    Examples
    --------
    >>> FrontFinder.find_spec("json") is None
    True
    """

    front = FRONT

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of ``zarr``; None for any other module.

        Parameters
        ----------
        name : str
            The name of the module.
        path : Sequence[str] or None
            The path of its package, which is not used. Default: None.
        target : ModuleType or None
            A module to be loaded again, which is not used. Default: None.

        Returns
        -------
        ModuleSpec or None
        """
        return PathFinder.find_spec(name, [cls.front]) if name == "zarr" else None

    @classmethod
    def find_distributions(cls, context: DistributionFinder.Context | None = None) -> Iterator[Distribution]:
        """Yield the distribution ``zarr`` of this library, if it or every distribution is requested.

        Parameters
        ----------
        context : importlib.metadata.DistributionFinder.Context or None
            The requested name. Default: None, every distribution.

        Yields
        ------
        importlib.metadata.Distribution
        """
        from importlib.metadata import PathDistribution
        from pathlib import Path

        name, places = getattr(context, "name", None), getattr(context, "path", [cls.front])
        if (name is None or name.lower() == "zarr") and cls.front in places:
            yield from (PathDistribution(folder) for folder in Path(cls.front).glob("zarr-*.dist-info"))


def is_installed() -> bool:
    """Return True if ``import zarr`` means the front of ``zarr-core`` in this process.

    Returns
    -------
    bool
        False, too, if this library is the installed ``zarr``.

    Examples
    --------
    >>> is_installed()
    False
    """
    return any(getattr(finder, "front", None) == FRONT for finder in sys.meta_path)


def install() -> None:
    """Make ``import zarr`` load this library from now on; importing this module has called it.

    Raises
    ------
    ImportError
        If another ``zarr`` was imported before.

    Examples
    --------
    >>> install()
    """
    if not os.path.isdir(FRONT):
        return
    imported = sys.modules.get("zarr")
    place = str(getattr(imported, "__file__", None) or "an unknown place")
    if imported is not None and not place.startswith(FRONT + os.sep):
        raise ImportError(IMPORTED_ALREADY.format(place=place), name="zarr")
    os.environ[VARIABLE] = "1"  # spawned children read it when they start
    if not is_installed():
        finder: Any = FrontFinder
        sys.meta_path.insert(0, finder)
        # For programs that search the path themselves, as pytest does for its plugins.
        folder = os.path.dirname(HERE)
        sys.path.insert(sys.path.index(folder) if folder in sys.path else 0, FRONT)


install()
