"""A column of propensities that is the same in every row corrects nothing: nobody gets a sure verdict by it unasked."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import LISTS, SEEN, TEST, said
from unskew.core.errors import RefusedError

FORTY = pl.concat([TEST.with_columns(user=pl.col("user") + 10 * step) for step in range(40)])
MODELS = {
    name: pl.concat(
        [lists.with_columns(pl.col("user") + 10 * step, pl.col("item").replace(50, 40)) for step in range(40)]
    )
    for name, lists in LISTS.items()
}
CODE = "corrects-nothing"
PARTS = {"train": SEEN, "candidates": "all"}


def with_column(p: float) -> pl.DataFrame:
    return FORTY.with_columns(propensity=pl.lit(p))


def evaluate(test: pl.DataFrame, **options: Any) -> us.Result:
    return us.evaluate(test, MODELS, **({"metrics": ["recall@2"]} | options))


@pytest.mark.parametrize("p", [1.0, 0.02])
@pytest.mark.parametrize("given", [{}, PARTS], ids=["alone", "beside training"])
def test_it_is_as_if_there_were_no_column(p: float, given: dict[str, Any]) -> None:
    """The same estimates and verdicts as without it, none of them sure, and a warning that says why."""
    result, bare = evaluate(with_column(p), **given), evaluate(FORTY.drop("propensity"), **given)
    assert result.estimates == bare.estimates and result.verdicts_ == bare.verdicts_
    assert not {"better", "worse"} & {str(v.verdict) for v in result.verdicts_}
    (warning,) = said(result, CODE)
    assert f" {p:g} " in warning and "propensity='uniform'" in warning and not said(bare, CODE)


def test_estimators_that_weigh_are_refused() -> None:
    """Who asks for snips is told what is wrong with the column; naive alone never looks at it."""
    with pytest.raises(RefusedError, match=r"0\.02 (?s:.*)propensity='uniform'"):
        evaluate(with_column(0.02), estimators=["snips"])
    assert not said(evaluate(with_column(0.02), estimators=["naive"]), CODE)
    skipped = evaluate(with_column(0.02), estimators=["naive", "snips"], refused="skip")
    assert {e.estimator for e in skipped.estimates} == {"naive"} and said(skipped, CODE)


def test_who_asks_for_it_gets_it() -> None:
    """Exposure may have been uniform: the column is used, and a warning says what that rests on."""
    result = evaluate(with_column(0.02), propensity="known")
    assert {(e.estimator, e.propensity) for e in result.estimates} == {("naive", None), ("snips", "known")}
    assert {str(v.verdict) for v in result.verdicts_ if v.estimator == "snips"} <= {"ahead", "behind", "undecided"}
    assert len(said(result, CODE)) == 1


def test_ones_are_never_sure() -> None:
    """Nobody can tell a column of ones from a placeholder: verdicts name what they take for granted."""
    sure, ones = (evaluate(with_column(p), propensity="known") for p in (0.02, 1.0))
    assert [e.value for e in ones.estimates] == pytest.approx([e.value for e in sure.estimates])
    (verdict,) = [v for v in ones.verdicts_ if v.estimator == "snips"]
    assert str(verdict.verdict) in ("ahead", "behind") and "equally likely" in verdict.assumption


def test_the_audit_has_no_tick_for_it() -> None:
    """It is a finding, nothing is expected of weights that are all alike, and the advice does without the column."""
    audit = us.audit(with_column(1.0))
    (finding,) = [f for f in audit.findings if f.code == "constant-propensity"]
    assert finding.level == "warning"
    assert not any(f.level == "good" and "known" in f.text for f in audit.findings)
    asked = [row.propensity for row in audit.expected] + [row.propensity for row in audit.widths]
    assert "known" not in [*asked, *(row.propensity for row in audit.supports)]
    assert not any("known" in (advice.command or "") for advice in audit.advice)
