"""Services like those of Google and of Azure, as far as stores use them: objects with versions, and conditions."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

DATED = {"Last-Modified": "Wed, 01 Jul 2026 00:00:00 GMT"}


class Cloud(BaseHTTPRequestHandler):
    """What both services have in common. Subclasses name the version and the condition in their own way."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, tuple[bytes, str]]
    """Bytes and version, by name."""
    lock: threading.Lock
    numbers: Iterator[int]
    asked: list[str]
    later: list[tuple[str, bytes]]
    """Objects that are replaced once somebody has asked for the size of one."""

    def log_message(self, *args: Any) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **DATED, **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _asked(self) -> tuple[str, dict[str, str], bytes]:
        """Return the path, the query and the body of a request."""
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append(f"{self.command} {unquote(parts.path)}")
        return unquote(parts.path), query, body

    def _send(self, name: str, wanted: str | None, **headers: str) -> None:
        """Answer with an object, or a range of it."""
        data, _ = self.objects[name]
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted or "")
        if found is None:
            self._answer(200, data, **headers)
            return
        first, last = found.groups()
        start = int(first) if first else max(0, len(data) - int(last))
        stop = min(int(last) + 1, len(data)) if first and last else len(data)
        if start >= len(data):
            self._answer(416, **headers)
        else:
            span = f"bytes {start}-{stop - 1}/{len(data)}"
            self._answer(206, data[start:stop], Content_Range=span, **headers)

    def _store(self, name: str, data: bytes, wanted: str | None) -> bool:
        """Store an object if it has the wanted version ("": if there is none; None: in any case)."""
        with self.lock:
            now = self.objects.get(name, (b"", ""))[1]
            if wanted is not None and wanted != now:
                return False
            self.objects[name] = data, self.version(next(self.numbers))
            return True

    def version(self, number: int) -> str:
        raise NotImplementedError

    def _listed(self, query: dict[str, str]) -> tuple[list[str], list[str]]:
        prefix, slash = query.get("prefix", ""), query.get("delimiter", "")
        below = [name for name in sorted(self.objects) if name.startswith(prefix)]
        plain = [name for name in below if not slash or slash not in name[len(prefix) :]]
        folders = {prefix + name[len(prefix) :].split("/")[0] + "/" for name in below if name not in plain}
        return plain, sorted(folders)


class Google(Cloud):
    """The JSON interface of Google's object store, with one bucket."""

    def version(self, number: int) -> str:
        return str(number)

    def _info(self, name: str) -> dict[str, Any]:
        data, generation = self.objects[name]
        size = str(len(data))
        return {"kind": "storage#object", "name": name, "bucket": "b", "size": size, "generation": generation}

    def do_GET(self) -> None:
        path, query, _ = self._asked()
        name = path.partition("/b/b/o/")[2]
        if path.endswith("/b/b/o"):
            names, folders = self._listed(query)
            self._answer(200, json.dumps({"items": [*map(self._info, names)], "prefixes": folders}).encode())
        elif name not in self.objects:
            self._answer(404, b'{"error": {"code": 404, "message": "not found"}}')
        elif "alt" in query:
            self._send(name, self.headers.get("Range"), x_goog_generation=self.objects[name][1])
        else:
            self._answer(200, json.dumps(self._info(name)).encode())

    def do_POST(self) -> None:
        _, query, body = self._asked()
        head, _, rest = body.partition(b"\n--==0==\n")
        name = json.loads(head.split(b"\n\n")[-1])["name"]
        data = rest.partition(b"\n\n")[2].removesuffix(b"\n--==0==--")
        wanted = query.get("ifGenerationMatch")
        if self._store(name, data, "" if wanted == "0" else wanted):
            self._answer(200, json.dumps(self._info(name)).encode())
        else:
            self._answer(412, b'{"error": {"code": 412, "message": "conditionNotMet"}}')

    def do_DELETE(self) -> None:
        path, _, _ = self._asked()
        gone = self.objects.pop(path.partition("/b/b/o/")[2], None)
        self._answer(204 if gone else 404)


class Azure(Cloud):
    """The interface of Azure's blobs, with one container."""

    def version(self, number: int) -> str:
        return f'"0x{number}"'

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code></Error>".encode(), x_ms_error_code=code)

    def do_GET(self) -> None:
        path, query, _ = self._asked()
        name = path.removeprefix("/account/b").strip("/")
        if query.get("comp") == "list":
            self._answer(200, self._list(query), Content_Type="application/xml")
        elif name not in self.objects:
            self._refuse(404, "BlobNotFound")
        elif self.headers.get("If-Match", self.objects[name][1]) != self.objects[name][1]:
            self._refuse(412, "ConditionNotMet")
        else:
            kind = {"ETag": self.objects[name][1], "x-ms-blob-type": "BlockBlob"}
            self._send(name, self.headers.get("x-ms-range"), **kind)

    def do_HEAD(self) -> None:
        self.do_GET()
        if self.later:
            name, data = self.later.pop()
            self._store(name, data, None)

    def _list(self, query: dict[str, str]) -> bytes:
        names, folders = self._listed(query)
        kind = "<BlobType>BlockBlob</BlobType>"
        blobs = "".join(
            f"<Blob><Name>{escape(name)}</Name><Properties><Content-Length>{len(self.objects[name][0])}"
            f"</Content-Length><Etag>{escape(self.objects[name][1])}</Etag>{kind}</Properties></Blob>"
            for name in names
        )
        blobs += "".join(f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>" for name in folders)
        head = '<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="b">'
        return f"{head}<Blobs>{blobs}</Blobs><NextMarker /></EnumerationResults>".encode()

    def do_PUT(self) -> None:
        path, _, body = self._asked()
        wanted = "" if self.headers.get("If-None-Match") == "*" else self.headers.get("If-Match")
        name = path.removeprefix("/account/b/")
        if self._store(name, body, wanted):
            self._answer(201, ETag=self.objects[name][1])
        elif wanted == "":
            self._refuse(409, "BlobAlreadyExists")
        else:
            self._refuse(412, "ConditionNotMet")

    def do_DELETE(self) -> None:
        path, _, _ = self._asked()
        if self.objects.pop(path.removeprefix("/account/b/"), None):
            self._answer(202)
        else:
            self._refuse(404, "BlobNotFound")


@contextmanager
def serve(kind: type[Cloud]) -> Iterator[tuple[int, type[Cloud]]]:
    """Start a service; yield its port, and the class that has its objects and the requests it got."""
    members = {"objects": {}, "lock": threading.Lock(), "numbers": itertools.count(1), "asked": [], "later": []}
    handler = type(kind.__name__, (kind,), members)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, handler
        server.shutdown()
