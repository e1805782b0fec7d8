"""Where the contents of a new array go: before its document, or behind it in stores that know of nodes."""

from __future__ import annotations

import numpy as np
import pytest

import zarr
from zarr.buffer.core import Buffer
from zarr.storage import LoggingStore, MemoryStore


class NodeStore(MemoryStore):
    """Refuses values below a node that it has not got."""

    contents_first = False

    def set_sync(self, key: str, value: Buffer) -> None:
        node, _, _ = key.partition("c/")
        if node != key and f"{node}zarr.json" not in self._store_dict:
            raise KeyError(f"no node for {key}")
        super().set_sync(key, value)

    async def set(self, key: str, value: Buffer, byte_range: tuple[int, int] | None = None) -> None:
        self.set_sync(key, value)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_store_that_knows_of_nodes_gets_the_document_first(wrapped: bool, overwrite: bool) -> None:
    inner = NodeStore()
    store = LoggingStore(inner) if wrapped else inner
    if overwrite:
        zarr.create_array(store, name="x", data=np.ones(3))
    array = zarr.create_array(store, name="x", data=np.arange(10), chunks=(4,), overwrite=overwrite)
    np.testing.assert_array_equal(array[:], np.arange(10))


def test_other_stores_show_an_array_when_it_is_whole() -> None:
    order: list[str] = []

    class Noting(MemoryStore):
        def set_sync(self, key: str, value: Buffer) -> None:
            order.append(key)
            super().set_sync(key, value)

        def put_if_absent_sync(self, key: str, value: Buffer) -> bool:
            order.append(key)
            return super().put_if_absent_sync(key, value)

    zarr.create_array(Noting(), data=np.arange(4), chunks=(4,))
    assert order.index("c/0") < order.index("zarr.json")
