"""Popularity's exponent and level, learnt where the data tell them and refused where they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from unskew import propensity
from unskew.errors import InputError
from unskew.log import Feedback, Ids, Log
from unskew.propensity import FitInputs, Level, Popularity, Scope, count_items
from unskew.propensity.exponent import Half, from_exposures, from_random

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def as_log(seen: Bools, relevant: Bools, feedback: Feedback) -> Log:
    """A log over all users and items of a matrix: all seen pairs, or the seen relevant ones if it is implicit."""
    implicit = feedback is Feedback.IMPLICIT
    rows = seen & relevant if implicit else seen
    users, items = (Ids(pl.Series("id", np.arange(n))) for n in seen.shape)
    indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1))]).astype(np.int64)
    value = None if implicit else relevant[rows].astype(np.float64)
    gain = value if feedback is Feedback.RATINGS else None  # as behind a threshold
    return Log(users, items, indptr, np.nonzero(rows)[1].astype(np.int32), value=value, feedback=feedback, gain=gain)


def law(rng: np.random.Generator, a: float, scatter: float, *, items: int = 200, mean: float = 25.0) -> list[Floats]:
    """Expected exposures in one half of the users, and relevance ∝ P^(1/a − 1) up to scatter."""
    exposure = np.exp(rng.normal(0.0, 0.8, items))
    relevance = exposure ** (1.0 / a - 1.0) * np.exp(rng.normal(0.0, scatter, items))
    relevance *= 0.8 / relevance.max()
    return [exposure * mean / (exposure * relevance).mean(), relevance]


def halves(rng: np.random.Generator, exposure: Floats, relevance: Floats) -> list[Half]:
    seen = [rng.poisson(exposure) for _ in range(2)]
    return [Half(rng.binomial(e, relevance).astype(np.float64), e.astype(np.float64)) for e in seen]


def matrices(
    users: int, items: int, a: float, *, seed: int, scatter: float = 0.2, most: float = 0.6
) -> tuple[Bools, Bools, Floats]:
    """Seen and relevant pairs in a world where P_i ∝ ν_i^a, and P_i; users differ in activity."""
    rng = np.random.default_rng(seed)
    chance = np.exp(np.clip(rng.normal(0.0, 1.0, items), -2.5, 2.0))
    relevance = chance ** (1.0 / a - 1.0) * np.exp(rng.normal(0.0, scatter, items))
    chance, relevance = chance * most / chance.max(), relevance * 0.5 / relevance.max()
    activity = rng.uniform(0.4, 1.6, (users, 1))
    return rng.random((users, items)) < activity * chance, rng.random((users, items)) < relevance, chance


@pytest.mark.parametrize("a", [0.6, 1.0, 1.5])
@pytest.mark.parametrize("scatter", [0.0, 0.4])
def test_the_interval_covers(a: float, scatter: float) -> None:
    """Over 150 worlds of 200 items ± 1.96 se covers the exponent in at least 89 %, and its mean is within 0.03."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        one, other = halves(rng, *law(rng, a, scatter))
        found.append(from_exposures(one, other))
    error = np.array([f.value for f in found]) - a
    assert (np.abs(error) < 1.96 * np.array([f.se for f in found])).mean() > 0.89
    assert abs(error.mean()) < 0.03


@pytest.mark.parametrize("a", [0.7, 1.2])
def test_the_interval_covers_with_a_log_seen_at_random(a: float) -> None:
    """The same with a random log that shows every item 30 times."""
    inside, errors = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        exposure, relevance = law(rng, a, 0.3)
        shown = np.full(200, 15.0)
        random = [Half(rng.binomial(15, relevance).astype(np.float64), shown) for _ in range(2)]
        one, other = (half.positives for half in halves(rng, exposure, relevance))
        found = from_random(one, other, random[0], random[1])
        errors.append(found.value - a)
        inside.append(abs(errors[-1]) < 1.96 * found.se)
    assert np.mean(inside) > 0.89 and abs(np.mean(errors)) < 0.03


