"""Unpacking an archive from elsewhere: nothing may leave the target folder, and nothing may grow without bound.

The whole table of contents is checked before a byte is written: absolute paths, ``..``, drive letters, links, devices
and encrypted entries are refused, and so is an archive that unpacks to more than the limit. Since the table may state
wrong sizes, bytes are counted again while they are written. The table itself is held in memory, so that its length is
checked first.
"""

from __future__ import annotations

import stat
import zlib
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from unskew.core.errors import InputError
from unskew.core.text import plain

LIMIT = 512 << 20  # bytes
ENTRIES = 10_000
TABLE = 4 << 20  # bytes of the table of contents, far more than so many entries of usual names need
_CHUNK = 1 << 18
DEEPEST = 20  # folders inside folders
_LAST = 22 + 65_535  # bytes of the record at the end, with the longest comment


def unpack(archive: Path, folder: Path, *, limit: int = LIMIT) -> None:
    """Unpack a zip archive into a folder."""
    try:
        if (table := _table_size(archive)) > TABLE:
            raise InputError(
                f"the archive's table of contents has {table:,} bytes; at most {TABLE:,} are read.", code="too-large"
            )
        with ZipFile(archive) as packed:
            entries = packed.infolist()
            if len(entries) > ENTRIES:
                raise InputError(
                    f"the archive has {len(entries):,} entries; at most {ENTRIES:,} are unpacked.",
                    code="too-many-entries",
                )
            for entry in entries:
                _check(entry)
            if (total := sum(entry.file_size for entry in entries)) > limit:
                raise InputError(
                    f"the archive unpacks to {total:,} bytes; at most {limit:,} are allowed.", code="too-large"
                )
            for entry in entries:
                limit -= _write(packed, entry, folder, limit)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError) as problem:
        raise InputError(f"the archive is damaged ({plain(problem)}).", code="damaged-file") from problem
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as problem:
        raise InputError("the archive has two entries of the same name.", code="repeated-entry") from problem


def _table_size(archive: Path) -> int:
    """The bytes of the table of contents, from the record at the end of the archive (a comment may follow it)."""
    with archive.open("rb") as file:
        file.seek(max(archive.stat().st_size - _LAST, 0))
        tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) < place + 22:
        raise BadZipFile("its end is missing")
    return int.from_bytes(tail[place + 12 : place + 16], "little")


def _check(entry: ZipInfo) -> None:
    """Refuse an entry that is anything but a plain file or folder below the target."""
    name = entry.orig_filename
    parts = PurePosixPath(name).parts
    if len(parts) > DEEPEST:
        raise InputError(
            f"the archive's entry '{plain(name)}' lies more than {DEEPEST} folders deep.", code="entry-too-deep"
        )
    if not parts or name.startswith("/") or ".." in parts or any(sign in name for sign in "\\:\0"):
        raise InputError(f"the archive's entry '{plain(name)}' would leave the target folder.", code="entry-outside")
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InputError(f"the archive's entry '{plain(name)}' is a link or a device.", code="entry-not-a-file")
    if entry.flag_bits & 0x1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise InputError(
            f"the archive's entry '{plain(name)}' is encrypted, or packed in an unusual way.", code="entry-encrypted"
        )


def _write(packed: ZipFile, entry: ZipInfo, folder: Path, limit: int) -> int:
    """Write one entry as a new file without its permissions; gives back its size."""
    target = folder / entry.filename
    if not target.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            f"the archive's entry '{plain(entry.filename)}' would leave the target folder.", code="entry-outside"
        )
    if entry.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with packed.open(entry) as content, target.open("xb") as file:
        while chunk := content.read(_CHUNK):
            size += len(chunk)
            if size > limit:
                raise InputError("the archive unpacks to more than it says.", code="too-large")
            file.write(chunk)
    return size
