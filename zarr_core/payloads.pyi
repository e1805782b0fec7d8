from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import Buffer

# What the core takes for bytes; a name for type checkers only.
BytesLike: TypeAlias = Buffer | NDArray[Any]
