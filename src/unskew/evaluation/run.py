"""The main job: from a held-out log and recommenders' lists to debiased estimates with a verdict. Wiring only.

    request → read → code → fit the propensity → align → plan → fit the outcome model → measure → answer → word

Each step is one function of what the steps before it gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from unskew.alignment.align import Aligned, align
from unskew.alignment.answers import rests_on
from unskew.alignment.division import check_division
from unskew.alignment.inputs import Inputs, Share
from unskew.alignment.vocabulary import code
from unskew.bounds import shown
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan, Refusal
from unskew.errors import InputError
from unskew.estimators import Estimator
from unskew.evaluation.against_answers import AgainstAnswers, against_answers
from unskew.evaluation.draw_samples import DrawnSamples, draw_samples, rows_in_samples, with_draws
from unskew.evaluation.facts import Facts
from unskew.evaluation.fit_answers import ADDED_UP, SAMPLED
from unskew.evaluation.fit_outcome import FittedOutcome, fit_outcome
from unskew.evaluation.fit_propensity import FittedPropensity, fit_propensity, with_estimate
from unskew.evaluation.planning import plan_cells, refuse_no_hits, targets_for
from unskew.evaluation.read import Stage, read
from unskew.evaluation.request import Request
from unskew.evaluation.sampled import for_samples
from unskew.evaluation.warnings import warnings
from unskew.judging.answer import answer
from unskew.judging.measure import Measured, Setting, error_per_comparison, measure, per_user_rows
from unskew.judging.refit import refit_replicates
from unskew.judging.segments import measure_segments, single_clicks, support_gap
from unskew.kernels.arrays import Floats
from unskew.log import Feedback
from unskew.log.log import Duplicates, Invalid
from unskew.memory import require
from unskew.metrics import Metric
from unskew.outcome import Outcome
from unskew.propensity import Propensity
from unskew.result import MetricTraits, Result
from unskew.sampling import Sampler
from unskew.sampling.size import Size


def evaluate(
    test: Any,
    models: Mapping[str, Any],
    *,
    metrics: Sequence[str | Metric] = ("recall@10",),
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | Propensity | None = None,
    outcome: str | Outcome | None = None,
    in_sample: bool = False,
    target: str | Sequence[str] | None = None,
    train: Any = None,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    users: Any = None,
    items: Any = None,
    share: Share = None,
    mcar: Any = None,
    answers: Any = None,
    rounds: int | None = None,
    users_are: Literal["sampled", "fixed"] = "sampled",
    fixed_relevance: bool = False,
    user_features: Any = None,
    item_features: Any = None,
    candidates: Literal["unseen", "all"] | None = None,
    columns: Mapping[str, str] | None = None,
    drop_seen: bool = False,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    by: str | None = None,
    level: float = 0.95,
    interval: Literal["normal", "bootstrap"] = "normal",
    replicates: int = 1000,
    refit: bool = False,
    seed: int = 0,
    per_user: bool = False,
    refused: Literal["error", "skip"] = "error",
    threads: int | None = None,
    sample: str | Sampler | None = None,
    sample_size: Size = None,
    repeats: int | None = None,
    progress: Stage | None = None,
) -> Result:
    """Estimate what each model would score if everything had been seen, and say which is better.

    Args:
        test: the held-out log: a ``Log``, a path, or any dataframe.
        models: name → lists (a path, a dataframe, ``Recommendations``) or a fitted recommender; with rating metrics
            name → predictions (a path, a dataframe, an array, ``Predictions``) or a model with ``predict``.
        metrics: canonical strings such as ``recall@10`` or ``mae``.
        estimators: canonical strings; by default naive, and snips where there are propensities; with an outcome
            model naive, ips and dr, or else snips(over=list) and sndr, which do without a level; with a training log
            and no propensities exposure_path, and tilted where seen pairs are relevant or not; with answers anchored
            besides, which makes the headline.
        propensity: a canonical string (popularity is then fitted on ``train``) or a fitted object; by default the test
            log's own column ``propensity``, where there is one.
        outcome: a model of what unseen pairs would yield, for direct, dr, sndr and switch: a canonical string such as
            ``logistic_mf(dim=10)``, or a fitted object; tilted has its own, ``census``, unless a census is given.
        in_sample: fit the outcome model to the pairs that it is asked about, as saito20 does, not by folds of pairs.
        target: ``per_user``, ``pooled``, ``per_user_sum``, ``per_pair``, or several; by default the usual one: pooled
            for positives and thresholds, and for conversions with a training log and no propensities, since the level
            of a sum cannot be told there; else per_user_sum for conversions, per_pair for ratings.
        train: the training log. Its items are no candidates for the user, popularity is counted on it.
        feedback: what a row of the logs says; needed where there is a column ``value``.
        relevant: a threshold on the value, ``'>=4'``.
        users: the population, ``user[, relevant]``, with n_u where known; by default the users of both logs.
        items: the catalogue, a file or frame with a column ``item``: all that could be recommended, also what nobody
            saw; by default the items of both logs.
        share: the test log is a random part of the whole log with this share (a split of ours remembers it), or
            ``users``: training and test hold different users, so that propensities carry over as they are.
        mcar: a log whose pairs were seen at random, for ``naive_bayes``; of the exposure path it marks a point.
        answers: pairs that were drawn with a known probability, shown and answered, ``user, item, value, propensity``,
            a null value where nobody answered: what ``anchored`` rests on (docs/answers.md).
        rounds: over how many rounds answers are drawn and looked at, declared before the first draw; by default what
            their file says, else 1. The level of what rests on answers is divided by it.
        users_are: ``sampled`` (what rests on answers is about users like these) or ``fixed`` (about these users alone:
            only the draw of the questions is chance).
        fixed_relevance: a pair of the log would be answered as it was logged ("would ever buy"), so that positives need
            not be asked about again; ratings and conversions are taken like that anyway.
        user_features, item_features: covariates (``user`` or ``item`` and numbers), for ``logistic`` or an outcome
            model of scikit-learn.
        candidates: ``unseen`` (default with ``train``) or ``all``.
        columns: our column names → theirs, in all files.
        drop_seen: remove training items from lists and close the ranks up.
        invalid, duplicates: what to do about wrong rows and repeated pairs (see ``read_log``).
        by: a column (of the test log or of ``users``) or ``popularity(strata=3)``: repeat the table per segment.
        level: of intervals and verdicts, from 0.5 to 0.9999.
        interval: ``normal``, or ``bootstrap`` with this many ``replicates`` and this ``seed``.
        refit: with the bootstrap, fit estimated propensities anew in every replicate, so that intervals know of it.
        per_user: keep per-user rows for ``result.per_user()``.
        refused: what to do about cells that the log cannot support: ``error``, or ``skip`` them with a warning.
        threads: by default one per core; the numbers do not depend on it.
        sample: evaluate samples of the held-out rows instead, whose users and items are less skewed, by naive alone: a
            canonical string such as ``wtd_h`` (``us.sample``). That is not debiased: docs/sample.md.
        sample_size: a share of the rows (0.5 by default) or, as a whole number, how many.
        repeats: how many samples are drawn and averaged, 10 by default; ``seed`` picks them.
        progress: called with (stage, done, total).
    """
    asked = {name: value for name, value in locals().items() if name != "progress"}
    request, say = Request.of(**asked), reporter(progress)
    return answer_request(request, read(request, say), say)


def reporter(progress: Stage | None) -> Stage:
    """What is called with (stage, done, total)."""
    if progress is not None and not callable(progress):
        raise InputError(f"progress is called with (stage, done, total); {shown(progress)} cannot be called.")
    return progress or (lambda stage, done, total: None)


class Settled(NamedTuple):
    """All that an evaluation consists of before anything is measured.

    Args:
        request: with what follows from the inputs.
    """

    request: Request
    propensity: FittedPropensity
    aligned: Aligned
    plan: EvaluationPlan
    refusals: tuple[Refusal, ...]
    outcome: FittedOutcome
    samples: DrawnSamples | None


def settle(asked: Request, inputs: Inputs, say: Stage) -> Settled:
    """Fit, align and plan: from a request and what was read for it to the rows and what is computed of them."""
    request = for_samples(asked, inputs.test, inputs.train)
    request = request if inputs.test.propensity is None else request.with_column()
    samples = draw_samples(request, inputs, say)
    check_division(inputs.test, inputs.train, request.share, request.propensity)
    say("aligning", 0, 1)
    coded = code(inputs)
    propensity = fit_propensity(request.propensity, inputs, coded)
    aligned = align(
        inputs,
        coded,
        propensity.model,
        propensity.train,
        outcome=request.outcome,
        strata_columns=request.strata_columns(),
    )
    aligned = with_draws(aligned, samples)
    planned = plan_cells(request, inputs.rules, aligned)
    request, plan = planned.request, planned.plan
    if request.outcome is not None and not request.outcome.fitted:
        say("fitting the outcome model", 0, 1)
    outcome = fit_outcome(
        request, aligned, plan, inputs.side, lambda done, total: say("adding up unseen candidates", done, total)
    )
    held = replace(aligned, held=outcome.held)
    return Settled(request, propensity, held, plan, planned.refusals, outcome, samples)


def answer_request(asked: Request, inputs: Inputs, say: Stage) -> Result:
    """From a request and what was read for it to the result."""
    request, propensity, aligned, plan, refusals, outcome, samples = settle(asked, inputs, say)
    sampled = (outcome.answers or {}).get(ADDED_UP) == SAMPLED
    against = against_answers(request, aligned, plan, inputs.drawing.rounds)
    tables, segments_lack = _measure(request, inputs, aligned, plan, samples, against, sampled, say)
    errors = error_per_comparison(tables)
    answers = tuple(answer(table, errors) for table in tables)
    refuse_no_hits(replace(aligned, held=rows_in_samples(aligned.held)), plan, answers[0].estimates)
    facts = Facts(
        asked,
        request,
        inputs,
        propensity,
        aligned,
        plan,
        refusals,
        outcome,
        answers,
        tuple(segments_lack),
        samples,
        against,
    )
    return Result(
        estimates=tuple(e for a in answers for e in a.estimates),
        verdicts_=tuple(v for a in answers for v in a.verdicts),
        weights=tuple(w for a in answers for w in a.weights),
        scenarios=with_estimate((s for a in answers for s in a.scenarios), propensity.train, inputs.side),
        inputs=account(facts),
        warnings=warnings(facts),
        rows=per_user_rows(answers[0].sums, plan, aligned.users, inputs.models) if request.per_user else None,
        metrics={str(metric): MetricTraits.of(metric) for metric in request.metrics},
    )


def _measure(
    request: Request,
    inputs: Inputs,
    aligned: Aligned,
    plan: EvaluationPlan,
    samples: DrawnSamples | None,
    against: AgainstAnswers,
    sampled: bool,
    say: Stage,
) -> tuple[list[Measured], list[str]]:
    """The sums of the whole and of every segment, and what segments lack.

    Args:
        sampled: guesses were added up over a sample of the candidates.
    """
    drawn = f"a bootstrap of {request.drawn:,} replicates"
    require(40 * request.drawn * plan.width, drawn, "Draw fewer replicates.")

    def engine(held: EvaluationData) -> MemoryEngine:
        return MemoryEngine(held, request.threads, lambda done, total: say("estimating", done, total))

    rows = engine(aligned.held)
    drawing, fixed = inputs.drawing, request.users_are == "fixed"
    setting = setting_of(request, aligned, rows)
    setting = replace(setting, rounds=drawing.rounds, design=drawing.design, fixed_users=fixed)
    setting = replace(setting, propensity_check=against.propensity, path_range=against.path, sampled_total=sampled)
    if samples is not None:
        setting = replace(setting, sample=samples.text, sample_assumption=samples.assumption)
    redraw = _redraw(request, aligned, plan, inputs, say) if request.refit else None
    whole = measure(rows, plan, setting, keep=request.per_user, redraw=redraw)
    segments, lacking = measure_segments(aligned, engine, plan, setting, request.by, inputs.population)
    return [whole, *segments], lacking


def setting_of(request: Request, aligned: Aligned, engine: Engine) -> Setting:
    """What the answer depends on besides the data."""
    model = aligned.propensity
    return Setting(
        models=tuple(request.models),
        propensity=None if model is None else str(model),
        known=model is not None and model.known,
        assumption="" if model is None else model.assumption,
        level=request.level,
        replicates=request.drawn,
        seed=request.seed,
        segment=None,
        single_clicks=single_clicks(aligned.held),
        support_gap=support_gap(aligned, engine),
        item_propensity=None if model is None else model.of_items(aligned.items),
        shortage=0.0 if aligned.level is None else aligned.level.shortage,
        seen_counts=aligned.seen_counts,
        answers_assumption="" if aligned.joined is None else rests_on(aligned.joined, request.users_are == "fixed"),
    )


def _redraw(
    request: Request, aligned: Aligned, plan: EvaluationPlan, inputs: Inputs, say: Stage
) -> Callable[[], list[Floats]]:
    """Replicates with propensities that are fitted anew."""
    return partial(
        refit_replicates,
        aligned,
        MemoryEngine(aligned.held, request.threads),
        plan,
        inputs.side,
        inputs.rules,
        replicates=request.drawn,
        seed=request.seed,
        progress=lambda done, total: say("refitting", done, total),
    )


def account(facts: Facts) -> dict[str, Any]:
    """What became of the inputs, what was asked and what was refused, as plain values."""
    request, rules, model = facts.request, facts.inputs.rules, facts.aligned.propensity
    targets = targets_for(request, rules)
    settings = {
        "metrics": [str(m) for m in request.metrics],
        "estimators": [str(e) for e in request.estimators],
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
        **({} if request.answers is None else {"users_are": request.users_are}),
    }
    refused = [vars(refusal) for refusal in facts.refusals]
    return facts.aligned.account | {
        "outcome": facts.outcome.account,
        "census": facts.outcome.census,
        **_answers(facts),
        "settings": settings,
        "refused": refused,
        **({} if facts.samples is None else {"sample": facts.samples.account}),
    }


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
