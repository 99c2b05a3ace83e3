"""``us.plan``: how many answers decide, and of whom to ask them. Wiring only.

read → q → look at the lists → curve → difference to detect → critical value → rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from unskew.core.bounds import THREADS, Number, Whole, shown, word
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.design.curve import curve_of
from unskew.design.deciding import critical_value, decide
from unskew.design.detect import Detect, Total, along_path, suggested, total
from unskew.design.listed import Looked, look
from unskew.design.plan import GUESSED_LOW, Parts, Plan, Settings
from unskew.design.read import PlanInputs, read
from unskew.design.relevance import relevance
from unskew.kernels.arrays import Floats
from unskew.log import Feedback
from unskew.log.fingerprints import fingerprint
from unskew.log.log import Duplicates, Invalid
from unskew.metrics import Metric, RankingMetric, make
from unskew.outcome import Outcome

Stage = Callable[[str, int, int], None]
LENGTH = 100  # of lists that a fitted model makes for a metric without a cut-off


def plan(
    models: Mapping[str, Any],
    *,
    log: Any,
    seen: Any = None,
    detect: float | str = "log",
    power: float = 0.8,
    metric: str | Metric = "recall@10",
    outcome: str | Outcome | None = None,
    uniform: float = 0.25,
    per_user: int | None = None,
    not_users: Any = None,
    not_items: Any = None,
    users: Any = None,
    items: Any = None,
    users_are: Literal["sampled", "fixed"] = "sampled",
    level: float = 0.95,
    simultaneous: bool = True,
    rounds: int = 1,
    answers: Any = None,
    fixed_relevance: bool = False,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    columns: Mapping[str, Any] | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    threads: int | None = None,
    progress: Stage | None = None,
) -> Plan:
    """How many answers decide each pair of models, drawn at random and drawn where lists differ.

    Args:
        models: name → lists (a path, a dataframe, ``Recommendations``) or a fitted recommender; at least two.
        log: the held-out log. With zeros (conversions, ratings with a threshold), its pairs are not asked about again;
            of positives only, they may be.
        seen: what users had before: no candidates.
        detect: the difference to detect: a number (0.01), a share of the lesser value ('5%'), or 'log' (default), the
            least difference that the log suggests along the exposure path.
        power: the chance of a right verdict that is wanted.
        metric: a sum over items, such as ``recall@10`` or ``dcg@10``.
        outcome: the model of relevance that shapes the draw; by default census, means, or popularity.
        uniform: the share of a draw that is spread over all candidates alike, so that values can be estimated, too; 0
            serves verdicts only.
        per_user: ask each user about at most so many pairs, in every round.
        not_users, not_items: who may not be asked, what may not be shown: files or frames with ``user`` or ``item``.
        users: the population; by default the users of both logs.
        items: further items of the catalogue; by default those of logs and lists.
        users_are: ``sampled`` (verdicts are about users like these) or ``fixed`` (about these users only).
        level: of the verdicts; divided over declared rounds.
        simultaneous: one level for all pairs of models together, as verdicts have it; else each alone (1.96).
        rounds: how often answers are looked at, declared before the first draw.
        answers: the file of the last round with answers in ``value``: the plan of the next round.
        fixed_relevance: a pair of the log would be answered as it was logged ("would ever buy"): a log of positives
            only is then taken as known, and pairs are drawn outside it. Declare the same to ``evaluate``.
        feedback, relevant, columns, invalid, duplicates: how files are read (see ``evaluate``).
        threads: by default one per core; the numbers do not depend on it.
        progress: called with (stage, done, total).
    """
    power = float(Number(low=0.05, below=1.0).of(power, "power"))
    level = float(Number(low=0.5, high=0.9999).of(level, "level"))
    uniform = float(Number(low=0.0, high=0.95).of(uniform, "uniform"))
    rounds = int(Whole(1, 100).of(rounds, "rounds"))
    per_user = None if per_user is None else int(Whole(1, 10**6).of(per_user, "per_user"))
    threads = None if threads is None else int(THREADS.of(threads, "threads"))
    word(users_are, ("sampled", "fixed"), "users_are")
    if not isinstance(fixed_relevance, bool):
        raise InputError(
            f"fixed_relevance must be True or False, not {shown(fixed_relevance)}.",
            code="wrong-type",
            option="fixed_relevance",
        )
    wanted, fixed, say = Detect.of(detect), users_are == "fixed", progress or (lambda stage, done, total: None)
    measure = _metric(metric)
    say("reading", 0, 1)
    found = read(
        models, log, seen, length=measure.k or LENGTH, feedback=feedback, relevant=relevant, users=users, items=items,
        not_users=not_users, not_items=not_items, columns=columns, invalid=invalid, duplicates=duplicates,
        fixed_relevance=fixed_relevance,
    )  # fmt: skip
    lists = list(found.lists.values())
    worth = measure.table(max(each.depth for each in lists))
    say("fitting relevance", 0, 1)
    q = relevance(outcome, found.log, found.seen, found.candidates, found.positives_only)
    say("looking at lists", 0, 1)
    looked = look(
        lists, worth, found.candidates, q.of, found.judged, uniform=uniform, per_user=per_user, threads=threads
    )
    if not len(looked.design.item):
        raise InputError(
            "the lists do not differ in any pair that can be asked about, so that no answer could tell the models "
            "apart.\nGive other models, or a metric with a larger cut-off.",
            code="equal-lists",
        )
    say("planning", 0, 1)
    curve, sums = curve_of(looked), total(found.candidates, q.of, found.judged)
    critical = critical_value(looked.stakes, curve, fixed, 1.0 - (1.0 - level) / rounds, simultaneous)
    settings = Settings(
        metric=str(measure),
        detect=str(wanted),
        level=level,
        power=power,
        critical=critical,
        simultaneous=simultaneous,
        users_are=users_are,
        rounds=rounds,
        uniform=uniform,
        per_user=per_user,
        relevance=q.name,
        positives_only=found.positives_only,
        fixed_relevance=fixed_relevance,
        users=int(np.count_nonzero(found.candidates.asked)),
        items=len(found.candidates.pool),
        candidates=int(found.candidates.sizes().sum()),
        relevant=sums.value,
        relevant_error=sums.error,
    )
    drawn_for = tuple(fingerprint(each, measure.k or len(worth) - 1) for each in lists)
    detected = _detected(wanted, found, looked, sums, worth)
    guessed = [GUESSED_LOW] * (found.positives_only and outcome is None)
    made = Plan(
        models=tuple(found.lists),
        pairs=(),
        settings=settings,
        notes=(*guessed, *found.notes, *_notes(looked, sums), *_undeclared(found)),
        questions=(),
        parts=Parts(looked, curve, detected, lists, worth, q.of, drawn_for),
        sources=tuple(
            Path(each)
            for each in (log, seen, users, items, not_users, not_items, *models.values())
            if isinstance(each, str | PathLike)
        ),
    )
    return decide(made) if answers is None else made.next(answers)


def _metric(given: str | Metric) -> RankingMetric:
    metric = make(given)
    if not isinstance(metric, RankingMetric) or not metric.additive:
        raise InputError(
            f"'{metric}' is no sum over items, and answers about single pairs cannot decide it.\n"
            "Plan with recall@10, precision@10, dcg@10 or another sum.",
            code="not-a-sum",
            metric=metric,
        )
    return metric


def _detected(wanted: Detect, found: PlanInputs, looked: Looked, sums: Total, worth: Floats) -> Floats:
    """T by [model, model]."""
    value = looked.stakes.value
    if wanted.kind == "share":
        return wanted.size * np.minimum(value[:, None], value[None, :])
    if wanted.kind == "number":
        _check_size(wanted.size, looked, sums)
        return np.full((len(value), len(value)), wanted.size * sums.value)
    return sums.value * suggested(along_path(found.log, found.seen, list(found.lists.values()), worth))


def _check_size(size: float, looked: Looked, sums: Total) -> None:
    """What no two lists could differ by, even if all that sets them apart were relevant, is a slip: 5 for 5%."""
    value, ahead = looked.stakes.value, looked.stakes.ahead
    most = float(np.max(np.abs(value[:, None] - value[None, :]) + np.maximum(ahead, ahead.T)))
    if sums.value > 0.0 and size * sums.value > most > 0.0:
        raise InputError(
            f"detect is {size:g}, and no two of these lists can differ by more than {most / sums.value:.3g}.\n"
            f"Give a smaller number, or a share of the lesser value ('{size:g}%').",
            code="out-of-range",
            option="detect",
        )


def _undeclared(found: PlanInputs) -> list[str]:
    """That a log of positives may be taken as known, if that is declared."""
    if found.known:
        return []
    return [
        Notice(
            "Pairs of the log may be asked about again. Where they would be answered as they were logged, say so with "
            "fixed_relevance=True: only pairs outside the log are then drawn.",
            code="relevance-not-fixed",
        )
    ]


def _notes(looked: Looked, sums: Total) -> list[Notice]:
    notes, stakes = [], looked.stakes
    if stakes.barred:
        notes.append(
            Notice(
                f"{stakes.barred:,} pairs in which lists differ may not be asked about (not_users=…, not_items=…): "
                "verdicts are then about the other users and items only.",
                code="barred-pairs",
                pairs=stakes.barred,
            )
        )
    if sums.value > 0.0 and sums.error > 0.1 * sums.value:
        notes.append(
            Notice(
                f"The number of relevant pairs, {sums.value:,.0f}, comes from a sample of the candidates and is known "
                f"to ± {1.96 * sums.error:,.0f} only: a difference given as a number or by the log is as uncertain.",
                code="sampled-total",
            )
        )
    return notes
