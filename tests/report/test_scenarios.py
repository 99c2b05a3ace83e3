"""What depends on what the log cannot tell: in words, tables, charts and files, never as a point with an interval."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.report.made_up import ASSUMED, HOSTILE, NAN, estimate, verdict
from tests.report.over_scenarios import (
    AHEAD,
    BOX,
    CLOSE,
    MANY,
    NOT_COVERED,
    ONE,
    OPEN,
    TURNS,
    TWO,
    Line,
    over,
    scenarios,
)  # fmt: skip
from tests.report.reading import Reader, first, flat, heading, names, printed, told
from tests.said import only
from unskew.errors import MissingExtraError
from unskew.estimators import Standing
from unskew.evaluation import PropensityComparison
from unskew.notice import codes
from unskew.propensity.known import Certain
from unskew.report import marks as looks
from unskew.report import notebook, page, scenario_charts, sentences
from unskew.report.result_charts import LABEL
from unskew.report.scenario_tables import along, difference_along, scenario_table
from unskew.report.view import View
from unskew.report.words import title
from unskew.result import Result


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
        assert View(result).ahead_in_part(result.verdicts_[-1]) == "als"
        where = result.verdicts_[-1].turns.partition("is ahead ")[2].rstrip(".")
        for said in (title(View.of(result)), first(result)):
            assert names(said) == ["als", "popular"] and told(said)[0] == "ahead-in-part" and where in str(said)
        (table,) = result.scenarios
        both = replace(
            table, differences=tuple(replace(row, sign=(-row.sign[0], *row.sign[1:])) for row in table.differences)
        )
        turning = replace(result, scenarios=(both,))
        assert not View(turning).ahead_in_part(result.verdicts_[-1])
        assert told(title(View.of(turning))) == () and heading(turning) == ("depends", [*lines])
    errors = over(OPEN, metric="rmse")
    assert View(errors).ahead_in_part(errors.verdicts_[-1]) == "popular"
    for settled in (AHEAD, CLOSE):
        result = over(settled)
        assert not View(result).ahead_in_part(result.verdicts_[-1])


def test_what_another_estimator_turns_round_changes_hands() -> None:
    """Its scenarios are no less likely, unless answers leave none of them."""
    result = over(OPEN)
    (table,) = result.scenarios
    swapped = over({"als": (0.1, 0.1), "popular": (0.3, 0.3)}).scenarios[0].differences
    other = replace(table, estimator="tilted(odds=4)", differences=swapped)
    narrow = replace(other, left=(0.0, 0.0), points=tuple((1.0,) for _ in other.points))
    for beside, kinds in ((other, ()), (narrow, ("ahead-in-part",))):
        assert told(title(View.of(replace(result, scenarios=(table, beside))))) == kinds


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


def test_a_random_samples_estimate_is_marked_and_decides_nothing() -> None:
    """The same verdict with it and without it; a share beyond the axis is told, not drawn."""
    result, without = over(TURNS, estimated=0.62), over(TURNS)
    said = only("scenario-of-sample", result.headline()["trust"], at=0.62)
    assert "62\u00a0%" in said and said not in without.headline()["trust"]
    assert sentences(result) == sentences(without)
    assert "sample: 62" in page(result) and "sample:" not in page(without)
    beyond = page(over(TURNS, estimated=1.3))
    assert "sample:" not in beyond and "130\u00a0%" in beyond


def test_one_model_is_a_range() -> None:
    """Its sentence gives both ends and the average, and there is no order to show."""
    result = over({"als": (0.31, 0.16)})
    (said,) = sentences(result)
    assert all(piece in said for piece in ("0.150", "0.320", "0.235", "recall@10", "(exposure_path)"))
    text = printed(result)
    assert "0.150 to 0.320" in text and "[0.150, 0.320]" not in text and "Leaderboard" not in text
    assert "als" in page(result)


def test_ranges_stand_in_every_table() -> None:
    """Those of naive keep their brackets; a range has no standard error."""
    result = over(TURNS)
    rows = [row for row in Reader(page(result)).rows("estimates") if row["estimator"] == "exposure_path"]
    assert [row["interval"] for row in rows] == ["0.190 to 0.310", "0.140 to 0.290"]
    assert {row["se"] for row in rows} == {"–"}
    (said,) = (row for row in Reader(page(result)).rows("verdicts") if row["estimator"] == "exposure_path")
    assert said["interval"] == "−0.090 to 0.160" and said["verdict"].startswith("depends")
    assert "[−0.085, −0.075]" in page(result)


def test_the_small_table_marks_who_is_ahead() -> None:
    """Shares in steps of 20 %, a mark where a pair is decided, and the same numbers as in the result."""
    result = over(TURNS, half=0.02)
    table = scenario_table(View.of(result), result.scenarios[0])
    heads = [column.label for column in table.columns]
    assert heads == ["exposure", *(f"{share}\u00a0%" for share in (0, 20, 40, 60, 80, 100))]
    assert table.rows[0][0] == "als" and table.rows[0][1:] == ("0.200", "0.220", "0.240", "0.260", "0.280", "0.300")
    texts = [(cell.text, cell.tone) for cell in table.rows[2][1:] if not isinstance(cell, str)]
    assert texts[0] == ("−0.080 ▼", "behind") and texts[2] == ("+0.012  ", "undecided")
    assert texts[-1] == ("+0.150 ▲", "ahead")
    assert f"By the {ONE['labels'][0]}" in printed(result)


def test_marks_follow_errors_downwards() -> None:
    """Of an error, the model with the smaller value is ahead."""
    result = over({"als": (0.4, 0.4), "popular": (0.6, 0.5)}, metric="mae")
    view = View.of(result)
    points = difference_along(view, view.result.scenarios[0], view.result.scenarios[0].differences[0])
    assert {point.ahead for point in points} == {1} and all(point.value < 0 for point in points)
    assert names(first(result)) == ["als", "popular"] and told(first(result))[0] == "ahead"


def test_two_axes_are_taken_together_along_the_first() -> None:
    """Averages over the second, the ends of all intervals, and ahead only where that holds for all of them."""
    result = over(TURNS, points=BOX)
    table = result.scenarios[0]
    row, pair = table.values[0], table.differences[0]
    found = along(table, row.value, row.low, row.high)
    assert [point.at for point in found] == [1.0, 1.41, 2.0, 2.83, 4.0]
    for n, point in enumerate(found):
        here = slice(3 * n, 3 * n + 3)
        assert math.isclose(point.value, sum(row.value[here]) / 3)
        assert (point.low, point.high) == (min(row.low[here]), max(row.high[here]))
    signs = [set(pair.sign[3 * n : 3 * n + 3]) for n in range(5)]
    ahead = [point.ahead for point in difference_along(View(result), table, pair)]
    assert ahead == [next(iter(s)) if len(s) == 1 else 0 for s in signs]
    assert 0 in ahead and any(len(s) > 1 for s in signs)


def test_two_axes_have_a_field_per_scenario() -> None:
    """With the difference, and who is ahead by colour and by mark."""
    result = over(TURNS, points=BOX)
    (chart,) = scenario_charts.differences(View(result), result.scenarios[0])
    fields = chart.data["rows"]
    assert len(fields) == len(BOX) and len({(row["x"], row["y"]) for row in fields}) == len(BOX)
    assert {(row["ahead"], row["mark"]) for row in fields} == {("behind", "▼"), ("undecided", ""), ("ahead", "▲")}
    assert all(label in result.headline()["title"] for label in TWO["labels"])
    assert page(result).count('role="img"') == 4  # values, the map, and the two charts of every result


def test_an_axis_whose_label_is_a_sentence_goes_by_its_name() -> None:
    """In titles and charts; the notes say it in full, once."""
    long, short = "a label that has more words than stand beside an axis", TWO["labels"][1]
    result = over(TURNS, points=BOX)
    result = replace(result, scenarios=(replace(result.scenarios[0], labels=(long, str(short))),))
    shown = result.headline()["title"]
    assert long not in shown and "odds" in shown and "slope" in shown
    assert f"odds, the {long}, from 1 to 4; the {short} from 0 to 0.4." in result.headline()["trust"][0]
    assert "By the odds" in printed(result) and flat(printed(result)).count(long) == 1


def test_charts_hold_the_numbers_and_where_it_turns() -> None:
    """Every point of the path with its band; the turning point where the verdict says."""
    result = over(TURNS)
    view, table = View(result), result.scenarios[0]
    (values,) = scenario_charts.values(view, table)
    assert [row["value"] for row in values.data["rows"] if row["model"] == "als"] == list(table.values[0].value)
    (pair,) = scenario_charts.differences(view, table)
    assert [row["low"] for row in pair.data["rows"]] == list(table.differences[0].low)
    assert [row["x"] for row in pair.data["turn"]] == [0.4] and pair.data["estimated"] == []
    assert [row["x"] for row in scenario_charts.differences(view, replace(table, estimated=0.6))[0].data["estimated"]]


def test_many_models_show_the_pairs_of_the_best() -> None:
    """Of fourteen models, eight lines, and the thirteen pairs of the first; a page folds all but a handful."""
    result = over(MANY)
    view, table = View(result), result.scenarios[0]
    assert len({row["model"] for row in scenario_charts.values(view, table)[0].data["rows"]}) == 8
    pairs = scenario_charts.differences(view, table)
    assert len(pairs) == 13 and all("model 00" in chart.name for chart in pairs)
    text = page(result)
    section = text[text.index('<section id="scenarios">') :]
    assert section.index('<details class="more">') < section.index("model 00 − model 11")


def test_long_names_beside_lines_do_not_overlap() -> None:
    """Labels are pushed apart on the scale that is drawn, however many lines they have."""
    names = [f"item_knn(neighbours={n}, shrinkage=10)_of_week_{n}" for n in range(40, 46)]
    result = over({name: (0.5 - 0.01 * n, 0.15 + 0.001 * n) for n, name in enumerate(names)})
    (chart,) = scenario_charts.values(View(result), result.scenarios[0])
    low, high = chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    labels = sorted(chart.data["labels"], key=lambda row: row["value"])
    room = chart.spec["height"] / (high - low)
    for below, above in pairwise(labels):
        assert (above["value"] - below["value"]) * room >= LABEL * (1 + above["name"].count("\n")) - 1e-6
    assert low - 1e-9 <= labels[0]["value"] and labels[-1]["value"] <= high + 1e-9


def test_a_model_has_one_colour_on_a_page() -> None:
    """That of its place among all models, not of its rank in one chart."""
    result = over({"poor": (0.1, 0.1), "good": (0.5, 0.4), "fair": (0.3, 0.2)})
    view = View(result)
    (chart,) = scenario_charts.values(view, result.scenarios[0])
    drawn = chart.spec["layer"][0]["encoding"]["color"]["scale"]
    found = dict(zip(drawn["domain"], drawn["range"], strict=True))
    assert [found[model] for model in view.models] == [looks.colour(n) for n in range(3)]
    many = [f"m{n}" for n in range(10)]
    assert looks.model_places(["m9", "m1", "m0"], many) == [2, 1, 0]  # none comes twice


def test_a_notebook_shows_charts_and_does_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few charts, each once; where nothing can draw them, the tables stay."""
    result = over(TURNS)
    assert notebook(result).count('role="img"') == 2

    def missing() -> Any:
        raise MissingExtraError("a page", "report")

    monkeypatch.setattr("unskew.report.svg.converter", missing)
    text = notebook(result)
    assert "<svg" not in text and "<figure" not in text and "<table" in text


