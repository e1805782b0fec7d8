"""Where a format and the object model use one name for two things: ``members``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAME = "members"


def to_model_names(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a group's own document under the names that a model has for them.

    A property ``members`` of the document becomes ``_members``, or has as many underscores more as it takes for the
    name to be free.

    Examples
    --------
    >>> to_model_names({"members": 1})
    {'_members': 1}
    >>> to_model_names({"members": 1, "_members": 2})
    {'__members': 1, '_members': 2}
    """
    return {_free(properties) if name == NAME else name: value for name, value in properties.items()}


def _free(properties: Mapping[str, Any]) -> str:
    name = f"_{NAME}"
    while name in properties:
        name = f"_{name}"
    return name


def from_model_names(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Undo :func:`to_model_names`: the name with the most underscores of those in a row stands for ``members``.

    Examples
    --------
    >>> from_model_names({"__members": 1, "_members": 2})
    {'members': 1, '_members': 2}
    """
    last = _free(properties)[1:]
    return {NAME if name == last and last != NAME else name: value for name, value in properties.items()}
