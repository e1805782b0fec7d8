"""What may be stored."""

from __future__ import annotations

from zarr.buffer import cpu
from zarr.buffer.core import Buffer


def check_buffer(store: object, value: object) -> Buffer:
    """Refuse what is no Buffer, naming the store that was asked to keep it.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> check_buffer(None, b"bytes")
    Traceback (most recent call last):
    ...
    TypeError: NoneType.set(): `value` must be a Buffer instance. Got an instance of <class 'bytes'> instead.
    """
    if type(value) is not cpu.Buffer and not isinstance(value, Buffer):
        raise TypeError(
            f"{type(store).__name__}.set(): `value` must be a Buffer instance. "
            f"Got an instance of {type(value)} instead."
        )
    return value


class SameObject:
    """Equal to itself made of the very same object only, which it keeps alive.

    Examples
    --------
    >>> one, other = [], []
    >>> SameObject(one) == SameObject(one), SameObject(one) == SameObject(other)
    (True, False)
    """

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def frozen(value: Buffer) -> Buffer:
    """A copy of a buffer that nobody can write into: an encoded value may be a view of somebody's array."""
    return type(value).from_bytes(value.to_bytes())
