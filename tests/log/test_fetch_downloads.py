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


def sent(*parts: bytes, forever: bytes = b"", pause: float = 0.0) -> Callable[[BaseHTTPRequestHandler], None]:
    """Bytes as they stand, then one part for ever, with pauses."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with suppress(OSError):
            handler.wfile.write(b"".join(parts))
            until = time.monotonic() + 60.0
            while forever and time.monotonic() < until:
                handler.wfile.write(forever)
                handler.wfile.flush()
                time.sleep(pause)

    return answer


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Hang up rudely after some bytes."""
    sent(OK, b"Content-Length: 1000\r\n\r\n", b"0" * 10)(handler)
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Answer too late."""
    time.sleep(60.0)


OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
LONG = b"0" * 100_001
dripping = sent(OK, b"\r\n", forever=b"0", pause=0.02)
dripping_headers = sent(b"HTTP/1.1 200 OK\r\n", forever=b"X", pause=0.02)


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
        (sent(OK, b"Content-Length: 1000\r\n\r\n", b"0" * 10), "damaged-file"),
        (sent(OK, b"Transfer-Encoding: chunked\r\n\r\n400\r\n", b"0" * 10), "not-downloaded"),
        (sent(OK, b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\nx\r\n"), "not-downloaded"),
        (sent(OK, b"Content-Length: \xb2\r\n\r\n", LONG), "too-large"),
        (sent(OK, b"X: " + b"x" * 100_000 + b"\r\n\r\n"), "not-downloaded"),
        (sent(OK, b"X: y\r\n" * 500, b"\r\n"), "not-downloaded"),
        (sent(OK, b"\r\n", forever=b"0" * 65_536), "too-large"),
        (sent(b"HTTP/1.1 500 \x1b[31mred\x1b[0m\r\nContent-Length: 0\r\n\r\n"), "not-downloaded"),
        (sent(b"HTTP/1.1 503 ", b"x" * 60_000, b"\r\n\r\n"), "not-downloaded"),
        (sent(b"SSH-2.0-OpenSSH\r\n"), "not-downloaded"),
        (sent(), "not-downloaded"),
        (reset, "not-downloaded"),
        (b"0" * 200_000, "too-large"),
        (silent, "not-downloaded"),
        (dripping, "too-slow"),
        (dripping_headers, "too-slow"),
        (moved("http://192.0.2.1/x.zip"), "unsafe-address"),
        (moved("file:///etc/passwd"), "not-downloaded"),
        (moved("/x.zip"), "not-downloaded"),
        (moved("http://[::1"), "not-downloaded"),
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
    assert "\x1b" not in str(said.value) and len(str(said.value)) < 1500


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
