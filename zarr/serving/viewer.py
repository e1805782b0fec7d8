"""The page of ``zarr view``: a server of data with a page that shows them in a browser.

The page is built from ``viewer`` by ``ci/viewer.sh``. It reads chunks by zarrita.js: another implementation than this
one. ``/values`` gives as text the values that zarrita has no type for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import zarr
from zarr.arrays.array import Array
from zarr.errors import BaseZarrError
from zarr.serving.application import find_place, make_app
from zarr.storage.path import StorePath
from zarr.storage.resolve import StoreLike

PAGE: Final = Path(__file__).parent / "page"
MOST_ROWS: Final = 10_000


def make_view_app(
    store: StoreLike,
    *,
    path: str = "",
    show_as: Literal["v3"] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Starlette:
    """Make an ASGI application that shows data in a browser: the page at ``/view/``, the data at ``/data/``.

    Parameters
    ----------
    store : StoreLike
        A store, a path or a URL.
    path : str, default ""
        The path in the store to show: a group or an array.
    show_as : {"v3"}, optional
        Show hierarchies of N5 and of the drafts of format 3, which the page does not read itself.
    storage_options : dict, optional
        Options of the store of a URL.

    Returns
    -------
    Starlette

    Raises
    ------
    FileNotFoundError
        If nothing is at the path, or the page has not been built.

    Examples
    --------
    >>> app = make_view_app({})  # doctest: +SKIP
    """
    if not (PAGE / "index.html").exists():
        raise FileNotFoundError("the page of the viewer is not built: run 'bash ci/viewer.sh' (needs node)")
    place = find_place(store, path, show_as, storage_options, writable=False)

    async def values(request: Request) -> Response:
        rows = request.query_params.get("rows", "1000")
        if not rows.isdecimal():
            return PlainTextResponse(f"rows must be a number, got {rows!r}\n", 400)
        return await run_in_threadpool(values_response, place, request.path_params["path"], min(MOST_ROWS, int(rows)))

    return Starlette(
        routes=[
            Route("/", lambda request: RedirectResponse("view/")),
            Route("/values/{path:path}", values),
            Mount("/data", make_app(store, path=path, show_as=show_as, storage_options=storage_options)),
            Mount("/view", StaticFiles(directory=PAGE, html=True)),
        ]
    )


def values_response(place: StorePath, path: str, rows: int) -> Response:
    """Answer with the first values of an array as text: a column for each field, or for each of some elements."""
    try:
        array = zarr.open_array(place / path if path else place, mode="r")
    except (BaseZarrError, OSError, ValueError) as error:
        return PlainTextResponse(f"{error}\n", 404)
    header, cells = table_of(array, rows)
    return Response(json.dumps({"header": header, "rows": cells}), media_type="application/json")


def table_of(array: Array[Any], rows: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns, and the first rows of the last axes as text.

    Parameters
    ----------
    array : Array
    rows : int
        Maximum number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> table_of(zarr.array(np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")), 1)
    (['value'], [['2020-01-01']])
    """
    first = (0,) * max(0, array.ndim - 2) + (slice(rows), slice(20))[: array.ndim]
    found = np.asarray(array[first])
    if found.dtype.names:
        names = list(found.dtype.names)
        return names, [[text_of(record[name]) for name in names] for record in found.reshape(-1)[:rows]]
    columns = found.shape[1] if found.ndim == 2 else 1
    header = [str(column) for column in range(columns)] if found.ndim == 2 else ["value"]
    return header, [[text_of(value) for value in row] for row in found.reshape(-1, columns)]


def text_of(value: Any) -> str:
    """Return an element as text; bytes are read as UTF-8.

    Examples
    --------
    >>> text_of(np.bytes_(b"ab")), text_of(np.float32(2.5))
    ('ab', '2.5')
    """
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
