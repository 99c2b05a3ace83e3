"""The main job: from a held-out log and recommenders' lists to debiased estimates with a verdict. Wiring only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl

from unskew.engine.held import Held
from unskew.engine.memory import AnyArm
from unskew.engine.plan import Plan, Refusal, make_plan, sift
from unskew.engine.rated import RatedArm
from unskew.errors import RefusedError
from unskew.estimators import Estimator, Need
from unskew.evaluation import cautions, shares
from unskew.evaluation.align import Aligned, align, clicks_per_user
from unskew.evaluation.answer import Answer, Setting, answer
from unskew.evaluation.gather import Stage, check_options, gather
from unskew.evaluation.guesses import with_guesses
from unskew.evaluation.inputs import Names, as_log
from unskew.evaluation.question import Question
from unskew.evaluation.refit import refit_replicates
from unskew.evaluation.rules import Rules
from unskew.evaluation.segments import segments
from unskew.log import (
    Feedback,
    Ids,
    read_features,
)
from unskew.log.log import Duplicates, Invalid
from unskew.log.relevance import train_gains
from unskew.metrics import Metric, RankingMetric
from unskew.outcome import Outcome
from unskew.propensity import Propensity, Side
from unskew.result import Result


def evaluate(
    test: Any,
    models: Mapping[str, Any],
    *,
    metrics: Sequence[str | Metric] = ("recall@10",),
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | Propensity | None = None,
    outcome: str | Outcome | None = None,
    crossfit: bool = True,
    target: str | Sequence[str] | None = None,
    seen: Any = None,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    users: Any = None,
    share: float | Literal["users"] | None = None,
    mcar: Any = None,
    user_features: Any = None,
    item_features: Any = None,
    candidates: Literal["unseen", "all"] | None = None,
    columns: Mapping[str, str] | None = None,
    drop_seen: bool = False,
    invalid: Invalid = "error",
    duplicates: Duplicates = "error",
    by: str | None = None,
    level: float = 0.95,
    interval: Literal["normal", "bootstrap"] = "normal",
    replicates: int = 1000,
    refit: bool = False,
    seed: int = 0,
    per_user: bool = False,
    refused: Literal["error", "skip"] = "error",
    threads: int | None = None,
    progress: Stage | None = None,
) -> Result:
    """Estimate what each model would score if everything had been seen, and say which is better.

    Args:
        test: the held-out log: a ``Log``, a path, or any dataframe.
        models: name → lists (a path, a dataframe, ``Recommendations``) or a fitted recommender; with rating metrics
            name → predictions (a path, a dataframe, an array, ``Predictions``) or a model with ``predict``.
        metrics: canonical strings such as ``recall@10`` or ``mae``.
        estimators: canonical strings; by default naive, and snips and gs where there are propensities.
        propensity: a canonical string (popularity is then fitted on ``seen``) or a fitted object.
        outcome: a model of what unseen pairs would yield, for direct, dr, sndr and switch: a canonical string such as
            ``logistic_mf(dim=10)``, or a fitted object.
        crossfit: fit the outcome model by folds of pairs (default), or in sample as saito20 does.
        target: ``per_user``, ``pooled``, ``per_user_sum``, ``per_pair``, or several; by default the usual one.
        seen: the training log. Its items are no candidates for the user, popularity is counted on it.
        feedback: what a row of the logs says; needed where there is a column ``value``.
        relevant: a threshold on the value, ``'>=4'``.
        users: the population, ``user[, relevant]``, with n_u where known; by default the users of both logs.
        share: the test log is a random part of the whole log with this share (a split of ours remembers it), or
            ``users``: training and test hold different users, so that propensities carry over as they are.
        mcar: a log whose pairs were seen at random, for ``naive_bayes``.
        user_features, item_features: covariates (``user`` or ``item`` and numbers), for ``logistic``.
        candidates: ``unseen`` (default with ``seen``) or ``all``.
        columns: our column names → theirs, in all files.
        drop_seen: remove training items from lists and close the ranks up.
        invalid, duplicates: what to do about wrong rows and repeated pairs (see ``read_log``).
        by: a column (of the test log or of ``users``) or ``popularity(strata=3)``: repeat the table per segment.
        level: of intervals and verdicts.
        interval: ``normal``, or ``bootstrap`` with this many ``replicates`` and this ``seed``.
        refit: with the bootstrap, fit estimated propensities anew in every replicate, so that intervals know of it.
        per_user: keep per-user rows for ``result.per_user()``.
        refused: what to do about cells that the log cannot support: ``error``, or ``skip`` them with a warning.
        threads: by default one per core; the numbers do not depend on it.
        progress: called with (stage, done, total).
    """
    check_options(models, seen, share, refused, drop_seen, refit, interval, threads)
    names = Names(columns)
    question = Question.of(
        metrics,
        estimators,
        propensity,
        outcome,
        target,
        columns=names.of_guesses,
        invalid=invalid,
        relevant=relevant,
        by=by,
        level=level,
        interval=interval,
        replicates=replicates,
        seed=seed,
    )
    question.check_folds(crossfit)
    say = progress or (lambda stage, done, total: None)
    say("reading logs", 0, 1)
    how = {"feedback": feedback, "invalid": invalid, "duplicates": duplicates}
    given = gather(question, test, seen, users, models, candidates, names, how, say, share == "users")
    say("aligning", 0, 1)
    rules = Rules(
        feedback=given.feedback,
        relevant=relevant,
        unseen=given.candidates == "unseen",
        drop_seen=drop_seen,
        drop_invalid=invalid == "drop",
        share=None if share == "users" else share,
        by_users=share == "users",
        train_share=None if given.train is None else given.train.share,
        ranks=question.ranks,
        rates=question.rates,
    )
    side = _side(mcar, user_features, item_features, names, how, rules)
    aligned = align(
        given.test,
        tuple(models),
        given.lists,
        given.predictions,
        outcome=question.outcome,
        seen=given.train,
        population=given.population,
        users=given.users,
        propensity=question.propensity,
        strata_columns=question.strata_columns(),
        rules=rules,
        side=side,
    )
    kept, refusals = sift(
        question.targets_for(given.feedback), question.estimators_for(given.feedback), aligned.evidence
    )
    _refuse(refusals, skip=refused == "skip" or not question.chosen, any_left=bool(kept))
    plan = make_plan(kept, aligned.summary, len(models), question.depth(aligned.held))
    guessed = with_guesses(aligned, plan, question.outcome, side, folded=crossfit, threads=threads)
    aligned = guessed.aligned
    warnings = cautions.before(
        aligned,
        plan,
        refusals,
        refit=refit,
        random=mcar is not None,
        by=by,
        unseen=rules.unseen,
        replicates=replicates,
    )
    warnings += [*guessed.warnings, *shares.doubts(given.test, given.train, aligned.propensity, rules)]
    setting = Setting(
        models=tuple(models),
        propensity=None if aligned.propensity is None else str(aligned.propensity),
        level=level,
        replicates=question.drawn,
        seed=seed,
        threads=threads,
        progress=lambda done, total: say("estimating", done, total),
        segment=None,
        single_clicks=_single_clicks(aligned.held),
        support_gap=_support_gap(aligned, aligned.held),
    )
    redraw = None
    if refit:
        redraw = partial(
            refit_replicates, aligned, plan, side, rules, replicates=question.drawn, seed=seed, threads=threads,
            progress=lambda done, total: say("refitting", done, total),
        )  # fmt: skip
    answers = [answer(aligned.held, plan, setting, keep=per_user, redraw=redraw)]
    for name, held in segments(aligned, by, given.population):
        answers.append(_segment_answer(name, held, aligned, plan, setting, warnings))
    settings = question.settings(given.feedback, given.candidates, aligned.propensity)
    return Result(
        estimates=tuple(e for a in answers for e in a.estimates),
        verdicts_=tuple(v for a in answers for v in a.verdicts),
        weights=tuple(w for a in answers for w in a.weights),
        inputs=aligned.account
        | {"outcome": guessed.account, "settings": settings, "refused": [vars(r) for r in refusals]},
        warnings=tuple(dict.fromkeys([*warnings, *cautions.after(answers, refit=refit)])),
        rows=_per_user_rows(answers[0], plan, aligned.users, tuple(models)) if per_user else None,
    )


def _side(
    mcar: Any, user_features: Any, item_features: Any, names: Names, how: Mapping[str, Any], rules: Rules
) -> Side:
    """What a propensity may be fitted on beside the training log."""
    random = None
    if mcar is not None:
        random = as_log(mcar, name="mcar", columns=names.of_train, **how)
        random = replace(
            random, gain=train_gains(random, rules.feedback, rules.relevant) if rules.ranks else np.ones(len(random))
        )
    return Side(
        mcar=random,
        user_features=None if user_features is None else read_features(user_features, "user", invalid=how["invalid"]),
        item_features=None if item_features is None else read_features(item_features, "item", invalid=how["invalid"]),
    )


def _refuse(refusals: Sequence[Refusal], *, skip: bool, any_left: bool) -> None:
    if not refusals or (skip and any_left):
        return
    lines = [f"{r.metric} × {r.estimator} × {r.target}: {r.reason}" for r in refusals]
    more = "" if not any_left else "\nTo compute the other cells and list these in the result, use --refused skip."
    raise RefusedError("this log cannot support:\n" + "\n".join(lines) + more)


def _single_clicks(held: Held) -> float:
    clicks = clicks_per_user(held)
    return clicks["1"] / max(sum(clicks.values()), 1)


def _support_gap(aligned: Aligned, held: Held) -> float | None:
    if aligned.training_counts is None:
        return None
    used = held.item[held.value > 0.0]
    return float(np.mean(aligned.training_counts[used] == 0)) if len(used) else None


def _segment_answer(
    name: str, held: Held, aligned: Aligned, plan: Plan, setting: Setting, warnings: list[str]
) -> Answer:
    """The same plan over a part; arms that need n_u or |C_u| are left out where a part has none."""
    if held.candidates is None:
        every = (*plan.arms, *plan.points)
        kept = [(arm.estimator, arm.target, good) for arm in every if (good := _in_part(arm))]
        if sum(len(good) for *_, good in kept) < sum(len(arm.metrics) for arm in every):
            warnings.append(
                "Segments of interactions have no n_u and no number of candidates: estimators that divide by them are "
                "left out there."
            )
        plan = make_plan(kept, aligned.summary, len(setting.models), every[0].depth)
    own = replace(setting, segment=name, single_clicks=_single_clicks(held), support_gap=_support_gap(aligned, held))
    return answer(held, plan, own)


def _in_part(arm: AnyArm) -> tuple[Metric, ...]:
    """The metrics that an arm can give for a part of the interactions, of which n_u and |C_u| are not known."""
    if {Need.RELEVANT, Need.CANDIDATES, Need.OUTCOME, Need.LISTS} & arm.estimator.needs(arm.target):
        return ()
    needy = isinstance(arm, RatedArm)  # averages over pairs take |C_u| into the worth of a rank
    return tuple(m for m in arm.metrics if not (needy and isinstance(m, RankingMetric)))


def _per_user_rows(found: Answer, plan: Plan, users: Ids, models: Sequence[str]) -> pl.DataFrame:
    """Long table of per-user numerators and divisors: of every cell the first factor of each term."""
    x = np.concatenate(found.sums.x)
    parts = []
    for cell in plan.cells:
        arm = plan.arms[cell.arm]
        named = {"metric": str(arm.metrics[cell.metric]), "estimator": str(arm.estimator), "target": str(arm.target)}
        for term, ((a, b), *_) in enumerate(cell.form.places):
            for j, model in enumerate(models):
                numbers = {"numerator": x[:, cell.columns[a[j]]], "divisor": x[:, cell.columns[b[j]]]}
                texts = {name: pl.lit(text) for name, text in {"model": model, **named}.items()}
                rows = pl.DataFrame({"user": users.values} | numbers).with_columns(**texts, term=pl.lit(term + 1))
                parts.append(rows.select("user", *texts, "term", *numbers))
    return pl.concat(parts)
