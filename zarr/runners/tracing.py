"""A log line for every request to a store, and for every operation; no work at all if the loggers are off.

Steps are wrapped in steps that only observe, so every runner writes the same lines and works in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, TypeVar

from zarr.logs import DEBUG, loggers
from zarr.steps import requests
from zarr.steps.requests import Steps
from zarr.types import printable

T = TypeVar("T")
ARRAY_LOG, GROUP_LOG, STORE_LOG, _ = loggers()

_VERBS: dict[type, str] = {
    requests.Get: "get",
    requests.GetMany: "get",
    requests.GetVersions: "get",
    requests.GetRanges: "get parts of",
    requests.GetParts: "get parts of",
    requests.Put: "set",
    requests.PutIfAbsent: "set if absent",
    requests.Splice: "replace parts of",
    requests.Delete: "delete",
    requests.DeleteMany: "delete",
    requests.DeletePrefix: "delete all below",
    requests.Rename: "rename",
    requests.List: "list all below",
    requests.ListDir: "list",
    requests.Size: "size of",
    requests.Stamp: "stamp of",
    requests.FreshStamp: "stamp of",
    requests.LastStamp: "last stamp of",
}
_SILENT = (requests.Hold, requests.Await)


def subject_of(steps: Any) -> str:
    """Return the path that an operation is about: its first argument, a handle, a place in a store, or a path.

    Steps that have begun, and steps without such an argument, have none.
    """
    frame = getattr(steps, "gi_frame", None)
    if frame is None or not frame.f_code.co_argcount:
        return ""
    first = frame.f_locals.get(frame.f_code.co_varnames[0])
    place = getattr(first, "store_path", first)
    path = getattr(place, "path", place)
    return path if isinstance(path, str) else ""


class _Operation:
    """The data of one operation, logged in one line when it has ended."""

    def __init__(self, steps: Any) -> None:
        frame = getattr(steps, "gi_frame", None)
        module = "" if frame is None else frame.f_globals.get("__name__", "")
        self.name = str(getattr(steps, "__name__", "steps")).strip("_").removesuffix("_steps").replace("_", " ")
        self.path = subject_of(steps)
        self.log = ARRAY_LOG if module.startswith("zarr.arrays") or "array" in self.name else GROUP_LOG
        self.requests = 0
        self.nbytes = 0

    def log_end(self, milliseconds: float, error: BaseException | None) -> None:
        """Log the operation."""
        outcome = "" if error is None else f", {type(error).__name__}"
        self.log.debug(
            "%s /%s: %d requests, %d bytes, %.3f ms%s",
            self.name,
            printable(self.path),
            self.requests,
            self.nbytes,
            milliseconds,
            outcome,
            extra={"key": self.path, "nbytes": self.nbytes, "milliseconds": milliseconds},
        )


def _keys_of(request: Any) -> str:
    """Return the subject of a request: a key, or the first of several and the number of the others."""
    if type(request) is requests.Transfer:
        names: Sequence[str] = request.names()
    elif type(request) in (requests.GetMany, requests.GetVersions, requests.DeleteMany):
        names = request.keys
    else:
        return str(getattr(request, "key", getattr(request, "prefix", "")))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}" if names else "nothing"


def _count_bytes(request: Any, reply: Any) -> int:
    """Return the bytes read or written; those of a bulk transfer are counted decoded."""
    kind = type(request)
    if kind is requests.Transfer:
        return int(request.nbytes)
    if kind in (requests.Put, requests.PutIfAbsent):
        return len(request.value)
    if kind is requests.Splice:
        return sum([len(part) for part in request.parts if not isinstance(part, tuple)])
    if kind is requests.Get:
        return 0 if reply is None else len(reply)
    if kind is requests.GetVersions:
        reply = [value for value, _ in reply or ()]
    if kind in (requests.GetMany, requests.GetVersions, requests.GetRanges, requests.GetParts):
        return sum([len(value) for value in reply or () if value is not None])
    return 0


def _log_request(operation: _Operation, request: Any, reply: Any, start: float, error: BaseException | None) -> None:
    if isinstance(request, _SILENT):
        return
    milliseconds = 1000 * (perf_counter() - start)
    nbytes = 0 if error is not None else _count_bytes(request, reply)
    operation.requests += 1
    operation.nbytes += nbytes
    if not STORE_LOG.isEnabledFor(DEBUG):
        return
    kind = type(request)
    verb = request.direction if kind is requests.Transfer else _VERBS.get(kind, kind.__name__)
    subject = _keys_of(request)
    if error is not None:
        outcome = f", {type(error).__name__}"
    else:
        outcome = ", nothing" if reply is None and verb == "get" else ""
    STORE_LOG.debug(
        "%s %s: %d bytes, %.3f ms%s",
        verb,
        printable(subject),
        nbytes,
        milliseconds,
        outcome,
        extra={"key": subject, "nbytes": nbytes, "milliseconds": milliseconds},
    )


def traced(steps: Steps[T]) -> Steps[T]:
    """Return the same steps, with a log line for every request and one for the whole operation.

    Parameters
    ----------
    steps : generator of requests
        Steps that have not begun.
    """
    operation, start = _Operation(steps), perf_counter()
    error: BaseException | None = None
    try:
        return (yield from _watched(steps, operation))
    except BaseException as raised:
        error = raised
        raise
    finally:
        operation.log_end(1000 * (perf_counter() - start), error)


def _watched(steps: Steps[T], operation: _Operation) -> Steps[T]:
    try:
        request = next(steps)
        while True:
            start = perf_counter()
            try:
                if type(request) is requests.Gather:
                    reply = yield _gather_watched(request, operation)
                elif type(request) is requests.Staged:
                    reply = yield request.with_steps(_watched(request.steps, operation))
                else:
                    reply = yield request
                    _log_request(operation, request, reply, start, None)
            except Exception as error:
                if type(request) not in (requests.Gather, requests.Staged):
                    _log_request(operation, request, None, start, error)
                request = steps.throw(error)
            else:
                request = steps.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        steps.close()


def _gather_watched(request: requests.Gather, operation: _Operation) -> requests.Gather:
    children = (_watched(child, operation) for child in request.steps)
    listed = list(children) if isinstance(request.steps, list | tuple) else children
    return requests.Gather(listed, only_requests=request.only_requests)
