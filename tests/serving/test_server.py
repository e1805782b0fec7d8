"""A server starts and ends: in a thread, and as the command."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import zarr
from zarr.serving import Server, make_app, serve

from .client import ask


def test_in_a_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    server = serve(tmp_path)
    with server as url:
        assert ask(url, "/").status == 200
        with pytest.raises(OSError, match="in use"):
            Server(make_app({}), port=server.port)
        with pytest.raises(RuntimeError, match="once"):
            server.start()
    assert not [thread for thread in threading.enumerate() if thread.name == "zarr-serve"]
    assert threading.active_count() <= before + 1
    with pytest.raises(ConnectionRefusedError):
        ask(url, "/")
    with serve(tmp_path, port=server.port) as url:
        assert url.endswith(f":{server.port}")


def test_wrong_places(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        serve(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="show_as"):
        serve(tmp_path, show_as="v4")  # type: ignore[arg-type]
    with pytest.raises(OSError):
        serve(tmp_path, host="203.0.113.7")


def test_at_an_address_of_version_6() -> None:
    try:
        with serve({}, host="::1") as url:
            assert ask(url, "/").status == 200
    except OSError:
        pytest.skip("this computer has no address of IPv6")


def test_below_another_application(tmp_path: Path) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    (tmp_path / "a").write_bytes(b"value")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_bytes(b"c")
    with Server(Starlette(routes=[Mount("/data", make_app(tmp_path))])) as url:
        assert ask(url, "/data/a").body == b"value"
        assert 'href="/data/b/"' in ask(url, "/data/").body.decode()
        assert ask(url, "/data/b").headers["location"] == "/data/b/"
        assert ask(url, "/data/../a").status == 400


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_command(tmp_path: Path) -> None:
    pytest.importorskip("typer", reason="the command line needs the extra cli")
    zarr.create_array(tmp_path / "x.zarr", shape=(3,), dtype="i4", zarr_format=2)
    (tmp_path / "x.zarr" / "out").symlink_to("/etc")
    words = [sys.executable, "-m", "zarr", "serve", f"{tmp_path}/x.zarr", "--port", "0", "--as", "v3"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdout is not None
        found = re.search(r"(http://127\.0\.0\.1:\d+)/", process.stdout.readline())
        assert found is not None
        for _ in range(3):
            assert ask(found[1], "/zarr.json").status == 200
        assert ask(found[1], "/out/hostname").status in (403, 404)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=100)
        assert (process.returncode, out, err) == (0, "", "")


def test_the_usual_port_is_left_to_who_has_it() -> None:
    pytest.importorskip("typer", reason="the command line needs the extra cli")
    from zarr._cli import look

    with socket.create_server(("127.0.0.1", 0)) as taken:
        look.serving.USUAL_PORT  # noqa: B018  # the module is loaded
        port = taken.getsockname()[1]
        before, look.serving.USUAL_PORT = look.serving.USUAL_PORT, port  # type: ignore[misc]
        try:
            server = look._listen(make_app({}), "127.0.0.1", None)
            assert server.port not in (port, 0)
            server.stop()
        finally:
            look.serving.USUAL_PORT = before  # type: ignore[misc]
        with pytest.raises(OSError, match="in use"):
            look._listen(make_app({}), "127.0.0.1", port)
