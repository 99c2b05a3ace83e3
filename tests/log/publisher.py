"""A publisher of data sets on the loopback, and archives to offer there."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = bytes | Callable[[BaseHTTPRequestHandler], None]


class Publisher:
    """A server on the loopback: path → bytes, or a function that answers."""

    def __init__(self) -> None:
        answers: dict[str, Answer] = {}
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                answer = answers.get(self.path)
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    answer(self)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self.answers, self.asked = answers, asked
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


ZIP = "/datasets/movielens/ml-100k.zip"


def zipped(folder: Path, top: str) -> bytes:
    """A folder as an archive with one top folder."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.mkdir(top)
        for path in sorted(folder.iterdir()):
            packed.write(path, f"{top}/{path.name}")
    return content.getvalue()


def left(cache: Path) -> list[str]:
    """What lies in the store, hidden folders included."""
    return sorted(path.name for path in (cache / "data").iterdir()) if (cache / "data").exists() else []


def one(name: str, content: bytes = b"x", **attributes: Any) -> bytes:
    """An archive with one entry."""
    entry = zipfile.ZipInfo("placeholder")
    entry.filename = entry.orig_filename = name
    entry.compress_type = zipfile.ZIP_DEFLATED
    for key, value in attributes.items():
        setattr(entry, key, value)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr(entry, content)
    return made.getvalue()
