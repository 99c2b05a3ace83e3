"""Many jobs at once, given back as they finish; the first failure or Ctrl-C ends all of them promptly.

Threads suit jobs that release the interpreter lock (compiled kernels, numpy); a job that is under way when the run ends
cannot be stopped, but nobody waits for it, as long as it keeps to its own thread: Python waits at its end for the
threads of ``concurrent.futures``, and for all that is queued there. Processes are ended.

Nothing here waits without end. polars answers SIGINT first and has interrupted system calls taken up again
(SA_RESTART), so that a wait for a queue, a lock or a file lasts until what it waits for comes, Ctrl-C or not. Waits
are cut into ticks, and between two ticks Python hears of it.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from unskew.core.errors import InputError

TICK = 0.1  # seconds

Job = tuple[Any, ...]
Finished = queue.SimpleQueue[tuple[int, Any, BaseException | None]]


def each(
    function: Callable[..., Any], jobs: Sequence[Job], *, workers: int = 1, processes: bool = False
) -> Iterator[tuple[int, Any]]:
    """``(place, function(*job))`` of every job, in the order in which they finish."""
    if workers < 1:
        raise InputError(f"at least 1 worker is needed, not {workers}.", code="out-of-range")
    workers = min(workers, len(jobs))
    if processes and jobs:
        return _in_processes(function, jobs, workers)
    if workers > 1:
        return _in_threads(function, jobs, workers)
    return ((place, function(*job)) for place, job in enumerate(jobs))


def _in_threads(function: Callable[..., Any], jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Any]]:
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in range(len(jobs)):
        todo.put(place)
    finished: Finished = queue.SimpleQueue()
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            try:
                place = todo.get_nowait()
            except queue.Empty:
                return
            try:
                finished.put((place, function(*jobs[place]), None))
            except BaseException as error:
                finished.put((place, None, error))

    for _ in range(workers):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in jobs:
            place, value, error = _next(finished)
            if error is not None:
                raise error
            yield place, value
    finally:
        over.set()


def _next(finished: Finished) -> tuple[int, Any, BaseException | None]:
    while True:
        try:
            return finished.get(timeout=TICK)
        except queue.Empty:
            continue


def _in_processes(function: Callable[..., Any], jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Any]]:
    others = set(multiprocessing.active_children())
    with _surroundings():
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_to_parent)
    try:
        with _interrupts_held(), _surroundings():
            places = {pool.submit(function, *job): place for place, job in enumerate(jobs)}
        going = set(places)
        while going:
            done, going = wait(going, TICK, FIRST_COMPLETED)
            for future in done:
                yield places[future], future.result()
        pool.shutdown()
    except BaseException as error:
        ours = [child for child in multiprocessing.active_children() if child not in others]
        pool.shutdown(wait=False, cancel_futures=True)
        for child in ours:
            child.terminate()
        if isinstance(error, BrokenProcessPool):
            raise InputError(
                "a worker process was ended from outside, perhaps for lack of memory. What it had finished stays; "
                "start again, with fewer workers.",
                code="worker-killed",
            ) from None
        raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes started in this block are deaf to Ctrl-C from birth, before ``_leave_to_parent`` is reached."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _surroundings() -> Iterator[None]:
    """What processes find that are started in this block; what the user has set stays.

    They do their linear algebra with one thread, as there is one process per core; BLAS reads this once, when it is
    loaded. And before they are told where their parent takes modules from, they take none from the working folder.
    """
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH")
    added = [name for name in names if not os.environ.get(name)]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _leave_to_parent() -> None:
    """Ctrl-C reaches all processes of a terminal; only the parent answers it. When the parent is killed, so are we."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
