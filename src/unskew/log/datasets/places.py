"""Where copies of data sets may lie on this machine.

In this order: the folder that ``unskew data add`` registered; ``$UNSKEW_DATA/NAME``; ``../shared/data/NAME`` beside
the checkout and beside the current folder; the user's cache, into which ``unskew data fetch`` puts what it downloads.

Checksums of downloaded sets are written when a set is downloaded, and compared whenever it is read. They stand in the
set's folder as ``SHA256SUMS``, in the form that ``sha256sum --check`` reads.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from unskew.core import strict_json
from unskew.core.atomic import folder as made
from unskew.core.atomic import write_json
from unskew.core.errors import InputError
from unskew.core.locks import alone
from unskew.core.text import plain, plain_path
from unskew.log.datasets.base import Source
from unskew.log.paths import read_small

LARGEST = 1 << 20  # bytes of the list of registered copies
CHECKOUT = Path(__file__).parents[4]  # of an installation this is some folder above site-packages
SUMS = "SHA256SUMS"
_ANEW = "It is the list of registered data sets: delete it, and add your copies again."


def cache() -> Path:
    """The user's cache folder of unskew: ``$XDG_CACHE_HOME`` where set, else what the platform is used to."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "unskew"
    try:
        home = Path.home()
    except RuntimeError:
        raise InputError(
            "there is no home folder for the cache. Name one: set XDG_CACHE_HOME.", code="no-home-folder"
        ) from None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "unskew" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "unskew"
    return home / ".cache" / "unskew"


def store(name: str) -> Path:
    """Where a downloaded set lies."""
    return cache() / "data" / name


def places(name: str) -> Iterator[Path]:
    """Every folder that may hold the set, the first choice first."""
    if (registered := registry().get(name)) is not None:
        yield Path(registered)
    if data := os.environ.get("UNSKEW_DATA"):
        folder = Path(os.path.expanduser(data))
        if not os.path.isdir(folder):
            raise InputError(
                f"UNSKEW_DATA: there is no folder {plain_path(folder)}.\nFix the variable, or unset it to look "
                "elsewhere: a copy that lies there would be passed over for another.",
                code="missing-folder",
            )
        yield folder / name
    if (CHECKOUT / "pyproject.toml").is_file():
        yield CHECKOUT.parent / "shared" / "data" / name
    with suppress(FileNotFoundError):  # the current folder was removed
        yield Path.cwd().parent / "shared" / "data" / name
    yield store(name)


def find(source: Source) -> Path | None:
    """The first place that holds a copy."""
    return next((place for place in places(source.about.name) if source.find(place)), None)


def locate(source: Source, path: Path) -> Path | None:
    """The copy at a path: the folder itself, or one right inside it (an archive's top folder)."""
    try:
        inside = sorted(entry for entry in path.iterdir() if entry.is_dir())
    except OSError:
        return None
    return next((folder for folder in (path, *inside) if source.find(folder)), None)


def registry() -> dict[str, str]:
    """The registered copies: name → folder."""
    path = cache() / "datasets.json"
    if not os.path.lexists(path):
        return {}
    content = read_small(path, LARGEST, _ANEW)
    try:
        known = strict_json.loads(content)
    except ValueError as problem:
        raise InputError(_spoilt(path, str(problem)), code="damaged-file") from problem
    if not isinstance(known, dict) or not all(isinstance(folder, str) for folder in known.values()):
        raise InputError(_spoilt(path, "it holds something else than names and folders"), code="damaged-file")
    return known


def register(name: str, folder: Path) -> None:
    """Remember where the user's copy lies; registrations at the same time wait for one another."""
    place = made(cache())
    with alone(place / "datasets.lock"):
        known = registry() | {name: str(folder.resolve())}
        write_json(place / "datasets.json", dict(sorted(known.items())))


def _spoilt(path: Path, why: str) -> str:
    return f"{plain_path(path)}: the list of registered data sets cannot be read: {plain(why)}.\n{_ANEW}"


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def note_checksums(folder: Path, files: Iterable[str]) -> None:
    """Write the checksums of these files into their folder."""
    lines = [f"{sha256(folder / name)}  {name}\n" for name in files]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def compare_checksums(folder: Path, files: Iterable[str], remedy: str) -> None:
    """Refuse a file that is not what was downloaded; a folder without checksums is somebody's own copy."""
    if not os.path.lexists(folder / SUMS):
        return
    content = read_small(folder / SUMS, LARGEST, remedy)
    try:
        lines = content.decode("utf-8").splitlines()
    except ValueError as problem:
        raise InputError(
            f"{plain_path(folder / SUMS)}: the checksums cannot be read: {plain(problem)}.\n{remedy}",
            code="damaged-file",
        ) from None
    known = {name: noted for noted, _, name in (line.partition("  ") for line in lines)}
    for name in files:
        if known.get(name) != sha256(folder / name):
            raise InputError(
                f"{plain_path(folder / name)}: this is not what was downloaded: its checksum differs from the one in "
                f"{SUMS}.\n{remedy}",
                code="wrong-checksum",
            )
