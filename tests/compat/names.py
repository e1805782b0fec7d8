"""Dotted names of the interface, followed to what they stand for."""

from __future__ import annotations

import importlib
from typing import Any


def resolve(name: str) -> Any:
    """Import the longest module prefix of a dotted name and walk the rest by attributes."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"no module of {name} can be imported")
