"""Table rows as text: every number written once, the same in the terminal, the notebook and the page."""

from __future__ import annotations

from typing import NamedTuple

from unskew.report import numbers
from unskew.report.view import Facet, View
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
