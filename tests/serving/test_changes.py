"""Who has the token may store and delete keys, and nobody else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zarr
from zarr.serving import serve
from zarr.storage import MemoryStore, ZipStore

from .client import ask

TOKEN = "abc.123"
ALLOWED = {"Authorization": f"Bearer {TOKEN}"}


def test_with_the_token(tmp_path: Path) -> None:
    with serve(tmp_path, token=TOKEN) as url:
        assert ask(url, "/a/b", "PUT", b"value", **ALLOWED).status == 204
        assert (tmp_path / "a" / "b").read_bytes() == b"value"
        big = bytes(range(256)) * 20_000
        assert ask(url, "/big", "PUT", big, **ALLOWED).status == 204
        assert ask(url, "/big").body == big
        assert ask(url, "/a/b/c", "PUT", b"x", **ALLOWED).status == 409
        assert ask(url, "/a", "PUT", b"x", **ALLOWED).status == 409
        assert ask(url, "/a/", "DELETE", **ALLOWED).status == 405
        assert ask(url, "/a", "DELETE", **ALLOWED).status == 404
        assert ask(url, "/a/b", "PUT", b"new", If_None_Match="*", **ALLOWED).status == 412
        assert ask(url, "/a/b").body == b"value"
        assert ask(url, "/a/b", "DELETE", **ALLOWED).status == 204
        assert ask(url, "/a/b", "DELETE", **ALLOWED).status == 404
        assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["big"]


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer ", "Bearer abc.1234", "Basic abc.123", "bearer abc.123 ", "é"])
def test_without_the_token(tmp_path: Path, given: str) -> None:
    with serve(tmp_path, token=TOKEN) as url:
        for method in ("PUT", "DELETE"):
            answer = ask(url, "/a", method, b"x", Authorization=given)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert list(tmp_path.iterdir()) == []


def test_read_only(tmp_path: Path) -> None:
    with serve(tmp_path) as url:
        for method in ("PUT", "DELETE"):
            assert ask(url, "/a", method, b"x", **ALLOWED).status == 405
    assert list(tmp_path.iterdir()) == []
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        zarr.create_group(store)
    for options in ({"store": ZipStore(tmp_path / "x.zip", mode="r")}, {"store": {}, "show_as": "v3"}):
        with pytest.raises(ValueError, match=r"only be read|read-only"):
            serve(token=TOKEN, **options)
    for token in ("", " ", "ä"):
        with pytest.raises(ValueError, match="letters"):
            serve({}, token=token)


def test_a_hierarchy_is_stored_key_by_key(tmp_path: Path) -> None:
    memory = MemoryStore()
    values = np.arange(60).reshape(6, 10)
    zarr.create_array(memory, name="x", data=values, chunks=(2, 5))
    with serve(tmp_path / "new", token=TOKEN) as url:
        for key, value in memory._store_dict.items():
            assert ask(url, f"/{key}", "PUT", value.to_bytes(), **ALLOWED).status == 204
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "new", path="x")[...], values)
