"""Lists that learnt from the answers by which they are judged: never better, and never without the condition."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.design.shop import Shop, shop
from tests.said import only, refuses
from tests.worlds import listed
from unskew.core.notice import codes
from unskew.log import Ids
from unskew.models import MostPopular
from unskew.result import Result, Verdict

USERS, ITEMS, K = 150, 40, 5
LISTS = "lists-before-answers"
GIVEN: dict[str, Any] = {
    "users": pl.DataFrame({"user": range(USERS)}),
    "items": pl.DataFrame({"item": range(ITEMS)}),
    "feedback": "conversions",
}


def world(seed: int = 0, rate: float = 0.25) -> Shop:
    return shop(USERS, ITEMS, K, seed, rate=rate)


def planned(here: Shop, models: dict[str, Any], **options: Any) -> us.Plan:
    given = GIVEN | {"metric": f"recall@{K}", "detect": "10%"} | options
    return us.plan(models, log=here.log, seen=here.seen, **given)


def answered(here: Shop, asked: pl.DataFrame) -> pl.DataFrame:
    value = here.truth[asked["user"].to_numpy(), asked["item"].to_numpy()]
    return asked.with_columns(value=pl.Series(value))


def judged(here: Shop, models: dict[str, Any], answers: Any, **options: Any) -> Result:
    asked: dict[str, Any] = {"metrics": [f"recall@{K}"], "target": "per_user_sum", "estimators": ["anchored"]}
    return us.evaluate(here.log, models, train=here.seen, answers=answers, threads=1, **GIVEN, **asked | options)


def learnt(lists: np.ndarray, answers: pl.DataFrame) -> np.ndarray:
    """What was answered well comes first, what was not is gone, the rest of the list follows."""
    liked, others = ({(u, i) for u, i, v in answers.select("user", "item", "value").rows() if v == y} for y in (1, 0))
    out = lists.copy()
    for u, own in enumerate(lists):
        first = [i for i in range(ITEMS) if (u, i) in liked]
        rest = [i for i in (*own, *range(ITEMS)) if i not in first and (u, i) not in others]
        out[u] = list(dict.fromkeys([*first, *rest]))[:K]
    return out


def the(result: Result) -> Verdict:
    (verdict,) = result.verdicts_
    return verdict


def conditioned(verdict: Verdict) -> list[str]:
    """The models whose lists must have been made before the answers."""
    told = verdict.assumption if LISTS in codes([verdict.assumption]) else ""
    return [name for name in ("good", "poor", "learnt") if re.search(rf"\b{name}\b", told)]


def favouring(lists: np.ndarray, answers: pl.DataFrame) -> np.ndarray:
    """What was answered well comes first, and the rest of the list follows, whatever was answered of it."""
    liked: dict[int, list[int]] = {}
    for user, item in answers.filter(pl.col("value") == 1).select("user", "item").rows():
        liked.setdefault(user, []).append(item)
    return np.array([list(dict.fromkeys([*liked.get(u, []), *own]))[:K] for u, own in enumerate(lists)])


@pytest.mark.parametrize("learn", [learnt, favouring])
def test_learnt_lists_are_not_named(learn: Callable[[np.ndarray, pl.DataFrame], np.ndarray]) -> None:
    """Worlds of few and many answers: no winner, whatever says so, and what is shown of them can be."""
    withheld = 0
    for seed in range(12):
        here = world(seed, rate=(0.08, 0.25)[seed % 2])
        models = {name: here.models[name] for name in ("good", "fair")}
        answers = answered(here, planned(here, models).draw((100, 100, 400, 400)[seed % 4], seed).frame)
        new = listed(learn(here.lists["fair"], answers))
        result = judged(here, {"good": models["good"], "learnt": new}, answers)
        verdict, (good, other) = the(result), result.estimates
        assert verdict.verdict == "undecided", (seed, verdict)
        assert conditioned(verdict) == ["learnt"] and other.assumption == verdict.assumption != good.assumption
        assert " learnt " in only("learnt-from-answers", result.warnings)
        assert all(math.isnan(e.value) or 0.0 <= e.low <= e.high <= K for e in result.estimates)
        withheld += "learnt-list" in verdict.codes and math.isnan(other.value)
    assert withheld >= 3  # what nothing else would have found


def test_impossible_values_are_refused_and_so_is_the_verdict() -> None:
    """More relevant items than lists hold: nothing but lists that know the answers comes to that."""
    here = world(6)
    models = {name: here.models[name] for name in ("good", "fair")}
    answers = answered(here, planned(here, models).draw(400, 6).frame)
    lists = learnt(here.lists["fair"], answers)
    lists[:20] = here.lists["fair"][:20]  # not all of it: what is held and left out shows nothing then
    result = judged(here, {"good": models["good"], "learnt": listed(lists)}, answers)
    _, value = result.estimates
    assert math.isnan(value.value) and math.isnan(value.low)
    assert the(result).verdict == "undecided" and math.isnan(the(result).low)
    assert codes([value.trust]) == codes([the(result).trust]) == ("impossible-value",)
    assert value.trust in only("no-numbers", result.warnings)


def test_the_lists_of_the_plan_stay_better_however_they_come(tmp_path: Path) -> None:
    """CSV, Parquet and JSON, of lists and of answers, rows in another order, models that are fitted here."""
    here = world()
    popular = MostPopular().fit(us.Log.from_frame(here.seen, feedback="conversions"))
    plan = planned(here, {"good": here.models["good"], "popular": popular}, uniform=0.0)
    asked = plan.draw(400, 1)
    asked.write(tmp_path / "ask.csv")
    answers = answered(here, asked.frame)
    answered(here, pl.read_csv(tmp_path / "ask.csv")).write_csv(tmp_path / "answers.csv")
    answers.write_parquet(tmp_path / "answers.parquet")
    answers.write_ndjson(tmp_path / "answers.jsonl")
    here.models["good"].reverse().write_csv(tmp_path / "good.csv")
    made = popular.recommend(Ids(pl.Series(range(USERS))), K, seen=us.Log.from_frame(here.seen, feedback="conversions"))
    made.to_frame().write_parquet(tmp_path / "popular.parquet")
    good, mixed = here.models["good"], answers.sample(fraction=1.0, shuffle=True).to_pandas()
    every = [
        judged(here, {"good": good, "popular": popular}, answers),
        judged(here, {"a": tmp_path / "good.csv", "b": tmp_path / "popular.parquet"}, tmp_path / "answers.csv"),
        judged(here, {"good": good, "popular": made}, mixed),
        judged(here, {"good": good, "popular": made}, tmp_path / "answers.parquet"),
        judged(here, {"good": good, "popular": made}, tmp_path / "answers.jsonl"),
    ]
    for result in every:
        assert the(result).verdict == "better"
        assert conditioned(the(result)) == [] and "learnt-from-answers" not in codes(result.warnings)


def test_changed_lists_get_the_condition_and_so_do_answers_without_a_fingerprint() -> None:
    """One place of one user is enough, and only who changed is named; deeper places than the plan's were never told."""
    here = world()
    models = {name: here.models[name] for name in ("good", "poor")}
    answers = answered(here, planned(here, models, metric="recall@3").draw(400, 1).frame)
    three = {"metrics": ["recall@3"]}
    assert the(judged(here, models, answers, **three)).verdict == "better"
    swapped = models["poor"].with_columns(
        rank=pl.when(pl.col("user") == 7).then(pl.col("rank").replace({1: 2, 2: 1})).otherwise("rank")
    )
    changed = the(judged(here, models | {"poor": swapped}, answers, **three))
    assert changed.verdict == "ahead" and conditioned(changed) == ["poor"]
    old = the(judged(here, models, answers.drop("drawn_for"), users_are="fixed", **three))
    assert old.verdict == "ahead" and conditioned(old) == ["good", "poor"]
    deeper = judged(here, models, answers, metrics=["recall@3", f"recall@{K}"])
    assert [v.verdict for v in deeper.verdicts_] == ["better", "ahead"]
    assert [conditioned(v) for v in deeper.verdicts_] == [[], ["good", "poor"]]


