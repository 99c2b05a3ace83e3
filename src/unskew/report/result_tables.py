"""Estimates and verdicts as tables of texts: every number written once, the same in every medium."""

from __future__ import annotations

from collections.abc import Callable

from unskew.report import numbers
from unskew.report.document import ALWAYS, EVER, NEVER, WIDE, Cell, Column, Table
from unskew.report.scenario_words import range_of
from unskew.report.view import Facet, View, in_scenarios, unique
from unskew.report.words import disagreement, limits, users_needed
from unskew.result import Estimate, Verdict

_NARROW, _TIPPING, _WIDER = range(WIDE.start), range(72, EVER), range(112, EVER)  # terminals


def estimate_table(view: View, facet: Facet) -> Table:
    """The estimates of a facet, model by model; what is 0 everywhere has no column where there is little room."""
    rows, everywhere, places = view.by_model(facet), view.result.estimates, view.places(facet)
    never = any((e.unsupported or 0.0) > 0.0 for e in everywhere)
    raised = any(e.clipped_share > 0.0 for e in everywhere)
    few = any(e.few_clicks is not None for e in rows)
    clipped = Column("clipped", page=any(e.clipped_share > 0.0 for e in rows), terminal=ALWAYS if raised else NEVER)
    digits = None if places is None else places + 1
    columns: list[tuple[Column, Callable[[Estimate], str]]] = [
        (Column("model", "name", once=True), lambda e: e.model),
        (Column("estimator", "name"), lambda e: e.estimator),
        (Column("estimate", strong=True, terminal=NEVER), lambda e: numbers.number(e.value, places)),
        (Column("value", page=False), lambda e: numbers.number(e.value, places)),
        (Column("interval"), lambda e: limits(e, places)),
        (Column("se", terminal=NEVER), lambda e: numbers.DASH if in_scenarios(e) else numbers.number(e.se, digits)),
        (Column("ess"), lambda e: numbers.count(e.ess)),
        (Column("hits", terminal=WIDE), lambda e: numbers.count(e.hits)),
        (Column("largest share", terminal=WIDE), lambda e: numbers.share(e.max_weight_share)),
        (Column("never shown", terminal=ALWAYS if never else NEVER), lambda e: numbers.share(e.unsupported)),
        (clipped, lambda e: numbers.share(e.clipped_share)),
        (Column("support gap", terminal=NEVER), lambda e: numbers.share(e.support_gap)),
        (Column("few clicks", page=few, terminal=NEVER), lambda e: numbers.number(e.few_clicks, places, sign=True)),
        (Column("users", terminal=_room(view)), lambda e: numbers.count(e.users)),
        (Column("interactions", terminal=NEVER), lambda e: numbers.count(e.interactions)),
    ]
    note = ", ".join([facet.target, *(f"propensity {text}" for text in unique(e.propensity for e in rows) if text)])
    texts = tuple(tuple(write(e) for _, write in columns) for e in rows)
    return Table(facet.metric, note, tuple(column for column, _ in columns), texts, "estimates", _facet(facet))


def verdict_table(view: View, facet: Facet) -> Table:
    """The verdicts of a facet, pair by pair."""
    places = view.places_of_differences(facet)

    def verdict(v: Verdict) -> Cell:
        return Cell(v.verdict, v.verdict, view.naive(facet) or "", disagreement(v, view.by_naive(v)), bool(v.trust))

    columns: list[tuple[Column, Callable[[Verdict], str | Cell]]] = [
        (Column("pair", "name", once=True, terminal=_NARROW), lambda v: f"{v.a}\n− {v.b}"),
        (Column("a", "name", once=True, page=False, terminal=WIDE), lambda v: v.a),
        (Column("b", "name", once=True, page=False, terminal=WIDE), lambda v: v.b),
        (Column("estimator", "name"), lambda v: v.estimator),
        (Column("verdict", "tag", terminal=NEVER), verdict),
        (Column("difference", strong=True, terminal=WIDE), lambda v: numbers.number(v.difference, places, sign=True)),
        (Column("diff.", page=False, terminal=_NARROW), lambda v: numbers.number(v.difference, places, sign=True)),
        (Column("interval"), lambda v: (range_of if in_scenarios(v) else numbers.interval)(v.low, v.high, places)),
        (Column("p", terminal=NEVER), lambda v: numbers.p_value(v.p)),
        (Column("adjusted p", terminal=NEVER), lambda v: numbers.p_value(v.p_adjusted)),
        (
            Column("p adj.", page=False, terminal=_room(view)),
            lambda v: numbers.p_value(v.p_adjusted).replace("< ", "<"),
        ),
        (Column("verdict", "tag", page=False), verdict),
        (Column("tipping Γ", terminal=NEVER), lambda v: numbers.gamma(v.tipping)),
        (Column("Γ, low", terminal=_TIPPING), lambda v: numbers.gamma(v.tipping_low)),
        (Column("users needed", terminal=NEVER), lambda v: numbers.count(users_needed(view, v))),
        (Column("trust", "aside", terminal=NEVER), lambda v: v.trust),
    ]
    together = max((view.comparisons(facet, name) for name in view.estimators), default=0)
    note = facet.target + (f", one level over {together} comparisons" if together > 1 else "")
    texts = tuple(tuple(write(v) for _, write in columns) for v in view.by_pair(facet))
    return Table(facet.metric, note, tuple(column for column, _ in columns), texts, "verdicts", _facet(facet))


def _facet(facet: Facet) -> tuple[str, ...]:
    return facet.metric, facet.target, facet.segment or ""


def _room(view: View) -> range:
    """The terminals with room for one more column; estimators with scenarios have long names."""
    return _WIDER if view.result.scenarios else WIDE
