"""Stores over HTTP: a server in a thread or as a command, and the application that any ASGI server runs.

May import: everything below, starlette and uvicorn (extra ``serve``). Of the upper parts, only the command line imports
it.
Read first: ``requests.py`` (the possible requests), then ``values.py`` and ``application.py``; ``format3.py`` shows
other layouts as format 3; ``viewer.py`` adds a page that shows arrays, which ``ci/viewer.sh`` builds from ``viewer``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr._lazy import lazy_door

if TYPE_CHECKING:
    from zarr.serving.application import make_app as make_app
    from zarr.serving.format3 import Format2Store as Format2Store
    from zarr.serving.server import USUAL_PORT as USUAL_PORT
    from zarr.serving.server import Server as Server
    from zarr.serving.server import View as View
    from zarr.serving.server import serve as serve
    from zarr.serving.server import view as view
    from zarr.serving.viewer import make_view_app as make_view_app

__getattr__, __dir__, __all__ = lazy_door(
    __name__,
    {
        "zarr.serving.application": "make_app",
        "zarr.serving.format3": "Format2Store",
        "zarr.serving.server": "USUAL_PORT Server View serve view",
        "zarr.serving.viewer": "make_view_app",
    },
)
