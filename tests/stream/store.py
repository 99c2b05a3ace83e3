"""An object store of one folder, as S3 speaks: objects, parts of them, lists by prefix; the bucket ``closed`` is."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


@contextmanager
def store(folder: Path) -> Iterator[dict[str, str]]:
    """Serve the buckets (folders) of a folder; gives the environment in which polars finds them."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            """An object, a part of one, or a list."""
            address = urlsplit(self.path)
            if address.path.strip("/").split("/")[0] == "closed":
                return self._send(403, b"<Error><Code>AccessDenied</Code></Error>")
            if "list-type=2" in address.query:
                return self._send(200, listed(folder / address.path.strip("/"), parse_qs(address.query)))
            path = folder / unquote(address.path.strip("/"))
            if not path.is_file():
                return self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
            data = path.read_bytes()
            if asked := re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "")):
                low = int(asked[1]) if asked[1] else max(len(data) - int(asked[2]), 0)
                high = min(int(asked[2]) + 1, len(data)) if asked[1] and asked[2] else len(data)
                return self._send(206, data[low:high], f"bytes {low}-{high - 1}/{len(data)}")
            return self._send(200, data)

        def _send(self, status: int, body: bytes, inside: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
            if inside is not None:
                self.send_header("Content-Range", inside)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.shutdown()
        server.server_close()


def listed(bucket: Path, query: dict[str, list[str]]) -> bytes:
    """The objects of a bucket whose names begin with the prefix."""
    prefix = query.get("prefix", [""])[0]
    names = sorted(str(path.relative_to(bucket)) for path in bucket.rglob("*") if path.is_file())
    found = "".join(
        f"<Contents><Key>{name}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>1</ETag>"
        f"<Size>{(bucket / name).stat().st_size}</Size></Contents>"
        for name in names
        if name.startswith(prefix)
    )
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode()
