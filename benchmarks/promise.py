"""A promise about speed or memory: a floor (or a ceiling), what was measured, and whether that is enough.

Others' work on the machine stretches seconds by the clock, and unevenly so. Ratios of seconds are therefore judged by
the clock where the machine was quiet, and by CPU seconds (of all cores together) where it was busy; both are shown.
A limit of seconds is kept if it was kept beside others' work, and not judged if it was missed beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from store import busy

TIMES, SECONDS, MINUTES, GIB, MIB = "×", " s", " minutes", " GiB", " MiB"
Job = Mapping[str, Any]


@dataclass(frozen=True)
class Promise:
    """One line of the table at the top of the page.

    Args:
        what: whose number it is, and beside whom.
        asked: the floor or the ceiling.
        unit: of all numbers.
        at_least: whether ``asked`` is a floor.
        measured: the number, or nothing where it was not measured.
        cpu: the same by CPU seconds, where ``measured`` is by the clock.
        beside: who was best, where several could have been.
        busy: whether others' work changed ``measured``.
    """

    what: str
    asked: float
    unit: str
    at_least: bool
    measured: float | None
    cpu: float | None = None
    beside: str = ""
    busy: bool = False

    @property
    def judged(self) -> float:
        """The number that decides."""
        decides = self.cpu if self.busy and self.cpu is not None else self.measured
        assert decides is not None
        return decides

    @property
    def margin(self) -> float:
        """How many times better than asked for; 1 is exactly that."""
        return self.judged / self.asked if self.at_least else self.asked / max(self.judged, 1e-9)

    @property
    def verdict(self) -> str:
        """met, missed, or why neither can be said."""
        if self.measured is None:
            return "not measured yet"
        kept = self.margin >= 1.0
        if self.busy and self.cpu is None and (self.unit == TIMES or not kept):
            return "not judged: busy machine"
        return "met" if kept else "**missed**"

    @property
    def floor(self) -> str:
        """What was asked for."""
        return f"{'at least' if self.at_least else 'at most'} {number(self.asked)}{self.unit}"

    @property
    def value(self) -> str:
        """The number that decides, in short."""
        return f"{number(self.judged)}{self.unit}"

    @property
    def shown(self) -> str:
        """All that was measured."""
        if self.measured is None:
            return "–"
        text = f"{number(self.measured)}{self.unit}"
        if self.cpu is not None:
            text += f" by the clock, {number(self.cpu)}{self.unit} by CPU seconds"
        text += f" ({self.beside})" if self.beside else ""
        return f"{text}; busy machine" if self.busy else text


def number(value: float) -> str:
    """Three digits, more where they stand before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def at_least(what: str, asked: float, measured: float | None, unit: str = TIMES, **more: Any) -> Promise:
    """A floor."""
    return Promise(what, asked, unit, True, measured, **more)


def at_most(what: str, asked: float, measured: float | None, unit: str = TIMES, **more: Any) -> Promise:
    """A ceiling."""
    return Promise(what, asked, unit, False, measured, **more)


def as_fast(what: str, asked: float, ours: Job | None, theirs: Job | None, found: Job | None, **more: Any) -> Promise:
    """At least so many times as fast: jobs with ``seconds`` and ``cpu``, or nothing; ``found`` holds the conditions."""
    if not (ours and theirs and found):
        return at_least(what, asked, None)
    clock, cpu = (theirs[unit] / ours[unit] for unit in ("seconds", "cpu"))
    return at_least(what, asked, clock, cpu=cpu, busy=busy(found), **more)


def as_long(what: str, asked: float, ours: Job | None, theirs: Job | None, found: Job | None, **more: Any) -> Promise:
    """At most so many times as long."""
    if not (ours and theirs and found):
        return at_most(what, asked, None)
    clock, cpu = (ours[unit] / theirs[unit] for unit in ("seconds", "cpu"))
    return at_most(what, asked, clock, cpu=cpu, busy=busy(found), **more)
