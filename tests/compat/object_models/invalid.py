from __future__ import annotations

from xarray_models import XArraySpec, XGroupSpec

invalid = XGroupSpec(
    attributes={},
    members={
        "array_0": XArraySpec(
            shape=[10, 10],
            attributes={"foo": 10},
            dtype="uint8",
            chunks=[10, 10],
            compressor=None,
            dimension_separator="/",
        )
    },
)
