"""MF-IPS as people use it: weights, search, predictions, lists, files, and what it refuses."""

from __future__ import annotations

import json
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.conftest import missing
from tests.models.mf_worlds import low_rank, predictions, problem_of, ratings_log

import unskew as us
from unskew.errors import InputError
from unskew.kernels.hashing import mix
from unskew.kernels.topk import SEED
from unskew.log import Ids, Log
from unskew.models import MF, make
from unskew.models.mf import als as als_module
from unskew.models.mf import model as model_module
from unskew.models.mf.solving import Effort
from unskew.models.mf.start import svd_start
from unskew.models.mf.weights import weigh
from unskew.split import holdout, k_fold

Floats = npt.NDArray[np.float64]


def mnar(seed: int, users: int = 120, items: int = 80) -> tuple[Floats, Log]:
    """True ratings 1 … 5, and a log in which people mostly rated what they like, with its propensities."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(users, 2)) @ rng.normal(size=(2, items)) + rng.normal(size=(1, items))
    truth = np.clip(np.round(2.6 + 0.8 * taste + 0.4 * rng.normal(size=taste.shape)), 1.0, 5.0)
    chance = 0.5 * 0.35 ** (5.0 - truth)
    return truth, ratings_log(np.where(rng.random(truth.shape) < chance, truth, np.nan), chance)


def some() -> tuple[Floats, Log]:
    """A matrix with gaps, a user and an item without ratings, and its log with propensities."""
    _, matrix = low_rank(20, 12, 2, 0.6, 0.3)
    matrix[4], matrix[:, 7] = np.nan, np.nan
    return matrix, ratings_log(matrix, np.random.default_rng(0).uniform(0.2, 1.0, matrix.shape))


def true_error(model: MF, truth: Floats) -> float:
    (block,) = (scores for _, scores in model.predict_all())
    return float(np.mean((block - truth) ** 2))


def test_inverse_propensities_beat_the_naive_fit_where_people_rate_what_they_like() -> None:
    """Mean squared error over all pairs, settings chosen by each one's own cross-validation: in every world."""
    for seed in range(3):
        truth, log = mnar(seed)
        grid: dict[str, Any] = {"penalties": (0.2, 1.0, 5.0), "dims": (2,), "seed": seed}
        ips, naive = MF.search(log, "known", **grid), MF.search(log, **grid)
        assert true_error(ips, truth) < 0.85 * true_error(naive, truth)


def test_a_fit_minimises_the_stated_objective() -> None:
    """MF.fit is the solver on weights 1/P; without propensities every weight is UI/n."""
    matrix, log = some()
    assert log.propensity is not None
    inverse = np.zeros(matrix.shape)
    inverse[log.user, log.item] = 1.0 / log.propensity
    constant = np.full(matrix.shape, matrix.size / len(log))
    for given, weight in (("known", inverse), (log.propensity, inverse), (None, constant)):
        model = MF(dim=2, penalty=0.5, offsets="free", seed=4).fit(log, given)
        problem = problem_of(matrix, 2, 0.5, "squared", "free", weight)
        solved = als_module.als(problem, svd_start(problem.ratings, 2, 4), Effort(als_module.ROUNDS))
        np.testing.assert_allclose(predictions(model.factors_), predictions(solved.factors))
        assert model.training_.objective == pytest.approx(problem.objective(solved.factors)[0])
        assert model.history_[-1] == pytest.approx(model.training_.objective)


def test_both_solvers_give_the_same_predictions() -> None:
    """The objective is nearly convex at a strong penalty: to 0.02 of a star."""
    _, log = mnar(0)
    fast, slow = (MF(3, 5.0, solver=solver, tolerance=1e-9, propensity="known").fit(log) for solver in ("als", "lbfgs"))
    np.testing.assert_allclose(predictions(fast.factors_), predictions(slow.factors_), atol=0.02)


def test_propensities_of_a_whole_log_are_scaled_to_its_part() -> None:
    """A training part with share 3/4 has P·3/4; an array is taken as it is."""
    _, log = mnar(1)
    train, _ = holdout(log, 0.25)
    assert train.propensity is not None
    np.testing.assert_allclose(weigh(train, "known").weight, 1.0 / (0.75 * train.propensity))
    np.testing.assert_allclose(weigh(train, train.propensity).weight, 1.0 / train.propensity)


