"""napari 0.5.6 reads arrays, groups and pyramids of zarr lazily, and its layers slice them lazily."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from napari.components import ViewerModel
from napari_builtins.io import magic_imread, read_zarr_dataset

import zarr

DATA = np.random.default_rng(0).integers(0, 255, (6, 64, 64), dtype="u1")


def test_an_array(tmp_path: Path) -> None:
    zarr.save(str(tmp_path / "a.zarr"), DATA, zarr_version=2)
    image, shape = read_zarr_dataset(str(tmp_path / "a.zarr"))
    assert shape == DATA.shape
    assert not isinstance(image, np.ndarray)
    np.testing.assert_array_equal(image[2].compute(), DATA[2])


def test_a_pyramid(tmp_path: Path) -> None:
    root = zarr.open_group(str(tmp_path / "a.zarr"), "w", zarr_version=2)
    for level, step in enumerate((1, 2, 4)):
        root.create_dataset(str(level), data=DATA[:, ::step, ::step], chunks=(1, 32, 32))
    levels, shape = read_zarr_dataset(str(tmp_path / "a.zarr"))
    assert shape == DATA.shape
    assert [level.shape for level in levels] == [(6, 64, 64), (6, 32, 32), (6, 16, 16)]
    np.testing.assert_array_equal(levels[1][3].compute(), DATA[3, ::2, ::2])


def test_many_files(tmp_path: Path) -> None:
    for i, page in enumerate(DATA):
        zarr.save(str(tmp_path / f"{i}.zarr"), page, zarr_version=2)
    stack = magic_imread([str(tmp_path / f"{i}.zarr") for i in range(len(DATA))], use_dask=True, stack=True)
    np.testing.assert_array_equal(np.asarray(stack), DATA)


class Counting(zarr.storage.KVStore):
    """Remembers which chunks were read."""

    def __init__(self) -> None:
        super().__init__({})
        self.reads: list[str] = []

    def __getitem__(self, key: str) -> Any:
        self.reads.append(key)
        return super().__getitem__(key)


def test_a_layer_reads_what_it_shows() -> None:
    array = zarr.create(DATA.shape, chunks=(1, 64, 64), dtype="u1", store=Counting())
    array[:] = DATA
    viewer = ViewerModel()
    layer = viewer.add_image(array, contrast_limits=(0, 255))
    viewer.dims.set_current_step(0, 4)
    np.testing.assert_array_equal(layer._slice.image.raw, DATA[4])
    assert layer.data is array


def test_labels_are_painted() -> None:
    array = zarr.zeros((6, 64, 64), chunks=(1, 64, 64), dtype="i4")
    labels = ViewerModel().add_labels(array)
    labels.data_setitem((np.array([2, 2]), np.array([5, 6]), np.array([7, 8])), 9)
    assert array[2, 5, 7] == 9
    assert array[:].sum() == 18
