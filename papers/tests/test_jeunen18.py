"""The study of jeunen18: what the paper prints, how values go together, and every experiment in a tiny shop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from unskew import cross_validate
from unskew.core import Store
from unskew.log import Log
from unskew.split import leave_one_out
from unskew_papers.climb import best, climb
from unskew_papers.jeunen18 import overstated, printed, table2, table3, truth, variants
from unskew_papers.jeunen18.algorithms import NAMES, PATIENCE, POP_N, SVD, WITHOUT_TIME, last_n
from unskew_papers.jeunen18.joint import Joint, kendall, tau
from unskew_papers.jeunen18.protocols import LOOCV, SW
from unskew_papers.jeunen18.setting import SHOP, VERSION, Setting, Size
from unskew_papers.jeunen18.study import STUDY
from unskew_papers.record import Verdict
from unskew_papers.shop import VARIED, ShopOverTime, left_out, varied

TINY = ShopOverTime(users=1500, items=120, days=40, future=7)
FEW = Size(repeats=2, folds=4, min_users=5)
STEPS = (1, 2, 5, 10, 20)

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
    assert found.difference("a", "b") == pytest.approx((x[:, 0].mean() - x[:, 1].mean(), apart[0, 1]))
    assert np.allclose(found.only(("c", "a")).covariance, found.covariance[np.ix_([2, 0], [2, 0])])


def test_kendalls_tau_is_scipys_and_its_interval_knows_the_errors() -> None:
    """Without errors it is a point; with errors beyond the differences it says nothing."""
    rng = np.random.default_rng(4)
    one, other = rng.random((2, 7, 5))
    assert np.allclose(kendall(one, other), [kendalltau(a, b).statistic for a, b in zip(one, other, strict=True)])
    names = ("a", "b", "c", "d")
    value = np.array([1.0, 2.0, 3.0, 4.0])
    sure, unsure = (Joint(names, value, scale * np.eye(4)) for scale in (0.0, 1e6))
    assert tau(sure, sure) == (1.0, 0.0, 1.0, 1.0)
    assert tau(sure, replace(sure, value=-value)) == (-1.0, 0.0, -1.0, -1.0)
    _, error, low, high = tau(sure, unsure)
    assert low <= -2 / 3 and high >= 2 / 3 and error == pytest.approx(np.sqrt(26 / 108), rel=0.05)  # of random orders


def test_numbers_are_tried_until_some_in_a_row_are_no_better() -> None:
    """A dip shorter than that does not end the climb, a plateau does; the best is the first of equals."""
    steps = (1, 2, 5, 10, 20, 50, 100, 200, 500)
    dip = dict(zip(steps, (1.0, 4.0, 3.0, 2.0, 5.0, 4.0, 5.0, 1.0, 9.0), strict=True))
    tried = climb(dip.__getitem__, steps, PATIENCE)
    assert tried == [(number, dip[number]) for number in steps[: 5 + PATIENCE]] and best(tried) == 20
    assert [number for number, _ in climb(lambda number: 0.0, steps, PATIENCE)] == list(steps[: 1 + PATIENCE])
    assert climb(float, steps, PATIENCE)[-1] == (500, 500.0)  # the numbers end


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
    logs = [Log.from_frame(each.drop("day"), feedback="implicit") for each in (frame, other)]
    tried = [last_n(log, "1d", 4, 5, (10, 100, 100_000)) for log in logs]
    assert tried[0] == tried[1] and [number for number, _ in tried[0]] == [10, 100]  # no more than there are rows


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    """A tiny shop that also stands for the public logs; ML-100K is not there."""
    folder = tmp_path_factory.mktemp("jeunen18")
    public = ("online-retail", "movietweetings")
    store = Store(folder, VERSION, tell=lambda message: None)
    own = replace(TINY, seed=1).log
    return Setting(
        store, lambda name: own if name in public else None, (TINY, TINY), TINY, (FEW, FEW), STEPS, workers=2
    )


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
    numbers = {(r.experiment, r.column): r.ours for r in records if r.row == SHOP}
    assert chosen[SVD] == f"svd(dim={numbers['settings/chosen', SVD]:g})"
    assert numbers["settings/the largest tried", SVD] == setting.tried(SHOP)[SVD][-1][0]


def test_what_is_finished_is_not_made_again(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records from the store alone: nothing is simulated, fitted or judged."""
    first = table2.table_2(setting)
    again = Setting(setting.store, setting.log, (replace(TINY), TINY), TINY, (FEW, FEW), STEPS)
    monkeypatch.setattr(ShopOverTime, "simulate", None)
    monkeypatch.setattr("unskew_papers.jeunen18.setting.cross_validate", None)
    assert table2.table_2(again) == first


