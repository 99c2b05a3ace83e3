"""Records: verdicts follow from rules, and nothing is lost on the way to files and tables."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import pytest
from tests.said import refuses

from unskew import __version__
from unskew_papers.page import save, write_page
from unskew_papers.record import Above, Among, Below, Near, Record, Verdict, judged, read_json, write_csv, write_json
from unskew_papers.study import Chart, Experiment, Study
from unskew_papers.tables import number, summary, tables


@pytest.mark.parametrize(
    ("rule", "ours", "met"),
    [
        (Near(absolute=0.1), 1.099, True),
        (Near(absolute=0.1), 1.11, False),
        (Near(absolute=0.1), 0.89, False),
        (Near(relative=0.25), 1.25, True),
        (Near(relative=0.25), 1.26, False),
        (Near(errors=2.0), 1.059, True),  # se .03, theirs 0
        (Near(errors=2.0), 1.07, False),
        (Near(), 1.0, True),
        (Below(), 1.0, True),
        (Below(), 1.01, False),
        (Below(0.1), 0.1, True),
        (Below(0.1), 0.2, False),
        (Above(), 1.0, True),
        (Above(2.0), 1.9, False),
        (Among(1.0, 1.2, "of most"), 9.0, True),  # only the reference must lie inside
        (Among(1.1, 1.2, "of most"), 1.0, False),
        (Among(0.8, 0.9, "of most"), 1.0, False),
    ],
)
def test_verdicts_follow_from_the_rule(rule: Near | Above | Below | Among, ours: float, met: bool) -> None:
    """Against a paper's 1.0 it is met or missed; as a claim against a number of our own it holds or fails."""
    number_of_paper = judged("e", "r", "c", ours, paper=1.0, se=0.03, rule=rule)
    assert number_of_paper.verdict is (Verdict.MET if met else Verdict.MISSED)
    claim = judged("e", "r", "c", ours, paper=7.0, se=0.03, rule=rule, reference=("naive", 1.0))
    assert claim.verdict is (Verdict.HOLDS if met else Verdict.FAILS)
    assert "naive" in claim.rule and number_of_paper.verdict.good is met and claim.verdict.good is met


@pytest.mark.parametrize(
    ("rule", "ours", "verdict"),
    [
        (Near(errors=2.0), 1.099, Verdict.MET),  # √(.03² + .04²) = .05
        (Near(errors=2.0), 1.101, Verdict.MISSED),
        (Near(relative=0.15), 1.149, Verdict.MET),
        (Near(relative=0.15), 1.151, Verdict.MISSED),
        (Near(relative=0.05), 1.051, Verdict.NEARLY),
        (Near(relative=0.05), 0.901, Verdict.NEARLY),
        (Near(relative=0.05), 0.899, Verdict.MISSED),
        (Near(relative=0.05), 1.049, Verdict.MET),
    ],
)
def test_a_missed_number_says_whether_chance_may_have_missed_it(rule: Near, ours: float, verdict: Verdict) -> None:
    """Within two standard errors of the difference, ours and theirs together; it is missed all the same."""
    found = judged("e", "r", "c", ours, paper=1.0, se=0.03, their_se=0.04, rule=rule)
    assert found.verdict is verdict and found.their_se == 0.04 and found.verdict.good is (verdict is Verdict.MET)
    if verdict is Verdict.NEARLY:
        for ours_se, their_se in ((0.03, None), (None, 0.04), (math.nan, 0.04)):  # one of the errors is not known
            assert judged("e", "r", "c", ours, paper=1.0, se=ours_se, their_se=their_se, rule=rule).verdict is (
                Verdict.MISSED
            )


