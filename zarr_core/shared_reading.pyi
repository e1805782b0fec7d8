from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zarr_core.bulk import ReadJob
from zarr_core.jobs import Job
from zarr_core.keys import KeyFormat
from zarr_core.payloads import BytesLike
from zarr_core.program import Program

class SharedReadJob(Job):
    @property
    def readers(self) -> tuple[ReadJob, ...]: ...
    @property
    def program(self) -> Program: ...
    @property
    def count(self) -> int: ...
    def __init__(
        self,
        readers: Sequence[ReadJob],
        owners: NDArray[np.int64] | Sequence[int],
        slots: NDArray[np.int64] | Sequence[int],
        starts: NDArray[np.int64] | Sequence[int],
    ) -> None: ...
    @property
    def missing(self) -> NDArray[np.int64]: ...
    @property
    def failed(self) -> NDArray[np.int64]: ...
    def from_files(self, root: str, keys: KeyFormat) -> None: ...
    def from_buffers(self, payloads: Sequence[BytesLike | None], first: int = 0) -> None: ...
