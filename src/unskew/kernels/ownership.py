"""Who else can change what lies in a folder? Files that run code when they are loaded are taken from own folders only.

As ssh judges the folder of its keys (StrictModes): every folder on the way from the root belongs to us or to root, and
nobody else can write in it. Everybody may write in a folder with the sticky bit, such as /tmp: what is ours cannot be
renamed or removed there by others. A group that its user has alone, as many systems make one for every user, is nobody
else. Nothing can be swapped below a folder that nobody else can change, so that a way judged from its top needs no
lock. Systems without such owners (Windows) are not judged.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from functools import cache
from pathlib import Path

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _printable(path: Path | str) -> str:
    """A path with signs that cannot be printed written out."""
    return repr(str(path))[1:-1]


class OthersError(OSError):
    """Somebody else can change what would be loaded."""


def own_folder(folder: Path, friends: Collection[int] = ()) -> Path:
    """The folder without links, if nobody else can change what lies in it.

    Args:
        friends: users who could run code as us anyway, such as the owner of this package.
    """
    real = Path(os.path.realpath(folder))
    if hasattr(os, "geteuid"):
        for place in (*reversed(real.parents), real):
            found = os.lstat(place)
            crowded = place != real and bool(found.st_mode & stat.S_ISVTX)
            _judge(place, found, friends, crowded=crowded)
    return real


def read_own(file: Path, friends: Collection[int] = ()) -> bytes:
    """The content of a plain file in a folder that nobody else can change; others may have left it there before."""
    with open(os.open(own_folder(file.parent, friends) / file.name, _READ), "rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OthersError(f"{_printable(file)} is not a file")
        if hasattr(os, "geteuid"):
            _judge(file, found, friends)
        return opened.read()


def _judge(place: Path, found: os.stat_result, friends: Collection[int], *, crowded: bool = False) -> None:
    if found.st_uid not in (0, os.geteuid(), *friends):
        raise OthersError(f"{_printable(place)} belongs to somebody else (user {found.st_uid})")
    others = stat.S_IWOTH | (0 if _alone(found.st_uid, found.st_gid) else stat.S_IWGRP)
    if found.st_mode & others and not crowded:
        raise OthersError(f"others can write in {_printable(place)} (mode {stat.S_IMODE(found.st_mode):o})")


@cache
def _alone(user: int, group: int) -> bool:
    """Whether this is the group that only we are in."""
    if user != os.geteuid() or user == 0:
        return False
    try:
        from grp import getgrgid
        from pwd import getpwuid

        known, us = getgrgid(group), getpwuid(user)
    except (ImportError, KeyError):
        return False
    return us.pw_gid == group and known.gr_name == us.pw_name and set(known.gr_mem) <= {us.pw_name}
