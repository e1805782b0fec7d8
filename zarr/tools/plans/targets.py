"""Check the target of a plan: what may be replaced, whether it was changed, whether the workers reach it."""

from __future__ import annotations

import hashlib
from typing import Any

import zarr
from zarr.arrays.array import Array
from zarr.errors import NodeNotFoundError
from zarr.runners.choose import runner_for
from zarr.runners.job_notes import Notes
from zarr.runners.sync import sync
from zarr.steps.nodes import MAKING, check_absent_steps
from zarr.storage.path import StorePath
from zarr.tools.contents.nodes import arrays_of, as_stored
from zarr.tools.plans.executors import run_tasks


def check_free(notes: Notes, overwrite: bool) -> None:
    """Refuse a target with a node, or, if it may be replaced, one with files that are no node: they are of others.

    Parameters
    ----------
    notes : Notes
        Those of the target: what an earlier job has left there may be replaced.
    overwrite : bool

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        If there is a node, and ``overwrite`` is False.
    FileExistsError
        If there is something else, and ``overwrite`` is True.
    """
    target = notes.target
    if not overwrite:
        for zarr_format in (3, 2):
            runner_for(target.store).run(check_absent_steps(target, zarr_format))
    elif not any(sync((target / name).exists()) for name in MAKING) and not notes.read():
        if not sync(target.is_empty()):
            raise FileExistsError(
                f"{target} has files and is no node of Zarr: it is not replaced. Remove it by other means, or name "
                "another place"
            )


def describe_arrays(place: StorePath) -> str:
    """Return a text that changes if an array at a place, or below it, gets another shape, data type or codec."""
    try:
        node = as_stored(zarr.open(place, mode="r+"))
    except NodeNotFoundError:
        return ""
    found = hashlib.sha256()
    for name, array in arrays_of(node):
        found.update(f"{name} {describe(array)}\n".encode())
    return found.hexdigest()


def describe(array: Array[Any]) -> str:
    """Return the metadata document of an array, without its attributes, as text."""
    document = array.metadata.to_dict()
    return repr({name: value for name, value in document.items() if name != "attributes"})


def check_reached(notes: Notes, executor: Any) -> None:
    """Refuse an executor whose workers write elsewhere: a store in memory is another one in another process.

    Raises
    ------
    ValueError
    """
    run_tasks(executor, iter([("", notes.add, "reached")]), lambda name: None)
    if "reached" not in notes.read():
        name = executor if isinstance(executor, str) else type(executor).__name__
        raise ValueError(
            f"the workers of {name} do not write to {notes.target}: give a folder or a server that "
            "they reach, or use a pool of threads"
        )
