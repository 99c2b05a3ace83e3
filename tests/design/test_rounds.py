"""Rounds, limits and what a plan draws from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.design.shop import Shop, shop
from unskew.design.draw import draw
from unskew.design.plan import Plan, round_stream
from unskew.design.rounds import together
from unskew.errors import InputError


@pytest.fixture(scope="module")
def world() -> Shop:
    return shop(users=30, items=20, k=4, seed=2)


def planned(world: Shop, **options: object) -> Plan:
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
    plan = us.plan(
        world.models, log=world.positives(), seen=world.seen.select("user", "item"), metric="recall@4", uniform=0.5
    )
    assert plan.settings.positives_only and plan.settings.candidates == plan.settings.users * 20 - len(before)
    drawn = set(plan.draw(300, seed=1).frame.select("user", "item").iter_rows())
    assert had & drawn and not before & drawn


def test_declared_fixed_relevance_draws_outside_a_log_of_positives(world: Shop, tmp_path: Path) -> None:
    """What a user took would be answered so again: these pairs count as relevant, and are not asked about."""
    given = {"log": world.positives(), "seen": world.seen.select("user", "item"), "metric": "recall@4", "uniform": 0.5}
    plan = us.plan(world.models, fixed_relevance=True, **given)  # type: ignore[arg-type]
    had = {*world.positives().rows(), *world.seen.select("user", "item").rows()}
    assert plan.settings.candidates == plan.settings.users * 20 - len(had)
    assert not had & set(plan.draw(300, seed=1).frame.select("user", "item").iter_rows())
    plan.to_html(tmp_path / "plan.html")
    assert "declared fixed" in (tmp_path / "plan.html").read_text()
    undeclared = us.plan(world.models, **given)  # type: ignore[arg-type]
    mine, theirs = plan.parts.looked.stakes, undeclared.parts.looked.stakes
    known = world.positives().rows()
    for m, items in enumerate(world.lists.values()):
        hits = [(u, i) for u, i in known if i in items[u]]
        chance = plan.parts.q(*(np.array(side, dtype=np.int32) for side in zip(*sorted(hits), strict=True)))
        assert mine.value[m] - theirs.value[m] == pytest.approx(len(hits) - chance.sum())
    with pytest.raises(InputError, match="fixed_relevance must be True or False"):
        us.plan(world.models, fixed_relevance="yes", **given)  # type: ignore[arg-type]


def test_conversions_without_a_zero_are_positives_only(world: Shop) -> None:
    """As ``evaluate`` has it: nothing says what was seen and not taken, so that such a log is not taken as known."""
    positives = world.log.filter(pl.col("value") > 0)
    plan = planned(world, log=positives)
    assert plan.settings.positives_only
    assert plan.settings.candidates == plan.settings.users * 20 - len(world.seen)


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


def test_coverage_grows_over_rounds_as_the_product_says(world: Shop) -> None:
    """After r of four rounds a candidate was asked about with chance 1 − Π(1 − π_r): all candidates, by frequency."""
    design = planned(world, rounds=4, per_user=2).parts.looked.design
    shape = len(design.candidates.users), len(design.candidates.items)
    user, item = (side.ravel().astype(np.int64) for side in np.indices(shape))
    sizes, seeds = (20.0, 25.0, 10.0, 30.0), 1_500
    scales = [design.scale(size) for size in sizes]
    each = np.stack([design.of(user, item, scale) for scale in scales], axis=1)
    counts = np.zeros((len(sizes), *shape))
    for seed in range(seeds):
        asked = np.zeros(shape, dtype=bool)
        for r, scale in enumerate(scales):
            drawn = draw(design, scale, round_stream(seed, r + 1))
            asked[drawn.user, drawn.item] = True
            counts[r] += asked
    for r in range(len(sizes)):
        promised = together(each[:, : r + 1]).reshape(shape)
        error = np.sqrt(promised * (1 - promised) / seeds)
        assert (np.abs(counts[r] / seeds - promised) <= 5.0 * error + 1e-12).all()  # 5: of 2,400 comparisons


def test_a_changed_plan_does_not_continue(world: Shop, tmp_path: Path) -> None:
    """Other limits, too many rounds, a lost column, a wrong answer: errors that name column and row."""
    plan = planned(world, rounds=2)
    first = answered(world, plan.draw(25, 0).frame)
    with pytest.raises(InputError, match=r"(?s)propensity_1.*row 1.*per_user"):
        planned(world, rounds=2, uniform=0.5, answers=first)
    with pytest.raises(InputError, match="between 1 and 1"):
        plan.next(plan.next(first).draw(20, 0).frame)
    with pytest.raises(InputError, match="no column 'rows_1'"):
        plan.next(first.drop("rows_1"))
    with pytest.raises(InputError, match="'value' must lie between 0 and 1; row 1"):
        plan.next(first.with_columns(value=pl.lit(7.0)))
    with pytest.raises(InputError, match="rounds=3"):
        planned(world).next(first)
    with pytest.raises(InputError, match="2 rounds were declared, not 3"):
        planned(world, rounds=3).next(first)
    first.with_columns(value=pl.when(pl.int_range(pl.len()) > 2).then("value")).write_csv(tmp_path / "a.csv")
    assert any("3 that were asked about are not" in note for note in plan.next(tmp_path / "a.csv").notes)


def test_whom_and_what_not_to_ask(world: Shop) -> None:
    """Nobody on the list is asked, nothing on it is shown, and what that leaves open is said."""
    no_users, no_items = pl.DataFrame({"user": [0, 1, 2, 99]}), pl.DataFrame({"item": [3, 4]})
    plan = planned(world, not_users=no_users, not_items=no_items, uniform=0.5)
    drawn = plan.draw(200, seed=4).frame
    assert not set(drawn["user"]) & {0, 1, 2} and not set(drawn["item"]) & {3, 4} and len(drawn) > 150
    assert any("may not be asked about" in note for note in plan.notes)
    assert any("1 of 4 users are not known" in note for note in plan.notes)
    with pytest.raises(InputError, match="not_items=… names every item"):
        planned(world, not_items=pl.DataFrame({"item": range(20)}))


def test_what_a_plan_refuses(world: Shop) -> None:
    """One model, equal lists, metrics that are no sums, graded values."""
    with pytest.raises(InputError, match="at least two"):
        us.plan({"good": world.models["good"]}, log=world.log, feedback="conversions")
    same = {"a": world.models["good"], "b": world.models["good"]}
    with pytest.raises(InputError, match="do not differ"):
        us.plan(same, log=world.log, seen=world.seen, feedback="conversions")
    with pytest.raises(InputError, match="no sum over items"):
        planned(world, metric="ndcg@4")
    with pytest.raises(InputError, match="relevant or not"):
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
    with pytest.raises(InputError, match=r"\.parquet or \.csv"):
        drawn.write(tmp_path / "ask.txt")
    assert plan.table().height == 3 and plan.to_dict()["settings"]["metric"] == "recall@4"
    power = plan.power([30, 300, 500])
    assert (power.sort("a", "b", "rows").group_by("a", "b", maintain_order=True).agg(
        pl.col("power").diff().drop_nulls().min()
    )["power"] >= -1e-9).all()  # fmt: skip
    plan.to_html(tmp_path / "plan.html")
    page = (tmp_path / "plan.html").read_text()
    assert "<svg" in page and "Power over rows" in page and "decide" in page
