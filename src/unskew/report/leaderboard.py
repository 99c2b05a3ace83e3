"""The models in order, with the group that cannot be told from the one on top.

Models are ordered by the value of the estimator that counts (``View.carrier``), over scenarios by its average. A model
can be told from the one on top where the verdict on the two, which holds for all pairs together, puts it behind: over
scenarios in every one of them. Intervals of single values do not decide this, and overlap although models differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from unskew.core.notice import Notice
from unskew.inference.trust import has_no_value
from unskew.inference.verdict import Outcome
from unskew.report import numbers
from unskew.report.document import NEVER, Cell, Column, Sentence, Span, Table
from unskew.report.view import Facet, View, in_scenarios
from unskew.report.words import limits
from unskew.result import Estimate, LeaderboardRow, Result, Verdict

IN_PART = "in part"  # ahead or behind in some scenarios, where the opposite holds in none
SEVERAL = 4  # models from which an order says more than sentences on their pairs
_MIRRORED = {
    Outcome.BETTER: Outcome.WORSE,
    Outcome.WORSE: Outcome.BETTER,
    Outcome.AHEAD: Outcome.BEHIND,
    Outcome.BEHIND: Outcome.AHEAD,
}


LIKE_IT = Notice(" Cannot be told from it: ", code="not-told-apart")
TURNING = {
    f"{Outcome.BEHIND} {IN_PART}": Notice(" Behind it in some scenarios, ahead in none: ", code="behind-in-part"),
    f"{Outcome.AHEAD} {IN_PART}": Notice(" Ahead of it in some scenarios, behind in none: ", code="ahead-in-part"),
    str(Outcome.DEPENDS): Notice(" Depends on what the log cannot tell: ", code="depends"),
}


def leaderboard(result: Result) -> list[LeaderboardRow]:
    """The order of the models in every facet."""
    view = View(result)
    return [row for facet in view.facets for row in ranked(view, facet)]


def ranked(view: View, facet: Facet) -> list[LeaderboardRow]:
    """The models of a facet in order; those without an estimate come last, and have no place."""
    carrier = view.carrier(facet)
    sign = 1.0 if view.traits(facet.metric).lower_is_better else -1.0
    rows = sorted(view.estimates(facet, carrier), key=lambda e: sign * e.value if math.isfinite(e.value) else math.inf)
    known = [e for e in rows if math.isfinite(e.value)]
    tops = [e.model for e in known if e.value == known[0].value]
    verdicts = {frozenset((v.a, v.b)): v for v in view.verdicts(facet, carrier)}
    return [_row(view, e, known, tops, verdicts) for e in rows]


def _row(
    view: View, e: Estimate, known: Sequence[Estimate], tops: Sequence[str], verdicts: dict[frozenset[str], Verdict]
) -> LeaderboardRow:
    values = [other.value for other in known]
    exists = math.isfinite(e.value)
    against = [v for top in tops if exists and (v := verdicts.get(frozenset((top, e.model)))) is not None]
    words = [_from_the_side_of(view, e.model, v) for v in against]
    behind = bool(words) and all(word in (Outcome.WORSE, Outcome.BEHIND) for word in words)
    on_top = exists and e.model == tops[0]
    return LeaderboardRow(
        metric=e.metric,
        estimator=e.estimator,
        target=e.target,
        segment=e.segment,
        place=1 + values.index(e.value) if exists else None,
        model=e.model,
        value=e.value,
        low=e.low,
        high=e.high,
        against_best="" if on_top or not words else words[0],
        in_best_group=exists and not behind,
        turns="" if on_top or not against else against[0].turns,
    )


def _from_the_side_of(view: View, model: str, verdict: Verdict) -> str:
    if leader := view.ahead_in_part(verdict):
        return f"{Outcome.AHEAD if leader == model else Outcome.BEHIND} {IN_PART}"
    word = Outcome(verdict.verdict)
    return str(word if verdict.a == model else _MIRRORED.get(word, word))


def depends(against: str) -> bool:
    """Whether it is not the same in all scenarios."""
    return against == Outcome.DEPENDS or against.endswith(IN_PART)


def best_group(view: View, facet: Facet) -> Sentence:
    """Who comes first, and who cannot be told from it, by name."""
    rows = [row for row in ranked(view, facet) if row.place is not None]
    if not rows:
        return Sentence((Span(Notice("No model has an estimate.", code="no-estimates")),))
    top, *others = rows
    code, by = (
        ("first", "") if view.standing(facet, top.estimator).debiased else ("first-on-log", " on the log as it is")
    )
    if any(e.sample for e in view.estimates(facet, top.estimator)):
        code, by = "first-on-samples", " on samples of the log"
    if any(map(in_scenarios, view.estimates(facet, top.estimator))):
        code, by = "first-on-average", " by its average over all scenarios"
        if any(has_no_value(e.trust) for e in view.estimates(facet, top.estimator)):
            code, by = "first-on-common", " by its average over the scenarios in which all models have a value"
    spans = [Span(top.model, "name"), Span(Notice(f" comes first on {facet.metric}{by}.", code=code))]
    same = [row.model for row in others if row.in_best_group and not depends(row.against_best)]
    if not same and not any(depends(row.against_best) for row in others):
        text = " All others are behind it." if len(others) > 1 else " The other one is behind it."
        spans.append(Span(Notice(text, code="others-behind")))
    turning = {against: [row.model for row in others if row.against_best == against] for against in TURNING}
    for lead, names in ((LIKE_IT, same), *((TURNING[word], turning[word]) for word in TURNING)):
        if names:
            spans += [Span(lead), *_listed(names), Span(".")]
    return Sentence(tuple(spans), "order")


def _listed(names: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    for n, name in enumerate(names):
        spans += [Span(", ")] * bool(n) + [Span(name, "name")]
    return spans


def _tone(against: str) -> str:
    return str(Outcome.DEPENDS) if depends(against) else against


def leaderboard_table(view: View, facet: Facet) -> Table:
    """The order of the models of a facet."""
    rows, places = ranked(view, facet), view.places(facet)
    cells = {e.model: e for e in view.estimates(facet, view.carrier(facet))}
    ranges = any(map(in_scenarios, cells.values()))
    turning = any(row.turns for row in rows)
    heads = (
        Column("place", "name"),
        Column("model", "name"),
        Column("average" if ranges else "value", strong=True),
        Column("range" if ranges else "interval"),
        Column("against the first", "tag"),
        Column("best group", "name", terminal=NEVER),
        Column("where it turns", "aside", page=turning, terminal=NEVER),
    )
    texts = tuple(
        (
            numbers.DASH if row.place is None else str(row.place),
            row.model,
            numbers.number(row.value, places),
            limits(cells[row.model], places),
            Cell(row.against_best, _tone(row.against_best)) if row.against_best else numbers.DASH,
            "yes" if row.in_best_group else "",
            row.turns,
        )
        for row in rows
    )
    note = f"{facet.target}, {view.carrier(facet)}" + (f", {facet.segment}" if facet.segment else "")
    lower = "; lower is better" if view.traits(facet.metric).lower_is_better else ""
    about = (("metric", facet.metric),)
    return Table(f"Leaderboard, {facet.metric}", f"{note}{lower}", heads, texts, "leaderboard", about=about)
