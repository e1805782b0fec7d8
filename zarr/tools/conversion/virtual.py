"""Refer to the bytes of a file in place: a table of references, which is opened as a store."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import zarr
from zarr.arrays.array import Array
from zarr.errors import ZarrUserWarning
from zarr.groups.group import Group
from zarr.notices import warn
from zarr.storage import ReferenceStore
from zarr.storage.local.files import write_file
from zarr.tools.conversion.formats import FORMATS, UNLIMITED, format_of_file, function_of


def refer(
    source: Any, target: Any, losses: list[str], *, overwrite: bool = False, dry_run: bool = False
) -> tuple[Array[Any] | Group | None, str]:
    """Write a table of references to the bytes of a file, and open it.

    Parameters
    ----------
    source : path
        The file.
    target : path
        The table, a file ``.json`` of kerchunk. It names the file by the path from its own folder.
    losses : list of str
        Receives the losses.
    overwrite : bool, default False
        If True, replace a file at the place of the table.
    dry_run : bool, default False
        If True, write nothing.

    Returns
    -------
    node : Array, Group or None
        The node of the table; None with ``dry_run``.
    plan : str
        The actions that were done, or would be done.

    Raises
    ------
    FileExistsError
        If there is something at the place of the table, and ``overwrite`` is False.
    ValueError
        If files of the format cannot be referred to, or the bytes are not those of chunks of Zarr.

    Examples
    --------
    >>> import tempfile, numpy as np, tifffile
    >>> folder = tempfile.mkdtemp()
    >>> tifffile.imwrite(f"{folder}/a.tif", np.arange(600, dtype="u2").reshape(20, 30))
    >>> node, plan = refer(f"{folder}/a.tif", f"{folder}/a.json", [])
    >>> int(node[3, 4])
    94
    """
    file, table = Path(source), Path(target)
    row = format_of_file(os.fspath(file)) if file.is_file() else None
    if row is None or not row.referrer:
        can = ", ".join(each.name for each in FORMATS.values() if each.referrer)
        raise ValueError(f"{source} cannot be referred to in place: files of {can} can")
    if table.suffix != ".json":
        raise ValueError(f"references are written to a file .json, not to {target}")
    if table.exists() and not overwrite:
        raise FileExistsError(f"there is a file {table}: convert with overwrite=True to replace it")
    url = os.path.relpath(file.absolute(), table.absolute().parent).replace(os.sep, "/")
    found: dict[str, Any] = function_of(row, "referrer")(str(file.absolute()), url, losses)
    plan = f"write {table}: {sum(isinstance(each, list) for each in found.values())} references to {file}"
    if dry_run:
        return None, plan
    write_file(str(table.absolute()), memoryview(json.dumps(found).encode()))
    # The caller made the table: it may refer to a file in another folder.
    node = zarr.open(ReferenceStore.from_path(table.absolute(), allow_outside=True), mode="r")
    assert isinstance(node, Array | Group)
    return node, plan


def open_in_place(path: str) -> ReferenceStore | None:
    """Return a store over the bytes of a file, to read; None if it is no file that can be referred to.

    What the references cannot show is a warning.

    Raises
    ------
    ValueError
        If the file is damaged.

    Examples
    --------
    >>> import tempfile, h5py
    >>> folder = tempfile.mkdtemp()
    >>> with h5py.File(f"{folder}/a.h5", "w") as file:
    ...     made = file.create_dataset("g/a", data=range(10))
    >>> zarr.open_array(open_in_place(f"{folder}/a.h5"), path="g/a", mode="r")[3:5].tolist()
    [3, 4]
    """
    row = format_of_file(path) if os.path.isfile(path) else None
    if row is None or not row.referrer:
        return None
    losses: list[str] = []
    file = os.path.abspath(path)
    try:
        found = function_of(row, "referrer")(file, os.path.basename(file), losses)
    except OSError as error:
        raise ValueError(f"{path} cannot be read as {row.title}: {error}") from error
    for text in losses:
        if text.endswith(UNLIMITED):
            continue  # nearly every file of NetCDF has such a dimension, and all of it is shown
        warn(f"{path} is not all shown: {text}", ZarrUserWarning)
    return ReferenceStore(found, folder=os.path.dirname(file), name=path)
