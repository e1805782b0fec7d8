"""Contents of files, read in full for comparisons."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zarr.tools.conversion.contents import ArrayContents, Contents


def values(contents: Any) -> np.ndarray[Any, Any]:
    """All elements, read by what another process would get."""
    assert isinstance(contents, ArrayContents)
    read = pickle.loads(pickle.dumps(contents.read))
    return np.asarray(read(tuple(slice(0, length) for length in contents.shape)))


def plain(contents: Any) -> Any:
    """All that is told, without the elements."""
    if isinstance(contents, ArrayContents):
        dtype, fill = str(contents.dtype), str(contents.fill_value)
        return contents.shape, dtype, contents.chunks, contents.dimension_names, fill, dict(contents.attributes)
    return dict(contents.attributes), {name: plain(member) for name, member in contents.members.items()}


def leaves(contents: Contents) -> dict[str, ArrayContents]:
    """All arrays by path."""
    if isinstance(contents, ArrayContents):
        return {"": contents}
    found: dict[str, ArrayContents] = {}
    for name, member in contents.members.items():
        found |= {f"{name}/{path}".rstrip("/"): array for path, array in leaves(member).items()}
    return found


def check_trip(
    contents: Contents, path: Path, read: Callable[..., Contents], write: Callable[..., None], lost: list[str]
) -> Contents:
    """Write contents, read them again, and compare all; return what was read."""
    losses: list[str] = []
    write(contents, str(path), losses)
    assert losses == lost
    losses = []
    again = read(str(path), losses)
    assert losses == []
    before, after = leaves(contents), leaves(again)
    assert list(before) == list(after)
    for name, array in before.items():
        np.testing.assert_array_equal(values(array), values(after[name]))
    return again


def fill_values(path: Path) -> dict[str, tuple[Any, bytes]]:
    """The attribute ``_FillValue`` of each dataset with its data type, and the fill value of its storage."""
    import h5py

    found: dict[str, tuple[Any, bytes]] = {}

    def look(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            given = node.attrs.get("_FillValue")
            typed = given if given is None or isinstance(given, str) else (given.dtype, np.ravel(given).tobytes())
            found[name] = typed, np.asarray(node.fillvalue).tobytes()

    with h5py.File(path) as file:
        file.visititems(look)
    return found
