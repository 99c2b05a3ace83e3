"""Downloads: archives that lie, servers that lie, lists of registered copies that are damaged."""

from __future__ import annotations

import io
import json
import socket
import threading
import zipfile
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from random import Random

from tests.hostile.cases import Case
from tests.log.publisher import ZIP, Publisher, one

Answer = bytes | Callable[[BaseHTTPRequestHandler], None]
_LOCK = threading.Lock()


@cache
def _publisher() -> Publisher:
    return Publisher()


def _set(rng: Random) -> dict[str, bytes]:
    """Three files that look like the set, and are not."""
    return {
        "ml-100k/u.data": b"\n".join(b"%d\t%d\t3\t880000000" % (u, u % 7 + 1) for u in range(1, rng.randint(2, 50))),
        "ml-100k/u.user": b"1|24|M|technician|85711\n",
        "ml-100k/u.item": b"1|Toy Story (1995)|01-Jan-1995||http://x|" + b"|".join([b"0"] * 19) + b"\n",
    }


def _zip(entries: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    return made.getvalue()


@cache
def _bomb() -> bytes:
    return _zip({"ml-100k/u.data": bytes(600 << 20)})


def _poked(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 4, 30))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def _head(status: str, headers: dict[str, str], body: bytes = b"") -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        handler.wfile.write(f"HTTP/1.0 {status}\r\n{lines}\r\n".encode("latin-1", "replace") + body)

    return answer


def _raw(data: bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(data)

    return answer


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def _answers(rng: Random) -> tuple[str, Answer]:
    small = _set(rng)
    archives: dict[str, Callable[[], bytes]] = {
        "another set": lambda: _zip(small),
        "a file is missing": lambda: _zip(dict(list(small.items())[:2])),
        "damaged": lambda: _poked(_zip(small), rng),
        "cut off": lambda: _zip(small)[: rng.randrange(400)],
        "not text": lambda: _zip({**small, "ml-100k/u.data": bytes(range(256)) * 40}),
        "escape codes": lambda: _zip({**small, "ml-100k/u.data": b"\x1b[31m1\t2\t3\t4\n" * 9}),
        "huge cell": lambda: _zip({**small, "ml-100k/u.data": b"9" * 3_000_000}),
        "empty file": lambda: _zip({**small, "ml-100k/u.data": b""}),
        "climbs": lambda: one("../../harm.txt"),
        "absolute": lambda: one("/tmp/harm.txt"),
        "a name with escape codes": lambda: one("..\x1b[31m/x"),
        "a link": lambda: one("ml-100k/u.data", b"/etc/passwd", external_attr=0o120777 << 16),
        "a device": lambda: one("ml-100k/u.data", b"", external_attr=0o020666 << 16),
        "a long name": lambda: one("x" * 5000),
        "deep folders": lambda: one("a/" * 2000 + "x"),
        "the same name twice": lambda: _zip(small)[:-22] + _zip(small),
        "a file that is a folder": lambda: _zip({"ml-100k": b"x", **small}),
        "a bomb": _bomb,
        "no archive": lambda: b"<html>not found</html>",
        "nothing": lambda: b"",
        "many entries": lambda: _zip({f"f{i}": b"" for i in range(10_050)}),
        "packed within": lambda: _zip({"ml-100k.zip": _zip(small)}),
    }
    servers: dict[str, Answer] = {
        "404": _head("404 Not Found", {}),
        "status with escape codes": _head("500 \x1b[31mowned\x1b]0;x\x07", {}),
        "a long status": _head("503 " + "x" * 60_000, {}),
        "redirect to a file": _head("302 Found", {"Location": "file:///etc/passwd"}),
        "redirect to plain http": _head("302 Found", {"Location": "http://192.0.2.1/x\x1b[31m"}),
        "redirect to itself": _head("302 Found", {"Location": ZIP}),
        "redirect to nonsense": _head("302 Found", {"Location": "http://[::1"}),
        "longer than it is": _head("200 OK", {"Content-Length": "1000000"}, b"x"),
        "huge length": _head("200 OK", {"Content-Length": "9" * 30}, b"x"),
        "length that is no number": _head("200 OK", {"Content-Length": "²"}, b"x"),
        "negative length": _head("200 OK", {"Content-Length": "-5"}, b"x"),
        "chunks that lie": _raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\nx\r\n"),
        "no HTTP": _raw(b"SSH-2.0-OpenSSH\r\n"),
        "a long header": _raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"),
        "many headers": _raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n"),
        "nothing at all": _raw(b""),
        "a reset": _reset,
    }
    if rng.random() < 0.6:
        name = rng.choice(list(archives))
        return name, archives[name]()
    name = rng.choice(list(servers))
    return name, servers[name]


def archives_case(rng: Random, folder: Path) -> Case:
    """A fetch from a hostile publisher: one clear error, and nothing kept."""
    with _LOCK:
        publisher = _publisher()
    what, answer = _answers(rng)
    key = f"/{rng.getrandbits(64):x}"
    publisher.answers[key + ZIP] = answer
    argv = ["data", "fetch", "ml-100k", "--again", f"--mirror={publisher.url}{key}"]
    folder.joinpath("cache", "unskew", "data").mkdir(parents=True)
    return Case(what, argv, ["ml-100k", publisher.url], answerable=False, env=_home(folder))


def registry_case(rng: Random, folder: Path) -> Case:
    """The list of registered copies is damaged: any command says so, or does not need it."""
    words = (
        "{", "[]", "null", "{}", '{"ml-100k": 3}', '{"ml-100k": "/nowhere"}', "\x00", "[" * 100_000,
        '{"a":' * 100_000, "NaN", "", '{"ml-100k": "\\u0000"}', '{"ml-100k": "' + "x" * 5000 + '"}',
        '{"\\u001b[31m": "/"}', '{"ml-100k": "/dev/zero"}', json.dumps({"ml-100k": str(folder)}),
        '{"ml-100k": "."}', "1" * 5000, '{"coat": "\\ud800"}',
    )  # fmt: skip
    home = folder / "cache" / "unskew"
    home.mkdir(parents=True)
    text = rng.choice(words)
    home.joinpath("datasets.json").write_text(text)
    argv = rng.choice((
        ["data", "list"], ["data", "show", "ml-100k"], ["data", "add", "ml-100k", "."],
        ["data", "show", "nothing\x1b[31m"], ["data", "add", "coat", "/dev/null"], ["data", "fetch", "coat"],
        ["data", "add", "ml-100k", "x" * 5000],
    ))  # fmt: skip
    return Case(f"{' '.join(argv)[:60]} with {text[:40]!r}", argv, ["datasets.json", *argv[2:]], env=_home(folder))


def _home(folder: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder), "UNSKEW_DATA": ""}
