"""Worlds asked by ``us.plan``: several equally good models, a log that favours the first, and what people do.

Every model lists five items of each user, drawn by the same chances, so that all are equally good whatever the items
are worth; items are relevant at very different rates. Relevant pairs of the first model's list, and irrelevant ones of
the others, were seen more often. Questions are those of the plan's draw:

    plan         three models, one draw of so many rows
    rounds       two models, five declared rounds; answers are looked at after each, and any verdict at any look counts
    once         every user is asked at most once (systematic sampling: pairs of a user exclude each other)
    silent       a fifth of the questions is not answered, and relevant pairs of the first model's list twice as often
    census       a training log, from which the guesses come
    useless      guesses that have nothing to do with relevance
    pooled       averages over relevant pairs
    strangers    users without any row of the log, and items that the log never shows

Any verdict is wrong. Values are compared with what such models bring on average over users.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import unskew as us
from tests.anchored.worlds import Draw, Said
from tests.worlds import listed, pairs_of
from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.outcome import Given
from unskew.result import Result

USERS, ITEMS, K, ROUNDS = 300, 60, 5, 5
KINDS = ("plan", "rounds", "once", "silent", "census", "useless", "pooled", "strangers")


def rates(rate: float) -> Floats:
    """How likely each item is to be relevant: a few items are much more so than most, ``rate`` on average."""
    skewed = (np.arange(ITEMS) + 1.0) ** -0.8
    return np.asarray(np.minimum(skewed * rate / skewed.mean(), 0.95), dtype=np.float64)


def lists_of(rng: np.random.Generator, models: int, users: int = USERS) -> Ints64:
    """By [model, user, place]: likelier items stand in more lists."""
    noise = rng.gumbel(size=(models, users, ITEMS)) - 0.5 * np.log(np.arange(ITEMS) + 1.0)
    return np.argsort(-noise, axis=2)[:, :, :K]


@cache
def truth(rate: float) -> float:
    """What a list brings on average."""
    return float(rates(rate)[lists_of(np.random.default_rng(0), 1, 200_000)].sum(axis=2).mean())


def judge_plan(draw: Draw) -> Said:
    """Draw the world, plan, ask as the plan says, and evaluate."""
    rng = np.random.default_rng([draw.world, draw.questions, int(1e6 * draw.rate), KINDS.index(draw.kind)])
    models = 2 if draw.kind == "rounds" else 3
    shown = lists_of(rng, models)
    relevant = rng.random((USERS, ITEMS)) < rates(draw.rate)
    inside = np.zeros((models, USERS, ITEMS), dtype=np.bool_)
    for m in range(models):
        inside[m][np.arange(USERS)[:, None], shown[m]] = True
    first, others = inside[0], inside[1:].any(axis=0)
    chance = np.where(first & relevant, 0.5, np.where(others & ~first & ~relevant, 0.3, 0.1))
    if draw.kind == "strangers":
        chance[USERS // 2 :], chance[:, 1::7] = 0.0, 0.0
    seen = rng.random((USERS, ITEMS)) < chance
    if not (seen & relevant).any():
        return Said(False, 0, 0, 0)  # a log without any relevant pair is refused: no verdict, no values
    lists = {f"m{m}": listed(items) for m, items in enumerate(shown)}
    given: dict[str, Any] = {
        "users": pl.DataFrame({"user": np.arange(USERS)}),
        "items": pl.DataFrame({"item": np.arange(ITEMS)}),
        "feedback": "conversions",
    }
    train = rng.random((USERS, ITEMS)) < np.where(seen | first | others, 0.0, 0.3)
    more: dict[str, Any] = {"train": _rows(train, relevant)} if draw.kind == "census" else {}
    positive, decided, result = 0, False, None
    for answers in asked(draw, lists, _rows(seen, relevant), relevant, first, rng, given | {"seen": more.get("train")}):
        result = us.evaluate(
            _rows(seen, relevant), lists, metrics=[f"recall@{K}"], estimators=["anchored"], answers=answers, threads=1,
            target="pooled" if draw.kind == "pooled" else "per_user_sum", **more, **given, **_guess(draw, rng),
        )  # fmt: skip
        decided |= any(v.verdict != "undecided" for v in result.verdicts_)
        positive = result.inputs["answers"]["positive"]
    return Said(decided, positive, *_covered(draw, result))


def asked(
    draw: Draw,
    lists: dict[str, pl.DataFrame],
    log: pl.DataFrame,
    relevant: Bools,
    first: Bools,
    rng: np.random.Generator,
    given: dict[str, Any],
) -> Iterator[pl.DataFrame]:
    """The answers at every look."""
    options: dict[str, Any] = {"once": {"per_user": 1}, "rounds": {"rounds": ROUNDS}}.get(draw.kind, {})
    plan = us.plan(lists, log=log, metric=f"recall@{K}", detect="10%", threads=1, **options, **given)
    looks = ROUNDS if draw.kind == "rounds" else 1
    rows = min(draw.questions, USERS // 2 if draw.kind == "once" else draw.questions) / looks
    for _ in range(looks):
        frame = plan.draw(rows, seed=draw.world).frame
        user, item = frame["user"].to_numpy(), frame["item"].to_numpy()
        y = relevant[user, item].astype(np.float64)
        if draw.kind == "silent":
            y[rng.random(len(y)) < np.where(first[user, item] & (y > 0.0), 0.4, 0.2)] = np.nan
        answers = frame.with_columns(value=pl.Series(y).fill_nan(None))
        yield answers
        if looks > 1 and plan.round < looks:
            plan = plan.next(answers)


def _guess(draw: Draw, rng: np.random.Generator) -> dict[str, Any]:
    if draw.kind != "useless":
        return {}
    user, item = np.divmod(np.arange(USERS * ITEMS), ITEMS)
    table = {"user": user, "item": item, "prediction": rng.random(USERS * ITEMS)}
    return {"outcome": Given(pl.DataFrame(table))}


def _rows(mask: Bools, relevant: Bools) -> pl.DataFrame:
    return pairs_of(mask, value=relevant.astype(int))


def _covered(draw: Draw, result: Result | None) -> tuple[int, int]:
    """How many of the values that were given cover what such models bring, and how many were given, per two models."""
    wanted = truth(draw.rate) / (rates(draw.rate).sum() if draw.kind == "pooled" else 1.0)
    there = [] if result is None else [e for e in result.estimates if not np.isnan(e.value)][:2]
    if draw.kind == "census":
        there = []  # candidates without training items: lists bring something else on average
    return sum(bool(e.low <= wanted <= e.high) for e in there), len(there)
