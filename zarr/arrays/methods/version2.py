"""Define the methods of arrays of zarr-python 2 that this library keeps.

``zarr.Array`` inherits them. New code uses the names of zarr-python 3.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from zarr import dtype as _dtype
from zarr._lazy import LazyModule, numcodecs
from zarr.abc.codec import ArrayArrayCodec
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.io.reading import iterate_rows
from zarr.arrays.methods.properties import ArrayFace, OlderNodeMembers
from zarr.chunks.spec import parse_array_config
from zarr.registry import get_codec_class
from zarr.storage.path import StorePath
from zarr.types import parse_shapelike

if TYPE_CHECKING:
    from zarr.arrays import change, stored
    from zarr.arrays.create import codecs
    from zarr.runners.locks import synchronizers
else:
    codecs, synchronizers = LazyModule("zarr.arrays.create.codecs"), LazyModule("zarr.runners.locks.synchronizers")
    change = LazyModule("zarr.arrays.change")
    stored = LazyModule("zarr.arrays.stored")


class OlderMembers(OlderNodeMembers, ArrayFace):
    """The members of ``Array`` that zarr-python 3 no longer has."""

    _viewed = False

    @property
    def itemsize(self) -> int:
        """Number of bytes of an element, as in NumPy."""
        return self.dtype.itemsize

    @property
    def initialized(self) -> int:
        """Another name of ``nchunks_initialized``."""
        return int(self.nchunks_initialized)  # type: ignore[attr-defined]

    @property
    def write_empty_chunks(self) -> bool:
        """True if chunks that hold the fill value only are stored."""
        return bool(self.config.write_empty_chunks)

    @property
    def synchronizer(self) -> None:
        """Return None always: ``config.locking`` chooses the locks."""
        return None

    @property
    def is_view(self) -> bool:
        """True if the array was made by :meth:`view`."""
        return self._viewed

    # Names with an underscore that programs used nevertheless.

    @property
    def _version(self) -> int:
        return int(self.metadata.zarr_format)

    _cache_metadata = True

    @property
    def _dimension_separator(self) -> str:
        return str(self.metadata.chunk_key_encoding.separator)

    @property
    def _key_prefix(self) -> str:
        return f"{self.path}/" if self.path else ""

    def _chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        return self._handle.layout.key(chunk_coords)

    def _read_attributes(self) -> None:
        self._run(change.refresh_steps(self._handle))

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Yield the elements of the first dimension from one place to another; no chunk is read twice.

        Parameters
        ----------
        start, end : int, optional
            Places as in a slice, counted from the front.

        Returns
        -------
        iterator
            The subarrays along the first axis.

        Raises
        ------
        ValueError
            ``start`` or ``end`` is negative, or no integer.

        Examples
        --------
        >>> import zarr
        >>> [int(row) for row in zarr.array([3, 1, 2]).islice(1)]
        [1, 2]
        """
        for place in (start, end):
            if place is not None and (not isinstance(place, int | np.integer) or place < 0):
                raise ValueError(f"islice counts from the front: start and end are integers from 0, got {place!r}")
        return islice(iterate_rows(self, start or 0), None if end is None else max(0, end - (start or 0)))

    def digest(self, hashname: str = "sha1") -> bytes:
        """Return a checksum of the stored array: its encoded chunks, its attributes and its document.

        Parameters
        ----------
        hashname : str
            The name of a hash of :mod:`hashlib`. Default: ``"sha1"``.

        Returns
        -------
        bytes
            The hash.

        Raises
        ------
        ValueError
            If :mod:`hashlib` has no hash of that name.

        Examples
        --------
        >>> import zarr
        >>> len(zarr.array([1, 2]).digest("md5"))
        16
        """
        found: bytes = self._run(stored.digest_steps(self._handle, hashname))
        return found

    def hexdigest(self, hashname: str = "sha1") -> str:
        """Return the checksum of :meth:`digest` as text.

        Parameters
        ----------
        hashname : str
            The name of a hash of :mod:`hashlib`. Default: ``"sha1"``.

        Returns
        -------
        str
            The hash in hexadecimal digits.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.array([1, 2])
        >>> before = array.hexdigest()
        >>> array[0] = 5
        >>> array.hexdigest() == before
        False
        """
        return self.digest(hashname).hex()

    def view(
        self,
        shape: Any = None,
        chunks: Any = None,
        dtype: Any = None,
        fill_value: Any = None,
        filters: Any = None,
        read_only: bool | None = None,
        synchronizer: Any = None,
    ) -> Self:
        """Return a view of the stored chunks with other metadata; the metadata are not stored, written elements are.

        Parameters
        ----------
        shape, chunks, dtype, fill_value, filters
            They replace those of the array, and must fit the stored bytes. Filters are codecs of either format; with an
            empty list, the view does not apply the filters of the array.
        read_only : bool, optional
            If True, the view refuses writes. Default: as this array.
        synchronizer
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Raises
        ------
        ValueError, TypeError
            If the new metadata are not valid for an array.

        Examples
        --------
        >>> import numpy as np
        >>> import zarr
        >>> array = zarr.array(np.array([1, -1], dtype="int8"))
        >>> array.view(dtype="uint8")[:]
        array([  1, 255], dtype=uint8)
        """
        changes = {"shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": fill_value, "filters": filters}
        metadata = viewed_metadata(self.metadata, {k: v for k, v in changes.items() if v is not None})
        store = self.store if read_only is None else self.store.with_read_only(read_only)
        place = StorePath(store, self.store_path.path)
        config = parse_array_config(synchronizers.with_synchronizer(self.config, synchronizer))
        other = self.from_handle(ArrayHandle(place, metadata, config))
        other._viewed = True
        return other

    def _converted(self, dtype: np.dtype[Any]) -> Self:
        """Return a view whose elements are converted as they are read."""
        for each in (self.dtype, dtype):
            if each.kind in "OT":
                advice = f"read them first: array[:].astype({str(dtype)!r})"
                raise TypeError(f"elements of {each} have no fixed size; {advice}")
        codec = numcodecs.AsType(encode_dtype=self.dtype, decode_dtype=dtype)
        return self.view(filters=[codec, *self.filters], dtype=dtype, read_only=True)

    def _refuse_views(self) -> None:
        if self._viewed:
            raise PermissionError(f"operation not permitted for views, as this one of {self._handle.describe()}")


