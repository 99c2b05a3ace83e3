"""What polars prints when it panics is kept from the terminal: pages of Rust before the one error that says it all.

A panic is caught as an exception, but its story was printed by then, straight to the file descriptor. So on the command
line whatever is printed while a file is read is held back, and shown afterwards up to the first panic. Python callers
keep everything.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from unskew.core import stopping

_STDERR = 2
_PANIC = re.compile(rb"\n?thread '[^\n]*panicked at.*", re.DOTALL)
_lock = threading.Lock()
_wanted = False
_blocks = 0  # that hold back just now, in several threads
_aside = -1


def hold_back_panics() -> None:
    """From now on; for a process whose terminal is ours.

    The way to the terminal is opened once and never closed: who stops the process may be about to use it.
    """
    global _wanted
    if hasattr(os, "memfd_create") and not _wanted and sys.stderr is not None:
        stopping.terminal = os.dup(_STDERR)
        _wanted = True


@contextmanager
def held_back() -> Iterator[None]:
    """Hold back what this block prints to the error stream; whoever stops the process still reaches the terminal."""
    global _blocks
    if not _wanted or sys.stderr is None:
        yield
        return
    with _lock:
        _blocks += 1
        if _blocks == 1:
            _begin()
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if _blocks == 0:
                _end()


def _begin() -> None:
    global _aside
    sys.stderr.flush()
    _aside = os.memfd_create("unskew")
    os.dup2(_STDERR, stopping.terminal, inheritable=False)
    os.dup2(_aside, _STDERR)


def _end() -> None:
    sys.stderr.flush()
    os.dup2(stopping.terminal, _STDERR)
    os.lseek(_aside, 0, os.SEEK_SET)
    with open(_aside, "rb") as said, suppress(OSError):
        os.write(_STDERR, _PANIC.sub(b"", said.read()))
