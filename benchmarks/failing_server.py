"""A proxy before a web server or a service of S3 that answers a part of all requests with a fault.

For tests and for ``network.py``. Faults are errors (500, 502, 503, 504, 429 with and without ``Retry-After``), a
connection that is reset, a body that is cut short, an answer that does not come, and answers that hold a part of the
range that was asked for, or another range. Of the requests that are answered with an error, every second one is carried
out before that.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import threading
from collections import Counter
from types import TracebackType
from typing import Final

STATUSES: Final = ("500", "502", "503", "504", "429", "429 later")
FAULTS: Final = (*STATUSES, "reset", "short", "stall", "half", "other")
_LENGTH: Final = re.compile(rb"(?i)(\r\ncontent-length: *)(\d+)")
_RANGE: Final = re.compile(rb"(?i)(\r\nrange: *bytes=)(\d+)-(\d+)")
_CONDITION: Final = re.compile(rb"(?i)\r\nif-(none-)?match:")
_EXPECT: Final = re.compile(rb"(?i)\r\nexpect:[^\r]*")


async def message(reader: asyncio.StreamReader, bodiless: bool = False) -> tuple[bytes, bytes]:
    """Read a request or an answer: what stands before the body, and the body."""
    head = await reader.readuntil(b"\r\n\r\n")
    found = _LENGTH.search(head)
    if bodiless:
        return head, b""
    if found is None:
        return head, (await reader.read() if head.startswith(b"HTTP") else b"")
    return head, await reader.readexactly(int(found[2]))


class FailingServer:
    """A proxy in a thread of its own.

    Parameters
    ----------
    port : int
        Of the server behind it, on this machine.
    share : float
        Which part of all requests fails.
    faults : sequence of str
        Which ones, in turn.
    """

    def __init__(self, port: int, share: float = 1 / 3, faults: tuple[str, ...] = FAULTS) -> None:
        self.upstream, self.share, self.faults = port, share, faults
        self.given = Counter[str]()
        self.requests = self.under_way = 0
        self._random = random.Random(0)
        self._conditional = asyncio.Lock()  # one at a time: a stand-in for S3 may look and store in two steps
        self.loop = asyncio.new_event_loop()

    def _next_fault(self, head: bytes) -> str:
        if self._random.random() >= self.share:
            return ""
        fault = self.faults[self.given.total() % len(self.faults)]
        ranged, get = _RANGE.search(head), head.startswith(b"GET")
        fits = {"short": get, "half": bool(ranged), "other": bool(ranged) and int(ranged[2]) > 0}  # type: ignore[index]
        fault = fault if fits.get(fault, True) else "503"
        self.given[fault] += 1
        return fault

    async def _forward(self, head: bytes, body: bytes) -> tuple[bytes, bytes]:
        async with self._conditional if _CONDITION.search(head) else contextlib.nullcontext():
            return await self._exchange(head, body)

    async def _exchange(self, head: bytes, body: bytes) -> tuple[bytes, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            writer.write(_EXPECT.sub(b"", head) + body)
            return await message(reader, head.startswith(b"HEAD"))
        finally:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of a connection, one after the other."""
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the server ends
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        if _EXPECT.search(head):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length[2])) if length else b""
        self.requests += 1
        self.under_way += 1
        try:
            return await self._respond(self._next_fault(head), head, body, reader, writer)
        finally:
            self.under_way -= 1

    async def _respond(
        self, fault: str, head: bytes, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if fault == "stall":
            await reader.read(1)  # until the client has enough of it
            return False
        if fault == "reset":
            writer.transport.abort()
            return False
        if fault[:3].isdigit():
            if self.given.total() % 2:
                await self._forward(head, body)
            later = b"Retry-After: 0\r\n" if fault.endswith("later") else b""
            writer.write(b"HTTP/1.1 " + fault[:3].encode() + b" Fault\r\n" + later + b"Content-Length: 0\r\n\r\n")
            return True
        if fault in ("half", "other"):
            head = _RANGE.sub(_half if fault == "half" else _other, head)
        status, data = await self._forward(head, body)
        if fault == "short":
            if len(data) > 1 and b"content-length" in status.lower():
                writer.write(status + data[: len(data) // 2])
                await writer.drain()
                return False
            self.given[fault] -= 1
        writer.write(re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", status).replace(b"HTTP/1.0", b"HTTP/1.1") + data)
        await writer.drain()
        return b"content-length" in status.lower()

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports are closed by calls that wait in the loop

    def __enter__(self) -> FailingServer:
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result()
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def _half(found: re.Match[bytes]) -> bytes:
    first, last = int(found[2]), int(found[3])
    return found[1] + b"%d-%d" % (first, (first + last) // 2)


def _other(found: re.Match[bytes]) -> bytes:
    return found[1] + b"%d-%d" % (int(found[2]) - 1, int(found[3]) - 1)
