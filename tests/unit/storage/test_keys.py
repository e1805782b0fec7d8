"""Which keys and paths are taken as they are: the same as by a pattern that says it in one line."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from zarr.errors import KeyNotAllowedError
from zarr.storage.keys import check_key, is_key, is_tidy

FORBIDDEN = re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)|[\\\0\ud800-\udfff]|\A[A-Za-z]:")
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
def test_tidy_paths(path: str) -> None:
    assert is_tidy(path) == (TIDY.fullmatch(path) is not None)