@pytest.mark.parametrize("gamma", [0.2, 1.8])
def test_the_interval_covers_when_users_differ(gamma: float) -> None:
    """Drawn user by user (500 of them, active ones and others), 60 items: ± 1.96 se covers γ in at least 88 % of 100
    worlds (95 % less three errors of 2.2 points), and errors are of the size that is said."""
    errors, said = [], []
    for seed in range(100):
        seen, relevant, _ = matrices(500, 60, (gamma + 1.0) / 2.0, seed=seed)
        found = Popularity("estimate").fit(as_log(seen, relevant, Feedback.CONVERSIONS))
        assert found.gamma_se is not None
        errors.append(found.gamma_ - gamma)
        said.append(found.gamma_se)
    assert np.mean(np.abs(errors) < 1.96 * np.array(said)) >= 0.88
    assert np.std(errors) == pytest.approx(np.sqrt(np.mean(np.square(said))), rel=0.25)


def test_weights_of_the_estimated_power_leave_no_trace_of_exposure() -> None:
    """Weighted clicks n_i/P̂_i rise with exposure as relevance does, ∝ P^b, neither more nor less; the power that a
    regression of exposures on popularity finds would leave more."""
    b = 0.25
    ours: list[float] = []
    reverse: list[float] = []
    for seed in range(10):
        seen, relevant, chance = matrices(3000, 200, 1.0 / (1.0 + b), seed=seed, scatter=0.4)
        found = Popularity("estimate").fit(as_log(seen, relevant, Feedback.CONVERSIONS))
        clicks = chance * relevant.mean(axis=0)  # expected, so that its logarithm exists
        flat = np.polyfit(np.log(clicks), np.log(chance), 1)[0]
        for power, slopes in (((found.gamma_ + 1.0) / 2.0, ours), (flat, reverse)):
            slopes.append(np.polyfit(np.log(chance), (1.0 - power) * np.log(clicks), 1)[0])
    assert np.mean(ours) == pytest.approx(b, abs=4.0 * np.std(ours) / np.sqrt(10))
    assert np.mean(reverse) > b + 4.0 * np.std(reverse) / np.sqrt(10)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 1.6])
@pytest.mark.parametrize("feedback", [Feedback.CONVERSIONS, Feedback.RATINGS])
def test_gamma_is_recovered_from_seen_zeros(gamma: float, feedback: Feedback) -> None:
    """From a log with zeros γ comes back within three standard errors, and those are below 0.25."""
    seen, relevant, _ = matrices(1500, 250, (gamma + 1.0) / 2.0, seed=1)
    found = Popularity("estimate").fit(as_log(seen, relevant, feedback))
    assert found.gamma_se is not None and found.gamma_se < 0.25
    assert abs(found.gamma_ - gamma) < 3.0 * found.gamma_se


@pytest.mark.parametrize("zeros", [True, False])
def test_gamma_is_recovered_from_a_log_seen_at_random(zeros: bool) -> None:
    """Positives alone and a small random log: γ comes back within three standard errors, with or without its zeros."""
    seen, relevant, _ = matrices(1500, 250, 0.9, seed=2)
    shown = np.random.default_rng(5).random(seen.shape) < 0.05
    kind = Feedback.CONVERSIONS if zeros else Feedback.IMPLICIT
    side = FitInputs(mcar=as_log(shown, relevant, kind))
    found = Popularity("estimate").fit(as_log(seen, relevant, Feedback.IMPLICIT), inputs=side)
    assert found.gamma_se is not None and found.gamma_se < 0.3
    assert abs(found.gamma_ - 0.8) < 3.0 * found.gamma_se


