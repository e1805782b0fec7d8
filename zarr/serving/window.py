"""Data in a window of a notebook or a browser."""

from __future__ import annotations

import html
import urllib.parse
from typing import TYPE_CHECKING, Any

from zarr._lazy import LazyModule, load_extra
from zarr.arrays.array import Array
from zarr.groups.group import Group
from zarr.serving.server import Server

if TYPE_CHECKING:
    from zarr.serving import viewer
    from zarr.storage.resolve import StoreLike
else:
    viewer = LazyModule("zarr.serving.viewer")


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
