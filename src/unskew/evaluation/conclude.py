"""From rows that are aligned and planned, wherever they lie, to the result: measure, judge, answer, word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import polars as pl

from unskew.alignment.align import Alignment
from unskew.alignment.answers import rests_on
from unskew.alignment.column import condition
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Rules
from unskew.alignment.rows import split_assumption
from unskew.core.memory import require
from unskew.engine.engine import Engine
from unskew.engine.plan import EvaluationPlan, Refusal
from unskew.engine.sums import Sums
from unskew.evaluation.against_answers import AgainstAnswers
from unskew.evaluation.draw_samples import DrawnSamples
from unskew.evaluation.facts import Facts, guess_for_new_users
from unskew.evaluation.fit_answers import ADDED_UP, SAMPLED
from unskew.evaluation.fit_outcome import FittedOutcome
from unskew.evaluation.fit_propensity import FittedPropensity, with_estimate
from unskew.evaluation.planning import Hits, refuse_no_hits, targets_for
from unskew.evaluation.request import Request
from unskew.evaluation.warnings import warnings
from unskew.judging.answer import answer
from unskew.judging.measure import Measured, Setting, error_per_comparison, measure
from unskew.judging.segments import Division, Labels, division_of, measure_segments, single_clicks, support_gap
from unskew.kernels.arrays import Floats
from unskew.log.drawing import DRAWN_ONCE, Drawing
from unskew.log.position import perhaps_places, several_places
from unskew.result import MetricTraits, Result


class Rows(Protocol):
    """The aligned rows of all users, in memory or elsewhere."""

    def engine(self) -> Engine:
        """All of them, ready to be summed."""

    def labels(self, division: Division) -> Labels:
        """The labels of a division that occur."""

    def segment(self, division: Division, label: str) -> Engine:
        """One segment, ready to be summed."""

    def hits(self) -> Hits:
        """What lists hold of them."""

    def per_user(self, sums: Sums) -> pl.DataFrame | None:
        """A row for every user, where they are kept."""

    def exposure_share(self) -> float | None:
        """The share of popularity that comes from exposure, where a random sample tells it."""

    @property
    def columns(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The columns by which segments can be made: of the test log, and of the population."""


@dataclass(frozen=True, eq=False)
class Ready:
    """All that an evaluation consists of before anything is measured.

    Args:
        asked: the request as it was made; ``request`` with what follows from the inputs.
        drawing, against: how answers were drawn, and the log held against them.
        redraw: gives replicates with propensities that are fitted anew, where that was asked for.
    """

    asked: Request
    request: Request
    inputs: InputFacts
    propensity: FittedPropensity
    aligned: Alignment
    plan: EvaluationPlan
    refusals: tuple[Refusal, ...]
    outcome: FittedOutcome
    samples: DrawnSamples | None
    rows: Rows
    redraw: Callable[[], list[Floats]] | None = None
    drawing: Drawing = DRAWN_ONCE
    against: AgainstAnswers = field(default_factory=AgainstAnswers)


def conclude(ready: Ready) -> Result:
    """Measure, judge, answer and word."""
    request, plan, aligned = ready.request, ready.plan, ready.aligned
    tables, segments_lack = _measure(ready)
    errors = error_per_comparison(tables)
    answers = tuple(answer(table, errors) for table in tables)
    refuse_no_hits(aligned, plan, answers[0].estimates, ready.rows.hits)
    facts = Facts(
        ready.asked,
        request,
        ready.inputs,
        ready.propensity,
        aligned,
        plan,
        ready.refusals,
        ready.outcome,
        answers,
        tuple(segments_lack),
        ready.samples,
        ready.against,
    )
    return Result(
        estimates=tuple(e for a in answers for e in a.estimates),
        verdicts_=tuple(v for a in answers for v in a.verdicts),
        weights=tuple(w for a in answers for w in a.weights),
        scenarios=with_estimate((s for a in answers for s in a.scenarios), ready.rows.exposure_share),
        inputs=account(facts),
        warnings=warnings(facts),
        rows=ready.rows.per_user(answers[0].sums) if request.per_user else None,
        traits={str(metric): MetricTraits.of(metric) for metric in request.metrics},
    )


