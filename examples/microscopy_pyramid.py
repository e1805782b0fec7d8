"""A microscopy image as a pyramid of resolutions, and a label image in which only few chunks are ever written."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import zarr
from zarr.codecs import BloscCodec


def halve(image: np.ndarray) -> np.ndarray:
    """Return the means of 2 x 2 pixels, channel by channel."""
    channels, height, width = image.shape
    blocks = image.reshape(channels, height // 2, 2, width // 2, 2)
    return blocks.mean(axis=(2, 4)).astype(image.dtype)


def main(folder: str = ".") -> None:
    """Write four levels and some labels; read one field of view of each level."""
    root = zarr.open_group(Path(folder) / "slide.zarr", mode="w")
    y, x = np.mgrid[:1024, :1024]
    image = np.stack([(1000 * (np.sin(x / p) + np.cos(y / p) + 2)).astype("u2") for p in (17, 40, 90)])
    for level in range(4):
        root.create_array(
            str(level),
            data=image,
            chunks=(1, 128, 128),
            shards=(1, 512, 512) if image.shape[-1] >= 512 else None,
            compressors=BloscCodec(cname="zstd", shuffle="bitshuffle"),
            dimension_names=("c", "y", "x"),
        )
        image = halve(image)
    labels = root.create_array("labels", shape=(1024, 1024), chunks=(128, 128), dtype="u4", fill_value=0)
    labels.vindex[[10, 500, 1000], [20, 500, 900]] = [1, 2, 3]
    for level in range(4):
        field = root[str(level)][1, 256 >> level : 512 >> level, 256 >> level : 512 >> level]
        print(level, root[str(level)].shape, field.mean().round(1))
    print(f"{labels.nchunks_initialized} of {labels.nchunks} label chunks are stored")
    view = root["0"].lazy[0, ::4].T  # nothing is read yet
    print(view.shape, np.asarray(view[:2, :2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
