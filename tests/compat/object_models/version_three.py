from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from zarr.models import ArraySpec, GroupSpec


class Units(TypedDict):
    unit: str


class Weather(TypedDict):
    temperature: ArraySpec[Units]


model = GroupSpec[dict[str, Any], ArraySpec[Units]](
    attributes={"station": 1},
    members={"temperature": ArraySpec[Units].from_array(np.zeros(3), attributes={"unit": "K"})},
)
unit: str = model.members["temperature"].attributes["unit"] if model.members else ""
