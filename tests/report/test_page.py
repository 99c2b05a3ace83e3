"""The HTML page and the notebook cell."""

from __future__ import annotations

import html
import re
import sys
from dataclasses import replace

import pytest

from tests.said import refuses
from unskew.core.errors import MissingExtraError
from unskew.report import notebook, page
from unskew.result import Estimate, Result, Verdict

from .made_up import WITHHELD, grid
from .reading import Cells, Reader, check_loads_nothing, first, matches

SHAPES = ["two", "many", "segmented", "nothing_known", "undecided", "hostile", "naive_only", "kept_back"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_loads_nothing(shape: str, request: pytest.FixtureRequest) -> None:
    """It works from a file, a mail, an archive."""
    check_loads_nothing(page(request.getfixturevalue(shape)))


def test_hostile_names_stay_text(hostile: Result) -> None:
    """Markup in names of models, files, segments and warnings is escaped, in tables and in charts."""
    text = page(hostile)
    assert "<script" not in text.lower()
    assert "\x1b" not in text
    charts = "".join(re.findall(r"<svg.*?</svg>", text, re.S))
    assert "&lt;script&gt;alert" in charts
    assert "&lt;script&gt;alert" in re.sub(r"<svg.*?</svg>", "", text, flags=re.S)
    assert "<script" not in notebook(hostile).lower()


def find(rows: list[Cells], row: Estimate | Verdict) -> Cells:
    name = row.model if isinstance(row, Estimate) else f"{row.a} − {row.b}"
    key = "model" if isinstance(row, Estimate) else "pair"
    (found,) = [
        cells
        for cells in rows
        if cells[key] == name
        and cells["estimator"] == row.estimator
        and cells["caption"].startswith(f"{row.metric} {row.target}")
    ]
    return found


def ends(text: str) -> tuple[str, str]:
    low, high = text.strip("[]").split(", ")
    return low, high


@pytest.mark.parametrize("shape", ["two", "many", "undecided"])
def test_every_estimate_is_shown_as_it_is(shape: str, request: pytest.FixtureRequest) -> None:
    """Each number in the table of estimates is the result's, rounded to the digits shown."""
    result: Result = request.getfixturevalue(shape)
    rows = Reader(page(result)).rows("estimates")
    assert len(rows) == len(result.estimates)
    for e in result.estimates:
        cells = find(rows, e)
        low, high = ends(cells["interval"])
        assert matches(cells["estimate"], e.value) and matches(cells["se"], e.se)
        assert matches(low, e.low) and matches(high, e.high)
        assert matches(cells["ess"], e.ess) and matches(cells["hits"], e.hits)
        assert matches(cells["users"], e.users) and matches(cells["interactions"], e.interactions)
        assert cells["largest share"] == "1.2 %" and cells["support gap"] == "3.1 %"


@pytest.mark.parametrize("shape", ["two", "many", "undecided"])
def test_every_verdict_is_shown_as_it_is(shape: str, request: pytest.FixtureRequest) -> None:
    """Each number in the table of verdicts is the result's, rounded to the digits shown."""
    result: Result = request.getfixturevalue(shape)
    rows = Reader(page(result)).rows("verdicts")
    assert len(rows) == len(result.verdicts_)
    for v in result.verdicts_:
        cells = find(rows, v)
        low, high = ends(cells["interval"])
        assert matches(cells["difference"], v.difference)
        assert matches(low, v.low) and matches(high, v.high)
        assert matches(cells["p"], v.p) and matches(cells["adjusted p"], v.p_adjusted)
        assert matches(cells["tipping Γ"], v.tipping) and matches(cells["Γ, low"], v.tipping_low)
        assert matches(cells["users needed"], v.users_needed)
        assert cells["verdict"].split()[0] == v.verdict
        assert cells["trust"] == v.trust


def test_withheld_verdicts_say_why_where_they_are_read(kept_back: Result) -> None:
    """In the headline, in the row of the table and in the notebook: no interval, and the reason."""
    text = page(kept_back)
    assert text[: text.index("<svg")].count(WITHHELD) == 3
    rows = Reader(text).rows("verdicts")
    assert [row["interval"] for row in rows] == ["–"] * 6
    assert {row["trust"] for row in rows} == {v.trust for v in kept_back.verdicts_}
    assert notebook(kept_back).count(WITHHELD) == 4


def test_disagreement_stands_out(many: Result, two: Result) -> None:
    """Estimators that say otherwise are no footnote; agreement is."""
    turned = tuple(
        replace(v, verdict="undecided") if v.target == "per_user" and v.estimator == "snips" else v
        for v in many.verdicts_
    )
    for result, role in ((replace(many, verdicts_=turned), "disagreement"), (many, "basis")):
        assert f'<p class="{role}">{html.escape(result.headline()["agreement"])}' in page(result)
    assert not two.headline()["agreement"] and 'class="disagreement"' not in page(two)


def test_without_a_hit_there_is_only_a_bound(two: Result) -> None:
    """[0, 0.012] would look like any interval."""
    none = replace(two.estimates[2], value=0.0, hits=0, se=float("nan"), low=0.0, high=0.0123)
    text = page(replace(two, estimates=(*two.estimates[:2], none, two.estimates[3])))
    row = next(r for r in Reader(text).rows("estimates") if r["estimate"] == "0.000")
    assert (row["interval"], row["hits"], row["se"]) == ("≤ 0.012", "0", "–")


def test_charts_show_every_estimate(many: Result) -> None:
    """Each cell has its mark in a chart, with its number as a tooltip, and each chart its words."""
    text = page(many)
    titles = set(re.findall(r"<title>([^<]*)</title>", text))
    assert all(any(title.startswith(f"{e.model}, {e.estimator}: ") for title in titles) for e in many.estimates)
    for e in many.estimates:
        for chart in (f"Estimates of {e.metric}, {e.target}", f"Differences in {e.metric}, {e.target}"):
            assert f'aria-label="{chart} with intervals"' in text


def test_estimators_are_told_apart_by_colour_and_by_shape() -> None:
    """Nine of them, each with one outline and one colour, that has a dark counterpart in the style sheet."""
    nine = ["naive", "ips", "snips", "snips(over=list)", "direct", "sndr", "switch(tau=5)", "clipped(dr, at=0.1)", "dr"]
    text = page(grid(["a", "b"], ["dcg@10"], nine))
    chart = text[text.index('aria-label="Estimates of dcg@10') :]
    marks = re.findall(r'<path transform[^>]* d="([^"]+)" fill="(#\w+)"', chart[: chart.index("</svg>")])
    assert len(marks) == 18 and len({*marks}) == len({d for d, _ in marks}) == len({fill for _, fill in marks}) == 9
    assert all(f'svg [fill="{fill}"]' in text for _, fill in marks)


def test_what_was_dropped_is_counted(two: Result) -> None:
    """Rows read, rows dropped by reason, lists that are missing, and clicks per user are on the page."""
    text = page(two)
    for piece in ("duplicate pair", "10,000", "123,456", "users without list", "rank beyond 10: 512", "3–5", "800"):
        assert piece in text


def test_segments_have_their_own_section(segmented: Result, two: Result) -> None:
    """Each segment has a chart and tables; without segments there is no such section."""
    text = page(segmented)
    assert 'id="segments"' in text and 'id="segments"' not in page(two)
    for name in ("new users", "regulars", "DE"):
        assert f"recall@10, pooled, {name} with intervals" in text
    assert len(Reader(text).rows("estimates")) == len(segmented.estimates)


def test_a_page_without_numbers_is_still_a_page(nothing_known: Result) -> None:
    """Missing numbers are dashes; an empty result is a page too."""
    text = page(nothing_known)
    assert "nan" not in re.sub(r"<style>.*?</style>", "", text, flags=re.S).lower().split()
    assert Reader(text).rows("estimates")[0]["estimate"] == "–"
    nothing = Result((), (), (), {}, ())
    assert str(first(nothing)) in page(nothing)


def test_a_missing_extra_is_named(two: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the charting library the page names the extra to install; the notebook cell does without."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with refuses("missing-extra", MissingExtraError, extra="report"):
        page(two)
    assert "challenger" in notebook(two)


def test_the_notebook_cell_has_sentences_and_the_table(two: Result, segmented: Result) -> None:
    """A notebook shows the verdict and the estimates without scripts; segments get a column."""
    text = notebook(two)
    assert re.search("<strong>challenger</strong>[^<]*<strong>popular</strong>", text)
    assert "0.142" in text and "[0.130, 0.154]" in text and "<script" not in text
    assert "regulars" in notebook(segmented) and "segment</th>" not in text
    assert ".table()" in notebook(segmented) and ".table()" not in text
