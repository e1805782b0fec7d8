"""The application: it answers requests for keys and folders of a store, and makes changes that a token allows."""

from __future__ import annotations

import errno
import gzip
import hmac
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Literal

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from zarr.abc.store import Store
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import BaseZarrError, KeyNotAllowedError, MetadataValidationError, NotAValueError, ReadOnlyError
from zarr.runners.choose import runner_for
from zarr.serving.format3 import show_as_format_3
from zarr.serving.listings import Listing, has_folder, list_folder
from zarr.serving.requests import RefusedError, names_tag, parse_key, parse_range, takes_gzip
from zarr.serving.values import PIECE, Value, ask, open_value
from zarr.steps.requests import Delete, Put, Size
from zarr.storage.keys import METADATA_NAMES, join
from zarr.storage.local.store import LocalStore
from zarr.storage.path import StorePath
from zarr.storage.resolve import StoreLike, resolve_store_path

DOCUMENTS: Final = METADATA_NAMES | {"attributes.json"}
"""The names of documents, which are text and may be sent compressed; all other values are sent as they are stored."""

LONGEST_BODY: Final = 2 << 30
"""Maximum number of bytes of a value in a request: it is in memory until it is stored."""

_EXPOSED: Final = ("Accept-Ranges", "Content-Range", "Content-Length", "Content-Encoding", "ETag")
_ALWAYS: Final = {"accept-ranges": "bytes", "cache-control": "no-cache", "x-content-type-options": "nosniff"}


class ValueResponse(StreamingResponse):
    """An answer that is read from an open value piece by piece, and closes the value at the end in any case."""

    def __init__(self, value: Value, bounds: tuple[int, int], status: int, headers: dict[str, str]) -> None:
        self.value, self.bounds = value, bounds
        super().__init__(self._pieces(), status, headers)

    async def _pieces(self) -> AsyncIterator[bytes]:
        start, stop = self.bounds
        while start < stop:
            end = min(start + PIECE, stop)
            piece = await run_in_threadpool(self.value.read, start, end)
            if len(piece) != end - start:  # too late for another status: the connection is closed
                raise RuntimeError(f"a value became shorter while it was sent: {end} bytes expected")
            yield piece
            start = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.value.close()