def test_names_are_shown_not_obeyed() -> None:
    """Markup, terminal codes and names that look alike, in tables, charts and where a verdict turns."""
    lines = {HOSTILE: TURNS["als"], "[bold red]b[/]": TURNS["popular"], "x" * 300: (0.21, 0.2)}
    result = over(lines)
    for text in (page(result), notebook(result)):
        assert "<script" not in text and "&lt;script&gt;" in text and "\x1b" not in text
    text = printed(result, 160)
    assert "\x1b" not in text and "[bold red]b[/]" in text and "x" * 200 not in text
    assert HOSTILE in {row["model"] for row in result.to_dict()["leaderboard"]}


def test_where_it_turns_names_models_as_everywhere_else() -> None:
    """A name that must be shortened is shortened there too, and no other word is touched."""
    long = "is ahead " + "y" * 200
    (said,) = sentences(over({long: TURNS["als"], "ahead": TURNS["popular"]}))
    view = View.of(over({long: TURNS["als"], "ahead": TURNS["popular"]}))
    short = view.models[0]
    assert len(short) <= 100 and said.count(short) == 2 and long not in said
    assert "40 %" in said


def test_missing_numbers_are_dashes() -> None:
    """A model without any estimate has no line and no place, and nothing falls over."""
    result = over({"als": (0.3, 0.2), "none": (NAN, NAN), "popular": (0.25, 0.1)})
    text = printed(result) + page(result) + notebook(result)
    assert "nan" not in text.lower().replace("nano", "")
    (chart,) = scenario_charts.values(View(result), result.scenarios[0])
    assert {row["model"] for row in chart.data["rows"]} == {"als", "popular"}
    nothing = over({"a": (NAN, NAN), "b": (NAN, NAN)})
    assert printed(nothing) and page(nothing) and scenario_charts.values(View(nothing), nothing.scenarios[0]) == []