def test_relative_propensities_are_brought_to_the_right_level() -> None:
    """Popularity is fitted on the log itself; Σ 1/P is the number of pairs."""
    matrix, log = mnar(1)
    log = replace(log, feedback=us.Feedback.CONVERSIONS)
    found = weigh(log, "popularity(gamma=1)")
    count = np.bincount(log.item)[log.item]
    assert found.weight.sum() == pytest.approx(matrix.size)
    np.testing.assert_allclose(found.weight * count, found.weight[0] * count[0])


def test_rows_without_a_propensity_are_dropped_and_counted() -> None:
    """A propensity that was fitted elsewhere drops items that it does not know."""
    _, log = some()
    log = replace(log, feedback=us.Feedback.CONVERSIONS, value=np.ones(len(log)))
    elsewhere = us.propensity.Popularity(1.0, unsupported="drop").fit(log.take(log.item != 0))
    model = MF(2, propensity=elsewhere).fit(log)
    gone = int(np.count_nonzero(log.item == 0))
    assert gone > 0
    assert model.training_.dropped == gone and model.training_.ratings == len(log) - gone
    assert not model.factors_.item[0].any()


def test_training_says_what_weights_do() -> None:
    """Effective number of ratings and the largest share, by their formulas; users and items with ratings."""
    _, log = some()
    told = MF(2, propensity="known").fit(log).training_
    assert log.propensity is not None and log.value is not None
    w = 1.0 / log.propensity
    assert told.effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert told.largest == pytest.approx(w.max() / w.sum())
    assert (told.users, told.items, told.ratings) == (19, 11, len(log))
    assert (told.low, told.high) == (log.value.min(), log.value.max())


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("weighted", [True, False])
def test_scores_of_a_search_are_ips_with_scaled_propensities(loss: Any, weighted: bool) -> None:
    """Fold by fold: fit with P·(k − 1)/k, score with P/k, divide by all pairs, average; loops over rows."""
    truth, log = mnar(2, 60, 40)
    assert log.propensity is not None and log.value is not None
    p = log.propensity if weighted else np.full(len(log), len(log) / truth.size)
    model = MF.search(
        log, "known" if weighted else None, penalties=(2.0,), dims=(3,), offsets=("free",), loss=loss, folds=3, seed=5
    )
    scores = []
    for split in k_fold(log, 3, seed=5):
        train, test = (np.flatnonzero(rows) for rows in (~split.held_out, split.held_out))
        matrix, weight = np.full(truth.shape, np.nan), np.zeros(truth.shape)
        matrix[log.user[train], log.item[train]] = log.value[train]
        weight[log.user[train], log.item[train]] = 1.0 / (p[train] * 2 / 3)
        problem = problem_of(matrix, 3, 2.0, loss, "free", weight)
        guess = predictions(
            als_module.als(problem, svd_start(problem.ratings, 3, 5), Effort(als_module.ROUNDS, 1e-4)).factors
        )
        total = 0.0
        for row in test:
            error = abs(guess[log.user[row], log.item[row]] - log.value[row])
            total += (error**2 if loss == "squared" else error) / (p[row] / 3)
        scores.append(total / truth.size)
    assert model.search_ is not None
    (cell,) = model.search_.table.iter_rows(named=True)
    assert cell["score"] == pytest.approx(np.mean(scores))
    assert cell["se"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))


def test_a_search_takes_the_best_setting_and_fits_it_to_all_ratings() -> None:
    """The retrained model is the same as one told those settings, and the table holds every cell, best first."""
    _, log = mnar(3, 60, 40)
    told: list[tuple[int, int]] = []
    model = MF.search(
        log, "known", penalties=(5.0, 0.2), dims=(3, 1), folds=2, progress=lambda *args: told.append(args)
    )
    assert model.search_ is not None
    table = model.search_.table
    assert table.height == 8 and table["score"].is_sorted()
    assert table.row(0)[:3] == (model.penalty, model.dim, model.offsets)
    assert sorted(told) == [(done, 8) for done in range(1, 9)]
    again = MF(model.dim, model.penalty, model.offsets, propensity="known").fit(log)
    assert np.array_equal(again.factors_.user, model.factors_.user)
    assert str(again) == str(model)
    assert model.fit(log).search_ is None  # a fit of its own