class _Application:
    """Answer requests for a place in a store."""

    def __init__(self, place: StorePath, token: str | None) -> None:
        self.store: Store = place.store
        self.path, self.token = place.path, token
        self.runner = runner_for(self.store)  # kept: it must live while the application is used

    async def answer(self, request: Request) -> Response:
        """Answer a request; a request that cannot be served gets a status of 4xx and a line of text."""
        scope = request.scope
        try:
            raw_path = scope.get("raw_path") or b""
            key = parse_key(raw_path, scope.get("root_path", ""))
            if request.method in ("PUT", "DELETE"):
                return await self._change(request, key)
            return await run_in_threadpool(self._look, request, key)
        except (RefusedError, BaseZarrError, OSError) as error:
            refused = refusal_of(error)
            return PlainTextResponse(f"{refused.text}\n", refused.status, {**_ALWAYS, **refused.headers})

    # Reading, in a thread of the pool

    def _look(self, request: Request, key: str) -> Response:
        if not key or key.endswith("/"):
            return self._list(request, key)
        value = self._open(request, join(self.path, key))
        if value is None:
            return self._missing(request, key)
        try:
            response = self._send(request, key, value)
        except BaseException:
            value.close()
            raise
        if not isinstance(response, ValueResponse):
            value.close()
        return response

    def _open(self, request: Request, key: str) -> Value | None:
        whole = request.method == "GET" and "range" not in request.headers
        try:
            return open_value(self.store, key, whole)
        except (IsADirectoryError, NotADirectoryError, FileNotFoundError):
            return None

    def _missing(self, request: Request, key: str) -> Response:
        if key.rpartition("/")[2] not in DOCUMENTS and has_folder(self.store, join(self.path, key)):
            return Response(None, 307, {**_ALWAYS, "location": request.scope["raw_path"].decode("ascii") + "/"})
        raise RefusedError(404, f"there is no key {key!a}")

    def _send(self, request: Request, key: str, value: Value) -> Response:
        asked, head = request.headers, request.method == "HEAD"
        document = key.rpartition("/")[2] in DOCUMENTS
        packed = document and not head and "range" not in asked and takes_gzip(asked.get("accept-encoding"))
        headers = _headers_of(value, document, packed)
        if any(names_tag(asked.get("if-none-match"), tag) for tag in (value.tag, f"{value.tag}-gzip") if value.tag):
            return Response(None, 304, headers)
        if packed:
            headers["content-encoding"] = "gzip"
            return Response(gzip.compress(value.read(0, value.size), 5, mtime=0), 200, headers)
        found = None
        if asked.get("if-range") in (None, headers.get("etag")):
            found = parse_range(asked.get("range"), value.size)
        start, stop = found or (0, value.size)
        if found is not None:
            headers["content-range"] = f"bytes {start}-{stop - 1}/{value.size}"
        headers["content-length"] = str(stop - start)
        status = 200 if found is None else 206
        if head:
            return Response(None, status, headers)
        if stop - start > PIECE:
            return ValueResponse(value, (start, stop), status, headers)
        content = value.read(start, stop)
        if len(content) != stop - start:
            raise RefusedError(409, f"the value of {key!a} changes at this moment: ask again")
        return Response(content, status, headers)

    def _list(self, request: Request, key: str) -> Response:
        listing = list_folder(self.store, join(self.path, key.rstrip("/"))) if self.store.supports_listing else None
        if listing is None:
            raise RefusedError(404, f"there is no folder {key!a}, or it cannot be listed")
        shown = Listing(listing.path[len(self.path) :].strip("/"), listing.folders, listing.keys)
        wanted = request.headers.get("accept", "")
        headers = {"cache-control": "no-cache", "x-content-type-options": "nosniff", "vary": "Accept"}
        if request.query_params.get("format") == "json" or "application/json" in wanted:
            return Response(shown.to_json(), 200, headers, "application/json")
        return HTMLResponse(shown.to_html(request.scope.get("root_path", "")), 200, headers)

    # Changes

    async def _change(self, request: Request, key: str) -> Response:
        self._check_allowed(request, key)
        key = join(self.path, key)
        if request.method == "PUT":
            value = default_buffer_prototype().buffer.from_bytes(await _body_of(request))
            await run_in_threadpool(ask, self.store, Put(key, value))
        else:
            await run_in_threadpool(self._delete, key)
        return Response(None, 204)

    def _check_allowed(self, request: Request, key: str) -> None:
        if self.token is None:
            raise RefusedError(405, "this store is served for reading only", {"allow": "GET, HEAD, OPTIONS"})
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode("latin-1"), f"Bearer {self.token}".encode("latin-1", "replace")):
            raise RefusedError(401, "changes need the token", {"www-authenticate": "Bearer"})
        if not key or key.endswith("/"):
            raise RefusedError(405, "a folder cannot be changed, only keys", {"allow": "GET, HEAD, OPTIONS"})
        if not {"if-match", "if-none-match", "if-unmodified-since", "content-range"}.isdisjoint(request.headers.keys()):
            raise RefusedError(412, "changes on conditions, and of parts of values, are not known here")

    def _delete(self, key: str) -> None:
        try:
            size = ask(self.store, Size(key))
        except (IsADirectoryError, NotADirectoryError):
            size = None
        if size is None:
            raise RefusedError(404, f"there is no key {key!a}")
        ask(self.store, Delete(key))


async def _body_of(request: Request) -> bytes:
    parts: list[bytes] = []
    length = 0
    async for part in request.stream():
        length += len(part)
        if length > LONGEST_BODY:
            raise RefusedError(413, f"a value has at most {LONGEST_BODY} bytes here")
        parts.append(part)
    return b"".join(parts)


def _headers_of(value: Value, document: bool, packed: bool) -> dict[str, str]:
    headers = {**_ALWAYS, "content-type": "application/json" if document else "application/octet-stream"}
    if document:
        headers["vary"] = "Accept-Encoding"
    if value.tag is not None:
        headers["etag"] = f'"{value.tag}-gzip"' if packed else f'"{value.tag}"'
    return headers


