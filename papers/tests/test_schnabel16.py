"""The study of schnabel16 on a small world: its shortcuts equal the long way, and its claims are judged by numbers."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_rel
from tests.cli.commands import code_of
from tests.conftest import missing
from typer.testing import CliRunner

import unskew as us
from unskew.cli import app
from unskew.core import Store
from unskew.log import Ids, Log, Predictions
from unskew.log.datasets import Dataset, folder_of, source_of
from unskew.models import MF
from unskew.propensity import FitInputs, NaiveBayes
from unskew.simulate import NAMES, RatingWorld
from unskew_papers.arrays import present
from unskew_papers.record import Verdict, read_json, write_json
from unskew_papers.schnabel16 import completion, figure2, figure3, figure4, table1, table2, world
from unskew_papers.schnabel16.learning import LOSSES, learn, printed, searched
from unskew_papers.schnabel16.setting import METRICS, Draw, Setting, rmse


def small_world() -> RatingWorld:
    rng = np.random.default_rng(0)
    full = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 70))
    user, item = np.nonzero(rng.random(full.shape) < 0.4)
    log = Log.from_frame(pl.DataFrame({"user": user, "item": item, "value": full[user, item]}), feedback="ratings")
    return RatingWorld.like(log)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return Setting(Store(tmp_path_factory.mktemp("store")), small_world, workers=2)


def test_sums_by_rating_are_enough(setting: Setting) -> None:
    """naive, ips and snips from the sums equal ``evaluate`` on the log itself, target per_pair."""
    world = setting.at(0.25)
    log = world.draw(3)
    draw = setting.draws([0.25], [3])[0.25][0]
    p = world.propensity_of[1:]
    values = {"naive": draw.naive(), "ips": draw.ips(p, setting.pairs), "snips": draw.snips(p)}
    models = {
        name: Predictions.from_array(matrix, world.users.values, world.items.values)
        for name, matrix in world.predictions().items()
    }
    everybody = log.users.values.to_frame("user")
    estimators = ["naive", "ips", "snips"]
    result = us.evaluate(log, models, metrics=METRICS, estimators=estimators, propensity="known", users=everybody)
    rows = result.table().filter(pl.col("target") == "per_pair").to_dicts()
    assert len(rows) == len(METRICS) * len(NAMES) * 3
    for row in rows:
        estimator = row["estimator"].split("(")[0]
        ours = values[estimator][METRICS.index(row["metric"]), NAMES.index(row["model"])]
        assert row["value"] == pytest.approx(ours, rel=1e-9), row


def test_draws_are_kept(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second setting on the same store reads what the first one drew."""
    before = setting.draws([0.5, 1.0], range(4))
    other = Setting(setting.store, small_world)
    monkeypatch.setattr(Setting, "_draw", lambda *_: pytest.fail("drawn again"))
    after = other.draws([1.0, 0.5], range(4))
    for alpha in (0.5, 1.0):
        for one, two in zip(before[alpha], after[alpha], strict=True):
            np.testing.assert_array_equal(one.sums, two.sums)


@pytest.mark.parametrize(
    ("name", "value"), [("share", 0.3), ("levels", 6), ("users", "others"), ("items", "others"), ("truth", "others")]
)
def test_another_world_finds_none_of_the_units(setting: Setting, name: str, value: Any) -> None:
    """Each parameter of the world that a draw depends on is part of its key."""
    world = setting.world
    others: dict[str, Any] = {
        "users": Ids(pl.Series(range(1000, 1000 + len(world.users)))),
        "items": Ids(pl.Series(range(1000, 1000 + len(world.items)))),
        "truth": world.truth[::-1].copy(),
    }
    other = Setting(setting.store, lambda: replace(world, **{name: others.get(name, value)}))
    assert setting.store.path(other.draw_key(0.25, 0)) != setting.store.path(setting.draw_key(0.25, 0))
    search = searched((1.0,), (2,))
    keys = [figure3.trial_key(each, search, "ips", 0.25, 0, 0) for each in (setting, other)]
    assert setting.store.path(keys[0]) != setting.store.path(keys[1])


