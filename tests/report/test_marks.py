"""Nine estimators side by side: every colour and every shape once, in charts and legends alike."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from unskew.report import page
from unskew.report import result_charts as charts
from unskew.report.marks import ESTIMATORS, KINDS, NAIVE, PATHS, colour, places
from unskew.report.plots import HALO
from unskew.report.svg import draw
from unskew.report.view import View

from .made_up import grid

NINE = [
    "naive", "ips", "snips", "snips(over=list)", "direct", "sndr", "switch(tau=5)", "clipped(dr, at=0.1)", "dr",
]  # fmt: skip


def test_no_colour_and_no_shape_comes_twice() -> None:
    """Of nine estimators; and shapes alone tell eleven debiased ones apart."""
    view = View.of(grid(["a", "b"], ["dcg@10"], NINE))
    assert len({charts.colour(view, name) for name in NINE}) == len({charts.shape(view, name) for name in NINE}) == 9
    many = View.of(grid(["a", "b"], ["dcg@10"], ["naive", *(f"switch(tau={n})" for n in range(2, 13))]))
    assert len({charts.shape(many, name) for name in many.estimators}) == 12
    assert len(set(PATHS.values())) == len(PATHS) == 12


def test_every_colour_has_a_dark_one() -> None:
    """The style sheet maps the fill and the stroke of each."""
    css = files("unskew.report").joinpath("page.css").read_text(encoding="utf-8")
    for own in (NAIVE, *ESTIMATORS):
        assert f'svg [fill="{own}"]' in css and f'svg [stroke="{own}"]' in css


def test_charts_and_legends_draw_nine_shapes() -> None:
    """The points of the forest plot have nine outlines, in nine colours; the legend has its own nine."""
    pytest.importorskip("vl_convert")
    result = grid(["a", "b"], ["dcg@10"], NINE)
    view = View.of(result)
    forest = charts.forest(view, view.facets[0])
    assert forest is not None
    svg = draw(forest)
    colours = {charts.colour(view, name) for name in NINE}
    drawn = re.findall(r'<path [^>]*\bd="([^"]+)"[^>]*fill="(#[0-9a-f]{6})"', svg)
    marks = {(d, fill) for d, fill in drawn if fill in colours}
    assert len(marks) == len({d for d, _ in marks}) == len({fill for _, fill in marks}) == 9
    shown = page(result)
    assert all(f'd="{PATHS[charts.shape(view, name)]}"' in shown for name in NINE)


def test_labels_of_pairs_are_read_on_top_of_the_zero_line() -> None:
    """They have a halo in the colour of the card, painted beneath the letters."""
    pytest.importorskip("vl_convert")
    view = View.of(grid(["a", "b"], ["dcg@10"], NINE))
    chart = charts.differences(view, view.facets[0])
    assert chart is not None
    (label,) = re.findall(r"<text[^>]*>a − b</text>", draw(chart))
    css = files("unskew.report").joinpath("page.css").read_text(encoding="utf-8")
    assert f'stroke="{HALO}"' in label and "stroke-width" in label
    assert re.search(rf'svg text\[stroke="{HALO}"\] {{[^}}]*var\(--card\)[^}}]*paint-order: stroke', css)


def test_an_estimator_keeps_its_colour_whatever_stands_beside_it() -> None:
    """On every page, in whatever order; a second one of its kind takes another colour."""
    alone = {kind: places({kind: kind})[kind] for kind in KINDS}
    assert [colour(alone[kind]) for kind in KINDS[: len(ESTIMATORS)]] == list(ESTIMATORS)
    for order in (["ips", "snips", "gs(strata=5)"], ["gs(strata=20)", "dr", "snips", "ips"]):
        found = places({name: name for name in order})
        assert all(found[name] == alone[name.partition("(")[0]] for name in order)
    twice = places({"gs(strata=5)": "gs(strata=5)", "gs(strata=20)": "gs(strata=20)"})
    assert twice["gs(strata=5)"] == alone["gs"] != twice["gs(strata=20)"]
    assert places({"known: gs": "gs", "path: gs": "gs"})["known: gs"] == alone["gs"]
