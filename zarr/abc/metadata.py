"""The contract of objects with a JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from zarr._records import field_names, record
from zarr.types import JSON


@record(frozen=True)
class Metadata:
    """A frozen dataclass that is converted to and from a dict of JSON values."""

    def to_dict(self) -> dict[str, JSON]:
        """Return the fields as a dict; fields that are metadata, or sequences of it, become dicts too.

        Returns
        -------
        dict
            JSON names and values.

        Examples
        --------
        >>> Metadata().to_dict()
        {}
        """
        return {name: _to_json(getattr(self, name)) for name in field_names(self)}

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Return an instance whose fields are the entries of a dict.

        Parameters
        ----------
        data : dict[str, JSON]
            The metadata as a dictionary.

        Examples
        --------
        >>> Metadata.from_dict({})
        Metadata()
        """
        return cls(**data)

    @classmethod
    def of_members(cls, members: dict[str, Any]) -> Self:
        """Make the object from members that were parsed and checked before; it uses the table without a copy.

        Parameters
        ----------
        members : dict
            By name, as the attributes of the object.

        Examples
        --------
        >>> Metadata.of_members({})
        Metadata()
        """
        metadata = object.__new__(cls)
        object.__setattr__(metadata, "__dict__", members)
        return metadata


def _to_json(value: Any) -> Any:
    if isinstance(value, Metadata):
        return value.to_dict()
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return tuple(item.to_dict() if isinstance(item, Metadata) else item for item in value)
    return value
