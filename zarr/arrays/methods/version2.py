"""Methods that arrays had in zarr-python 2 and still have here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from zarr import dtype as _dtype
from zarr._lazy import LazyModule
from zarr.arrays.handle import ArrayHandle
from zarr.arrays.methods.properties import ArrayFace, OlderNodeMembers
from zarr.chunks import shapes
from zarr.steps.requests import Get, Steps
from zarr.storage.path import StorePath
from zarr.types import parse_shapelike

if TYPE_CHECKING:
    import hashlib

    from zarr.arrays.change import operations
    from zarr.arrays.methods import indexers
else:
    hashlib = LazyModule("hashlib")
    indexers = LazyModule("zarr.arrays.methods.indexers")
    operations = LazyModule("zarr.arrays.change.operations")

DOCUMENTS = {2: (".zarray", ".zattrs"), 3: ("zarr.json",)}


def digest_steps(handle: ArrayHandle, hashname: str) -> Steps[bytes]:
    """Return the checksum of all stored objects of an array, in the order of their places, and of its documents."""
    checksum = hashlib.new(hashname)
    metadata, path = handle.metadata, handle.store_path.path
    prefix = f"{path}/" if path else ""
    shape = handle.layout.outer.cdata_shape
    keys = [metadata.encode_chunk_key(coords) for coords in shapes.cells([range(n) for n in shape])]
    for key in (*keys, *DOCUMENTS[metadata.zarr_format]):
        value = yield Get(prefix + key)
        checksum.update(b"" if value is None else value.to_bytes())
    return checksum.digest()


class OlderMembers(OlderNodeMembers, ArrayFace):
    """The members of ``Array`` that zarr-python 3 has no more."""

    _viewed = False

    @property
    def itemsize(self) -> int:
        """Bytes of an element, as numpy counts them."""
        return self.dtype.itemsize

    @property
    def initialized(self) -> int:
        """Another name of ``nchunks_initialized``."""
        return int(self.nchunks_initialized)  # type: ignore[attr-defined]

    @property
    def write_empty_chunks(self) -> bool:
        """True if chunks of nothing but the fill value are stored."""
        return bool(self.config.write_empty_chunks)

    @property
    def synchronizer(self) -> None:
        """Always None: which locks are taken is told by ``config.locking``."""
        return None

    @property
    def is_view(self) -> bool:
        """True if the array was made by :meth:`view`."""
        return self._viewed

    def _read_attributes(self) -> None:
        self._run(operations.refresh_steps(self._handle))

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Yield the elements of the first dimension from one place to another; no chunk is read twice.

        Parameters
        ----------
        start, end : int, optional
            As in a slice, counted from the front.

        Examples
        --------
        >>> import zarr
        >>> [int(row) for row in zarr.array([3, 1, 2]).islice(1)]
        [1, 2]
        """
        return islice(indexers.iterate_rows(self, start or 0), None if end is None else max(0, end - (start or 0)))  # type: ignore[arg-type]

    def digest(self, hashname: str = "sha1") -> bytes:
        """Return a checksum of the array as it is stored: its encoded chunks, its attributes and its document.

        Parameters
        ----------
        hashname : str
            A name that :mod:`hashlib` knows.

        Raises
        ------
        ValueError
            It knows none of that name.

        Examples
        --------
        >>> import zarr
        >>> len(zarr.array([1, 2]).digest("md5"))
        16
        """
        found: bytes = self._run(digest_steps(self._handle, hashname))
        return found

    def hexdigest(self, hashname: str = "sha1") -> str:
        """Return the checksum of :meth:`digest` as text.

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
        """Look at the stored chunks in another way. Nothing is stored for it; what is written through it is.

        Parameters
        ----------
        shape, chunks, dtype, fill_value, filters
            Instead of those of the array, which must fit the bytes that are stored.
        read_only : bool, optional
        synchronizer
            See :func:`zarr.create`.

        Returns
        -------
        Array

        Raises
        ------
        ValueError, TypeError
            The changed description is not one of an array.

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
        other = self.from_handle(ArrayHandle(place, metadata, self.config))
        other._viewed = True
        return other


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
    if "dtype" in changes:
        zdtype = _dtype.parse_dtype(changes["dtype"], zarr_format=metadata.zarr_format)
        told: Any = zdtype.to_json(zarr_format=metadata.zarr_format)
        document["dtype" if of_2 else "data_type"] = told["name"] if of_2 else told
        if "fill_value" not in changes:
            old = metadata.fill_value
            fill = zdtype.default_scalar() if old is None else np.asarray(old).astype(zdtype.to_native_dtype())[()]
            document["fill_value"] = zdtype.to_json_scalar(fill, zarr_format=metadata.zarr_format)
    if "fill_value" in changes:
        document["fill_value"] = changes["fill_value"]
    if "filters" in changes:
        if not of_2:
            raise ValueError("the filters of a view can be chosen in format 2 only; in format 3 they are codecs")
        document["filters"] = [f.get_config() if hasattr(f, "get_config") else f for f in changes["filters"]] or None
    return type(metadata).from_dict(document)
