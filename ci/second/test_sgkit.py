"""sgkit 0.10 stores and loads datasets, of zarr 2's formats, and computes with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sgkit
import xarray as xr

import zarr


def make() -> xr.Dataset:
    return sgkit.simulate_genotype_call_dataset(n_variant=120, n_sample=30, missing_pct=0.1, seed=0)


def test_saved_and_loaded(tmp_path: Path) -> None:
    sgkit.save_dataset(make(), str(tmp_path / "a.zarr"))
    xr.testing.assert_identical(sgkit.load_dataset(str(tmp_path / "a.zarr")).load(), make())


def test_computed(tmp_path: Path) -> None:
    sgkit.save_dataset(make().chunk(variants=50), str(tmp_path / "a.zarr"), auto_rechunk=True)
    found = sgkit.variant_stats(sgkit.load_dataset(str(tmp_path / "a.zarr"))).load()
    expected = sgkit.variant_stats(make()).load()
    np.testing.assert_array_equal(found["variant_allele_count"], expected["variant_allele_count"])


def test_in_a_mapping() -> None:
    store: dict[str, bytes] = {}
    sgkit.save_dataset(make(), store)
    xr.testing.assert_identical(sgkit.load_dataset(store).load(), make())
    assert zarr.open_group(store, mode="r")["call_genotype"].shape == (120, 30, 2)


def test_appended(tmp_path: Path) -> None:
    whole = make().drop_vars("variant_allele")
    whole.isel(variants=slice(0, 60)).to_zarr(tmp_path / "a.zarr")
    whole.isel(variants=slice(60, None)).to_zarr(tmp_path / "a.zarr", append_dim="variants")
    loaded = sgkit.load_dataset(tmp_path / "a.zarr")
    np.testing.assert_array_equal(loaded["call_genotype"], make()["call_genotype"])
