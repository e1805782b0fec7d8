"""Is what a journal says one that a transaction of this store may have written? Whoever made the folder may have."""

from __future__ import annotations

import json
import os
import stat
from typing import Any, Final

from zarr.errors import MetadataValidationError
from zarr.storage.keys import check_key

_LISTS: Final = ("chunks", "documents", "deleted")


def parse_plan(root: str, journal: str, data: bytes) -> dict[str, Any]:
    """Return the list of what a dead process had decided to do, if all of it lies within the store.

    Parameters
    ----------
    root : str
        The folder of the store, without links.
    journal : str
        The folder of the journal.
    data : bytes
        What its list holds.

    Raises
    ------
    MetadataValidationError
        When it is no such list, or names a place outside of the store, also by a link.
    """
    try:
        plan = json.loads(data)
        folders = [folder for folder, inode in plan["removed"] if inode is None or type(inode) is int]
        keys = [key for name in _LISTS for key in plan[name]]
        for name in [*keys, *filter(None, folders)]:
            check_key(name)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _refused(journal, f"it is not one that a transaction of this library wrote ({error})") from error
    if len(folders) != len(plan["removed"]) or not all(type(plan[name]) is list for name in _LISTS):
        raise _refused(journal, "it is not one that a transaction of this library wrote")
    for base in (root, os.path.join(journal, "values")):
        for name in {os.path.dirname(name) for name in [*keys, *folders]}:
            if os.path.realpath(os.path.join(base, name)) != os.path.normpath(os.path.join(base, name)):
                raise _refused(journal, f"a link stands in the way to {name!r}")
    return dict(plan)


def is_folder(path: str) -> bool:
    """Whether a folder stands there, and not a link to one.

    Examples
    --------
    >>> is_folder("/")
    True
    """
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _refused(journal: str, why: str) -> MetadataValidationError:
    return MetadataValidationError(
        f"The journal {journal!r} of an unfinished transaction is not carried out: {why}. If you do not expect one "
        "there, do not trust this folder; else remove the journal, and with it what was not yet stored."
    )
