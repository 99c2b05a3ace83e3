"""Downloading a set from its publisher: only when asked, only where its licence allows, whole or not at all.

Files come over https into a hidden folder beside their place, are unpacked and read by the set's own reader there,
and only then take their place by a rename; whatever goes wrong, also Ctrl-C, leaves nothing behind.
There is a deadline, a least speed, and a limit on what a server may send.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPMessage, HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from queue import Empty, Queue
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from unskew.core.errors import InputError
from unskew.core.temporaries import Temporary
from unskew.core.text import plain, plain_path
from unskew.log.datasets import places
from unskew.log.datasets.archive import unpack
from unskew.log.datasets.base import Download, Source
from unskew.log.datasets.catalogue import how_to_get, source_of

LIMIT = 128 << 20  # bytes per file
TIMEOUT = 30.0  # seconds without a byte
DEADLINE = 900.0  # seconds per file
SLOWEST = 1_000  # bytes a second on average, from the moment that ``TIMEOUT`` has passed
_CHUNK = 1 << 16
Progress = Callable[[str, int, int], None]


def fetch(
    name: str,
    *,
    mirror: str | None = None,
    again: bool = False,
    sha256: Sequence[str] = (),
    progress: Progress | None = None,
) -> Path:
    """Download a set into the user's cache; gives back the folder.

    Args:
        name: which set; one whose licence does not allow it is refused, with a note on how to get it.
        mirror: a server of yours that offers the publisher's paths, as in ``https://mirror.example/data``.
        again: download even if a copy is on this machine.
        sha256: checksums; if any are given, every downloaded file must have one of them. A checksum of the publisher's
            own file is checked without being given, where it is known (a mirror may have packed its files anew).
        progress: called with (stage, bytes done, bytes in all).
    """
    source = source_of(name)
    if not source.downloads:
        raise InputError(
            f"'{name}' is not downloaded from here.\n{how_to_get(source)}", code="not-downloadable", dataset=name
        )
    present = places.find(source)
    if present is not None and not again:
        return present
    target = places.store(name)
    try:
        with _temporary_folder(target) as scratch:
            for download in source.downloads:
                _get(download, scratch, mirror, sha256, progress)
            folder = _checked(source, scratch)
            places.note_checksums(folder, source.files)
            _install(folder, target, scratch)
    except OSError as problem:
        raise InputError(
            f"{plain_path(target)}: cannot be written: {problem.strerror or problem}.", code="cannot-write"
        ) from problem
    return target


@contextmanager
def _temporary_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target that is gone afterwards; that of a killed run goes with the next download."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Temporary(target.parent, Path.mkdir)
    try:
        yield temporary.path
    finally:
        temporary.discard()


def _get(
    download: Download, scratch: Path, mirror: str | None, allowed: Sequence[str], progress: Progress | None
) -> None:
    """Bring one of the publisher's files into the folder ``set`` of the scratch folder."""
    url = download.url if mirror is None else mirror.rstrip("/") + urlsplit(download.url).path
    folder = scratch / "set"
    path = folder / download.to if download.to else scratch / "archive.zip"
    folder.mkdir(exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    receive(url, path, progress=progress)
    wanted = list(allowed) or ([download.sha256] if download.sha256 and mirror is None else [])
    if wanted and (found := places.sha256(path)) not in (sum.strip().lower() for sum in wanted):
        raise _failed(url, f"its SHA-256 is {found}, not {plain(' or '.join(wanted), 200)}", "wrong-checksum")
    if not download.to:
        try:
            unpack(path, folder)
        except InputError as problem:
            raise InputError(f"{plain_path(url)}: {problem}\nNothing was kept.", code=problem.code) from problem
        path.unlink()


def _checked(source: Source, scratch: Path) -> Path:
    """The folder that holds the set, read once to make sure that it is the set."""
    folder = places.locate(source, scratch / "set")
    name, homepage = source.about.name, source.about.homepage
    if folder is None:
        lacking = ", ".join(source.lacking(scratch / "set"))
        raise InputError(
            f"what was downloaded is not '{name}': {lacking} is missing.\nSee {homepage}",
            code="wrong-dataset",
            dataset=name,
        )
    try:
        source.read(folder)
    except InputError as problem:
        why = str(problem).replace(f"{folder}{os.sep}", "")
        raise InputError(
            f"what was downloaded is not '{name}': {why}\nNothing was kept. See {homepage}",
            code="wrong-dataset",
            dataset=name,
        ) from problem
    return folder


def _install(folder: Path, target: Path, scratch: Path) -> None:
    """Put the new folder into its place; an older one leaves it first, and returns if that fails."""
    old = scratch / "old"
    try:
        if os.path.lexists(target):  # also a link that leads nowhere
            os.rename(target, old)
        os.rename(folder, target)
    except BaseException:
        if os.path.lexists(old) and not os.path.lexists(target):
            os.rename(old, target)
        raise


def receive(
    url: str,
    path: Path,
    *,
    limit: int = LIMIT,
    timeout: float = TIMEOUT,
    deadline: float = DEADLINE,
    progress: Progress | None = None,
) -> None:
    """Download one file; too large, too slow, cut off or over an unsafe connection is an error.

    Args:
        timeout: seconds without a byte, and after which the server must have sent ``SLOWEST`` bytes for each second.
    """
    _refuse_unsafe(url, local=True)
    stage = f"downloading {plain(url.rsplit('/', 1)[-1])}"
    began = time.monotonic()
    try:
        with _answer(url, timeout, deadline) as answer, path.open("wb") as file:
            length = answer.headers.get("Content-Length", "")
            total = int(length) if re.fullmatch("[0-9]{1,18}", length) else None
            if total is not None and total > limit:
                raise _failed(url, f"it has {total:,} bytes, and at most {limit:,} are taken", "too-large")
            done = 0
            while chunk := answer.read1(_CHUNK):
                done += len(chunk)
                if done > limit:
                    raise _failed(url, f"it does not end, and at most {limit:,} bytes are taken", "too-large")
                file.write(chunk)
                _refuse_slow(url, done, time.monotonic() - began, timeout, deadline)
                if progress is not None:
                    progress(stage, done, total or limit)
    except HTTPError as problem:
        raise _failed(url, f"the server answered {problem.code} {problem.reason}") from problem
    except InputError:
        raise
    except (HTTPException, OSError, ValueError) as problem:
        reason = getattr(problem, "reason", None) or problem
        raise _failed(url, str(reason) or type(reason).__name__) from problem
    if total is not None and done != total:
        raise _failed(url, f"it was cut off after {done:,} of {total:,} bytes", "damaged-file")


def _answer(url: str, timeout: float, deadline: float) -> HTTPResponse:
    """The server's response with all its headers: another thread waits for them, so that there is a time limit.

    That thread cannot be stopped from outside; it ends with the connection, or with the process.
    """
    request = Request(url, headers={"User-Agent": "unskew", "Accept-Encoding": "identity"})
    arrived: Queue[HTTPResponse | BaseException] = Queue()

    def ask() -> None:
        try:
            proxies = [ProxyHandler({})] if _is_local(url) else []  # no proxy for a server on this machine
            arrived.put(build_opener(_Redirects, *proxies).open(request, timeout=timeout))
        except BaseException as problem:
            arrived.put(problem)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = arrived.get(timeout=min(deadline, 2.0 * timeout))
    except Empty:
        raise _failed(url, "the server did not answer in time", "too-slow") from None
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _refuse_slow(url: str, done: int, seconds: float, timeout: float, deadline: float) -> None:
    if seconds > deadline:
        raise _failed(url, f"it took more than {deadline:g} seconds", "too-slow")
    if seconds > timeout and done < SLOWEST * seconds:
        raise _failed(url, f"it is too slow: {done:,} bytes in {seconds:.0f} seconds", "too-slow")


class _Redirects(HTTPRedirectHandler):
    """Redirections are followed as long as they are as safe as the first address."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Check the new address first."""
        _refuse_unsafe(newurl, local=_is_local(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_unsafe(url: str, *, local: bool) -> None:
    """Only https; plain http is for a server on this machine, and only if that was asked for."""
    try:
        scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
    except ValueError:
        scheme, host = "", None
    if not host or not (scheme == "https" or (scheme == "http" and local and _is_local(url))):
        raise InputError(
            f"{plain_path(url)}: only https addresses are downloaded from (http on this machine only).",
            code="unsafe-address",
        )


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _failed(url: str, why: str, code: str = "not-downloaded") -> InputError:
    return InputError(
        f"{plain_path(url)}: it cannot be downloaded: {plain(why, 300)}.\nNothing was kept. Try again later, or get "
        "the files by hand and register them with: unskew data add NAME PATH",
        code=code,
    )
