"""Faults of a network: which ones are temporary, and how their requests are repeated.

A temporary fault is an answer 408, 429, 500, 502, 503 or 504, a broken connection, a missing answer, or an answer with
other bytes than requested. An unknown host, a refused connection and all other answers (403, 404) are final.

The clients differ in their own retries: aiohttp has none; botocore tries five times, and s3fs repeats that five times;
obstore tries eleven times. So that retries do not multiply, the stores use clients without retries and repeat requests
here. If the user has configured retries of the client (``retry_config``, ``config_kwargs``), the client repeats, and
the store does not.
"""

from __future__ import annotations

import asyncio
import email.utils
import random
import re
import threading
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from zarr.abc.store import ByteRequest
from zarr.buffer.core import Buffer, BufferPrototype, default_buffer_prototype
from zarr.defaults import settings
from zarr.errors import StoreUnavailableError
from zarr.storage.base import NamedStore
from zarr.storage.checks import check_buffer

T = TypeVar("T")

SHORTEST: Final = 0.05
"""Seconds: the maximum of the first pause."""
GROWTH: Final = 1.5
"""The maximum of a pause, over that of the pause before: with 2, a few requests of many would hold up all others."""
LONGEST: Final = 5.0
"""Seconds: the maximum of all pauses, unless the server requests a longer one."""
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_NAMES: Final = frozenset(
    {
        # Errors of aiohttp, botocore and fsspec, by name: packages that are not installed cannot be imported.
        *("ClientPayloadError", "ClientConnectionError", "HTTPClientError", "ConnectTimeoutError"),
        *("ResponseParserError", "IncompleteReadError", "IncompleteRead", "FSTimeoutError"),
        *("ConnectionResetError", "ConnectionAbortedError", "BrokenPipeError", "TimeoutError"),
        "StoreUnavailableError",
    }
)
_FINAL: Final = frozenset({"ClientConnectorError", "EndpointConnectionError", "SSLError"})
_REFUSING: Final = frozenset({405, 501})
"""Statuses by which services answer to a condition that they do not know."""

_REFUSED: Final = frozenset({"NotImplemented", "NotSupported", "InvalidArgument", "InvalidRequest"})
"""Codes of such an answer with status 400, which also means other mistakes, and faults."""

_CODE: Final = re.compile(r"<Code>(\w+)</Code>")

_COMPARED: Final = 64 << 20
"""A value of more bytes is not stored on a condition: one request for all of it could take longer than allowed."""

_STATUS: Final = re.compile(r"status code: (\d{3})")
_UNREADABLE: Final = "Error decoding"
"""obstore: the answer is complete but not as the protocol defines it, for example of a web server without listings."""
_BROKEN: Final = re.compile(r"HTTP error|Requested \d+\.\.\d+, got |response body|timed out")


class Retries:
    """Limit the repeats of a request after a temporary fault, and count the repeats of a store.

    Parameters
    ----------
    given : mapping, optional
        Settings ``network.*`` of this store alone, by their last names. Default: those of ``zarr.config``.

    Attributes
    ----------
    count : int
        The number of repeated requests.

    Raises
    ------
    TypeError
        If there is no such setting.
    ValueError
        If a setting has a value that cannot be used for it.
    """

    def __init__(self, given: Mapping[str, float] | None = None) -> None:
        values = {**settings.get("network"), **(given or {})}
        if unknown := values.keys() - {"tries", "seconds", "request_seconds"}:
            raise TypeError(f"network has no setting {sorted(unknown)}; known are tries, seconds and request_seconds")
        if not (values["tries"] >= 1 and values["seconds"] >= 0 and values["request_seconds"] > 0):
            raise ValueError(f"network needs tries of 1 or more, and seconds greater than 0, got {values}")
        self.tries = int(values["tries"])
        self.seconds = float(values["seconds"])
        self.request_seconds = float(values["request_seconds"])
        self.count = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"} | {"count": 0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    async def run(self, what: str, key: str, call: Callable[[int], Awaitable[T]]) -> T:
        """Return the result of a call that may be repeated; after a temporary fault, repeat it.

        Parameters
        ----------
        what, key : str
            For messages: the kind of the request and its key.
        call : callable
            Receives the number of the repeat, from 0.

        Raises
        ------
        StoreUnavailableError
            If it failed as often, or for as long, as the settings allow.
        """
        attempts = Attempts(self, what, key)
        while True:
            try:
                return await call(attempts.repeats)
            except Exception as error:
                if not await attempts.go_on(error):
                    raise

    async def put_once(
        self, key: str, put: Callable[[], Awaitable[bool]], outcome: Callable[[], Awaitable[bool | None]]
    ) -> bool:
        """Store a value on a condition; return True if this call stored it.

        After a fault it is unknown if the value was stored, so the key is read.

        Parameters
        ----------
        key : str
        put : callable
            Tries to store the value; returns False if the condition does not hold.
        outcome : callable
            Reads the key; returns True if it holds the new value, None if it still holds the old one, so that the call
            is tried again, False if another writer came first. Has its own retries.
        """
        attempts = Attempts(self, "put on a condition", key)
        while True:
            try:
                return await put() or (attempts.repeats > 0 and bool(await outcome()))
            except Exception as error:
                if not await attempts.go_on(error):
                    raise
            stored = await outcome()
            if stored is not None:
                return stored


