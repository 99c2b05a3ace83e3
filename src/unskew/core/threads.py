"""Work side by side in threads that nobody waits for without end, so that Ctrl-C is always heard.

``concurrent.futures`` joins its threads, when a pool is left and once more when Python ends: a thread that waits for
something which an interrupted main thread still holds (the lock of numba's compiler) then keeps the process for ever.
Threads here are daemons, and every wait for them is cut into ticks. That is also because polars has interrupted system
calls taken up again (SA_RESTART): one long wait would not hear of Ctrl-C before it is over.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, TypeVar

from unskew.core.errors import InputError

TICK = 0.1  # seconds between two looks for Ctrl-C
GRACE = 0.5  # seconds that work under way is given to end after Ctrl-C
BLOCK = 256  # rows of a block: fixed, so that the number of threads changes nothing

T = TypeVar("T")
_here = threading.local()
_polars = ""  # "used" where polars has threads, "lost" in a fork of such a process
Each = Callable[[int, Callable[[int, int], object]], None]


def usual() -> int:
    """How many threads a pool has unless it is told: one per core, or one where other tasks are using the cores."""
    return 1 if getattr(_here, "shared", False) else os.cpu_count() or 1


def _forked() -> None:
    global _polars
    _polars = _polars and "lost"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def use_polars() -> None:
    """Refuse where polars' threads were lost: a fork does not copy them, and whoever asks them waits without end."""
    global _polars
    if _polars == "lost":
        raise InputError(
            "this process was forked from one in which unskew was used, and would wait without end for threads that a "
            "fork does not copy.\nStart processes with multiprocessing.get_context('spawn'), or fork before the first "
            "use of unskew.",
            code="forked",
        )
    _polars = "used"


class Task(Generic[T]):
    """Work handed to a thread, and its result once it is there."""

    def __init__(self, work: Callable[..., T], arguments: tuple[Any, ...]) -> None:
        self._work, self._arguments = work, arguments
        self._done = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it; called in a thread."""
        try:
            self._value = self._work(*self._arguments)
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def result(self) -> T:
        """Wait for it; what went wrong there goes wrong here."""
        while not self._done.wait(TICK):
            pass
        if self._error is not None:
            raise self._error
        return self._value


class Threads:
    """A few threads that share a queue of tasks; leaving the block drops what is queued and ends them.

    Args:
        count: how many; one per core by default. They are started as tasks come.
        alone: pools inside its tasks have one thread each, since the tasks themselves use all cores.
    """

    def __init__(self, count: int | None = None, *, alone: bool = False) -> None:
        self._count = count or usual()
        self._shared = alone or getattr(_here, "shared", False)  # inside its tasks, cores are
        self._tasks: queue.SimpleQueue[Task[Any] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, work: Callable[..., T], *arguments: Any) -> Task[T]:
        """Queue ``work(*arguments)``."""
        task = Task(work, arguments)
        self._tasks.put(task)
        if len(self._threads) < self._count:
            thread = threading.Thread(target=self._take_turns, daemon=True)
            thread.start()
            self._threads.append(thread)
        return task

    def map(self, work: Callable[..., T], *arguments: Iterable[Any]) -> Iterator[T]:
        """``work`` on every set of arguments, all queued now; results in that order."""
        tasks = [self.submit(work, *each) for each in zip(*arguments, strict=True)]
        return (task.result() for task in tasks)

    def _take_turns(self) -> None:
        _here.shared = self._shared
        while (task := self._tasks.get()) is not None:
            task.run()

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        """End the threads. Work under way is waited for, after Ctrl-C only for a moment: it cannot be stopped."""
        try:
            while True:
                self._tasks.get_nowait()
        except queue.Empty:
            pass
        for _ in self._threads:
            self._tasks.put(None)
        patient = kind is None or issubclass(kind, Exception)
        until = float("inf") if patient else time.monotonic() + GRACE
        for thread in self._threads:
            while thread.is_alive() and time.monotonic() < until:
                thread.join(TICK)


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items; the next one is made in a thread while the last one is worked on."""
    end = object()
    with Threads(1) as pool:
        task: Task[Any] = pool.submit(next, items, end)
        while (item := task.result()) is not end:
            task = pool.submit(next, items, end)
            yield item


@contextmanager
def by_blocks(threads: int | None) -> Iterator[Each]:
    """``each(rows, work)`` calls ``work(first, last)`` for blocks of rows, side by side; one thread is the caller's."""
    count = threads or usual()

    def each(rows: int, work: Callable[[int, int], object]) -> None:
        starts = range(0, rows, BLOCK)
        for _ in (map if count == 1 else pool.map)(work, starts, [min(start + BLOCK, rows) for start in starts]):
            pass

    with Threads(count) as pool:
        yield each
