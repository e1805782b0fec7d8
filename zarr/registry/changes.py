"""How often the tables of implementations were changed: what was made by them before may be made otherwise now."""

from __future__ import annotations


class Changes:
    """One counter for all tables of the process.

    Examples
    --------
    >>> before = Changes.count
    >>> Changes.note()
    >>> Changes.count > before
    True
    """

    count: int = 0

    @classmethod
    def note(cls) -> None:
        """Say that a table has changed."""
        cls.count += 1
