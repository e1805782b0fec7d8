"""A user's work with the codecs of imagecodecs: as zarr codecs (format 3) and as numcodecs codecs (format 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr

if TYPE_CHECKING:
    from collections.abc import Iterator

imagecodecs = pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")

DATA = np.random.default_rng(5).integers(0, 4000, (64, 48), dtype="uint16").cumsum(0, dtype="uint16")
SIGNAL = np.linspace(-3, 9, 64 * 48, dtype="f4").reshape(64, 48)


@pytest.fixture
def classes() -> Iterator[Any]:
    module = pytest.importorskip("imagecodecs.zarr", reason="this imagecodecs has no codecs for zarr 3")
    module.register_codecs(verbose=False)
    # Other packages register codecs under the same names: the configuration says whose are meant.
    names = [
        name for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    with zarr.config.set({f"codecs.imagecodecs_{name.lower()}": f"imagecodecs.zarr.{name}" for name in names}):
        yield module


def check(array: zarr.Array[Any], expected: np.ndarray) -> None:
    np.testing.assert_array_equal(array[:], expected)
    again = zarr.open_array(array.store, mode="r")
    np.testing.assert_array_equal(again[3:41:2, 17], expected[3:41:2, 17])
    assert again.metadata == array.metadata


@pytest.mark.parametrize("name", ["Zlib", "Zstd", "Lz4", "Lzw", "Deflate", "Brotli", "Blosc"])
def test_compressors(classes: Any, name: str) -> None:
    if not hasattr(classes, name):
        pytest.skip(f"no codec {name} in this imagecodecs")
    check(zarr.create_array({}, data=DATA, chunks=(20, 48), compressors=getattr(classes, name)()), DATA)


@pytest.mark.parametrize("name", ["Delta", "Xor", "Floatpred", "Byteshuffle"])
def test_filters(classes: Any, name: str) -> None:
    if not hasattr(classes, name):
        pytest.skip(f"no codec {name} in this imagecodecs")
    data = SIGNAL if name == "Floatpred" else DATA
    made: Any = getattr(classes, name)()
    kind = "filters" if isinstance(made, zarr.abc.codec.ArrayArrayCodec) else "serializer"
    if isinstance(made, zarr.abc.codec.BytesBytesCodec):
        kind = "compressors"
    parameters: dict[str, Any] = {kind: made}
    check(zarr.create_array({}, data=data, chunks=(16, 48), **parameters), data)


@pytest.mark.parametrize("name", ["Png", "Tiff", "Jpegxl", "Jpeg2k", "Jpegls"])
def test_images_as_serializers(classes: Any, name: str) -> None:
    if not hasattr(classes, name):
        pytest.skip(f"no codec {name} in this imagecodecs")
    options = {"lossless": True} if name == "Jpegxl" else {}
    serializer = getattr(classes, name)(**options)
    array = zarr.create_array({}, data=DATA, chunks=(32, 24), serializer=serializer, compressors=None)
    check(array, DATA)


def test_an_image_codec_within_shards(classes: Any) -> None:
    array = zarr.create_array(
        {}, data=DATA, chunks=(16, 12), shards=(32, 48), serializer=classes.Png(), compressors=None
    )
    check(array, DATA)


@pytest.mark.parametrize("name", ["Zlib", "Zstd", "Lz4", "Png", "Jpegls"])
def test_format_2(name: str) -> None:
    module = pytest.importorskip("imagecodecs.numcodecs", reason="imagecodecs has no codecs for numcodecs")
    module.register_codecs(verbose=False)
    if not hasattr(module, name):
        pytest.skip(f"no codec {name} in this imagecodecs")
    codec = getattr(module, name)()
    check(zarr.create_array({}, data=DATA, chunks=(32, 48), zarr_format=2, compressors=codec), DATA)


def test_a_format_2_filter() -> None:
    module = pytest.importorskip("imagecodecs.numcodecs", reason="imagecodecs has no codecs for numcodecs")
    module.register_codecs(verbose=False)
    delta = module.Delta(shape=(32, 48), dtype="<u2")
    check(zarr.create_array({}, data=DATA, chunks=(32, 48), zarr_format=2, filters=[delta]), DATA)
