"""``Dataset``: one array of a file, read and written by h5py's rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.lib.recfunctions import repack_fields

from zarr.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.h5py_compat import dtypes
from zarr.h5py_compat.base import CLASSES, DatasetID, HLObject
from zarr.h5py_compat.creation import Filters
from zarr.h5py_compat.dtypes import Array, Dtype, Empty, StoredType
from zarr.h5py_compat.selections import Selection, read, select, split_names, spread, walk_chunks, write
from zarr.h5py_compat.storage import RESERVED, UnsupportedFeature, as_text, noting


def make_scale(dataset: Any, name: Any = "") -> None:
    """Mark a dataset as a dimension scale."""
    dataset.attrs["CLASS"] = "DIMENSION_SCALE"
    dataset.attrs["NAME"] = as_text(name, "Naming a scale")


class DimensionProxy:
    """One axis of a dataset.

    Parameters
    ----------
    bind : DatasetID
        The identity of a dataset, as ``dataset.id``.
    dimension : int
        The number of the axis.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     data = f.create_dataset("x", data=[[1, 2], [3, 4]])
    ...     data.dims[1].label = "time"
    ...     data.dims[1].label
    'time'
    """

    def __init__(self, bind: DatasetID, dimension: int) -> None:
        self._id = bind
        self._dimension = dimension

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimensionProxy) and (self._id, self._dimension) == (other._id, other._dimension)

    def __hash__(self) -> int:
        return hash((self._id, self._dimension))

    @property
    def label(self) -> str:
        """The name of the axis; empty if it has none. Assigning one stores it."""
        names = getattr(self._id.storage.node(self._id.path).metadata, "dimension_names", None)
        return (names[self._dimension] or "") if names else ""

    @label.setter
    def label(self, value: Any) -> None:
        storage, path = self._id.storage, self._id.path
        storage.require_writable(OSError, "label a dimension")
        metadata = storage.node(path).metadata
        if not hasattr(metadata, "dimension_names"):
            raise UnsupportedFeature(f"/{path} is an array of zarr format 2, which has no dimension names")
        names = list(metadata.dimension_names or (None,) * len(metadata.shape))
        names[self._dimension] = as_text(value, "Labelling a dimension") or None
        changed = dataclasses.replace(metadata, dimension_names=tuple(names))
        folder = "/".join(part for part in (storage.root.path, path) if part)
        for key, document in changed.to_buffer_dict(default_buffer_prototype()).items():
            sync(storage.root.store.set(f"{folder}/{key}", document))
        self._id.array = storage.node(path)

    def _paths(self) -> list[str]:
        scales: dict[str, list[str]] = self._id.storage.notes(self._id.path).get("scales", {})
        return list(scales.get(str(self._dimension), ()))

    def _keep(self, paths: list[str]) -> None:
        scales = dict(self._id.storage.notes(self._id.path).get("scales", {}))
        scales[str(self._dimension)] = paths
        self._id.storage.note(self._id.path, scales={key: held for key, held in scales.items() if held} or None)

    def attach_scale(self, dset: Any) -> None:
        """Attach a scale; make a plain dataset one first.

        Parameters
        ----------
        dset : Dataset
            The scale: the values along this axis.
        """
        self._id.storage.require_writable(OSError, "attach a scale")
        if not dset.is_scale:
            make_scale(dset)
        with noting():
            paths = self._paths()
            if dset.id.path not in paths:
                self._keep([*paths, dset.id.path])

    def detach_scale(self, dset: Any) -> None:
        """Detach a scale.

        Parameters
        ----------
        dset : Dataset
            A scale that is attached.
        """
        self._id.storage.require_writable(OSError, "detach a scale")
        with noting():
            self._keep([path for path in self._paths() if path != dset.id.path])

    def values(self) -> list[Any]:
        """Return the scales, in the order in which they were attached.

        Returns
        -------
        list of Dataset
        """
        return [CLASSES["dataset"](DatasetID(self._id.storage, path)) for path in self._paths()]

    def items(self) -> list[tuple[str, Any]]:
        """Return names and scales.

        Returns
        -------
        list of (str, Dataset)
        """
        return [(str(scale.attrs.get("NAME", "")), scale) for scale in self.values()]

    def keys(self) -> list[str]:
        """Return the names of the scales.

        Returns
        -------
        list of str
        """
        return [name for name, _ in self.items()]

    def __len__(self) -> int:
        return len(self._paths())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, int):
            scales = self.values()
            if not 0 <= item < len(scales):
                raise RuntimeError(f"dimension {self._dimension} has {len(scales)} scales, none with number {item}")
            return scales[item]
        for name, scale in self.items():
            if name == item:
                return scale
        raise KeyError(f"dimension {self._dimension} has no scale {item!r}")

    def __repr__(self) -> str:
        if not self._id:
            return "<Dimension of closed HDF5 dataset>"
        return f'<"{self.label}" dimension {self._dimension} of HDF5 dataset at {id(self._id)}>'


class DimensionManager:
    """The axes of a dataset.

    Parameters
    ----------
    parent : Dataset
        The dataset that has the axes.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     data = f.create_dataset("x", data=[[1, 2], [3, 4]])
    ...     data.dims[1].label = "time"
    ...     [axis.label for axis in data.dims]
    ['', 'time']
    """

    def __init__(self, parent: Any) -> None:
        self._parent = parent

    def __getitem__(self, index: int) -> DimensionProxy:
        if not 0 <= index < self._parent.ndim:
            raise IndexError(f"Index {index} out of range: the dataset has {self._parent.ndim} dimensions")
        return DimensionProxy(self._parent.id, index)

    def __len__(self) -> int:
        return int(self._parent.ndim)

    def __iter__(self) -> Iterator[DimensionProxy]:
        return (self[position] for position in range(len(self)))

    def __repr__(self) -> str:
        if not self._parent:
            return "<Dimensions of closed HDF5 dataset>"
        return f"<Dimensions of HDF5 object at {id(self._parent.id)}>"


class _Readable:
    """Reading the elements as a NumPy array."""

    def __getitem__(self, args: Any) -> Any:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = True) -> Array:
        if copy is False:
            raise ValueError("the data of a file is read into new memory: memory allocation cannot be avoided")
        array = np.asarray(self[...])
        return array if dtype is None else array.astype(dtype)


class _View(_Readable):
    """A dataset that is read through a conversion; it is never written."""

    def __init__(self, dataset: Any, dtype: Dtype) -> None:
        self._dataset = dataset
        self._dtype = dtype

    @property
    def dtype(self) -> Dtype:
        """The type of the values that the view reads."""
        return self._dtype

    shape = property(attrgetter("_dataset.shape"), doc="The shape of the dataset.")
    ndim = property(attrgetter("_dataset.ndim"), doc="The number of axes.")
    size = property(attrgetter("_dataset.size"), doc="The number of elements.")

    def __len__(self) -> int:
        return len(self._dataset)

    def _convert(self, value: Any) -> Any:
        raise TypeError("a view converts what it reads")

    def __getitem__(self, args: Any) -> Any:
        return self._convert(self._dataset[args])


class AstypeView(_View):
    """The view ``dataset.astype(dtype)``, which casts the elements."""

    def __init__(self, dataset: Any, dtype: Any) -> None:
        super().__init__(dataset, np.dtype(dtype))
        if self._dtype.kind == "T" and dtypes.check_string_dtype(dataset.dtype) is None:
            raise TypeError(f"dset.astype('T') needs an HDF5 string datatype, not {dataset.dtype}")

    def _convert(self, value: Any) -> Any:
        array = np.asarray(value) if not isinstance(value, bytes) else np.array(value, dtype=object)
        if self._dtype.kind == "T" and array.dtype.kind in "OS":
            texts = [item.decode("utf-8") for item in array.reshape(-1).tolist()]
            cast = np.array(texts, dtype=self._dtype).reshape(array.shape)
        else:
            cast = array.astype(self._dtype)
        return cast if isinstance(value, np.ndarray) else cast[()]


class AsStrView(_View):
    """The view ``dataset.asstr()``, which decodes bytes to ``str``."""

    def __init__(self, dataset: Any, encoding: str | None, errors: str) -> None:
        info = dtypes.check_string_dtype(dataset.dtype)
        if info is None:
            raise TypeError("dset.asstr() can only be used on datasets with an HDF5 string datatype")
        super().__init__(dataset, np.dtype(object))
        self._encoding = encoding or info.encoding
        self._errors = errors

    def _convert(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode(self._encoding, self._errors)
        return dtypes.map_elements(lambda item: item.decode(self._encoding, self._errors), np.asarray(value), object)


class FieldsView(_View):
    """The view ``dataset.fields(names)``, which reads some fields of the records."""

    def __init__(self, dataset: Any, names: Any) -> None:
        self._one = isinstance(names, str | bytes)
        self._names = (names,) if self._one else tuple(names)
        if dataset.dtype.names is None:
            raise ValueError("Field names only allowed for compound types")
        for name in self._names:
            if name not in dataset.dtype.names:
                raise ValueError(f"Field {name} does not appear in this type: {dataset.dtype.names}")
        super().__init__(dataset, dataset.dtype[names] if self._one else dataset.dtype[list(self._names)])

    def __getitem__(self, args: Any) -> Any:
        parts = args if isinstance(args, tuple) else (args,)
        value = self._dataset[(*parts, *self._names)]
        if not self._one and len(self._names) == 1:
            array = np.asarray(value)
            records = np.empty(array.shape, dtype=[(self._names[0], array.dtype)])
            records[self._names[0]] = array
            return records[()]
        return value


class Dataset(HLObject, _Readable):
    """An N-dimensional array of a file.

    Parameters
    ----------
    bind : DatasetID
        The identity of a dataset, as ``dataset.id``.

    Examples
    --------
    >>> import zarr.h5py_compat as h5py
    >>> from zarr.storage import MemoryStore
    >>> with h5py.File(MemoryStore(), "w") as f:
    ...     d = f.create_dataset("d", data=np.arange(6).reshape(2, 3), chunks=(1, 3))
    ...     d[1, [0, 2]]
    array([3, 5])
    """

    __array_priority__ = 1.0

    def __init__(self, bind: DatasetID) -> None:
        if not isinstance(bind, DatasetID):
            raise ValueError(f"{bind!r} is not a DatasetID")
        self._id: DatasetID = bind
        notes = bind.array.attrs.get(RESERVED, {})
        self._empty = bool(notes.get("empty"))
        self._contiguous = bool(notes.get("contiguous")) or self._empty
        self._filters = Filters(**notes.get("filters", {}))
        described = notes.get("dtype")
        dtype = dtypes.parse_description(described) if described else dtypes.type_of_array(bind.array)
        self._stored: StoredType = dtypes.stored_type(dtype)

    @property
    def _array(self) -> Any:
        self._id.storage.require_open()
        if not self._id:
            raise ValueError("Invalid dataset identifier (the dataset is closed)")
        return self._id.array

    @property
    def dtype(self) -> Dtype:
        """The data type, with h5py's marks."""
        return self._stored.dtype

    @property
    def shape(self) -> Any:
        """The shape; None for an empty dataset. Assigning to it calls ``resize``."""
        full: tuple[int, ...] = tuple(self._array.shape)
        return None if self._empty else full[: len(full) - len(self.dtype.shape)]

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.resize(shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 0 if self._empty else len(self.shape)

    @property
    def size(self) -> int | None:
        """The number of elements; None for an empty dataset."""
        return None if self._empty else int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """The size of all elements in memory, in bytes."""
        return 0 if self._empty else (self.size or 0) * self.dtype.itemsize

    @property
    def maxshape(self) -> Any:
        """The length to which each axis may grow; None if there is no limit."""
        limits = self._array.attrs.get(RESERVED, {}).get("maxshape")
        return self.shape if limits is None else tuple(limits)

    @property
    def chunks(self) -> Any:
        """The chunk shape; None for a dataset that was created without chunks."""
        if self._contiguous:
            return None
        full: tuple[int, ...] = tuple(self._array.chunks)
        return full[: len(full) - len(self.dtype.shape)]

    compression = property(attrgetter("_filters.compression"), doc="The compression, by h5py's name.")
    compression_opts = property(attrgetter("_filters.compression_opts"), doc="The level or option of the compression.")
    shuffle = property(attrgetter("_filters.shuffle"), doc="True if bytes are shuffled before compression.")
    fletcher32 = property(attrgetter("_filters.fletcher32"), doc="True if chunks bear a checksum.")
    scaleoffset = property(attrgetter("_filters.scaleoffset"), doc="The digits or bits that scaleoffset keeps.")
    filter_ids = property(attrgetter("_filters.ids"), doc="HDF5's numbers of the filters.")
    filter_names = property(attrgetter("_filters.names"), doc="The names of the filters.")

    @property
    def fillvalue(self) -> Any:
        """The value of elements that were never written."""
        dtype = self._stored.zarr_dtype if self._stored.kind in ("plain", "raw") else object
        value = self._stored.decode(np.asarray(self._array.fill_value, dtype=dtype))[()]
        return self.dtype.type() if isinstance(value, str) else value

    external = None
    """None: data is in the hierarchy."""
    is_virtual = False
    """False: there are no virtual datasets."""

    @property
    def is_scale(self) -> bool:
        """Return True if ``make_scale`` made the dataset a dimension scale."""
        return "CLASS" in self.attrs and self.attrs["CLASS"] in ("DIMENSION_SCALE", b"DIMENSION_SCALE")

    @property
    def dims(self) -> DimensionManager:
        """The axes: their labels (zarr's ``dimension_names``) and scales."""
        return DimensionManager(self)

    def make_scale(self, name: Any = "") -> None:
        """Make the dataset a dimension scale of that name.

        Parameters
        ----------
        name : str, default ""
            The name of the scale.
        """
        make_scale(self, name)

    @property
    def regionref(self) -> Any:
        """Raise ``UnsupportedFeature``: a zarr hierarchy has no references; keep the path and the selection."""
        raise UnsupportedFeature("region references have no place in a zarr hierarchy: keep path and selection")

    def astype(self, dtype: Any) -> AstypeView:
        """Return a view that casts the elements.

        Parameters
        ----------
        dtype : dtype
            What values are cast to.

        Returns
        -------
        AstypeView
            It is indexed as the dataset is.
        """
        return AstypeView(self, dtype)

    def asstr(self, encoding: str | None = None, errors: str = "strict") -> AsStrView:
        """Return a view that reads ``str`` instead of bytes.

        Parameters
        ----------
        encoding : str, optional
            How bytes become characters; by default as the data type says.
        errors : str, default "strict"
            What is done with bytes that are no characters, as for ``bytes.decode``.

        Returns
        -------
        AsStrView
            It is indexed as the dataset is.
        """
        return AsStrView(self, encoding, errors)

    def fields(self, names: Any) -> FieldsView:
        """Return a view of one field (a name) or several (a list of names).

        Parameters
        ----------
        names : str or list of str
            The names of fields.

        Returns
        -------
        FieldsView
            It is indexed as the dataset is.
        """
        return FieldsView(self, names)

    def len(self) -> int:
        """Return the size of the first axis.

        Returns
        -------
        int

        Raises
        ------
        TypeError
            If the dataset is a single value.
        """
        if not self.shape:
            raise TypeError("Attempt to take len() of scalar dataset")
        return int(self.shape[0])

    __len__ = len

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("Can't iterate over a scalar dataset")
        return (self[position] for position in range(self.shape[0]))

    def iter_chunks(self, sel: Any = None) -> Iterator[tuple[slice, ...]]:
        """Return the chunks, or their parts within ``sel``, as tuples of slices.

        Parameters
        ----------
        sel : slice or tuple of slice, optional
            A part of the dataset; by default all.

        Returns
        -------
        iterator of tuple of slice

        Raises
        ------
        TypeError
            If the dataset is not chunked.
        """
        if self.chunks is None:
            raise TypeError("Chunked dataset required")
        return walk_chunks(self.shape, self.chunks, sel)

    def resize(self, size: Any, axis: int | None = None) -> None:
        """Give the dataset a shape, or one axis a length; limits are those of ``maxshape``.

        Parameters
        ----------
        size : int or tuple of int
            The new shape; with an axis its new length.
        axis : int, optional
            The axis that changes; by default all.

        Raises
        ------
        TypeError
            If the dataset is not chunked, or the shape has another rank.
        ValueError
            If there is no such axis.
        RuntimeError
            If an axis would grow beyond ``maxshape``.
        """
        if self.chunks is None:
            raise TypeError("Only chunked datasets can be resized")
        self._id.storage.require_writable(OSError, "resize a dataset")
        shape = _new_shape(self.shape, size, axis)
        for old, new, limit in zip(self.shape, shape, self.maxshape, strict=True):
            if limit is not None and new > limit:
                raise RuntimeError(f"Unable to change the length {old} to {new}: maxshape allows {limit}")
        self._array.resize(shape + self.dtype.shape)

    def __getitem__(self, args: Any) -> Any:
        if self._empty:
            parts = args if isinstance(args, tuple) else (args,)
            if len(parts) > 1 or (parts and parts[0] is not Ellipsis):
                raise ValueError("Empty datasets cannot be sliced")
            return Empty(self.dtype)
        rest, names = split_names(args, self._stored.element)
        whole = read(self._array, self._stored, select(rest, self.shape))
        if names:
            whole = whole[names[0]] if len(names) == 1 else repack_fields(whole[list(names)])
        keep = len(rest) == 1 and rest[0] is Ellipsis and not self.shape
        return whole[()] if whole.ndim == 0 and not keep else whole

    def __setitem__(self, args: Any, val: Any) -> None:
        self._id.storage.require_writable(OSError, "write data")
        if self._empty:
            raise TypeError("Empty datasets hold no elements and cannot be written")
        rest, names = split_names(args, self._stored.element)
        selection = select(rest, self.shape)
        if names:
            self._write_fields(selection, names, val)
            return
        values = dtypes.to_elements(val, self.dtype, selection.shape)
        inner = self.dtype.shape
        if inner and values.shape[values.ndim - len(inner) :] != inner:
            raise TypeError(f"Can't broadcast {values.shape} -> elements of shape {inner}")
        write(self._array, self._stored, selection, spread(values, selection.shape + inner))

    def _write_fields(self, selection: Selection, names: tuple[str, ...], val: Any) -> None:
        whole = read(self._array, self._stored, selection).copy()
        source = np.asarray(val)
        for name in names:
            given = source[name] if source.dtype.names is not None and name in source.dtype.names else val
            field = whole.dtype[name]
            whole[name] = spread(dtypes.to_elements(given, field, selection.shape), selection.shape + field.shape)
        write(self._array, self._stored, selection, whole)

    def read_direct(self, dest: Array, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Read ``self[source_sel]`` into ``dest[dest_sel]``, an array in C order.

        Parameters
        ----------
        dest : ndarray
            Where the values go.
        source_sel : selection, optional
            What is read; by default all.
        dest_sel : selection, optional
            Where it goes; by default everywhere.
        """
        self._require_c_order(dest)
        source = self[() if source_sel is None else source_sel]
        target = dest[() if dest_sel is None else dest_sel]
        if np.shape(source) != target.shape:
            source = spread(np.asarray(source), target.shape)
        dest[() if dest_sel is None else dest_sel] = source

    def write_direct(self, source: Array, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Write ``source[source_sel]``, an array in C order, to ``self[dest_sel]``.

        Parameters
        ----------
        source : ndarray
            Where the values come from.
        source_sel : selection, optional
            Which of them; by default all.
        dest_sel : selection, optional
            Where they go; by default everywhere.
        """
        self._require_c_order(source)
        self[() if dest_sel is None else dest_sel] = source[() if source_sel is None else source_sel]

    def _require_c_order(self, array: Array) -> None:
        if self._empty:
            raise TypeError("Empty datasets have no numpy representation")
        if not array.flags.c_contiguous:
            raise TypeError("Array must be C-contiguous")

    def flush(self) -> None:
        """Do nothing: written elements are in the store already."""
        self._id.storage.require_open()

    def refresh(self) -> None:
        """Read shape and attributes anew from the store."""
        self._id.array = self._id.storage.node(self._id.path)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 dataset>"
        shown = "(anonymous)" if self.name is None else f'"{self._id.path.rpartition("/")[2]}"'
        kind = self.dtype.str if self.dtype.names is None and not self.dtype.shape else self.dtype
        return f'<HDF5 dataset {shown}: shape {self.shape}, type "{kind}">'


def _new_shape(shape: tuple[int, ...], size: Any, axis: int | None) -> tuple[int, ...]:
    if axis is not None:
        if not 0 <= axis < len(shape):
            raise ValueError(f"Invalid axis (0 to {len(shape) - 1} allowed), not {axis}")
        return (*shape[:axis], int(size), *shape[axis + 1 :])
    wanted = (int(size),) if isinstance(size, int | np.integer) else tuple(int(length) for length in size)
    if len(wanted) != len(shape):
        raise TypeError(f"New shape length ({len(wanted)}) must match dataset rank ({len(shape)})")
    return wanted


CLASSES["dataset"] = Dataset
