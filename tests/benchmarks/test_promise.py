"""What counts as kept, and when nothing can be said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promise

QUIET = {"load": 2.0, "threads": 2}
BUSY = {"load": 9.0, "threads": 2}
numbers = st.floats(0.01, 1e6)


def job(seconds: float, cpu: float) -> dict[str, float]:
    return {"seconds": seconds, "cpu": cpu}


@given(asked=numbers, measured=numbers)
def test_a_floor_is_met_from_it_upwards_and_a_ceiling_up_to_it(asked: float, measured: float) -> None:
    floor, ceiling = promise.at_least("x", asked, measured), promise.at_most("x", asked, measured)
    assert (floor.verdict == "met") == (measured >= asked) == (floor.margin >= 1.0)
    assert (ceiling.verdict == "met") == (measured <= asked) == (ceiling.margin >= 1.0)


def test_a_quiet_machine_is_judged_by_the_clock() -> None:
    one = promise.as_fast("x", 5, job(1.0, 2.0), job(6.0, 6.0), QUIET)
    assert (one.judged, one.verdict) == (6.0, "met")
    assert one.shown == "6× by the clock, 3× by CPU seconds"


def test_a_busy_machine_is_judged_by_cpu_seconds() -> None:
    one = promise.as_fast("x", 5, job(1.0, 2.0), job(6.0, 6.0), BUSY)
    assert (one.judged, one.verdict) == (3.0, "**missed**")
    assert one.shown.endswith("busy machine")
    assert promise.as_long("x", 2, job(50.0, 3.0), job(1.0, 2.0), BUSY).verdict == "met"


@pytest.mark.parametrize(
    ("one", "verdict"),
    [
        (promise.at_most("x", 60, 30, promise.SECONDS, busy=True), "met"),
        (promise.at_most("x", 60, 90, promise.SECONDS, busy=True), "not judged: busy machine"),
        (promise.at_most("x", 60, 90, promise.SECONDS), "**missed**"),
        (promise.at_most("x", 2, 1.5, busy=True), "not judged: busy machine"),
        (promise.at_most("x", 2, None), "not measured yet"),
        (promise.as_long("x", 2, None, job(1, 1), QUIET), "not measured yet"),
        (promise.as_fast("x", 2, job(1, 1), None, None), "not measured yet"),
    ],
)
def test_seconds_beside_others_work(one: promise.Promise, verdict: str) -> None:
    """A limit that was kept beside others' work is kept; a ratio by the clock alone says nothing then."""
    assert one.verdict == verdict