class RetryingStore(NamedStore):
    """A store of coroutines whose requests are repeated after temporary faults."""

    _retries: Retries
    _compares = True
    """False once the service has refused a conditional request."""
    _creates = True
    """False once it has refused the condition that there is no value; some services know that one alone."""

    @property
    def retries(self) -> int:
        """Return the number of repeated requests."""
        return self._retries.count

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Return ranges of keys, in the given order; None for each key that does not exist."""
        return list(await asyncio.gather(*[self.get(key, prototype, part) for key, part in key_ranges]))

    async def put_if_absent(self, key: str, value: Buffer) -> bool:
        """Store ``value`` if the key has none.

        Parameters
        ----------
        key : str
            The key.
        value : Buffer
            The value.

        Returns
        -------
        bool
            True if this call stored the value. Of several simultaneous calls exactly one succeeds, if the service
            stores on a condition.
        """
        self._check_writable()
        data = check_buffer(self, value).to_bytes()
        put, outcome = partial(self._create, key, data), partial(self._outcome_of, key, data, None)
        return await self._retries.put_once(key, put, outcome)

    async def _create(self, key: str, data: bytes) -> bool:
        """Store data on the condition that there is no value; where the service knows none, look first."""
        refused = False
        if self._creates:
            try:
                return await self._put_compared(key, data, None)
            except FileNotFoundError:
                pass  # there is no bucket; some file systems make it
            except Exception as error:
                if not (refused := refuses_conditions(error)):
                    raise
        if await self.exists(key):
            return False
        stored = await self._put_new(key, data)
        if refused and stored:
            self._creates = False
        return stored

    @abstractmethod
    async def _put_new(self, key: str, data: bytes) -> bool:
        """Store data where the key had no value just before; return False if it has one by now, and that is known."""

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Store ``value`` if the key has none."""
        await self.put_if_absent(key, value)

    async def set_if_match(self, key: str, value: Buffer, expected: Buffer | None) -> bool:
        """Store ``value`` if the key still holds ``expected`` (None: no value); one step for all users of the service.

        Raises
        ------
        NotImplementedError
            If the service has no conditional requests.
        """
        if expected is None:
            return await self.put_if_absent(key, value)
        found, version = await self.get_versioned(key, default_buffer_prototype(), None) or (None, None)
        if found is None or found.to_bytes() != expected.to_bytes():
            return False
        stored = None if version is None else await self._replace(key, value, version)
        if stored is None:
            raise NotImplementedError(f"{self!r} cannot store a value on a condition: the service does not compare")
        return stored

    @abstractmethod
    async def _put_compared(self, key: str, data: bytes, version: Any) -> bool:
        """Store data by one request if the key has the version (None: no value); return False if it has another."""

    @abstractmethod
    async def get_versioned(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None, version: Any = None
    ) -> tuple[Buffer, Any] | None:
        """Return a value or a range of it, and the version of the value; None if there is no such key.

        Parameters
        ----------
        key : str
        prototype : BufferPrototype
            The class that holds the bytes.
        byte_range : ByteRequest, optional
            The range; None for the whole value.
        version : object, optional
            The version that the value must have, as it was returned before. Default: any.

        Returns
        -------
        (Buffer, version) or None
            The version is None where nothing identifies the bytes of the value.

        Raises
        ------
        ValueReplacedError
            If the value has another version.
        """

    async def set_if_version(self, key: str, value: Buffer, version: Any) -> bool:
        """Store ``value`` if the key still has the value of a version; return True if this call stored it.

        Parameters
        ----------
        key : str
        value : Buffer
        version : object or None
            As ``get_versioned`` returned it; None: there is no value.

        Returns
        -------
        bool
            False if the key has another value by now. A value of more than 64 MiB, which takes several requests, is
            stored without the comparison; so are all values in a service that refuses conditional requests.
        """
        compares = self._compares and len(value) <= _COMPARED
        stored = await self._replace(key, value, version) if compares else None
        if stored is not None:
            return stored
        await self.set(key, value)
        if compares:
            self._note_refusal()
        return True

    async def _replace(self, key: str, value: Buffer, version: Any) -> bool | None:
        """Store a value by one request if the key has the version; return None if the service refuses the condition."""
        self._check_writable()
        data = check_buffer(self, value).to_bytes()
        put, outcome = partial(self._put_compared, key, data, version), partial(self._outcome_of, key, data, version)
        try:
            return await self._retries.put_once(key, put, outcome)
        except Exception as error:
            if not refuses_conditions(error):
                raise
            return None

    async def _outcome_of(self, key: str, data: bytes, version: Any) -> bool | None:
        """Return True if the key holds the data, None if it still has the version, False if it has another."""
        found, now = await self.get_versioned(key, default_buffer_prototype(), None) or (None, None)
        if now == version and (found is None) == (version is None):
            return None
        return found is not None and found.to_bytes() == data

    def _note_refusal(self) -> None:
        """Note that the service refuses conditional requests, and say what this means."""
        import logging  # a program without warnings saves the time

        self._compares = False
        logging.getLogger("zarr.store").warning(
            "%s refuses conditional requests: changes by several processes are not compared, and the last one wins; "
            "let one process at a time change a chunk, a shard or a document",
            self,
        )