@pytest.mark.parametrize(
    ("rule", "ours", "paired_se", "verdict"),
    [
        (Below(), 0.9, None, Verdict.HOLDS),  # exact
        (Below(), 1.1, None, Verdict.FAILS),
        (Below(), 1.0, 0.0, Verdict.HOLDS),
        (Below(), 0.9, 0.049, Verdict.HOLDS),
        (Below(), 0.9, 0.051, Verdict.LIKELY),
        (Below(), 1.1, 0.051, Verdict.UNLIKELY),
        (Below(), 1.1, 0.049, Verdict.FAILS),
        (Below(0.5), 0.4, 0.049, Verdict.HOLDS),  # the margin is that of the rule: .5 − .4
        (Below(0.5), 0.4, 0.051, Verdict.LIKELY),
        (Above(), 1.1, 0.049, Verdict.HOLDS),
        (Above(), 1.1, 0.051, Verdict.LIKELY),
        (Above(2.0), 1.9, 0.051, Verdict.UNLIKELY),
        (Near(relative=0.25), 1.15, 0.049, Verdict.HOLDS),
        (Near(relative=0.25), 0.85, 0.051, Verdict.LIKELY),
        (Near(relative=0.25), 1.35, 0.051, Verdict.UNLIKELY),
        (Near(relative=0.25), 1.35, 0.049, Verdict.FAILS),
        (Below(), 0.1, math.nan, Verdict.OPEN),  # one run
    ],
)
def test_claims_that_chance_may_turn_are_undecided(
    rule: Near | Above | Below, ours: float, paired_se: float | None, verdict: Verdict
) -> None:
    """Within two standard errors of the margin, with a word on which way it points; a number of the paper never is."""
    found = judged("e", "r", "c", ours, rule=rule, reference=("naive", 1.0), paired_se=paired_se)
    assert found.verdict is verdict and found.verdict.good is (verdict is not Verdict.FAILS)
    assert found.verdict.undecided is verdict.value.startswith("undecided")


@pytest.mark.parametrize(
    ("rule", "ours", "se", "judged_"),
    [
        (Near(absolute=9.0), math.nan, 0.1, False),
        (Below(), math.nan, 0.1, False),
        (Above(), math.inf, 0.1, False),
        (Near(absolute=9.0, errors=2.0), 1.0, math.nan, False),  # one run: nobody knows the error
        (Near(absolute=9.0), 1.0, math.nan, True),  # nobody needs it
        (Below(), 1.0, math.nan, True),
        (Among(math.nan, 2.0, "of most"), 1.0, 0.1, False),  # nothing was repeated
    ],
)
def test_what_cannot_be_judged_is_neither_met_nor_missed(
    rule: Near | Above | Below | Among, ours: float, se: float, judged_: bool
) -> None:
    """And the summary counts it apart."""
    number_of_paper = judged("e", "r", "c", ours, paper=1.0, se=se, rule=rule)
    claim = judged("e", "r", "c", ours, se=se, rule=rule, reference=("naive", 1.0))
    verdicts = (Verdict.MET, Verdict.HOLDS) if judged_ else (Verdict.OPEN, Verdict.OPEN)
    assert (number_of_paper.verdict, claim.verdict) == verdicts and claim.verdict.good
    assert ("2 are not judged" in summary([number_of_paper, claim])) is not judged_
    held = int(judged_)
    assert tables([claim])[0].rows[0][1:] == (f"holds {held}, undecided 0, fails 0 of {held}", "–", "–")


def test_a_number_without_rule_or_reference_is_not_judged() -> None:
    assert judged("e", "r", "c", 1.0, paper=5.0).verdict is Verdict.UNJUDGED
    assert judged("e", "r", "c", 1.0, rule=Near()).verdict is Verdict.UNJUDGED


def test_rules_are_said_in_full() -> None:
    assert Near(absolute=0.001, relative=0.25, errors=2).words("x") == "within 0.001 + 25 % + 2 standard errors of x"
    assert Near().words("x") == "within 0 of x"
    assert Below(0.1).words("naive") == "at most 0.1 × naive" and Above().words("y") == "at least y"


RECORDS = [
    judged("t/mae", "a", "ips", 1.25, paper=1.2, se=0.01, runs=5, rule=Near(absolute=0.1)),
    judged("t/mae", "a", "naive", 3.0, paper=1.2, se=None, runs=5, rule=Near(absolute=0.1)),
    judged("t/rmse", "0.5", "ips", 0.02, se=0.001, runs=5),
    judged("t/rmse", "1", "ips", 0.03, se=math.nan, runs=5),
    judged("t/claims", "0.5", "ips beats naive", 0.02, runs=5, rule=Below(), reference=("naive", 0.5)),
    judged("t/claims", "1", "ips beats naive", 0.9, runs=5, rule=Below(), reference=("naive", 0.5)),
]


