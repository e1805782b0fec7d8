"""Damaged consolidated metadata: the error names the group and what to do, and what it says can be done."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.errors import GroupNotFoundError, MetadataValidationError, ZarrUserWarning

Damage = Callable[[bytes], bytes]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently", category=ZarrUserWarning)
        yield


@pytest.fixture
def place(tmp_path: Path, zarr_format: Any) -> Path:
    """Make a group with consolidated metadata, in another group."""
    zarr.create_group(tmp_path, zarr_format=zarr_format)
    group = zarr.create_group(tmp_path / "t", zarr_format=zarr_format)
    group.create_array("a", shape=4, dtype="i4")
    group.create_array("g/b", shape=4, dtype="i4")
    zarr.consolidate_metadata(tmp_path / "t")
    return tmp_path / "t"


def damage(place: Path, change: Damage) -> None:
    found = place / ".zmetadata"
    found = found if found.exists() else place / "zarr.json"
    found.write_bytes(change(found.read_bytes()))


def parsed(change: Callable[[dict[str, Any]], None], raw: bytes) -> bytes:
    """Change the object that holds the table of members."""
    document = json.loads(raw)
    change(document["consolidated_metadata"] if "node_type" in document else document)
    return json.dumps(document).encode()


def member_of_wrong_type(holder: dict[str, Any]) -> None:
    holder["metadata"]["a" if "a" in holder["metadata"] else "a/.zarray"] = "x"


def member_without_parent(holder: dict[str, Any]) -> None:
    for name in [name for name in holder["metadata"] if name.split("/")[0] == "g" and "b" not in name]:
        del holder["metadata"][name]


INSIDE: dict[str, tuple[Damage, type[Exception]]] = {
    "no UTF-8": (lambda raw: raw.replace(b"shape", b"sh\xffpe"), UnicodeDecodeError),
    "no table": (lambda raw: parsed(lambda holder: holder.pop("metadata"), raw), ValueError),
    "table of wrong type": (lambda raw: parsed(lambda holder: holder.update(metadata=[1]), raw), TypeError),
    "member of wrong type": (lambda raw: parsed(member_of_wrong_type, raw), TypeError),
    "member without parent": (lambda raw: parsed(member_without_parent, raw), GroupNotFoundError),
    "other kind": (
        lambda raw: parsed(lambda holder: holder.update(kind="x", zarr_consolidated_format=9), raw), ValueError
    ),
}  # fmt: skip
ASIDE: dict[str, tuple[Damage, type[Exception]]] = {
    "no JSON": (lambda raw: b"x", json.JSONDecodeError),
    "empty": (lambda raw: b"", json.JSONDecodeError),
    "truncated": (lambda raw: raw[: len(raw) // 2], json.JSONDecodeError),
    "array": (lambda raw: b"[1]", TypeError),
}

WAYS: dict[str, Callable[[Path], object]] = {
    "open_group": lambda place: list(zarr.open_group(place, mode="r").members()),
    "insisting": lambda place: list(zarr.open_group(place, mode="r", use_consolidated=True).members()),
    "open_consolidated": lambda place: list(zarr.open_consolidated(place)),
    "open": lambda place: list(zarr.open(place, mode="r")),
    "one member": lambda place: zarr.open_group(place, mode="r+")["a" if place.name == "t" else "t"],
}


def check(place: Path, error: type[Exception], *ways: str, opened: Path | None = None) -> None:
    for way in ways:
        with pytest.raises(error, match=r"use_consolidated=False.*zarr\.consolidate_metadata") as caught:
            WAYS[way](opened or place)
        assert isinstance(caught.value, MetadataValidationError)
        assert str(caught.value).count("use_consolidated") == 1
        assert f"{place.as_posix()}: use" in str(caught.value)


@pytest.mark.parametrize(
    ("zarr_format", "what"), [(2, what) for what in INSIDE | ASIDE] + [(3, what) for what in INSIDE]
)
def test_the_error_names_the_group_and_what_to_do(place: Path, what: str) -> None:
    change, error = (INSIDE | ASIDE)[what]
    damage(place, change)
    check(place, error, *WAYS)
    assert set(zarr.open_group(place, mode="r", use_consolidated=False)) == {"a", "g"}
    zarr.consolidate_metadata(place)
    assert set(zarr.open_consolidated(place)) == {"a", "g"}


@pytest.mark.parametrize("zarr_format", [3])
@pytest.mark.parametrize("what", [what for what in INSIDE if what != "member of wrong type"])
def test_the_error_of_a_member_of_another_group_names_it(place: Path, what: str) -> None:
    change, error = INSIDE[what]
    damage(place, change)
    check(place, error, "one member", opened=place.parent)


@pytest.mark.parametrize("zarr_format", [3])
def test_a_listing_leaves_out_a_member_whose_copy_lacks_a_group_and_says_so(place: Path) -> None:
    damage(place, lambda raw: parsed(member_without_parent, raw))
    with pytest.warns(ZarrUserWarning, match="left out.*its parent 'g'.*use_consolidated=False"):
        assert list(zarr.open_group(place.parent, mode="r").members()) == []


def test_what_the_node_needs_too_is_no_fault_of_the_copy(place: Path) -> None:
    damage(place, lambda raw: raw.replace(b'"zstd"', b'"unknown"').replace(b'"blosc"', b'"unknown"'))
    with pytest.raises(zarr.errors.UnknownCodecError) as caught:
        list(zarr.open_group(place, mode="r").members())
    assert "use_consolidated" not in str(caught.value)


@pytest.mark.parametrize("zarr_format", [3])
def test_a_damaged_document_of_a_group_is_no_fault_of_the_copy(place: Path) -> None:
    damage(place, lambda raw: raw.replace(b'"attributes": {}', b'"attributes": 5', 1))
    with pytest.raises(TypeError) as caught:
        zarr.open_group(place)
    assert "use_consolidated" not in str(caught.value)


@pytest.mark.parametrize("zarr_format", [3])
def test_the_error_of_a_truncated_document_tells_how_to_mend_it(place: Path) -> None:
    damage(place, lambda raw: raw[: len(raw) // 2])
    for options in ({}, {"use_consolidated": True}, {"use_consolidated": False}):
        with pytest.raises(json.JSONDecodeError, match=r"t/zarr\.json' is not valid.*own paths.*remove it") as caught:
            zarr.open_group(place, mode="r", **options)
        assert "use_consolidated" not in str(caught.value)
    assert zarr.open_array(place / "a", mode="r").shape == (4,)
    (place / "zarr.json").unlink()
    zarr.create_group(place)
    zarr.consolidate_metadata(place)
    assert set(zarr.open_consolidated(place)) == {"a", "g"}
