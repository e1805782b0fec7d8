"""The methods of a group that make arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.arrays.array import Array
from zarr.arrays.create.parameters import CREATE_ARRAY, FILLS, CreateMember, fills, takes
from zarr.arrays.create.version2 import with_one_compressor
from zarr.arrays.handle import ArrayHandle
from zarr.chunks.spec import parse_array_config
from zarr.groups.batch import adopted
from zarr.groups.handle import GroupHandle, NodeRecord
from zarr.groups.operations import create_member_steps, like_steps, require_array_steps
from zarr.metadata.group import GroupMetadata
from zarr.older_calls import also_in_order

if TYPE_CHECKING:
    from typing import Unpack

    from zarr.chunks.spec import ArrayConfig, ArrayConfigLike
    from zarr.steps.requests import Steps
    from zarr.types import ShapeLike


def array_of(record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any]:
    """Return the synchronous face of a node that is an array."""
    assert not isinstance(record.metadata, GroupMetadata)
    config = config if record.config is None else record.config
    return Array.from_handle(ArrayHandle(record.store_path, record.metadata, parse_array_config(config)))


class MakesArrays:
    """What :class:`Group` has of these methods."""

    if TYPE_CHECKING:
        _handle: GroupHandle
        _run: Any

    @takes(CreateMember, CREATE_ARRAY, without=("zarr_format",))
    def create_array(self, name: str, **parameters: Unpack[CreateMember]) -> Array[Any]:
        """Make an array below the group, with the groups between.

        The format is the group's; see :func:`zarr.create_array` for the order in which codecs run.

        Parameters
        ----------
        name : str
            Path of the array below the group.
        **parameters
            See :class:`zarr.arrays.create.parameters.CreateArray`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            There is a node already and ``overwrite`` is false.
        ValueError
            Neither data nor shape and dtype are given, or both are; a parameter belongs to the other format.
        TypeError
            There is no such parameter, or a codec or a data type cannot be used.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_array("x", shape=(10,), chunks=(5,), dtype="int32").nchunks
        2
        """
        return self._make(create_member_steps(self._handle, name, parameters))

    @takes(CreateMember, CREATE_ARRAY, without=("zarr_format",))
    def create(self, name: str, **parameters: Unpack[CreateMember]) -> Array[Any]:
        """Make an array below the group; another name of :meth:`create_array`.

        Parameters
        ----------
        name : str
            Path of the array below the group.
        **parameters
            See :class:`zarr.arrays.create.parameters.CreateArray`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create("x", shape=(10,), dtype="int32").shape
        (10,)
        """
        return self._make(create_member_steps(self._handle, name, parameters))

    def _make(self, steps: Steps[ArrayHandle]) -> Array[Any]:
        array: Array[Any] = Array.from_handle(self._run(steps))
        return array if self._handle.batch is None else adopted(self._handle, array)

    def require_array(
        self, name: str, *, shape: ShapeLike, config: ArrayConfigLike | None = None, **kwargs: Any
    ) -> Array[Any]:
        """Open an array below the group, or make it.

        Parameters
        ----------
        name : str
        shape : int or tuple of int
        config : ArrayConfig or dict, optional
        dtype : dtype, optional
        exact : bool, optional
            Whether the dtype must be the same; else it must be one to which the stored one can be cast safely.
        **kwargs
            See :meth:`create_array`.

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
        >>> root = zarr.group()
        >>> made = root.require_array("x", shape=(4,), dtype="int8")
        >>> root.require_array("x", shape=(4,), dtype="int8") == made
        True
        """
        parameters = with_one_compressor(dict(kwargs), self._handle.metadata.zarr_format)
        steps = require_array_steps(self._handle, name, shape, config=config, **parameters)
        return self._make(steps)

    @also_in_order("name")
    @fills
    def empty(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, shape=shape, **kwargs))

    @also_in_order("name")
    @fills
    def zeros(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, shape=shape, **FILLS["zeros"], **kwargs))

    @also_in_order("name")
    @fills
    def ones(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, shape=shape, **FILLS["ones"], **kwargs))

    @also_in_order("name", "fill_value")
    @fills
    def full(self, *, name: str, shape: tuple[int, ...], fill_value: Any | None, **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=fill_value, **kwargs))

    @also_in_order("name", "data")
    @fills
    def empty_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, "empty", data, **kwargs))

    @also_in_order("name", "data")
    @fills
    def zeros_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, "zeros", data, **kwargs))

    @also_in_order("name", "data")
    @fills
    def ones_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, "ones", data, **kwargs))

    @also_in_order("name", "data")
    @fills
    def full_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        return self._make(like_steps(self._handle, name, "full", data, **kwargs))
