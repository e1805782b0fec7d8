"""What the proposal checks statically: models of arrays whose attributes name their dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Union  # noqa: UP035  (as the document has it)

from zarr.models.v2 import ArraySpec, GroupSpec


@dataclass
class XAttrs:
    _ARRAY_DIMENSIONS: List[str]  # noqa: UP006


XArraySpec = ArraySpec[XAttrs]
XGroupSpec = GroupSpec[Any, Union[XArraySpec, GroupSpec[Any, Any]]]  # noqa: UP007
