from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from zarr.buffer import default_buffer_prototype
from zarr.chunks.spec import ArrayConfig, ArraySpec, parse_array_config
from zarr.dtype import Float32
from zarr.settings import config


def spec(fill_value: Any = 0, shape: Any = (2, 3)) -> ArraySpec:
    return ArraySpec(shape, Float32(), fill_value, parse_array_config(None), default_buffer_prototype())


def test_config_from_what_is_given_and_the_settings() -> None:
    with config.set({"array.order": "F", "array.write_empty_chunks": True}):
        assert parse_array_config(None) == ArrayConfig("F", True)
        assert parse_array_config({"order": "C"}) == ArrayConfig("C", True)
    given = ArrayConfig("C", False, read_missing_chunks=False)
    assert parse_array_config(given) is given
    assert ArrayConfig.from_dict(given.to_dict()) == given


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"nope": 1}, TypeError),
        ({"order": "Q"}, ValueError),
        ({"write_empty_chunks": 1}, ValueError),
        ({"sharding_coalesce_max_bytes": "a"}, ValueError),
    ],
)
def test_wrong_config(data: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_array_config(data)


def test_spec_compares_fill_values_by_their_bits() -> None:
    assert spec(np.float32("nan")) == spec(np.float32("nan"))
    assert hash(spec(np.float32("nan"))) == hash(spec(np.float32("nan")))
    assert spec(np.float32(0.0)) != spec(np.float32(-0.0))
    assert spec(0) != spec(1)
    assert spec() != "something else"


def test_spec_basics() -> None:
    assert spec().ndim == 2
    assert spec().order == "C"
    assert spec(shape=[np.int64(4)]).shape == (4,)
    assert pickle.loads(pickle.dumps(spec())) == spec()
    with pytest.raises(TypeError, match="Expected an iterable of integers"):
        spec(shape=(1.5,))
