"""A storage transformer: every byte of a stored chunk is changed by exclusive or."""

from __future__ import annotations

from zarr.abc.storage_transformer import StorageTransformer
from zarr.storage import WrapperStore


class Mask(StorageTransformer):
    """Masks stored chunks with the number ``mask``."""

    name = "example.mask"

    def wrap(self, store, path):
        """Return the store that masks."""
        return MaskedStore(store, self.configuration.get("mask", 255))


class MaskedStore(WrapperStore):
    """Masks what it hands on."""

    def __init__(self, store, mask):
        super().__init__(store)
        self.mask = mask

    def _masked(self, value):
        return type(value).from_bytes(bytes(byte ^ self.mask for byte in value.to_bytes()))

    async def get(self, key, prototype, byte_range=None):
        """Read and unmask."""
        value = await super().get(key, prototype, byte_range)
        return None if value is None else self._masked(value)

    async def set(self, key, value):
        """Mask and store."""
        await super().set(key, self._masked(value))
