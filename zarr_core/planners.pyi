from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from zarr_core.grid import Grid
from zarr_core.plan import Plan

def plan_basic(grid: Grid, selection: Any) -> Plan: ...
def plan_orthogonal(grid: Grid, selection: Any) -> Plan: ...
def plan_blocks(grid: Grid, selection: Any) -> Plan: ...
