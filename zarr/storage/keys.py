"""Keys and paths: which ones are allowed, and their normal form."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Container, Iterable
from numbers import Number
from pathlib import Path
from typing import Any, Final

from zarr.errors import KeyNotAllowedError, StoreUrlError
from zarr.types import METADATA_NAMES as METADATA_NAMES

LOCKS_FOLDER: Final = ".zarr-locks"
"""The folder beside the documents and chunks of a node with the lock files of processes; it holds no keys."""

JOURNAL_FOLDER: Final = ".zarr-journal"
"""The folder in the root of a local store with a transaction while it is carried out; it holds no keys."""

TOOL_PREFIX: Final = ".zarr-"
"""Beginnings of the names of folders with notes of tools and replaced values; they are no members of a group."""

RESERVED_NAMES: Final = frozenset({LOCKS_FOLDER, JOURNAL_FOLDER})

JOB_PREFIX: Final = ".zarr-job-"
"""Beginning of the names of folders in the root of a target store with notes and intermediate arrays of a tool."""

REPAIR_FOLDER: Final = ".zarr-repair"
"""The folder in the root of a hierarchy with values that a repair has replaced; its keys are listed, but no nodes."""


# Patterns are compiled at their first use: most programs never need them.
_LONE_SURROGATE: Final = "[\ud800-\udfff]"

_CONTROL: Final = r"[\x00-\x1f\x7f]"

_DEVICE: Final = r"(?i)(?:^|/)(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])[ .]*(?:[.:][^/]*)?(?:/|$)"

WINDOWS: Final = sys.platform == "win32"

_PARTIAL: Final = r"(?s)^\..*\.([0-9a-f]+)-([0-9a-f]+)\.partial$|\.[0-9a-f]{32}\.partial$"


def is_lock(key: str) -> bool:
    """Return True if a key is a lock of processes, and so no value.

    Examples
    --------
    >>> is_lock("a/.zarr-locks/0.node"), is_lock("a/zarr.json")
    (True, False)
    """
    return f"/{LOCKS_FOLDER}/" in f"/{key}"


def ancestors(path: str) -> list[str]:
    """Return the paths above a path, nearest first, the root last.

    Examples
    --------
    >>> ancestors("a/b/c")
    ['a/b', 'a', '']
    """
    found = []
    while path:
        path = path.rpartition("/")[0]
        found.append(path)
    return found


def nearest_above(path: str, known: Container[str]) -> str | None:
    """Return the nearest of some known paths above a path; None if there is none.

    Examples
    --------
    >>> nearest_above("a/b/c", {"", "a"}), nearest_above("a/b/c", {"b"})
    ('a', None)
    """
    return next((above for above in ancestors(path) if above in known), None)


def outermost(paths: Collection[str]) -> list[str]:
    """Return those of some paths that lie below no other, in order.

    Examples
    --------
    >>> outermost({"b", "a/c", "a"})
    ['a', 'b']
    """
    return sorted(path for path in paths if nearest_above(path, paths) is None)


def is_below_any(key: str, folders: Container[str]) -> bool:
    """Return True if a key lies below one of some folders, which are looked up by name; the root is ``""``.

    Examples
    --------
    >>> is_below_any("a/b/c", {"a"}), is_below_any("a", {"a"}), is_below_any("a", {""})
    (True, False, True)
    """
    while key:
        key = key.rpartition("/")[0]
        if key in folders:
            return True
    return "" in folders


_FEW: Final = 8
"""Up to so many folders, keys are compared with each; a key costs a tenth then."""


def keys_below(keys: Iterable[str], folders: Collection[str], start: str = "") -> list[str]:
    """Return those of many keys that lie below one of some folders.

    Parameters
    ----------
    keys : iterable of str
    folders : collection of str
        The root is ``""``.
    start : str
        What the keys have in front of the names that the folders are for; keys without it are left out.

    Examples
    --------
    >>> keys_below(["a/b", "ab/c", "d"], ["a"]), keys_below(["x/a", "y/a"], [""], "x/")
    (['a/b'], ['x/a'])
    """
    if len(folders) <= _FEW:
        begins = tuple(f"{start}{folder}/" if folder else start for folder in folders)
        return [key for key in keys if key.startswith(begins)]
    known, skip = frozenset(folders), len(start)
    return [key for key in keys if key.startswith(start) and is_below_any(key[skip:], known)]


def is_normalized(path: str) -> bool:
    """Return True if an absolute path is as ``Path`` would write it; most are.

    Examples
    --------
    >>> is_normalized("/a/b"), is_normalized("/a//b"), is_normalized("/a/."), is_normalized("a")
    (True, False, False, False)
    """
    parts = f"{path}/"
    return path[:1] == "/" and not ("//" in parts or "/./" in parts or "\\" in path or "\0" in path)


def has_lone_surrogate(text: str) -> bool:
    """Return True if a text has half of a surrogate pair.

    Examples
    --------
    >>> has_lone_surrogate("\u00e9"), has_lone_surrogate("\\ud800")
    (False, True)
    """
    return not text.isascii() and re.search(_LONE_SURROGATE, text) is not None


def check_key(key: str) -> None:
    """Refuse a key that could reach outside its store.

    Raises
    ------
    KeyNotAllowedError
        If the key is empty, absolute, or has ``.``, ``..`` or empty segments, a backslash or a NUL; on Windows also if
        it begins with a drive letter, or a part is the name of a device.
    TypeError
        If it is no string.

    Examples
    --------
    >>> check_key("a/c/0/1")
    >>> check_key("../a")
    Traceback (most recent call last):
    ...
    zarr.errors.KeyNotAllowedError: key '../a' is not allowed: ...
    """
    if not isinstance(key, str):
        raise TypeError(f"a key must be a string, got {key!r} of type {type(key).__name__}")
    parts = f"/{key}/"
    # Hardly any key has a character of a forbidden part: the others need no further check.
    harmless = not ("//" in parts or "/./" in parts or "/../" in parts or "\\" in key or "\0" in key)
    if (WINDOWS or not (harmless and key.isascii())) and not is_key(key):
        raise KeyNotAllowedError(
            f"key {key!r} is not allowed: a key is relative, its parts are joined by single slashes, and it has no "
            "'.' or '..' part, backslash, NUL, character that is none or (on Windows) drive letter or name of a device"
        )


def is_key(name: object) -> bool:
    """Return True if a name in a store is that of a value with a key.

    Examples
    --------
    >>> is_key("a/b"), is_key("../a"), is_key("a/"), is_key(b"a")
    (True, False, False, False)
    """
    if not isinstance(name, str):
        return False
    parts = f"/{name}/"
    if "//" in parts or "/./" in parts or "/../" in parts or "\\" in name or "\0" in name:
        return False
    if WINDOWS and (is_device(name) or re.match(r"[A-Za-z]:", name)):
        return False
    return not has_lone_surrogate(name)


def is_device(key: str) -> bool:
    """Return True if a part of a key means a device to Windows, in any folder and with any ending.

    On other systems such names are ordinary, and arrays have them. (Microsoft, "Naming Files, Paths, and Namespaces")

    Examples
    --------
    >>> is_device("a/NUL/zarr.json"), is_device("com1.x"), is_device("console/aux2")
    (True, True, False)
    """
    return re.search(_DEVICE, key) is not None


def only_keys(names: Iterable[Any]) -> list[str]:
    """Return the names that are keys; other names in a store are not listed, since they could lead out of it.

    Examples
    --------
    >>> only_keys(["a/b", "../a", "/etc/passwd"])
    ['a/b']
    """
    return [name for name in names if is_key(name)]


def check_prefix(prefix: str) -> str:
    """Refuse a prefix that could reach outside its store.

    Parameters
    ----------
    prefix : str
        Names a folder of keys; it may end with slashes, and is empty for the root.

    Returns
    -------
    str
        The prefix, unchanged.

    Raises
    ------
    KeyNotAllowedError, TypeError
        As `check_key` does.

    Examples
    --------
    >>> check_prefix("a/b/")
    'a/b/'
    """
    folder = prefix.rstrip("/") if isinstance(prefix, str) else prefix
    if folder != "" or prefix[1:]:
        check_key(folder)
    return prefix


def check_object_key(key: str) -> None:
    """Refuse a key that could reach outside its store, or that object stores do not accept.

    Raises
    ------
    KeyNotAllowedError, TypeError
        As `check_key` does, and for control characters.

    Examples
    --------
    >>> check_object_key("a/c/0")
    """
    check_key(key)
    if re.search(_CONTROL, key):
        raise KeyNotAllowedError(f"key {key!r} is not allowed: keys of objects have no control characters")


def check_object_prefix(prefix: str) -> str:
    """Refuse a prefix as `check_object_key` refuses a key.

    Raises
    ------
    KeyNotAllowedError, TypeError

    Examples
    --------
    >>> check_object_prefix("a/b/")
    'a/b/'
    """
    if re.search(_CONTROL, check_prefix(prefix)):
        raise KeyNotAllowedError(f"prefix {prefix!r} is not allowed: keys of objects have no control characters")
    return prefix


def is_partial(name: str) -> bool:
    """Return True if a file name is that of a value that is still being written (by this library or by zarr-python)."""
    return name.endswith(".partial") and re.search(_PARTIAL, name) is not None


def partial_owner(name: str) -> int | None:
    """Return the process that writes the partial file of this name, if the name has its id."""
    match = re.search(_PARTIAL, name)
    return int(match[1], 16) if match is not None and match[1] else None


def check_local_path(path: str) -> None:
    """Refuse a path that no file system accepts.

    Raises
    ------
    StoreUrlError
        If it has a NUL, or half of a surrogate pair.

    Examples
    --------
    >>> check_local_path("a b")
    """
    if "\0" in path:
        raise StoreUrlError(f"the path {path!r} is invalid because it contains a NUL character")
    if not path.isascii():
        try:
            os.fsencode(path)
        except UnicodeEncodeError as error:
            raise StoreUrlError(f"the path {path!r} is invalid: {error}") from error


def is_upath(value: object) -> bool:
    """Return True if a value is a path of universal_pathlib; False while that package is not loaded."""
    module = sys.modules.get("upath")
    return module is not None and isinstance(value, module.UPath)


def is_fsmap(store_like: object) -> bool:
    """Return True if an object is fsspec's mapping, without importing fsspec."""
    cls = type(store_like)
    return cls.__name__ == "FSMap" and cls.__module__ == "fsspec.mapping"


