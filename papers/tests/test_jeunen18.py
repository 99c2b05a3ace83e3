"""The study of jeunen18: what the paper prints, how values go together, and every experiment in a tiny shop."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from unskew import cross_validate
from unskew.core import Store
from unskew.log import Log
from unskew_papers.jeunen18 import printed, table2, table3, truth, variants
from unskew_papers.jeunen18.algorithms import GRIDS, NAMES, POP_N, WITHOUT_TIME, last_n
from unskew_papers.jeunen18.joint import Joint, kendall, tau
from unskew_papers.jeunen18.protocols import LOOCV, SW
from unskew_papers.jeunen18.setting import SHOP, VERSION, Setting, Size
from unskew_papers.jeunen18.study import STUDY
from unskew_papers.record import Verdict
from unskew_papers.shop import ShopOverTime

TINY = ShopOverTime(users=1500, items=120, days=40, future=7)
FEW = Size(repeats=2, folds=4, min_users=5)
SHORT = {name: grid[:2] for name, grid in GRIDS.items()}

# Δ % as printed, k = 5, 10, 15, 20; the best has none
DELTAS_2 = {
    LOOCV: {"POP": (92, 89, 87, 84), "SVD": (58, 51, 46, 41), "U-kNN": (50, 51, 50, 50)},
    SW: {"POP": (61, 56, 50, 45), "POP-N": (2, 29, 39, 45), "SVD": (29, 19, 10, 3), "U-kNN": (44, 45, 46, 47)},
}
DELTAS_3 = {
    "recent": {
        LOOCV: {"POP": (89, 84, 81, 78), "SVD": (40, 32, 25, 19), "U-kNN": (8, 8, 7, 7)},
        SW: {"POP": (57, 43, 37, 36), "U-kNN": (31, 13, 20, 25), "I-kNN": (36, 21, 25, 29)},
    },
    "popular": {
        LOOCV: {"POP": (89, 85, 81, 78), "SVD": (47, 41, 35, 30), "U-kNN": (24, 25, 24, 23)},
        SW: {"POP": (58, 47, 47, 45), "U-kNN": (38, 34, 39, 42), "I-kNN": (14, 4, 14, 18)},
    },
    "item_knn": {
        LOOCV: {"POP": (91, 89, 86, 84), "SVD": (52, 50, 44, 40), "U-kNN": (35, 42, 41, 41)},
        SW: {"POP": (61, 58, 51, 46), "POP-N": (6, 33, 43, 48), "SVD": (33, 21, 15, 8), "U-kNN": (35, 40, 42, 43)},
    },
}


def fits(value: float, best: float, delta: int) -> bool:
    """Whether some value and best that round to these give what rounds to −Δ %; one point is granted besides."""
    low, high = (value - 5e-4) / (best + 5e-4) - 1.0, (value + 5e-4) / (best - 5e-4) - 1.0
    return 100.0 * low - 1.5 <= -delta <= 100.0 * high + 1.5


@pytest.mark.parametrize("policy", [None, *printed.TABLE_3])
def test_the_papers_values_fit_its_own_deltas(policy: str | None) -> None:
    """Both slips set right; with what is printed they do not fit."""
    values = printed.TABLE_2 if policy is None else printed.TABLE_3[policy]
    for protocol, rows in (DELTAS_2 if policy is None else DELTAS_3[policy]).items():
        for k, column in enumerate(zip(*values[protocol].values(), strict=True)):
            for model, deltas in rows.items():
                assert fits(values[protocol][model][k], max(column), deltas[k]), (protocol, model, k)
    assert not fits(0.230, 0.037, 38) and not fits(0.170, 0.406, 44)
    for (named, protocol, model, k), (_, right) in printed.SLIPS.items():
        assert printed.TABLE_3[named][protocol][model][(5, 10, 15, 20).index(k)] == right


def test_covariances_come_back_from_errors_of_differences() -> None:
    """Cov(a, b) = (se_a² + se_b² − se²(a − b))/2, ratios as by the delta method of the same users."""
    rng = np.random.default_rng(3)
    x = rng.random((500, 1)) + rng.random((500, 3))
    n = len(x)
    apart = np.array([[(x[:, a] - x[:, b]).std(ddof=1) / np.sqrt(n) for b in range(3)] for a in range(3)])
    found = Joint.of(("a", "b", "c"), x.mean(axis=0), x.std(axis=0, ddof=1) / np.sqrt(n), apart)
    assert np.allclose(found.covariance, np.cov(x.T) / n)
    ratio, error = found.ratio("a", "b")
    linear = (x[:, 0] - ratio * x[:, 1]) / x[:, 1].mean()
    assert ratio == pytest.approx(x[:, 0].mean() / x[:, 1].mean())
    assert error == pytest.approx(linear.std(ddof=1) / np.sqrt(n))
    assert found.ratio("a", "a") == (1.0, 0.0)
    assert np.allclose(found.only(("c", "a")).covariance, found.covariance[np.ix_([2, 0], [2, 0])])


def test_kendalls_tau_is_scipys_and_its_interval_knows_the_errors() -> None:
    """Without errors it is a point; with errors beyond the differences it says nothing."""
    rng = np.random.default_rng(4)
    one, other = rng.random((2, 7, 5))
    assert np.allclose(kendall(one, other), [kendalltau(a, b).statistic for a, b in zip(one, other, strict=True)])
    names = ("a", "b", "c", "d")
    value = np.array([1.0, 2.0, 3.0, 4.0])
    sure, unsure = (Joint(names, value, scale * np.eye(4)) for scale in (0.0, 1e6))
    assert tau(sure, sure) == (1.0, 1.0, 1.0)
    assert tau(sure, replace(sure, value=-value)) == (-1.0, -1.0, -1.0)
    _, low, high = tau(sure, unsure)
    assert low <= -2 / 3 and high >= 2 / 3


def test_the_last_n_is_chosen_before_the_windows_that_are_judged() -> None:
    """Other rows from the first judged window on change nothing."""
    rng = np.random.default_rng(5)
    day = np.sort(rng.integers(0, 40, 3000))
    frame = pl.DataFrame({"user": rng.integers(0, 60, 3000), "item": rng.integers(0, 90, 3000), "day": day})
    frame = frame.unique(["user", "item"], keep="first", maintain_order=True).with_columns(
        time=pl.datetime(2024, 1, 1) + pl.duration(days="day")
    )
    late = pl.col("day") >= 40 - 4
    other = frame.with_columns(item=pl.when(late).then(1000 + pl.int_range(pl.len())).otherwise("item"))
    chosen = [last_n(Log.from_frame(each.drop("day"), feedback="implicit"), "1d", 4, 5) for each in (frame, other)]
    assert chosen[0] == chosen[1] and chosen[0].startswith("recently_popular(last=")


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    """A tiny shop that also stands for the public logs; ML-100K is not there."""
    folder = tmp_path_factory.mktemp("jeunen18")
    public = ("online-retail", "movietweetings")
    store = Store(folder, VERSION, tell=lambda message: None)
    own = replace(TINY, seed=1).log
    return Setting(store, lambda name: own if name in public else None, (TINY, TINY), TINY, FEW, SHORT, workers=2)


def test_values_are_those_of_a_cross_validation(setting: Setting) -> None:
    """Table 2 holds them with the errors that they have, and Δ % of the best is 0."""
    records = table2.table_2(setting)
    chosen = setting.chosen(SHOP)
    assert list(chosen) == list(NAMES)
    split = "sliding_window(width=1d, folds=4, min_users=5)"
    found = cross_validate(
        TINY.log, chosen, split=split, metrics=["recall@10"], target="per_user", estimators=["naive"]
    )
    ours = {r.column: r for r in records if r.experiment == "table2/shop, SW-EVAL" and r.row == "10"}
    deltas = {r.column: r for r in records if r.experiment == "table2/shop, SW-EVAL, Δ % to the best" and r.row == "10"}
    best = max(row.macro for row in found.rows())
    for row in found.rows():
        assert ours[row.model].ours == pytest.approx(row.macro)
        assert ours[row.model].se == pytest.approx(row.macro_se)
        assert ours[row.model].paper == printed.TABLE_2[SW][row.model][1]
        assert deltas[row.model].ours == pytest.approx(100.0 * (row.macro / best - 1.0))
    assert not any(r.column == POP_N for r in records if r.experiment.startswith("table2/shop, LOOCV"))
    assert not any("ml-100k" in r.experiment for r in records)
    claims = [r for r in records if r.experiment == "findings/claims"]
    assert len(claims) == 3 * 3 and all(r.verdict is not Verdict.UNJUDGED for r in claims)


def test_what_is_finished_is_not_made_again(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records from the store alone: nothing is simulated, fitted or judged."""
    first = table2.table_2(setting)
    again = Setting(setting.store, setting.log, (replace(TINY), TINY), TINY, FEW, SHORT)
    monkeypatch.setattr(ShopOverTime, "simulate", None)
    monkeypatch.setattr("unskew_papers.jeunen18.setting.cross_validate", None)
    assert table2.table_2(again) == first


