"""Which keys and paths are taken as they are: the same as by a pattern that says it in one line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr
import zarr_core
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import KeyNotAllowedError
from zarr.storage import MemoryStore, keys
from zarr.storage.keys import check_key, is_below_any, is_key, is_normalized, keys_below
from zarr_core import is_plain_key
from zarr_core.reference import documents as reference

FORBIDDEN = re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)|[\\\0\ud800-\udfff]")
TIDY = re.compile(r"(?:/(?!\.?(?:/|\Z))[^/\0\\]+)+")
TEXTS = st.text(alphabet="a.:/\\\0Z\n\ud800\u00e9 ", max_size=8)


def is_refused(key: str) -> bool:
    try:
        check_key(key)
    except KeyNotAllowedError:
        return True
    return False


@settings(max_examples=3000, deadline=None)
@given(TEXTS)
def test_keys(key: str) -> None:
    assert is_key(key) == (FORBIDDEN.search(key) is None) == (not is_refused(key))


@settings(max_examples=3000, deadline=None)
@given(TEXTS)
def test_plain_keys_need_no_other_check(key: str) -> None:
    plain = is_plain_key(key)
    assert plain == reference.is_plain_key(key)
    assert plain == (key.isascii() and not is_refused(key) and not key.startswith(".") and "/." not in key)


def test_what_is_no_plain_key() -> None:
    class Text(str): ...

    for module in (zarr_core, reference):
        assert not any(map(module.is_plain_key, (b"a", None, Text("a"))))


@settings(max_examples=3000, deadline=None)
@given(TEXTS)
def test_tidy_paths(path: str) -> None:
    assert is_normalized(path) == (TIDY.fullmatch(path) is not None)


@pytest.mark.parametrize("name", ["con", "AUX", "nul", "Prn.txt", "com1", "lpt9.zarr", "nul .x", "COM\u00b9", "con:a"])
def test_names_of_devices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To Windows they mean the same in every folder and with every ending; elsewhere arrays may have them."""
    store = MemoryStore()
    zarr.create_array(store, name=name, shape=(2,), dtype="i1")[:] = 1
    monkeypatch.setattr(keys, "WINDOWS", True)
    for key in (name, f"{name}/zarr.json", f"a/{name}", f"a/{name}/c/0"):
        assert is_refused(key)
        assert not is_key(key)
    for key in (f"a{name}", f"a/x{name}/c", "a/c/0", "zarr.json"):
        assert not is_refused(key)
    with pytest.raises(KeyNotAllowedError, match="device"):
        zarr.open_array(store, path=name, mode="r")


def test_drive_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Windows has drives; elsewhere a group lists such members, and zarr-python makes them."""
    monkeypatch.setattr(keys, "WINDOWS", False)
    store = MemoryStore()
    root = zarr.open_group(store)
    root.create_array("c:v", shape=(2,), dtype="i1")[:] = 1
    assert [name for name, _ in root.members()] == ["c:v"]
    monkeypatch.setattr(keys, "WINDOWS", True)
    for key in ("c:v", "C:/x", "c:"):
        assert is_refused(key)
        assert not is_key(key)
    assert not is_refused("1:x")
    assert not is_refused("a/c:v")


NAMES = st.lists(st.sampled_from(["a", "ab", "b"]), min_size=1, max_size=3).map("/".join)


@given(st.lists(NAMES), st.lists(NAMES | st.just("")), st.sampled_from(["", "x/"]))
def test_keys_below_folders(keys: list[str], folders: list[str], start: str) -> None:
    names = [*(start + key for key in keys), "y/q"]
    below = [name for name in names if name.startswith(start) and is_below_any(name[len(start) :], {*folders})]
    many = [*folders, *(f"z{number}" for number in range(9))]
    assert keys_below(names, folders, start) == below == keys_below(names, many, start)


@pytest.mark.parametrize("odd", [1, b"a/x", ("a/",), None])
def test_a_dictionary_may_have_keys_that_are_no_text(odd: object) -> None:
    value = default_buffer_prototype().buffer.from_bytes(b"1")
    store = MemoryStore({"a/x": value, "b/a/y": value, "ab": value, odd: value})  # type: ignore[dict-item]
    assert sorted(store.list_sync()) == ["a/x", "ab", "b/a/y"]
    assert list(store.list_prefix_sync("a/")) == list(store.list_prefix_sync("a/x")) == ["a/x"]
    store.delete_dir_sync("a")
    assert sorted(store.list_sync()) == ["ab", "b/a/y"]
    assert odd in store._store_dict
