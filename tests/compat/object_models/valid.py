from __future__ import annotations

from xarray_models import XArraySpec, XAttrs, XGroupSpec

valid = XGroupSpec(
    attributes={},
    members={
        "array_0": XArraySpec(
            shape=[10, 10],
            attributes=XAttrs(_ARRAY_DIMENSIONS=["a", "b"]),
            dtype="uint8",
            chunks=[10, 10],
            compressor=None,
            dimension_separator=".",
        )
    },
)
