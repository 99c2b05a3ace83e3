"""Files that do not fit get one error that names them, and what to do."""

from __future__ import annotations

import polars as pl
import pytest

import unskew as us
from tests.design.shop import Shop, shop
from tests.said import only, refuses
from unskew.log import Feedback
from unskew.log.answers import read_answers


@pytest.fixture(scope="module")
def world() -> Shop:
    return shop(users=60, items=25, k=4)


def plan(world: Shop, models: dict[str, pl.DataFrame], **options: object) -> us.Plan:
    return us.plan(
        models, log=world.log, seen=world.seen, feedback="conversions", metric="recall@4", detect="30%",
        **options,  # type: ignore[arg-type]
    )  # fmt: skip


def test_lists_of_other_users(world: Shop) -> None:
    """All of them: an error with both kinds of ids; some of them: a note with their number."""
    strange = world.models["fair"].with_columns(user=pl.lit("u") + pl.col("user").cast(pl.String))
    with refuses("unknown-id", model="fair", lists=60):
        plan(world, {"good": world.models["good"], "fair": strange})
    moved = pl.when(pl.col("user") < 30).then("user").otherwise(1000 + pl.col("user"))
    half = world.models["fair"].with_columns(user=moved)
    found = plan(world, {"good": world.models["good"], "fair": half})
    only("outside-population", found.notes, model="fair", rows=30)
    only("missing-lists", found.notes, model="fair", users=30)


def test_answers_of_a_draw_without_rounds(world: Shop) -> None:
    """They can be evaluated, and no later round can follow them."""
    models = {name: world.models[name] for name in ("good", "fair")}
    answers = plan(world, models).draw(40).frame.with_columns(value=pl.lit(1.0))
    with refuses("missing-column", column="round"):
        plan(world, models, rounds=2, answers=answers)


@pytest.mark.parametrize("said", [["yes", "no"], ["1", " False "], ["N", None]])
def test_answers_in_words(said: list[str | None]) -> None:
    """Nothing says which word means relevant; numbers as text, truth values and nulls are taken."""
    answers = pl.DataFrame({"user": [1, 2], "item": [3, 4], "value": said, "propensity": [0.5, 0.5]})
    with refuses("not-a-number", column="value"):
        read_answers(answers, Feedback.CONVERSIONS)
    for taken in (["1", None], [True, False]):
        assert read_answers(answers.with_columns(value=pl.Series(taken)), Feedback.CONVERSIONS) is not None


def test_a_difference_that_no_lists_can_have(world: Shop) -> None:
    """5 in place of 5%."""
    models = {name: world.models[name] for name in ("good", "fair")}
    with refuses("out-of-range", option="detect"):
        us.plan(models, log=world.log, seen=world.seen, feedback="conversions", metric="recall@4", detect=5)
