"""What the audit says of intervals is what an evaluation of such lists finds."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.conftest import missing
from unskew.auditing import widths as module
from unskew.auditing.widths import POPULAR, RANDOM, Width
from unskew.log import datasets
from unskew.models import MostPopular, Random
from unskew.result import Estimate

from . import logs

SEEDS = 20


def evaluated(frame: pl.DataFrame, propensity: str) -> dict[tuple[str, str], Estimate]:
    """The same hold-out, with the models that the audit speaks of."""
    train, test = us.split.holdout(us.Log.from_frame(frame), 0.3, seed=0)
    lists = {f"random {seed}": Random(seed=seed).fit(train) for seed in range(SEEDS)}
    result = us.evaluate(
        test, {"popular": MostPopular().fit(train), **lists}, metrics=["recall@10"], estimators=["naive", "snips"],
        target="pooled", propensity=propensity, train=train,
    )  # fmt: skip
    return {(e.model, e.estimator): e for e in result.estimates}


def agrees(width: dict[str, Width], found: dict[tuple[str, str], Estimate]) -> None:
    """Of the popular items exactly; of random ones the medians over lists, within their spread."""
    popular, random = width[POPULAR], width[RANDOM]
    assert popular.naive == pytest.approx(found["popular", "naive"].value)
    assert popular.snips == pytest.approx(found["popular", "snips"].value)
    assert popular.naive_se == pytest.approx(found["popular", "naive"].se, rel=0.02)
    assert popular.snips_se == pytest.approx(found["popular", "snips"].se, rel=0.02)
    every = [found[f"random {s}", "snips"].se / found[f"random {s}", "naive"].se for s in range(SEEDS)]
    ratios = [ratio for ratio in every if not math.isnan(ratio)]  # a value that could be anything is not shown
    assert len(ratios) >= SEEDS / 2
    assert random.ratio_low is not None and random.ratio_high is not None and random.ratio is not None
    assert random.ratio_low <= np.median(ratios) <= random.ratio_high
    assert np.quantile(ratios, 0.1) <= random.ratio <= np.quantile(ratios, 0.9)


@pytest.mark.parametrize("known", [True, False])
def test_the_widths_are_those_of_evaluating(known: bool) -> None:
    """Values and standard errors equal those of ``us.evaluate`` on that hold-out, for known and popularity."""
    frame = logs.skewed(propensity=known)
    audit = us.audit(frame)
    names = list(dict.fromkeys(w.propensity for w in audit.widths))
    assert names == ["known", "popularity(gamma=1)"][not known :]
    for name in names:
        agrees({w.listed: w for w in audit.widths if w.propensity == name}, evaluated(frame, name))


@pytest.mark.parametrize("name", ["ml-100k", "movietweetings", "coat"])
def test_the_widths_are_right_on_real_logs(name: str) -> None:
    """Snips makes the interval of the popular items narrower and that of random ones wider, as the audit says."""
    if datasets.folder_of(name) is None:
        missing(f"no copy of {name}: set UNSKEW_DATA")
    frame = us.load(name).mnar.to_frame().select("user", "item")
    if name == "movietweetings":  # random lists of many items are slow
        frame = frame.filter(pl.col("user").hash(0) % 4 == 0)
    audit = us.audit(frame)
    width = {w.listed: w for w in audit.widths}
    agrees(width, evaluated(frame, "popularity(gamma=1)"))
    popular, random = width[POPULAR].ratio, width[RANDOM].ratio
    assert popular is not None and random is not None and popular < 0.5 and random > 1.0


def test_too_few_hits_measure_nothing() -> None:
    """Lists with fewer than ten hits get no ratio, and the finding says so instead of quoting one."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"user": np.arange(30).repeat(3), "item": rng.permutation(90)})
    audit = us.audit(frame)
    assert audit.widths and all(w.ratio is None and w.naive_se is None for w in audit.widths)
    assert "±" not in logs.text_of(audit, "interval-widths")


def test_of_a_large_log_some_users_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit on rows the users are fewer, the same for any order of rows, and the numbers are near."""
    frame = logs.skewed(users=600)
    full = {w.listed: w for w in us.audit(frame).widths}
    monkeypatch.setattr(module, "MOST_ROWS", 400)
    part = {w.listed: w for w in us.audit(frame).widths}
    assert part == {w.listed: w for w in us.audit(frame.sample(fraction=1.0, shuffle=True, seed=3)).widths}
    assert part[POPULAR].users < full[POPULAR].users
    assert part[POPULAR].ratio == pytest.approx(full[POPULAR].ratio, rel=0.25)
