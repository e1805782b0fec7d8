"""A shuffle of elements of size 0: the item size where netCDF-C wrote the array, no shuffle where others did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import zarr
from tests.compat.peers import run_peer
from zarr.buffer.cpu import Buffer
from zarr.storage import MemoryStore

VALUES = np.arange(6, dtype="<i4")
OPEN = {"id": "shuffle", "elementsize": 0}
# The members in the order in which netCDF-C writes them.
NETCDF = {
    "zarr_format": 2, "shape": [6], "dtype": "<i4", "chunks": [6], "fill_value": 0, "order": "C",
    "compressor": {"id": "zlib", "level": 1}, "filters": [OPEN],
}  # fmt: skip
SORTED = dict(sorted(NETCDF.items()))
MARKED_ARRAY = {"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}}


def store_of(document: dict[str, Any], attributes: dict[str, Any], width: int) -> MemoryStore:
    raw = bytes(numcodecs.Zlib(1).encode(numcodecs.Shuffle(width).encode(VALUES)))
    files = {".zarray": json.dumps(document).encode(), ".zattrs": json.dumps(attributes).encode(), "0": raw}
    return MemoryStore({key: Buffer.from_bytes(value) for key, value in files.items()})


def stored(store: MemoryStore, key: str = ".zarray") -> Any:
    return json.loads(store.get_sync(key).to_bytes())  # type: ignore[union-attr]


@pytest.mark.parametrize(("document", "attributes"), [
    (SORTED, MARKED_ARRAY), (SORTED, {"_nczarr_attr": {}}), (SORTED, {"_NCZARR_ATTR": {}}),
    ({**SORTED, "_NCZARR_ARRAY": {}}, {}), ({**SORTED, "_nczarr_array": {}}, {}),
    ({**SORTED, "filters": [{"id": "shuffle", "elementsize": "0"}]}, {}),
    (NETCDF, {"_ARRAY_DIMENSIONS": ["x"]}), (NETCDF, {}), ({**NETCDF, "dimension_separator": "."}, {}),
])  # fmt: skip
def test_arrays_of_netcdf(document: dict[str, Any], attributes: dict[str, Any]) -> None:
    array = zarr.open_array(store_of(document, attributes, 4), mode="r")
    assert array[:].tolist() == VALUES.tolist()
    assert array[4] == 4


@pytest.mark.parametrize("attributes", [{}, {"_ARRAY_DIMENSIONS": ["x"]}, {"about": "_nczarr_array"}])
def test_arrays_of_others(attributes: dict[str, Any]) -> None:
    store = store_of(SORTED, attributes, 0)
    array = zarr.open_array(store, mode="r+")
    assert array[:].tolist() == VALUES.tolist()
    array[1] = 9
    assert array[:].tolist() == [0, 9, 2, 3, 4, 5]
    array.attrs["x"] = 1
    assert stored(store)["filters"] == [OPEN]


def test_what_netcdf_wrote_stays_readable_without_its_marks() -> None:
    store = store_of(SORTED, MARKED_ARRAY, 4)
    zarr.open_array(store, mode="r+").attrs.clear()
    assert stored(store, ".zattrs") == {}
    assert zarr.open_array(store, mode="r")[:].tolist() == VALUES.tolist()


def test_in_consolidated_metadata() -> None:
    group = zarr.open_group(MemoryStore(), mode="w", zarr_format=2)
    for name, attributes, width in (("netcdf", MARKED_ARRAY, 4), ("other", {}, 0)):
        for key in (".zarray", ".zattrs", "0"):
            found = store_of(SORTED, attributes, width).get_sync(key)
            group.store.set_sync(f"{name}/{key}", found)  # type: ignore[attr-defined]
    zarr.consolidate_metadata(group.store)
    for name in ("netcdf", "other"):
        assert zarr.open_consolidated(group.store)[name][:].tolist() == VALUES.tolist()  # type: ignore[index]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_creation_stores_what_was_asked_for(zarr_format: Any) -> None:
    shuffle: Any = numcodecs.Shuffle(0) if zarr_format == 2 else zarr.codecs.numcodecs.Shuffle(elementsize=0)
    store = MemoryStore()
    array: Any = zarr.create_array(
        store, shape=6, dtype="<i4", compressors=shuffle, filters=None, zarr_format=zarr_format
    )
    array[:] = VALUES
    if zarr_format == 2:
        assert stored(store)["compressor"] == OPEN
        assert store.get_sync("0").to_bytes() == VALUES.tobytes()  # type: ignore[union-attr]
    else:
        assert stored(store, "zarr.json")["codecs"][1]["configuration"] == {"elementsize": 0}
        assert store.get_sync("c/0").to_bytes() == VALUES.tobytes()  # type: ignore[union-attr]
    again = zarr.open_array(store, mode="r")
    assert again[:].tolist() == VALUES.tolist()
    assert again.metadata == array.metadata


def test_from_format_2_to_format_3() -> None:
    from zarr.metadata.convert import convert_array_metadata

    old = zarr.open_array(store_of(SORTED, {}, 0), mode="r").metadata
    new: Any = convert_array_metadata(old)  # type: ignore[arg-type]
    shuffles = [codec.to_dict() for codec in new.codecs if "shuffle" in repr(codec)]
    assert [shuffle["configuration"] for shuffle in shuffles] == [{"elementsize": 0}]


MAKE = """
import sys, numcodecs, numpy as np, zarr
place, = sys.argv[1:]
for zarr_format, shuffle in ((2, numcodecs.Shuffle(0)), (3, zarr.codecs.numcodecs.Shuffle(elementsize=0))):
    z = zarr.create_array(f"{place}/{zarr_format}", shape=6, dtype="<i4", compressors=shuffle, zarr_format=zarr_format)
    z[:] = np.arange(6)
print('true')
"""


def test_arrays_of_zarr_python(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_text(MAKE)
    assert run_peer(script, str(tmp_path)) is True
    for name in "23":
        assert zarr.open_array(tmp_path / name, mode="r")[:].tolist() == VALUES.tolist()