def test_a_plain_regression_would_be_flattened() -> None:
    """Why not regress log e on log n: scatter of relevance and few positives make it too flat, and ours is not."""
    plain, ours = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        one, other = halves(rng, *law(rng, 1.0, 0.4, mean=10.0))
        ours.append(from_exposures(one, other).value)
        x = np.log(np.maximum(one.positives + other.positives, 1.0))
        y = np.log(np.maximum(one.exposures + other.exposures, 1.0))
        plain.append(float(np.cov(x, y)[0, 1] / np.var(x, ddof=1)))
    assert abs(np.mean(ours) - 1.0) < 0.03 and np.mean(plain) < 0.85


def test_popularity_that_does_not_follow_exposure_is_refused() -> None:
    """Where the most exposed items are liked least, counts say nothing of exposure: no γ, and another propensity."""
    rng = np.random.default_rng(0)
    exposure = np.exp(rng.normal(4.0, 0.8, 200))
    one, other = halves(rng, exposure, 0.8 * exposure.min() / exposure)
    with pytest.raises(InputError, match="hardly follows exposure"):
        from_exposures(one, other)


def test_implicit_logs_do_not_tell_gamma() -> None:
    """Positives alone: refused, with the reason and γ by hand as a way out."""
    seen, relevant, _ = matrices(100, 30, 1.0, seed=3)
    with pytest.raises(InputError) as caught:
        Popularity("estimate").fit(as_log(seen, relevant, Feedback.IMPLICIT))
    message = str(caught.value)
    assert "not identified" in message and "gamma=1" in message and "gamma=2" not in message and "mcar" in message


def test_implicit_logs_do_not_tell_the_level() -> None:
    """Positives alone: no absolute level, and the relative form as a way out."""
    seen, relevant, _ = matrices(100, 30, 1.0, seed=3)
    with pytest.raises(InputError, match="relative form"):
        Popularity(2.0, level=Level.ABSOLUTE).fit(as_log(seen, relevant, Feedback.IMPLICIT))


def test_too_little_to_estimate_from_is_refused() -> None:
    """Too few items, no zeros among the values, counts alone: each has its own sentence."""
    seen, relevant, _ = matrices(60, 5, 1.0, seed=3)
    with pytest.raises(InputError, match="too few to tell"):
        Popularity("estimate").fit(as_log(seen, relevant, Feedback.CONVERSIONS))
    seen, relevant, _ = matrices(300, 50, 1.0, seed=3)
    every = np.ones_like(relevant)
    with pytest.raises(InputError, match="every training row counts as positive"):
        Popularity("estimate").fit(as_log(seen, every, Feedback.RATINGS))
    side = FitInputs(mcar=as_log(seen, every, Feedback.RATINGS))
    with pytest.raises(InputError, match="log seen at random counts as positive"):
        Popularity("estimate").fit(as_log(seen, relevant, Feedback.IMPLICIT), inputs=side)
    with pytest.raises(InputError, match="do not say γ"):
        Popularity.from_counts(Ids(pl.Series([1, 2])), np.array([1.0, 2.0]), "estimate")
    with pytest.raises(InputError, match="not been fitted"):
        _ = Popularity("estimate").gamma_


