"""Requests as they are sent, without what clients make of them."""

from __future__ import annotations

import http.client
import socket
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Answer(NamedTuple):
    """What a server has answered."""

    status: int
    headers: Any
    body: bytes


def ask(url: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
    """Send a request; words of names of headers are joined by underscores here."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=named)
        found = connection.getresponse()
        return Answer(found.status, found.headers, found.read())
    finally:
        connection.close()


def send_raw(url: str, data: bytes) -> Answer:
    """Send bytes, and return the first answer; the status is 0 where the connection was only closed."""
    parts = urlsplit(url)
    parts_read = []
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        # A server may close the connection before all is sent: what it answered until then can still be read.
        with suppress(ConnectionError):
            connection.sendall(data)
        with suppress(OSError):  # ENOTCONN has no class of its own
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while piece := connection.recv(1 << 16):
                parts_read.append(piece)
    answer = b"".join(parts_read)
    head, _, body = answer.partition(b"\r\n\r\n")
    return Answer(int(head.split(b" ", 2)[1]) if head else 0, head, body)
