"""The inherited tests hold for our own stores, and fail for stores that break the contract."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.abc.buffer import Buffer
from zarr.abc.store import Store
from zarr.buffer import cpu, default_buffer_prototype
from zarr.experimental.cache_store import CacheStore
from zarr.storage import LocalStore, LoggingStore, MemoryStore, WrapperStore
from zarr.testing.store import StoreTests


class TestMemoryStore(StoreTests[MemoryStore, cpu.Buffer]):
    store_cls = MemoryStore
    buffer_cls = cpu.Buffer

    async def set(self, store: MemoryStore, key: str, value: Buffer) -> None:
        store._store_dict[key] = value

    async def get(self, store: MemoryStore, key: str) -> Buffer:
        return store._store_dict[key]

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store_dict": {}}

    async def test_serializable_store(self, store: MemoryStore) -> None:
        """A pickle of memory has memory of its own, with the same values."""
        await self.set(store, "foo", cpu.Buffer.from_bytes(b"x"))
        again = pickle.loads(pickle.dumps(store))
        assert (await self.get(again, "foo")).to_bytes() == b"x"
        await again.set("bar", cpu.Buffer.from_bytes(b"y"))
        assert not await store.exists("bar")
        assert again.read_only == store.read_only

    def test_store_repr(self, store: MemoryStore) -> None:
        assert str(store) == f"memory://{id(store._store_dict)}"

    def test_store_supports_writes(self, store: MemoryStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: MemoryStore) -> None:
        assert store.supports_listing


class TestLocalStore(StoreTests[LocalStore, cpu.Buffer]):
    store_cls = LocalStore
    buffer_cls = cpu.Buffer

    async def set(self, store: LocalStore, key: str, value: Buffer) -> None:
        path = Path(store.root) / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value.to_bytes())

    async def get(self, store: LocalStore, key: str) -> Buffer:
        return cpu.Buffer.from_bytes((Path(store.root) / key).read_bytes())

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"root": tmp_path}

    def test_store_repr(self, store: LocalStore) -> None:
        assert str(store) == f"file://{store.root.as_posix()}"

    def test_store_supports_writes(self, store: LocalStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: LocalStore) -> None:
        assert store.supports_listing


class WrapperSuite(StoreTests[Any, cpu.Buffer]):
    """What the tests of wrappers have in common: they look at the store behind."""

    buffer_cls = cpu.Buffer

    async def set(self, store: Any, key: str, value: Buffer) -> None:
        await store._store.set(key, value)

    async def get(self, store: Any, key: str) -> Buffer:
        found = await store._store.get(key, default_buffer_prototype())
        assert found is not None
        return found

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"store": LocalStore(tmp_path)}

    async def _made(self, kwargs: dict[str, Any]) -> Any:
        kwargs = dict(kwargs)
        if kwargs.pop("read_only", False):
            kwargs["store"] = kwargs["store"].with_read_only(read_only=True)
        await kwargs["store"]._ensure_open()
        return self.store_cls(**kwargs)

    @pytest.fixture
    async def store(self, store_kwargs: dict[str, Any]) -> Store:
        return await self._made(store_kwargs)

    @pytest.mark.parametrize("read_only", [True, False])
    async def test_store_open_read_only(self, open_kwargs: dict[str, Any], read_only: bool) -> None:
        store = await self._made({**open_kwargs, "read_only": read_only})
        assert store.read_only == read_only

    async def test_read_only_store_raises(self, open_kwargs: dict[str, Any]) -> None:
        store = await self._made({**open_kwargs, "read_only": True})
        for change in (store.set("foo", cpu.Buffer.from_bytes(b"x")), store.delete("foo")):
            with pytest.raises(ValueError, match="read-only"):
                await change

    async def test_with_read_only_store(self, open_kwargs: dict[str, Any]) -> None:
        store = await self._made({**open_kwargs, "read_only": True})
        writer = store.with_read_only(read_only=False)
        await writer.set("foo", cpu.Buffer.from_bytes(b"x"))
        with pytest.raises(ValueError, match="read-only"):
            await writer.with_read_only(read_only=True).set("foo", cpu.Buffer.from_bytes(b"x"))

    async def test_store_context_manager(self, open_kwargs: dict[str, Any]) -> None:
        """A wrapper is opened, and closed, with the store that it wraps."""
        with await self._made(open_kwargs) as store:
            assert store._is_open
        assert not store._is_open
        assert not store._store._is_open

    def test_store_repr(self, store: Any) -> None:
        assert str(store._store) in str(store)

    def test_store_supports_writes(self, store: Any) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: Any) -> None:
        assert store.supports_listing


class TestWrapperStore(WrapperSuite):
    store_cls = WrapperStore


class TestLoggingStore(WrapperSuite):
    store_cls = LoggingStore


class TestCacheStore(WrapperSuite):
    store_cls = CacheStore

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        (tmp_path / "store").mkdir()
        return {"store": LocalStore(tmp_path / "store"), "cache_store": LocalStore(tmp_path / "cache")}


class Forgetful(MemoryStore):
    """Breaks the contract: stored values lose their last byte."""

    def set_sync(self, key: str, value: Buffer) -> None:
        super().set_sync(key, value[: len(value) - 1] if len(value) else value)

    async def set(self, key: str, value: Buffer) -> None:
        await super().set(key, value[: len(value) - 1] if len(value) else value)


class ForgetfulSuite(TestMemoryStore):
    """Not collected; its tests are called by hand."""

    __test__ = False
    store_cls = Forgetful


async def test_a_broken_store_is_found_out() -> None:
    suite = ForgetfulSuite()
    with pytest.raises(AssertionError):
        await suite.test_set(Forgetful(), "a", b"1234")
    with pytest.raises(AssertionError):
        suite.test_set_sync(Forgetful())


def test_the_plugin_registers_its_marker(pytestconfig: pytest.Config) -> None:
    class Config:
        lines: list[str] = []

        def addinivalue_line(self, name: str, line: str) -> None:
            self.lines.append(f"{name}: {line}")

    zarr.testing.pytest_configure(Config())  # type: ignore[arg-type]
    assert "gpu" in Config.lines[0]
    assert zarr.testing.StoreTests is StoreTests
