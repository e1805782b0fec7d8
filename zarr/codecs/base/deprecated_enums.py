"""Names that were enumerations once: ``BloscCname.zstd`` still works, gives the string, and warns."""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from zarr.notices import warn


class DeprecatedStrEnumMeta(type):
    """Metaclass of classes whose attributes are strings that one should write out instead."""

    _members: ClassVar[dict[str, str]]

    def __getattr__(cls, name: str) -> str:
        members: dict[str, str] = type.__getattribute__(cls, "__dict__").get("_members", {})
        if name not in members:
            raise AttributeError(name)
        warn(
            f"{cls.__name__}.{name} is deprecated; pass the string {members[name]!r} instead.",
            DeprecationWarning,
        )
        return members[name]


def one_of(value: Any, allowed: tuple[str, ...], field: str, owner: str) -> str:
    """Return a string that must be one of a few; an enumeration member stands for its value.

    Raises
    ------
    ValueError
        When it is none of them.

    Examples
    --------
    >>> one_of("little", ("little", "big"), "endian", "BytesCodec")
    'little'
    """
    if isinstance(value, enum.Enum):
        warn(
            f"Passing an enum to {owner} for {field!r} is deprecated; pass the string {value.value!r} instead.",
            DeprecationWarning,
        )
    value = getattr(value, "value", value)
    if isinstance(value, str) and value in allowed:
        return value
    raise ValueError(f"{field} must be one of {list(allowed)}. Got {value!r}.")