def test_policies_first_items_and_widths(setting: Setting) -> None:
    """Each policy's rows are judged on their own; every experiment gives its parts."""
    records = table3.run(setting)
    parts = {record.experiment for record in records}
    assert {f"table3/{policy}, {protocol}" for policy in table3.OWN for protocol in (LOOCV, SW)} <= parts
    assert len([r for r in records if r.experiment == "table3/claims, SW-EVAL"]) == 2 * 6
    assert len([r for r in records if r.experiment == "table3/claims, LOOCV"]) == 2 * 4  # none of POP-N
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


def test_rankings_of_policies_are_judged_beside_the_papers(setting: Setting) -> None:
    """The paper's τ from its Table 3, counted by hand: 1 by leave-one-out; 2, 1 and 3 of 10 pairs swapped."""
    records = table3.run(setting)
    for protocol, taus in ((LOOCV, [1.0, 1.0, 1.0]), (SW, [0.6, 0.8, 0.4])):
        part = [r for r in records if r.experiment == f"table3/Kendall's τ between policies, Recall@10, {protocol}"]
        shown = [r for r in part if r.column == "τ"]
        assert [r.row for r in shown] == ["popular and recent", "popular and item_knn", "recent and item_knn"]
        assert [r.paper for r in shown] == pytest.approx(taus)
        claims = [r for r in records if r.experiment == f"table3/claims on rankings, {protocol}"]
        for record, told in zip(claims, shown, strict=True):
            alike = told.ours > 0.99
            sure = Verdict.HOLDS if alike == (protocol == LOOCV) else Verdict.FAILS
            assert record.ours == told.ours and (record.verdict is sure or record.verdict.undecided)


def test_dimensions_stand_beside_what_was_chosen(setting: Setting) -> None:
    """Under both protocols, as a cross-validation has them; the claims are about the dimensions that were chosen."""
    records = variants.tuning(setting)
    split = "sliding_window(width=1w, folds=4, min_users=5)"
    models = {"50": "svd(dim=50)", SVD: setting.chosen("online-retail")[SVD]}
    log = setting.log("online-retail")
    found = cross_validate(log, models, split=split, metrics=["recall@10"], target="per_user", estimators=["naive"])
    ours = {(r.row, r.column): r.ours for r in records if r.experiment == "tuning/online-retail, Recall@10"}
    for row in found.rows():
        assert ours[row.model, SW] == pytest.approx(row.macro)
    claims = [r for r in records if r.experiment == "tuning/claims"]
    assert [r.ours for r in claims] == [ours[SVD, LOOCV], ours[SVD, SW], ours[SVD, SW]]


def test_regret_is_what_the_pick_loses_in_the_ab_test() -> None:
    """By hand: svd(10) is picked over every other candidate, and user_knn(100) has most clicks."""
    way = "LOOCV, naive"
    clicks = dict.fromkeys(truth.TEXTS, 1.0) | {"svd(dim=10)": 3.0, "user_knn(neighbours=100, votes=count)": 4.0}
    value = dict.fromkeys(truth.UNTIMED, 0.1) | {"svd(dim=10)": 0.5, "svd(dim=30)": float("nan")}
    verdict = np.zeros((len(value), len(value)), dtype=np.int64)
    names = list(value)
    pop, svd, knn = (names.index(text) for text in ("most_popular", "svd(dim=10)", truth.GRID["U-kNN"][0]))
    verdict[svd, pop], verdict[pop, svd] = 1, -1  # right
    found = {"clicks": np.array([clicks[text] for text in truth.TEXTS]), f"{way}: verdict": verdict}
    found[f"{way}: value"] = np.array(list(value.values()))
    shown = dict(truth._of_world(found, way, WITHOUT_TIME))
    assert shown["regret, %"] == pytest.approx(25.0) and shown["picks the best algorithm, % of worlds"] == 0.0
    assert shown["right verdicts, %"] == pytest.approx(100 / 6) and shown["wrong, %"] == 0.0
    verdict[knn, svd], verdict[svd, knn] = 1, -1  # the first of equal settings of U-kNN has fewer clicks than SVD
    assert dict(truth._of_world(found, way, WITHOUT_TIME))["wrong, %"] == pytest.approx(100 / 6)
    every = dict(truth._of_world(found, way, NAMES))
    assert set(every) == {"regret, %", "picks the best algorithm, % of worlds"}  # it has no value of POP-N


