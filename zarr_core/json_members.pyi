import numpy as np
import numpy.typing as npt

def find_json_members(
    raw: bytes, way: tuple[bytes, ...]
) -> tuple[int, int, npt.NDArray[np.int64], bool, bool] | None: ...
