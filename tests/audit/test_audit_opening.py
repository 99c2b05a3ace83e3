"""The first sentence: how skewed the log is, against chance, and what that means for evaluating on it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.report.reading import printed
from unskew.auditing.spread import top_share
from unskew.report import notebook, page
from unskew.simulate import World

from . import logs
from .test_audit_values import SEEN
from .test_audit_values import world as rated


def even(rows_per_item: float, items: int = 400, users: int = 300, seed: int = 0) -> pl.DataFrame:
    """Pairs drawn at random: nothing but chance."""
    seen = np.random.default_rng(seed).random((users, items)) < rows_per_item / users
    user, item = np.nonzero(seen)
    return pl.DataFrame({"user": user, "item": item})


def test_it_names_the_share_of_the_most_popular_tenth() -> None:
    """The share and its multiple of an even spread are those of the counts."""
    frame = logs.skewed()
    counts = np.sort(frame["item"].value_counts()["count"].to_numpy())[::-1]
    share = counts[:12].sum() / counts.sum()
    audit = us.audit(frame)
    assert len(counts) == 119  # one of 120 was never seen
    assert all(told in audit.opening for told in ("12 of 119", f"{100 * share:.0f} %", f"{share * 119 / 12:.1f} "))
    assert audit.skew == "heavily"
    first = audit.findings[0].text.split("(")[0]
    for text in (printed(audit, 300), page(audit), notebook(audit)):  # before any finding
        text = " ".join(text.replace("\u00a0", " ").split())
        assert text.index(audit.opening[:60]) < text.index(first)
    assert audit.to_dict()["opening"] == audit.opening


@pytest.mark.parametrize("rows_per_item", [1.5, 3.0, 20.0])
def test_chance_alone_is_hardly_skewed_however_sparse(rows_per_item: float) -> None:
    """With three rows per item the luckiest tenth has a fifth of the rows: that is not called skewed."""
    audit = us.audit(even(rows_per_item))
    assert audit.skew == "hardly"
    assert audit.items.top_10_percent == pytest.approx(audit.items.top_10_chance, rel=0.1)
    assert audit.items.top_10_chance > 0.12


def test_the_share_by_chance_is_that_of_simulated_counts() -> None:
    """The luckiest tenth of zero-truncated Poisson counts, by simulation (Monte Carlo error below 0.2 %)."""
    rng = np.random.default_rng(0)
    for rate in (0.5, 2.0, 30.0):
        counts = rng.poisson(rate, 400_000)
        counts = np.sort(counts[counts > 0])[::-1]
        drawn = counts[: len(counts) // 10].sum() / counts.sum()
        assert top_share(float(counts.mean()), 0.1) == pytest.approx(drawn, rel=0.01)


def test_a_shop_in_which_naive_is_wrong_is_called_heavily_skewed() -> None:
    """The world of the demo, where naive picks the wrong model; one that shows all items alike is not."""
    assert us.audit(World().train).skew == "heavily"
    assert us.audit(World(skew=0.0).train).skew == "moderately"


def test_selection_by_value_is_named_too() -> None:
    """With an MCAR log, the opening says that what was seen depends on its value, where it does."""
    longer = []
    for seen in (SEEN, dict.fromkeys(SEEN, 0.08)):
        log, mcar = rated(3, seen)
        both, alone = us.audit(log, mcar=mcar, feedback="ratings"), us.audit(log, feedback="ratings")
        longer.append(len(both.opening) > len(alone.opening))
        assert ("values-matter" in logs.said(both, "warning")) == longer[-1]
        assert ("no-selection-by-value" in logs.said(both, "good")) != longer[-1]
    assert longer == [True, False]


def test_one_item_and_few_items() -> None:
    """Nothing to compare is said; of few items the most popular one is named."""
    one = us.audit(pl.DataFrame({"user": [1, 2, 3], "item": [7, 7, 7]}))
    assert "one-item" in logs.said(one) and "%" not in one.opening
    few = us.audit(pl.DataFrame({"user": [*range(40), 0, 1], "item": [0] * 40 + [1, 2]}))
    assert "95 %" in few.opening
