"""The lock of numba's compiler, so that Ctrl-C in a notebook does not leave it taken.

One thread compiles, the others wait. When the main thread waits in one piece and Ctrl-C comes, Python hears of it only
when the lock is there, raises KeyboardInterrupt before numba has noted that the lock is to be given back, and every
thread that compiles later waits for ever. Waiting in ticks, it hears of Ctrl-C while it does not have the lock.
"""

from __future__ import annotations

import threading

from numba.core.compiler_lock import global_compiler_lock

TICK = 0.05  # seconds


class PatientLock:
    """A re-entrant lock with what numba uses of one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def acquire(self) -> bool:
        """Wait for it in ticks."""
        while not self._lock.acquire(timeout=TICK):
            pass
        return True

    def release(self) -> None:
        """Give it back."""
        self._lock.release()

    def _is_owned(self) -> bool:
        return self._lock._is_owned()  # type: ignore[attr-defined, no-any-return]


def make_patient() -> None:
    """Put our lock in the place of numba's, unless that one is in use just now."""
    theirs = global_compiler_lock._lock
    if not isinstance(theirs, PatientLock) and theirs.acquire(blocking=False):
        global_compiler_lock._lock = PatientLock()
        theirs.release()
