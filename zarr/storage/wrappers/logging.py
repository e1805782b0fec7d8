"""A store that writes down what is asked of another store."""

from __future__ import annotations

import logging
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import contextmanager
from functools import wraps
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
    def log(self, hint: Any = "", method: str | None = None) -> Generator[None, None, None]:
        """Log and count a method; its plain form and its coroutine have one name.

        Parameters
        ----------
        hint : object
            What the method is called with.
        method : str, optional
            Its name; without it, as subclasses written for zarr-python call this, that of the calling method.
        """
        if method is None:
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

    def __str__(self) -> str:
        return f"logging-{self._store}"

    def __eq__(self, other: object) -> bool:
        with self.log(other, "__eq__"):
            return type(self) is type(other) and self._store == other._store

    @property
    def read_only(self) -> bool:
        """Return whether the wrapped store refuses to be written to."""
        with self.log(method="read_only"):
            return self._store.read_only

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Log, and hand on."""
        key_ranges = list(key_ranges)
        with self.log(",".join(key for key, _ in key_ranges), "get_partial_values"):
            return await super().get_partial_values(prototype, key_ranges)

    async def is_empty(self, prefix: str = "") -> bool:
        """Log, and hand on."""
        with self.log(prefix, "is_empty"):
            return await super().is_empty(prefix)


_PROPERTIES = ("supports_writes", "supports_deletes", "supports_listing")
_ITERATORS = ("list", "list_prefix", "list_dir")
_COROUTINES = (
    "_open", "_ensure_open", "get", "exists", "set", "set_if_not_exists", "delete", "delete_dir", "clear", "getsize",
    "getsize_prefix",
)  # fmt: skip
_PLAIN = (
    "close", "get_sync", "get_ranges_sync", "set_sync", "delete_sync", "exists_sync", "getsize_sync", "list_sync",
    "list_prefix_sync", "list_dir_sync", "delete_dir_sync", "set_if_not_exists_sync",
)  # fmt: skip


def _hint(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return the key or prefix that a method is called with."""
    return args[0] if args else named.get("key", named.get("prefix", ""))


def _logged_coroutine(name: str) -> Any:
    inner: Any = getattr(WrapperStore, name)

    async def logged(self: LoggingStore[Any], *args: Any, **named: Any) -> Any:
        with self.log(_hint(args, named), name):
            return await inner(self, *args, **named)

    return wraps(inner)(logged)


def _logged_iterator(name: str) -> Any:
    inner: Any = getattr(WrapperStore, name)

    async def logged(self: LoggingStore[Any], *args: Any, **named: Any) -> AsyncGenerator[str, None]:
        with self.log(_hint(args, named), name):
            async for key in inner(self, *args, **named):
                yield key

    return wraps(inner)(logged)


def _logged_plain(name: str) -> Any:
    inner: Any = getattr(WrapperStore, name)
    method = name.removesuffix("_sync")

    def logged(self: LoggingStore[Any], *args: Any, **named: Any) -> Any:
        with self.log(_hint(args, named), method):
            return inner(self, *args, **named)

    return wraps(inner)(logged)


def _logged_property(name: str) -> Any:
    inner: Any = getattr(WrapperStore, name)

    def logged(self: LoggingStore[Any]) -> Any:
        with self.log(method=name):
            return inner.fget(self)

    return property(logged, doc=inner.__doc__)


for _names, _made in (
    (_COROUTINES, _logged_coroutine),
    (_ITERATORS, _logged_iterator),
    (_PLAIN, _logged_plain),
    (_PROPERTIES, _logged_property),
):
    for _name in _names:
        setattr(LoggingStore, _name, _made(_name))
