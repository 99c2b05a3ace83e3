"""Logistic matrix factorisation: close to the truth, the same every time, and sane on data that are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from unskew import propensity
from unskew.errors import InputError
from unskew.kernels import factors
from unskew.log import Feedback, Ids, Log
from unskew.propensity import Level, LogisticMF, Scope

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def as_log(seen: Bools, value: Floats | None = None, feedback: Feedback = Feedback.CONVERSIONS) -> Log:
    """A log over all users and items of a matrix; ``value`` is a matrix, too."""
    users, items = (Ids(pl.Series("id", np.arange(n))) for n in seen.shape)
    indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    if feedback is Feedback.IMPLICIT:
        return Log(users, items, indptr, np.nonzero(seen)[1].astype(np.int32), feedback=feedback)
    values = np.ones(indptr[-1]) if value is None else value[seen].astype(np.float64)
    return Log(users, items, indptr, np.nonzero(seen)[1].astype(np.int32), value=values, feedback=feedback)


def low_rank(users: int, items: int, rate: float, *, rank: int = 4, spread: float = 1.5, seed: int = 0) -> Floats:
    """P = σ(v·w + a + b + c) with the given mean."""
    rng = np.random.default_rng(seed)
    sides = [rng.standard_normal((n, rank)) * np.sqrt(spread) / rank**0.25 for n in (users, items)]
    z = sides[0] @ sides[1].T + rng.normal(0.0, 0.7, users)[:, None] + rng.normal(0.0, 1.0, items)
    low, high = -20.0, 5.0
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (1.0 / (1.0 + np.exp(-z - middle))).mean() < rate else (low, middle)
    return np.asarray(1.0 / (1.0 + np.exp(-z - low)))


def draw(chance: Floats, seed: int) -> Bools:
    return np.random.default_rng(seed).random(chance.shape) < chance


def everywhere(model: LogisticMF) -> Floats:
    """P of all pairs."""
    found = model.found
    assert found is not None
    z = found.user[:, :-1] @ found.item[:, :-1].T + found.user[:, -1:] + found.item[:, -1] + found.level
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -15.0, 15.0))))


def log_loss(seen: Bools, chance: Floats) -> float:
    return float(-np.where(seen, np.log(chance), np.log1p(-chance)).mean())


CHANCE = low_rank(1500, 300, 0.08)
LOG = as_log(draw(CHANCE, 1))
AGAIN = draw(CHANCE, 2)  # another draw of the same world


@pytest.fixture(scope="module")
def fitted() -> LogisticMF:
    return LogisticMF().fit(LOG)


def test_close_to_the_oracle(fitted: LogisticMF) -> None:
    """In a low-rank logistic world a new draw's log-loss is near the oracle's, far from popularity × activity."""
    oracle, found = log_loss(AGAIN, CHANCE), log_loss(AGAIN, everywhere(fitted))
    rows, columns = np.diff(LOG.indptr), np.bincount(LOG.item, minlength=300)
    outer = np.clip(np.outer(rows, columns) / len(LOG), 1e-3, 0.999)
    offsets = log_loss(AGAIN, everywhere(LogisticMF(dim=0).fit(LOG)))
    assert oracle < found < offsets < log_loss(AGAIN, outer)
    assert found - oracle < 0.35 * (offsets - oracle)  # two thirds of the way
    assert found / oracle < 1.10


def test_of_agrees_with_the_formula(fitted: LogisticMF) -> None:
    """P of rows is σ(v·w + a + b + c), and predict gives the same for pairs in any order."""
    np.testing.assert_allclose(fitted.of(LOG).rows, everywhere(fitted)[LOG.user, LOG.item], rtol=1e-12)
    user, item = np.array([7, 3, 7, 0]), np.array([5, 299, 1, 0])
    np.testing.assert_allclose(fitted.predict(user.tolist(), item.tolist()), everywhere(fitted)[user, item], rtol=1e-12)
    assert fitted.of(LOG).floored == 0 and fitted.of_items(LOG.items) is None


def test_row_and_column_sums_are_reproduced(fitted: LogisticMF) -> None:
    """As many pairs are expected as were seen: in all within 1 %, for users and items with many rows within 20 %."""
    chance = everywhere(fitted)
    assert chance.sum() == pytest.approx(len(LOG), rel=0.01)
    rows, columns = np.diff(LOG.indptr), np.bincount(LOG.item, minlength=300)
    np.testing.assert_allclose(chance.sum(axis=1)[rows > 40], rows[rows > 40], rtol=0.2)
    np.testing.assert_allclose(chance.sum(axis=0)[columns > 100], columns[columns > 100], rtol=0.2)


@pytest.mark.parametrize("negatives", ["all", 3])
def test_the_same_every_time(negatives: int | str) -> None:
    """The same seed gives the same bits with any number of threads; another seed holds out other pairs."""
    model = LogisticMF(epochs=2, negatives=negatives)
    one, many = replace(model, threads=1).fit(LOG), replace(model, threads=3).fit(LOG)
    other = replace(model, seed=1).fit(LOG)
    assert (everywhere(one) == everywhere(many)).all()
    assert (everywhere(one) != everywhere(other)).any()


def test_rows_in_any_order_and_ids_of_any_type() -> None:
    """The fit depends on who saw what, not on the order of rows."""
    frame = LOG.to_frame().filter(pl.col("user") < 60)
    logs = [
        Log.from_frame(f, feedback="conversions") for f in (frame, frame.sample(fraction=1.0, shuffle=True, seed=3))
    ]
    one, other = (LogisticMF(dim=2, epochs=2).fit(log) for log in logs)
    assert (one.of(logs[0]).rows == other.of(logs[1]).rows).all()
    text = Log.from_frame(frame.select(pl.col("user", "item").cast(pl.String), "value"), feedback="conversions")
    np.testing.assert_allclose(np.sort(one.of(text).rows), np.sort(one.of(logs[0]).rows), rtol=1e-12)


def test_held_out_pairs_stop_the_fit(fitted: LogisticMF) -> None:
    """It ends well before the last round; with a weak penalty it ends where held-out loss was least, with none kept
    aside it runs on and fits noise."""
    assert len(fitted.held_out_loss) < 20
    weak = LogisticMF(penalty=0.1, epochs=15).fit(LOG)
    assert len(weak.held_out_loss) < 12
    assert weak.held_out_loss[-1] < weak.held_out_loss[-2]  # the best round, not the last one
    blind = LogisticMF(penalty=0.1, epochs=15, held_out=0.0).fit(LOG)
    assert len(blind.held_out_loss) == 1 + 15 + 1 and np.isnan(blind.held_out_loss).all()
    assert log_loss(AGAIN, everywhere(weak)) < log_loss(AGAIN, everywhere(blind)) - 0.004


def test_without_structure_offsets_remain() -> None:
    """Where users and items have offsets only, factors do not beat chance, and the fit says so."""
    chance = low_rank(400, 150, 0.1, spread=1e-9, seed=4)
    log = as_log(draw(chance, 5))
    with_factors, offsets = everywhere(LogisticMF().fit(log)), everywhere(LogisticMF(dim=0).fit(log))
    again = draw(chance, 6)
    assert log_loss(again, with_factors) == pytest.approx(log_loss(again, offsets), rel=0.005)
    assert log_loss(again, offsets) == pytest.approx(log_loss(again, chance), rel=0.03)


def test_the_penalised_likelihood_never_falls() -> None:
    """A Newton step shortened to REACH always gains, also from a hopeless start."""
    rng = np.random.default_rng(0)
    seen = draw(low_rank(40, 30, 0.3), 0)
    indptr = np.arange(0, 40 * 30 + 1, 30)
    pair = (2 * np.tile(np.arange(30), 40) + seen.ravel()).astype(np.int32)
    own, other, penalty, ridge = rng.normal(0.0, 3.0, (40, 4)), rng.normal(0.0, 2.0, (30, 4)), 0.5, 0.1

    def objective() -> Floats:
        z = own[:, :3] @ other[:, :3].T + own[:, 3:] + other[:, 3] - 4.0
        fit = np.where(seen, z, 0.0) - np.logaddexp(0.0, z)
        return np.asarray(
            fit.sum(axis=1) - 0.5 * penalty * (own[:, :3] ** 2).sum(axis=1) - 0.5 * ridge * own[:, 3] ** 2
        )

    own[:, :3] *= 0.5  # keep logits inside the cut
    before = objective()
    for _ in range(60):
        factors.ascend(
            0, 40, indptr, pair, np.empty(0), own, other, np.ones(30), -4.0, np.full(40, penalty), ridge, False
        )
        after = objective()
        assert (after >= before - 1e-9).all()
        before = after
    settled = own.copy()
    factors.ascend(0, 40, indptr, pair, np.empty(0), own, other, np.ones(30), -4.0, np.full(40, penalty), ridge, False)
    np.testing.assert_allclose(own, settled, atol=1e-8)  # and reaches the top


def test_weights_equal_repetition() -> None:
    """A user who counts twice is as good as two users who saw the same; one who counts 0 times is not there."""
    seen = draw(low_rank(80, 40, 0.2), 0)
    times = np.random.default_rng(1).integers(0, 4, 80)
    model = LogisticMF(dim=3, epochs=4, held_out=0.0)
    weighed = everywhere(model.fit(as_log(seen), weights=times.astype(np.float64)))
    repeated = everywhere(model.fit(as_log(np.repeat(seen, times, axis=0))))
    np.testing.assert_allclose(np.repeat(weighed, times, axis=0), repeated, rtol=1e-6)


def test_sampling_unseen_pairs_is_undone_by_the_offset(fitted: LogisticMF) -> None:
    """With f of the unseen pairs logit P = logit P̃ + log f: the level is right, and little is lost."""
    sampled = LogisticMF(negatives=4).fit(LOG)
    assert everywhere(sampled).sum() == pytest.approx(len(LOG), rel=0.05)
    all_pairs, some = log_loss(AGAIN, everywhere(fitted)), log_loss(AGAIN, everywhere(sampled))
    assert some < all_pairs * 1.03


def test_the_sample_is_a_sample() -> None:
    """gather lists every seen pair, each unseen pair with the rate asked for, none twice, and holds out the share."""
    ends = [np.zeros(1501, dtype=np.int64) for _ in range(2)]
    lists = [np.empty(0, dtype=np.int32) for _ in range(2)]
    for _ in range(2):
        factors.gather(
            LOG.indptr,
            LOG.item,
            LOG.users.hashes,
            LOG.items.hashes,
            np.uint64(7),
            0.2,
            0.1,
            ends[0],
            lists[0],
            ends[1],
            lists[1],
        )
        lists = lists if len(lists[0]) else [np.empty(int(end[-1]), dtype=np.int32) for end in ends]
    kept, held = (
        set(zip(np.repeat(np.arange(1500), np.diff(e)), p, strict=True)) for e, p in zip(ends, lists, strict=True)
    )
    assert len(kept) == len(lists[0]) and len(held) == len(lists[1]) and not kept & held
    both = kept | held
    assert {(u, i) for u, p in both if p & 1 for i in [p >> 1]} == set(zip(LOG.user, LOG.item, strict=True))
    unseen = 1500 * 300 - len(LOG)
    assert sum(1 - (p & 1) for _, p in both) == pytest.approx(0.2 * unseen, abs=5 * np.sqrt(0.16 * unseen))
    assert len(held) == pytest.approx(0.1 * len(both), abs=5 * np.sqrt(0.09 * len(both)))
    share = sum(p & 1 for _, p in held) / len(LOG)
    assert share == pytest.approx(0.1, abs=5 * 0.3 / np.sqrt(len(LOG)))


def test_level_follows_the_feedback() -> None:
    """Logs of all that was seen give absolute propensities of the training part; implicit logs only relative ones."""
    seen = draw(low_rank(30, 20, 0.3), 0)
    model = LogisticMF(dim=1, epochs=1)
    assert model.level is Level.RELATIVE and not model.fitted and model.estimated
    for feedback, level in (
        (Feedback.CONVERSIONS, Level.ABSOLUTE),
        (Feedback.RATINGS, Level.ABSOLUTE),
        (Feedback.IMPLICIT, Level.RELATIVE),
    ):
        log = as_log(seen, feedback=feedback)
        found = model.fit(log)
        assert found.level is level and found.fitted and found.refers(log) is Scope.TRAIN


def test_unknown_users_and_items_fall_back() -> None:
    """An unknown item has the user's offset, an unknown user the item's, and both are counted; silent ones, too."""
    seen = draw(low_rank(50, 30, 0.2), 0)
    seen[4], seen[:, 6] = False, False
    found = LogisticMF(dim=2, epochs=2).fit(as_log(seen))
    assert found.found is not None
    user, item, level = found.found.user[:, -1], found.found.item[:, -1], found.found.level
    z = np.array([level + user[3], level + item[2], level])
    chance = found.predict([3, 99, 99], [77, 2, 77])
    np.testing.assert_allclose(chance, 1.0 / (1.0 + np.exp(-z)), rtol=1e-12)
    pairs = Log.from_frame(pl.DataFrame({"user": [3, 99, 99, 4, 1, 1], "item": [77, 2, 77, 1, 6, 2]}))
    assert found.of(pairs).floored == 5
    assert found.predict([4], [2])[0] < found.predict([1], [2])[0]  # a silent user is known to see little


HOSTILE = {
    "one user": np.array([[True, False, True, False]]),
    "one item": np.array([[True], [False], [True]]),
    "one seen pair": np.eye(6, dtype=np.bool_) & (np.arange(6) == 2),
    "an item that everybody saw": np.ones((30, 1), dtype=np.bool_).repeat(8, axis=1) & (np.arange(8) < 1),
    "all but one": ~(np.eye(7, dtype=np.bool_) & (np.arange(7) == 3)),
    "a user who saw everything": np.arange(20)[:, None].repeat(9, axis=1) == 5,
    "two worlds": np.kron(np.eye(2, dtype=np.bool_), np.ones((10, 10), dtype=np.bool_)),
}


@pytest.mark.parametrize("seen", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("held_out", [0.0, 0.3])
def test_hostile_data_give_probabilities(seen: Bools, held_out: float) -> None:
    """Users without rows, items that everybody saw, separable worlds: P is a number strictly between 0 and 1."""
    found = LogisticMF(dim=4, epochs=8, held_out=held_out, penalty=0.05).fit(as_log(seen))
    chance = everywhere(found)
    assert ((chance > 0.0) & (chance < 1.0)).all()
    assert ((found.of(as_log(seen)).rows > 0.0) & (found.of(as_log(seen)).rows < 1.0)).all()


def test_what_cannot_be_fitted_is_refused() -> None:
    """Nothing seen, everything seen, nobody who counts, not fitted: the message says what is missing."""
    with pytest.raises(InputError, match="seen and unseen pairs"):
        LogisticMF().fit(as_log(np.ones((3, 4), dtype=np.bool_)))
    with pytest.raises(InputError, match="seen and unseen pairs"):
        LogisticMF().fit(as_log(np.zeros((3, 4), dtype=np.bool_)))
    with pytest.raises(InputError, match="weight above 0"):
        LogisticMF().fit(as_log(np.eye(3, dtype=np.bool_)), weights=np.zeros(3))
    with pytest.raises(InputError, match="train=…"):
        LogisticMF().of(LOG)


@pytest.mark.parametrize(
    "text",
    [
        "logistic_mf(dim=10, penalty=0.7, epochs=30, negatives=auto, held_out=0.05, seed=0)",
        "logistic_mf(dim=5, penalty=1, epochs=3, negatives=all, held_out=0, seed=7)",
        "logistic_mf(dim=0, penalty=0.25, epochs=1, negatives=4, held_out=0.1, seed=0)",
    ],
)
def test_canonical_strings(text: str) -> None:
    """The string parses and prints back."""
    assert str(propensity.make(text)) == text
    assert str(propensity.make("logistic_mf")) == str(LogisticMF())


@pytest.mark.parametrize(
    "text", ["dim=-1", "penalty=0", "epochs=0", "negatives=some", "negatives=0", "held_out=0.9", "seed=-1"]
)
def test_impossible_options_are_refused(text: str) -> None:
    """The message names the option."""
    with pytest.raises(InputError, match=text.split("=")[0]):
        propensity.make(f"logistic_mf({text})")


def test_snips_and_ips_with_it_halve_the_error_of_naive() -> None:
    """Conversions depend on the taste that exposure follows: snips, pooled, comes at least twice as near the truth."""
    rng = np.random.default_rng(0)
    chance = low_rank(1000, 500, 0.2, rank=2, spread=1.0, seed=8)
    z = np.log(chance / (1.0 - chance))
    relevant = rng.random(chance.shape) < 1.0 / (1.0 + np.exp(2.0 - 0.8 * (z - z.mean())))
    seen = draw(chance, 9)
    part = rng.random(chance.shape) < 0.5
    train, test = (as_log(seen & p, relevant.astype(np.float64)) for p in (~part, part))
    lists = pl.DataFrame(
        {
            "user": np.repeat(np.arange(1000), 20),
            "item": np.argsort(-z - rng.gumbel(size=z.shape), axis=1)[:, :20].ravel(),
        }
    ).with_columns(rank=np.tile(np.arange(1, 21), 1000))
    listed = np.zeros(chance.shape, dtype=np.bool_)
    listed[lists["user"].to_numpy(), lists["item"].to_numpy()] = True
    truth = (relevant & listed).sum() / relevant.sum()
    result = us.evaluate(
        test,
        {"m": lists},
        metrics=["recall@20"],
        estimators=["naive", "snips"],
        target="pooled",
        propensity="logistic_mf(dim=2)",
        train=train,
        candidates="all",
        share=0.5,
    )
    naive, snips = (abs(e.value - truth) for e in result.estimates)
    assert snips < 0.5 * naive
    sums = us.evaluate(
        test,
        {"m": lists},
        metrics=["precision@20"],
        estimators=["naive", "ips"],
        target="per_user_sum",
        propensity="logistic_mf(dim=2)",
        train=train,
        candidates="all",
        share=0.5,
    )
    naive, ips = (abs(e.value - (relevant & listed).sum() / 1000 / 20) for e in sums.estimates)
    assert ips < 0.5 * naive