def test_the_string_says_the_number_that_is_used() -> None:
    """popularity(gamma=estimate), once fitted, prints γ; that string gives the same propensities, repr the error."""
    seen, relevant, _ = matrices(500, 120, 1.1, seed=6)
    log = as_log(seen, relevant, Feedback.CONVERSIONS)
    model = propensity.make("popularity(gamma=estimate)")
    assert isinstance(model, Popularity) and str(model) == "popularity(gamma=estimate)"
    found = model.fit(log)
    assert str(found) == f"popularity(gamma={found.gamma_:g})" and "±" in repr(found)
    again = propensity.make(str(found)).fit(log)
    assert (again.of(log).rows == found.of(log).rows).all()
    assert isinstance(again, Popularity) and again.gamma_se is None
    assert found is model  # fitted in place
    once = str(found)
    assert str(found.fit(log.take(np.arange(len(log) // 2)))) != once  # fitting again estimates again


@pytest.mark.parametrize(
    "text",
    [
        "popularity(gamma=2)",
        "popularity(gamma=-0.5)",
        "popularity(gamma=estimate)",
        "popularity(gamma=2, level=absolute)",
        "popularity(gamma=estimate, level=absolute, unsupported=drop)",
    ],
)
def test_canonical_strings(text: str) -> None:
    """The string parses and prints back."""
    assert str(propensity.make(text)) == text
    assert str(propensity.make("popularity")) == "popularity(gamma=1)"


@pytest.mark.parametrize("text", ["gamma=guess", "level=high", "unsupported=keep", "gamma=1e999"])
def test_impossible_options_are_refused(text: str) -> None:
    """The message names the option."""
    with pytest.raises(InputError, match=text.split("=")[0]):
        propensity.make(f"popularity({text})")


def positive_rows_per_item(log: Log) -> npt.NDArray[np.int64]:
    """n_i."""
    assert log.value is not None
    return np.bincount(log.item[log.value > 0.0], minlength=len(log.items))


@pytest.mark.parametrize("gamma", [-1.0, 0.3, 1.0])
@pytest.mark.parametrize("unsupported", ["floor", "drop"])
def test_the_absolute_form_expects_what_was_seen(gamma: float, unsupported: str) -> None:
    """Without a cap U Σ_i P_i = |O| over items with positives, whatever γ; ratios are those of the relative form.

    An item without positives has no share of |O| (n^a = 0, unless a = 0 makes all alike), however many there are.
    """
    seen, relevant, _ = matrices(400, 60, 1.0, seed=7, most=0.3)
    relevant[:, 5] = False  # an item without positives: counted as one, or dropped
    log = as_log(seen, relevant, Feedback.CONVERSIONS)
    absolute = Popularity(gamma, unsupported, Level.ABSOLUTE).fit(log)
    per_item, scored = absolute.of_items(log.items), absolute.of(log)
    assert scored.capped == 0 and absolute.level is Level.ABSOLUTE and absolute.refers(log) is Scope.TRAIN
    shared = np.ones(60, dtype=bool) if gamma == -1.0 else positive_rows_per_item(log) > 0
    assert 400 * np.nansum(per_item[shared]) == pytest.approx(len(log), rel=1e-12)
    relative = Popularity(gamma, unsupported).fit(log).of_items(log.items)
    np.testing.assert_allclose(per_item / per_item[0], relative / relative[0], rtol=1e-12)
    assert np.isnan(per_item[5]) == (unsupported == "drop")


def test_the_absolute_form_is_capped_at_one() -> None:
    """A steep γ expects more than everything of the head: P = 1, and the rows are counted."""
    seen, relevant, _ = matrices(400, 60, 1.0, seed=7)
    log = as_log(seen, relevant, Feedback.CONVERSIONS)
    scored = Popularity(5.0, level=Level.ABSOLUTE).fit(log).of(log)
    assert scored.capped == np.count_nonzero(scored.rows == 1.0) > 0
    assert ((scored.rows > 0.0) & (scored.rows <= 1.0)).all()


def test_weights_equal_repetition() -> None:
    """A user who counts twice is as good as two users with the same rows: counts and level."""
    seen, relevant, _ = matrices(60, 20, 1.0, seed=8)
    times = np.random.default_rng(0).integers(0, 3, 60)
    weighed = Popularity(1.0, level=Level.ABSOLUTE).fit(
        as_log(seen, relevant, Feedback.CONVERSIONS), weights=times.astype(np.float64)
    )
    repeated = Popularity(1.0, level=Level.ABSOLUTE).fit(
        as_log(seen.repeat(times, axis=0), relevant.repeat(times, axis=0), Feedback.CONVERSIONS)
    )
    items = Ids(pl.Series(np.arange(20)))
    np.testing.assert_allclose(weighed.of_items(items), repeated.of_items(items), rtol=1e-12)


def test_ones_as_weights_change_nothing() -> None:
    """Everybody once is the default, for the exponent, too."""
    seen, relevant, _ = matrices(500, 120, 1.1, seed=6)
    log = as_log(seen, relevant, Feedback.CONVERSIONS)
    plain, ones = Popularity("estimate").fit(log), Popularity("estimate").fit(log, weights=np.ones(500))
    assert (plain.gamma_, plain.gamma_se) == (ones.gamma_, ones.gamma_se)


@pytest.mark.parametrize("text", ["popularity(gamma=estimate)", "popularity(gamma=estimate, level=absolute)"])
def test_snips_with_it_halves_the_error_of_naive(text: str) -> None:
    """Where exposure is a power of popularity and users are alike, pooled snips is at least twice as near the truth."""
    rng = np.random.default_rng(10)
    seen, relevant, chance = matrices(1500, 200, 0.8, seed=9)
    part = rng.random(seen.shape) < 0.5
    train, test = (as_log(seen & p, relevant, Feedback.CONVERSIONS) for p in (~part, part))
    score = np.log(chance) + 2.0 * relevant + rng.gumbel(size=seen.shape)  # likes what is shown much, and knows taste
    best = np.argsort(-score, axis=1)[:, :20]
    lists = pl.DataFrame({"user": np.repeat(np.arange(1500), 20), "item": best.ravel()})
    lists = lists.with_columns(rank=np.tile(np.arange(1, 21), 1500))
    result = us.evaluate(
        test,
        {"m": lists},
        metrics=["recall@20"],
        estimators=["naive", "snips"],
        target="pooled",
        propensity=text,
        train=train,
        candidates="all",
    )
    truth = np.take_along_axis(relevant, best, axis=1).sum() / relevant.sum()
    naive, snips = (abs(e.value - truth) for e in result.estimates)
    assert snips < 0.5 * naive


def test_a_file_is_counted_without_being_read_into_a_log(tmp_path: Path) -> None:
    """Counts of a file, row group by row group, give the propensities of the log; other column names and text files."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"user": np.arange(5000), "item": rng.zipf(1.6, 5000) % 97, "value": rng.integers(0, 2, 5000)})
    frame.write_parquet(tmp_path / "log.parquet", row_group_size=512)
    frame.rename({"item": "product"}).write_csv(tmp_path / "log.csv")
    whole = Popularity().fit(Log.from_frame(frame, feedback="conversions"))
    items, counts = count_items(tmp_path / "log.parquet", above=0.0)
    assert counts.sum() == frame["value"].sum()
    catalogue = Ids(pl.Series(np.arange(97)))
    counted = Popularity.from_counts(items, counts).of_items(catalogue)
    np.testing.assert_allclose(counted, whole.of_items(catalogue), rtol=1e-12)
    by_text = Popularity.from_counts(*count_items(tmp_path / "log.csv", columns={"item": "product"}, above=0.0))
    np.testing.assert_allclose(by_text.of_items(catalogue), counted, rtol=1e-12)
    assert count_items(tmp_path / "log.parquet")[1].sum() == 5000


def test_files_that_cannot_be_counted(tmp_path: Path) -> None:
    """A missing column, an empty item, no rows: the message names the file and the remedy."""
    pl.DataFrame({"user": [1], "thing": [2]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="item"):
        count_items(tmp_path / "a.parquet")
    pl.DataFrame({"item": [1, None]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="1 rows have no item"):
        count_items(tmp_path / "b.parquet")
    pl.DataFrame({"item": [1], "value": [0.0]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="nothing to count"):
        count_items(tmp_path / "c.parquet", above=0.0)
    with pytest.raises(InputError, match="one count per item"):
        Popularity.from_counts(Ids(pl.Series([1])), np.array([1.0, 2.0]))
