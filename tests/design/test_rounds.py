"""Rounds, limits and what a plan draws from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.design.shop import Shop, shop
from tests.said import only, refuses
from unskew.core.notice import codes


@pytest.fixture(scope="module")
def world() -> Shop:
    return shop(users=30, items=20, k=4, seed=2)


def planned(world: Shop, **options: object) -> us.Plan:
    given = {"log": world.log, "seen": world.seen, "metric": "recall@4", "feedback": "conversions", **options}
    return us.plan(world.models, **given)  # type: ignore[arg-type]


def answered(world: Shop, frame: pl.DataFrame) -> pl.DataFrame:
    y = world.truth[frame["user"].to_numpy(), frame["item"].to_numpy()]
    return frame.with_columns(value=pl.Series(y))


def test_logs_with_zeros_are_not_asked_about_again_and_positives_are(world: Shop) -> None:
    """MATHS §16: unseen candidates where the log has zeros, all candidates where it holds positives only."""
    had = {tuple(row) for row in world.log.select("user", "item").iter_rows()}
    before = {tuple(row) for row in world.seen.select("user", "item").iter_rows()}
    zeros = planned(world, uniform=0.5).draw(300, seed=1).frame
    assert not (had | before) & set(zeros.select("user", "item").iter_rows())
    assert planned(world, log=world.log.filter(pl.col("value") > 0)).settings.positives_only
    plan = us.plan(
        world.models, log=world.positives(), seen=world.seen.select("user", "item"), metric="recall@4", uniform=0.5
    )
    assert plan.settings.positives_only and plan.settings.candidates == plan.settings.users * 20 - len(before)
    drawn = set(plan.draw(300, seed=1).frame.select("user", "item").iter_rows())
    assert had & drawn and not before & drawn


def test_declared_fixed_relevance_draws_outside_a_log_of_positives(world: Shop) -> None:
    """What a user took would be answered so again: these pairs count as relevant, and are not asked about."""
    given = {"log": world.positives(), "seen": world.seen.select("user", "item"), "metric": "recall@4", "uniform": 0.5}
    plan = us.plan(world.models, fixed_relevance=True, **given)  # type: ignore[arg-type]
    had = {*world.positives().rows(), *world.seen.select("user", "item").rows()}
    assert plan.settings.candidates == plan.settings.users * 20 - len(had)
    assert not had & set(plan.draw(300, seed=1).frame.select("user", "item").iter_rows())
    undeclared = us.plan(world.models, **given)  # type: ignore[arg-type]
    mine, theirs = plan.parts.looked.stakes, undeclared.parts.looked.stakes
    known = world.positives().rows()
    for m, items in enumerate(world.lists.values()):
        hits = [(u, i) for u, i in known if i in items[u]]
        chance = plan.parts.q(*(np.array(side, dtype=np.int32) for side in zip(*sorted(hits), strict=True)))
        assert mine.value[m] - theirs.value[m] == pytest.approx(len(hits) - chance.sum())
    with refuses("wrong-type", option="fixed_relevance"):
        us.plan(world.models, fixed_relevance="yes", **given)  # type: ignore[arg-type]


def test_rows_of_rounds_have_the_probability_of_all_draws_together(world: Shop) -> None:
    """Over many seeds a pair is in the second round's file as often as its propensity says; answers stay."""
    plan = planned(world, rounds=3, per_user=3)
    seeds, counts, told = 200, np.zeros((30, 20)), np.full((30, 20), np.nan)
    for seed in range(seeds):
        first = answered(world, plan.draw(25, seed).frame)
        later = plan.next(first)
        assert later.round == 2
        both = later.draw(30, seed).frame
        u, i = both["user"].to_numpy(), both["item"].to_numpy()
        assert both.select("user", "item").is_unique().all()
        assert both.filter(pl.col("round") == 1)["value"].null_count() == 0
        counts[u, i] += 1
        told[u, i] = both["propensity"].to_numpy()
    often = ~np.isnan(told) & (told > 0.05)
    error = np.sqrt(told * (1 - told) / seeds)
    assert np.abs((counts / seeds - told)[often] / error[often]).max() < 4.5
    one, two = (both[f"propensity_{r}"].to_numpy() for r in (1, 2))
    assert np.allclose(both["propensity"], 1 - (1 - one) * (1 - two))


