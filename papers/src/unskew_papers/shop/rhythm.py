"""When people come: a rhythm of the week and of the day.

Each day has a factor of its weekday, whose mean over a week is 1; within a day visits begin in an hour with the chances
below, evenly inside the hour. The first click of a visit falls into its first
minute, the second into its second, and so on.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np

from unskew_papers.arrays import Floats, Ints64

START = datetime(2018, 1, 1)  # a Monday, midnight
WEEK = np.array([0.98, 0.94, 0.92, 0.94, 0.98, 1.06, 1.18])  # Monday … Sunday
HOURS = np.array([4, 2, 1, 1, 1, 2, 5, 10, 16, 20, 24, 25, 26, 26, 25, 25, 26, 28, 32, 38, 42, 38, 24, 11]) / 452.0
SECOND = 1_000_000  # microseconds
DAY = 86_400 * SECOND
OPENING = int((START - datetime(1970, 1, 1)).total_seconds()) * SECOND


def day_factors(days: int) -> Floats:
    """How busy each day is."""
    return WEEK[np.arange(days) % 7]


def beginnings(uniform: Floats, inside: Floats) -> Ints64:
    """When visits begin, in microseconds after midnight; two uniform numbers for each."""
    hour = np.searchsorted(np.cumsum(HOURS), uniform, side="right").clip(0, 23)
    return ((hour + inside) * 3600 * SECOND).astype(np.int64)


def midnight(day: Ints64 | int) -> Ints64 | int:
    """Microseconds since 1970 when a day begins, 0 the first."""
    return OPENING + day * DAY


def days_of(time: Ints64) -> Ints64:
    """The days of moments, 0 the first."""
    return (time - OPENING) // DAY
