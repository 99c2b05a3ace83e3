"""Checksums of downloaded sets: written when a set is downloaded, compared whenever it is read.

They stand in the set's folder as ``SHA256SUMS``, in the form that ``sha256sum --check`` reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from unskew.errors import InputError
from unskew.plain import plain, plain_path

NAME = "SHA256SUMS"


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def note(folder: Path, files: Iterable[str]) -> None:
    """Write the checksums of these files into their folder."""
    lines = [f"{sha256(folder / name)}  {name}\n" for name in files]
    (folder / NAME).write_text("".join(lines), encoding="utf-8")


def compare(folder: Path, files: Iterable[str], remedy: str) -> None:
    """Refuse a file that is not what was downloaded; a folder without checksums is somebody's own copy."""
    try:
        lines = (folder / NAME).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{plain_path(folder / NAME)}: the checksums cannot be read: {plain(problem)}.\n{remedy}"
        ) from None
    known = {name: noted for noted, _, name in (line.partition("  ") for line in lines)}
    for name in files:
        if known.get(name) != sha256(folder / name):
            raise InputError(
                f"{plain_path(folder / name)}: this is not what was downloaded: its checksum differs from the one in "
                f"{NAME}.\n{remedy}"
            )