def test_segments_have_their_own_scenarios() -> None:
    """The page draws those of all users; JSON keeps those of every segment."""
    whole, part = over(TURNS), over(AHEAD, segment="new users")
    both = replace(
        whole,
        estimates=whole.estimates + part.estimates,
        verdicts_=whole.verdicts_ + part.verdicts_,
        scenarios=whole.scenarios + part.scenarios,
    )
    assert [table["segment"] for table in both.to_dict()["scenarios"]] == [None, "new users"]
    view = View.of(both)
    assert view.scenarios(view.facets[0], "exposure_path") == view.result.scenarios[0]
    assert heading(both)[0] == "depends"
    text = page(both)
    assert text.count('aria-label="Values of recall@10') == 1 and "new users" in text


def test_undecided_all_over_is_undecided() -> None:
    """Nothing depends where nothing is decided anywhere."""
    assert told(first(over(CLOSE))) == ("practically-equal",)
    lines = {"als": (0.2, 0.2), "popular": (0.19, 0.21)}
    far = over(lines, half=0.06)
    assert told(first(far))[0] == "undecided"
    table, estimates, verdicts = scenarios(lines, half=0.06)
    verdicts = [replace(verdicts[0], users_needed=9_000)]
    open_ = replace(far, estimates=tuple(estimates), verdicts_=tuple(verdicts), scenarios=(table,))
    assert told(first(open_))[0] == "users-needed" and "9,000" in str(first(open_))


