"""Two estimators whose scenarios rest on different assumptions must not name different winners."""

from __future__ import annotations

from dataclasses import replace

import unskew as us
from tests.scenarios.path_world import world
from unskew.judging.scenarios import withhold_opposite
from unskew.result import Verdict


def decided() -> Verdict:
    """A pair that the path decides."""
    made = world()
    result = us.evaluate(
        made["test"], made["lists"], train=made["train"], metrics=["recall@5"], estimators=["exposure_path"]
    )
    return next(v for v in result.verdicts_ if v.verdict in ("ahead", "behind"))


def test_opposite_verdicts_are_both_withheld() -> None:
    """Neither is told, and each says why."""
    one = decided()
    word = "ahead" if one.verdict == "behind" else "behind"
    other = replace(one, estimator="tilted(odds=4, slope=0.4)", verdict=word, low=-one.high, high=-one.low)
    kept = withhold_opposite([one, other])
    assert [v.verdict for v in kept] == ["undecided", "undecided"]
    assert "tilted(odds=4, slope=0.4) (pooled)" in kept[0].trust and "exposure_path (pooled)" in kept[1].trust
    assert all(v.tipping is None and v.low != v.low and v.p_adjusted == 1.0 for v in kept)


def test_others_are_left_alone() -> None:
    """The same winner, another metric, an estimator without scenarios, an open pair."""
    one = decided()
    word = "ahead" if one.verdict == "behind" else "behind"
    rows = [
        one,
        replace(one, estimator="tilted"),
        replace(one, metric="dcg@3", verdict=word),
        replace(one, estimator="naive", standing="not debiased", verdict=word),
        replace(one, estimator="tilted(odds=2)", verdict="depends"),
    ]
    assert withhold_opposite(rows) == rows