def test_policies_first_items_and_widths(setting: Setting) -> None:
    """Each policy's rows are judged on their own; every experiment gives its parts."""
    records = table3.run(setting)
    parts = {record.experiment for record in records}
    assert {f"table3/{policy}, {protocol}" for policy in table3.OWN for protocol in (LOOCV, SW)} <= parts
    assert len([r for r in records if r.experiment == "table3/claims, SW-EVAL"]) == 6
    assert len([r for r in records if r.experiment == "table3/claims, LOOCV"]) == 4  # none of POP-N
    log = TINY.log
    rows = log.take((log.policy == "popular").to_numpy())  # type: ignore[union-attr]
    chosen = {name: text for name, text in setting.chosen(SHOP).items() if name in WITHOUT_TIME}
    found = cross_validate(rows, chosen, split="leave_one_out(repeats=2)", target="per_user", estimators=["naive"])
    ours = {r.column: r.ours for r in records if r.experiment == "table3/popular, LOOCV" and r.row == "10"}
    assert ours == pytest.approx({row.model: row.macro for row in found.rows()})
    first = {r.experiment for r in variants.first_only(setting)}
    assert "first-only/Kendall's τ with all items, Recall@10" in first
    widths = variants.widths(setting)
    counts = {(r.row, r.column): r.ours for r in widths if r.experiment == "widths/shop, what was judged"}
    assert all(counts[width, "windows"] + counts[width, "skipped"] == folds for width, folds in variants.WIDTHS.items())


