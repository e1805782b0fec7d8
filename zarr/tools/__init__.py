"""Tools for people's data: checksums, differences, statistics, checks and repairs of whole hierarchies.

May import: everything below floor 7. Nothing below imports it.
Read first: `nodes.py`, how a tool finds the nodes it walks; `blocks.py`, how it reads values in flat memory; then
`verification/`, which finds faults, and `repairs.py`, which mends some of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.tools.checksums import Checksum as Checksum
    from zarr.tools.checksums import checksum as checksum
    from zarr.tools.differences import Difference as Difference
    from zarr.tools.differences import diff as diff
    from zarr.tools.repairs import Change as Change
    from zarr.tools.repairs import repair as repair
    from zarr.tools.statistics import ArrayStatistics as ArrayStatistics
    from zarr.tools.statistics import stats as stats
    from zarr.tools.verification.report import Fault as Fault
    from zarr.tools.verification.report import Report as Report
    from zarr.tools.verification.run import verify as verify

# A module must not have the name of a function: who imports the module first would find it in place of the function.
__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.tools.checksums": "Checksum checksum",
        "zarr.tools.differences": "Difference diff",
        "zarr.tools.repairs": "Change repair",
        "zarr.tools.statistics": "ArrayStatistics stats",
        "zarr.tools.verification.report": "Fault Report",
        "zarr.tools.verification.run": "verify",
    },
)
