"""Table rows as text: every number written once, the same in the terminal, the notebook and the page."""

from __future__ import annotations

from typing import NamedTuple

from unskew.report import numbers
from unskew.report.document import ALWAYS, EVER, NEVER, WIDE, Cell, Column, Table
from unskew.report.view import Facet, View, unique
from unskew.report.words import disagreement, limits, users_needed
from unskew.result import Estimate, Verdict


class EstimateRow(NamedTuple):
    """An estimate as text."""

    model: str
    metric: str
    estimator: str
    target: str
    segment: str
    value: str
    interval: str
    se: str
    ess: str
    hits: str
    never: str
    largest: str
    clipped: str
    gap: str
    few_clicks: str
    users: str
    interactions: str


class VerdictRow(NamedTuple):
    """A verdict as text; ``flag`` says that naive disagrees."""

    a: str
    b: str
    metric: str
    estimator: str
    target: str
    segment: str
    difference: str
    interval: str
    p: str
    adjusted: str
    verdict: str
    tipping: str
    tipping_low: str
    needed: str
    trust: str
    flag: str


def estimate_table(view: View, facet: Facet) -> Table:
    """The estimates of a facet; what is 0 everywhere has no column where there is little room."""
    here, everywhere = view.estimates(facet), view.result.estimates
    never = any((e.unsupported or 0.0) > 0.0 for e in everywhere)
    clipped = any(e.clipped_share > 0.0 for e in everywhere)
    heads = (
        Column("model", "name", once=True),
        Column("estimator", "name"),
        Column("estimate", strong=True, terminal=NEVER),
        Column("value", page=False),
        Column("interval"),
        Column("se", terminal=NEVER),
        Column("ess"),
        Column("hits", terminal=WIDE),
        Column("largest share", terminal=WIDE),
        Column("never shown", terminal=ALWAYS if never else NEVER),
        Column("clipped", page=any(e.clipped_share > 0.0 for e in here), terminal=ALWAYS if clipped else NEVER),
        Column("support gap", terminal=NEVER),
        Column("few clicks", page=any(e.few_clicks is not None for e in here), terminal=NEVER),
        Column("users", terminal=WIDE),
        Column("interactions", terminal=NEVER),
    )
    rows = tuple(
        (
            *(r.model, r.estimator, r.value, r.value, r.interval, r.se, r.ess, r.hits, r.largest, r.never, r.clipped),
            *(r.gap, r.few_clicks, r.users, r.interactions),
        )
        for r in estimate_rows(view, facet)
    )
    propensities = unique(e.propensity for e in here if e.propensity is not None)
    note = ", ".join([facet.target, *(f"propensity {text}" for text in propensities)])
    return Table(facet.metric, note, heads, rows, "estimates", _facet(facet))


def verdict_table(view: View, facet: Facet) -> Table:
    """The verdicts of a facet."""
    heads = (
        Column("pair", "name", once=True, terminal=range(WIDE.start)),
        Column("a", "name", once=True, page=False, terminal=WIDE),
        Column("b", "name", once=True, page=False, terminal=WIDE),
        Column("estimator", "name"),
        Column("verdict", "tag", terminal=NEVER),
        Column("difference", strong=True, terminal=WIDE),
        Column("diff.", page=False, terminal=range(WIDE.start)),
        Column("interval"),
        Column("p", terminal=NEVER),
        Column("adjusted p", terminal=NEVER),
        Column("p adj.", page=False, terminal=WIDE),
        Column("verdict", "tag", page=False),
        Column("tipping Γ", terminal=NEVER),
        Column("Γ, low", terminal=range(72, EVER)),
        Column("users needed", terminal=NEVER),
        Column("trust", "aside", terminal=NEVER),
    )
    rows = []
    for r in verdict_rows(view, facet):
        said = Cell(r.verdict, r.verdict, view.naive(facet) or "", r.flag, bool(r.trust))
        rows.append(
            (
                *(f"{r.a}\n− {r.b}", r.a, r.b, r.estimator, said, r.difference, r.difference, r.interval),
                *(r.p, r.adjusted, r.adjusted.replace("< ", "<"), said, r.tipping, r.tipping_low, r.needed, r.trust),
            )
        )
    together = max((view.comparisons(facet, name) for name in view.estimators), default=0)
    note = facet.target + (f", one level over {together} comparisons" if together > 1 else "")
    return Table(facet.metric, note, heads, tuple(rows), "verdicts", _facet(facet))


def _facet(facet: Facet) -> tuple[str, ...]:
    return facet.metric, facet.target, facet.segment or ""


def estimate_rows(view: View, facet: Facet) -> list[EstimateRow]:
    """The estimates of a facet, model by model."""
    places = view.places(facet)
    rows = view.estimates(facet)
    rows.sort(key=lambda e: (view.models.index(e.model), view.estimators.index(e.estimator)))
    return [_estimate(e, places) for e in rows]


def verdict_rows(view: View, facet: Facet) -> list[VerdictRow]:
    """The verdicts of a facet, pair by pair."""
    places = view.places_of_differences(facet)
    naive_name = view.naive(facet)
    naive = {(v.a, v.b): v for v in view.verdicts(facet, naive_name)} if naive_name else {}
    order = {(v.a, v.b): n for n, v in reversed(list(enumerate(view.verdicts(facet))))}
    rows = sorted(view.verdicts(facet), key=lambda v: order[v.a, v.b])
    return [_verdict(v, places, disagreement(v, naive.get((v.a, v.b))), users_needed(view, v)) for v in rows]


def _estimate(e: Estimate, places: int | None) -> EstimateRow:
    return EstimateRow(
        model=e.model,
        metric=e.metric,
        estimator=e.estimator,
        target=e.target,
        segment=e.segment or "",
        value=numbers.number(e.value, places),
        interval=limits(e, places),
        se=numbers.number(e.se, None if places is None else places + 1),
        ess=numbers.count(e.ess),
        hits=numbers.count(e.hits),
        never=numbers.share(e.unsupported),
        largest=numbers.share(e.max_weight_share),
        clipped=numbers.share(e.clipped_share),
        gap=numbers.share(e.support_gap),
        few_clicks=numbers.number(e.few_clicks, places, sign=True),
        users=numbers.count(e.users),
        interactions=numbers.count(e.interactions),
    )


def _verdict(v: Verdict, places: int | None, flag: str, needed: int | None) -> VerdictRow:
    return VerdictRow(
        a=v.a,
        b=v.b,
        metric=v.metric,
        estimator=v.estimator,
        target=v.target,
        segment=v.segment or "",
        difference=numbers.number(v.difference, places, sign=True),
        interval=numbers.interval(v.low, v.high, places),
        p=numbers.p_value(v.p),
        adjusted=numbers.p_value(v.p_adjusted),
        verdict=v.verdict,
        tipping=numbers.gamma(v.tipping),
        tipping_low=numbers.gamma(v.tipping_low),
        needed=numbers.count(needed),
        trust=v.trust,
        flag=flag,
    )
