"""``Group``, members by path as a mutable mapping, and ``File``, the root group of a hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from zarr.h5py_compat import members
from zarr.h5py_compat import storage as files
from zarr.h5py_compat.base import CLASSES, DatasetID, FileID, GroupID, HLObject
from zarr.h5py_compat.creation import make_dataset, plan_dataset
from zarr.h5py_compat.dataset import Dataset
from zarr.h5py_compat.dtypes import describe
from zarr.h5py_compat.members import CopyRules, ExternalLink, HardLink, SoftLink
from zarr.h5py_compat.storage import RESERVED, Storage, UnsupportedFeature, as_text, parent_of


class Group(HLObject, MutableMapping[str, Any]):
    """A folder of a file: groups, datasets, named types and links by name or path.

    Parameters
    ----------
    bind : GroupID
        The identity of a group, as ``group.id``.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     _ = f.create_group("a/b")
    ...     f["a/b/x"] = [1, 2, 3]
    ...     list(f["a"]), f["/a/b/x"][1:]
    (['b'], array([2, 3]))
    """

    def __init__(self, bind: GroupID) -> None:
        if not isinstance(bind, GroupID):
            raise ValueError(f"{bind!r} is not a GroupID")
        self._id: GroupID = bind

    __eq__, __hash__ = HLObject.__eq__, HLObject.__hash__

    @property
    def _storage(self) -> Storage:
        self._id.storage.require_open()
        if not self._id:
            raise ValueError("Invalid location identifier (the group is closed)")
        return self._id.storage

    def _path(self, name: Any) -> str:
        return files.resolve(self._id.path, as_text(name))

    def _free_place(self, name: Any, kind: str) -> tuple[Storage, str]:
        """Return the place of a new member, and create missing groups above it."""
        storage = self._storage
        storage.require_writable(ValueError, f"create {kind}")
        if name is None:
            return files.unnamed_storage(storage), ""
        path = self._path(as_text(name, f"Naming a {kind}"))
        home, path = self._make_ancestors(storage, path)
        if not path or home.has(path) or members.is_link(home, path):
            raise ValueError(f"Unable to create {kind} (name already exists): '/{path}'")
        return home, path

    def _make_ancestors(self, storage: Storage, path: str) -> tuple[Storage, str]:
        try:
            home, place = members.target_path(storage, path)
        except KeyError:
            self._make_ancestors(storage, parent_of(path))
            home, place = members.target_path(storage, parent_of(path))
            home.root.create_group(place)
            members.enter(home, place)
            home, place = members.target_path(storage, path)
        if hasattr(home.node(parent_of(place)), "shape"):
            raise ValueError(f"Unable to create '/{path}': '/{parent_of(place)}' is a dataset")
        return home, place

    def create_group(self, name: Any, track_order: bool | None = None) -> Group:
        """Create a group, and missing groups above it; None creates one without a name, in memory.

        ``track_order`` keeps members and attributes in the order of their creation.

        Parameters
        ----------
        name : str, bytes or None
            The path; None makes an object without a name, in memory.
        track_order : bool, optional
            If True, members and attributes keep the order in which they are created.

        Returns
        -------
        Group
        """
        storage, path = self._free_place(name, "group")
        notes = {RESERVED: {"track_order": True}} if track_order else {}
        if path:
            storage.root.create_group(path, attributes=notes)
            members.enter(storage, path)
        return Group(GroupID(storage, path))

    def require_group(self, name: Any) -> Group:
        """Return the group of that name, or create it if it is missing; raise TypeError for another object.

        Parameters
        ----------
        name : str or bytes
            The path.

        Returns
        -------
        Group

        Raises
        ------
        TypeError
            If something else has this name.
        """
        if name not in self:
            return self.create_group(name)
        found = self[name]
        if not isinstance(found, Group):
            raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
        return found

    def create_dataset(self, name: Any, shape: Any = None, dtype: Any = None, data: Any = None, **kwds: Any) -> Dataset:
        """Create a dataset.

        Parameters
        ----------
        name : str, bytes or None
            Path; None makes a dataset without a name, in memory.
        shape, dtype, data
            At least one of them; data is reshaped to ``shape`` and cast to ``dtype``.
        chunks : tuple, int, True, False or None
            Chunk shape. None and False: the dataset is not resizable, and zarr's chunks are chosen for it.
        maxshape : tuple, int or True
            The maximal length of each axis; None for an axis without a limit.
        compression, compression_opts, shuffle, fletcher32, scaleoffset
            See ``creation.py``.
        fillvalue, track_order, fill_time
            As in h5py.

        Returns
        -------
        Dataset
        """
        plan = plan_dataset(shape, dtype, data, **kwds)
        storage, path = self._free_place(name, "dataset")
        array = make_dataset(storage, path or "unnamed", plan)
        if path:
            members.enter(storage, path)
        return Dataset(DatasetID(storage, path or "unnamed", array))

    def require_dataset(self, name: Any, shape: Any, dtype: Any, exact: bool = False, **kwds: Any) -> Dataset:
        """Return the dataset of that name, or create it if it is missing.

        Returns
        -------
        Dataset

        Raises
        ------
        TypeError
            If there is another object, or shape, maxshape or type do not fit.
        """
        if name not in self:
            return self.create_dataset(name, shape, dtype, **kwds)
        if isinstance(shape, int):
            shape = (shape,)
        found = self[name]
        if not isinstance(found, Dataset):
            raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
        if tuple(shape) != found.shape and "maxshape" not in kwds:
            raise TypeError(f"Shapes do not match (existing {found.shape} vs new {tuple(shape)})")
        if "maxshape" in kwds and tuple(kwds["maxshape"]) != found.maxshape:
            raise TypeError(f"Max shapes do not match (existing {found.maxshape} vs new {kwds['maxshape']})")
        if exact and np.dtype(dtype) != found.dtype:
            raise TypeError(f"Datatypes do not exactly match (existing {found.dtype} vs new {dtype})")
        if not exact and not np.can_cast(np.dtype(dtype), found.dtype):
            raise TypeError(f"Datatypes cannot be safely cast (existing {found.dtype} vs new {dtype})")
        return found

    def create_dataset_like(self, name: Any, other: Dataset, **kwds: Any) -> Dataset:
        """Create a dataset with the shape, type, chunks and filters of another; keywords override.

        Returns
        -------
        Dataset
        """
        alike = ("shape", "dtype", "chunks", "compression", "compression_opts", "shuffle", "fletcher32", "scaleoffset")
        for key in alike:
            value = getattr(other, key)
            kwds.setdefault(key, value if value is not False else None)
        if other.maxshape != other.shape:
            kwds.setdefault("maxshape", other.maxshape)
        kwds.setdefault("fillvalue", other.fillvalue)
        return self.create_dataset(name, **kwds)

    def __getitem__(self, name: Any) -> Any:
        return members.open_object(self._storage, self._path(name))

    def get(
        self, name: Any, default: Any = None, getclass: bool = False, getlink: bool = False, **others: Any
    ) -> Any:
        """Return a member, or the default; with ``getclass`` its class, with ``getlink`` its link."""
        if others:
            raise UnsupportedFeature(f"{', '.join(sorted(others))}: a link opens its file as the file was opened")
        try:
            found = self._link(self._path(name)) if getlink else self[name]
        except KeyError:
            return default
        return type(found) if getclass else found

    def _link(self, path: str) -> Any:
        storage, place = members.target_path(self._storage, path)
        link = members.links_of(storage, parent_of(place)).get(place.rpartition("/")[2])
        if link is None:
            storage.node(place)
            return HardLink()
        return link

    def __setitem__(self, name: Any, obj: Any) -> None:
        if isinstance(obj, HLObject):
            self._adopt(name, obj)
        elif isinstance(obj, SoftLink | ExternalLink):
            storage, path = self._free_place(name, "link")
            members.add_link(storage, parent_of(path), path.rpartition("/")[2], obj)
            members.enter(storage, path)
        elif isinstance(obj, np.dtype):
            storage, path = self._free_place(name, "named type")
            storage.root.create_group(path, attributes={RESERVED: {"datatype": describe(obj)}})
            members.enter(storage, path)
        elif isinstance(obj, HardLink):
            raise UnsupportedFeature("a hard link has no place in a zarr hierarchy: use SoftLink(path)")
        else:
            self.create_dataset(name, data=obj)

    def _adopt(self, name: Any, obj: HLObject) -> None:
        """Give a name to an object that has none."""
        if obj.name is not None:
            raise UnsupportedFeature(
                f"hard link: {obj.name!r} cannot have a second name in a zarr hierarchy; use SoftLink({obj.name!r}) "
                f"or copy it"
            )
        target = self._free_place(name, "member")
        members.copy_node((obj.id.storage, obj.id.path), target, CopyRules())
        members.enter(*target)

    def __delitem__(self, name: Any) -> None:
        storage = self._storage
        storage.require_writable(KeyError, "delete a member")
        home, path = members.target_path(storage, self._path(name))
        if members.is_link(home, path):
            members.forget(home, path)
            return
        if not path or not home.has(path):
            raise KeyError(f"Couldn't delete link (name doesn't exist): '/{path}'")
        del home.root[path]
        members.forget(home, path)

    def __len__(self) -> int:
        return len(members.member_names(self._storage, self._id.path))

    def __iter__(self) -> Iterator[str]:
        return iter(members.member_names(self._storage, self._id.path))

    def __reversed__(self) -> Iterator[str]:
        return iter(members.member_names(self._storage, self._id.path)[::-1])

    def __contains__(self, name: object) -> bool:
        text = as_text(name)
        if not self._id or not text:
            return False
        path = self._path(text)
        try:
            members.find(self._storage, path)
        except KeyError:
            return self._is_dangling(path)
        return True

    def _is_dangling(self, path: str) -> bool:
        try:
            return members.is_link(*members.target_path(self._storage, path))
        except KeyError:
            return False

    def keys(self) -> members.KeysOfGroup:
        """Return a view of the names."""
        return members.KeysOfGroup(self)

    def values(self) -> members.ValuesOfGroup:
        """Return a view of the members."""
        return members.ValuesOfGroup(self)

    def items(self) -> members.ItemsOfGroup:
        """Return a view of names and members."""
        return members.ItemsOfGroup(self)

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call ``func(name)`` for all members below, until it returns a value; links are not followed.

        Parameters
        ----------
        func : callable
            It gets the path of a member; a result that is not None ends the walk.

        Returns
        -------
        object or None
            What ``func`` has returned at last.
        """
        return members.visit(self, False, lambda name, *_: func(name))

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func(name, object)`` for all members below, until it returns a value.

        Parameters
        ----------
        func : callable
            It gets the path of a member and the member; a result that is not None ends the walk.

        Returns
        -------
        object or None
            What ``func`` has returned at last.
        """
        return members.visit(self, False, lambda name, path, _: func(name, members.open_object(self._storage, path)))

    def visit_links(self, func: Callable[[str], Any]) -> Any:
        """Call ``func(name)`` for all names below, links included, until it returns a value.

        Parameters
        ----------
        func : callable
            It gets the path of a name; a result that is not None ends the walk.

        Returns
        -------
        object or None
            What ``func`` has returned at last.
        """
        return members.visit(self, True, lambda name, *_: func(name))

    def visititems_links(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func(name, link)`` for all names below, links included, until it returns a value.

        Parameters
        ----------
        func : callable
            It gets the path of a name and the link; a result that is not None ends the walk.

        Returns
        -------
        object or None
            What ``func`` has returned at last.
        """
        return members.visit(self, True, lambda name, _, link: func(name, link or HardLink()))

    def move(self, source: Any, dest: Any) -> None:
        """Give a member another path in the same file.

        Parameters
        ----------
        source, dest : str or bytes
            The old path and the new one.

        Raises
        ------
        ValueError
            If there is no such member, or the new path is taken.
        """
        storage = self._storage
        storage.require_writable(ValueError, "move a member")
        old, new = self._path(source), self._path(dest)
        if old == new:
            return
        try:
            link = self._link(old)
        except KeyError:
            raise ValueError(f"Unable to move link (name doesn't exist): '/{old}'") from None
        if not isinstance(link, HardLink):
            self[f"/{new}"] = link
            del self[f"/{old}"]
            return
        home, place = self._free_place(f"/{new}", "member")
        home.root.move(old, place)
        home.moved(old, place)
        members.forget(storage, old)
        members.enter(home, place)

    def copy(
        self,
        source: Any,
        dest: Any,
        name: Any = None,
        shallow: bool = False,
        expand_soft: bool = False,
        expand_external: bool = False,
        expand_refs: bool = False,
        without_attrs: bool = False,
    ) -> None:
        """Copy an object (or the path of one) to a path of this file, or into a group of any file.

        ``shallow`` copies the members of a group but not theirs. ``expand_refs`` is refused: there are no references.

        Parameters
        ----------
        source : str or object
            What is copied.
        dest : str or Group
            Where the copy goes.
        name : str, optional
            Its name, where ``dest`` is a group; by default that of the source.
        shallow : bool, default False
            If True, members of members are not copied.
        expand_soft, expand_external : bool, default False
            If True, links of this kind are replaced by what they lead to.
        expand_refs : bool, default False
            True is refused.
        without_attrs : bool, default False
            If True, no attributes are copied.

        Raises
        ------
        UnsupportedFeature
            If references are to be expanded.
        RuntimeError
            If there is no such source.
        """
        if expand_refs:
            raise UnsupportedFeature("expand_refs: object references have no place in a zarr hierarchy")
        origin = source if isinstance(source, HLObject) else self._source(source)
        into, path = (dest, name) if isinstance(dest, Group) else (self, dest)
        if path is None:
            given = origin.id.path if isinstance(source, HLObject) else self._path(source)
            path = given.rpartition("/")[2]
        target = into._free_place(path, "copy")
        rules = CopyRules(shallow, expand_soft, expand_external, without_attrs)
        members.copy_node((origin.id.storage, origin.id.path), target, rules)
        members.enter(*target)

    def _source(self, name: Any) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise RuntimeError(f"Unable to copy object: {error.args[0]}") from error

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 group>"
        shown = "(anonymous)" if self.name is None else f'"{self.name}"'
        return f"<HDF5 group {shown} ({len(self)} members)>"


