"""The documents of a hierarchy out of their one copy, its chunks out of the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from zarr.abc.store import Store
from zarr.buffer.core import default_buffer_prototype
from zarr.errors import MetadataValidationError
from zarr.storage.version2.base import Format2Store, document_of

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype


class ConsolidatedMetadataStore(Format2Store[Store]):
    """A store that reads documents from the copy that ``zarr.consolidate_metadata`` made; it cannot be written to.

    Parameters
    ----------
    store : Store
        With synchronous methods.
    metadata_key : str
        The key of the copy.

    Raises
    ------
    KeyError
        There is no copy.
    MetadataValidationError
        It is not one, or of another version.
    """

    def __init__(self, store: Store, metadata_key: str = ".zmetadata") -> None:
        super().__init__(store.with_read_only(True), getattr(store, "dimension_separator", None))
        raw = self._store.get_sync(metadata_key)  # type: ignore[attr-defined]
        if raw is None:
            raise KeyError(metadata_key)
        copy = json.loads(raw.to_bytes())
        if not isinstance(copy, dict) or copy.get("zarr_consolidated_format") != 1:
            raise MetadataValidationError(f"{metadata_key!r} is no consolidated metadata of version 1")
        make = default_buffer_prototype().buffer.from_bytes
        self._documents = {key: make(json.dumps(value).encode()) for key, value in copy["metadata"].items()}

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Read a document from the copy, any other value from the store."""
        if document_of(key) is not None:
            return self._outward(key, self._documents.get(key))
        return await super().get(key, prototype, byte_range)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read a document from the copy, any other value from the store."""
        if document_of(key) is not None:
            return self._outward(key, self._documents.get(key))
        return super().get_sync(key, prototype=prototype, byte_range=byte_range)
