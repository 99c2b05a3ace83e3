"""Threads that nobody waits for without end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from unskew.core.threads import Threads, ahead


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
