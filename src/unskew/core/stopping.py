"""Ctrl-C, SIGTERM and SIGHUP end the command within two seconds, whatever it is doing.

An exception in the main thread would not do. While a kernel is compiled or a lock is waited for, Python does not raise
it; raised inside a library it may be lost, or leave that library's locks taken. So nothing is raised: a thread waits
for signals (Python's C handler writes their numbers to a pipe), removes temporary files, says that it stopped, and
ends the process. Files take their places by renaming, so that wherever the main thread is, nothing is half-written.

This module is loaded first, before anything slow. It imports nothing of ours: while it ends the process, the main
thread may hold the import lock of any module.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress

MESSAGE = "Stopped. Nothing was half-written.\n"
PATIENCE = 1.5  # seconds for cleaning up
IMPATIENCE = 0.2  # seconds that are left for it after a second Ctrl-C
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"  # where a progress bar was
_heard = False
terminal = 2  # the error stream; another way to it where that is held back now and then (panics.py)


def stop_on_signals() -> None:
    """From now on signals end this process; those that it was started to ignore (``nohup``, ``&``) stay ignored."""
    global _heard
    if sys.platform == "win32":  # Ctrl-C is a KeyboardInterrupt there
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, lambda *_: None)
    _heard = True


def stopped() -> None:
    """What is left to do about a KeyboardInterrupt: say it and exit, unless the watching thread does so already.

    polars raises one by itself when Ctrl-C comes during a query.
    """
    if _heard:
        time.sleep(2 * PATIENCE)
    if sys.stderr is not None:
        sys.stderr.write(MESSAGE)
    sys.exit(128 + signal.SIGINT)


def _watch(reading: int) -> None:
    number = os.read(reading, 1)[0]
    while number not in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a signal that some library handles
        number = os.read(reading, 1)[0]
    threading.Thread(target=_end, args=(number,), daemon=True).start()
    if select.select([reading], [], [], PATIENCE)[0]:  # a second Ctrl-C
        time.sleep(IMPATIENCE)
    os._exit(128 + number)


def _end(number: int) -> None:
    try:
        discard = getattr(sys.modules.get("unskew.core.temporaries"), "discard_temporaries", None)
        if discard is not None:
            discard()
        with suppress(OSError):
            os.write(terminal, (_CLEAR_LINE + _SHOW_CURSOR + MESSAGE if os.isatty(terminal) else MESSAGE).encode())
        children = getattr(sys.modules.get("multiprocessing"), "active_children", None)
        for child in children() if children is not None else ():
            child.kill()
    finally:
        os._exit(128 + number)
