"""What depends on what the log cannot tell: in words, tables, charts and files, never as a point with an interval."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.report.made_up import HOSTILE, NAN, estimate, verdict
from tests.report.over_scenarios import AHEAD, BOX, CLOSE, MANY, NOT_COVERED, OPEN, TURNS, over, scenarios
from tests.report.reading import Reader
from unskew.errors import MissingExtraError
from unskew.evaluation.comparison import PropensityComparison
from unskew.report import marks as looks
from unskew.report import notebook, page, scenario_charts, sentences
from unskew.report.result_charts import LABEL
from unskew.report.scenario_tables import along, difference_along, scenario_table
from unskew.report.view import View
from unskew.result import Result

SHARE = "the share of popularity that comes from exposure"


def printed(result: Result | PropensityComparison, width: int = 100) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(result)
    return file.getvalue()


def flat(text: str) -> str:
    return re.sub(r"[\s│]+", " ", text)


def test_a_pair_that_depends_says_where_it_turns() -> None:
    """In the title what it depends on, in the sentence where, and what naive would have said."""
    result = over(TURNS)
    assert result.headline()["title"] == f"Whether als or popular is ahead on recall@10 depends on {SHARE}"
    (said,) = sentences(result)
    assert said == (
        "Between als and popular on recall@10 it depends: popular is ahead as long as less than 40 % of popularity "
        "comes from exposure; beyond that, als is. Naive puts popular ahead, which is neither confirmed nor "
        "refuted here."
    )
    assert said in flat(printed(result)) and said in re.sub(r"<[^>]+>| (?= )", "", flat(notebook(result)))


def test_a_pair_in_which_nobody_is_ever_behind_is_ahead_up_to_there() -> None:
    """It has no headline of one that changes hands: who is ahead is known, and up to where."""
    said = (
        "als is ahead of popular on recall@10 as long as less than 40 % of popularity comes from exposure; beyond that"
    )
    for lines in (OPEN, dict(reversed(OPEN.items()))):
        result = over(lines)
        assert View(result).ahead_in_part(result.verdicts_[-1]) == "als"
        assert result.headline()["title"] == f"{said}, this log cannot decide"
        assert sentences(result)[0].startswith(f"{said}, this log cannot decide.")
        (table,) = result.scenarios
        both = replace(
            table, differences=tuple(replace(row, sign=(-row.sign[0], *row.sign[1:])) for row in table.differences)
        )
        turning = replace(result, scenarios=(both,))
        assert not View(turning).ahead_in_part(result.verdicts_[-1])
        assert turning.headline()["title"] == f"Whether {' or '.join(lines)} is ahead on recall@10 depends on {SHARE}"
    errors = over(OPEN, metric="rmse")
    assert View(errors).ahead_in_part(errors.verdicts_[-1]) == "popular"
    for settled in (AHEAD, CLOSE):
        result = over(settled)
        assert not View(result).ahead_in_part(result.verdicts_[-1])


def test_what_another_estimator_turns_round_changes_hands() -> None:
    """Its scenarios are no less likely."""
    result = over(OPEN)
    (table,) = result.scenarios
    other = replace(
        table,
        estimator="tilted(odds=4)",
        differences=over({"als": (0.1, 0.1), "popular": (0.3, 0.3)}).scenarios[0].differences,
    )
    beside = replace(result, scenarios=(table, other))
    assert beside.headline()["title"] == f"Whether als or popular is ahead on recall@10 depends on {SHARE}"
    narrow = replace(other, left=(0.0, 0.0), points=tuple((1.0,) for _ in other.points))  # answers leave none of these
    assert replace(result, scenarios=(table, narrow)).headline()["title"].startswith("als is ahead of popular")


def test_a_model_that_is_never_behind_comes_first_in_the_headline() -> None:
    three = over({**OPEN, "last": (0.1, 0.05)})
    title = "als is ahead of both others on recall@10 in some scenarios at least, and behind in none"
    assert three.headline()["title"] == title


def test_what_is_ahead_all_over_says_if_what() -> None:
    """The assumption, the range and the average, and the least factor that could undo it; never "better"."""
    result = over(AHEAD)
    (said,) = sentences(result)
    assert said.startswith("als is ahead of popular on recall@10, if how likely a relevant item was to be seen depends")
    assert "between +0.04 and +0.14 over all scenarios, +0.09 on average, p ≤ 0.0004 in each" in said
    assert "could reverse if exposure differed by a factor of 1.30, in the worst direction, from the scenario" in said
    assert result.headline()["title"] == "als is ahead of popular on recall@10"
    for text in (printed(result), notebook(result), json.dumps(result.headline())):
        assert "better than" not in text and "[+" not in text


def test_what_no_scenario_covers_is_said_once() -> None:
    """Once per result, however many pairs are decided; so is what the scenarios are."""
    result = over(MANY)
    for text in (printed(result), notebook(result), page(result)):
        assert flat(text).count(NOT_COVERED) == 1
    said = result.headline()["trust"]
    assert said == [f"This log cannot tell which scenario holds: {SHARE} from 0\u00a0% to 100\u00a0%.", NOT_COVERED]


def test_a_random_samples_estimate_is_marked_and_decides_nothing() -> None:
    """The same verdict with it and without it; a share beyond the axis is told, not drawn."""
    result = over(TURNS, estimated=0.62)
    told = f"The random sample puts {SHARE} at 62\u00a0%; this decides nothing here."
    assert told in result.headline()["trust"] and told not in over(TURNS).headline()["trust"]
    assert sentences(result) == sentences(over(TURNS))
    assert "sample: 62" in page(result) and "sample:" not in page(over(TURNS))
    assert "sample:" not in page(over(TURNS, estimated=1.3)) and "130\u00a0%" in page(over(TURNS, estimated=1.3))


def test_one_model_is_a_range() -> None:
    """Its sentence gives both ends and the average, and there is no order to show."""
    result = over({"als": (0.31, 0.16)})
    assert sentences(result) == [
        "als scores between 0.150 and 0.320 over all scenarios, 0.235 on average on recall@10 (exposure_path)."
    ]
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
    assert f"By {SHARE}" in printed(result)


def test_marks_follow_errors_downwards() -> None:
    """Of an error, the model with the smaller value is ahead."""
    result = over({"als": (0.4, 0.4), "popular": (0.6, 0.5)}, metric="mae")
    view = View.of(result)
    points = difference_along(view, view.result.scenarios[0], view.result.scenarios[0].differences[0])
    assert {point.ahead for point in points} == {1} and all(point.value < 0 for point in points)
    assert sentences(result)[0].startswith("als is ahead of popular on mae (lower is better)")


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
    title = "Whether als or popular is ahead on recall@10 depends on the odds of the unseen and the slope on popularity"
    assert result.headline()["title"] == title
    assert page(result).count('role="img"') == 4  # values, the map, and the two charts of every result


def test_an_axis_whose_label_is_a_sentence_goes_by_its_name() -> None:
    """In titles and charts; the notes say it in full, once."""
    long = "factor by which an unseen pair's odds of being relevant are lower than the model's"
    result = over(TURNS, points=BOX)
    table = replace(result.scenarios[0], labels=(long, "slope on popularity"))
    result = replace(result, scenarios=(table,))
    title = "Whether als or popular is ahead on recall@10 depends on what the log cannot tell (odds and slope)"
    assert result.headline()["title"] == title
    told = f"scenario holds: odds, the {long}, from 1 to 4; the slope on popularity from 0 to 0.4."
    assert result.headline()["trust"][0].endswith(told)
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
    assert result.headline()["title"].startswith("model 00 is ahead of all 13 others on recall@10 in some scenarios ")
    turning = over({**TURNS, "last": (0.1, 0.1)}).headline()["title"]
    assert turning == f"als and popular may come first on recall@10: that depends on {SHARE}"


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
        raise MissingExtraError("the HTML report", "report")

    monkeypatch.setattr("unskew.report.svg.converter", missing)
    text = notebook(result)
    assert "<svg" not in text and "<figure" not in text and f"By {SHARE}" in text


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
    assert "ahead is ahead as long as less than 40 %" in said


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
    assert both.headline()["title"].endswith(f"depends on {SHARE}")
    text = page(both)
    assert text.count('aria-label="Values of recall@10') == 1 and "new users" in text


def test_undecided_all_over_is_undecided() -> None:
    """Nothing depends where nothing is decided anywhere."""
    result = over(CLOSE)
    assert result.headline()["title"] == "This log cannot decide between als and popular on recall@10"
    (said,) = sentences(result)
    assert "practically equal" in said and "over all scenarios" in said and "depends" not in said
    far = over({"als": (0.2, 0.2), "popular": (0.19, 0.21)}, half=0.06)
    assert "times the users" not in sentences(far)[0]
    table, estimates, verdicts = scenarios({"als": (0.2, 0.2), "popular": (0.19, 0.21)}, half=0.06)
    verdicts = [replace(verdicts[0], users_needed=9_000)]
    open_ = replace(far, estimates=tuple(estimates), verdicts_=tuple(verdicts), scenarios=(table,))
    assert sentences(open_)[0].endswith("About 9,000 users would be needed to decide it in every scenario.")


def test_what_assumes_one_scenario_does_not_carry_the_headline() -> None:
    """Logged propensities come first, then scenarios, then assumed ones; also where there is one model.

    A column of ones is a placeholder for all that anybody knows.
    """
    path = over(TURNS)
    for propensity, assumed, carrier in (
        ("popularity(gamma=1)", "exposure explains all of popularity", "exposure_path"),
        ("known", "every pair was equally likely to be seen", "exposure_path"),
        ("known", "`propensity` is the chance that this user was shown this item at all in this period", "snips"),
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
    said = beside.headline()
    assert said["title"] == "popular is better than als on recall@10" and said["agreement"] == (
        "Not all debiased estimators and targets agree: "
        "exposure_path (pooled) says that it depends for als and popular (popular is ahead as long as less than 40 % "
        "of popularity comes from exposure; beyond that, als is)."
    )


def test_a_terminal_marks_averages_over_scenarios(two: Result) -> None:
    """A value that belongs to no scenario is no estimate: in the tables of estimates and of verdicts."""
    result = over(TURNS)
    text = printed(result)
    averages = [e.value for e in result.estimates if e.estimator == "exposure_path"]
    assert averages and all(f"ø{value:.3f}" in text for value in averages)
    (pair,) = [v for v in result.verdicts_ if v.estimator == "exposure_path"]
    assert f"ø{pair.difference:+.3f}".replace("-", "−") in text and "ø average over all scenarios" in text
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
    assert "holds over scenarios" in (tmp_path / "r.csv").read_text(encoding="utf-8")


def test_a_comparison_of_propensities_knows_depends() -> None:
    """The same word is no change, another one is; where both name nobody it still says which says what."""
    same = PropensityComparison({"known": over(TURNS), "uniform": over(TURNS)})
    assert not same.changed
    changed = PropensityComparison({"known": over(TURNS), "uniform": over(CLOSE)})
    (row,) = changed.changes().filter(estimator="exposure_path").to_dicts()
    assert (row["verdict"], row["other_verdict"], row["opposite"]) == ("depends", "undecided", False)
    assert "depends under known; undecided under uniform" in flat(printed(changed)) and "depends" in page(changed)
