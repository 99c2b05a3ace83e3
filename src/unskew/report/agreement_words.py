"""Whether the other debiased estimators and targets agree with the headline, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unskew.core.notice import Notice, codes
from unskew.estimators import Standing
from unskew.inference.verdict import Outcome
from unskew.report import numbers
from unskew.report.scenario_words import range_of
from unskew.report.view import View, decided, grouped, unique, winner
from unskew.result import Verdict

OTHERS = "The other debiased estimators and targets"
DISAGREE = 3  # estimators that are named


def agreement(view: View) -> str:
    """Whether the other debiased estimators and targets name the same models as the headline, and which do not.

    Whether they agree on the size as well is only said where intervals of the same target do not overlap.
    """
    facet = view.headline
    if facet is None or not view.debiased:
        return ""
    carrier = view.carrier(facet)
    mine = {(v.a, v.b): v for v in view.verdicts(facet, carrier)}
    others = [
        v
        for v in view.result.verdicts_
        if (v.metric, v.segment) == (facet.metric, facet.segment)
        and (v.estimator, v.target) != (carrier, facet.target)
        and Standing(v.standing).debiased
        and (v.a, v.b) in mine
    ]
    if not others:
        return ""
    against = ((f"{v.estimator} ({v.target})", _against(mine[v.a, v.b], v)) for v in others)
    said = grouped((cell, text) for cell, text in against if text)
    if not said:
        return _alike(mine, others)
    texts = [f"{cell} {_listed(found)}" for cell, found in said.items()]
    more = [f"{len(texts) - DISAGREE} more disagree"] if len(texts) > DISAGREE else []
    text = f"Not all debiased estimators and targets agree: {'; '.join(texts[:DISAGREE] + more)}."
    return Notice(text, code="disagree", estimators=tuple(said), pairs=sum(map(len, said.values())))


def agreement_role(said: str) -> str:
    """How a page shows what ``agreement`` says."""
    return "disagreement" if {"disagree", "other-size"} & {*codes([said])} else "agreement"


def _alike(mine: Mapping[tuple[str, str], Verdict], others: Sequence[Verdict]) -> str:
    """What those that name the same models agree on."""
    if not any(map(decided, mine.values())):
        return Notice(f"{OTHERS} put no model ahead either.", code="none-ahead")
    sizes = unique(text for v in others if (text := _other_size(mine[v.a, v.b], v)))
    if not sizes:
        return Notice(f"{OTHERS} agree on who is ahead.", code="agree")
    more = f"; {len(sizes) - DISAGREE} more differ" if len(sizes) > DISAGREE else ""
    text = f"{OTHERS} agree on who is ahead, but not on by how much: {'; '.join(sizes[:DISAGREE])}{more}."
    return Notice(text, code="other-size")


def _against(mine: Verdict, other: Verdict) -> str:
    """What another estimator says of a pair, where it is not the same."""
    if other.verdict == Outcome.DEPENDS:
        where = f" ({other.turns.rstrip('.')})" if other.turns else ""
        return f"says that it depends for {other.a} and {other.b}{where}" if decided(mine) else ""
    if not decided(other):
        return f"does not decide between {other.a} and {other.b}" if decided(mine) else ""
    if decided(mine) and winner(mine) == winner(other):
        return ""
    first = winner(other)
    return f"puts {first} ahead of {other.b if first == other.a else other.a}"


def _other_size(mine: Verdict, other: Verdict) -> str:
    """How large another estimator says that a difference is, where both cannot be right."""
    if mine.target != other.target or not (other.low > mine.high or other.high < mine.low):
        return ""
    places = numbers.decimals([(other.low, other.high), (mine.low, mine.high)])
    said = range_of(other.low, other.high, places), range_of(mine.low, mine.high, places)
    return f"{other.estimator} ({other.target}) says {said[0]} for {other.a} − {other.b}, not {said[1]}"


def _listed(texts: list[str]) -> str:
    """A few texts in a row, the others counted."""
    *most, last = texts if len(texts) <= 3 else [*texts[:2], f"disagrees on {len(texts) - 2} more pairs"]
    return f"{', '.join(most)} and {last}" if most else last
