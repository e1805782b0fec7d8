from typing import Any

from numpy.typing import NDArray

from zarr_core.payloads import BytesLike

def pack_arrow(array: NDArray[Any], width: int, text: bool) -> bytes: ...
def unpack_arrow(
    raw: BytesLike, count: int, width: int, text: bool, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def check_arrow(raw: BytesLike, count: int, width: int, text: bool) -> int: ...
