"""Define the methods of groups of zarr-python 2 that this library keeps.

``zarr.Group`` inherits them. New code uses the names of zarr-python 3.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from zarr.arrays.array import Array
from zarr.arrays.create.objects import implied_object_codec
from zarr.arrays.create.version2 import chunks_of, dataset_parameters
from zarr.arrays.methods.properties import OlderNodeMembers
from zarr.errors import ContainsArrayError, ContainsGroupError
from zarr.groups.methods.members import HasMembers
from zarr.groups.opening import open_group_steps
from zarr.groups.operations import like_steps, member_array_steps, set_steps
from zarr.older_calls import also_in_order


class LegacyMembers(HasMembers, OlderNodeMembers):
    """The members of ``Group`` that zarr-python 3 no longer has; they use those that it has."""

    if TYPE_CHECKING:
        members: Any
        get: Any
        __getitem__: Any

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def __getattr__(self, name: str) -> Any:
        """Return a member by its name, if the group has no attribute of that name."""
        if not name.startswith("_"):
            member = self.get(name)
            if member is not None:
                return member
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}, nor a member of that name")

    def __delitem__(self, key: str) -> None:
        """Remove a node with all below it.

        A missing node is no error, as in zarr-python 3; in a store of zarr-python 2 it is an error.

        Raises
        ------
        KeyError
            If there is no such node, in a store of zarr-python 2.
        """
        if isinstance(self.store, MutableMapping):
            with suppress(ValueError, TypeError):  # an unreadable node can be removed
                if key not in self:
                    raise KeyError(key)
        super().__delitem__(key)

    @property
    def _version(self) -> int:
        return int(self.metadata.zarr_format)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name, _ in self.members() if name.isidentifier())})

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name, _ in self.members()]

    def _read_attributes(self) -> None:
        stored = self._handle.stored
        found = self._run(open_group_steps(self.store_path, self.metadata.zarr_format))
        self._handle.show_read(found.metadata, stored)
        self._handle.read = found.read

    def clear(self) -> None:
        """Remove all members.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a")
        >>> root.clear()
        >>> len(root)
        0
        """
        for name in [name for name, _ in self.members()]:
            del self[name]

    def update(self, other: Any = (), /, **members: Any) -> None:
        """Store data as members, in place of those with the same names.

        Parameters
        ----------
        other : object
            Members by name, or pairs of names and members.
        **members
            More members, by name.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> root.update({"a": [1, 2]}, b=[3])
        >>> sorted(root)
        ['a', 'b']
        """
        for name, value in dict(other, **members).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return a member; if there is none, store data as one first.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        default : object
            The data to store if there is no such member: an array-like.

        Returns
        -------
        Array or Group
            The member.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().setdefault("a", [1, 2])[:]
        array([1, 2])
        """
        if name not in self:
            with suppress(ContainsArrayError, ContainsGroupError):  # another writer was faster: its member stays
                self._run(set_steps(self._handle, name, default, overwrite=False))
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """Remove a member and return it; its elements are gone, its metadata can be read.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        *default : object
            The result if there is no such member. Without it that is an error.

        Returns
        -------
        Array, Group or object
            The removed member; or the default.

        Raises
        ------
        KeyError
            If there is no such member, and no default is given.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a")
        >>> root.pop("a").path, len(root)
        ('a', 0)
        """
        if default and name not in self:
            return default[0]
        member = self[name]
        del self[name]
        return member

    def popitem(self) -> tuple[str, Any]:
        """Remove one of the members, as :meth:`pop` does.

        Returns
        -------
        (str, object)
            The name and the member.

        Raises
        ------
        KeyError
            If there are no members.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a")
        >>> root.popitem()[0]
        'a'
        """
        for name, _ in self.members():
            return name, self.pop(name)
        raise KeyError("popitem(): the group has no members")

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call a function with the path and the node of each node below the group.

        Parameters
        ----------
        func : callable
            The walk ends at the first result that is not None.

        Returns
        -------
        object
            The result that ended the walk, or None.

        Examples
        --------
        >>> import zarr
        >>> root = zarr.group()
        >>> made = root.create_group("a/b")
        >>> root.visititems(lambda path, node: print(path))
        a
        a/b
        """
        for path, node in self.members(max_depth=None):
            answer = func(path, node)
            if answer is not None:
                return answer
        return None

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call a function with the path of each node below the group; see :meth:`visititems`.

        Parameters
        ----------
        func : Callable[[str], object]
            Called with each path; a result that is not None ends the visit.

        Returns
        -------
        object
            The first result that is not None; else None.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().visit(print)
        """
        return self.visititems(lambda path, node: func(path))

    visitkeys = visit

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call a function with each node below the group; see :meth:`visititems`.

        Parameters
        ----------
        func : Callable[[object], object]
            Called with each node; a result that is not None ends the visit.

        Returns
        -------
        object
            The first result that is not None; else None.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().visitvalues(print)
        """
        return self.visititems(lambda path, node: func(node))

    def create_dataset(self, name: str, **kwargs: Any) -> Array[Any]:
        """Create an array by the parameters of h5py and of zarr-python 2.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        **kwargs
            ``shape``, ``dtype``, ``data``, ``chunks`` (may be a bool), ``compressor`` and others; see
            :meth:`create_array`.

        Returns
        -------
        Array

        Raises
        ------
        ValueError
            If format 3 has no data type for what ``object_codec`` stores.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_dataset("x", data=[1, 2, 3], chunks=True).shape
        (3,)
        """
        if "chunks" not in kwargs and (chunks := chunks_of(kwargs.get("data"))) is not None:
            kwargs["chunks"] = chunks
        implied = self.metadata.zarr_format == 2 and implied_object_codec(kwargs)[1] is not None
        if implied or kwargs.get("object_codec") is not None:
            return self._make(like_steps(self._handle, name, **kwargs))
        return self._make(member_array_steps(self._handle, name, **dataset_parameters(kwargs)))

    @also_in_order("shape", "dtype", "exact")
    def require_dataset(self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **kwargs: Any) -> Any:
        """Open an array; create it if there is none; see :meth:`create_dataset`.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        shape : int or tuple of int
            The shape that the array must have, or gets.
        dtype : dtype, optional
            The data type that the array must have, or gets.
        exact : bool
            If True, the data type must be the same; by default the stored values must fit into it.
        **kwargs
            See :meth:`create_dataset`.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If there is a group, or an array of another shape or dtype.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().require_dataset("x", shape=3, dtype="int8").shape
        (3,)
        """
        if name not in self:
            with suppress(ContainsArrayError):  # another writer was faster: its array is looked at
                return self.create_dataset(name, shape=shape, dtype=dtype, **kwargs)
        found = self.require_array(name, shape=shape, dtype=dtype if exact else None, exact=exact)
        # What texts and objects of any length are, zarr-python 2 called dtype=object: all fits there.
        if dtype is not None and found.dtype.kind not in "OT" and not np.can_cast(dtype, found.dtype):
            raise TypeError(f"Incompatible dtype ({np.dtype(dtype)} cannot be stored as {found.dtype})")
        return found

    def array(self, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Create an array from data; see :meth:`create_dataset`.

        Parameters
        ----------
        name : str
            Path of the node below this group.
        data : array-like
            The elements.
        **kwargs
            See :meth:`create_dataset`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().array("x", [1, 2])[:]
        array([1, 2])
        """
        return self.create_dataset(name, data=data, **kwargs)
