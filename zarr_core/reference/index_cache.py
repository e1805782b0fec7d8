"""A cache of shard indexes that keeps none: the plain job reads every index anew, and is right without."""

from __future__ import annotations


class IndexCache:
    """The compiled cache as it looks from outside."""

    def __init__(self, capacity: int) -> None:
        if capacity < 0:
            raise ValueError(f"capacity must not be negative, got {capacity}")
        self.capacity = capacity

    def clear(self) -> None:
        """Let all indexes go."""

    def after_fork(self) -> None:
        """Begin anew in a forked child."""

    def info(self) -> tuple[int, int, int, int]:
        """Hits, misses, indexes held, and their bytes."""
        return 0, 0, 0, 0
