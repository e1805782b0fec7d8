"""A line in the log for every request to a store, and one for every operation; nothing at all where nobody listens.

Steps are wrapped in steps that look on, so every runner leaves the same lines, and none does its work another way.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from zarr.logs import DEBUG, loggers
from zarr.steps.requests import (
    Await,
    Delete,
    DeletePrefix,
    Gather,
    Get,
    GetMany,
    GetParts,
    GetRanges,
    Hold,
    List,
    ListDir,
    Put,
    PutIfAbsent,
    Size,
    Splice,
    Staged,
    Stamp,
    Transfer,
)
from zarr.types import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr.steps.requests import Steps

T = TypeVar("T")
ARRAY_LOG, GROUP_LOG, STORE_LOG, _ = loggers()

_VERBS: dict[type, str] = {
    Get: "get",
    GetMany: "get",
    GetRanges: "get parts of",
    GetParts: "get parts of",
    Put: "set",
    PutIfAbsent: "set if absent",
    Splice: "replace parts of",
    Delete: "delete",
    DeletePrefix: "delete all below",
    List: "list all below",
    ListDir: "list",
    Size: "size of",
    Stamp: "stamp of",
}
_SILENT = (Hold, Await)


class _Operation:
    """What is told of one operation when it has ended."""

    def __init__(self, steps: Any) -> None:
        frame = getattr(steps, "gi_frame", None)
        names: dict[str, Any] = {} if frame is None else frame.f_locals
        module = "" if frame is None else frame.f_globals.get("__name__", "")
        self.name = str(getattr(steps, "__name__", "steps")).strip("_").removesuffix("_steps").replace("_", " ")
        place = next((names[name] for name in ("handle", "store_path", "place", "path") if name in names), None)
        place = getattr(place, "store_path", place)
        self.path = getattr(place, "path", place if isinstance(place, str) else "")
        of_array = module.startswith("zarr.arrays") or "array" in self.name
        self.log = ARRAY_LOG if of_array else GROUP_LOG
        self.requests = 0
        self.nbytes = 0

    def tell(self, milliseconds: float, error: BaseException | None) -> None:
        """Leave the line of the operation."""
        fate = "" if error is None else f", {type(error).__name__}"
        self.log.debug(
            "%s /%s: %d requests, %d bytes, %.3f ms%s",
            self.name,
            printable(self.path),
            self.requests,
            self.nbytes,
            milliseconds,
            fate,
            extra={"key": self.path, "nbytes": self.nbytes, "milliseconds": milliseconds},
        )


def _subject(request: Any) -> str:
    """What a request is about: a key, or the first of several and how many more there are."""
    if type(request) is Transfer:
        names: Sequence[str] = request.names()
    elif type(request) is GetMany:
        names = request.keys
    else:
        return str(getattr(request, "key", getattr(request, "prefix", "")))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}" if names else "nothing"


def _count_bytes(request: Any, reply: Any) -> int:
    """The bytes that went one way or the other; those of a bulk transfer are counted decoded."""
    kind = type(request)
    if kind is Transfer:
        return int(request.nbytes)
    if kind in (Put, PutIfAbsent):
        return len(request.value)
    if kind is Splice:
        return sum([len(part) for part in request.parts if not isinstance(part, tuple)])
    if kind is Get:
        return 0 if reply is None else len(reply)
    if kind in (GetMany, GetRanges, GetParts):
        return sum([len(value) for value in reply or () if value is not None])
    return 0


def _tell_request(operation: _Operation, request: Any, reply: Any, start: float, error: BaseException | None) -> None:
    if isinstance(request, _SILENT):
        return
    milliseconds = 1000 * (perf_counter() - start)
    nbytes = 0 if error is not None else _count_bytes(request, reply)
    operation.requests += 1
    operation.nbytes += nbytes
    if not STORE_LOG.isEnabledFor(DEBUG):
        return
    verb = request.direction if type(request) is Transfer else _VERBS.get(type(request), type(request).__name__)
    subject = _subject(request)
    fate = f", {type(error).__name__}" if error is not None else ", nothing" if reply is None and verb == "get" else ""
    STORE_LOG.debug(
        "%s %s: %d bytes, %.3f ms%s",
        verb,
        printable(subject),
        nbytes,
        milliseconds,
        fate,
        extra={"key": subject, "nbytes": nbytes, "milliseconds": milliseconds},
    )


def traced(steps: Steps[T]) -> Steps[T]:
    """The same steps; every request and the operation as a whole leave a line in the log.

    Parameters
    ----------
    steps : generator of requests
        Not begun.
    """
    operation, start = _Operation(steps), perf_counter()
    error: BaseException | None = None
    try:
        return (yield from _watched(steps, operation))
    except BaseException as raised:
        error = raised
        raise
    finally:
        operation.tell(1000 * (perf_counter() - start), error)


def _watched(steps: Steps[T], operation: _Operation) -> Steps[T]:
    try:
        request = next(steps)
        while True:
            start = perf_counter()
            try:
                if type(request) is Gather:
                    reply = yield _gather_watched(request, operation)
                elif type(request) is Staged:
                    reply = yield request.with_steps(_watched(request.steps, operation))
                else:
                    reply = yield request
                    _tell_request(operation, request, reply, start, None)
            except Exception as error:
                if type(request) not in (Gather, Staged):
                    _tell_request(operation, request, None, start, error)
                request = steps.throw(error)
            else:
                request = steps.send(reply)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


def _gather_watched(request: Gather, operation: _Operation) -> Gather:
    children = (_watched(child, operation) for child in request.steps)
    return Gather(list(children) if isinstance(request.steps, list | tuple) else children, lean=request.lean)
