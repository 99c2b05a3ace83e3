"""The main job: from a held-out log and recommenders' lists to debiased estimates with a verdict. Wiring only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from unskew.engine.held import Floats
from unskew.engine.plan import Plan, Refusal, make_plan, sift
from unskew.errors import RefusedError
from unskew.estimators import Estimator
from unskew.evaluation import beyond, cautions, missing_lists, plausible, shares
from unskew.evaluation.align import Aligned, align, training_gains
from unskew.evaluation.answer import answer
from unskew.evaluation.gather import Given, Stage, gather
from unskew.evaluation.guesses import with_guesses
from unskew.evaluation.inputs import Names, read_side
from unskew.evaluation.level import level_warnings
from unskew.evaluation.measure import Setting, error_per_comparison, measure
from unskew.evaluation.no_hits import refuse_no_hits
from unskew.evaluation.options import check_options
from unskew.evaluation.parts import measure_segments, single_clicks, support_gap
from unskew.evaluation.per_user import per_user_rows
from unskew.evaluation.question import Question
from unskew.evaluation.refit import refit_replicates
from unskew.evaluation.rules import Rules
from unskew.log import Feedback
from unskew.log.log import Duplicates, Invalid
from unskew.memory import require
from unskew.metrics import Metric
from unskew.outcome import Outcome
from unskew.propensity import Propensity, Side
from unskew.result import MetricTraits, Result

COLUMN_USED = (
    "The test log has a column 'propensity': pairs are weighed by it, as propensities that were known when pairs were "
    "shown (--propensity known). Name another with --propensity, or ask for --estimator naive alone."
)


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
    items: Any = None,
    share: float | Literal["users"] | None = None,
    mcar: Any = None,
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
    progress: Stage | None = None,
) -> Result:
    """Estimate what each model would score if everything had been seen, and say which is better.

    Args:
        test: the held-out log: a ``Log``, a path, or any dataframe.
        models: name → lists (a path, a dataframe, ``Recommendations``) or a fitted recommender; with rating metrics
            name → predictions (a path, a dataframe, an array, ``Predictions``) or a model with ``predict``.
        metrics: canonical strings such as ``recall@10`` or ``mae``.
        estimators: canonical strings; by default naive, and snips where there are propensities; with an outcome
            model naive, ips and dr, or else snips(over=list) and sndr, which do without a level.
        propensity: a canonical string (popularity is then fitted on ``seen``) or a fitted object; by default the test
            log's own column ``propensity``, where there is one.
        outcome: a model of what unseen pairs would yield, for direct, dr, sndr and switch: a canonical string such as
            ``logistic_mf(dim=10)``, or a fitted object.
        crossfit: fit the outcome model by folds of pairs (default), or in sample as saito20 does.
        target: ``per_user``, ``pooled``, ``per_user_sum``, ``per_pair``, or several; by default the usual one.
        seen: the training log. Its items are no candidates for the user, popularity is counted on it.
        feedback: what a row of the logs says; needed where there is a column ``value``.
        relevant: a threshold on the value, ``'>=4'``.
        users: the population, ``user[, relevant]``, with n_u where known; by default the users of both logs.
        items: the catalogue, a file or frame with a column ``item``: all that could be recommended, also what nobody
            saw; by default the items of both logs.
        share: the test log is a random part of the whole log with this share (a split of ours remembers it), or
            ``users``: training and test hold different users, so that propensities carry over as they are.
        mcar: a log whose pairs were seen at random, for ``naive_bayes``.
        user_features, item_features: covariates (``user`` or ``item`` and numbers), for ``logistic`` or an outcome
            model of scikit-learn.
        candidates: ``unseen`` (default with ``seen``) or ``all``.
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
        progress: called with (stage, done, total).
    """
    check_options(
        models,
        seen,
        share,
        refused,
        drop_seen,
        refit,
        interval,
        threads,
        progress,
        crossfit=crossfit,
        per_user=per_user,
    )
    names, how = Names(columns), {"feedback": feedback, "invalid": invalid, "duplicates": duplicates}
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
    given = gather(question, test, seen, users, items, models, candidates, names, how, say, share)
    unasked = question.propensity is None and given.test.propensity is not None
    question = question.with_column() if unasked else question
    say("aligning", 0, 1)
    rules = _rules(question, given, share, drop_seen=drop_seen, drop_invalid=invalid == "drop")
    side = _with_gains(read_side(mcar, user_features, item_features, names, how), rules)
    aligned = align(
        given.test,
        tuple(models),
        given.lists,
        given.predictions,
        outcome=question.outcome,
        seen=given.train,
        population=given.population,
        catalogue=given.catalogue,
        users=given.users,
        propensity=question.propensity,
        strata_columns=question.strata_columns(),
        rules=rules,
        side=side,
    )
    question = _with_others(question, given, aligned)
    plan, refusals = _planned(question, given, aligned, len(models), skip=refused == "skip")
    if question.outcome is not None and not question.outcome.fitted:
        say("fitting the outcome model", 0, 1)
    guessed = with_guesses(aligned, plan, question.outcome, side, folded=crossfit, threads=threads)
    aligned = guessed.aligned
    warnings = cautions.before(
        aligned,
        plan,
        refusals,
        refit=refit,
        by=by,
        unseen=rules.unseen,
        replicates=replicates,
    )
    if unasked and question.propensity is not None:
        warnings.append(COLUMN_USED)
    warnings += [
        *beyond.warnings(aligned, plan),
        *missing_lists.warnings(aligned, plan),
        *guessed.warnings,
        *level_warnings(aligned.level, plan),
        *shares.doubts(given.test, given.train, aligned.propensity, rules),
    ]
    setting = Setting(
        models=tuple(models),
        propensity=None if aligned.propensity is None else str(aligned.propensity),
        known=aligned.propensity is not None and aligned.propensity.known,
        assumption="" if aligned.propensity is None else aligned.propensity.assumption,
        level=level,
        replicates=question.drawn,
        seed=seed,
        threads=threads,
        progress=lambda done, total: say("estimating", done, total),
        segment=None,
        single_clicks=single_clicks(aligned.held),
        support_gap=support_gap(aligned, aligned.held),
        item_propensity=None if aligned.propensity is None else aligned.propensity.of_items(aligned.items),
        shortage=0.0 if aligned.level is None else aligned.level.shortage,
    )
    width = sum(arm.width for arm in plan.arms)
    require(40 * question.drawn * width, f"a bootstrap of {question.drawn:,} replicates", "Draw fewer replicates.")
    redraw = _redraw(aligned, plan, side, rules, setting, say) if refit else None
    whole = measure(aligned.held, plan, setting, keep=per_user, redraw=redraw)
    if guessed.ear is not None:
        warnings += plausible.outside(guessed.ear)
    parts, lacking = measure_segments(aligned, plan, setting, by, given.population)
    errors = error_per_comparison([whole, *parts])
    answers = [answer(table, errors) for table in (whole, *parts)]
    refuse_no_hits(aligned, plan, answers[0].estimates)
    about = {
        "outcome": guessed.account,
        "settings": question.settings(given.feedback, given.candidates, aligned.propensity),
        "refused": [vars(r) for r in refusals],
    }
    return Result(
        estimates=tuple(e for a in answers for e in a.estimates),
        verdicts_=tuple(v for a in answers for v in a.verdicts),
        weights=tuple(w for a in answers for w in a.weights),
        inputs=aligned.account | about,
        warnings=tuple(dict.fromkeys([*warnings, *lacking, *cautions.after(answers, refit=refit)])),
        rows=per_user_rows(answers[0], plan, aligned.users, tuple(models)) if per_user else None,
        metrics={str(metric): MetricTraits.of(metric) for metric in question.metrics},
    )


def _rules(
    question: Question, given: Given, share: float | Literal["users"] | None, *, drop_seen: bool, drop_invalid: bool
) -> Rules:
    return Rules(
        feedback=given.feedback,
        relevant=question.relevant,
        unseen=given.candidates == "unseen",
        drop_seen=drop_seen,
        drop_invalid=drop_invalid,
        share=None if share == "users" else share,
        by_users=share == "users",
        train_share=None if given.train is None else given.train.share,
        train_cut=given.train is not None and given.train.cut_by_time,
        ranks=question.ranks,
        rates=question.rates,
    )


def _with_gains(side: Side, rules: Rules) -> Side:
    """The log seen at random with its gains, like the training log."""
    return side if side.mcar is None else replace(side, mcar=replace(side.mcar, gain=training_gains(side.mcar, rules)))


def _with_others(question: Question, given: Given, aligned: Aligned) -> Question:
    """The question with other debiased estimators, where the log supports none of the usual ones.

    Nobody who gives propensities wants to read a naive answer: where the level of propensities is not known, sums can
    still be estimated by estimators that do without it; else the reasons are an error.
    """
    if question.chosen or question.propensity is None:
        return question
    targets, usual = question.targets_for(given.feedback), question.estimators_for(given.feedback)
    kept, refusals = sift(targets, usual, aligned.evidence)
    if not refusals or any(estimator.name != "naive" for estimator, _, _ in kept):
        return question
    others, _ = sift(targets, question.without_level, aligned.evidence)
    if not others:
        raise _refused(refusals)
    return replace(question, estimators=(*question.estimators, *dict.fromkeys(estimator for estimator, _, _ in others)))


def _planned(
    question: Question, given: Given, aligned: Aligned, models: int, *, skip: bool
) -> tuple[Plan, list[Refusal]]:
    """The cells that the log supports, and the others; asked-for cells that it does not are an error unless skipped."""
    targets, asked = question.targets_for(given.feedback), question.estimators_for(given.feedback)
    kept, refusals = sift(targets, asked, aligned.evidence)
    if refusals and not (kept and (skip or not question.chosen)):
        raise _refused(
            refusals, "\nTo compute the other cells and list these in the result, use --refused skip." if kept else ""
        )
    return make_plan(kept, aligned.summary, models, question.depth(aligned.held)), refusals


def _refused(refusals: Sequence[Refusal], more: str = "") -> RefusedError:
    lines = [f"{r.metric} × {r.estimator} × {r.target}: {r.reason}" for r in refusals]
    return RefusedError("this log cannot support:\n" + "\n".join(lines) + more)


def _redraw(
    aligned: Aligned, plan: Plan, side: Side, rules: Rules, setting: Setting, say: Stage
) -> Callable[[], list[Floats]]:
    """Replicates with propensities that are fitted anew."""
    return partial(
        refit_replicates,
        aligned,
        plan,
        side,
        rules,
        replicates=setting.replicates,
        seed=setting.seed,
        threads=setting.threads,
        progress=lambda done, total: say("refitting", done, total),
    )