def test_warm_starts_do_not_change_what_a_search_finds() -> None:
    """Scores of a path of penalties and of each one alone agree to 1 %: far below their standard errors."""
    _, log = mnar(4)
    path = MF.search(log, "known", penalties=(1.0, 5.0, 25.0), dims=(4,)).search_
    assert path is not None
    for row in path.table.iter_rows(named=True):
        alone = MF.search(log, "known", penalties=(row["penalty"],), dims=(4,), offsets=(row["offsets"],)).search_
        assert alone is not None
        assert alone.table["score"][0] == pytest.approx(row["score"], rel=0.01)
        assert 0.01 * row["score"] < row["se"]


def test_another_seed_is_another_assignment_of_folds() -> None:
    _, log = mnar(5, 60, 40)
    grid: dict[str, Any] = {"penalties": (5.0,), "dims": (2,), "offsets": ("free",)}
    scores = [MF.search(log, seed=seed, **grid).search_.table["score"][0] for seed in (0, 0, 1)]  # type: ignore[union-attr]
    assert scores[0] == scores[1] != scores[2]


def test_predictions_by_id_by_code_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three are v·w + a + b + c; unknown users and items have the other side's offset; blocks hold all users."""
    matrix, log = some()
    model = MF(2).fit(log)
    full = predictions(model.factors_)
    user, item = np.nonzero(np.ones_like(matrix))
    np.testing.assert_allclose(model.predict(user, item), full.ravel())
    found = model.factors_
    for u, i, expected in (
        (99, 3, found.item[3, -1] + found.level),
        (3, 99, found.user[3, -1] + found.level),
        (99, 99, found.level),
    ):
        assert model.predict([u], [i])[0] == pytest.approx(expected)
    codes = np.array([0, -1], dtype=np.int32), np.array([-1, -1], dtype=np.int32)
    np.testing.assert_allclose(model.predict_codes(*codes), [found.user[0, -1] + found.level, found.level])
    monkeypatch.setattr(model_module, "CELLS", 36)
    blocks = list(model.predict_all())
    assert [rows.stop - rows.start for rows, _ in blocks] == [3] * 6 + [2]
    np.testing.assert_allclose(np.vstack([scores for _, scores in blocks]), full)
    ((_, other),) = model.predict_all(Ids.of(pl.Series([3, 99])))
    np.testing.assert_allclose(other, [full[3], found.item[:, -1] + found.level])


def test_clipped_predictions_stay_in_the_range_of_the_ratings() -> None:
    _, matrix = low_rank(20, 12, 2, 0.4, 1.0)
    model = MF(1, 0.001).fit(ratings_log(matrix))
    low, high = model.training_.low, model.training_.high
    raw, clipped = (next(model.predict_all(clip=clip))[1] for clip in (False, True))
    assert raw.max() > high and raw.min() < low
    np.testing.assert_array_equal(clipped, np.clip(raw, low, high))
    user, item = np.nonzero(np.ones_like(matrix))
    np.testing.assert_allclose(model.predict(user, item, clip=True), clipped.ravel())


def test_rows_that_training_says_nothing_of_are_counted() -> None:
    """User 4 and item 7 have no ratings; 99 is in no vocabulary."""
    _, log = some()
    asked = Log.from_frame(
        pl.DataFrame({"user": [0, 4, 99, 0], "item": [7, 0, 7, 1], "value": [1.0, 2.0, 3.0, 4.0]}), feedback="ratings"
    )
    found = MF(2).fit(log).of(asked)
    assert (found.unknown_users, found.unknown_items) == (2, 2)
    assert len(found.rows) == 4 and np.isfinite(found.rows).all()


def test_lists_are_sorted_by_prediction() -> None:
    """Against a sort of (−prediction, hash), without what was seen; an unknown user gets the best offsets."""
    _, log = some()
    model, users = MF(2).fit(log), Ids.of(pl.Series([0, 4, 5, 99]))
    lists = model.recommend(users, 5, seen=log).to_frame()
    seen = set(zip(log.user.tolist(), log.item.tolist(), strict=True))
    items = log.items
    for user, key in zip(users.values, users.hashes, strict=True):
        scores = model.predict([user] * len(items), items.values)
        order = sorted(
            (-round(scores[i], 12), int(mix(mix(key ^ SEED) ^ items.hashes[i])), i)
            for i in range(len(items))
            if (user, i) not in seen
        )
        assert lists.filter(pl.col("user") == user)["item"].to_list() == [i for *_, i in order[:5]]


