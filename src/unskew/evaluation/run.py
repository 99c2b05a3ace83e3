"""The main job: from a held-out log and recommenders' lists to debiased estimates with a verdict. Wiring only.

    request → read → code → fit the propensity → align → plan → fit the outcome model → measure → answer → word

Each step is one function of what the steps before it gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import polars as pl

from unskew.alignment.align import Aligned, align
from unskew.alignment.division import check_division
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs, Share
from unskew.alignment.vocabulary import code
from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan, Refusal
from unskew.engine.stream.spill import folder_for
from unskew.engine.sums import Sums
from unskew.estimators import Estimator
from unskew.evaluation.against_answers import against_answers
from unskew.evaluation.conclude import Ready, conclude
from unskew.evaluation.draw_samples import DrawnSamples, draw_samples, rows_in_samples, with_draws
from unskew.evaluation.expected import Expected, expect
from unskew.evaluation.fit_outcome import FittedOutcome, fit_outcome
from unskew.evaluation.fit_propensity import FittedPropensity, exposure_share, fit_propensity
from unskew.evaluation.partitions import settle_parts
from unskew.evaluation.planning import Hits, plan_cells
from unskew.evaluation.read import Stage, read
from unskew.evaluation.request import Request
from unskew.evaluation.sampled import for_samples
from unskew.evaluation.stream import StreamPartitions
from unskew.judging.measure import per_user_rows
from unskew.judging.refit import refit_replicates
from unskew.judging.segments import Division, Labels
from unskew.kernels.arrays import Floats, present
from unskew.log import Feedback
from unskew.log.extremes import Extremes
from unskew.log.log import Duplicates, Invalid
from unskew.metrics import Metric
from unskew.outcome import Outcome
from unskew.propensity import Propensity
from unskew.result import Result
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
    columns: Mapping[str, Any] | None = None,
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
    engine: Literal["memory", "stream"] | None = None,
    memory: str | int | None = None,
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
        columns: our column names → theirs, where they are not recognised, in all inputs or in one of them:
            ``{"user": "guest", "train:item": "dish"}`` (docs/files.md).
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
        engine: ``memory``; ``stream`` for Parquet files (also folders, patterns and addresses) that exceed it, read
            part by part with the same numbers; by default whichever suits (docs/huge.md).
        memory: how much ``stream`` may take, such as ``2GiB``; by default half of what is free.
        progress: called with (stage, done, total).
    """
    asked = {name: value for name, value in locals().items() if name != "progress"}
    request, say = Request.of(**asked), reporter(progress)
    expected = expect(request)
    if expected is not None and expected.engine == "stream":
        return evaluate_stream(request, expected, say)
    return answer_request(request, read(request, say), say)


def evaluate_stream(request: Request, expected: Expected, say: Stage) -> Result:
    """From files that exceed memory to the result."""
    with folder_for(expected.sizes.disk) as folder:
        parts = StreamPartitions(request, expected.sources, expected.sizes, folder, say)
        return conclude(settle_parts(request, parts, say))


def reporter(progress: Stage | None) -> Stage:
    """What is called with (stage, done, total)."""
    if progress is not None and not callable(progress):
        raise InputError(
            f"progress is called with (stage, done, total); {shown(progress)} cannot be called.", code="wrong-type"
        )
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


def settle(asked: Request, inputs: Inputs, say: Stage, column: Extremes | None = None) -> Settled:
    """Fit, align and plan: from a request and what was read for it to the rows and what is computed of them.

    Args:
        column: the extremes of the column ``propensity`` of the log that the test log is a fold of; its own by default.
    """
    request = for_samples(asked, inputs.test, inputs.train)
    request = request.with_column(column or Extremes.of(inputs.test.propensity))
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
        shares=request.trains_shares,
    )
    aligned = with_draws(aligned, samples)
    planned = plan_cells(request, inputs.rules, aligned)
    request, plan = planned.request, planned.plan
    if request.outcome is not None and not request.outcome.fitted:
        say("fitting the outcome model", 0, 1)
    outcome = fit_outcome(
        request, aligned, plan, inputs.side, lambda done, total: say("adding up unseen candidates", done, total)
    )
    held = replace(aligned, held=present(outcome.held))
    return Settled(request, propensity, held, plan, planned.refusals, outcome, samples)


def answer_request(asked: Request, inputs: Inputs, say: Stage) -> Result:
    """From a request and what was read for it to the result."""
    request, propensity, aligned, plan, refusals, outcome, samples = settle(asked, inputs, say)
    rows = MemoryRows(request, inputs, aligned, propensity, plan, say)
    redraw = rows.redraw if request.refit else None
    facts, against = InputFacts.of(inputs), against_answers(request, aligned, plan, inputs.drawing.rounds)
    given = (propensity, aligned, plan, refusals, outcome, samples, rows, redraw, inputs.drawing, against)
    return conclude(Ready(asked, request, facts, *given))


@dataclass(frozen=True, eq=False)
class MemoryRows:
    """The aligned rows of all users in memory."""

    request: Request
    inputs: Inputs
    aligned: Aligned
    propensity: FittedPropensity
    plan: EvaluationPlan
    say: Stage

    def engine(self) -> Engine:
        """All of them, ready to be summed."""
        return self._engine(self.aligned.held)

    def labels(self, division: Division) -> Labels:
        """The labels of a division that occur."""
        return Labels.of(division.labels(self.aligned.held, *self.columns))

    def segment(self, division: Division, label: str) -> Engine:
        """One segment, ready to be summed."""
        return self._engine(division.cut(label, self.aligned.held, *self.columns))

    def hits(self) -> Hits:
        """What lists hold of them."""
        return Hits.of(rows_in_samples(self.aligned.held))

    def per_user(self, sums: Sums) -> pl.DataFrame | None:
        """A row for every user."""
        return per_user_rows(sums, self.plan, self.aligned.users, self.inputs.models)

    def exposure_share(self) -> float | None:
        """The share of popularity that comes from exposure, where a random sample tells it."""
        return exposure_share(self.propensity.train, self.inputs.side)

    def redraw(self) -> list[Floats]:
        """Replicates with propensities that are fitted anew."""
        return refit_replicates(
            self.aligned,
            MemoryEngine(self.aligned.held, self.request.threads),
            self.plan,
            self.inputs.side,
            self.inputs.rules,
            replicates=self.request.drawn,
            seed=self.request.seed,
            progress=lambda done, total: self.say("refitting", done, total),
        )

    @property
    def columns(self) -> tuple[Mapping[str, pl.Series], Mapping[str, pl.Series]]:
        """The columns by which segments can be made: of the test log, and of the population."""
        population = self.inputs.population
        return self.aligned.labels, {} if population is None else population.columns

    def _engine(self, held: EvaluationData) -> Engine:
        return MemoryEngine(held, self.request.threads, lambda done, total: self.say("estimating", done, total))
