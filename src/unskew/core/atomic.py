"""Files appear whole or not at all: written beside their place, then renamed into it; several files all or none.

    with together():
        result.to_json("a.json")
        result.to_html("a.html")          # if this fails, a.json is as it was

Where an output is a link, the file that it leads to is replaced and the link stays. A replaced file keeps its
permissions, a new one has those that the umask leaves. How temporaries are named and removed: ``temporaries``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from unskew.core.errors import InputError
from unskew.core.temporaries import Temporary, changing, new_folder, second_name_of
from unskew.core.text import plain, plain_path

_OS_ERROR = re.compile(r"\(os error (\d+)\)")  # how polars and other Rust code tell of the system's errors


def missing_folder(path: Path) -> str:
    """What is said of a file in a folder that is not there: it may be misspelt, so that none is made."""
    gone = plain_path(path.parent)
    return f"{plain_path(path)}: cannot be written: there is no folder '{gone}'. Make it first, or fix the path."


def folder(path: str | Path) -> Path:
    """The folder that somebody asked to be filled; made where it is missing."""
    found = Path(path)
    try:
        new_folder(found)
    except (OSError, ValueError) as error:
        raise InputError(f"{plain_path(found)}: cannot be made: {_reason(error)}.", code="cannot-write") from None
    return found


def cannot_write(path: Path, error: Exception) -> InputError:
    """What is said when the system does not let a file be written."""
    return InputError(
        f"{plain_path(path)}: cannot be written: {_reason(error)}. Free some room, or give another place.",
        code="cannot-write",
    )


def target(path: str | Path) -> Path:
    """The file that writing to ``path`` replaces or makes, links followed; a folder, a device or a pipe is refused."""
    named = Path(path)
    try:
        final = named.resolve()
        kind = final.stat().st_mode if os.path.lexists(final) else stat.S_IFREG
        there = final.parent.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links is a RuntimeError
        raise cannot_write(named, error) from None
    if stat.S_ISDIR(kind):
        raise InputError(f"{plain_path(named)}: this is a directory. Give a file name.", code="not-a-file")
    if not stat.S_ISREG(kind):
        raise InputError(
            f"{plain_path(named)}: cannot be written: this is a device, a pipe or a socket. Give a file name.",
            code="not-a-file",
        )
    if not there:
        raise InputError(missing_folder(named), code="missing-folder")
    return final


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well, and vanishes when it does not.

    Inside ``together`` it takes its place when that block ends.
    """
    final, group = target(path), _group.get()
    with _told(final):
        temporary = Temporary(final.parent)
    try:
        with _told(final):
            yield temporary.path
            if final.exists():
                shutil.copymode(final, temporary.path)
            temporary.flush()
        if group is None:
            _rename_all([(temporary, final)])
        else:
            group.append((temporary, final))
    except BaseException:
        temporary.discard()
        raise


@contextmanager
def together() -> Iterator[None]:
    """All files written inside this block appear when it ends well; if anything fails, all are as they were."""
    if _group.get() is not None:  # part of a larger whole
        yield
        return
    group: list[_Written] = []
    token = _group.set(group)
    try:
        yield
        _rename_all(group)
    finally:
        _group.reset(token)
        for temporary, _ in group:
            temporary.discard()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file; half characters that UTF-8 cannot hold (lone surrogates) become question marks."""
    with atomic_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def write_json(path: str | Path, content: Any) -> None:
    """Write JSON that any reader takes: what is no number must be ``None`` by now."""
    write_text(path, json_text(content))


def json_text(content: Any, *, ascii: bool = False) -> str:
    """JSON as it is written; ``ascii`` escapes all other characters, for a stream that may not have them."""
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=ascii) + "\n"


_Written = tuple[Temporary, Path]  # a finished temporary and the file whose place it takes
_group: ContextVar[list[_Written] | None] = ContextVar("files that appear together", default=None)


def _rename_all(group: list[_Written]) -> None:
    """Rename all, or put back what was there before: a second name of each former file is kept until all is done."""
    former: dict[Path, Temporary] = {}
    done: list[Path] = []
    try:
        if len(group) > 1:
            for _, final in group:
                if final.exists():
                    with _told(final):
                        former[final] = Temporary(final.parent, second_name_of(final))
        with changing:
            for temporary, final in group:
                with _told(final):
                    os.replace(temporary.path, final)
                    done.append(final)
    except BaseException:
        for final in reversed(done):
            with suppress(OSError):
                os.replace(former[final].path, final) if final in former else final.unlink()
        raise
    finally:
        for temporary in (*former.values(), *(written for written, _ in group)):
            temporary.discard()


@contextmanager
def _told(final: Path) -> Iterator[None]:
    """The system's errors as one sentence about the file; also those that polars wraps in errors of its own."""
    try:
        yield
    except OSError as error:
        raise cannot_write(final, error) from None
    except InputError:
        raise
    except Exception as error:
        if _OS_ERROR.search(str(error)) is None:
            raise
        raise cannot_write(final, error) from None


def _reason(error: Exception) -> str:
    number = _OS_ERROR.search(str(error))
    if number is not None:
        return os.strerror(int(number[1]))
    return plain(getattr(error, "strerror", None) or error)