def test_files_hold_the_records(tmp_path: Path) -> None:
    """JSON gives the same records back; CSV has a line for each, with its deviation."""
    write_json(tmp_path / "r.json", RECORDS[:3], {"study": "t"})
    found, about = read_json(tmp_path / "r.json")
    assert found == RECORDS[:3] and about == {"study": "t"}
    paired = replace(RECORDS[4], paired_se=0.1, their_se=0.2)
    write_json(tmp_path / "r.json", [paired], {})
    assert read_json(tmp_path / "r.json")[0] == [paired]
    content = json.loads((tmp_path / "r.json").read_text())
    for name in ("paired_se", "their_se"):
        del content["records"][0][name]  # as files were before claims had errors
    (tmp_path / "r.json").write_text(json.dumps(content))
    assert read_json(tmp_path / "r.json")[0] == [RECORDS[4]]
    write_json(tmp_path / "nan.json", [judged("e", "r", "c", math.nan, paper=1.0, se=math.nan, rule=Near())], {})
    assert "NaN" not in (tmp_path / "nan.json").read_text()
    (back,), _ = read_json(tmp_path / "nan.json")
    assert math.isnan(back.ours) and back.se is None and back.verdict is Verdict.OPEN
    write_csv(tmp_path / "r.csv", RECORDS)
    with (tmp_path / "r.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(RECORDS)
    assert float(lines[0]["deviation"]) == pytest.approx(0.05) and lines[0]["verdict"] == "met"
    assert lines[2]["paper"] == "" and lines[2]["deviation"] == ""
    (tmp_path / "r.json").write_text('{"records": [{"ours": 1}]}')
    with refuses("damaged-file"):
        read_json(tmp_path / "r.json")


def test_tables_say_what_records_say() -> None:
    """Ours beside the paper's, a grid for a figure, claims counted with the places where they are not sure or fail."""
    beside, grid, claims = tables(RECORDS)
    assert beside.rows[0][:6] == ("a", "ips", "1.200", "1.250", "0.0100", "+0.0500") and beside.rows[1][-1] == "missed"
    assert grid.head == ("", "ips") and grid.rows == (("0.5", "0.0200 ± 0.0010"), ("1", "0.0300 ± –"))
    assert claims.rows[0][:3] == ("ips beats naive", "holds 1, undecided 0, fails 1 of 2", "–")
    assert claims.rows[0][3] == "1: 0.9000, at most naive, 0.5"
    assert tables(RECORDS[:2], glance=True)[0].rows == (("a", "1.250 (1.2)", "3.000 (1.2) ✗"),)
    assert summary(RECORDS) == "1 of 2 numbers are met; 1 of 2 claims hold"
    assert summary(RECORDS[2:4]) == "nothing is judged"


def test_tables_say_what_is_undecided_and_what_chance_may_have_missed() -> None:
    """Counted apart, each with its numbers, their error, and where it points."""
    claims = [
        judged("t/claims", row, "ips beats naive", ours, rule=Below(), reference=("naive", 0.5), paired_se=0.02)
        for row, ours in (("1", 0.2), ("2", 0.49), ("3", 0.51), ("4", 0.9), ("5", 0.3))
    ]
    (table,) = tables(claims)
    assert table.head == ("claim", "verdicts", "undecided at", "fails at")
    assert table.rows[0] == (
        "ips beats naive",
        "holds 2, undecided 2, fails 1 of 5",
        "2 (rather holds): 0.4900, at most naive, 0.5 (margin ± 0.0200); "
        "3 (rather fails): 0.5100, at most naive, 0.5 (margin ± 0.0200)",
        "4: 0.9000, at most naive, 0.5 (margin ± 0.0200)",
    )
    assert summary(claims) == "2 of 5 claims hold, 2 are undecided, 1 fails"
    assert summary(claims[:2]) == "1 of 2 claims hold, 1 is undecided, 0 fail"
    numbers = [
        judged("t/mae", "a", f"{ours}", ours, paper=1.0, se=0.06, their_se=0.08, rule=Near(relative=0.15))
        for ours in (1.1, 1.19, 1.3)
    ]
    assert summary(numbers) == "1 of 3 numbers are met, 1 is missed within two standard errors"
    (beside,) = tables(numbers)
    assert beside.rows[1][2:5] == ("1.000 ± 0.0800", "1.190", "0.0600")
    assert [row[-1] for row in beside.rows] == ["met", "missed, within two standard errors", "missed"]
    assert tables(numbers, glance=True)[0].rows[0][1:] == ("1.100 (1)", "1.190 (1) ✗", "1.300 (1) ✗")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.4, "1,234"), (12.346, "12.35"), (0.5, "0.5000"), (0.00012, "0.0001"), (-1.5, "−1.500"), (None, "–")],
)
def test_numbers_have_four_digits(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.08e-7, "+1.08e−7"), (-4.9e-5, "−4.90e−5"), (5.1e-5, "+0.0001"), (9.999e-6, "+1.00e−5"), (0.0, "0.0000")],
)
def test_small_numbers_are_not_told_as_nothing(value: float, text: str) -> None:
    """Where four decimals leave no digit; what is 0 has no sign."""
    assert number(value, sign=True) == text


