"""The main job: from a held-out log and recommenders' lists to debiased estimates with a verdict. Wiring only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np
import polars as pl

from unskew import estimators as _estimators
from unskew import metrics as _metrics
from unskew import propensity as _propensity
from unskew.align import Aligned, align, clicks_per_user
from unskew.answer import Answer, Setting, answer
from unskew.engine.held import Held
from unskew.engine.plan import Plan, Refusal, make_plan, sift
from unskew.errors import InputError, RefusedError
from unskew.estimators import Estimator, Need, Target
from unskew.inputs import Names, as_lists, as_log, told_feedback
from unskew.log import Feedback, Ids, Log
from unskew.log.log import Duplicates, Invalid
from unskew.log.population import Population, read_population
from unskew.metrics import RankingMetric, Shape
from unskew.propensity import Propensity
from unskew.result import Result
from unskew.segments import segments

Stage = Callable[[str, int, int], None]
T = TypeVar("T")
DEEPEST = 1_000_000  # ranks beyond this are no ranks


def evaluate(
    test: Any,
    models: Mapping[str, Any],
    *,
    metrics: Sequence[str | RankingMetric] = ("recall@10",),
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | Propensity | None = None,
    target: str | Sequence[str] | None = None,
    seen: Any = None,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    users: Any = None,
    candidates: Literal["unseen", "all"] | None = None,
    columns: Mapping[str, str] | None = None,
    drop_seen: bool = False,
    invalid: Invalid = "error",
    duplicates: Duplicates = "error",
    by: str | None = None,
    level: float = 0.95,
    interval: Literal["normal", "bootstrap"] = "normal",
    replicates: int = 1000,
    seed: int = 0,
    per_user: bool = False,
    refused: Literal["error", "skip"] = "error",
    threads: int | None = None,
    progress: Stage | None = None,
) -> Result:
    """Estimate what each model would score if everything had been seen, and say which is better.

    Args:
        test: the held-out log: a ``Log``, a path, or any dataframe.
        models: name → lists (a path, a dataframe, ``Recommendations``) or a fitted recommender.
        metrics: canonical strings such as ``recall@10``.
        estimators: canonical strings; by default naive, and snips and gs where there are propensities.
        propensity: a canonical string (popularity is then fitted on ``seen``) or a fitted object.
        target: ``per_user``, ``pooled``, ``per_user_sum``, or several; the default depends on the feedback.
        seen: the training log. Its items are no candidates for the user, popularity is counted on it.
        feedback: what a row of the logs says; needed where there is a column ``value``.
        relevant: a threshold on the value, ``'>=4'``.
        users: the population, ``user[, relevant]``, with n_u where known; by default the users of both logs.
        candidates: ``unseen`` (default with ``seen``) or ``all``.
        columns: our column names → theirs, in all files.
        drop_seen: remove training items from lists and close the ranks up.
        invalid, duplicates: what to do about wrong rows and repeated pairs (see ``read_log``).
        by: a column (of the test log or of ``users``) or ``popularity(strata=3)``: repeat the table per segment.
        level: of intervals and verdicts.
        interval: ``normal``, or ``bootstrap`` with this many ``replicates`` and this ``seed``.
        per_user: keep per-user rows for ``result.per_user()``.
        refused: what to do about cells that the log cannot support: ``error``, or ``skip`` them with a warning.
        threads: by default one per core; the numbers do not depend on it.
        progress: called with (stage, done, total).
    """
    _check(models, level, interval, replicates)
    wanted = _once(_metrics.make(m) for m in metrics)
    given = None if propensity is None else _propensity.make(propensity)
    chosen = _once(_estimators.make(e) for e in estimators or _default_estimators(given))
    say = progress or (lambda stage, done, total: None)
    say("reading logs", 0, 1)
    keep = _strata_columns(chosen)
    how: dict[str, Any] = {"feedback": feedback, "invalid": invalid, "duplicates": duplicates}
    names = Names(columns)
    population = None
    if users is not None:
        population = read_population(users, columns=names.of_users, keep=_segment_column(by), invalid=invalid)
    row_column = [] if population is not None and by in population.columns else _segment_column(by)
    log = as_log(test, name="test", columns=names.of_test, keep=[*keep, *row_column], **how)
    train = None
    if seen is not None:
        train = as_log(seen, name="train", columns=names.of_train, keep=_strata_columns(chosen, training=True), **how)
    told = told_feedback(log, relevant)
    if train is not None and train.value is not None and train.feedback is None and told is Feedback.IMPLICIT:
        told_feedback(train, relevant)
    targets = [Target.make(t) for t in _listed(target)] or [Target.default(told)]
    everyone = _everyone(log, train, population)
    pool = candidates or ("all" if train is None else "unseen")
    if pool == "unseen" and train is None:
        raise InputError(
            "candidates 'unseen' are the items outside the user's training data: give --train (seen=train)."
        )
    k = max((m.k or 100) for m in wanted)
    exclude = train if pool == "unseen" else None
    lists = _read_lists(models, everyone, k, exclude, names.of_lists, invalid, say)
    say("aligning", 0, 1)
    aligned = align(
        log,
        lists,
        seen=train,
        population=population,
        users=everyone,
        propensity=given,
        feedback=told,
        relevant=relevant,
        candidates=pool,
        drop_seen=drop_seen,
        drop_invalid=invalid == "drop",
        strata_columns=keep,
    )
    kept, refusals = sift(wanted, chosen, targets, aligned.evidence)
    _refuse(refusals, refused, bool(kept))
    depth = _depth(wanted, aligned.held)
    plan = make_plan(kept, aligned.summary, len(models), depth)
    warnings = [*aligned.warnings, *_warnings(aligned, plan, lists, refusals, interval)]
    setting = Setting(
        models=tuple(models),
        propensity=None if aligned.propensity is None else str(aligned.propensity),
        level=level,
        replicates=replicates if interval == "bootstrap" else 0,
        seed=seed,
        threads=threads,
        progress=lambda done, total: say("estimating", done, total),
        segment=None,
        single_clicks=_single_clicks(aligned.held),
        support_gap=_support_gap(aligned, aligned.held),
    )
    answers = [answer(aligned.held, plan, setting, keep=per_user)]
    for name, held in list(segments(aligned, by, population))[1:]:
        answers.append(_segment_answer(name, held, aligned, plan, setting, warnings))
    if answers[0].lost_replicates:
        warnings.append(f"{answers[0].lost_replicates:,} bootstrap replicates had an empty divisor and were dropped.")
    if any(np.isnan(e.value) for a in answers for e in a.estimates):
        warnings.append("Some estimates do not exist because no user counts for them; they are shown as NaN.")
    settings = {
        "metrics": [str(m) for m in wanted],
        "estimators": [str(e) for e in chosen],
        "targets": [str(t) for t in targets],
        "propensity": setting.propensity,
        "feedback": str(told),
        "relevant": relevant,
        "candidates": pool,
        "level": level,
        "interval": interval,
        "replicates": setting.replicates,
        "seed": seed,
        "by": by,
    }
    return Result(
        estimates=tuple(e for a in answers for e in a.estimates),
        verdicts_=tuple(v for a in answers for v in a.verdicts),
        weights=tuple(w for a in answers for w in a.weights),
        inputs=aligned.account | {"settings": settings, "refused": [vars(r) for r in refusals]},
        warnings=tuple(dict.fromkeys(warnings)),
        rows=_per_user_rows(answers[0], plan, aligned.users, tuple(models)) if per_user else None,
    )


def _check(models: Mapping[str, Any], level: float, interval: str, replicates: int) -> None:
    if not models:
        raise InputError("there is nothing to evaluate: give at least one model (--recs name=lists.parquet).")
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not {level:g}.")
    if interval not in ("normal", "bootstrap"):
        raise InputError(f"interval must be normal or bootstrap, not '{interval}'.")
    if interval == "bootstrap" and replicates < 50:
        raise InputError(f"a bootstrap needs at least 50 replicates, not {replicates}.")


def _default_estimators(propensity: Propensity | None) -> list[str | Estimator]:
    return ["naive"] if propensity is None else ["naive", "snips", "gs(strata=5)"]


def _once(parts: Iterable[T]) -> list[T]:
    """Each part once, by its canonical text."""
    return list({str(part): part for part in parts}.values())


def _strata_columns(estimators: Sequence[Estimator], *, training: bool = False) -> list[str]:
    """The columns by which strata are made; of the training log only those whose shares are measured there."""
    found = []
    for estimator in estimators:
        inner: Any = getattr(estimator, "inner", estimator)
        measured = not training or getattr(inner, "shares", None) == "train"
        if measured and getattr(inner, "strata", None) and inner.strata.column:
            found.append(inner.strata.column)
    return list(dict.fromkeys(found))


def _listed(target: str | Sequence[str] | None) -> list[str]:
    return [] if target is None else [target] if isinstance(target, str) else list(dict.fromkeys(target))


def _segment_column(by: str | None) -> list[str]:
    return [] if by is None or "(" in by or by in ("popularity", "policy") else [by]


def _everyone(test: Log, train: Log | None, population: Population | None) -> Ids:
    if population is not None:
        return population.users
    if train is None or train.users is test.users:
        return test.users
    return Ids.of(test.users.values, train.users.values)


def _read_lists(
    models: Mapping[str, Any],
    users: Ids,
    k: int,
    seen: Log | None,
    columns: Mapping[str, str] | None,
    invalid: Invalid,
    say: Stage,
) -> dict[str, Any]:
    """The lists of every model, two at a time: reading one file waits for the disk while the other is coded."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = {
            name: pool.submit(
                as_lists, source, name=name, users=users, k=k, seen=seen, columns=columns, invalid=invalid
            )
            for name, source in models.items()
        }
        found = {}
        for done, (name, job) in enumerate(jobs.items()):
            say(f"lists of {name}", done, len(jobs))
            found[name] = job.result()
        return found


