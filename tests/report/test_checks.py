"""Checks on propensities as people see them: terminal, page, notebook; every number is the object's."""

from __future__ import annotations

import pytest

from tests.propensity.test_checking import shop
from unskew.propensity.checking import check
from unskew.propensity.checks import Bin, Check, Checks
from unskew.report import notebook, page
from unskew.report.checks_document import CONSTANT

from .reading import Reader, check_loads_nothing, flat, matches, printed

EVIL = "<script>alert('x')</script>\x1b[31m"


@pytest.fixture(scope="module")
def found() -> Checks:
    """Right, wrong, seen-only and impossible propensities, one under a name that tries to be markup."""
    asked = {
        "popularity(gamma=1)": "popularity(gamma=1)", "wrong": "popularity(gamma=4)", "known": "known", EVIL: "uniform",
        "covariates": "logistic(features=outer)",
    }  # fmt: skip
    return check(asked, shop(users=200)[0], refused="skip")


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_shows_all_propensities(found: Checks, width: int) -> None:
    """Findings, scores beside those of the constant, reliability bars, clips and refusals are printed, and fit."""
    text = printed(found, width)
    for piece in ("log-loss", "Brier", CONSTANT.split()[0], "wrong", "0.05"):
        assert piece in text
    shown = flat(text).replace("\u00a0", " ")
    for said in (*found["wrong"].findings, *(each.reason for each in found.refused)):
        assert flat(said) in shown
    assert max(map(len, text.splitlines())) <= width and "\x1b" not in text


def test_the_page_holds_the_numbers_of_the_object(found: Checks) -> None:
    """Scores, clips and tenths in the tables of the page are the checks' own."""
    reader = Reader(page(found))
    rows = {r["propensity"].split(" → ")[0]: r for r in reader.rows("sheet") if "log-loss" in r}
    constant = rows[CONSTANT]
    for c in found.checks[:3]:
        row = rows[c.propensity]
        assert matches(row["log-loss"], c.log_loss) and matches(row["Brier"], c.brier)
        assert matches(row["ess"], c.ess) and matches(row["seen pairs"], c.rows)
        assert (
            row["implied pairs"] == "–" if c.implied_pairs is None else matches(row["implied pairs"], c.implied_pairs)
        )
        assert matches(row["share"].removesuffix(" %"), 100 * c.ess_share)
        assert matches(constant["log-loss"], c.log_loss_constant) and matches(constant["Brier"], c.brier_constant)
    tenths = [row for row in reader.rows("sheet") if "mean P" in row and row["propensity"] == "wrong"]
    assert [row["by"] for row in tenths].count("items") == len(found["wrong"].item_balance)
    told = [b for bins in _all_bins(found["wrong"]) for b in bins]
    for row, b in zip(tenths, told, strict=True):
        assert matches(row["mean P"], b.predicted) and matches(row["share seen"], b.observed)
    clipped = next(row for row in reader.rows("sheet") if "0.05" in row and row["propensity"] == "wrong")
    assert matches(clipped["0.1"].removesuffix(" %"), 100 * found["wrong"].clips["0.1"])


def _all_bins(c: Check) -> tuple[tuple[Bin, ...], ...]:
    return c.reliability, c.user_balance, c.item_balance


def test_the_page_loads_nothing_and_has_every_chart(found: Checks) -> None:
    """Six charts that compare and one overlap for each propensity, in words too; names stay text."""
    text = page(found)
    check_loads_nothing(text)
    assert "<script" not in notebook(found).lower()
    labels = [a["aria-label"] for tag, a in Reader(text).tags if tag == "svg" and "aria-label" in a]
    assert len(labels) == 6 + len(found.checks)