def viewed_metadata(metadata: Any, changes: dict[str, Any]) -> Any:
    """Return the metadata of an array with parts of it replaced."""
    document: dict[str, Any] = metadata.to_dict()
    of_2 = metadata.zarr_format == 2
    if "shape" in changes:
        document["shape"] = parse_shapelike(changes["shape"])
    if "chunks" in changes:
        lengths = parse_shapelike(changes["chunks"])
        grid = {"name": "regular", "configuration": {"chunk_shape": lengths}}
        document.update({"chunks": lengths} if of_2 else {"chunk_grid": grid})
    zdtype = _dtype.parse_dtype(changes.get("dtype", metadata.dtype), zarr_format=metadata.zarr_format)
    if "dtype" in changes:
        data_type: Any = zdtype.to_json(zarr_format=metadata.zarr_format)
        document["dtype" if of_2 else "data_type"] = data_type["name"] if of_2 else data_type
        if "fill_value" not in changes:
            fill = _fill_as(metadata.fill_value, zdtype)
            document["fill_value"] = zdtype.to_json_scalar(fill, zarr_format=metadata.zarr_format)
    if "fill_value" in changes:
        document["fill_value"] = changes["fill_value"]
    if "filters" in changes:
        if of_2:
            filters = [f.get_config() if hasattr(f, "get_config") else f for f in changes["filters"]]
            document["filters"] = filters or None
        else:
            parsed = codecs.parse_codecs(changes["filters"], zdtype, ArrayArrayCodec, "a filter")
            document["codecs"] = _with_filters(document["codecs"], [codec.to_dict() for codec in parsed])
    return type(metadata).from_dict(document)


def _fill_as(old: Any, zdtype: Any) -> Any:
    """Return a fill value as one of another data type; its default, where the other has no such value."""
    if old is not None:
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            return np.asarray(old).astype(zdtype.to_native_dtype())[()]
    return zdtype.default_scalar()


def _with_filters(stored: list[dict[str, Any]], filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return codecs of format 3 with other filters; where there are shards, those of the inner chunks are meant."""
    at = next(i for i, codec in enumerate(stored) if not issubclass(get_codec_class(codec["name"]), ArrayArrayCodec))
    if stored[at]["name"] != "sharding_indexed":
        return [*filters, *stored[at:]]
    settings = dict(stored[at]["configuration"])
    settings["codecs"] = _with_filters(list(settings["codecs"]), filters)
    return [*stored[:at], {**stored[at], "configuration": settings}, *stored[at + 1 :]]