def test_a_model_can_be_judged_like_any_other() -> None:
    """us.evaluate takes it as a recommender."""
    _, log = mnar(6, 60, 40)
    train, test = holdout(log, 0.3)
    model = MF(2, propensity="known").fit(train)
    result = us.evaluate(test, {"mf": model}, metrics=["recall@5"], relevant=">=4", propensity="known", seen=train)
    assert 0.0 < result.table()["value"][0] < 1.0


@pytest.mark.parametrize("texts", [False, True])
def test_a_saved_model_comes_back(tmp_path: Path, texts: bool) -> None:
    """Same string, training, predictions and lists; ids of numbers and of any text."""
    _, log = some()
    if texts:
        names = {0: "", 1: "ä", 2: "日本", 3: "a,b\n"}
        frame = log.to_frame().with_columns(
            pl.col("user").map_elements(lambda u: names.get(u, str(u)), return_dtype=pl.String)
        )
        log = Log.from_frame(frame.filter(pl.col("user") != ""), feedback="ratings")
    model = MF(2, 0.3, "free", "absolute", "known", rounds=7, seed=3).fit(log)
    model.save(tmp_path / "model.npz")
    again = MF.load(tmp_path / "model.npz")
    assert str(again) == str(model)
    assert again.training_ == model.training_ and again.history_ == model.history_
    assert again.users_.values.to_list() == model.users_.values.to_list()
    assert np.array_equal(again.of(log).rows, model.of(log).rows)
    users = model.users_
    assert again.recommend(users, 3).to_frame().equals(model.recommend(users, 3).to_frame())
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    """Each with one sentence that names the file."""
    _, log = some()
    path = tmp_path / "model.npz"
    MF(2).fit(log).save(path)
    good = dict(np.load(path))
    header = json.loads(good["header"].tobytes())

    def told(**changes: Any) -> npt.NDArray[np.uint8]:
        return np.frombuffer(json.dumps(header | changes).encode(), dtype=np.uint8)

    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "newer": (good | {"header": told(version=2)}, "version 2"),
        "foreign": (good | {"header": told(format="other")}, "not a model"),
        "options": (good | {"header": told(options={"dims": 3})}, "damaged"),
        "short": (good | {"user": good["user"][1:]}, "do not fit"),
        "narrow": (good | {"item": good["item"][:, 1:]}, "do not fit"),
        "no ids": ({name: array for name, array in good.items() if name != "users_numbers"}, "ids are damaged"),
        "no header": ({"user": good["user"]}, "not a model"),
        "pickle": ({"header": np.array([{}], dtype=object)}, "not a model"),
    }
    for name, (arrays, message) in wrong.items():
        bad = tmp_path / f"{name}.npz"
        np.savez(bad, **arrays)
        with pytest.raises(InputError, match=rf"{name}.npz: .*{message}"):
            MF.load(bad)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="not a model"):
        MF.load(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="not a model"):
        MF.load(path)
    with pytest.raises(InputError, match="no such file"):
        MF.load(tmp_path / "nothing.npz")


