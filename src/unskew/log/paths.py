"""Which paths may be read: plain files that exist. Reading a pipe or a device might never end."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from unskew.core.errors import InputError
from unskew.core.memory import amount
from unskew.core.text import plain

Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
LONGEST = 500  # characters of a path in a message
_KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


def is_path(given: object) -> bool:
    """Whether this is a path, or several of them."""
    if isinstance(given, list | tuple):
        return len(given) > 0 and all(isinstance(each, str | PathLike) for each in given)
    return isinstance(given, str | PathLike)


def shown(path: Paths) -> str:
    """A path as messages print it; of several the first, and how many there are."""
    if isinstance(path, list | tuple):
        more = f" and {len(path) - 1:,} more" if len(path) > 1 else ""
        return f"{plain(path[0], LONGEST)}{more}"
    return plain(path, LONGEST)


def as_path(given: object) -> Path:
    """A path from what Python callers gave."""
    if isinstance(given, str | PathLike):
        return Path(given)
    raise InputError(f"{plain(given)}: a path is a text or a Path, not {type(given).__name__}.", code="wrong-type")


def read_small(path: str | PathLike[str], most: int, remedy: str) -> bytes:
    """The content of a plain file that has at most so many bytes."""
    with check_file(path, remedy).open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(
            f"{shown(path)}: the file has more than {amount(most)}, and is not what it should be.\n{remedy}",
            code="too-large",
        )
    return content


def check_file(path: str | PathLike[str], remedy: str, hint: Callable[[], str] = str) -> Path:
    """The path, if it leads to a plain file that may be opened.

    Args:
        remedy: which kind of file to give.
        hint: says what else might have been meant, if there is no such file.
    """
    file = as_path(path)
    try:
        kind = os.stat(file).st_mode
        if stat.S_ISREG(kind):
            with file.open("rb"):
                return file
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{shown(file)}: there is no such file.\nCheck the path (looked from {shown(Path.cwd())}).{hint()}",
            code="missing-file",
            file=str(file),
        ) from None
    except (OSError, ValueError) as problem:  # no permission, a loop of links, a name that no file can have
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise InputError(
            f"{shown(file)}: the file cannot be opened ({plain(reason)}).\nCheck the path, and that you may read it.",
            code="unreadable-file",
            file=str(file),
        ) from None
    if stat.S_ISDIR(kind):
        raise InputError(f"{shown(file)}: this is a directory.\n{remedy}", code="not-a-file", file=str(file))
    what = next((name for is_kind, name in _KINDS.items() if is_kind(kind)), "something else")
    raise InputError(
        f"{shown(file)}: this is {what}, not a file.\nWrite its content into a file first. {remedy}",
        code="not-a-file",
        file=str(file),
    )
