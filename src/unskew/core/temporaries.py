"""Temporary files and folders beside the place that they are made for, and their removal, also after a kill.

    .unskew-‹pid›-‹random›.tmp

The name cannot be foreseen, the file is always a new one (never behind a link that somebody put there), and its maker
holds a lock on it (``flock``). Locks vanish with their process, so that the first temporary that a later run makes in
the folder also removes those that nobody holds any more. Where there are no such locks (Windows, some network
drives), temporaries of killed runs stay.
"""

from __future__ import annotations

import atexit
import errno
import os
import secrets
import shutil
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from unskew.core import locks

START, END = ".unskew-", ".tmp"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_THERE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_TRIES = 100
_ours: dict[Path, int] = {}  # temporary → the process that made it: a forked process must not remove its parent's
_folders: dict[Path, int] = {}  # made to be filled, and likewise who made them
_swept: set[tuple[Path, int]] = set()
changing = threading.Lock()  # held while a temporary is made, and while finished files take their places


def discard_temporaries() -> None:
    """Remove all temporaries and still empty folders of this process, which must end right afterwards.

    May be called from any thread while others are stuck. Files that are just taking their places are waited for;
    nothing is made and nothing takes its place any more.
    """
    changing.acquire(timeout=1.0)  # never released: whoever wants to change something waits for the end
    _remove_ours()
    for path, maker in reversed(list(_folders.items())):
        if maker == os.getpid():
            with suppress(OSError):  # it holds something
                path.rmdir()


def new_folder(path: Path) -> None:
    """Make a folder that will be filled, with those above it, where they are missing."""
    missing = [place for place in (path, *path.parents) if not place.exists()]
    with changing:
        _folders.update((place, os.getpid()) for place in reversed(missing))
        path.mkdir(parents=True, exist_ok=True)


def new_file(path: Path) -> None:
    """Make an empty file where nothing is yet, with the permissions that the umask leaves."""
    os.close(os.open(path, _NEW, 0o666))


def second_name_of(file: Path) -> Callable[[Path], None]:
    """Make another name of a file, or a copy of it where the file system knows no second names."""

    def make(path: Path) -> None:
        try:
            os.link(file, path)
        except OSError:
            shutil.copy2(file, path)

    return make


class Temporary:
    """A new file in a folder (or what else ``make`` makes there), until it is discarded or renamed."""

    def __init__(self, folder: Path, make: Callable[[Path], None] = new_file) -> None:
        _sweep(folder)
        for _ in range(_TRIES):
            self.path = folder / f"{START}{os.getpid()}-{secrets.token_hex(8)}{END}"
            self._lock: int | None = None
            try:
                with changing:
                    _ours[self.path] = os.getpid()
                    make(self.path)
                if self._holds():
                    return
            except BaseException:
                self.discard()
                raise
            self.discard()
            time.sleep(0.001)
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def _holds(self) -> bool:
        """Lock it; not ours if another run took it for one that nobody holds, before it was locked."""
        if not locks.KNOWN:
            return True
        try:
            self._lock = os.open(self.path, _THERE)
            return locks.try_lock(self._lock) and self.path.exists()
        except FileNotFoundError:
            return False
        except OSError:  # a file system without locks
            return True

    def flush(self) -> None:
        """Have the system write everything: some tell only now that the disk is full."""
        if self._lock is not None:
            os.fsync(self._lock)

    def discard(self) -> None:
        """Remove it, if it is still there under this name."""
        _remove(self.path)
        _ours.pop(self.path, None)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _sweep(folder: Path) -> None:
    """Remove what killed runs left in this folder, once per run."""
    if not locks.KNOWN or (folder, os.getpid()) in _swept:
        return
    _swept.add((folder, os.getpid()))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(START) and entry.name.endswith(END):
                with suppress(OSError):
                    _remove_if_nobody_holds(Path(entry.path))


def _remove_if_nobody_holds(path: Path) -> None:
    handle = os.open(path, _THERE)
    try:
        kind = os.fstat(handle)
        ours = (stat.S_ISREG(kind.st_mode) or stat.S_ISDIR(kind.st_mode)) and kind.st_uid == os.geteuid()
        if ours and locks.try_lock(handle):
            _remove(path)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _remove_ours() -> None:
    for path in list(_ours):
        if _ours.get(path) == os.getpid():
            _remove(path)


atexit.register(_remove_ours)  # what an interrupt left between two steps
