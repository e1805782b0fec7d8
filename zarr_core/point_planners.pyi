from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from zarr_core.grid import Grid
from zarr_core.plan import Plan

def plan_points(grid: Grid, coords: Iterable[ArrayLike]) -> Plan: ...
def plan_mask(grid: Grid, mask: ArrayLike) -> Plan: ...