def test_wrong_verdicts_are_those_against_the_ab_test() -> None:
    """By hand: three models, one pair right, one wrong, one open."""
    names = ("POP", "SVD", "U-kNN")
    clicks = np.array([1.0, 0.0, 2.0, 3.0, 0.0])  # of POP, POP-N, SVD, U-kNN, I-kNN
    way = (LOOCV, "naive")
    found: dict[str, Any] = {"clicks": clicks, "LOOCV, naive: models": list(names)}
    found["LOOCV, naive: decided"] = np.array([-1, 1, 0])  # POP < SVD: right; POP > U-kNN: wrong
    found["LOOCV, naive: value"] = np.array([2.0, 3.0, 1.0])
    counts = truth._verdicts([found], way, names)
    assert {name: value[0] for name, value in counts.items()} == pytest.approx(
        {"right verdicts, %": 100 / 3, "wrong, %": 100 / 3, "undecided, %": 100 / 3}
    )
    pairs = [np.sign(a - b) for a, b in combinations((2.0, 3.0, 1.0), 2)]
    true = [np.sign(a - b) for a, b in combinations((1.0, 2.0, 3.0), 2)]
    assert truth._tau(found, way, names) == pytest.approx(np.mean(np.multiply(pairs, true)))


def test_worlds_with_a_known_truth(setting: Setting) -> None:
    """Every way has its τ and its verdicts, which add up."""
    records = truth.run(setting, runs=2)
    part = [r for r in records if r.experiment == "truth/POP, SVD, U-kNN, I-kNN"]
    assert {r.row for r in part} == set(truth.WAYS)
    for way in truth.WAYS:
        shares = {r.column: r.ours for r in part if r.row == way}
        assert sum(shares[name] for name in ("right verdicts, %", "wrong, %", "undecided, %")) == pytest.approx(100.0)
        assert -1.0 <= shares["Kendall's τ with the A/B test"] <= 1.0


def test_the_study_is_known_to_the_command_line() -> None:
    """With all its experiments."""
    from unskew_papers.cli.reproduce import _study

    assert _study("jeunen18") is STUDY
    assert [e.name for e in STUDY.experiments] == ["table1", "table2", "first-only", "widths", "table3", "truth"]
