"""Threads that nobody waits for without end."""

from __future__ import annotations

import os
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


import os
import subprocess
import sys


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
