"""Tools for whole arrays and hierarchies: copies, other layouts, checksums, differences, checks and repairs.

May import: everything below. Of the upper parts, only the command line imports it.
Read first: ``plans/plan.py`` (tasks, and how they run) with ``copies/rechunking.py``; ``contents/nodes.py`` and
``contents/blocks.py`` (how values are read in limited memory); ``verification/run.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.arrays.show.pictures import plot as plot
    from zarr.tools.contents.checksums import Checksum as Checksum
    from zarr.tools.contents.checksums import checksum as checksum
    from zarr.tools.contents.differences import Difference as Difference
    from zarr.tools.contents.differences import diff as diff
    from zarr.tools.contents.statistics import ArrayStatistics as ArrayStatistics
    from zarr.tools.contents.statistics import stats as stats
    from zarr.tools.conversion.converting import Conversion as Conversion
    from zarr.tools.conversion.converting import convert as convert
    from zarr.tools.copies.coarsening import coarsen as coarsen
    from zarr.tools.copies.copying import copy as copy
    from zarr.tools.copies.rechunking import rechunk as rechunk
    from zarr.tools.copies.rechunking import reencode as reencode
    from zarr.tools.copies.rechunking import to_dask as to_dask
    from zarr.tools.measurements.results import Tuning as Tuning
    from zarr.tools.measurements.speed import Speed as Speed
    from zarr.tools.measurements.speed import bench as bench
    from zarr.tools.measurements.tuning import tune as tune
    from zarr.tools.plans.plan import Plan as Plan
    from zarr.tools.repairs import Change as Change
    from zarr.tools.repairs import repair as repair
    from zarr.tools.verification.report import Fault as Fault
    from zarr.tools.verification.report import Report as Report
    from zarr.tools.verification.run import verify as verify

# A module must not have the name of a function: an import of the module would replace the function.
__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.arrays.show.pictures": "plot",
        "zarr.tools.contents.checksums": "Checksum checksum",
        "zarr.tools.contents.differences": "Difference diff",
        "zarr.tools.contents.statistics": "ArrayStatistics stats",
        "zarr.tools.conversion.converting": "Conversion convert",
        "zarr.tools.copies.coarsening": "coarsen",
        "zarr.tools.copies.copying": "copy",
        "zarr.tools.copies.rechunking": "rechunk reencode to_dask",
        "zarr.tools.measurements.speed": "Speed bench",
        "zarr.tools.measurements.results": "Tuning",
        "zarr.tools.measurements.tuning": "tune",
        "zarr.tools.plans.plan": "Plan",
        "zarr.tools.repairs": "Change repair",
        "zarr.tools.verification.report": "Fault Report",
        "zarr.tools.verification.run": "verify",
    },
)