def test_the_page_is_made_of_what_lies_in_the_folder(tmp_path: Path) -> None:
    """Only experiments with records appear; misses are listed; charts are linked; running one keeps the other."""
    chart = Chart("t/rmse", "Errors", "α", "RMSE")
    one = Experiment("one", "First", "The story of one.", lambda *_: RECORDS, 50, 5, (chart,))
    two = Experiment("two", "Second", "The story of two.", lambda *_: RECORDS[:1], 9, 1)
    study = Study("s99", "A paper", "All of it.", "1", lambda *_: None, (one, two))
    paths = save(study, one, RECORDS, tmp_path, quick=True)
    assert {path.name for path in paths} == {"s99-one.json", "s99-one.csv", "s99-t-rmse.svg"}
    assert (tmp_path / "s99-t-rmse.svg").read_text().startswith("<svg")
    about = json.loads((tmp_path / "s99-one.json").read_text())
    assert about["version"] == __version__ and date.fromisoformat(about["date"]) and "cores" in about["machine"]
    page = write_page(study, tmp_path).read_text()
    assert about["date"] in page and about["machine"] in page and (about["commit"] or "") in page
    assert "## First" in page and "## Second" not in page
    assert (
        "unskew reproduce s99 one --quick\n" in page
        and "5 runs (in full: 50)" in page
        and "![Errors](s99-t-rmse.svg)" in page
    )
    assert "1 of 2 numbers are met; 1 of 2 claims hold" in page
    assert "- t/mae, a, naive: 3.000 is not within 0.1 of the paper's" in page
    assert "- t/claims, 1, ips beats naive: 0.9000 is not at most naive, 0.5" in page
    save(study, two, RECORDS[:1], tmp_path, quick=False)
    page = write_page(study, tmp_path).read_text()
    assert page.index("## First") < page.index("## Second") and "unskew reproduce s99 two --runs 5\n" in page


def test_unknown_experiments_are_named() -> None:
    study = Study("s99", "A paper", "", "1", lambda *_: None, (Experiment("one", "", "", lambda *_: [], 1, 1),))
    with refuses("unknown-name"):
        study.find("three")


def test_a_record_is_plain() -> None:
    """Its deviation is ours less the paper's."""
    assert Record("e", "r", "c", 2.0, 2.5, None, 1, "", Verdict.MET).deviation == 0.5


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        "[]",
        '{"records": 5}',
        '{"records": [{}]}',
        '{"records": [], "records": []}',
        '{"records": [' + "9" * 5_000 + "]}",
        json.dumps({"records": [asdict(RECORDS[0]) | {"ours": "much"}]}),
        json.dumps({"records": [asdict(RECORDS[0]) | {"runs": True}]}),
        json.dumps({"records": [asdict(RECORDS[0]) | {"row": None}]}),
        json.dumps({"records": [asdict(RECORDS[0]) | {"verdict": "great"}]}),
    ],
    ids=range(10),
)
def test_what_is_no_record_is_named(tmp_path: Path, content: str) -> None:
    """Nested too deeply, of other types, or with a name twice: one error with what to do."""
    (tmp_path / "a.json").write_text(content)
    with refuses("damaged-file"):
        read_json(tmp_path / "a.json")
