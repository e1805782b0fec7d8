"""A server under the load of many clients at once: each answer is compared with what is stored.

    python benchmarks/serving.py [--clients 200] [--seconds 60] [--store folder|zip|sqlite]

The server is the command ``zarr serve`` in a process of its own. Clients ask for documents, chunks, ranges of shards
and of one very large value, and keys that are not there, each on a connection of its own. Prints the number of
answers, how long they took, what was wrong, and the memory of the server as time goes by (Linux). Ends with 1 if
anything was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import zarr
from zarr.storage import SQLiteStore, ZipStore

HUGE = 10 << 30
"""The size of a file without content, of which small ranges are asked for; folders only."""


def fill(kind: str, folder: Path) -> tuple[str, dict[str, bytes]]:
    """Make a store; return its place, and the bytes of its keys."""
    values = np.random.default_rng(0).integers(0, 1000, (2048, 2048))
    source = zarr.storage.MemoryStore()
    root = zarr.create_group(source, attributes={"text": "x" * 5000})
    root.create_array("small", data=values, chunks=(128, 128))
    root.create_array("shards", data=values, chunks=(64, 64), shards=(1024, 1024), compressors=None)
    place = {"folder": f"{folder}/x", "zip": f"{folder}/x.zip", "sqlite": f"sqlite://{folder}/x.sqlite"}[kind]
    target = {
        "folder": lambda: zarr.storage.LocalStore(f"{folder}/x"),
        "zip": lambda: ZipStore(f"{folder}/x.zip", mode="w"),
        "sqlite": lambda: SQLiteStore(f"{folder}/x.sqlite"),
    }[kind]()
    zarr.tools.copy(source, target)
    target.close()
    if kind == "folder":
        with open(f"{folder}/x/huge", "wb") as huge:
            huge.truncate(HUGE)
    return place, {key: value.to_bytes() for key, value in source._store_dict.items()}


@dataclass
class Load:
    """The requests of the clients, and their outcomes."""

    host: str
    port: int
    stored: dict[str, bytes]
    huge: bool
    end: float
    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    received: int = 0

    def request(self, choose: random.Random) -> tuple[str, str, int, bytes]:
        """Return a path, a line of headers, and the status and the bytes that must come."""
        kind = choose.random()
        if kind < 0.05:
            return "/small/c/99/99", "", 404, b""
        if self.huge and kind < 0.15:
            start = choose.randrange(HUGE - 5000)
            return "/huge", f"Range: bytes={start}-{start + 4999}\r\n", 206, bytes(5000)
        key = choose.choice(list(self.stored))
        value = self.stored[key]
        if kind < 0.5 or (len(value) > 1_000_000 and kind < 0.99):
            start = choose.randrange(len(value))
            stop = min(len(value), start + choose.choice([10, 1000, 30_000]))
            return f"/{key}", f"Range: bytes={start}-{stop - 1}\r\n", 206, value[start:stop]
        return f"/{key}", "", 200, value

    async def client(self, number: int) -> None:
        """Ask until the time is over, on one connection."""
        choose = random.Random(number)
        reader, writer = await asyncio.open_connection(self.host, self.port)
        while time.monotonic() < self.end:
            path, line, status, content = self.request(choose)
            began = time.perf_counter()
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n{line}\r\n".encode())
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"(?i)content-length: (\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
            except (OSError, EOFError) as error:
                self.faults.append(f"{path}: {type(error).__name__}: {error}")
                return
            self.seconds.append(time.perf_counter() - began)
            self.received += len(body)
            if int(head.split(" ", 2)[1]) != status:
                self.faults.append(f"{path}: {head.splitlines()[0]} instead of {status}")
            elif status != 404 and body != content:
                self.faults.append(f"{path}: {len(body)} wrong bytes")
        writer.close()


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in MiB; 0 where the system does not tell."""
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) // 1024 if found else 0


async def run(load: Load, clients: int, pid: int) -> list[int]:
    """Run all clients; return the memory of the server, every two seconds."""
    memory: list[int] = []

    async def watch() -> None:
        while time.monotonic() < load.end:
            await asyncio.sleep(2)
            memory.append(memory_of(pid))

    await asyncio.gather(watch(), *(load.client(number) for number in range(clients)))
    return memory


def main() -> int:
    """Make a store, serve it, and let clients at it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--store", choices=["folder", "zip", "sqlite"], default="folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place, stored = fill(given.store, Path(folder))
        words = [sys.executable, "-m", "zarr", "serve", place, "--port", "0"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline().split(":")[-1].split("/")[0])
            load = Load("127.0.0.1", port, stored, given.store == "folder", time.monotonic() + given.seconds)
            try:
                memory = asyncio.run(run(load, given.clients, server.pid))
            finally:
                server.terminate()
    taken = sorted(load.seconds)
    print(f"{given.clients} clients, {given.seconds:g} s, {given.store}:", end=" ")
    print(f"{len(taken)} answers, {len(load.faults)} wrong")
    print(f"{len(taken) / given.seconds:.0f} answers/s, {load.received / given.seconds / 1e6:.0f} MB/s")
    if taken:
        print("ms: " + ", ".join(f"{part}% {taken[int(len(taken) * part / 100)] * 1e3:.0f}" for part in (50, 90, 99)))
    print(f"memory of the server in MiB: {memory}")
    print("\n".join(load.faults[:10]))
    return int(bool(load.faults))


if __name__ == "__main__":
    sys.exit(main())
