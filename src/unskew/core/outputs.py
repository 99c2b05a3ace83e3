"""Outputs are judged before the work: can they be written, and what would they replace?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from glob import escape, glob
from pathlib import Path

from unskew.core.atomic import cannot_write, target
from unskew.core.errors import InputError, require
from unskew.core.temporaries import Temporary
from unskew.core.text import plain_path

_WORDS = re.compile(r"[(),=@\s]+")  # between the words of a canonical string
_OPTION = re.compile(r"=\s*([^(),=@\s]+)")  # what an option is set to
ADDRESSES = 72_000_000_000  # bytes that the engine of the charts reserves while it starts, most of them never used


def try_writing(path: Path) -> None:
    """Find out whether a file can be written: a temporary is made in its folder, and removed."""
    final = target(path)
    try:
        os.lstat(final)  # says when a name is too long
    except FileNotFoundError:
        pass
    except OSError as error:
        raise cannot_write(path, error) from None
    _try_folder(final.parent, path)


def try_filling(folder: Path) -> None:
    """Find out whether a folder can be filled, or made where it is missing; it is not made yet."""
    try:
        there = next(place for place in (folder.resolve(), *folder.resolve().parents) if os.path.lexists(place))
        os.lstat(folder)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RuntimeError) as error:
        raise cannot_write(folder, error) from None
    if not there.is_dir():
        raise InputError(
            f"{plain_path(folder)}: cannot be written: '{plain_path(there)}' is a file. Give a folder.",
            code="cannot-write",
        )
    _try_folder(there, folder)


def try_drawing() -> None:
    """Refuse charts where their engine is not installed, or would end the process without a word.

    It does so where ``ulimit -v`` leaves too few addresses.
    """
    require("a page with charts", "report", "vl_convert")
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < ADDRESSES:
        raise InputError(
            f"charts need {ADDRESSES / 1e9:.0f} GB of addresses (not of memory), and 'ulimit -v' allows "
            f"{limit / 1e9:.1f} GB.\nLeave the page out, or lift the limit: ulimit -v unlimited.",
            code="not-enough-memory",
        )


def refuse_same(outputs: Iterable[tuple[str, Path]], inputs: Iterable[Path]) -> None:
    """Refuse an output that is an input of the same command, or another of its outputs, also by way of links.

    Args:
        outputs: the files, each with what it is called in a message (``--json a.json``).
        inputs: files that are read.
    """
    read = {_identity(path) for path in inputs}
    seen: dict[object, str] = {}
    for name, path in outputs:
        identity = _identity(path)
        if identity in read:
            raise InputError(
                f"{name}: this is an input of the same command, and would be replaced.", code="output-is-input"
            )
        if identity in seen:
            raise InputError(
                f"{name}: this is the same file as {seen[identity]}. Give each output a file of its own.",
                code="repeated-output",
            )
        seen[identity] = name


def files_in(spec: str) -> list[Path]:
    """The words of a canonical string, any of which may be a file that it reads, as in ``given(predictions.csv)``.

    An option may also name a folder or a pattern (``train=logs``, ``train=logs/*.csv``), which stand for their files.
    """
    found = [Path(word) for word in _WORDS.split(spec) if word]
    for word in _OPTION.findall(spec):
        pattern = os.path.join(escape(word), "**") if os.path.isdir(word) else word
        found += [Path(path) for path in glob(pattern, recursive=True)]
    return found


def refuse_existing(paths: Iterable[Path], force: bool) -> None:
    """Refuse to replace files that are there, unless that was asked for."""
    there = [] if force else [path for path in paths if os.path.lexists(path)]
    if there:
        more = f" (and {len(there) - 1} more)" if len(there) > 1 else ""
        raise InputError(
            f"{plain_path(there[0])}: this file exists{more}, and would be replaced.\nGive another folder, or say "
            "that it may be replaced: force=True.",
            code="output-exists",
        )


def _identity(path: Path) -> object:
    """Which file this is, whatever it is called; where there is none yet, which one it would be."""
    try:
        found = os.stat(path)
    except ValueError:  # no file can have such a name
        return str(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def _try_folder(folder: Path, wanted: Path) -> None:
    try:
        Temporary(folder).discard()
    except OSError as error:
        raise cannot_write(wanted, error) from None
