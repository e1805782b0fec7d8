"""The methods of a group that make arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr.arrays.array import Array
from zarr.arrays.create.steps import DEFAULT_FILL_VALUE
from zarr.arrays.handle import ArrayHandle
from zarr.chunks.spec import parse_array_config
from zarr.groups.batch import adopted
from zarr.groups.handle import GroupHandle, NodeRecord
from zarr.groups.methods.parameters import creation_parameters, with_one_compressor
from zarr.groups.operations import (
    like_steps,
    member_array_steps,
    require_array_steps,
)
from zarr.metadata.group import GroupMetadata
from zarr.older_calls import also_in_order

if TYPE_CHECKING:
    from zarr.arrays.create.steps import CompressorLike, CompressorsLike, FiltersLike, SerializerLike, ShardsLike
    from zarr.chunks.keys import ChunkKeyEncodingLike
    from zarr.chunks.spec import ArrayConfig, ArrayConfigLike
    from zarr.dtype import ZDTypeLike
    from zarr.steps.requests import Steps
    from zarr.types import JSON, ChunksLike, DimensionNamesLike, MemoryOrder, ShapeLike


def array_of(record: NodeRecord, config: ArrayConfig | None = None) -> Array[Any]:
    """The synchronous face of a node that is an array."""
    assert not isinstance(record.metadata, GroupMetadata)
    config = config if record.config is None else record.config
    return Array.from_handle(ArrayHandle(record.store_path, record.metadata, parse_array_config(config)))


class MakesArrays:
    """What :class:`Group` has of these methods."""

    if TYPE_CHECKING:
        _handle: GroupHandle
        _run: Any

    def create_array(
        self,
        name: str,
        *,
        shape: ShapeLike | None = None,
        dtype: ZDTypeLike | None = None,
        data: np.ndarray[Any, np.dtype[Any]] | None = None,
        chunks: ChunksLike | Literal["auto"] = "auto",
        shards: ShardsLike | None = None,
        filters: FiltersLike = "auto",
        compressors: CompressorsLike = "auto",
        compressor: CompressorLike = "auto",
        serializer: SerializerLike = "auto",
        fill_value: Any | None = DEFAULT_FILL_VALUE,
        order: MemoryOrder | None = None,
        attributes: dict[str, JSON] | None = None,
        chunk_key_encoding: ChunkKeyEncodingLike | None = None,
        dimension_names: DimensionNamesLike = None,
        storage_options: dict[str, Any] | None = None,
        overwrite: bool = False,
        config: ArrayConfigLike | None = None,
        write_data: bool = True,
        checksum: bool = False,
    ) -> Array[Any]:
        """Make an array below the group, with the groups between.

        The parameters are those of :func:`zarr.create_array`; the format is the group's.

        Parameters
        ----------
        name : str
        shape : int or tuple of int, optional
            Needed unless ``data`` is given.
        dtype : dtype, optional
        data : array-like, optional
            What to fill the array with; gives shape and dtype.
        chunks : int, tuple of int, nested lists of int, or "auto"
        shards : tuple of int, "auto" or None
            Several chunks are stored in one object of this shape.
        filters, compressors, serializer : codecs, or "auto"
        compressor : codec
            Another name of ``compressors``.
        fill_value : scalar, optional
        order : "C" or "F", optional
            Of format 2: how elements lie in a chunk. How arrays lie in memory is for ``config`` to say, in both.
        attributes : dict, optional
        chunk_key_encoding : ChunkKeyEncoding or dict, optional
        dimension_names : list of str, optional
        storage_options : dict, optional
            For URLs of fsspec; a group has its store already.
        overwrite : bool
            Whether what is there goes first.
        config : ArrayConfig or dict, optional
        write_data : bool
            Whether ``data`` is written, or only lends its shape and dtype.
        checksum : bool
            Store a CRC-32C checksum with every chunk (within shards: with every inner chunk); of format 3.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            If there is a node already and ``overwrite`` is false.

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create_array("x", shape=(10,), chunks=(5,), dtype="int32").nchunks
        2
        """
        parameters = creation_parameters(locals())
        return self._create(name, parameters)

    def create(
        self,
        name: str,
        *,
        shape: ShapeLike | None = None,
        dtype: ZDTypeLike | None = None,
        data: np.ndarray[Any, np.dtype[Any]] | None = None,
        chunks: ChunksLike | Literal["auto"] = "auto",
        shards: ShardsLike | None = None,
        filters: FiltersLike = "auto",
        compressors: CompressorsLike = "auto",
        compressor: CompressorLike = "auto",
        serializer: SerializerLike = "auto",
        fill_value: Any | None = DEFAULT_FILL_VALUE,
        order: MemoryOrder | None = None,
        attributes: dict[str, JSON] | None = None,
        chunk_key_encoding: ChunkKeyEncodingLike | None = None,
        dimension_names: DimensionNamesLike = None,
        storage_options: dict[str, Any] | None = None,
        overwrite: bool = False,
        config: ArrayConfigLike | None = None,
        write_data: bool = True,
        checksum: bool = False,
    ) -> Array[Any]:
        """Another name of :meth:`create_array`, with the same parameters.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().create("x", shape=(10,), dtype="int32").shape
        (10,)
        """
        parameters = creation_parameters(locals())
        return self._create(name, parameters)

    def _create(self, name: str, parameters: dict[str, Any]) -> Array[Any]:
        return self._make(member_array_steps(self._handle, name, **parameters))

    def _make(self, steps: Steps[NodeRecord]) -> Array[Any]:
        return adopted(self._handle, array_of(self._run(steps)))

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
    def empty(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        """Make an array below the group whose content does not matter.

        Parameters
        ----------
        name : str
        shape : tuple of int
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().empty(name="x", shape=(2,)).shape
        (2,)
        """
        return self._make(like_steps(self._handle, name, shape=shape, **kwargs))

    @also_in_order("name")
    def zeros(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        """Make an array of zeros below the group.

        Parameters
        ----------
        name : str
        shape : tuple of int
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().zeros(name="x", shape=(2,))[:]
        array([0., 0.])
        """
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=0, **kwargs))

    @also_in_order("name")
    def ones(self, *, name: str, shape: tuple[int, ...], **kwargs: Any) -> Array[Any]:
        """Make an array of ones below the group.

        Parameters
        ----------
        name : str
        shape : tuple of int
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().ones(name="x", shape=(2,))[:]
        array([1., 1.])
        """
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=1, **kwargs))

    @also_in_order("name", "fill_value")
    def full(self, *, name: str, shape: tuple[int, ...], fill_value: Any | None, **kwargs: Any) -> Array[Any]:
        """Make an array of one value below the group.

        Parameters
        ----------
        name : str
        shape : tuple of int
        fill_value : scalar
        **kwargs
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Examples
        --------
        >>> import zarr
        >>> zarr.group().full(name="x", shape=(2,), fill_value=7)[:]
        array([7., 7.])
        """
        return self._make(like_steps(self._handle, name, shape=shape, fill_value=fill_value, **kwargs))

    @also_in_order("name", "data")
    def empty_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array like another one below the group, whose content does not matter.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; these go before what the model says.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().empty_like(name="x", data=np.ones(3)).shape
        (3,)
        """
        return self._make(like_steps(self._handle, name, like=data, **kwargs))

    @also_in_order("name", "data")
    def zeros_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of zeros like another one below the group.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; these go before what the model says.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().zeros_like(name="x", data=np.ones(3))[:]
        array([0., 0., 0.])
        """
        return self._make(like_steps(self._handle, name, like=data, **{"fill_value": 0, **kwargs}))

    @also_in_order("name", "data")
    def ones_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of ones like another one below the group.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; these go before what the model says.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().ones_like(name="x", data=np.zeros(3))[:]
        array([1., 1., 1.])
        """
        return self._make(like_steps(self._handle, name, like=data, **{"fill_value": 1, **kwargs}))

    @also_in_order("name", "data")
    def full_like(self, *, name: str, data: Any, **kwargs: Any) -> Array[Any]:
        """Make an array of one value like another one below the group.

        Parameters
        ----------
        name : str
        data : Array or array-like
            The model.
        **kwargs
            See :func:`zarr.create`; ``fill_value`` among them, unless the model is a zarr array.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> zarr.group().full_like(name="x", data=np.zeros(3), fill_value=5)[:]
        array([5., 5., 5.])
        """
        return self._make(like_steps(self._handle, name, like=data, full=True, **kwargs))