def test_the_canonical_string_parses_and_prints_back() -> None:
    text = (
        "mf(dim=7, penalty=0.04, offsets=free, loss=absolute, propensity=popularity(gamma=1), solver=lbfgs, "
        "rounds=9, tolerance=0.001, seed=2)"
    )
    assert str(make(text)) == repr(make(text)) == text
    plain = "mf(dim=20, penalty=1, offsets=penalised, loss=squared, solver=als, tolerance=1e-05, seed=0)"
    assert str(make("mf")) == plain and str(make(plain)) == plain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": -1}, "dim"),
        ({"dim": 2.5}, "dim"),
        ({"penalty": -0.1}, "penalty"),
        ({"penalty": float("nan")}, "penalty"),
        ({"offsets": "none"}, "offsets"),
        ({"loss": "huber"}, "loss"),
        ({"solver": "newton"}, "solver"),
        ({"rounds": 0}, "rounds"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"seed": -1}, "seed"),
        ({"threads": 0}, "threads"),
        ({"propensity": "populrity"}, "popularity"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    _, log = some()
    with pytest.raises(InputError, match=message):
        MF(**options).fit(log)


def test_wrong_logs_and_propensities_are_named() -> None:
    """No values, no rows, a NaN; propensities of 0, above 1, of the wrong number, or none where they are asked for."""
    _, log = some()
    assert log.value is not None and log.propensity is not None
    for wrong, message in (
        (replace(log, value=None), "no column 'value'"),
        (log.take(np.zeros(len(log), dtype=bool)), "empty"),
        (replace(log, value=np.where(np.arange(len(log)) == 3, np.nan, log.value)), "rating .* user 0, item .* is nan"),
        (replace(log, value=np.where(np.arange(len(log)) == 0, np.inf, log.value)), "rating"),
    ):
        with pytest.raises(InputError, match=message):
            MF(2).fit(wrong)
    zero = np.where(np.arange(len(log)) >= len(log) - 2, 0.0, log.propensity)
    with pytest.raises(InputError, match=r"propensity must be in \(0, 1\]; that of user 19.* \(2 rows"):
        MF(2).fit(log, zero)
    for given, message in (
        (log.propensity * 9.0, r"in \(0, 1\]"),
        (log.propensity[1:], "one propensity for each"),
        (["x"] * len(log), "numbers"),
        ("naive_bayes", "random|mcar|MCAR"),
    ):
        with pytest.raises(InputError, match=message):
            MF(2).fit(log, given)
    with pytest.raises(InputError, match="column 'propensity'"):
        MF(2, propensity="known").fit(replace(log, propensity=None))


def test_wrong_searches_and_questions_are_named() -> None:
    _, log = some()
    for options, message in (
        ({"penalties": ()}, "at least one penalty"),
        ({"penalties": (1.0, -1.0)}, "penalty"),
        ({"dims": (5, -5)}, "dim"),
        ({"offsets": ("fixed",)}, "offsets"),
        ({"loss": "huber"}, "loss"),
        ({"folds": 1}, "2 folds"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"rounds": 0}, "rounds"),
    ):
        with pytest.raises(InputError, match=message):
            MF.search(log, **options)
    with pytest.raises(InputError, match="has not been fitted"):
        MF().predict([1], [2])
    model = MF(2).fit(log)
    with pytest.raises(InputError, match="must be pairs"):
        model.predict([1, 2], [1])
    with pytest.raises(InputError, match="codes of items must lie between -1 and 11"):
        model.predict_codes(np.zeros(1, dtype=np.int32), np.full(1, 12, dtype=np.int32))


def test_coat_comes_out_as_published() -> None:
    """schnabel16 Table 2: MSE 1.093 with inverse propensities, 1.202 without; settings as cross-validation picks them.

    The table over ten seeds, search included, is docs/factorisation_benchmarks.md.
    """
    try:
        coat = us.load("coat")
    except InputError as problem:
        missing(str(problem))
    assert coat.mcar is not None and coat.mcar.value is not None
    for given, published in (("known", 1.093), (None, 1.202)):
        model = MF(40, 25.0, propensity=given).fit(coat.mnar)
        error = model.of(coat.mcar).rows - coat.mcar.value
        assert float(np.mean(error**2)) == pytest.approx(published, abs=0.004)


def test_fits_that_did_not_converge_and_edges_of_the_grid_are_told() -> None:
    """By warnings: the last fit, the scored fits, and a best λ or d beyond which nothing was tried."""
    _, log = some()
    with pytest.warns(UserWarning, match="rounds were spent before it converged"):
        MF(2, rounds=2, tolerance=0.0).fit(log)
    with pytest.warns(UserWarning) as caught:
        model = MF.search(log, penalties=(1e4, 1e5), dims=(1,), offsets=("free",), rounds=1, tolerance=0.0)
    said = " ".join(str(each.message) for each in caught)
    assert model.search_ is not None and model.penalty in (1e4, 1e5)
    assert "best penalty, 1" in said and "that was tried" in said and "best dim" not in said
    assert "4 of 4 fits of the best setting had not converged" in said and "2 of 2 settings" in said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MF(2, rounds=500).fit(log)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_every_task_once_and_an_interrupt_ends_a_search_at_once(threads: int) -> None:
    """Nobody waits for the walks that are under way, and they stop between two fits."""
    _, log = some()
    told: list[tuple[int, int]] = []
    grid: dict[str, Any] = {"penalties": (1.0, 2.0), "dims": (1, 2), "offsets": ("free",), "threads": threads}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MF.search(log, **grid, progress=lambda *news: told.append(news))
    assert told == [(n + 1, 8) for n in range(8)]
    before, made = threading.active_count(), []

    def interrupt(done: int, total: int) -> None:
        made.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MF.search(log, **grid, progress=interrupt)
    assert made == [1]
    end = time.monotonic() + 10.0
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before
