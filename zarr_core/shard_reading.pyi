from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.chunk_io import ChunkReader
from zarr_core.index_cache import IndexCache
from zarr_core.keys import KeyFormat
from zarr_core.payloads import BytesLike
from zarr_core.plan import Plan
from zarr_core.program import Program
from zarr_core.shard_groups import ShardGroups
from zarr_core.shard_index import IndexFormat

class ShardReadJob(ChunkReader):
    @property
    def groups(self) -> ShardGroups: ...
    @property
    def index(self) -> IndexFormat: ...
    @property
    def parts(self) -> int: ...
    def __init__(
        self,
        plan: Plan,
        groups: ShardGroups,
        program: Program,
        out: NDArray[Any],
        fill: NDArray[Any] | None,
        index: IndexFormat,
        which: NDArray[np.int64] | Sequence[int] | None = None,
        *,
        max_gap_bytes: int = 16384,
        max_bytes: int = 1048576,
        indexes: IndexCache | None = None,
    ) -> None: ...
    @property
    def missing(self) -> NDArray[np.int64]: ...
    @property
    def failed(self) -> NDArray[np.int64]: ...
    def from_files(self, root: str, keys: KeyFormat) -> None: ...
    def from_buffers(self, payloads: Sequence[BytesLike | None], first: int = 0) -> None: ...
