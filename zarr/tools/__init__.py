"""Tools for whole arrays and hierarchies: copy, change the layout, here or on other machines.

Each tool makes a plan of independent tasks; an executor runs them.

May import: everything below.
Read first: ``plans.py`` (a plan, and how it runs), then ``layouts.py`` and ``copying.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.tools.coarsening import coarsen as coarsen
    from zarr.tools.copying import copy as copy
    from zarr.tools.plans import Plan as Plan
    from zarr.tools.rechunking import rechunk as rechunk
    from zarr.tools.rechunking import reencode as reencode
    from zarr.tools.rechunking import to_dask as to_dask

__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.tools.coarsening": "coarsen",
        "zarr.tools.copying": "copy",
        "zarr.tools.plans": "Plan",
        "zarr.tools.rechunking": "rechunk reencode to_dask",
    },
)