def refusal_of(error: Exception) -> RefusedError:
    """Return the answer for an error of a request or of the store.

    Raises
    ------
    Exception
        The error itself, if it was not caused by the request: the server logs it, and answers with 500.

    Examples
    --------
    >>> refusal_of(NotADirectoryError(20, "a file stands there")).status
    409
    """
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, ReadOnlyError):
        return RefusedError(405, "this store can only be read", {"allow": "GET, HEAD, OPTIONS"})
    if isinstance(error, MetadataValidationError):
        return RefusedError(422, f"a document of this node cannot be shown: {error}")
    if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) == errno.ENAMETOOLONG:
        return RefusedError(404, "there is no such key")
    if isinstance(error, (KeyNotAllowedError, PermissionError)):
        return RefusedError(403, "this key is not served")
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError, NotAValueError)):
        return RefusedError(409, "an object that is no value is at this key, or above it")
    raise error


def make_app(
    store: StoreLike,
    *,
    path: str = "",
    token: str | None = None,
    show_as: Literal["v3"] | None = None,
    origins: Sequence[str] = ("*",),
    storage_options: dict[str, Any] | None = None,
) -> Starlette:
    """Make an ASGI application that serves a store; any server runs it, and other applications can mount it.

    Parameters
    ----------
    store : StoreLike
        A store, a path or a URL. In a folder given by its path, links that lead out of it are not followed; give a
        ``LocalStore`` to follow them.
    path : str, default ""
        The path in the store to serve.
    token : str, optional
        A client that sends it (``Authorization: Bearer TOKEN``) may store and delete keys. By default no client may.
    show_as : {"v3"}, optional
        Show hierarchies of format 2, of N5 and of the drafts of format 3 as hierarchies of format 3, read-only.
    origins : sequence of str, default ("*",)
        The web sites whose pages may read and change the served data, as browsers name them; "*" for all.
    storage_options : dict, optional
        Options of the store of a URL.

    Returns
    -------
    Starlette

    Raises
    ------
    FileNotFoundError
        If nothing is at the path.
    ValueError
        If ``show_as`` has another value, or a token is given for a read-only store, or is empty.

    Examples
    --------
    >>> from zarr.serving import make_app
    >>> app = make_app({})
    >>> [route.path for route in app.routes]
    ['/{path:path}']
    """
    place = find_place(store, path, show_as, storage_options, writable=token is not None)
    if token is not None and (place.store.read_only or not token.isascii() or not token.strip()):
        why = "the store can only be read" if place.store.read_only else "it must be of letters, digits and the like"
        raise ValueError(f"no token can be used: {why}")
    cors = Middleware(
        CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "HEAD", "PUT", "DELETE"],
        allow_headers=["*"], expose_headers=_EXPOSED, max_age=86400,
    )  # fmt: skip
    methods = ["GET", "HEAD", "PUT", "DELETE"]
    route = Route("/{path:path}", _Application(place, token).answer, methods=methods)
    return Starlette(routes=[route], middleware=[cors])


def find_place(
    store: StoreLike,
    path: str,
    show_as: str | None,
    storage_options: dict[str, Any] | None = None,
    *,
    writable: bool,
) -> StorePath:
    """Return the place to serve: in a store that follows no links out of its folder, and in the right layout.

    Raises
    ------
    FileNotFoundError
        If nothing is at the path.
    ValueError
        If ``show_as`` is neither "v3" nor None.

    Examples
    --------
    >>> find_place({}, "a", "v3", writable=False).store.read_only
    True
    """
    if show_as not in (None, "v3"):
        raise ValueError(f"show_as must be 'v3' or None, got {show_as!r}")
    place = resolve_store_path(store, path=path, mode="r+" if writable else "r", storage_options=storage_options)
    if isinstance(store, (str, os.PathLike)) and type(place.store) is LocalStore:
        inside = LocalStore(place.store.root, read_only=place.store.read_only, links="inside")
        place = StorePath(inside, place.path)
    return place if show_as is None else StorePath(show_as_format_3(place), "")
