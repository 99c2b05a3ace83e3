"""Downloading a set from its publisher: only when asked, only where its licence allows, whole or not at all.

Files come over https into a hidden folder beside their place, are unpacked and read by the set's own reader there,
and only then take their place by a rename; whatever goes wrong, also Ctrl-C, leaves nothing behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPMessage
from ipaddress import ip_address
from pathlib import Path
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from unskew.errors import InputError
from unskew.log.datasets import places
from unskew.log.datasets.archive import unpack
from unskew.log.datasets.base import Download, Source
from unskew.log.datasets.catalogue import how_to_get, source_of

LIMIT = 128 << 20  # bytes per file
TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 16
Progress = Callable[[str, int, int], None]


def fetch(name: str, *, mirror: str | None = None, again: bool = False, progress: Progress | None = None) -> Path:
    """Download a set into the user's cache; gives back the folder.

    Args:
        name: which set; one whose licence does not allow it is refused, with words on how to get it.
        mirror: a server of yours that offers the publisher's paths, as in ``https://mirror.example/data``.
        again: download even if a copy is on this machine.
        progress: called with (stage, bytes done, bytes in all).
    """
    source = source_of(name)
    if not source.downloads:
        raise InputError(f"'{name}' is not downloaded from here.\n{how_to_get(source)}")
    there = places.find(source)
    if there is not None and not again:
        return there
    target = places.store(name)
    try:
        with _workshop(target) as workshop:
            for download in source.downloads:
                _get(download, workshop, mirror, progress)
            _install(_checked(source, workshop), target, workshop)
    except OSError as problem:
        raise InputError(f"{target}: cannot be written: {problem.strerror or problem}.") from problem
    return target


@contextmanager
def _workshop(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target that is gone afterwards."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _get(download: Download, workshop: Path, mirror: str | None, progress: Progress | None) -> None:
    """Bring one of the publisher's files into the workshop's folder ``set``."""
    url = download.url if mirror is None else mirror.rstrip("/") + urlsplit(download.url).path
    folder = workshop / "set"
    path = folder / download.to if download.to else workshop / "archive.zip"
    folder.mkdir(exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    receive(url, path, progress=progress)
    if not download.to:
        try:
            unpack(path, folder)
        except InputError as problem:
            raise InputError(f"{url}: {problem}\nNothing was kept.") from problem
        path.unlink()


def _checked(source: Source, workshop: Path) -> Path:
    """The folder that holds the set, read once to make sure that it is the set."""
    folder = places.locate(source, workshop / "set")
    name, homepage = source.about.name, source.about.homepage
    if folder is None:
        lacking = ", ".join(source.lacking(workshop / "set"))
        raise InputError(f"what was downloaded is not '{name}': {lacking} is missing.\nSee {homepage}")
    try:
        source.read(folder)
    except InputError as problem:
        told = str(problem).replace(f"{folder}{os.sep}", "")
        raise InputError(f"what was downloaded is not '{name}': {told}\nNothing was kept. See {homepage}") from problem
    return folder


def _install(folder: Path, target: Path, workshop: Path) -> None:
    """Put the new folder into its place; an older one leaves it first, and returns if that fails."""
    old = workshop / "old"
    try:
        if os.path.lexists(target):  # also a link that leads nowhere
            os.rename(target, old)
        os.rename(folder, target)
    except BaseException:
        if os.path.lexists(old) and not os.path.lexists(target):
            os.rename(old, target)
        raise


def receive(
    url: str, path: Path, *, limit: int = LIMIT, timeout: float = TIMEOUT, progress: Progress | None = None
) -> None:
    """Download one file; too large, cut off or over an unsafe way is an error."""
    _refuse_unsafe(url, local=True)
    request = Request(url, headers={"User-Agent": "unskew", "Accept-Encoding": "identity"})
    stage = f"downloading {url.rsplit('/', 1)[-1]}"
    try:
        with _opener(url).open(request, timeout=timeout) as answer:
            told = answer.headers.get("Content-Length", "")
            total = int(told) if told.isdigit() else None
            if total is not None and total > limit:
                raise _failed(url, f"it has {total:,} bytes, and at most {limit:,} are taken")
            done = 0
            with path.open("wb") as file:
                while chunk := answer.read(_CHUNK):
                    done += len(chunk)
                    if done > limit:
                        raise _failed(url, f"it does not end, and at most {limit:,} bytes are taken")
                    file.write(chunk)
                    if progress is not None:
                        progress(stage, done, total or limit)
    except HTTPError as problem:
        raise _failed(url, f"the server answered {problem.code} {problem.reason}") from problem
    except (HTTPException, OSError) as problem:
        reason = getattr(problem, "reason", None) or problem
        raise _failed(url, str(reason) or type(reason).__name__) from problem
    if total is not None and done != total:
        raise _failed(url, f"it was cut off after {done:,} of {total:,} bytes")


class _Redirects(HTTPRedirectHandler):
    """Redirections are followed as long as they are as safe as the first address."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Judge the new address first."""
        _refuse_unsafe(newurl, local=_is_local(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(url: str) -> OpenerDirector:
    """Proxies are for the world outside."""
    return build_opener(_Redirects, *([ProxyHandler({})] if _is_local(url) else []))


def _refuse_unsafe(url: str, *, local: bool) -> None:
    """Only https; plain http is for a server on this machine, and only if that was asked for."""
    try:
        scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
    except ValueError:
        scheme, host = "", None
    if not host or not (scheme == "https" or (scheme == "http" and local and _is_local(url))):
        raise InputError(f"{url}: only https addresses are downloaded from (http on this machine only).")


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _failed(url: str, why: str) -> InputError:
    return InputError(
        f"{url}: it cannot be downloaded: {why}.\nNothing was kept. Try again later, or get the files by hand and "
        "register them with: unskew data add NAME PATH"
    )
