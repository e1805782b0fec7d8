"""The rules for names of nodes, in both formats."""

from __future__ import annotations

from zarr.errors import ZarrUserWarning
from zarr.notices import warn
from zarr.types import METADATA_NAMES


def check_node_name(name: str) -> None:
    """Refuse a name that format 3 forbids for a node other than the root.

    Parameters
    ----------
    name
        One segment of a path.

    Raises
    ------
    ValueError
        If it is empty, contains a slash, consists of periods, or is ``zarr.json``.

    Warns
    -----
    ZarrUserWarning
        If it begins with ``__``, which the format reserves. Such nodes exist, so the name is not refused.

    Examples
    --------
    >>> from zarr.metadata import check_node_name
    >>> check_node_name("temperature")
    """
    if not name:
        raise ValueError("A node name must not be empty.")
    if "/" in name:
        raise ValueError(f"The node name {name!r} must not contain '/'.")
    if not name.strip("."):
        raise ValueError(f"The node name {name!r} must not consist of periods only.")
    if name == "zarr.json":
        raise ValueError(f"The node name {name!r} is that of the metadata document.")
    if name.startswith("__"):
        warn(f"The node name {name!r} begins with '__', which the format reserves.", ZarrUserWarning)


def check_new_path(path: str) -> None:
    """Refuse to create a node whose path has a name that is forbidden in both formats.

    Raises
    ------
    ValueError
        If a segment consists of periods, or is the name of a metadata document.

    Examples
    --------
    >>> check_new_path("a/b")
    """
    for name in path.split("/") if path else ():
        if not name.strip("."):
            raise ValueError(f"The node name {name!r} (in {path!r}) must not consist of periods only.")
        if name in METADATA_NAMES:
            raise ValueError(f"The node name {name!r} (in {path!r}) is that of a metadata document; choose another.")
