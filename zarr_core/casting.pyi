from typing import Any

import numpy as np
from numpy.typing import NDArray

def cast_numbers(
    array: NDArray[Any], dtype: np.dtype[Any], rounding: str = "nearest-even", out_of_range: str | None = None
) -> NDArray[Any]: ...