def test_a_larger_share_is_drawn_anew(setting: Setting) -> None:
    """In one folder, the same ratings with another share: as many pairs are seen as that share says."""
    few = setting.draws([0.25], [0])[0.25][0].count.sum() / setting.pairs
    other = Setting(setting.store, lambda: replace(setting.world, share=0.3))
    many = other.draws([0.25], [0])[0.25][0].count.sum() / setting.pairs
    assert few == pytest.approx(0.05, abs=0.015) and many == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize(
    ("name", "value"),
    [("METRICS", ("mse", "mae", "dcg@50")), ("NAMES", ("rotate", *NAMES[:2])), ("PREDICTOR_SEED", 1)],
)
def test_other_metrics_or_predictors_find_none_of_the_units(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    """Also in another order: draws and truth hold arrays by place."""
    before = setting.store.path(setting.draw_key(0.25, 0))
    monkeypatch.setattr(f"unskew_papers.schnabel16.setting.{name}", value)
    assert setting.store.path(setting.draw_key(0.25, 0)) != before


@pytest.mark.parametrize(
    ("name", "value"), [("OFFSETS", ("free",)), ("FOLDS", 5), ("FOLD_TOLERANCE", 1e-3), ("ROUNDS", 7)]
)
def test_another_search_finds_none_of_the_units(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    """The grid, folds and tolerances of Figure 3 and Table 2 are part of their keys."""
    log = setting.at(0.25).draw(0)
    coat = Dataset(source_of("coat").about, log, log)

    def paths() -> list[Path]:
        keys = [figure3.trial_key(setting, searched((1.0,), (2,)), "ips", 0.25, 0, 0)]
        keys.append(table2.run_key(coat, "mf-ips", "mae", 0))
        return [setting.store.path(key) for key in keys]

    before = paths()
    monkeypatch.setattr(f"unskew_papers.schnabel16.learning.{name}", value)
    assert all(one != two for one, two in zip(before, paths(), strict=True))


def test_other_data_or_another_grid_finds_none_of_table_2s_units(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rating or one propensity that differs, in training or test; other dims; the other loss."""
    log = setting.at(0.25).draw(0)
    assert log.value is not None and log.propensity is not None
    rated = replace(log, value=np.where(np.arange(len(log)) == 3, 1.5, log.value))
    shown = replace(log, propensity=np.where(np.arange(len(log)) == 3, 0.5, log.propensity))
    sets = [Dataset(source_of("coat").about, *both) for both in ((log, log), (rated, log), (shown, log), (log, rated))]
    keys = [table2.run_key(each, "mf-ips", "mae", 0) for each in sets] + [table2.run_key(sets[0], "mf-ips", "mse", 0)]
    monkeypatch.setattr(table2, "DIMS", (5,))
    keys.append(table2.run_key(sets[0], "mf-ips", "mae", 0))
    assert len({setting.store.path(key) for key in keys}) == 6


def test_naive_bayes_is_the_packages(setting: Setting) -> None:
    """P̂ by rating equals ``us.propensity`` fitted on the log and a random sample with the same counts."""
    world = setting.at(0.25)
    log = world.draw(1)
    sample = np.array([40, 20, 9, 3, 0])
    frame = pl.DataFrame({"user": [0] * 72, "item": range(72), "value": np.repeat(np.arange(1.0, 6.0), sample)})
    fitted = NaiveBayes(smoothing=1.0).fit(log, inputs=FitInputs(mcar=Log.from_frame(frame, feedback="ratings")))
    draw = setting.draws([0.25], [1])[0.25][0]
    mine = figure4.naive_bayes(draw, sample.astype(np.float64), setting.pairs)
    assert log.value is not None
    np.testing.assert_allclose(fitted.of(log).rows, mine[log.value.astype(int) - 1], rtol=1e-12)


def test_rmse_is_the_average_of_roots_with_a_jackknife_error() -> None:
    """Loops over draws, metrics and predictors; leaving out one draw at a time."""
    rng = np.random.default_rng(0)
    estimates, truth = rng.normal(size=(9, 2, 3)), rng.normal(size=(2, 3))

    def value(rows: list[int], m: int) -> float:
        roots = [math.sqrt(sum((estimates[t, m, n] - truth[m, n]) ** 2 for t in rows) / len(rows)) for n in range(3)]
        return sum(roots) / 3

    for m, found in enumerate(rmse(estimates, truth)):
        left = [value([t for t in range(9) if t != out], m) for out in range(9)]
        assert found.value == pytest.approx(value(list(range(9)), m))
        assert found.without.tolist() == pytest.approx(left)
        assert found.se == pytest.approx(math.sqrt(8 / 9 * sum((x - sum(left) / 9) ** 2 for x in left)))
    one, _ = rmse(estimates[:1], truth)
    assert one.value == pytest.approx(value([0], 0)) and math.isnan(one.se)


def test_records_of_table_1_hold_means_and_spreads(setting: Setting) -> None:
    """Every cell of both halves, from the same draws; a world that is not the paper's misses the paper's numbers."""
    records = table1.run(setting, runs=5)
    assert len(records) == 2 * 5 * 7
    draws = setting.draws([0.25], range(5))[0.25]
    naive = np.array([draw.naive()[METRICS.index("mae"), NAMES.index("rotate")] for draw in draws])
    found = {(r.experiment, r.row, r.column): r for r in records}
    mean, spread = found["table1/mae", "rotate", "naive"], found["table1/mae", "rotate", "naive sd"]
    assert mean.ours == pytest.approx(naive.mean()) and mean.se == pytest.approx(naive.std(ddof=1) / math.sqrt(5))
    assert spread.ours == pytest.approx(naive.std(ddof=1)) and spread.paper == 0.003
    assert found["table1/mae", "rotate", "true"].verdict is Verdict.MET  # depends on the marginals only
    assert found["table1/dcg@50", "rec_ones", "naive"].verdict is Verdict.MISSED  # 70 items are not 1,682


def test_one_run_says_nothing_of_spreads(setting: Setting, tmp_path: Path) -> None:
    """``--runs 1``: spreads and what is held to standard errors are not judged; what needs none still is."""
    records = table1.run(setting, runs=1)
    found = {(r.experiment, r.row, r.column): r.verdict for r in records}
    assert found["table1/mae", "rotate", "naive sd"] is Verdict.OPEN
    assert found["table1/mae", "rotate", "ips"] is Verdict.OPEN
    assert found["table1/dcg@50", "rotate", "ips"] is Verdict.OPEN
    assert found["table1/mae", "rotate", "true"] is Verdict.MET
    assert found["table1/dcg@50", "rec_ones", "naive"] is Verdict.MISSED
    write_json(tmp_path / "r.json", records, {})
    assert len(read_json(tmp_path / "r.json")[0]) == len(records)


def test_figures_have_every_point_and_judge_their_claims(setting: Setting) -> None:
    """snips is naive at α = 1, naive is beaten under selection; a claim that is false is said to fail."""
    records = figure2.run(setting, runs=6)
    grid = [r for r in records if "claims" not in r.experiment]
    assert len(grid) == 3 * 6 * 3 and all(r.verdict is Verdict.UNJUDGED for r in grid)
    claims = {(r.experiment, r.row, r.column): r for r in records if "claims" in r.experiment}
    for metric in METRICS:
        assert claims[f"figure2/claims for {metric}", "1", "snips is naive"].verdict is Verdict.HOLDS
        assert claims[f"figure2/claims for {metric}", "0.25", "ips beats naive"].verdict is Verdict.HOLDS
    value = {(r.experiment, r.row, r.column): r.ours for r in grid}
    for (part, row, what), record in claims.items():
        metric = part.removeprefix("figure2/claims for ")
        if what == "snips is not behind ips":
            ahead = value[f"figure2/{metric}", row, "snips"] <= value[f"figure2/{metric}", row, "ips"]
            assert record.verdict in ((Verdict.HOLDS, Verdict.LIKELY) if ahead else (Verdict.FAILS, Verdict.UNLIKELY))
    points = figure4.run(setting, runs=6)
    sizes = {r.row for r in points if r.experiment == "figure4/mse"}
    assert sizes == {"10", "30", "100", "300", "1,000", "3,000"}  # no more than there are pairs
    assert sum(r.column == "best ips-nb beats known" for r in points) == 1


def test_claims_of_figure_2_have_the_error_of_their_margin(setting: Setting) -> None:
    """0.1·naive − ips of the MSE at α = .25, one draw left out at a time; what is exact has no error."""
    found = {(r.experiment, r.row, r.column): r for r in figure2.run(setting, runs=5)}
    draws, p = setting.draws([0.25], range(5))[0.25], setting.at(0.25).propensity_of[1:]
    m = METRICS.index("mse")

    def margin(rows: list[int]) -> float:
        roots = []
        for estimates in ([draw.ips(p, setting.pairs)[m] for draw in draws], [draw.naive()[m] for draw in draws]):
            each = [math.sqrt(sum((estimates[r][n] - setting.truth[m, n]) ** 2 for r in rows) / len(rows))
                    for n in range(len(NAMES))]  # fmt: skip
            roots.append(sum(each) / len(each))
        return 0.1 * roots[1] - roots[0]

    left = [margin([r for r in range(5) if r != out]) for out in range(5)]
    record = found["figure2/claims for mse", "0.25", "ips, by orders of magnitude"]
    assert record.paired_se == pytest.approx(math.sqrt(4 / 5 * sum((x - sum(left) / 5) ** 2 for x in left)))
    assert found["figure2/claims for mse", "1", "snips is naive"].paired_se is None


def test_a_sample_of_everything_gives_nearly_the_true_propensities() -> None:
    """Counts as expected under P and a sample of all pairs: P̂ = P up to the pseudo-counts."""
    pairs, marginals = 10**9, np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    p = np.array([0.01, 0.02, 0.05, 0.2, 0.2])
    draw = Draw(np.concatenate([[0.0], marginals * p * pairs]), np.zeros((1, 1, 6)))
    np.testing.assert_allclose(figure4.naive_bayes(draw, marginals * pairs, pairs), p, rtol=1e-5)


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], env={"COLUMNS": "120", "NO_COLOR": "1"})


def test_the_command_writes_records_and_the_page(tmp_path: Path) -> None:
    """``unskew reproduce schnabel16 table1 --quick`` on ML-100K: Table 1 is met, and a second run is read."""
    if folder_of("ml-100k") is None:
        missing("ML-100K is not there: set UNSKEW_DATA to the directory that holds ml-100k/")
    folders: list[str | Path] = ["--store", tmp_path / "store", "--out", tmp_path / "out"]
    arguments = ["schnabel16", "table1", "--quick", *folders]
    done = run(*arguments, "--json", tmp_path / "all.json")
    assert done.exit_code == 0, done.output
    content = json.loads((tmp_path / "all.json").read_text())
    assert content["quick"] and {r["experiment"].split("/")[0] for r in content["records"]} == {"table1"}
    missed = {(r["experiment"], r["row"]) for r in content["records"] if r["verdict"] in ("missed", "fails")}
    assert missed == {("table1/dcg@50", "rotate"), ("table1/dcg@50", "coarsened")}  # what offsets bring
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"schnabel16.md", "schnabel16-table1.json", "schnabel16-table1.csv"}
    units = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*.unit")}
    completions = len(completion.PENALTIES) * len(completion.RANKS) * completion.SPLITS
    assert len(units) == 12 + 1 + completions  # draws, and the truth
    assert "--out" in (tmp_path / "out" / "schnabel16.md").read_text()
    again = run(*arguments)
    assert again.stdout == done.stdout
    printed = run("schnabel16", "table1", "--quick", "--store", tmp_path / "store")
    store = tmp_path / "store"
    assert str(store) in printed.stderr
    assert f"unskew reproduce schnabel16 table1 --quick --store {store} --out docs/reproduction" in printed.stderr
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*.unit")} == units


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["schnabel17"], "unknown-name"),
        (["schnabel16", "table9"], "unknown-name"),
        (["schnabel16", "table1", "--store", __file__], "not-a-folder"),
    ],
)
def test_wrong_studies_experiments_and_options_are_errors(arguments: list[str], code: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2 and code_of(done.stderr) == code


@pytest.mark.parametrize("metric", LOSSES)
def test_learning_is_judged_over_all_pairs_and_kept(
    metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figure 3 on the small world: errors are over the whole matrix, by the loss's own metric; nothing is relearnt."""
    monkeypatch.setattr(figure3, "QUICK_PENALTIES", (1.0, 25.0))
    monkeypatch.setattr("unskew_papers.schnabel16.learning.FURTHER", 0)
    setting, part = Setting(Store(tmp_path), small_world, workers=2), f"figure3-{metric}"
    records = figure3.run(metric, setting, 2, True)
    found = {(r.experiment, r.row, r.column): r for r in records}
    assert {r.row for r in records if r.experiment == f"{part}/selection"} == {"1", "0.25"}
    assert found[f"{part}/claims about selection", "1", "both are the same"].verdict is Verdict.HOLDS
    world = setting.at(0.25)
    errors: dict[str, list[float]] = {"known": [], "none": []}
    for method, trial in itertools.product(errors, range(2)):
        given = None if method == "none" else method
        model = MF.search(
            world.draw(trial), given, penalties=(1.0, 25.0), dims=(20,), loss=LOSSES[metric], rounds=2000, seed=trial
        )
        full = np.concatenate([block for _, block in model.predict_all()])
        error = np.abs(full - world.truth)
        errors[method].append(float(np.mean(error if metric == "mae" else error**2)))
    assert found[f"{part}/selection", "0.25", "mf-ips"].ours == pytest.approx(np.mean(errors["known"]))
    claim = found[f"{part}/claims about selection", "0.25", "mf-ips beats mf-naive"]
    assert claim.paired_se == pytest.approx(np.std(np.subtract(errors["known"], errors["none"]), ddof=1) / math.sqrt(2))
    units = len(list(tmp_path.rglob("*.unit")))
    assert units == 2 * (2 * 2 + 1)
    monkeypatch.setattr(MF, "search", lambda *_, **__: pytest.fail("learnt again"))
    assert [record.ours for record in figure3.run(metric, setting, 2, True)] == [record.ours for record in records]


def ratings(users: int = 60, items: int = 40) -> Log:
    """Ratings 1 … 5 of a third of all pairs, from two factors."""
    rng = np.random.default_rng(1)
    full = rng.normal(size=(users, 2)) @ rng.normal(size=(2, items))
    user, item = np.nonzero(rng.random(full.shape) < 0.35)
    value = np.clip(np.rint(3.0 + full[user, item]), 1.0, 5.0)
    return Log.from_frame(pl.DataFrame({"user": user, "item": item, "value": value}), feedback="ratings")


def test_the_completion_with_the_most_hits_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hits of rounded values on held-out tenths by hand; the world has the ratings of that completion by quantile."""
    monkeypatch.setattr(completion, "RANKS", (2, 5))
    monkeypatch.setattr(completion, "PENALTIES", {"free": (1.0, 4.0), "none": (0.1,)})
    log, store = ratings(), Store(tmp_path)
    hits: dict[completion.Choice, list[float]] = {}
    for split in range(completion.SPLITS):
        train, test = us.split.holdout(log, 0.1, seed=split)
        for rank, penalty in itertools.product((2, 5), (1.0, 4.0)):
            predicted = MF(rank, penalty, "free").fit(train).of(test).rows
            hit = np.clip(np.rint(predicted), 1.0, 5.0) == test.value
            hits.setdefault(("free", rank, penalty), []).append(float(np.mean(hit)))
    found = completion.accuracies(store, log)
    assert len(found) == 6
    for choice, each in hits.items():
        np.testing.assert_allclose(found[choice][0], each)
    best = completion.chosen(store, log)
    assert found[best][0].mean() == max(each[0].mean() for each in found.values())
    made = completion.world(store, log)
    np.testing.assert_array_equal(made.truth, completion.world_of(log, best).truth)
    assert made.marginals == pytest.approx(us.simulate.SCHNABEL16, abs=1.0 / made.truth.size)


def test_the_grid_goes_on_while_its_largest_penalty_is_the_best() -> None:
    """From penalties that are too weak, step by step to the one that a grid with all of them chooses."""
    log = ratings()
    model, cautions = learn(log, None, {"search": searched((0.001, 0.002), (2,))}, 0, 1)
    tried = present(model.search_).table["penalty"].unique().sort().to_list()
    assert 2 < len(tried) <= 5 and tried[2:] == pytest.approx([0.002 * 5.0**n for n in range(1, len(tried) - 1)])
    assert model.penalty < tried[-1] or len(tried) == 5
    every = MF.search(log, **searched(tried, (2,)), threads=1)
    assert (every.penalty, every.offsets) == (model.penalty, model.offsets)
    assert len(cautions) == (model.penalty == tried[-1])


def test_shares_that_are_seen_follow_from_those_of_all_pairs(setting: Setting) -> None:
    """p_r P_r / Σ p P, held to the paper's five; the log's own shares beside them."""
    log = ratings()
    records = {(r.row, r.column): r for r in world._shares(setting.world, log)}
    p = setting.world.propensity
    for rating in range(1, 6):
        there = setting.world.truth == rating
        assert records[str(rating), "seen"].ours == pytest.approx(p[there].sum() / p.sum())
        assert records[str(rating), "ML-100K"].ours == pytest.approx(np.mean(log.value == rating))
        assert records[str(rating), "all pairs"].ours == pytest.approx(there.mean())
    assert all(records[str(rating), "seen"].verdict is Verdict.MET for rating in range(1, 6))


@pytest.mark.parametrize("reading", table2.READINGS)
def test_printed_penalties_are_those_of_eq_14(reading: str) -> None:
    """λ of the search times its unit in Eq. 14 is the printed one, for every dim and treatment of offsets."""
    log = ratings()
    search = searched((1e-3, 1e-1), (2, 3))
    model, _ = learn(log, None, {"reading": reading, "search": search}, 0, 1)
    unit = printed(log, model.dim, model.offsets, reading)
    assert min(abs(unit * model.penalty / each - 1.0) for each in (1e-3, 1e-1)) < 1e-9
    width = model.dim + (model.offsets == "penalised")
    pairs = 60 * 40 if reading == "sum" else 1
    assert unit == pytest.approx(pairs / (60 + 40) / width)
    scores = []
    for dim, offsets in itertools.product((2, 3), ("free", "penalised")):
        grid = [each / printed(log, dim, offsets, reading) for each in (1e-3, 1e-1)]
        one = {**search, "penalties": grid, "dims": (dim,), "offsets": (offsets,)}
        scores.append(present(MF.search(log, **one, threads=1).search_).table["score"][0])
    assert present(model.search_).table["score"][0] == pytest.approx(min(scores))


def small_yahoo(setting: Setting) -> Dataset:
    """A copy in the form of Yahoo! R3: chosen ratings, and ratings of randomly drawn songs of some users."""
    world = setting.at(0.25)
    user, item = np.nonzero(np.random.default_rng(3).random(world.truth.shape) < 0.4)
    columns = {"user": user, "item": item, "value": world.truth[user, item].astype(float)}
    mcar = Log.from_frame(pl.DataFrame(columns), feedback="ratings")
    log = replace(world, share=0.2).draw(0)
    assert log.value is not None
    chosen = {"user": log.user, "item": log.item, "value": log.value}
    return Dataset(source_of("yahoo-r3").about, Log.from_frame(pl.DataFrame(chosen), feedback="ratings"), mcar)


def test_table_2_on_a_copy_of_yahoo(tmp_path: Path, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Naive Bayes from 5 % of the random part, the test from the other 95 %; errors and p as computed by hand."""
    data, own = small_yahoo(setting), Setting(Store(tmp_path, tell=lambda message: None), small_world)
    monkeypatch.setattr(table2, "folder_of", lambda name: None if name == "coat" else tmp_path)
    monkeypatch.setattr(table2, "load", lambda name: data)
    monkeypatch.setattr(table2, "PENALTIES", (1.0, 25.0))
    monkeypatch.setattr(table2, "DIMS", (2,))
    monkeypatch.setattr("unskew_papers.schnabel16.learning.FURTHER", 0)
    records = table2.run(own, 2, False)
    found = {(r.experiment, r.row, r.column): r for r in records}
    assert data.mcar is not None
    errors: dict[str, list[Any]] = {"mf-ips": [], "mf-naive": []}
    people = []
    for number in range(2):
        rest, sample = us.split.holdout(data.mcar, 0.05, seed=number)
        assert len(sample) == pytest.approx(0.05 * len(data.mcar), rel=0.3)
        nb = NaiveBayes().fit(data.mnar, inputs=FitInputs(mcar=sample)).of(data.mnar).rows
        assert rest.value is not None
        people.append(rest.user)
        for method, given in (("mf-ips", nb), ("mf-naive", None)):
            model = MF.search(data.mnar, given, penalties=(1.0, 25.0), dims=(2,), seed=number, threads=1)
            errors[method].append(np.square(model.of(rest).rows - rest.value))
    for method, paper in (("mf-ips", 0.989), ("mf-naive", 1.891)):
        record = found["table2/yahoo-r3", method, "mse"]
        assert record.ours == pytest.approx(np.mean([each.mean() for each in errors[method]]))
        assert record.paper == paper and record.runs == 2
    pairs = list(zip(errors["mf-ips"], errors["mf-naive"], strict=True))
    part, row = "table2/yahoo-r3: p of the paired t-test", "mf-ips against mf-naive, mse"
    assert found[part, row, "by rating"].ours == pytest.approx(max(ttest_rel(a, b).pvalue for a, b in pairs))
    means = [
        [np.array([each[who == one].mean() for one in set(who.tolist())]) for each in pair]
        for pair, who in zip(pairs, people, strict=True)
    ]
    assert found[part, row, "by person"].ours == pytest.approx(max(ttest_rel(a, b).pvalue for a, b in means))
    claim = found["table2/yahoo-r3: claims", "mse", "mf-ips differs from mf-naive, paired by rating"]
    assert claim.verdict is (Verdict.HOLDS if found[part, row, "by rating"].ours <= 0.001 else Verdict.FAILS)
    assert found["table2/yahoo-r3", "HL-MNAR (not run)", "mse"].paper == 2.175
    absent = found["table2/coat", "mf-ips (not run: no copy here)", "mae"]
    assert absent.paper == 0.86 and math.isnan(absent.ours) and absent.verdict is Verdict.UNJUDGED


def test_table_2_without_any_copy_says_so(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both halves are named where they are asked for, and every number is the paper's alone."""
    told: list[str] = []
    monkeypatch.setattr(table2, "folder_of", lambda name: None)
    records = table2.run(Setting(Store(setting.store.folder, tell=told.append), small_world), 2, False)
    assert [message.split(" ")[0] for message in told] == ["coat", "yahoo-r3"]
    assert len(records) == 16 and all("no copy here" in r.row and math.isnan(r.ours) for r in records)


def test_our_logistic_propensities_on_coat_are_the_packages(setting: Setting) -> None:
    """Fitted on the covariates of both sides, as ``us.evaluate`` would fit them."""
    if folder_of("coat") is None:
        missing("Coat is not there: set UNSKEW_DATA to the directory that holds coat/")
    coat = us.load("coat")
    fitted = table2._fitted("logistic(c=1)", coat, None)
    features = {side: us.log.read_features(frame, side) for side, frame in
                (("user", coat.user_features), ("item", coat.item_features))}  # fmt: skip
    inputs = FitInputs(user_features=features["user"], item_features=features["item"])
    expected = us.propensity.make("logistic(c=1)").fit(coat.mnar, inputs=inputs).of(coat.mnar).rows
    np.testing.assert_allclose(fitted, expected)
    assert fitted.std() > 0.01 and (1.0 / fitted).sum() == pytest.approx(290 * 300, rel=0.1)
