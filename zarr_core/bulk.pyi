from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.chunk_io import ChunkReader, ChunkWriter
from zarr_core.keys import KeyFormat
from zarr_core.payloads import BytesLike
from zarr_core.plan import Plan
from zarr_core.program import Program

class ReadJob(ChunkReader):
    def __init__(
        self,
        plan: Plan,
        program: Program,
        out: NDArray[Any],
        fill: NDArray[Any] | None,
        slots: NDArray[np.int64] | Sequence[int] | None = None,
    ) -> None: ...
    @property
    def missing(self) -> NDArray[np.int64]: ...
    @property
    def failed(self) -> NDArray[np.int64]: ...
    def from_files(self, root: str, keys: KeyFormat) -> None: ...
    def from_buffers(self, payloads: Sequence[BytesLike | None], first: int = 0) -> None: ...

class WriteJob(ChunkWriter):
    def __init__(
        self,
        plan: Plan,
        program: Program,
        value: NDArray[Any],
        fill: NDArray[Any],
        skip_filled: bool,
        slots: NDArray[np.int64] | Sequence[int] | None = None,
    ) -> None: ...
    @property
    def failed(self) -> NDArray[np.int64]: ...
    @property
    def errors(self) -> list[tuple[int, int]]: ...
    def encode(self, first: int, count: int) -> list[bytes | EllipsisType | None]: ...
    def to_files(self, root: str, keys: KeyFormat, fsync: bool = False) -> None: ...