def test_what_assumes_one_scenario_does_not_carry_the_headline() -> None:
    """Logged propensities come first, then scenarios, then assumed ones; also where there is one model.

    A column of ones is a placeholder for all that anybody knows.
    """
    path = over(TURNS)
    for propensity, assumed, carrier in (
        ("popularity(gamma=1)", ASSUMED, "exposure_path"),
        ("known", Certain().assumption, "exposure_path"),
        ("known", "the column is right", "snips"),
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


def test_a_terminal_marks_averages_over_scenarios(two: Result) -> None:
    """A value that belongs to no scenario is no estimate: in the tables of estimates and of verdicts."""
    result = over(TURNS)
    text = printed(result)
    averages = [e.value for e in result.estimates if e.estimator == "exposure_path"]
    assert averages and all(f"ø{value:.3f}" in text for value in averages)
    (pair,) = [v for v in result.verdicts_ if v.estimator == "exposure_path"]
    assert f"ø{pair.difference:+.3f}".replace("-", "−") in text and text.count("ø") > len(averages)
    assert "ø" not in printed(two)


def test_without_scenarios_nothing_speaks_of_them(two: Result, segmented: Result) -> None:
    """Results of before look as before."""
    for result in (two, segmented):
        for text in (printed(result), notebook(result), result.headline()["title"]):
            assert "scenario" not in text and "depends" not in text
        assert '<section id="scenarios">' not in page(result)
        assert result.to_dict()["scenarios"] == []


def test_json_and_csv_hold_them(tmp_path: Path) -> None:
    """A file for programs: verdict, where it turns, every scenario, the order."""
    result = over(TURNS, estimated=0.5)
    result.to_json(tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    said = found["verdicts"][-1]
    assert said["verdict"] == "depends" and said["turns_at"] == 0.4 and said["not_covered"] == NOT_COVERED
    (table,) = found["scenarios"]
    assert table["estimated"] == 0.5 and table["percent"] == [True] and len(table["points"]) == 11
    assert [row["model"] for row in found["leaderboard"]] == ["als", "popular"]
    result.to_csv(tmp_path / "r.csv")
    assert Standing.SCENARIOS in (tmp_path / "r.csv").read_text(encoding="utf-8")


def test_a_comparison_of_propensities_knows_depends() -> None:
    """The same word is no change, another one is; where both name nobody it still says which says what."""
    same = PropensityComparison({"known": over(TURNS), "uniform": over(TURNS)})
    assert not same.changed
    changed = PropensityComparison({"known": over(TURNS), "uniform": over(CLOSE)})
    (row,) = changed.changes().filter(estimator="exposure_path").to_dicts()
    assert (row["verdict"], row["other_verdict"], row["opposite"]) == ("depends", "undecided", False)
    assert {"depends", "undecided"} <= set(flat(printed(changed)).split()) and "depends" in page(changed)
