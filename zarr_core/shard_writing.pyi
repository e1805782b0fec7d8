from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.chunk_io import ChunkWriter
from zarr_core.keys import KeyFormat
from zarr_core.plan import Plan
from zarr_core.program import Program
from zarr_core.shard_groups import ShardGroups
from zarr_core.shard_index import IndexFormat

WRITE_ORDERS: tuple[str, ...]

class ShardWriteJob(ChunkWriter):
    @property
    def groups(self) -> ShardGroups: ...
    @property
    def index(self) -> IndexFormat: ...
    @property
    def write_order(self) -> str: ...
    @property
    def parts(self) -> int: ...
    def __init__(
        self,
        plan: Plan,
        groups: ShardGroups,
        program: Program,
        value: NDArray[Any],
        fill: NDArray[Any],
        skip_filled: bool,
        index: IndexFormat,
        write_order: str = "morton",
        which: NDArray[np.int64] | Sequence[int] | None = None,
    ) -> None: ...
    @property
    def failed(self) -> NDArray[np.int64]: ...
    @property
    def errors(self) -> list[tuple[int, int]]: ...
    def share(self, parts: int | None = None) -> None: ...
    def prepare(self, first: int, count: int) -> None: ...
    def encode(self, first: int, count: int) -> list[bytes | EllipsisType | None]: ...
    def to_files(self, root: str, keys: KeyFormat, fsync: bool = False) -> None: ...