def _measure(ready: Ready) -> tuple[list[Measured], list[str]]:
    """The sums of the whole and of every segment, and what segments lack."""
    request, plan, aligned, rows = ready.request, ready.plan, ready.aligned, ready.rows
    drawn = f"a bootstrap of {request.drawn:,} replicates"
    require(40 * request.drawn * plan.width, drawn, "Draw fewer replicates.")
    engine = rows.engine()
    drawing, against, fixed = ready.drawing, ready.against, request.users_are == "fixed"
    sampled = (ready.outcome.answers or {}).get(ADDED_UP) == SAMPLED  # guesses were added up over some candidates
    setting = setting_of(request, aligned, engine, ready.inputs.rules)
    guessing = guess_for_new_users(aligned, ready.inputs.fitted.personal)
    new = aligned.facts.rows.untrained_rows / max(aligned.facts.rows.rows, 1)
    setting = replace(setting, new_users=tuple(new if name in guessing else 0.0 for name in request.models))
    setting = replace(setting, rounds=drawing.rounds, design=drawing.design, fixed_users=fixed)
    setting = replace(setting, propensity_check=against.propensity, path_range=against.path, sampled_total=sampled)
    if (samples := ready.samples) is not None:
        setting = replace(setting, sample=samples.text, sample_assumption=samples.assumption)
    whole = measure(engine, plan, setting, keep=request.per_user, redraw=ready.redraw)
    if request.by is None:
        return [whole], []
    division = division_of(request.by, *rows.columns, aligned.training_counts)
    segments, lacking = measure_segments(
        aligned, division, rows.labels(division), lambda label: rows.segment(division, label), plan, setting
    )
    return [whole, *segments], lacking


def setting_of(request: Request, aligned: Alignment, engine: Engine, rules: Rules) -> Setting:
    """What the answer depends on besides the data."""
    model = aligned.propensity
    return Setting(
        models=tuple(request.models),
        propensity=None if model is None else str(model),
        tested=aligned.column is not None and aligned.column.passed,
        assumption="" if model is None else condition(model, aligned.column, aligned.marks, rules.feedback),
        wrong_column="" if aligned.column is None else aligned.column.wrong,
        closed=aligned.closed,
        level=request.level,
        replicates=request.drawn,
        seed=request.seed,
        segment=None,
        single_clicks=single_clicks(engine),
        support_gap=support_gap(aligned, engine),
        item_propensity=None if model is None else model.of_items(aligned.items),
        shortage=0.0 if aligned.level is None else aligned.level.shortage,
        seen_counts=aligned.seen_counts,
        split=split_assumption(aligned.marks, rules),
        places=several_places(aligned.facts.rows.places) or perhaps_places(aligned.marks.account),
        kept_training=() if rules.unseen else _kept_training(request, aligned),
        answers_assumption="" if aligned.joined is None else rests_on(aligned.joined),
        known_lists=() if aligned.joined is None else aligned.joined.known,
    )


def _kept_training(request: Request, aligned: Alignment) -> tuple[float, ...]:
    """Of every model, which share of its listed items the user had in training."""
    shares = {
        name: each.repeats / max(each.entries, 1)
        for name, each in zip(aligned.found_lists, aligned.facts.lists, strict=True)
    }
    return tuple(shares.get(name, 0.0) for name in request.models)


def account(facts: Facts) -> dict[str, Any]:
    """What became of the inputs, what was asked and what was refused, as plain values."""
    request, rules, model = facts.request, facts.inputs.rules, facts.aligned.propensity
    targets = targets_for(request, rules)
    settings = {
        "metrics": [str(m) for m in request.metrics],
        "estimators": _named(facts),
        "targets": list(dict.fromkeys(str(target) for each in targets.values() for target in each)),
        "propensity": None if model is None else str(model),
        "outcome": None if request.outcome is None else str(request.outcome),
        "feedback": str(rules.feedback),
        "relevant": request.relevant,
        "candidates": "unseen" if rules.unseen else "all",
        "level": request.level,
        "interval": request.interval,
        "replicates": request.drawn,
        "seed": request.seed,
        "by": request.by,
        "columns": dict(request.columns.given),
        "invalid": request.invalid,
        "duplicates": request.duplicates,
        "share": request.share,
        **({} if request.answers is None else {"users_are": request.users_are}),
    }
    refused = [vars(refusal) for refusal in facts.refusals]
    return facts.aligned.account | {
        "outcome": facts.outcome.account,
        "census": facts.outcome.census,
        "propensity_column": None if facts.aligned.column is None else facts.aligned.column.plain,
        **_answers(facts),
        "settings": settings,
        "refused": refused,
        **({} if facts.samples is None else {"sample": facts.samples.account}),
    }


def _named(facts: Facts) -> list[str]:
    """The estimators that were asked for; of the usual ones those that were computed, or refused with a reason."""
    named = [str(estimator) for estimator in facts.request.estimators]
    if facts.request.chosen:
        return named
    met = {str(estimator) for estimator, _, _ in facts.plan.asked} | {r.estimator for r in facts.refusals}
    return [name for name in named if name in met]


def _answers(facts: Facts) -> dict[str, Any]:
    """The account of the answers, with what was guessed beside them."""
    account = facts.aligned.account.get("answers")
    if account is None:
        return {}
    checked, path = facts.against
    return {
        "answers": account
        | (facts.outcome.answers or {})
        | ({} if checked is None else {"propensities_by_answers": checked.plain()})
        | ({} if path is None else {"exposure_by_answers": path.plain()})
    }
