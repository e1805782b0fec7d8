"""Paths, headers and bodies of somebody who wants more than is served: refused by 4xx, and nothing outside is touched.

All files are in a temporary folder: the served one, and a secret beside it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from zarr.serving import serve

from .client import ask, send_raw

SECRET = b"the secret beside the folder"
TOKEN = "abc.123"
CLIMBING = [
    "/..", "/../secret", "/a/../../secret", "/a/..", "/./a", "/a/.", "/a//b", "//secret", "/%2e%2e/secret",
    "/%2E%2E/secret", "/.%2e/secret", "/a/%2e%2e/%2e%2e/secret", "/..%2fsecret", "/..%2Fsecret", "/a%2Fb",
    "/%2fetc/passwd", "//etc/passwd", "/..%5csecret", "/..\\secret", "/a%5C..", "/a%00", "/%00", "/secret%00.json",
    "/a%0a", "/a%0d%0aX:1", "/a%7f", "/%", "/%2", "/%zz", "/%c0%ae%c0%ae/secret", "/%ff", "/%ed%a0%80",
    "/%252e%252e/secret", "/..;/secret", "/....//secret", "/a/../", "/../", "/%2e%2e/", "//", "/a//", "/.", "/%2e",
    "/link", "/link-folder/x", "/link-folder/", "/link-folder", "/.zarr-locks/0.node", "/.zarr-journal/x",
    "/.x.1-2.partial", "/" + "a/" * 4000 + "x", "/" + "b" * 5000, "/" + "b" * 300, "http://other/../secret",
    "secret", "*",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_bytes(SECRET)
    root = tmp_path / "served"
    (root / "a").mkdir(parents=True)
    (root / "a" / "b").write_bytes(b"0123456789")
    (root / ".zarr-locks").mkdir()
    (root / ".zarr-locks" / "0.node").write_bytes(SECRET)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "link-folder").symlink_to(tmp_path / "outside")
    return root


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with serve(folder, token=TOKEN) as url:
        yield url


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def is_refused(status: int) -> bool:
    return 400 <= status < 500 or status == 0  # 0: the connection is closed, without an answer


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_paths(url: str, folder: Path, method: str) -> None:
    before = contents(folder.parent)
    for path in CLIMBING:
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 3\r\n\r\nabc"
        if method in ("GET", "HEAD"):
            head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n"
        elif path in ("/%252e%252e/secret", "/..;/secret", "/c%3A/secret", "/" + "b" * 300):
            continue  # these are keys as good as others, where they are any
        answer = send_raw(url, head.encode("latin-1"))
        assert is_refused(answer.status), path
        assert SECRET not in answer.body, path
    assert contents(folder.parent) == before


@pytest.mark.parametrize(
    "lines",
    [
        "Range: bytes=" + "0-1," * 9 + "x",
        "Range: bytes=-",
        "Range: bytes=9999999999999999999999-",
        "Range: bytes=" + "9" * 5000 + "-",
        "Range: bytes=1-0",
        "Range: bytes=\x001-2",
        "Content-Length: -1",
        "Content-Length: 5\r\nContent-Length: 6",
        "Bad Header: x",
        ": x",
        "X: " + "y" * 200_000,
        "\x00: x",
        "Transfer-Encoding: nonsense",
    ],
)
def test_headers(url: str, lines: str) -> None:
    answer = send_raw(url, f"GET /a/b HTTP/1.1\r\nHost: x\r\n{lines}\r\n\r\n".encode("latin-1"))
    assert is_refused(answer.status)
    assert ask(url, "/a/b").body == b"0123456789"


def test_two_lengths_of_one_body(url: str) -> None:
    """Chunks count (RFC 9112, 6.3); a GET may be answered before the server sees that none come."""
    head = b"GET /a/b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = send_raw(url, head)
    assert is_refused(answer.status) or (answer.status, answer.body) == (200, b"0123456789")
    assert ask(url, "/a/b").body == b"0123456789"


@pytest.mark.parametrize(
    "line", ["BREW /a/b HTTP/1.1", "POST /a/b HTTP/1.1", "TRACE / HTTP/1.1", "GET", "\x16\x03\x01", ""]
)
def test_first_lines(url: str, line: str) -> None:
    assert is_refused(send_raw(url, f"{line}\r\nHost: x\r\n\r\n".encode("latin-1")).status)
    assert ask(url, "/a/b").status == 200


def test_random_requests(url: str, folder: Path) -> None:
    """Never a 5xx, and never anything of the outside, whatever is asked for."""
    choose = random.Random(5)
    before = contents(folder.parent)
    pieces = ["/", "//", ".", "..", "%2e", "%2f", "%5c", "\\", "a", "b", "%00", "%", "secret", "link", "link-folder"]
    pieces += ["%C3%A4", "?", "#", "é"]
    for _ in range(300):
        path = "/" + "".join(choose.choices(pieces, k=choose.randrange(1, 8)))
        method = choose.choice(["GET", "GET", "HEAD", "DELETE", "PUT"])
        extra = choose.choice(
            ["", "Range: bytes=0-4\r\n", "Range: bytes=x\r\n", 'If-None-Match: "\r\n', "Accept: application/json\r\n"]
        )
        answer = send_raw(url, f"{method} {path} HTTP/1.1\r\nHost: x\r\n{extra}\r\n".encode())
        assert answer.status < 500
        assert SECRET not in answer.body
        if method in ("PUT", "DELETE"):
            assert is_refused(answer.status)  # no token was sent
    assert contents(folder.parent) == before


def test_listings_do_not_tell_of_the_outside(url: str) -> None:
    assert ask(url, "/", Accept="application/json").body == b'{"path": "", "folders": ["a"], "keys": []}'


def test_links_are_followed_where_the_store_says_so(folder: Path) -> None:
    from zarr.storage import LocalStore

    with serve(LocalStore(folder)) as url:
        assert ask(url, "/link").body == SECRET
