"""Methods that are replaced on a class of stores after it was made, as tests and tracing tools do.

A class notes what is put in the place of its methods when that is done, so that looking for it costs an operation no
more than comparing a number. What was known of the class is forgotten then (:data:`FORGET`).
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    _Meta = ABCMeta
else:
    _Meta = type(Protocol)  # which is an ABCMeta: a store may also be declared to follow a protocol

T = TypeVar("T")

CHANGES: Final = [0]
"""How often a method of a class of stores was replaced, or put back, in this process."""

FORGET: Final[list[Callable[[], None]]] = []
"""Called when a method was replaced: what forgets what is known of classes of stores."""

_ORIGINALS: Final = "_replaced_methods"


class NotesPatches(_Meta):
    """The class of classes of stores that have more than one way to a value."""

    # Those of a protocol look for members, and are slow.
    __instancecheck__ = ABCMeta.__instancecheck__
    __subclasscheck__ = ABCMeta.__subclasscheck__

    def __setattr__(cls, name: str, value: Any) -> None:
        before = vars(cls).get(name)
        super().__setattr__(name, value)
        if not name.startswith("_") and (callable(before) or callable(value)):
            _note(cls, name, before)

    def __delattr__(cls, name: str) -> None:
        before = vars(cls).get(name)
        super().__delattr__(name)
        if not name.startswith("_") and callable(before):
            _note(cls, name, before)


def _note(cls: type, name: str, before: Any) -> None:
    originals = vars(cls).get(_ORIGINALS)
    if originals is None:
        originals = {}
        setattr(cls, _ORIGINALS, originals)
    if originals.setdefault(name, before) is vars(cls).get(name):
        del originals[name]
    CHANGES[0] += 1
    for forget in FORGET:
        forget()


def known_of_class(function: T) -> T:
    """Decorate a function of a class of stores, whose answer is remembered until a method of some class is replaced."""
    remembering: Any = cache(function)  # type: ignore[arg-type]
    FORGET.append(remembering.cache_clear)
    return remembering  # type: ignore[no-any-return]


def replaced_on(cls: type) -> dict[str, Any]:
    """What a class was made with in the place of the methods that were replaced on this very class.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> replaced_on(MemoryStore)
    {}
    """
    found: dict[str, Any] = vars(cls).get(_ORIGINALS) or {}
    return found


@known_of_class
def is_replaced(cls: type, *names: str) -> bool:
    """Whether one of some methods was replaced on a class, or on one above it.

    Examples
    --------
    >>> from unittest import mock
    >>> from zarr.storage import MemoryStore
    >>> with mock.patch.object(MemoryStore, "get"):
    ...     is_replaced(MemoryStore, "get", "set"), is_replaced(MemoryStore, "set")
    (True, False)
    >>> is_replaced(MemoryStore, "get", "set")
    False
    """
    return any(name in replaced_on(base) for base in cls.__mro__ for name in names)
