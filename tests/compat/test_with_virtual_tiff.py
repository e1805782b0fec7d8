"""A user's work with virtual-tiff: TIFF files as virtual stores, by references into the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zarr

if TYPE_CHECKING:
    from pathlib import Path

tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
registries = pytest.importorskip("obspec_utils.registry", reason="obspec-utils is not installed")
stores = pytest.importorskip("obstore.store", reason="obstore is not installed")

IMAGE = np.random.default_rng(7).integers(0, 60_000, (96, 64), dtype="uint16")
FLOATS = np.linspace(-1, 1, 96 * 64, dtype="f4").reshape(96, 64)


def open_tiff(path: Path, **options: Any) -> zarr.Group:
    # Not at the top: it registers codecs under names that imagecodecs uses for other ones.
    virtual_tiff = pytest.importorskip("virtual_tiff", reason="virtual-tiff is not installed")
    registry = registries.ObjectStoreRegistry({"file://": stores.LocalStore()})
    return zarr.open_group(virtual_tiff.VirtualTIFF(**options)(f"file://{path}", registry=registry), mode="r")


def arrays_of(group: zarr.Group) -> dict[str, Any]:
    return {name: member for name, member in group.members(max_depth=None) if isinstance(member, zarr.Array)}


@pytest.mark.parametrize(
    ("image", "options"),
    [
        (IMAGE, {}),
        (IMAGE, {"compression": "zlib"}),
        (IMAGE, {"compression": "zlib", "predictor": 2}),
        (IMAGE, {"compression": "zstd"}),
        (IMAGE, {"compression": "lzw"}),
        (FLOATS, {"compression": "zlib"}),
        (FLOATS, {"compression": "zlib", "predictor": 3}),
        (IMAGE, {"byteorder": ">"}),
    ],
    ids=["bare", "zlib", "zlib-delta", "zstd", "lzw", "float", "float-predictor", "big-endian"],
)
def test_tiles(tmp_path: Path, image: np.ndarray, options: dict[str, Any]) -> None:
    path = tmp_path / "tiled.tif"
    tifffile.imwrite(path, image, tile=(32, 32), photometric="minisblack", **options)
    (array,) = arrays_of(open_tiff(path, ifd=0)).values()
    assert (array.shape, array.dtype.newbyteorder("=")) == (image.shape, image.dtype)
    np.testing.assert_array_equal(array[:], image)
    np.testing.assert_array_equal(array[20:70:3, 40], image[20:70:3, 40])


def test_strips(tmp_path: Path) -> None:
    path = tmp_path / "strips.tif"
    tifffile.imwrite(path, IMAGE, rowsperstrip=16, photometric="minisblack")
    (array,) = arrays_of(open_tiff(path, ifd=0)).values()
    np.testing.assert_array_equal(array[:], IMAGE)


@pytest.mark.parametrize("layout", ["flat", "nested"])
def test_levels(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "levels.tif"
    with tifffile.TiffWriter(path) as writer:
        for step in (1, 2):
            writer.write(IMAGE[::step, ::step], tile=(16, 16), photometric="minisblack")
    found = arrays_of(open_tiff(path, ifd_layout=layout))
    assert len(found) == 2
    for array in found.values():
        step = IMAGE.shape[0] // array.shape[0]
        np.testing.assert_array_equal(array[:], IMAGE[::step, ::step])
