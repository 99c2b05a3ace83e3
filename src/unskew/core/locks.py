"""Locks on files between processes: they vanish with the process that holds them, however it ends.

The file is removed by whoever held its lock, so that none stays behind; only that of a process that was killed does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unskew.core.errors import InputError
from unskew.core.text import plain_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

KNOWN = fcntl is not None  # whether this system has such locks
_TICK = 0.02  # seconds


def try_lock(handle: int) -> bool:
    """Whether the lock of this open file is ours now; always, where the system has no such locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def alone(path: Path, patience: float = 10.0) -> Iterator[None]:
    """Nobody else is in a block with the same path meanwhile; who waits longer than ``patience`` seconds is told."""
    end = time.monotonic() + patience
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise InputError(
                f"{plain_path(path)}: this lock cannot be made: {error.strerror}.", code="cannot-lock"
            ) from None
        try:
            while not try_lock(handle):
                if time.monotonic() > end:
                    raise InputError(
                        f"{plain_path(path)}: another unskew has held this lock for {patience:g} seconds.\nTry again "
                        "when it has ended.",
                        code="locked",
                    )
                time.sleep(_TICK)
            if not _is_there(handle, path):  # who held it has removed it
                continue
            try:
                yield
            finally:
                with suppress(OSError):
                    path.unlink()
            return
        finally:
            os.close(handle)


def _is_there(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