def _refuse(refusals: Sequence[Refusal], refused: str, any_left: bool) -> None:
    if not refusals or (refused == "skip" and any_left):
        return
    lines = [f"{r.metric} × {r.estimator} × {r.target}: {r.reason}" for r in refusals]
    more = "" if not any_left else "\nTo compute the other cells and list these in the result, use --refused skip."
    raise RefusedError("this log cannot support:\n" + "\n".join(lines) + more)


def _depth(metrics: Sequence[RankingMetric], held: Held) -> int:
    """The deepest rank that can be worth something."""
    depth = max((m.k for m in metrics if m.k is not None), default=1)
    if any(m.k is None for m in metrics):
        depth = max(depth, *(lists.depth for lists in held.lists))
    if any(m.k is None and m.shape is Shape.IDEAL for m in metrics):
        depth = max(depth, int(np.diff(held.indptr).max(initial=1)))
    if depth > DEEPEST:
        raise InputError(
            f"a list holds rank {depth:,}: metrics without a cut-off need ranks up to {DEEPEST:,}. Add @k."
        )
    return depth


def _warnings(
    aligned: Aligned, plan: Plan, lists: Mapping[str, Any], refusals: Sequence[Refusal], interval: str
) -> list[str]:
    warnings = []
    for name, account in aligned.account["models"].items():
        deep = sorted({m.k for arm in plan.arms for m in arm.metrics if m.k and m.k > account["longest_rank"]})
        if deep:
            warnings.append(
                f"{name}: no list goes beyond rank {account['longest_rank']}; metrics at {', '.join(map(str, deep))} "
                "count everything deeper as missed."
            )
    if refusals:
        warnings.append(f"{len(refusals)} cells are not shown because the log cannot support them (see 'refused').")
    pooled = any(arm.target is Target.POOLED and arm.estimator.name != "naive" for arm in plan.arms)
    if pooled and aligned.propensity is not None and aligned.propensity.name == "popularity":
        warnings.append(
            "Popularity propensities ignore how active a user is: pooled estimates weigh users by activity."
        )
    silent = any(arm.target is Target.PER_USER_SUM for arm in plan.arms)
    if silent and aligned.account["users"]["population_is"] != "given":
        warnings.append(
            "Sums are averaged over the users of the given logs; users who were silent in all of them are not known "
            "and would lower the averages. Give the whole population with --users."
        )
    if aligned.held.relevant is not None and interval == "normal" and aligned.held.users < 50:
        warnings.append(f"Normal intervals over {aligned.held.users} users are rough.")
    return warnings


