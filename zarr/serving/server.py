"""A server in a thread of a program, or as the whole program; and data in a window of a notebook or a browser."""

from __future__ import annotations

import contextlib
import html
import socket
import threading
import urllib.parse
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal

from zarr._lazy import LazyModule, load_extra
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.storage.resolve import StoreLike

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from zarr.serving import application, viewer
else:
    application, viewer = LazyModule("zarr.serving.application"), LazyModule("zarr.serving.viewer")

USUAL_PORT: Final = 8000
"""The port of the command, if it is free."""

_START_SECONDS: Final = 30.0
_END_SECONDS: Final = 5


class Server:
    """A server of an application, in a thread of its own.

    ``with server as url`` starts it, and stops it at the end. ``run`` serves in the thread of the caller.

    Parameters
    ----------
    app : ASGI application
        What answers the requests.
    host : str, default "127.0.0.1"
        The address to listen at: this computer only; "0.0.0.0" can be reached from others, too.
    port : int, default 0
        0 chooses a free one.

    Raises
    ------
    OSError
        If the port is in use, or the address does not belong to this computer.

    Examples
    --------
    >>> from zarr.serving import Server, make_app
    >>> with Server(make_app({})) as url:
    ...     url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> None:
        uvicorn = load_extra("uvicorn", "serve", "a server")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Bound here, so that the caller gets an error at once, and knows the port.
        self._socket = socket.create_server((host, port), family=family, backlog=2048)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        config = uvicorn.Config(
            app, log_config=None, log_level="warning", access_log=False, lifespan="off", ws="none",
            server_header=False, proxy_headers=False, timeout_keep_alive=30, timeout_graceful_shutdown=_END_SECONDS,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The URL of the root, without a slash at its end; a server at all addresses has that of this computer."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def run(self) -> None:
        """Serve until Ctrl-C, or a signal to end."""
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def start(self) -> str:
        """Start the thread, and return the URL when the server answers.

        Returns
        -------
        str
            The address, without a slash at its end.

        Raises
        ------
        RuntimeError
            If it was started before, or does not start.
        """
        if self._thread is not None:
            raise RuntimeError("a server is started once: make a new one")
        self._thread = threading.Thread(target=self.run, name="zarr-serve", daemon=True)
        self._thread.start()
        waiting = threading.Event()
        for _ in range(int(_START_SECONDS / 0.005)):
            if self._server.started:
                return self.url
            if not self._thread.is_alive():
                break
            waiting.wait(0.005)
        raise RuntimeError("the server does not start")

    def stop(self) -> None:
        """End the server; running requests may take some seconds to end."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_END_SECONDS + 5)
        self._socket.close()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def serve(
    store: StoreLike,
    *,
    path: str = "",
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    show_as: Literal["v3"] | None = None,
    origins: Sequence[str] = ("*",),
    storage_options: dict[str, Any] | None = None,
) -> Server:
    """Return a server of a store: ``with serve(store) as url`` serves while the block runs.

    Parameters
    ----------
    store : StoreLike
        A store, a path or a URL. In a folder given by its path, links that lead out of it are not followed; give a
        ``LocalStore`` to follow them.
    path : str, default ""
        The path in the store to serve.
    host : str, default "127.0.0.1"
        The address to listen at: this computer only; "0.0.0.0" can be reached from others, too.
    port : int, default 0
        0 chooses a free one.
    token : str, optional
        A client that sends it (``Authorization: Bearer TOKEN``) may store and delete keys. By default no client may.
    show_as : {"v3"}, optional
        Show hierarchies of format 2, of N5 and of the drafts of format 3 as hierarchies of format 3, read-only.
    origins : sequence of str, default ("*",)
        The web sites whose pages may read and change the served data; "*" for all.
    storage_options : dict, optional
        Options of the store of a URL.

    Returns
    -------
    Server

    Raises
    ------
    ImportError
        If starlette or uvicorn is not installed; the extra ``serve`` has them.
    FileNotFoundError
        If nothing is at the path.
    OSError
        If the port is in use.
    ValueError
        If ``show_as`` has another value, or a token is given for a read-only store.

    Examples
    --------
    >>> from zarr.serving import serve
    >>> import urllib.request
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(4,), dtype="i4")
    >>> with serve(array.store) as url:
    ...     urllib.request.urlopen(f"{url}/zarr.json").headers["content-type"]
    'application/json'
    """
    load_extra("starlette", "serve", "a server")
    app = application.make_app(
        store, path=path, token=token, show_as=show_as, origins=origins, storage_options=storage_options
    )
    return Server(app, host, port)


class View:
    """A page that shows data, and the server behind it; a notebook shows the page in a frame.

    Parameters
    ----------
    server : Server
        A started server.
    node : str
        The path of the node to show first.
    height : int
        The height of the frame, in pixels.

    Examples
    --------
    >>> from zarr.serving import View
    >>> View.__name__
    'View'
    """

    def __init__(self, server: Server, node: str, height: int) -> None:
        self._server, self._node, self._height = server, node, height

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self._server.url}/view/#node={urllib.parse.quote(self._node)}"

    def __repr__(self) -> str:
        return f"<View {self.url}>"

    def _repr_html_(self) -> str:
        """Return a frame with the page."""
        style = f"width: 100%; height: {self._height}px; border: 0"
        return f'<iframe src="{html.escape(self.url)}" style="{style}" title="zarr view"></iframe>'

    def close(self) -> None:
        """End the server; the page shows nothing new after that."""
        self._server.stop()


def view(node: Array[Any] | Group | StoreLike, *, height: int = 700, port: int = 0) -> View:
    """Show an array, a group or a whole store in a notebook, or at an address for a browser.

    A server in a thread of this process serves the data to this computer only, until the view is closed or the process
    ends.

    Parameters
    ----------
    node : Array, Group or StoreLike
        The data to show.
    height : int, default 700
        The height of the frame in a notebook, in pixels.
    port : int, default 0
        0 chooses a free one.

    Returns
    -------
    View
        A notebook shows it as a frame; ``view.url`` is the address of the page.

    Raises
    ------
    ImportError
        If starlette or uvicorn is not installed; the extra ``serve`` has them.
    FileNotFoundError
        If the page has not been built (``ci/viewer.sh``).

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, data=[[1, 2], [3, 4]])
    >>> shown = view(array)  # doctest: +SKIP
    >>> shown.url, shown.close()  # doctest: +SKIP
    """
    load_extra("starlette", "serve", "a server")
    store, path = (node.store, node.path) if isinstance(node, Array | Group) else (node, "")
    server = Server(viewer.make_view_app(store), port=port)
    server.start()
    return View(server, path, height)
