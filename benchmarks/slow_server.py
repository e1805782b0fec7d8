"""A web server that answers each request after a set delay: a stand-in for an object store at some distance.

    python benchmarks/slow_server.py FOLDER [--delay 0.02]

Serves the files of FOLDER out of memory and prints its port. It does as little as it can for a request, so that what
is measured against it is the client: ``GET`` (also of one range), ``HEAD``, ``PUT`` and ``DELETE``; what is put is
kept in memory. Requests of one connection are answered in their order.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
GONE = b"HTTP/1.1 204 No Content\r\n\r\n"
END = b"\r\n\r\n"


def span(text: bytes, size: int) -> tuple[int, int]:
    """Return first and last + 1 of a ``Range`` header's value, clipped to the size."""
    first, _, last = text.partition(b"=")[2].partition(b"-")
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(size, int(last) + 1) if last else size


def header(head: bytes, name: bytes) -> bytes | None:
    """Return the value of a header, of which the name is given in small letters."""
    at = head.lower().find(b"\r\n" + name + b":")
    return None if at < 0 else head[at + len(name) + 3 :].split(b"\r\n", 1)[0].strip()


class Connection(asyncio.Protocol):
    """One connection: collects a request, answers it later."""

    def __init__(self, server: SlowServer) -> None:
        self.server = server
        self.waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while END in self.waiting:
            head, _, rest = self.waiting.partition(END)
            length = 0 if head[:3] == b"GET" else int(header(head, b"content-length") or 0)
            if header(head, b"expect"):
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")  # type: ignore[attr-defined]
            if len(rest) < length:
                return
            self.waiting = rest[length:]
            parts = self.server.answer(head, rest[:length])
            self.server.loop.call_later(self.server.delay, self.send, parts)

    def send(self, parts: list[bytes]) -> None:
        if not self.transport.is_closing():
            self.transport.writelines(parts)  # type: ignore[attr-defined]


class SlowServer:
    """A server in a thread of its own, for tests and for the command below.

    Parameters
    ----------
    values : dict
        Keys without a leading slash, and their bytes; changed by ``PUT`` and ``DELETE``.
    delay : float
        Seconds between a request and its answer.

    Attributes
    ----------
    requests : list of (method, key, range)
        What was asked for, in order, the range as the header has it.
    """

    def __init__(self, values: dict[str, bytes], delay: float = 0.0) -> None:
        self.values = values
        self.delay = delay
        self.requests: list[tuple[str, str, str]] = []
        self.loop = asyncio.new_event_loop()

    def answer(self, head: bytes, body: bytes) -> list[bytes]:
        method, target, _ = head.split(b" ", 2)
        key = unquote(target.decode()).lstrip("/")
        wanted = header(head, b"range") if method == b"GET" else None
        self.requests.append((method.decode(), key, (wanted or b"").decode()))
        if method == b"PUT":
            self.values[key] = body
            return [CREATED]
        if method == b"DELETE":
            return [GONE if self.values.pop(key, None) is not None else NOT_FOUND]
        return self._found(method, self.values.get(key), wanted)

    def _found(self, method: bytes, value: bytes | None, wanted: bytes | None) -> list[bytes]:
        if value is None:
            return [NOT_FOUND]
        size, status = len(value), b"200 OK\r\n"
        if wanted is not None:
            first, stop = span(wanted, size)
            if first >= size:
                text = b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: bytes */%d\r\n\r\n"
                return [text % size]
            value = value[first:stop]
            status = b"206 Partial Content\r\nContent-Range: bytes %d-%d/%d\r\n" % (first, stop - 1, size)
        head = b"HTTP/1.1 %sAccept-Ranges: bytes\r\nETag: \"1\"\r\nContent-Length: %d%s" % (status, len(value), END)
        return [head] if method == b"HEAD" else [head, value]

    async def listen(self) -> int:
        """Start to listen on the loopback; return the port."""
        self._server = await self.loop.create_server(lambda: Connection(self), "127.0.0.1", 0, backlog=1024)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def __enter__(self) -> SlowServer:
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self.listen(), self.loop).result()
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self._server.close()
        self.loop.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds")
    options = parser.parse_args()
    files = (path for path in options.folder.rglob("*") if path.is_file())
    values = {path.relative_to(options.folder).as_posix(): path.read_bytes() for path in files}
    server = SlowServer(values, options.delay)
    print(server.loop.run_until_complete(server.listen()), flush=True)
    server.loop.run_forever()


if __name__ == "__main__":
    main()
