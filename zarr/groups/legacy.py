"""What groups could do in zarr-python 2 and can do here still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr.groups.operations import create_groups_steps, like_steps
from zarr.groups.parameters import dataset_parameters

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from zarr.arrays.synchronous import Array
    from zarr.groups.synchronous import Group


class LegacyMembers:
    """The members of ``Group`` that zarr-python 3 has no more; they rest on those that it has."""

    if TYPE_CHECKING:
        members: Any
        _create: Any
        __contains__: Any
        __getitem__: Any
        require_array: Any
        store: Any
        _handle: Any
        _run: Any
        _wrap: Any

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def create_groups(self, *names: str) -> tuple[Group, ...]:
        """Make several groups below the group, as one operation.

        Parameters
        ----------
        *names : str

        Returns
        -------
        tuple of Group

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            If there is a node of one of these names; others may have been made.

        Examples
        --------
        >>> import zarr
        >>> [group.path for group in zarr.group().create_groups("a", "b/c")]
        ['a', 'b/c']
        """
        return tuple(self._wrap(record) for record in self._run(create_groups_steps(self._handle, names)))

    def items(self) -> Iterator[tuple[str, Array[Any] | Group]]:
        """The direct members with their names.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().items())
        []
        """
        return iter(self.members())

    def values(self) -> Iterator[Array[Any] | Group]:
        """The direct members.

        Examples
        --------
        >>> import zarr
        >>> list(zarr.group().values())
        []
        """
        return (member for _, member in self.members())

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call a function with the path and the node of everything below the group.

        Parameters
        ----------
        func : callable
            The walk ends when it returns something other than None.

        Returns
        -------
        object
            What ended the walk, or None.

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
        """Call a function with the path of everything below the group; see :meth:`visititems`.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().visit(print)
        """
        return self.visititems(lambda path, node: func(path))

    def visitkeys(self, func: Callable[[str], Any]) -> Any:
        """Another name of :meth:`visit`.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().visitkeys(print)
        """
        return self.visititems(lambda path, node: func(path))

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call a function with everything below the group; see :meth:`visititems`.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().visitvalues(print)
        """
        return self.visititems(lambda path, node: func(node))

    def create_dataset(self, name: str, **kwargs: Any) -> Array[Any]:
        """Make an array by the parameters of h5py and of zarr-python 2.

        Parameters
        ----------
        name : str
        **kwargs
            ``shape``, ``dtype``, ``data``, ``chunks`` (may be a bool), ``compressor`` and others; see
            :meth:`create_array`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_dataset("x", data=[1, 2, 3], chunks=True).shape
        (3,)
        """
        if kwargs.get("object_codec") is not None:
            return self._make(like_steps(self._handle, name, **kwargs))  # type: ignore[attr-defined, no-any-return]
        array: Array[Any] = self._create(name, dataset_parameters(kwargs))
        return array

    def require_dataset(self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **kwargs: Any) -> Any:
        """Open an array or make it; see :meth:`create_dataset`.

        Parameters
        ----------
        name : str
        shape : int or tuple of int
        dtype : dtype, optional
        exact : bool
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
        if name in self:
            return self.require_array(name, shape=shape, dtype=dtype, exact=exact)
        return self.create_dataset(name, shape=shape, dtype=dtype, **kwargs)

    def array(self, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of data; see :meth:`create_dataset`.

        Parameters
        ----------
        name : str
        data : array-like
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
        return self.create_dataset(name, data=np.asarray(data), **kwargs)
