from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.payloads import BytesLike

DEFAULT_MAX_NBYTES: int

def decode(
    name: str, payload: BytesLike, nbytes: int | None = None, *, max_nbytes: int | None = None, **params: Any
) -> NDArray[np.uint8]: ...
def encode(name: str, data: BytesLike, **params: Any) -> bytes: ...
def decode_blosc_range(payload: BytesLike, start: int, stop: int) -> NDArray[np.uint8]: ...
def available() -> dict[str, bool]: ...
