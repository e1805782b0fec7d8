"""Names of nodes, and places in messages."""

from __future__ import annotations

import pytest

from zarr.errors import UnknownCodecError, ZarrUserWarning
from zarr.metadata.documents import MetadataKeyError, document_place, locate
from zarr.metadata.names import check_node_name


@pytest.mark.parametrize("name", ["a", "temperature", ".hidden", "a.b", "zarr", "Zarr.json", "ü", "a b", "_x"])
def test_allowed(name: str) -> None:
    check_node_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", "...", "a/b", "zarr.json"])
def test_forbidden(name: str) -> None:
    with pytest.raises(ValueError, match="node name"):
        check_node_name(name)


def test_reserved() -> None:
    with pytest.warns(ZarrUserWarning, match="__"):
        check_node_name("__categories")


def test_places() -> None:
    assert document_place("zarr.json", None) == "'zarr.json'"
    error = locate(KeyError("x"), "'zarr.json'")
    assert isinstance(error, MetadataKeyError)
    assert str(error) == "x (in 'zarr.json')"
    own = UnknownCodecError("x")
    assert locate(own, "'zarr.json'") is own
    assert own.__notes__ == ["in 'zarr.json'"]
