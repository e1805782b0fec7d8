"""Left-overs of programs that died, or that locked something: half-written values, lock folders, journals."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from zarr.runners.job_notes import unfinished
from zarr.steps.requests import Get, ListDir, ask_steps
from zarr.storage.keys import JOB_PREFIX, JOURNAL_FOLDER, LOCKS_FOLDER, REPAIR_FOLDER, is_partial, partial_owner
from zarr.storage.local.folders import is_alive
from zarr.storage.local.store import LocalStore
from zarr.storage.zip.store import ZipStore
from zarr.tools.verification.report import Fault
from zarr.tools.verification.survey import Survey, is_left_over

if sys.platform != "win32":
    import fcntl

_OWNER: Final = r"owner\.([0-9a-f]+)"
_UNFINISHED: Final = "a value that was not written to its end. No reader finds it, and nothing is lost."


def find_faults(survey: Survey) -> Iterator[Fault]:
    """Yield the left-overs in the store, and, for a folder or a zip file, beside it."""
    if isinstance(survey.store, LocalStore):
        yield from _in_folder(survey, os.fspath(survey.store.root))
    else:
        yield from _among_keys(survey)
    yield from _jobs(survey)
    if not survey.path:
        yield from _beside(survey.store)


def _jobs(survey: Survey) -> Iterator[Fault]:
    """Yield the notes of tools that have not ended."""
    text = (
        "notes of a tool that has not ended. Call it again with resume=True; or remove this folder, and what the tool "
        "has made."
    )
    names = survey.runner.run(ask_steps(ListDir("")))
    for name in unfinished(survey.store, names, survey.path):
        yield Fault("left-over-job", name, "", text)


def _among_keys(survey: Survey) -> Iterator[Fault]:
    """Yield left-overs under keys that the store lists."""
    folders: set[str] = set()
    for key in survey.stream():
        if not is_left_over(key):
            continue
        parts = key.split("/")
        hidden = next((name for name in (LOCKS_FOLDER, JOURNAL_FOLDER) if name in parts[:-1]), None)
        if hidden is None:
            name = next(part for part in parts if is_partial(part))
            if not _is_being_written(name):
                yield Fault("left-over-value", key, _node_of(parts), _UNFINISHED, mendable=True)
            continue
        folder = "/".join(parts[: parts.index(hidden) + 1])
        if hidden == JOURNAL_FOLDER:
            if folder not in folders:
                folders.add(folder)
                yield _journal(folder)
        elif not _is_leased(survey, key):
            text = "a lock without a holder. It does no harm."
            yield Fault("left-over-locks", key, _node_of(parts), text, mendable=True)


def _node_of(parts: list[str]) -> str:
    return "/".join(parts[:-1]).partition(f"{LOCKS_FOLDER}")[0].rstrip("/")


def _is_leased(survey: Survey, key: str) -> bool:
    """Return True if a lease may have a holder: one without an owner was released."""
    raw = survey.runner.run(ask_steps(Get(key)))
    with suppress(ValueError, AttributeError):
        return json.loads(raw.to_bytes()).get("owner") is not None
    return False


def _is_being_written(name: str) -> bool:
    owner = partial_owner(name)
    return owner is not None and is_alive(owner)


def _journal(key: str) -> Fault:
    text = (
        "a transaction that was decided and not carried out to its end. Open the folder as a store that may be "
        "written to: it is carried out then."
    )
    return Fault("left-over-journal", key, "", text)


# ------------------------------------------------------------------------------------------------- folders


def _in_folder(survey: Survey, root: str) -> Iterator[Fault]:
    """Yield left-overs in a folder; a store does not list them."""
    top = os.path.join(root, survey.path) if survey.path else root
    stack = [(top, survey.path)]
    while stack:
        folder, path = stack.pop()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                key = f"{path}/{entry.name}" if path else entry.name
                if entry.name == REPAIR_FOLDER or key.startswith(JOB_PREFIX):
                    continue
                fault = _fault_of(entry, key, path)
                if fault is not None:
                    yield fault
                elif entry.name != LOCKS_FOLDER and not is_partial(entry.name) and entry.is_dir(follow_symlinks=False):
                    stack.append((entry.path, key))


def _fault_of(entry: os.DirEntry[str], key: str, path: str) -> Fault | None:
    if is_partial(entry.name):
        unfinished = not _is_being_written(entry.name)
        return Fault("left-over-value", key, path, _UNFINISHED, mendable=True) if unfinished else None
    if entry.name == LOCKS_FOLDER:
        if _is_locked(entry.path):
            return None
        text = "a folder of lock files without a lock. It does no harm; processes that lock create it again."
        return Fault("left-over-locks", key, path, text, mendable=True)
    if entry.name == JOURNAL_FOLDER and entry.is_dir(follow_symlinks=False):
        with suppress(OSError):
            owners = [re.fullmatch(_OWNER, name) for name in os.listdir(entry.path)]
            if any(owner is not None and is_alive(int(owner[1], 16)) for owner in owners):
                return None
        return _journal(key)
    return None


if sys.platform == "win32":

    def _is_locked(folder: str) -> bool:
        return True  # on that system, a check would lock

else:

    def _is_locked(folder: str) -> bool:
        """Return True if a process has locked a file of a folder, or if that is unknown."""
        try:
            names = os.listdir(folder)
        except NotADirectoryError:
            return False
        except OSError:
            return True
        return any(_has_lock(os.path.join(folder, name)) for name in names)

    def _has_lock(path: str) -> bool:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False


def _beside(store: Any) -> Iterator[Fault]:
    """Yield left-overs of writers of a whole store beside it: a new root, or a new zip file, that got no name."""
    if not isinstance(store, LocalStore | ZipStore):
        return
    place = store.root if isinstance(store, LocalStore) else store.path
    if place is None:
        return
    folder, name = os.path.split(os.path.realpath(place))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            ours = entry.name.startswith(f".{name[:32]}") and is_partial(entry.name)
            if ours and not _is_being_written(entry.name):
                text = f"it lies beside the store and was to replace it: {_UNFINISHED} Delete it."
                yield Fault("left-over-value", f"../{entry.name}", "", text)