def test_a_changed_plan_does_not_continue(world: Shop, tmp_path: Path) -> None:
    """Other limits, too many rounds, a lost column, a wrong answer."""
    plan = planned(world, rounds=2)
    first = answered(world, plan.draw(25, 0).frame)
    with refuses("other-inputs", column="propensity_1", row=0):
        planned(world, rounds=2, uniform=0.5, answers=first)
    spoilt: list[tuple[str, dict[str, Any], pl.DataFrame]] = [
        ("out-of-range", {"column": "round", "value": 2}, plan.next(first).draw(20, 0).frame),
        ("missing-column", {"column": "rows_1"}, first.drop("rows_1")),
        ("out-of-range", {"column": "value", "row": 0}, first.with_columns(value=pl.lit(7.0))),
        ("repeated-pair", {}, pl.concat([first, first[:1]])),
        ("out-of-range", {"column": "barred"}, first.with_columns(barred=pl.lit(-1))),
        ("out-of-range", {"column": "round", "value": 0}, first.clear()),
    ]
    for code, fields, answers in spoilt:
        with refuses(code, **fields):
            plan.next(answers)
    with refuses("undeclared-rounds"):
        planned(world).next(first)
    with refuses("other-rounds", declared=2):
        planned(world, rounds=3).next(first)
    first.with_columns(value=pl.when(pl.int_range(pl.len()) > 2).then("value")).write_csv(tmp_path / "a.csv")
    only("answered", plan.next(tmp_path / "a.csv").notes, lacking=3)


def test_whom_and_what_not_to_ask(world: Shop) -> None:
    """Nobody on the list is asked, nothing on it is shown, and what that leaves open is said."""
    no_users, no_items = pl.DataFrame({"user": [0, 1, 2, 99]}), pl.DataFrame({"item": [3, 4]})
    plan = planned(world, not_users=no_users, not_items=no_items, uniform=0.5)
    drawn = plan.draw(200, seed=4).frame
    assert not set(drawn["user"]) & {0, 1, 2} and not set(drawn["item"]) & {3, 4} and len(drawn) > 150
    assert "barred-pairs" in codes(plan.notes)
    only("unknown-id", plan.notes, option="not_users", ids=1)
    with refuses("nothing-to-ask", option="not_items"):
        planned(world, not_items=pl.DataFrame({"item": range(20)}))


def test_what_a_plan_refuses(world: Shop) -> None:
    """One model, equal lists, metrics that are no sums, graded values."""
    with refuses("missing-argument", option="models"):
        us.plan({"good": world.models["good"]}, log=world.log, feedback="conversions")
    same = {"a": world.models["good"], "b": world.models["good"]}
    with refuses("equal-lists"):
        us.plan(same, log=world.log, seen=world.seen, feedback="conversions")
    with refuses("not-a-sum"):
        planned(world, metric="ndcg@4")
    with refuses("out-of-range", column="value"):
        planned(world, log=world.log.with_columns(value=pl.lit(4.0)))


def test_a_plan_is_written_and_read(world: Shop, tmp_path: Path) -> None:
    """The draw as a file, the table, the page; the same seed gives the same draw whatever the order of rows."""
    plan = planned(world)
    drawn = plan.draw(60, seed=5)
    drawn.write(tmp_path / "ask.parquet")
    assert pl.read_parquet(tmp_path / "ask.parquet").columns == ["user", "item", "propensity", "drawn_for"]
    mixed = {name: frame.sample(fraction=1.0, shuffle=True, seed=1) for name, frame in world.models.items()}
    log = world.log.sample(fraction=1.0, shuffle=True, seed=2)
    again = us.plan(mixed, log=log, seen=world.seen, metric="recall@4", feedback="conversions")
    assert again.draw(60, seed=5).frame.equals(drawn.frame)
    assert not plan.draw(60, seed=6).frame.equals(drawn.frame)
    with refuses("wrong-extension"):
        drawn.write(tmp_path / "ask.txt")
    assert plan.table().height == 3 and plan.to_dict()["settings"]["metric"] == "recall@4"
    power = plan.power([30, 300, 500])
    assert (power.sort("a", "b", "rows").group_by("a", "b", maintain_order=True).agg(
        pl.col("power").diff().drop_nulls().min()
    )["power"] >= -1e-9).all()  # fmt: skip
    plan.to_html(tmp_path / "plan.html")
    page = (tmp_path / "plan.html").read_text()
    assert "<svg" in page and "decide" in page
