"""A window of time: from when to when a fold judges, and how far back it learns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Judge rows with ``start ≤ time < end``; learn from rows before ``start``, and from ``since`` on.

    Args:
        start, end: in the numbers of ``Log.time``; of the last window ``end`` is one more than the last time.
        since: the first time that is learnt from; None for all before ``start``.
        text: the same for people.
    """

    start: int
    end: int
    since: int | None
    text: str
