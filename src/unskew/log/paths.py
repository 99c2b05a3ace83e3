"""Which paths may be read: plain files that exist. Reading a pipe or a device might never end."""

from __future__ import annotations

import os
import stat
from os import PathLike
from pathlib import Path

from unskew.errors import InputError
from unskew.plain import plain

LONGEST = 500  # characters of a path in a message
_KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


def shown(path: str | PathLike[str]) -> str:
    """A path as messages print it."""
    return plain(path, LONGEST)


def as_path(given: object) -> Path:
    """A path from what Python callers gave."""
    if isinstance(given, str | PathLike):
        return Path(given)
    raise InputError(f"{plain(given)}: a path is a text or a Path, not {type(given).__name__}.")


def check_file(path: str | PathLike[str], remedy: str, hint: str = "") -> Path:
    """The path, if it leads to a plain file that may be opened.

    Args:
        remedy: which kind of file to give.
        hint: what else might have been meant, if there is no such file.
    """
    file = as_path(path)
    try:
        kind = os.stat(file).st_mode
        if stat.S_ISREG(kind):
            with file.open("rb"):
                return file
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{shown(file)}: there is no such file.\nCheck the path (looked from {shown(Path.cwd())}).{hint}"
        ) from None
    except (OSError, ValueError) as problem:  # no permission, a loop of links, a name that no file can have
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise InputError(
            f"{shown(file)}: the file cannot be opened ({plain(reason)}).\nCheck the path, and that you may read it."
        ) from None
    if stat.S_ISDIR(kind):
        raise InputError(f"{shown(file)}: this is a directory.\n{remedy}")
    what = next((name for is_kind, name in _KINDS.items() if is_kind(kind)), "something else")
    raise InputError(f"{shown(file)}: this is {what}, not a file.\nWrite its content into a file first. {remedy}")