def normalize_path(path: str | bytes | Path | None) -> str:
    """Return the path of a node in its normal form: no slash at either end, single slashes between the parts.

    Parameters
    ----------
    path : str, bytes, Path or None
        None is the root, as is the empty string. An object of another class with a text of its own stands for that.

    Raises
    ------
    KeyNotAllowedError
        If a part is ``.`` or ``..``, or the path has a NUL or half of a surrogate pair.
    TypeError
        If ``path`` is none of the types above.

    Examples
    --------
    >>> normalize_path("/a//b/")
    'a/b'
    """
    if path is None or path == "":
        return ""
    if type(path) is str and path.isascii():
        parted = f"/{path}/"
        if not ("//" in parted or "/." in parted or "\\" in path or "\0" in path):
            return path  # most are
    if isinstance(path, bytes):
        text = path.decode("ascii")
    elif type(path).__str__ is not object.__str__ and not isinstance(path, Number):
        text = str(path)  # as a Path, or whatever else says what its text is
    else:
        raise TypeError(f'Object {path!r} has an invalid type for "path": {type(path).__name__}')
    parts = [part for part in text.replace("\\", "/").split("/") if part]
    if "." in parts or ".." in parts:
        raise KeyNotAllowedError(
            f"The path {path!r} is invalid because its string representation contains '.' or '..' segments."
        )
    if "\0" in text or (not text.isascii() and has_lone_surrogate(text)):
        what = "a NUL character" if "\0" in text else "half a surrogate pair"
        raise KeyNotAllowedError(f"The path {path!r} is invalid because it contains {what}.")
    return "/".join(parts)


def join(*parts: str) -> str:
    """Join the parts of a key, without empty ones."""
    return "/".join([part for part in parts if part])


def dir_prefix(prefix: str) -> str:
    """Return the common prefix of all keys under a directory; empty for the root."""
    stripped = prefix.rstrip("/")
    return f"{stripped}/" if stripped else ""


def child_names(keys: list[str], prefix: str) -> list[str]:
    """Return the names directly under a prefix from all keys, each once and in order.

    Examples
    --------
    >>> child_names(["a/b/c", "a/d", "e"], "a")
    ['b', 'd']
    """
    start = dir_prefix(prefix)
    length = len(start)
    names = {key[length:].partition("/")[0] for key in keys if key.startswith(start)}
    return sorted(name for name in names if is_key(start + name))
