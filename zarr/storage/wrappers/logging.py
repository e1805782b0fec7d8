"""A store that writes down what is asked of another store."""

from __future__ import annotations

import logging
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

from zarr.abc.store import Store
from zarr.storage.wrappers.wrapper import WrapperStore

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype

T_Store = TypeVar("T_Store", bound=Store)


class LoggingStore(WrapperStore[T_Store]):
    """Logs every call, with the time it took, and counts the calls of each method.

    Parameters
    ----------
    store : Store
    log_level : str
    log_handler : logging.Handler, optional
        By default one that prints to standard output.

    Attributes
    ----------
    counter : dict
        How often each method was called.

    Examples
    --------
    >>> from zarr.storage import MemoryStore
    >>> store = LoggingStore(MemoryStore(), log_level="ERROR")
    >>> store.exists_sync("a")
    False
    >>> store.counter["exists"]
    1
    """

    counter: defaultdict[str, int]

    def __init__(self, store: T_Store, log_level: str = "DEBUG", log_handler: logging.Handler | None = None) -> None:
        super().__init__(store)
        self.counter = defaultdict(int)
        self.log_level = log_level
        self.log_handler = log_handler
        self._configure_logger(log_level, log_handler)

    def _configure_logger(self, log_level: str = "DEBUG", log_handler: logging.Handler | None = None) -> None:
        self.log_level = log_level
        self.logger = logging.getLogger(f"LoggingStore({self._store})")
        self.logger.setLevel(log_level)
        if not self.logger.hasHandlers():
            self.logger.addHandler(log_handler or self._default_handler())
        elif log_handler is not None and log_handler not in self.logger.handlers:
            self.logger.addHandler(log_handler)

    def _default_handler(self) -> logging.Handler:
        handler = logging.StreamHandler(stream=sys.stdout)
        handler.setLevel(self.log_level)
        handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
        return handler

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["logger"], state["log_handler"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.log_handler = None
        self._configure_logger(self.log_level)

    @contextmanager
    def log(self, hint: Any = "") -> Generator[None, None, None]:
        """Log and count the method that uses this context, whether it is a coroutine or its plain twin."""
        method = sys._getframe(2).f_code.co_name.removesuffix("_sync")
        operation = f"{type(self._store).__name__}.{method}"
        if hint != "":
            operation = f"{operation}({hint})"
        self.logger.info(" Calling %s", operation)
        start = time.time()
        self.counter[method] += 1
        try:
            yield
        finally:
            self.logger.info("Finished %s [%.2f s]", operation, time.time() - start)

    @classmethod
    async def open(cls: type[Self], store_cls: type[T_Store], *args: Any, **kwargs: Any) -> Self:
        """Make a store of ``store_cls`` with the arguments given, open it, and wrap it."""
        log_level = kwargs.pop("log_level", "DEBUG")
        log_handler = kwargs.pop("log_handler", None)
        store = store_cls(*args, **kwargs)
        await store._open()
        return cls(store=store, log_level=log_level, log_handler=log_handler)

    def _with_store(self, store: T_Store) -> Self:
        return type(self)(store=store, log_level=self.log_level, log_handler=self.log_handler)

    async def _open(self) -> None:
        with self.log():
            await super()._open()

    async def _ensure_open(self) -> None:
        with self.log():
            await super()._ensure_open()

    def close(self) -> None:
        """Log, and close the wrapped store."""
        with self.log():
            super().close()

    def __str__(self) -> str:
        return f"logging-{self._store}"

    def __eq__(self, other: object) -> bool:
        with self.log(other):
            return type(self) is type(other) and self._store == other._store

    @property
    def read_only(self) -> bool:
        """Return whether the wrapped store refuses to be written to."""
        with self.log():
            return self._store.read_only

    @property
    def supports_writes(self) -> bool:
        """What the wrapped store says."""
        with self.log():
            return super().supports_writes

    @property
    def supports_deletes(self) -> bool:
        """What the wrapped store says."""
        with self.log():
            return super().supports_deletes

    @property
    def supports_listing(self) -> bool:
        """What the wrapped store says."""
        with self.log():
            return super().supports_listing

    # Coroutines

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Log, and hand on."""
        with self.log(key):
            return await super().get(key, prototype, byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Log, and hand on."""
        key_ranges = list(key_ranges)
        with self.log(",".join(key for key, _ in key_ranges)):
            return await super().get_partial_values(prototype, key_ranges)

    async def exists(self, key: str) -> bool:
        """Log, and hand on."""
        with self.log(key):
            return await super().exists(key)

    async def set(self, key: str, value: Buffer) -> None:
        """Log, and hand on."""
        with self.log(key):
            await super().set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Log, and hand on."""
        with self.log(key):
            await super().set_if_not_exists(key, value)

    async def delete(self, key: str) -> None:
        """Log, and hand on."""
        with self.log(key):
            await super().delete(key)

    async def delete_dir(self, prefix: str) -> None:
        """Log, and hand on."""
        with self.log(prefix):
            await super().delete_dir(prefix)

    async def clear(self) -> None:
        """Log, and hand on."""
        with self.log():
            await super().clear()

    async def is_empty(self, prefix: str = "") -> bool:
        """Log, and hand on."""
        with self.log(prefix):
            return await super().is_empty(prefix)

    async def getsize(self, key: str) -> int:
        """Log, and hand on."""
        with self.log(key):
            return await super().getsize(key)

    async def getsize_prefix(self, prefix: str) -> int:
        """Log, and hand on."""
        with self.log(prefix):
            return await super().getsize_prefix(prefix)

    async def list(self) -> AsyncGenerator[str, None]:
        """Log, and hand on."""
        with self.log():
            async for key in super().list():
                yield key

    async def list_prefix(self, prefix: str) -> AsyncGenerator[str, None]:
        """Log, and hand on."""
        with self.log(prefix):
            async for key in super().list_prefix(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncGenerator[str, None]:
        """Log, and hand on."""
        with self.log(prefix):
            async for key in super().list_dir(prefix):
                yield key

    # Plain methods

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """Log, and hand on."""
        with self.log(key):
            return super().get_sync(key, prototype=prototype, byte_range=byte_range)

    def get_ranges_sync(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Log, and hand on."""
        with self.log(key):
            return super().get_ranges_sync(
                key,
                byte_ranges,
                prototype=prototype,
                max_gap_bytes=max_gap_bytes,
                max_coalesced_bytes=max_coalesced_bytes,
            )

    def set_sync(self, key: str, value: Buffer) -> None:
        """Log, and hand on."""
        with self.log(key):
            super().set_sync(key, value)

    def delete_sync(self, key: str) -> None:
        """Log, and hand on."""
        with self.log(key):
            super().delete_sync(key)

    def exists_sync(self, key: str) -> bool:
        """Log, and hand on."""
        with self.log(key):
            return super().exists_sync(key)

    def getsize_sync(self, key: str) -> int:
        """Log, and hand on."""
        with self.log(key):
            return super().getsize_sync(key)

    def list_sync(self) -> Iterable[str]:
        """Log, and hand on."""
        with self.log():
            return super().list_sync()

    def list_prefix_sync(self, prefix: str) -> Iterable[str]:
        """Log, and hand on."""
        with self.log(prefix):
            return super().list_prefix_sync(prefix)

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Log, and hand on."""
        with self.log(prefix):
            return super().list_dir_sync(prefix)

    def delete_dir_sync(self, prefix: str) -> None:
        """Log, and hand on."""
        with self.log(prefix):
            super().delete_dir_sync(prefix)

    def set_if_not_exists_sync(self, key: str, value: Buffer) -> None:
        """Log, and hand on."""
        with self.log(key):
            super().set_if_not_exists_sync(key, value)
