"""The numbers of a result by flat names, as MLflow and other trackers of experiments want them.

    [not_debiased/][segment/]metric/estimator/target/model/value, low, high, doubts
    [not_debiased/][segment/]metric/estimator/target/a_vs_b/difference, low, high, p_adjusted, decided, doubts

A tracker shows a bare number, so marks become names or numbers: what nothing debiases stands under ``not_debiased``, an
average over scenarios is called ``average``, ``doubts`` is 1 where the page gives a reason to doubt the number beside
it, or its estimator leans, is biased on purpose or rests on a model, ``decided`` is 1 or −1 where the first or the
second model is named and 0 where none is. What was refused or withheld is left out. Names hold letters, digits, ``_``,
``-``, ``.`` and ``/`` only, at most 240 of them, and no two are the same, not even where case is ignored: where two
would be, as those of a model ``a_vs_b`` and of the pair of ``a`` and ``b``, the later one gets a number at its end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from unskew.core.showing import Shown
from unskew.cross_validation import CrossValidation
from unskew.design import Plan
from unskew.estimators import Standing
from unskew.evaluation.comparison import PropensityComparison
from unskew.inference.verdict import Outcome
from unskew.protocols import PolicyImpact, ProtocolComparison
from unskew.report.view import in_scenarios, winner
from unskew.result import Estimate, Result, Verdict

LONGEST = 240
PART = 60
ROOM = 30  # that is kept for what a number is
DIGITS = 6  # and for a number at its end
_OTHER = re.compile(r"[^\w.\-]+")


class Joined(NamedTuple):
    """Two names that make one piece; beside the same text as a single name it is another piece."""

    first: str
    between: str
    second: str


Piece = str | Joined
Named = tuple[tuple[Piece, ...], float]

LESS = (Standing.LEANS, Standing.BIASED, Standing.MODEL)  # what promises less than its interval says


def flat_metrics(shown: Shown) -> dict[str, float]:
    """The numbers of anything shown."""
    found: dict[str, float] = {}
    places: dict[tuple[Piece, ...], str] = {}  # the names that numbers stand under
    names: dict[tuple[Piece, ...], str] = {}  # those of the numbers
    taken: set[str] = set()
    for parts, value in _KINDS.get(type(shown), _scalars)(shown):
        if not math.isfinite(value):
            continue
        place, what = parts[:-1], parts[-1]
        if place and place not in places:
            places[place] = _unused("/".join(map(_part, place))[: LONGEST - ROOM], taken)
        if parts not in names:
            under = f"{places[place]}/" if place else ""
            names[parts] = _unused(f"{under}{_part(what)}"[: LONGEST - DIGITS], taken)
        found[names[parts]] = float(value)
    return found


def _part(piece: Piece) -> str:
    """A piece of a name that a tracker accepts."""
    text = piece if isinstance(piece, str) else "".join(piece)
    safe = _OTHER.sub("_", text.replace("@", "_at_")).strip("_.") or "_"
    return safe if len(safe) <= PART else safe[:PART]


def _unused(name: str, taken: set[str]) -> str:
    """A name that no other has, by a number at its end where need be."""
    found, number = name, 1
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found.lower())
    return found


def _of_result(result: Result) -> Iterator[Named]:
    for e in result.estimates:
        value = "average" if in_scenarios(e) else "value"
        if math.isfinite(e.value):
            numbers = {value: e.value, "low": e.low, "high": e.high, "doubts": float(_doubtful(e))}
            yield from _under((*_cell(e), e.model), numbers)
    for v in result.verdicts_:
        where: tuple[Piece, ...] = (*_cell(v), Joined(v.a, "_vs_", v.b))
        decided = 0.0 if not Outcome(v.verdict).decided else 1.0 if winner(v) == v.a else -1.0
        yield (*where, "decided"), decided
        if not math.isnan(v.low):
            known = {"difference": v.difference, "low": v.low, "high": v.high, "p_adjusted": v.p_adjusted}
            yield from _under(where, known | {"doubts": float(_doubtful(v))})


def _doubtful(row: Estimate | Verdict) -> bool:
    """Whether there is a reason to doubt a number, be it only that its estimator leans, is biased or trusts a model."""
    return bool(row.trust) or Standing(row.standing) in LESS


def _cell(row: Estimate | Verdict) -> tuple[str, ...]:
    marked = () if Standing(row.standing).debiased else ("not_debiased",)
    segment = () if row.segment is None else (row.segment,)
    return (*marked, *segment, row.metric, row.estimator, row.target)


def _under(where: tuple[Piece, ...], numbers: Mapping[str, float]) -> Iterator[Named]:
    yield from (((*where, name), value) for name, value in numbers.items())


def _below(name: Piece, shown: Shown) -> Iterator[Named]:
    yield from (((name, *parts), value) for parts, value in _KINDS[type(shown)](shown))


def _of_folds(found: CrossValidation) -> Iterator[Named]:
    yield from _below("macro", found.macro)
    yield from _below("pooled", found.pooled)


def _of_propensities(found: PropensityComparison) -> Iterator[Named]:
    yield ("verdicts_that_change",), float(len(found.all_changes()))
    for name, result in found.results.items():
        yield from _below(name, result)


def _of_protocols(found: ProtocolComparison) -> Iterator[Named]:
    for name, result in found.results.items():
        yield from _below(name, result)


def _of_policies(found: PolicyImpact) -> Iterator[Named]:
    for split, by_policy in found.results.items():
        for policy, result in by_policy.items():
            yield from _below(Joined(split, "_", policy), result)


def _of_plan(found: Plan) -> Iterator[Named]:
    for pair in found.pairs:
        numbers = {name: value for name, value in asdict(pair).items() if isinstance(value, int | float)}
        yield from _under((Joined(pair.a, "_vs_", pair.b),), numbers)


def _scalars(shown: Shown) -> Iterator[Named]:
    """What it says of itself, else all single numbers of what has no estimates: sizes, skew, settings."""
    own = shown.numbers()
    yield from _numbers(shown.to_dict(), ()) if own is None else own


def _numbers(value: Any, where: tuple[str, ...]) -> Iterator[Named]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _numbers(item, (*where, str(name)))
    elif isinstance(value, int | float) and where[-1] != "schema_version":
        yield where, float(value)


_KINDS: dict[type, Callable[[Any], Iterator[Named]]] = {
    Result: _of_result,
    CrossValidation: _of_folds,
    PropensityComparison: _of_propensities,
    ProtocolComparison: _of_protocols,
    PolicyImpact: _of_policies,
    Plan: _of_plan,
}
