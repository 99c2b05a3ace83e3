"""Estimators whose scenarios rest on different assumptions: what one of them contradicts somewhere only depends."""

from __future__ import annotations

from dataclasses import replace

import unskew as us
from tests.said import only
from tests.scenarios.path_world import world
from unskew.judging.scenarios import agreed
from unskew.result import ScenarioDifferences, ScenarioTable, Verdict

TILTED = "tilted(odds=4, slope=0.4)"


def decided() -> tuple[Verdict, ScenarioTable, ScenarioDifferences]:
    """A pair that the path decides, with its differences."""
    made = world()
    result = us.evaluate(
        made["test"], made["lists"], train=made["train"], metrics=["recall@5"], estimators=["exposure_path"]
    )
    v = next(v for v in result.verdicts_ if v.verdict in ("ahead", "behind"))
    (table,) = result.scenarios
    return v, table, next(row for row in table.differences if (row.a, row.b) == (v.a, v.b))


def turned(row: ScenarioDifferences, many: int) -> ScenarioDifferences:
    """The same with the first scenarios the other way round."""
    return replace(row, sign=tuple(-sign if n < many else sign for n, sign in enumerate(row.sign)))


def other(v: Verdict, word: str, turns: str = "") -> Verdict:
    return replace(v, estimator=TILTED, verdict=word, low=-v.high, high=-v.low, turns=turns)


def test_what_another_contradicts_decides_nothing() -> None:
    """Opposite winners: both depend, with who contradicts them, and intervals hold both; a part of the scenarios is
    enough, and what depends already stays as it is."""
    v, table, row = decided()
    word = "ahead" if v.verdict == "behind" else "behind"
    for many, opposed in ((11, other(v, word)), (3, other(v, "depends", "elsewhere"))):
        tables = [
            replace(table, differences=(row,)),
            replace(table, estimator=TILTED, differences=(turned(row, many),)),
        ]
        found = agreed([v, opposed], tables)
        assert [each.verdict for each in found] == ["depends", "depends"]
        only("contradicted", [found[0].turns], by=TILTED)
        assert found[0].low < 0.0 < found[0].high and found[0].tipping is None
        assert (found[1] == opposed) == (many == 3)


def test_others_are_left_alone() -> None:
    """The same winner, another metric, an estimator without scenarios."""
    v, table, row = decided()
    word = "ahead" if v.verdict == "behind" else "behind"
    rows = [v, replace(v, estimator=TILTED), replace(v, metric="dcg@3", verdict=word),
            replace(v, estimator="naive", standing="not debiased", verdict=word)]  # fmt: skip
    tables = [
        replace(table, differences=(row,)),
        replace(table, estimator=TILTED, differences=(row,)),
        replace(table, metric="dcg@3", differences=(turned(row, 11),)),
    ]
    assert agreed(rows, tables) == rows
