"""Folders of a store, listed as JSON or as a page of links."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from zarr.abc.store import Store
from zarr.serving.values import ask
from zarr.steps.requests import Gather, ListDir, Size, Steps
from zarr.storage.keys import METADATA_NAMES, RESERVED_NAMES, dir_prefix, join

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title></head>
<body><h1>{title}</h1>
<ul>
{items}
</ul>
</body></html>
"""
_IN_LINKS = "".join(map(chr, range(0x21, 0x7F))).translate(dict.fromkeys(map(ord, "%?#\"'<>&")))
"""Characters that stay unquoted in links: programs that read pages as listings do not decode names."""


@dataclass(frozen=True)
class Listing:
    """The names directly below a folder.

    Parameters
    ----------
    path : str
        The path of the folder in the store, without slashes at its ends.
    folders, keys : tuple of str
        The names of folders, and of keys with a value; sorted.
    """

    path: str
    folders: tuple[str, ...]
    keys: tuple[str, ...]

    def to_json(self) -> str:
        """Return an object of JSON with the members ``path``, ``folders`` and ``keys``.

        Examples
        --------
        >>> Listing("a", ("c",), ("zarr.json",)).to_json()
        '{"path": "a", "folders": ["c"], "keys": ["zarr.json"]}'
        """
        return json.dumps({"path": self.path, "folders": self.folders, "keys": self.keys})

    def to_html(self, root_path: str = "") -> str:
        """Return a page with a link for each name; those of folders end with a slash.

        Parameters
        ----------
        root_path : str
            The beginning of the paths of URLs before keys, without a slash at its end.
        """
        folder = dir_prefix(self.path)
        names = [*(f"{name}/" for name in self.folders), *self.keys]
        above = ['<li><a href="../">../</a></li>'] if self.path else []
        items = [f'<li><a href="{_link(f"{root_path}/{folder}{name}")}">{escape(name)}</a></li>' for name in names]
        return _PAGE.format(title=escape(f"/{folder}"), items="\n".join(above + items))


def _link(path: str) -> str:
    # Unquoted if that is safe: browsers quote spaces and letters beyond ASCII.
    return "".join(letter if letter > "~" or letter == " " else quote(letter, safe=_IN_LINKS) for letter in path)


def list_folder(store: Store, folder: str) -> Listing | None:
    """Return the names directly below a folder; None if there are none, unless it is the root.

    Parameters
    ----------
    store : Store
    folder : str
        The folder with or without a slash at its end; empty for the root.

    Examples
    --------
    >>> import zarr
    >>> root = zarr.group({})
    >>> _ = root.create_array("x", shape=(1,), dtype="i1")
    >>> list_folder(root.store, "")
    Listing(path='', folders=('x',), keys=('zarr.json',))
    """
    path = folder.rstrip("/")
    names = sorted(set(ask(store, ListDir(path))) - RESERVED_NAMES)
    if path and not names:
        return None
    unknown = [name for name in names if name not in METADATA_NAMES]
    kinds = dict(zip(unknown, ask(store, Gather(_kind_steps(join(path, name)) for name in unknown)), strict=True))
    folders = tuple(name for name in unknown if kinds[name] == "folder")
    return Listing(path, folders, tuple(name for name in names if kinds.get(name, "key") == "key"))


def _kind_steps(key: str) -> Steps[str]:
    try:
        size = yield Size(key)
    except IsADirectoryError:
        return "folder"
    except OSError:  # a link that leads nowhere, a socket: it cannot be read
        return "neither"
    return "folder" if size is None else "key"


def has_folder(store: Store, path: str) -> bool:
    """Return True if there is something below a path, as far as the store can list it.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> has_folder(MemoryStore(), "a")
    False
    """
    if not store.supports_listing:
        return False
    try:
        return bool(ask(store, ListDir(path)))
    except OSError:
        return False
