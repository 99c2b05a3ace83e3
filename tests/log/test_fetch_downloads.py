"""Fetching a data set: downloads that go wrong, and addresses that are not asked."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.log.publisher import Answer, Publisher, left
from tests.said import refuses
from unskew.log import datasets
from unskew.log.datasets.fetch import receive


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"0" * 10)


def cut_chunks(handler: BaseHTTPRequestHandler) -> None:
    """Announce a chunk and hang up in the middle of it."""
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"400\r\n" + b"0" * 10)


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Hang up rudely after some bytes."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"0" * 10)
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Send without saying how much."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"0" * 65_536)
    except OSError:
        pass


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Answer too late."""
    time.sleep(60.0)


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """One byte now and then, never long enough apart to be silent."""
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        for _ in range(3_000):
            handler.wfile.write(b"0")
            handler.wfile.flush()
            time.sleep(0.02)


def dripping_headers(handler: BaseHTTPRequestHandler) -> None:
    """The same, and the content never even begins."""
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(3_000):
            handler.wfile.write(b"X")
            handler.wfile.flush()
            time.sleep(0.02)


def rude(handler: BaseHTTPRequestHandler) -> None:
    """Escape codes in the server's own words."""
    handler.wfile.write(b"HTTP/1.1 500 \x1b[31mred\x1b[0m\r\nContent-Length: 0\r\n\r\n")


def odd_length(handler: BaseHTTPRequestHandler) -> None:
    """A length that is a digit only to Unicode."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\nConnection: close\r\n\r\n" + b"0" * 100_001)


def moved(address: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """Send the visitor elsewhere."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return answer


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, "not-downloaded"),
        (cut, "damaged-file"),
        (cut_chunks, "not-downloaded"),
        (reset, "not-downloaded"),
        (b"0" * 200_000, "too-large"),
        (endless, "too-large"),
        (silent, "not-downloaded"),
        (dripping, "too-slow"),
        (dripping_headers, "too-slow"),
        (rude, "not-downloaded"),
        (odd_length, "too-large"),
        (moved("http://192.0.2.1/x.zip"), "unsafe-address"),
        (moved("file:///etc/passwd"), "not-downloaded"),
        (moved("/x.zip"), "not-downloaded"),
    ],
)
def test_downloads_that_go_wrong_are_told(
    answer: Answer | None, code: str, publisher: Publisher, tmp_path: Path
) -> None:
    """Missing, cut off, too large, silent or sent to an unsafe place: an error that says which."""
    if answer is not None:
        publisher.answers["/x.zip"] = answer
    patience = 1.5 if answer in (silent, dripping, dripping_headers) else 60.0  # a busy machine is no slow server
    with refuses(code) as said:
        receive(f"{publisher.url}/x.zip", tmp_path / "x.zip", limit=100_000, timeout=patience)
    assert "\x1b" not in str(said.value)


def test_a_download_has_a_deadline(publisher: Publisher, tmp_path: Path) -> None:
    """However steadily the bytes come."""
    publisher.answers["/x.zip"] = dripping
    with refuses("too-slow"):
        receive(f"{publisher.url}/x.zip", tmp_path / "x.zip", deadline=2.0)


def test_a_move_on_the_same_machine_is_followed(publisher: Publisher, tmp_path: Path) -> None:
    """Redirections are ordinary, as long as they are as safe as the first address."""
    publisher.answers |= {"/x.zip": moved("/y.zip"), "/y.zip": b"content"}
    receive(f"{publisher.url}/x.zip", tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == b"content"


@pytest.mark.parametrize(
    "mirror",
    ["http://example.org", "ftp://127.0.0.1", "file:///tmp", "here", "", "http://127.0.0.1.example.org", "http://[x"],
)
def test_only_https_is_asked(mirror: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain http leaves this machine never; nothing is asked before that is clear."""
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    with refuses("unsafe-address"):
        datasets.fetch("ml-100k", mirror=mirror)
    assert left(alone) == []


def test_nobody_there_is_told(alone: Path) -> None:
    """A server that does not answer is an error with the way to do it by hand."""
    with refuses("not-downloaded"):
        datasets.fetch("ml-100k", mirror="http://127.0.0.1:9")
    assert left(alone) == []