CLASSES["group"] = Group


HINTS = (
    "libver", "rdcc_nslots", "rdcc_nbytes", "rdcc_w0", "meta_block_size", "alignment_threshold", "alignment_interval",
)  # fmt: skip
"""Parameters of HDF5 for the layout and the cache of its file: they change no result and have no effect here."""
NEUTRAL: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("driver", "fs_strategy", "fs_threshold", "fs_page_size", "page_buf_size"), (None,)),
    **dict.fromkeys(("userblock_size", "min_meta_keep", "min_raw_keep"), (None, 0)),
    "swmr": (False,),
    "locking": (None, False, "best-effort"),
    "fs_persist": (None, False),
}
"""Keywords of HDF5 that change the file, and their neutral values."""


class File(Group):
    """A hierarchy as a file.

    Parameters
    ----------
    name : str, bytes, path or zarr store
        A folder, or a .zip file. An existing object that is no zarr hierarchy is never overwritten.
    mode : {"r", "r+", "w", "w-", "x", "a"}
        As in h5py; "r" by default.
    track_order : bool, optional
        Keep the members and attributes of a new file in the order of their creation.

    Raises
    ------
    UnsupportedFeature
        For drivers, user blocks, SWMR, locks and file objects.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     f.mode, f.name
    ('r+', '/')
    """

    def __init__(self, name: Any, mode: str = "r", track_order: bool | None = None, **others: Any) -> None:
        files.refuse_others("File", others, HINTS, NEUTRAL)
        if hasattr(name, "read") and hasattr(name, "seek"):
            raise UnsupportedFeature("a hierarchy has many keys and no file object: hand over a path or a zarr store")
        storage = files.open_storage(name, mode)
        super().__init__(FileID(storage, ""))
        if track_order and storage.writable and mode != "r+" and not len(self):
            storage.note("", track_order=True)

    @classmethod
    def of_storage(cls, storage: Storage) -> File:
        """Return a ``File`` for a hierarchy that is open.

        Parameters
        ----------
        storage : Storage
            A hierarchy that this room has opened.

        Returns
        -------
        File
        """
        file = cls.__new__(cls)
        Group.__init__(file, FileID(storage, ""))
        return file

    @property
    def filename(self) -> str:
        """The path that the file was opened with; for a store, its own name."""
        return self._id.storage.filename

    @property
    def mode(self) -> str:
        """``r`` or ``r+``."""
        self._id.storage.require_open()
        return self._id.storage.mode

    @property
    def driver(self) -> str:
        """The class of the store."""
        return type(self._storage.root.store).__name__

    userblock_size = 0
    """0: there is no user block."""

    @property
    def swmr_mode(self) -> bool:
        """False: readers beside one writer need no mode."""
        return False

    @swmr_mode.setter
    def swmr_mode(self, value: bool) -> None:
        if value:
            raise UnsupportedFeature("SWMR is a mode of HDF5: readers of a zarr hierarchy beside one writer need none")

    @property
    def libver(self) -> tuple[str, str]:
        """The zarr format, as lowest and highest version."""
        version = f"zarr{self._storage.node('').metadata.zarr_format}"
        return version, version

    def flush(self) -> None:
        """Check that the file is open; written data is in the store already."""
        self._id.storage.require_open()

    def close(self) -> None:
        """Close the file and all objects that came from it; a second call does nothing."""
        self._id.storage.close()

    def __enter__(self) -> File:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 file>"
        return f'<HDF5 file "{Path(self.filename).name}" (mode {self.mode})>'


def is_hdf5(name: Any) -> bool:
    """Return True if ``File(name)`` would open.

    Parameters
    ----------
    name : str, path or store
        What would be opened.

    Returns
    -------
    bool

    Examples
    --------
    >>> from zarr.h5py_compat import is_hdf5
    >>> is_hdf5("no such file")
    False
    """
    try:
        files.open_storage(name, "r").close()
    except (OSError, ValueError, KeyError):
        return False
    return True


CLASSES["file"] = File
