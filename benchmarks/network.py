"""Write and read chunks over a network that fails, and compare time and repeats with one that does not.

    python benchmarks/network.py [--chunks 10000] [--share 0.333] [--only http-fsspec,s3-obstore] [--stall 2.0]

The server and the proxy that fails (``failing_server.py``) are a process of their own; S3 is moto's. Each row is one
client, plain or sharded (chunks in shards, which are read one by one): seconds without faults and with them, the
faults that the server counted, and the repeats that the stores counted. aiohttp repeats by itself where a connection
that was used before is reset, so that the repeats may be fewer by some of those. ``--stall`` is the setting
``network.request_seconds``: each stall costs as much.

A write is done when its last request is. So it takes no less than without faults and what one request has waited, in
pauses and stalls: the longest of these waits has a column. It grows with the logarithm of the number of requests. Where
100 shards are written in a tenth of a second, it is all that one sees; ``--shard 10`` compares 1,000 of them.

A server that needs longer than ``--stall`` without faults is asked again: then the last column is not 0, and the row
says nothing.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
KEYS = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
CLIENTS = ("http-fsspec", "http-obstore", "s3-fsspec", "s3-obstore")
LENGTH = 100
NUMBERS = itertools.count()


def serve(pipe: Connection, kind: str) -> None:
    """Run a server and the proxy before it; tell the port, take a share of faults, tell what was counted."""
    from failing_server import FailingServer
    from slow_server import SlowServer

    if kind == "s3":
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        moto.start()
        port = moto.get_host_and_port()[1]
    else:
        port = SlowServer({}).__enter__().port
    with FailingServer(port, 0.0) as server:
        pipe.send((server.port, port))
        while (share := pipe.recv()) is not None:
            counted = (server.given.total(), server.under_way, server.requests)
            server.share = share
            server.given.clear()
            pipe.send(counted)
    os._exit(0)


@contextmanager
def started(kind: str) -> Iterator[tuple[Connection, int, int]]:
    """Start the servers; give the pipe to them, the port of the proxy, and that of the server behind it."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, kind), daemon=True)
    process.start()
    try:
        yield (ours, *ours.recv())
    finally:
        ours.send(None)
        process.join()


def connect(kind: str, client: str, ports: tuple[int, int], stall: float) -> Any:
    """Make a store of the proxy."""
    from zarr.storage import FsspecStore, ObjectStore

    url, network = f"http://127.0.0.1:{ports[0]}", {"request_seconds": stall}
    if kind == "http" and client == "fsspec":
        return FsspecStore.from_url(url, network=network)
    from obstore.store import HTTPStore, S3Store

    if kind == "http":
        return ObjectStore(HTTPStore.from_url(url, client_options={"allow_http": True}), network=network)
    bucket = f"bucket-{next(NUMBERS)}"
    make_bucket(bucket, ports[1])
    if client == "fsspec":
        place = {"endpoint_url": url, "region_name": "us-east-1"}
        options: Any = {"key": "nobody", "secret": "nothing", "client_kwargs": place, "skip_instance_cache": True}
        return FsspecStore.from_url(f"s3://{bucket}/data", storage_options=options, network=network)
    config: Any = {**KEYS, "aws_region": "us-east-1", "aws_endpoint": url}
    return ObjectStore(S3Store(bucket, config=config, client_options={"allow_http": True}), network=network)


def make_bucket(name: str, port: int) -> None:
    """Make a bucket of S3, past the proxy."""
    from botocore.session import Session

    options = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
    Session().create_client("s3", **options, **KEYS).create_bucket(Bucket=name)


class Waits(logging.Handler):
    """Add up what the requests of each key have waited: the pauses before repeats, and stalls."""

    def __init__(self, stall: float) -> None:
        super().__init__()
        self.stall = stall
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def emit(self, record: logging.LogRecord) -> None:
        _, key, _, pause, fault = record.args  # type: ignore[misc]
        self.seconds[str(key)] += float(pause) + self.stall * ("timeout" in str(fault).lower())  # type: ignore[arg-type]

    def longest(self) -> float:
        """Return the longest wait since the last call."""
        found = max(self.seconds.values(), default=0.0)
        self.seconds.clear()
        return found


def measure(
    store: Any, values: np.ndarray[Any, Any], name: str, shard: int, waits: Waits
) -> tuple[float, float, float, float]:
    """Return the seconds to write all chunks and to read each of them, and the longest waits; values are compared."""
    import zarr

    options: dict[str, Any] = {"shards": LENGTH * shard} if shard else {}
    start = time.perf_counter()
    array = zarr.create_array(
        store, name=name, shape=values.shape, chunks=LENGTH, dtype="i4", compressors=None, **options
    )
    array[...] = values
    written, wait = time.perf_counter(), waits.longest()
    array = zarr.open_array(store, path=name, mode="r")
    parts = [slice(i, i + LENGTH) for i in range(0, len(values), 2 * LENGTH)] if shard else [slice(None)]
    found = array.read_many(parts)
    read = time.perf_counter()
    for part, got in zip(parts, found, strict=True):
        np.testing.assert_array_equal(got, values[part])
    return written - start, read - written, wait, waits.longest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=1 / 3)
    parser.add_argument("--stall", type=float, default=2.0)
    parser.add_argument("--shard", type=int, default=100, help="chunks in a shard")
    parser.add_argument("--only", default=",".join(CLIENTS))
    options = parser.parse_args()
    values = np.arange(options.chunks * LENGTH, dtype="i4")
    logger, waits = logging.getLogger("zarr.store.retries"), Waits(options.stall)
    logger.addHandler(waits)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    print("client, layout: write s, read s without faults | with | waits | ratios | faults, repeats | left, early")
    for kind in ("http", "s3"):
        chosen = [name for name in options.only.split(",") if name.startswith(kind)]
        if not chosen:
            continue
        with started(kind) as (pipe, *ports):
            for name, shard in itertools.product(chosen, (0, options.shard)):
                store = connect(kind, name.partition("-")[2], (ports[0], ports[1]), options.stall)
                plain = measure(store, values, f"{next(NUMBERS)}/plain", shard, waits)
                before = store.retries
                pipe.send(options.share)
                pipe.recv()
                failing = measure(store, values, f"{next(NUMBERS)}/failing", shard, waits)
                time.sleep(0.5)
                pipe.send(0.0)
                faults, left, _ = pipe.recv()
                ratios = " ".join(f"{slow / fast:.1f}" for slow, fast in zip(failing[:2], plain[:2], strict=True))
                times = " | ".join(f"{write:.2f} {read:.2f}" for write, read in (plain[:2], failing[:2], failing[2:]))
                counts = f"{faults} {store.retries - before} | {left} {before}"
                print(f"{name}, {'sharded' if shard else 'plain'}: {times} | {ratios} | {counts}", flush=True)


if __name__ == "__main__":
    main()
