from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

DEFAULT_MAX_NBYTES: int

def decode(
    name: str, payload: Buffer, nbytes: int | None = None, *, max_nbytes: int | None = None, **params: Any
) -> NDArray[np.uint8]: ...
def encode(name: str, data: Buffer, **params: Any) -> bytes: ...
def decode_blosc_range(payload: Buffer, start: int, stop: int) -> NDArray[np.uint8]: ...
def available() -> dict[str, bool]: ...
