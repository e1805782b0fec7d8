"""Reading the JSON of codecs, and the checks of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr.types import parse_named_configuration

if TYPE_CHECKING:
    from zarr.types import JSON

# Names under which a codec was stored by earlier versions, and the name it has now.
FORMER_NAMES = {"endian": "bytes"}


def configuration_of(data: Any, name: str, *, required: bool = True) -> dict[str, Any]:
    """Return the configuration of a codec's JSON, which is an object or, without a configuration, a bare name.

    Parameters
    ----------
    data
        The JSON.
    name
        The name that the codec must have.
    required
        Whether there must be a configuration.

    Raises
    ------
    TypeError, ValueError
        When the JSON is no such object, has another name, or lacks the configuration.

    Examples
    --------
    >>> configuration_of({"name": "gzip", "configuration": {"level": 1}}, "gzip")
    {'level': 1}
    """
    given = data if isinstance(data, str) else data.get("name") if isinstance(data, dict) else None
    expected = given if isinstance(given, str) and FORMER_NAMES.get(given) == name else name
    _, configuration = parse_named_configuration(data, expected, require_configuration=required)
    return dict(configuration) if isinstance(configuration, Mapping) else {}


def parse_field_int(data: JSON, field: str) -> int:
    """Return an int; the field's name goes into the message when it is none.

    Raises
    ------
    TypeError
        When it is no int.

    Examples
    --------
    >>> parse_field_int(3, "level")
    3
    """
    if isinstance(data, int) and not isinstance(data, bool):
        return data
    raise TypeError(f"Failed to parse input for {field!r}: expected int, got {data!r}.")
