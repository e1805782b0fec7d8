from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

def pack_bits(data: Buffer | NDArray[Any], itemsize: int, first_bit: int, nbits: int) -> NDArray[np.uint8]: ...
def unpack_bits(
    data: Buffer | NDArray[Any], count: int, itemsize: int, first_bit: int, nbits: int, sign_bits: int = 0
) -> NDArray[np.uint8]: ...
def round_bits(
    data: Buffer | NDArray[Any], itemsize: int, keepbits: int, mantissa_bits: int, is_signed: bool = False
) -> NDArray[np.uint8]: ...
