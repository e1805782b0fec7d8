"""In which format a new node is stored where nobody says it."""

from __future__ import annotations

import numpy as np
import pytest

import zarr


@pytest.mark.parametrize("configured", [2, 3])
def test_from_array_has_a_default_of_its_own(configured: int) -> None:
    values = np.arange(4)
    with zarr.config.set({"default_zarr_format": configured}):
        assert zarr.from_array({}, data=values).metadata.zarr_format == 3
        assert zarr.create_array({}, data=values).metadata.zarr_format == 3
        assert zarr.create((4,), dtype="int8").metadata.zarr_format == configured
        for source in (2, 3):
            array = zarr.create_array({}, data=values, zarr_format=source)  # type: ignore[arg-type]
            assert zarr.from_array({}, data=array).metadata.zarr_format == source
