"""The order of many models, and the group that cannot be told from the best."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from tests.report.made_up import INPUTS, NAN, estimate, grid, traits, verdict
from tests.report.over_scenarios import MANY, over
from tests.report.reading import Reader, printed
from unskew.core.notice import Notice
from unskew.report import notebook, page
from unskew.report.leaderboard import best_group
from unskew.report.view import View
from unskew.result import Result


def compared(values: Mapping[str, float], half: float = 0.01, metric: str = "recall@10", **changes: Any) -> Result:
    """Models with these values, told apart where they lie further apart than ``half``."""
    lower = traits([metric])[metric].lower_is_better
    estimates = [estimate(m, value, 0.02, metric=metric, **changes) for m, value in values.items()]
    verdicts = []
    for a, b in itertools.combinations(values, 2):
        apart = values[a] - values[b]
        word = "undecided" if not abs(apart) > half else "better" if (apart < 0) == lower else "worse"
        verdicts.append(verdict(a, b, apart, half, metric=metric, verdict=word, **changes))
    return Result(tuple(estimates), tuple(verdicts), (), INPUTS, (), traits=traits([metric]))


def rows(result: Result) -> list[tuple[int | None, str, str, bool]]:
    table = result.leaderboard().select("place", "model", "against_best", "in_best_group")
    return [(place, model, against, group) for place, model, against, group in table.iter_rows()]


def said(result: Result) -> list[str]:
    """The sentence on the order: codes of what is said, and the names between them."""
    view = View.of(result)
    assert view.headline is not None
    spans = best_group(view, view.headline).spans
    return [getattr(s.text, "code", s.text) for s in spans if s.kind == "name" or isinstance(s.text, Notice)]


def test_models_stand_in_order_with_the_group_of_the_best() -> None:
    """By value; who is not behind the first belongs to its group, whatever the intervals of single values."""
    result = compared({"c": 0.1, "a": 0.3, "b": 0.295, "d": 0.28})
    assert rows(result) == [
        (1, "a", "", True), (2, "b", "undecided", True), (3, "d", "worse", False), (4, "c", "worse", False),
    ]  # fmt: skip
    assert said(result) == ["a", "first", "not-told-apart", "b"]


def test_of_errors_the_smallest_comes_first() -> None:
    assert [row[1] for row in rows(compared({"a": 0.9, "b": 0.5, "c": 0.7}, metric="mae"))] == ["b", "c", "a"]
    more = {"a": 0.9, "b": 0.5, "c": 0.7, "d": 0.8}
    assert said(compared(more, metric="mae")) == ["b", "first", "others-behind"]
    assert said(compared(more, estimator="naive")) == ["a", "first-on-log", "others-behind"]


def test_equal_values_share_a_place() -> None:
    """A third model is told from the best only if it is behind all that share the first place."""
    result = compared({"a": 0.3, "b": 0.3, "c": 0.2})
    assert rows(result) == [(1, "a", "", True), (1, "b", "undecided", True), (3, "c", "worse", False)]
    half = (*result.verdicts_[:2], verdict("b", "c", 0.1, 0.2))
    assert rows(Result(result.estimates, half, (), INPUTS, (), traits=result.traits))[2] == (3, "c", "worse", True)


def test_what_has_no_value_has_no_place() -> None:
    """It comes last, and nothing is said of it; without any value there is no order."""
    result = compared({"a": NAN, "b": 0.2, "c": 0.1})
    assert rows(result) == [(1, "b", "", True), (2, "c", "worse", False), (None, "a", "", False)]
    assert json.loads(json.dumps(result.to_dict()))["leaderboard"][2]["value"] is None
    nothing = compared(dict.fromkeys("abcd", NAN))
    assert [row[0] for row in rows(nothing)] == [None] * 4
    assert said(nothing) == ["no-estimates"] and page(nothing)


def test_over_scenarios_the_order_is_of_averages_and_depends_is_marked() -> None:
    """The range of all intervals; who is behind the first in every scenario is told from it, nobody else."""
    result = over(MANY)
    table = result.leaderboard()
    averages = {e.model: (e.value, e.low, e.high) for e in result.estimates if e.estimator == "exposure_path"}
    assert table["model"].to_list() == sorted(averages, key=lambda model: -averages[model][0])
    assert list(zip(table["value"], table["low"], table["high"], strict=True)) == [averages[m] for m in table["model"]]
    signs = {frozenset((d.a, d.b)): set(d.sign) for d in result.scenarios[0].differences}
    for row in table.iter_rows(named=True):
        everywhere = row["place"] > 1 and signs[frozenset(("model 00", row["model"]))] == {1}
        somewhere = row["place"] > 1 and signs[frozenset(("model 00", row["model"]))] == {1, 0}
        assert row["in_best_group"] is not everywhere and bool(row["turns"]) is somewhere
        assert (row["against_best"] == "behind in part") is somewhere
    behind = table.filter(table["against_best"] == "behind in part")["model"].to_list()
    assert 0 < len(behind) < 13
    assert said(result) == ["model 00", "first-on-average", "behind-in-part", *behind]


def test_it_is_shown_everywhere_from_four_models_on() -> None:
    """A table on the terminal and in the notebook; three models need none; pages and files have it always."""
    for models, shown in ((["a"], False), (["a", "b", "c"], False), (["a", "b", "c", "d"], True)):
        result = grid(models, ["recall@10", "dcg@10"], ["naive", "snips"])
        for text in (printed(result), notebook(result)):
            assert ("Leaderboard, " in text) is shown
        assert bool(Reader(page(result)).rows("leaderboard")) is (len(models) > 1)
        assert len(result.to_dict()["leaderboard"]) == 2 * len(models)
    (first, *_) = Reader(page(result)).rows("leaderboard")
    assert first["model"] == "d" and first["place"] == "1" and first["best group"] == "yes"