def test_rounds_keep_the_lists_of_the_first() -> None:
    """Later rounds vouch for nothing that came after the first answers."""
    here = world()
    models = {name: here.models[name] for name in ("good", "poor")}
    plan = planned(here, models, rounds=2)
    first = answered(here, plan.draw(200, 0).frame)
    (told,) = first["drawn_for"].unique()
    both = answered(here, plan.next(first).draw(200, 0).frame)
    assert both["drawn_for"].unique().to_list() == [told]
    assert the(judged(here, models, both)).verdict == "better"
    assert "drawn_for" not in plan.next(first.drop("drawn_for")).draw(200, 0).frame.columns
    other = models | {"poor": models["poor"].with_columns(rank=K + 1 - pl.col("rank"))}  # the same chances
    with refuses("other-lists"):
        planned(here, other, rounds=2, answers=first)


@pytest.mark.parametrize("wrong", ["all", "0123456789abcdef@5x", None])
def test_what_is_no_fingerprint_is_named(wrong: str | None) -> None:
    here = world()
    models = {name: here.models[name] for name in ("good", "poor")}
    answers = answered(here, planned(here, models).draw(50, 0).frame)
    spoilt = answers.with_columns(
        drawn_for=pl.when(pl.int_range(pl.len()) == 2).then(pl.lit(wrong)).otherwise("drawn_for")
    )
    with refuses("bad-value", column="drawn_for"):
        judged(here, models, spoilt)