def _single_clicks(held: Held) -> float:
    clicks = clicks_per_user(held)
    return clicks["1"] / max(sum(clicks.values()), 1)


def _support_gap(aligned: Aligned, held: Held) -> float | None:
    if aligned.training_counts is None:
        return None
    used = held.item[held.value > 0.0]
    return float(np.mean(aligned.training_counts[used] == 0)) if len(used) else None


def _segment_answer(
    name: str | None, held: Held, aligned: Aligned, plan: Plan, setting: Setting, warnings: list[str]
) -> Answer:
    """The same plan over a part; arms that need n_u or |C_u| are left out where a part has none."""
    if held.candidates is None:
        needy = {Need.RELEVANT, Need.CANDIDATES}
        kept = [arm for arm in plan.arms if not needy & arm.estimator.needs(arm.target)]
        if len(kept) < len(plan.arms):
            warnings.append(
                "Segments of interactions have no n_u and no number of candidates: estimators that divide by them are "
                "left out there."
            )
        arms = [(arm.estimator, arm.target, arm.metrics) for arm in kept]
        plan = make_plan(arms, aligned.summary, len(setting.models), plan.arms[0].depth)
    own = replace(setting, segment=name, single_clicks=_single_clicks(held), support_gap=_support_gap(aligned, held))
    return answer(held, plan, own)


def _per_user_rows(found: Answer, plan: Plan, users: Ids, models: Sequence[str]) -> pl.DataFrame:
    """Long table of per-user numerators and divisors (the first factor) of every cell."""
    x = np.concatenate(found.sums.x)
    parts = []
    for cell in plan.cells:
        arm = plan.arms[cell.arm]
        for j, model in enumerate(models):
            parts.append(
                pl.DataFrame(
                    {
                        "user": users.values,
                        "model": [model] * len(x),
                        "metric": [str(arm.metrics[cell.metric])] * len(x),
                        "estimator": [str(arm.estimator)] * len(x),
                        "target": [str(arm.target)] * len(x),
                        "numerator": x[:, cell.columns[j]],
                        "divisor": x[:, cell.columns[len(models)]],
                    }
                )
            )
    return pl.concat(parts)
