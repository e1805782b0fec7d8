"""Log the calls of a store, with their durations: ``LoggingStore``.

It logs what the library calls. The loggers of ``zarr.logs`` show requests and operations without a wrapper.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, Self, TypeVar

from zarr.abc.store import ByteRequest, Store
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.storage.wrappers.wrapper import WrapperStore

T_Store = TypeVar("T_Store", bound=Store)


def _subject(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the key or prefix of a call; an empty text if it is about the whole store."""
    return args[0] if args else options.get("key", options.get("prefix", ""))


def logged(name: str) -> Any:
    """Return a method that logs the call, with its first argument, and calls the wrapped store."""
    method, said = getattr(WrapperStore, name), _SAID_AS.get(name, name)

    def plain(self: LoggingStore[Any], *args: Any, **options: Any) -> Any:
        with self.log(_subject(args, options), method=said):
            return method(self, *args, **options)

    async def coroutine(self: LoggingStore[Any], *args: Any, **options: Any) -> Any:
        with self.log(_subject(args, options), method=said):
            return await method(self, *args, **options)

    async def listing(self: LoggingStore[Any], *args: Any) -> AsyncGenerator[str, None]:
        with self.log(*args, method=said):
            async for key in method(self, *args):
                yield key

    waits = name not in ("close", "list", "list_prefix", "list_dir") and not name.endswith("_sync")
    made = coroutine if waits else listing if name.startswith("list") and "_sync" not in name else plain
    return wraps(method, updated=())(made)


def logged_property(name: str) -> Any:
    """Return a property that logs each read and returns the value of the wrapped store."""

    def say(self: LoggingStore[Any]) -> Any:
        with self.log(method=name):
            return getattr(self._store, name)

    return property(say, doc=getattr(WrapperStore, name).__doc__)


class LoggingStore(WrapperStore[T_Store]):
    """Log every call with its duration, and count the calls of each method.

    Parameters
    ----------
    store : Store
        The store whose calls are logged.
    log_level : str
        The level of the lines that are logged. Default: ``"DEBUG"``.
    log_handler : logging.Handler, optional
        The handler; by default one that prints to standard output.

    Attributes
    ----------
    counter : dict
        The number of calls of each method.

    Examples
    --------
    >>> from zarr.storage import LoggingStore, MemoryStore
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
    def log(self, hint: Any = "", *, method: str | None = None) -> Generator[None, None, None]:
        """Log and count a call of a method; by default of the one that uses this context.

        Parameters
        ----------
        hint : object
            Further text for the line.
        method : str or None
            The name of the method.
        """
        method = (method or sys._getframe(2).f_code.co_name).removesuffix("_sync")
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
        """Make a store of ``store_cls`` with the given arguments, open it, and wrap it."""
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
        with self.log(other, method="__eq__"):
            return type(self) is type(other) and self._store == other._store

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Log the call, and call the wrapped store."""
        key_ranges = list(key_ranges)
        with self.log(",".join(key for key, _ in key_ranges), method="get_partial_values"):
            return await super().get_partial_values(prototype, key_ranges)

    async def is_empty(self, prefix: str = "") -> bool:
        """Log the call, and call the wrapped store."""
        with self.log(prefix, method="is_empty"):
            return bool(await super().is_empty(prefix))


_LOGGED: Final = (
    "_open _ensure_open close get exists set set_if_not_exists delete delete_dir clear getsize getsize_prefix list "
    "list_prefix list_dir get_sync get_ranges_sync set_sync delete_sync exists_sync getsize_sync list_sync "
    "list_prefix_sync list_dir_sync delete_dir_sync set_if_not_exists_sync get_versioned set_if_version put_if_absent"
)
"""The methods whose calls are logged."""
_SAID_AS: Final = {"get_versioned": "get", "set_if_version": "set", "put_if_absent": "set_if_not_exists"}
"""The names of methods in the log that are not their own."""

for _name in _LOGGED.split():
    setattr(LoggingStore, _name, logged(_name))
for _name in ("read_only", "supports_writes", "supports_deletes", "supports_listing"):
    setattr(LoggingStore, _name, logged_property(_name))
