"""Threads that nobody waits for without end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from unskew.threads import Threads, ahead


def test_results_come_in_order_and_each_is_made_once() -> None:
    with Threads(3) as pool:
        assert list(pool.map(pow, range(100), [2] * 100)) == [number**2 for number in range(100)]
        assert pool.submit(str, 7).result() == "7"


def test_no_more_threads_than_asked_for_and_none_stays() -> None:
    before = threading.active_count()
    with Threads(2) as pool:
        most = max(pool.map(lambda _: threading.active_count(), range(50)))
    assert most <= before + 2 and threading.active_count() == before


def test_a_failure_is_raised_and_drops_what_is_queued() -> None:
    """Those under way are waited for: a caller who goes on meets nobody at work."""
    ran, begun = [], threading.Event()

    def work(number: int) -> None:
        ran.append(number)
        if number == 0:
            begun.wait()
            raise ValueError("no")
        begun.set()
        time.sleep(0.1)

    before = threading.active_count()
    with pytest.raises(ValueError, match="no"), Threads(2) as pool:
        list(pool.map(work, range(100)))
    assert threading.active_count() == before and len(ran) < 100


STUCK = """
import signal, sys, threading
import polars  # lets system calls go on when they are interrupted
from unskew.threads import Threads, ahead

def work():
    print("begun", flush=True)
    threading.Event().wait()

with Threads(1) as pool:
    pool.submit(work).result()
"""


def test_ctrl_c_is_heard_while_a_thread_is_stuck() -> None:
    """KeyboardInterrupt in the main thread, and an end of the process that waits for nobody."""
    running = subprocess.Popen(
        [sys.executable, "-c", STUCK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # some shells ignore it for their children
    )
    try:
        assert running.stdout is not None and running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=120)
    finally:
        running.kill()
    assert "KeyboardInterrupt" in said and running.returncode != 0


FORK = """
import os, sys
import polars as pl
import unskew as us

frame = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1]})

def use():
    return us.evaluate(frame, {"a": frame.with_columns(rank=pl.Series([1, 2, 1]))}, estimators=["naive"])

kept = us.Log.from_frame(frame, feedback="implicit") if sys.argv[1] == "before" else None
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
try:
    use() if kept is None else us.audit(kept)
except us.InputError as error:
    os._exit(7 if error.code == "forked" else 8)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks there")
@pytest.mark.parametrize(("used", "code"), [("before", 7), ("not before", 0)])
def test_a_fork_after_use_is_told_instead_of_waited_for(used: str, code: int) -> None:
    """polars' threads are not copied; a fork before the first use works."""
    done = subprocess.run([sys.executable, "-c", FORK, used], timeout=300, capture_output=True, text=True)
    assert done.returncode == code, done.stderr


def test_items_that_are_made_ahead_are_the_same_and_so_are_errors() -> None:
    """At most one more is made than was taken, and what goes wrong does so at its turn."""
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(4):
            made.append(number)
            yield number
        raise ValueError("the fifth")

    taken = []
    with pytest.raises(ValueError, match="the fifth"):
        for number in ahead(items()):
            taken.append(number)
            assert len(made) <= len(taken) + 1
    assert taken == made == [0, 1, 2, 3]
