"""What a pipeline may require of a result, as a statement that is answered yes, no or undecided.

    new better than old on recall@10
    new not worse than old by 2 % on recall@10            relative to the value of old
    new not worse than old by 0.01 on recall@10           absolute
    … in SEGMENT                                          where the result has segments

How a statement is answered, and how often a "yes" may be wrong: ``report/require.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.spec import find
from unskew.core.text import plain, without_controls

FORMS = (
    'write "new better than old on recall@10", or "new not worse than old by 2 % on recall@10", with names of models '
    "that are evaluated"
)
_TWO_WAYS = Notice("it can be read in two ways", code="ambiguous-requirement")
_RELATION = re.compile(r"(?:is )?(better|not worse) than ")
_MARGIN = re.compile(r"by (\d+(?:\.\d*)?|\.\d+)\s*(%|percent|per cent)?\s+")


class Reply(StrEnum):
    """What is said of a statement."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """What the command line ends with."""
        return {Reply.YES: 0, Reply.NO: 1, Reply.UNDECIDED: 3}[self]


@dataclass(frozen=True)
class Statement:
    """A statement in its parts; ``margin`` is ``None`` where model a must be better than model b.

    Args:
        relative: whether the margin is a share of b's value.
    """

    text: str
    a: str
    b: str
    metric: str
    segment: str | None = None
    margin: float | None = None
    relative: bool = False

    @classmethod
    def parse(
        cls,
        text: str,
        models: Iterable[str],
        metrics: Sequence[str],
        make: Callable[[str], object],
        segments: Sequence[str] | None = (),
    ) -> Statement:
        """Read a statement about some models and metrics.

        Args:
            metrics: their canonical strings; ``make`` makes one of what was written.
            segments: those there are; ``None`` where that is not known yet.
        """
        words = " ".join(str(text).split())
        names = list(models)
        found = [
            cls(words, a, b, *_metric(words, rest, metrics, make, segments), margin, relative)
            for a, b, rest, margin, relative in _readings(words, names)
        ]
        if len(found) != 1:
            why = _TWO_WAYS if found else _misread(words, names)
            raise InputError(f"the requirement '{plain(words)}' cannot be read: {why}.\nPlease {FORMS}.", code=why.code)
        if found[0].a == found[0].b:
            raise InputError(
                f"the requirement '{plain(words)}' compares a model with itself. Name two models.", code="same-model"
            )
        return found[0]


def _readings(text: str, models: Sequence[str]) -> Iterator[tuple[str, str, str, float | None, bool]]:
    """Both models, what follows "on", and the margin; names may hold blanks, so that all of them are tried."""
    for a in models:
        relation = _RELATION.match(text, len(a) + 1) if text.startswith(f"{a} ") else None
        for b in models if relation else ():
            rest = text[relation.end() :] if relation else ""
            if not rest.startswith(f"{b} "):
                continue
            rest, margin = rest[len(b) + 1 :], None
            if relation and relation[1] == "not worse":
                margin = _MARGIN.match(rest)
                if margin is None:
                    continue
                rest = rest[margin.end() :]
            if rest.startswith("on "):
                relative = margin is not None and bool(margin[2])
                yield a, b, rest[3:], None if margin is None else _size(text, float(margin[1]), relative), relative


def _size(text: str, margin: float, relative: bool) -> float:
    if margin <= 0.0 or not math.isfinite(margin) or (relative and margin >= 100.0):
        most = " and below 100 %" if relative else ""
        raise InputError(
            f"the requirement '{plain(text)}' has a margin of {margin:g}: it should be above 0{most}.",
            code="out-of-range",
            option="margin",
        )
    return margin / 100.0 if relative else margin


def _metric(
    text: str, rest: str, metrics: Sequence[str], make: Callable[[str], object], segments: Sequence[str] | None
) -> tuple[str, str | None]:
    """The metric, and the segment where one is named."""
    metric, sign, segment = rest.partition(" in ")
    if sign and segments is not None and segment not in segments:
        known = ", ".join(f"'{plain(name)}'" for name in segments) or "none: by=… makes them"
        raise InputError(
            f"the requirement '{plain(text)}' names no segment of the result. There are {known}.",
            code="unknown-segment",
        )
    return find("metric", metric.strip(), list(metrics), make), segment if sign else None


def _misread(text: str, models: Sequence[str]) -> Notice:
    there = ", ".join(f"'{plain(name)}'" for name in models)
    if not any(text.startswith(f"{name} ") for name in models):
        return Notice(f"it should begin with the name of a model, one of {there}", code="unknown-model")
    if "not worse than" in text and not _MARGIN.search(text):
        return Notice("it names no margin, as in 'by 2 %' or 'by 0.01'", code="missing-margin")
    if " on " not in text:
        return Notice("it names no metric after 'on'", code="missing-metric")
    if any(f" better than {name} by " in text for name in models):
        why = "'better' takes no margin: any lead that is shown counts; only 'not worse' has one"
        return Notice(why, code="unexpected-margin")
    why = f"behind 'better than' or 'not worse than' a model should follow, one of {there}"
    return Notice(why, code="unknown-model")


@dataclass(frozen=True)
class Requirement:
    """A statement with its answer.

    ``difference``, ``low`` and ``high`` are the first model's less the second one's, and ``bound`` is what that must
    exceed (fall below, of errors) for a yes: 0, or the margin with its sign. ``reason`` says in words what decided.
    """

    statement: str
    answer: str
    reason: str
    metric: str
    estimator: str | None
    target: str | None
    segment: str | None
    a: str
    b: str
    margin: float | None
    relative: bool
    difference: float
    low: float
    high: float
    bound: float
    assumption: str = ""


@dataclass(frozen=True)
class Requirements:
    """Several statements with their answers; true where all of them are answered with yes."""

    items: tuple[Requirement, ...]

    @property
    def answer(self) -> Reply:
        """Yes where all are, no where one is, else undecided."""
        found = {item.answer for item in self.items}
        return Reply.NO if Reply.NO in found else Reply.UNDECIDED if Reply.UNDECIDED in found else Reply.YES

    @property
    def exit_code(self) -> int:
        """0 yes, 1 no, 3 undecided: what the command line ends with."""
        return self.answer.exit_code

    def __bool__(self) -> bool:
        return self.answer is Reply.YES

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        lines = (f"{item.answer}: {item.statement}: {item.reason}" for item in self.items)
        return "\n".join(map(without_controls, lines))

    __repr__ = __str__


def held_in_all(found: Sequence[Requirements]) -> Requirements:
    """The answers to statements that must hold under several assumptions: what is not answered alike is undecided."""
    return Requirements(tuple(_in_all(items) for items in zip(*found, strict=True)))


def undecided(found: Requirements, reason: str) -> Requirements:
    """The same statements, none of them answered."""
    return Requirements(tuple(replace(item, answer=Reply.UNDECIDED, reason=reason) for item in found.items))


def _in_all(items: Sequence[Requirement]) -> Requirement:
    if len({item.answer for item in items}) == 1:
        return items[0]
    odd = next(item for item in items if item.answer != Reply.YES)
    reason = Notice(f"not under all propensities: {odd.reason}", code="not-under-all")
    return replace(odd, answer=Reply.UNDECIDED, reason=reason)
