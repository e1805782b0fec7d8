"""Find the members of one object in a JSON text."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

_SPACE = " \t\n\r"


def find_json_members(raw: bytes, way: tuple[bytes, ...]) -> tuple[int, int, npt.NDArray[np.int64], bool, bool] | None:
    """Find them by parsing each value of each object on the way, in the text as Latin-1: a character is a byte."""
    if len(way) > 4:
        raise ValueError(f"at most 4 names can be followed, got {len(way)}")
    text = raw.decode("latin-1")
    try:
        json.loads(text, strict=False)
        at = _skip(text, 0)
        for name in way:
            starts = [
                start for key, _, start, _ in _members(text, at)[1] if text[key[0] : key[1]].encode("latin-1") == name
            ]
            at = starts[-1]
        closing, members = _members(text, at)
    except (ValueError, IndexError, RecursionError):  # the last: nested too deeply
        return None
    places = np.array([(*key, end) for key, _, _, end in members], dtype=np.int64).reshape(-1, 3)
    names = [raw[start:stop] for start, stop, _ in places.tolist()]
    plain = all(name.isascii() and b"\\" not in name for name in names)
    order = [(name.count(b"/"), name) for name in names]
    return at + 1, closing, places, plain, plain and order == sorted(set(order))


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _members(text: str, at: int) -> tuple[int, list[tuple[tuple[int, int], str, int, int]]]:
    """Return where the object that begins here closes; of each member the place of its name, the name, its value."""
    if text[at] != "{":
        raise ValueError("no object")
    decoder = json.JSONDecoder(strict=False)
    found: list[tuple[tuple[int, int], str, int, int]] = []
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, stop = decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, stop) + 1)
        _, end = decoder.raw_decode(text, start)
        found.append(((at + 1, stop - 1), name, start, end))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return at, found