class Attempts:
    """The attempts at one operation.

    Parameters
    ----------
    retries : Retries
    what, key : str
        For messages.
    """

    def __init__(self, retries: Retries, what: str, key: str) -> None:
        self.retries, self.what, self.key, self.start = retries, what, key, time.monotonic()
        self.repeats = 0

    async def go_on(self, error: Exception) -> bool:
        """Wait and return True if an error is temporary; return False if it is final, or there are no retries.

        Raises
        ------
        StoreUnavailableError
            If there were as many attempts as the settings allow.
        """
        asked = pause_of(error)
        if asked is None or self.retries.tries == 1:
            return False
        pause = max(asked, random.uniform(0, min(LONGEST, SHORTEST * GROWTH**self.repeats)))
        passed = time.monotonic() - self.start
        if self.repeats + 1 >= self.retries.tries or passed + pause > self.retries.seconds:
            raise StoreUnavailableError(self._summary(error, passed, pause)) from error
        self.repeats += 1
        with self.retries._lock:
            self.retries.count += 1
        _log_repeat(self, error, pause)
        await asyncio.sleep(pause)
        return True

    def _summary(self, error: Exception, passed: float, pause: float) -> str:
        return (
            f"{self.what} {self.key}: {self.repeats + 1} tries in {passed:.1f} s failed (network.tries = "
            f"{self.retries.tries}, network.seconds = {self.retries.seconds:g}, next pause {pause:.1f} s); the last: "
            f"{_short(error)}"
        )


def _short(error: Exception) -> str:
    status = status_of(error)
    text = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return text if status is None or str(status) in text else f"{text} (status {status})"


def _log_repeat(attempts: Attempts, error: Exception, pause: float) -> None:
    """Log a repeat."""
    import logging

    logger = logging.getLogger("zarr.store.retries")
    if logger.isEnabledFor(logging.DEBUG):
        words = (attempts.what, attempts.key, attempts.repeats, pause, _short(error))
        logger.debug("%s %s: repeat %d after %.3f s: %s", *words, extra={"key": attempts.key})


def pause_of(error: BaseException) -> float | None:
    """Return the seconds of a wait that a server requests after a temporary fault; None if an error is final.

    Parameters
    ----------
    error : BaseException
        An error of aiohttp, botocore, fsspec or obstore.
    """
    for found in (error, error.__cause__):
        if found is None:
            continue
        status, headers = _answer(found)
        if status is not None:
            return _retry_after(headers) if status in _PASSING else None
        names = {cls.__name__ for cls in type(found).__mro__}
        if names & _FINAL:
            return None
        if names & _NAMES:
            return 0.0
    return _pause_of_obstore(error)


def _answer(error: BaseException) -> tuple[int | None, Mapping[str, str]]:
    """Return the status and the headers of the answer in an error of aiohttp, botocore or obstore."""
    if type(error).__name__ == "GenericError":
        found = _STATUS.search(str(error))
        return (int(found[1]) if found else None), {}
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        about = response.get("ResponseMetadata", {})
        return about.get("HTTPStatusCode"), about.get("HTTPHeaders", {})
    status = getattr(error, "status", None)
    return (status if isinstance(status, int) else None), getattr(error, "headers", None) or {}


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that the header ``Retry-After`` names, as a number or as a date."""
    text = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    if text.strip().isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def status_of(error: BaseException) -> int | None:
    """Return the status of the answer in an error of aiohttp, botocore or obstore; None if it has none.

    Examples
    --------
    >>> status_of(ValueError("no answer")) is None
    True
    """
    return _answer(error.__cause__ or error)[0]


def refuses_conditions(error: BaseException) -> bool:
    """Return True if an error means that a service does not know conditional requests, or does not allow them.

    Examples
    --------
    >>> refuses_conditions(NotImplementedError()), refuses_conditions(FileNotFoundError())
    (True, False)
    """
    status = status_of(error)
    refused = status == 400 and _code_of(error) in _REFUSED
    return isinstance(error, NotImplementedError) or status in _REFUSING or refused


def _code_of(error: BaseException) -> str | None:
    """Return the code in the answer of S3: an error of botocore has it apart, one of obstore in its text."""
    response = getattr(error.__cause__ or error, "response", None)
    if isinstance(response, dict):
        code: str | None = response.get("Error", {}).get("Code")
        return code
    found = _CODE.search(str(error))
    return found[1] if found else None


def _pause_of_obstore(error: BaseException) -> float | None:
    """Return 0 for a temporary error of obstore, which is recognised by its text."""
    if type(error).__name__ != "GenericError":
        return None
    text = str(error)
    refused = "kind: Connect," in text and "ConnectionReset" not in text
    return 0.0 if _BROKEN.search(text) and not refused and _UNREADABLE not in text else None