def test_rows_that_are_left_out_know_their_chance() -> None:
    """Propensities of a weighed leave-one-out are those of the log over the rows of the user; the draw is the same."""
    log = TINY.log
    plain, weighed = leave_one_out(log, repeats=truth.REPEATS), left_out(log, truth.REPEATS)
    counts = np.diff(log.indptr)
    for one, other in zip(plain, weighed, strict=True):
        test = other.test
        assert np.array_equal(one.test.item, test.item) and np.array_equal(one.test.user, test.user)
        assert np.allclose(test.propensity, one.test.propensity / counts[test.user])  # type: ignore[arg-type]
        assert not test.sampled_by


def test_worlds_with_a_known_truth(setting: Setting) -> None:
    """No two are alike; every way has its regret, and its verdicts add up."""
    shops = [varied(TINY, seed) for seed in (0, 1)]
    for name, (low, high) in VARIED.items():
        one, other = (getattr(shop, name) for shop in shops)
        assert one != other and low <= min(one, other) and max(one, other) <= high
    records = truth.run(setting, runs=2)
    for part, names in (("POP, SVD, U-kNN, I-kNN", WITHOUT_TIME), ("POP-N too", NAMES)):
        for way, (protocol, _) in truth.WAYS.items():
            shown = {r.column: r.ours for r in records if r.experiment == f"truth/{part}" and r.row == way}
            assert 0.0 <= shown["regret, %"] <= 100.0
            if protocol == SW or names == WITHOUT_TIME:
                verdicts = sum(shown[name] for name in ("right verdicts, %", "wrong, %", "undecided, %"))
                assert verdicts == pytest.approx(100.0)
    first = [r.ours for r in records if r.row == "first in % of worlds"]
    assert len(first) == len(NAMES) and sum(first) == pytest.approx(100.0)


def test_policies_overstate_some_algorithms_more_than_others(setting: Setting) -> None:
    """Every policy has a number of every algorithm, and a claim about its own against each other one."""
    records = overstated.run(setting, runs=2)
    for search in overstated.SEARCHES:
        part = f"overstated/{search:g} items found without the page"
        shown = {(r.row, r.column): r.ours for r in records if r.experiment == part}
        assert set(shown) == {(f"rows of '{policy}'", name) for policy in table3.OWN for name in overstated.MODELS}
        assert all(value > 0.0 for value in shown.values())
    claims = [r for r in records if r.experiment == "overstated/claims"]
    assert len(claims) == 2 * 3 * 4 and not any(r.verdict is Verdict.UNJUDGED for r in claims)


def test_a_quick_run_has_less_and_says_so_once(setting: Setting) -> None:
    """Its own shop, sizes and logs; the full run has all of them back."""
    told: list[str] = []
    store, few = Store(setting.store.folder, VERSION, tell=told.append), Size(repeats=1, folds=2, min_users=5)
    quick = Setting(store, setting.log, (TINY, replace(TINY, users=700)), TINY, (FEW, few), STEPS)
    quick.begin(True, None)
    quick.begin(True, None)
    assert len(told) == 1 and quick.shop.users == 700 and quick.split(SHOP, LOOCV) == "leave_one_out(repeats=1)"
    assert quick.there(("online-retail", "movietweetings")) == ["online-retail"]
    quick.begin(False, None)
    assert quick.shop is TINY and quick.there(("online-retail", "movietweetings")) == [
        "online-retail",
        "movietweetings",
    ]


def test_the_study_is_known_to_the_command_line() -> None:
    """With all its experiments."""
    from unskew_papers.cli.reproduce import _study

    assert _study("jeunen18") is STUDY
    assert [e.name for e in STUDY.experiments] == [
        "table1", "table2", "tuning", "first-only", "widths", "table3", "overstated", "truth",
    ]  # fmt: skip
