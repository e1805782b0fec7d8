"""Files of NumPy: one array (npy), or a zip file of several (npz). No pickles are read or written."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from functools import partial
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from zarr.tools.conversion.contents import (
    ArrayContents,
    Contents,
    GroupContents,
    blocks_of,
    lose,
    walk_contents,
)
from zarr.tools.copies.regions import Regions

_SUFFIX = ".npy"


def read_mapped(path: str, region: tuple[slice, ...]) -> npt.NDArray[Any]:
    """Return the elements of a region of an npy file, which is mapped into memory."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False)[region])


class ReadNpz:
    """Read regions of a member of an npz file.

    The last read member stays in memory: it is compressed and can only be read as a whole.

    Parameters
    ----------
    path, name : str
    """

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name
        self._data: npt.NDArray[Any] | None = None

    def __call__(self, region: tuple[slice, ...]) -> npt.NDArray[Any]:
        """Return the elements of a region."""
        data = self._data  # looked up once: another thread of a pool may drop it
        if data is None:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.name) as file:
                data = self._data = np.lib.format.read_array(file, allow_pickle=False)
        found: npt.NDArray[Any] = data[region]
        if all(part.stop == length for part, length in zip(region, data.shape, strict=True)):
            self._data = None  # the last region, in order
        return found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_data": None}


# ----------------------------------------------------------------------------------------------- reading


def read_npy(path: str, losses: list[str]) -> ArrayContents:
    """Return the contents of an npy file.

    Raises
    ------
    ValueError
        If it holds pickled objects.
    """
    with open(path, "rb") as file:
        shape, dtype = _header(file, path)
    return ArrayContents(shape, dtype, partial(read_mapped, path))


def read_npz(path: str, losses: list[str]) -> GroupContents:
    """Return the contents of an npz file; a name with slashes is the path of a member of groups.

    Raises
    ------
    ValueError
        If a member holds pickled objects.
    """
    root: dict[str, Contents] = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            if not entry.endswith(_SUFFIX):
                lose(losses, "", f"{entry}: not an npy file")
                continue
            with archive.open(entry) as file:
                shape, dtype = _header(file, f"{path}: {entry}")
            name = entry.removesuffix(_SUFFIX).strip("/")
            *groups, last = name.split("/")
            members: Any = root
            for group in groups:
                members = members.setdefault(group, GroupContents(members={})).members
            members[last] = ArrayContents(shape, dtype, ReadNpz(path, entry))
    return GroupContents(members=root)


def _header(file: IO[bytes], where: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError(f"{where} holds pickled objects, which are not read: they may run any code")
    return shape, dtype


# ----------------------------------------------------------------------------------------------- writing


def write_npy(contents: Contents, path: str, losses: list[str]) -> None:
    """Write an array to an npy file.

    Raises
    ------
    ValueError
        If the contents are a group.
    """
    if not isinstance(contents, ArrayContents):
        raise ValueError("a group cannot be an npy file: convert one of its arrays (STORE::PATH), or write npz")
    _lose_all("", contents, losses)
    dtype, read = _writable("", contents, losses)
    file = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=contents.shape)
    for region in blocks_of(contents):
        file[region] = read(region)
    file.flush()


def write_npz(contents: Contents, path: str, losses: list[str]) -> None:
    """Write all arrays of a group to a compressed npz file, each with its path as its name.

    Raises
    ------
    ValueError
        If there is an array without a name.
    """
    if isinstance(contents, ArrayContents):
        contents = GroupContents(members={"arr_0": contents})  # as numpy.savez names it
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in walk_contents(contents):
            _lose_all(name, each, losses)
            if isinstance(each, ArrayContents):
                with archive.open(f"{name}{_SUFFIX}", "w", force_zip64=True) as file:
                    _write_member(file, name, each, losses)
            elif not each.members:
                lose(losses, name, "the group: npz files have arrays only")


def _write_member(file: IO[bytes], name: str, contents: ArrayContents, losses: list[str]) -> None:
    """Write rows one after the other: a zip file is written from its beginning to its end."""
    dtype, read = _writable(name, contents, losses)
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": contents.shape}
    np.lib.format.write_array_header_2_0(file, description)
    rows = blocks_of(contents).borders[:1]
    for region in Regions([*rows, *((0, length) for length in contents.shape[1:])]):
        file.write(np.asarray(read(region), dtype).tobytes())


def _lose_all(path: str, contents: Contents, losses: list[str]) -> None:
    if contents.attributes:
        lose(losses, path, f"attributes ({', '.join(sorted(contents.attributes))}): files of NumPy have none")
    if isinstance(contents, ArrayContents) and contents.dimension_names:
        lose(losses, path, "names of dimensions: files of NumPy have none")


def _writable(
    path: str, contents: ArrayContents, losses: list[str]
) -> tuple[np.dtype[Any], Callable[[tuple[slice, ...]], Any]]:
    """Return the data type in the file, and a function that reads the elements in it.

    Raises
    ------
    TypeError
        If an array of objects holds others than text, or than bytes.
    """
    dtype = contents.native_dtype
    if dtype.kind not in "TO":
        return dtype, contents.read
    longest, kinds, ends_with_zero = 1, set(), False
    for region in blocks_of(contents):
        for text in np.ravel(contents.read(region)).tolist():
            kinds.add(type(text))
            if kinds > {type(text)} or not isinstance(text, str | bytes):
                names = " and ".join(sorted(kind.__name__ for kind in kinds))
                raise TypeError(f"/{path}: files of NumPy have text or bytes, and no {names} in one array")
            longest = max(longest, len(text))
            ends_with_zero = ends_with_zero or text[-1:] in ("\0", b"\0")
    lose(losses, path, "strings of any length: all take the room of the longest")
    if ends_with_zero:
        lose(losses, path, "zeros at the ends of strings: NumPy takes them for unused room")
    dtype = np.dtype(f"{'S' if bytes in kinds else 'U'}{longest}")
    return dtype, lambda region: np.asarray(contents.read(region), dtype)
