"""scikit-allel 1.3.13 makes zarr hierarchies of VCF files, and computes with what zarr reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import allel
import numpy as np
import pytest

import zarr

VCF = Path(allel.__file__).parent / "test" / "data" / "sample.vcf"


@pytest.fixture
def callset(tmp_path: Path) -> Any:
    allel.vcf_to_zarr(str(VCF), str(tmp_path / "a.zarr"), fields="*", overwrite=True, log=None)
    return zarr.open_group(str(tmp_path / "a.zarr"), mode="r")


def test_a_callset(callset: Any) -> None:
    expected = allel.read_vcf(str(VCF), fields="*")
    assert sorted(callset) == ["calldata", "samples", "variants"]
    for name, values in expected.items():
        found = callset[name][:]
        assert found.shape == values.shape
        if values.dtype.kind == "f":
            np.testing.assert_array_equal(found, values)
        else:
            assert found.tolist() == values.tolist(), name


def test_genotypes(callset: Any) -> None:
    genotypes = allel.GenotypeChunkedArray(callset["calldata/GT"])
    expected = allel.GenotypeArray(allel.read_vcf(str(VCF))["calldata/GT"])
    np.testing.assert_array_equal(genotypes.count_alleles()[:], expected.count_alleles())
    np.testing.assert_array_equal(genotypes.is_het()[:], expected.is_het())
    np.testing.assert_array_equal(genotypes.compress(np.arange(9) % 2 == 0, axis=0)[:], expected[::2])
    by_dask = allel.GenotypeDaskArray(callset["calldata/GT"])
    np.testing.assert_array_equal(by_dask.count_alleles().compute(), expected.count_alleles())


def test_variants(callset: Any) -> None:
    variants = allel.VariantChunkedTable(callset["variants"], names=["CHROM", "POS", "QUAL"])
    assert variants["POS"][:].tolist() == allel.read_vcf(str(VCF))["variants/POS"].tolist()
    index = allel.SortedMultiIndex(callset["variants/CHROM"][:], callset["variants/POS"][:])
    assert index.locate_key("20", 14370) == 2


def test_into_a_group_of_a_zip_file(tmp_path: Path) -> None:
    with zarr.ZipStore(str(tmp_path / "a.zip"), mode="w") as store:
        allel.vcf_to_zarr(str(VCF), store, group="20", region="20", fields=["POS", "GT"], log=None, tabix=None)
    with zarr.ZipStore(str(tmp_path / "a.zip"), mode="r") as store:
        assert zarr.group(store=store)["20/variants/POS"][0] == 14370


def test_chunked_storage(callset: Any) -> None:
    genotypes = allel.GenotypeChunkedArray(callset["calldata/GT"])
    storage = allel.chunked.storage_zarr.ZarrMemStorage()
    taken = genotypes.take([0, 2], axis=1, storage=storage)
    assert taken.shape == (9, 2, 2)
    assert isinstance(taken.values, zarr.Array)
    np.testing.assert_array_equal(taken[:], callset["calldata/GT"][:][:, [0, 2]])
