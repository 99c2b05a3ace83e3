"""What depends on what the log cannot tell: in words, tables, charts and files, never as a point with an interval."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.report.made_up import ASSUMED, NAN, estimate, verdict
from tests.report.over_scenarios import (
    AHEAD,
    BOX,
    CLOSE,
    MANY,
    NOT_COVERED,
    OPEN,
    TURNS,
    Line,
    over,
)  # fmt: skip
from tests.report.reading import first, flat, heading, matches, names, printed, title_told, told
from tests.said import only
from unskew.core.notice import codes
from unskew.propensity.known import Certain
from unskew.report import notebook, page


def test_a_pair_that_depends_says_where_it_turns() -> None:
    """In the sentence where, and what naive would have said."""
    result = over(TURNS)
    said, shown = first(result), str(first(result))
    assert heading(result) == ("depends", ["als", "popular"]) and names(said) == ["als", "popular"]
    assert told(said) == ("depends", "naive-decides") and result.verdicts_[-1].turns in shown
    assert shown in flat(printed(result)) and shown in re.sub(r"<[^>]+>| (?= )", "", flat(notebook(result)))


def test_a_pair_in_which_nobody_is_ever_behind_is_ahead_up_to_there() -> None:
    """It has no headline of one that changes hands: who is ahead is known, and up to where."""
    for lines in (OPEN, dict(reversed(OPEN.items()))):
        result = over(lines)
        where = result.verdicts_[-1].turns.partition("is ahead ")[2].rstrip(".")
        said = first(result)
        assert names(said) == ["als", "popular"] and told(said)[0] == "ahead-in-part" and where in str(said)
        assert title_told(result) == ("ahead-in-part",) and heading(result)[1] == ["als", "popular"]
        (table,) = result.scenarios
        both = replace(
            table, differences=tuple(replace(row, sign=(-row.sign[0], *row.sign[1:])) for row in table.differences)
        )
        turning = replace(result, scenarios=(both,))
        assert title_told(turning) == () and heading(turning) == ("depends", [*lines])
    assert names(first(over(OPEN, metric="rmse")))[0] == "popular"
    assert {"ahead-in-part"}.isdisjoint(told(first(over(AHEAD))) + told(first(over(CLOSE))))


def test_what_another_estimator_turns_round_changes_hands() -> None:
    """Its scenarios are no less likely, unless answers leave none of them."""
    result = over(OPEN)
    (table,) = result.scenarios
    swapped = over({"als": (0.1, 0.1), "popular": (0.3, 0.3)}).scenarios[0].differences
    other = replace(table, estimator="tilted(odds=4)", differences=swapped)
    narrow = replace(other, left=(0.0, 0.0), points=tuple((1.0,) for _ in other.points))
    for beside, kinds in ((other, ()), (narrow, ("ahead-in-part",))):
        assert title_told(replace(result, scenarios=(table, beside))) == kinds


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ({**OPEN, "last": (0.1, 0.05)}, ("depends", ["als"])),
        ({**TURNS, "last": (0.1, 0.1)}, ("depends", ["als", "popular"])),
        (MANY, ("depends", ["model 00"])),
        (AHEAD, ("ahead", ["als", "popular"])),
        (CLOSE, ("undecided", ["als", "popular"])),
    ],
    ids=["never behind", "two may be", "of many", "ahead", "close"],
)
def test_who_comes_first_in_the_headline(lines: dict[str, Line], found: tuple[str, list[str]]) -> None:
    assert heading(over(lines)) == found


def test_what_is_ahead_all_over_says_if_what() -> None:
    """The assumption, the range and the average, and the least factor that could undo it; never "better"."""
    result = over(AHEAD)
    said = first(result)
    assert told(said) == ("ahead",) and names(said) == ["als", "popular"]
    for piece in (result.verdicts_[-1].assumption, "+0.04", "+0.14", "+0.09", "p ≤ 0.0004", "1.30"):
        assert piece in str(said)
    for text in (printed(result), notebook(result), json.dumps(result.headline())):
        assert "better than" not in text and "[+" not in text


def test_what_no_scenario_covers_is_said_once() -> None:
    """Once per result, however many pairs are decided; so is what the scenarios are."""
    result = over(MANY)
    for text in (printed(result), notebook(result), page(result)):
        assert flat(text).count(NOT_COVERED) == 1
    said = result.headline()["trust"]
    assert codes(said) == ("unknown-scenario",) and said[1:] == [NOT_COVERED]
    assert "0\u00a0%" in said[0] and "100\u00a0%" in said[0]


@pytest.mark.parametrize("options", [{}, {"points": BOX}, {"metric": "mae"}], ids=["one axis", "two axes", "of errors"])
def test_the_terminal_shows_values_along_the_first_axis(options: dict[str, Any]) -> None:
    """Averages over a second axis; who is ahead has a mark, where that holds for all that a column sums up."""
    result = over(TURNS, half=0.02, **options)
    (table,), text = result.scenarios, printed(result, 120)
    lines = text[text.index("By the ") :].split("\n\n")[0].splitlines()
    shown = {line[:13].strip(): re.split(r"\s{2,}", line[13:].strip()) for line in lines[-3:]}
    places = sorted({point[0] for point in table.points})[:: 1 if "points" in options else 2]
    (pair,) = table.differences
    for name, numbers in (("als", table.values[0].value), ("als − popular", pair.difference)):
        for cell, place in zip(shown[name], places, strict=True):
            there = [n for n, point in enumerate(table.points) if point[0] == place]
            assert matches(cell.split()[0], sum(numbers[n] for n in there) / len(there))
            if name != "als":
                signs = {pair.sign[n] * (-1 if "metric" in options else 1) for n in there}
                assert cell.split()[1:] == {1: ["▲"], -1: ["▼"]}.get(signs.pop() if len(signs) == 1 else 0, [])


def test_missing_numbers_are_dashes() -> None:
    """A model without any estimate has no line and no place, and nothing falls over."""
    result = over({"als": (0.3, 0.2), "none": (NAN, NAN), "popular": (0.25, 0.1)})
    text = printed(result) + page(result) + notebook(result)
    assert "nan" not in text.lower().replace("nano", "")
    nothing = over({"a": (NAN, NAN), "b": (NAN, NAN)})
    assert printed(nothing) and page(nothing)


def test_what_assumes_one_scenario_does_not_carry_the_headline() -> None:
    """Logged propensities come first, then scenarios, then assumed ones; also where there is one model.

    A column of ones is a placeholder for all that anybody knows.
    """
    path = over(TURNS)
    for propensity, assumed, carrier in (
        ("popularity(gamma=1)", ASSUMED, "exposure_path"),
        ("known", Certain().assumption, "exposure_path"),
        ("known", "it is right", "snips"),
        ("known", "", "snips"),
    ):
        rests: dict[str, Any] = {"propensity": propensity, "assumption": assumed}
        beside = replace(
            path,
            estimates=(*path.estimates, *(estimate(m, 0.2 + n / 10, **rests) for n, m in enumerate(TURNS))),
            verdicts_=(*path.verdicts_, verdict("als", "popular", -0.1, assumed=assumed)),
        )
        assert beside.headline()["estimator"] == carrier
        alone = replace(beside, estimates=tuple(e for e in beside.estimates if e.model == "als"), verdicts_=())
        assert alone.headline()["estimator"] == carrier
    for text in (printed(beside), notebook(beside), page(beside)):  # the path is not the headline, and is shown
        assert flat(text).count(NOT_COVERED) == 1
    assert heading(beside) == ("better", ["popular", "als"])
    said = only("disagree", [beside.headline()["agreement"]], estimators=("exposure_path (pooled)",))
    assert path.verdicts_[-1].turns.rstrip(".") in said
