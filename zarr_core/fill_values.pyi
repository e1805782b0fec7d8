from typing import Any

from numpy.typing import NDArray

def is_filled(array: NDArray[Any], fill_value: Any) -> bool: ...
