"""Compare what came of a call here with what came of it in zarr-python, and find the reason that is listed for it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """One call, and what each library made of it: an error and its message, or a value."""

    call: str
    theirs: str
    ours: str

    def __str__(self) -> str:
        return f"{self.call}\n    zarr-python: {self.theirs}\n    here: {self.ours}"


class Reason(NamedTuple):
    """Why some calls differ on purpose: which calls, by patterns of the call and of both outcomes."""

    why: str
    call: str = ""
    theirs: str = ""
    ours: str = ""

    def explains(self, difference: Difference) -> bool:
        """Say whether all patterns are found."""
        return all(re.search(pattern, text, re.DOTALL) for pattern, text in zip(self[1:], difference, strict=True))


def compare(call: str, theirs: dict[str, Any], ours: dict[str, Any]) -> list[Difference]:
    """Return how the answers to a call differ; an error may be of a class below that of zarr-python."""
    if "setup" in theirs or "setup" in ours:
        told = [_told(answer["setup"]) if "setup" in answer else "value: set up" for answer in (theirs, ours)]
        return [Difference(call, *told)] if ("setup" in theirs) != ("setup" in ours) else []
    if "error" in theirs or "error" in ours:
        if "error" in theirs and "error" in ours and _public(theirs["error"]) in ours["error"]:
            return []
        return [Difference(call, _told(theirs), _told(ours))]
    found = [
        Difference(call, f"value: {path} = {a}", f"value: {path} = {b}")
        for path, a, b in _unequal(theirs["value"], ours["value"])[:1]
    ]
    return found + _warnings(call, theirs["warned"], ours["warned"])


def _public(classes: list[str]) -> str:
    """Name the first class of an error that users can name."""
    return next(name for name in classes if not name.startswith("_"))


def _told(answer: dict[str, Any]) -> str:
    return f"{answer['error'][0]}: {answer['says']}" if "error" in answer else f"value: {str(answer['value'])[:200]}"


def _plain(value: Any) -> Any:
    """Leave out what differs from run to run: addresses in memory, and the order of names in a mapping."""
    if isinstance(value, str):
        return re.sub(r"(memory://|0x)[0-9a-f]+", r"\1N", value)
    return ["dict", sorted(value[1], key=str)] if isinstance(value, list) and value[:1] == ["dict"] else value


def _unequal(a: Any, b: Any, path: str = "") -> list[tuple[str, str, str]]:
    a, b = _plain(a), _plain(b)
    if a == b:
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        names = sorted(a.keys() | b.keys())
        return [found for name in names for found in _unequal(a.get(name), b.get(name), f"{path}.{name}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [found for i, (x, y) in enumerate(zip(a, b, strict=True)) for found in _unequal(x, y, f"{path}[{i}]")]
    return [(path, str(a)[:200], str(b)[:200])]


def _warnings(call: str, theirs: list[list[str]], ours: list[list[str]]) -> list[Difference]:
    """Compare categories: each of zarr-python is met by one here of that class, and none is told beside them."""
    missing = [w for w in theirs if not any(w[0] in mine[:3] for mine in ours)]
    more = [w for w in ours if not any(other[0] in w[:3] for other in theirs)]
    told = [Difference(call, f"warns: {w[0]}: {w[-1]}", "warns of nothing") for w in missing[:1]]
    return told + [Difference(call, "warns of nothing", f"warns: {w[0]}: {w[-1]}") for w in more[:1]]
