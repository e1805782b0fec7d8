"""Documents of other layouts with something odd in any place: they open, or are refused by an error of the library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import zarr
from zarr.buffer.cpu import Buffer
from zarr.errors import BaseZarrError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::zarr.errors.ZarrUserWarning")

BOOTSTRAP: dict[str, Any] = {
    "zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0", "metadata_encoding": "application/json",
    "metadata_key_suffix": "", "extensions": [],
}  # fmt: skip
DRAFT: dict[str, Any] = {
    "shape": [4, 4], "data_type": "<f8", "chunk_grid": {"type": "regular", "chunk_shape": [2, 2], "separator": "."},
    "chunk_memory_layout": "C", "fill_value": "NaN", "extensions": [], "attributes": {},
    "compressor": {
        "codec": "http://purl.org/zarr/spec/codec/blosc",
        "configuration": {"cname": "lz4", "clevel": 1, "shuffle": 1, "blocksize": 0},
    },
}  # fmt: skip
N5: dict[str, Any] = {
    "dimensions": [4, 4], "blockSize": [2, 2], "dataType": "int16",
    "compression": {"type": "gzip", "level": 1, "useZlib": False},
}  # fmt: skip
ODD: list[Any] = [
    None, True, -1, 2**70, 1.5, "x", "", [], ["a"], [1], {}, {"a": 1}, {"type": "<M8[ns]"}, {"fallback": {"a": 1}},
    {"codec": ""}, {"codec": "gzip", "configuration": [1]}, {"type": "regular", "chunk_shape": ["a"]}, "<M8", "r7",
    [{}],
]  # fmt: skip


def places(document: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in document.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from places(value, (*above, key))


def with_odd(document: dict[str, Any], place: tuple[str, ...], odd: Any) -> dict[str, Any]:
    changed = json.loads(json.dumps(document))
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = odd
    return dict(changed)


def check(values: dict[str, Any], path: str) -> None:
    store = {key: Buffer.from_bytes(json.dumps(value).encode()) for key, value in values.items()}
    try:
        zarr.open_array(store, mode="r", path=path)[...]
    except Exception as error:
        assert isinstance(error, BaseZarrError), repr(error)  # noqa: PT017 - any of several dozen classes


@pytest.mark.parametrize("place", list(places(DRAFT)), ids=".".join)
def test_arrays_of_2019(place: tuple[str, ...]) -> None:
    for odd in ODD:
        check({"zarr.json": BOOTSTRAP, "meta/root/x.array": with_odd(DRAFT, place, odd)}, "x")


@pytest.mark.parametrize("place", list(places(BOOTSTRAP)), ids=".".join)
def test_bootstrap_documents(place: tuple[str, ...]) -> None:
    for odd in ODD:
        check({"zarr.json": with_odd(BOOTSTRAP, place, odd), "meta/root/x.array": DRAFT}, "x")


@pytest.mark.parametrize("place", list(places(N5)), ids=".".join)
def test_attributes_of_n5(place: tuple[str, ...]) -> None:
    for odd in ODD:
        check({"attributes.json": with_odd(N5, place, odd)}, "")


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"\xff", b"null", b'"n5"'])
def test_what_is_no_document(raw: bytes) -> None:
    for name in ("attributes.json", "zarr.json"):
        with pytest.raises(BaseZarrError):
            zarr.open({name: Buffer.from_bytes(raw)}, mode="r")
    good = {"zarr.json": json.dumps(BOOTSTRAP).encode(), "meta/root/x.array": raw}
    with pytest.raises(ValueError, match=r"x\.array"):
        zarr.open({key: Buffer.from_bytes(value) for key, value in good.items()}, path="x", mode="r")
