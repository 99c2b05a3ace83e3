"""The recipes of gs23 against loops, and against what is known of their losses."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.said import refuses

from papers.tests.factor_loop import log_of
from papers.tests.recipe_loop import draws, multiplied, ordered, pairwise, rmsprop, squared, start
from unskew.log import Log
from unskew.models import MostPopular, make
from unskew_papers.models import BPR, MMMF, NMF, BiasedMF, PlainMF, fit_all
from unskew_papers.models.base import ITEMS, Recipe

Matrix = npt.NDArray[np.float64]
RNG = np.random.default_rng(0)
SEEN = RNG.random((7, 6)) < 0.7
SEEN[2] = True  # has everything
SEEN[4], SEEN[:, 3] = False, False  # neither was ever there
POSITIVES = log_of(SEEN)
STARS = RNG.integers(1, 6, SEEN.shape).astype(np.float64)
DIM, SEED = 3, 5
SPECS = (
    "plain_mf(dim=3, epochs=4, seed=5)",
    "biased_mf(dim=3, epochs=4, seed=5)",
    "pmf(dim=3, variant=linear, epochs=4, seed=5)",
    "pmf(dim=3, epochs=4, seed=5)",
    "nmf(dim=3, epochs=4, seed=5)",
    "mmmf(dim=3, epochs=4, seed=5)",
    "bpr(dim=3, epochs=4, seed=5)",
)


def rated(seen: npt.NDArray[np.bool_], value: Matrix) -> Log:
    """Ratings where they were seen; everybody is in the vocabulary."""
    user, item = np.nonzero(np.ones_like(seen))
    frame = pl.DataFrame({"user": user, "item": item, "value": value.ravel()})
    return Log.from_frame(frame, feedback="ratings").take(seen.ravel())


def made(spec: str) -> Recipe:
    model = make(spec)
    assert isinstance(model, Recipe)
    return model


def given(values: bool) -> tuple[Log, list[float]]:
    """A log, and y of its rows."""
    log = rated(SEEN, STARS) if values else POSITIVES
    return log, STARS[log.user, log.item].tolist() if values else [1.0] * len(log)


def compare(model: Recipe, users: list[list[float]], items: list[list[float]], close: float = 2e-5) -> None:
    """Factors of those with pairs; the others have none."""
    left, right = np.array(users)[:, :DIM], np.array(items)
    left[4] = 0.0
    if not isinstance(model, BPR | MMMF):
        right[3] = 0.0
    np.testing.assert_allclose(model.user_, left, rtol=close, atol=close)
    np.testing.assert_allclose(model.item_, right[:, :DIM], rtol=close, atol=close)
    np.testing.assert_allclose(model.offset_, right[:, DIM] if model.offsets else np.zeros(6), rtol=close, atol=close)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("offsets", [False, True])
def test_every_step_of_mf_is_the_loops(offsets: bool, values: bool) -> None:
    """Three epochs of squared errors, with offsets or without, end in the same numbers."""
    log, y = given(values)
    model = (BiasedMF if offsets else PlainMF)(DIM, 3, 0.05, 0.1, values=values, seed=SEED).fit(log)
    users, items = (
        [row + [0.0] * offsets for row in start(ids, DIM, SEED, first, lambda x: (x - 0.5) * 0.01 * sqrt(12.0))]
        for ids, first in ((log.users, 0), (log.items, ITEMS))
    )
    for _ in range(3):
        squared(ordered(log, y, SEED), users, items, 0.05, 0.1, offsets)
    compare(model, users, items)


@pytest.mark.parametrize("hinge", [False, True])
def test_every_step_of_bpr_and_mmmf_is_the_loops(hinge: bool) -> None:
    """Three epochs with the same random stream end in the same numbers."""
    model = (MMMF if hinge else BPR)(DIM, 3, 0.2, 0.1, seed=SEED).fit(POSITIVES)
    users = start(POSITIVES.users, DIM, SEED, 0, lambda x: (x - 0.5) / DIM)
    items = [[*row, 0.0] for row in start(POSITIVES.items, DIM, SEED, ITEMS, lambda x: (x - 0.5) / DIM)]
    pairs, stream = ordered(*given(False), SEED), draws(SEED)
    for _ in range(3):
        pairwise(POSITIVES, pairs, users, items, 0.2, 0.1, hinge, stream)
    compare(model, users, items)
    assert model.offset_[3] == model.offset_.min(), "an item that nobody has was drawn as the other one, and fell"


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("variant", ["linear", "nonlinear"])
def test_every_step_of_pmf_is_the_loops(variant: str, values: bool) -> None:
    """Three epochs of RMSProp; behind a sigmoid, ratings lie between 0 and 1."""
    log, y = given(values)
    sigmoid = variant == "nonlinear"
    if sigmoid and values:
        y = [(x - 1.0) / 4.0 for x in y]
    options = f"dim={DIM}, variant={variant}, epochs=3, rate=0.05, decay=0.8, l2=0.1, values={values}, seed={SEED}"
    model = made(f"pmf({options})").fit(log)
    users, items = (
        start(ids, DIM, SEED, first, lambda x: (x - 0.5) * 0.001 * sqrt(12.0))
        for ids, first in ((log.users, 0), (log.items, ITEMS))
    )
    caches = tuple([[0.0] * DIM for _ in side] for side in (users, items))
    for _ in range(3):
        rmsprop(ordered(log, y, SEED), users, items, (caches[0], caches[1]), 0.05, 0.8, 0.1, sigmoid)
    compare(model, users, items, 2e-4)


@pytest.mark.parametrize("values", [False, True])
def test_every_factor_of_nmf_is_the_loops(values: bool) -> None:
    """Users, then items, multiplied; and never is the loss larger than an epoch earlier."""
    log, y = given(values)
    model = NMF(DIM, 3, 0.1, values=values, seed=SEED).fit(log)
    users, items = (start(ids, DIM, SEED, first, lambda x: x) for ids, first in ((log.users, 0), (log.items, ITEMS)))
    pairs = ordered(log, y, SEED)
    losses = []
    for _ in range(3):
        multiplied(pairs, users, items, 0.1)
        multiplied([(i, u, y) for u, i, y in pairs], items, users, 0.1)
        error = sum((y - float(np.dot(users[u], items[i]))) ** 2 for u, i, y in pairs)
        weight = sum(float(np.dot(users[u], users[u]) + np.dot(items[i], items[i])) for u, i, _ in pairs)
        losses.append(error + 0.1 * weight)
    compare(model, users, items)
    assert (model.user_ >= 0.0).all() and (model.item_ >= 0.0).all() and (np.diff(losses) < 0.0).all()


def planted(offsets: bool, sigmoid: bool = False) -> tuple[Log, Matrix, npt.NDArray[np.bool_]]:
    """Products of two factors (and offsets) for 60 × 40 pairs, half of which are seen."""
    rng = np.random.default_rng(1)
    truth = rng.random((60, 2)) @ rng.random((2, 40)) + 0.2
    if offsets:
        truth = truth + rng.random((60, 1)) + rng.random(40)
    if sigmoid:
        truth = 1.0 / (1.0 + np.exp(-6.0 * (truth - truth.mean())))
    seen = rng.random(truth.shape) < 0.5
    return rated(seen, truth), truth, seen


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        ("plain_mf(dim=3, epochs=2000, rate=0.05, l2=0, values=true)", 0.02),
        ("biased_mf(dim=2, epochs=2000, rate=0.05, l2=0, values=true)", 0.02),
        ("pmf(dim=3, variant=linear, epochs=2000, rate=0.001, l2=0, values=true)", 0.05),
        ("nmf(dim=3, epochs=2000, l2=0, values=true)", 0.05),
    ],
)
def test_a_planted_product_is_found_where_nothing_was_seen(spec: str, most: float) -> None:
    """Half of the pairs of a matrix of low rank tell the other half; the rest of the variance is rounding."""
    log, truth, seen = planted("biased" in spec)
    model = made(spec).fit(log)
    left, right = model.factors()
    guess = left @ right.T
    error = np.where(seen, np.nan, guess - truth)
    if model.offsets:  # what does not order items is not kept: the offset of the user, and the mean
        error -= np.nanmean(error, axis=1)[:, None]
    assert np.nanmean(error**2) < most * truth.var()


@pytest.mark.parametrize("model", [BPR(8, 60, 0.1, seed=0), MMMF(8, 60, 0.1, seed=0)])
def test_pairs_are_ranked_over_others_better_than_by_popularity(model: BPR | MMMF) -> None:
    """Users of a kind like items of their kind; the loss falls and held-out positives come first."""
    rng = np.random.default_rng(0)
    same = np.arange(200)[:, None] % 4 == np.arange(100) % 4
    liked = rng.random((200, 100)) < np.where(same, 0.4, 0.02)
    held = liked & (rng.random(liked.shape) < 0.3)
    train = log_of(liked & ~held)

    def hits(model: BPR | MMMF | MostPopular) -> float:
        lists = model.recommend(train.users, 5, seen=train)
        return float(held[np.repeat(np.arange(200), np.diff(lists.indptr)), lists.item].mean())

    model.fit(train)
    assert model.losses_[-1] < 0.8 * max(model.losses_[:5]) and hits(model) > 3.0 * hits(MostPopular().fit(train))


@pytest.mark.parametrize("spec", SPECS)
def test_the_numbering_of_ids_changes_nothing(spec: str) -> None:
    """Texts of numbers stand in the order of the numbers; rows in another order leave all numbers the same."""
    user, item = (codes + 8 for codes in np.nonzero(SEEN))
    frame = pl.DataFrame({"user": user, "item": item})
    one = Log.from_frame(frame)
    other = Log.from_frame(frame.cast(pl.String).sample(fraction=1.0, shuffle=True, seed=0))
    assert one.users.values.cast(pl.String).to_list() == other.users.values.to_list()
    first, second = made(spec).fit(one), made(spec).fit(other)
    rows, columns = one.users.into(other.users), one.items.into(other.items)
    assert (first.user_ == second.user_[rows]).all() and (first.item_ == second.item_[columns]).all()
    assert (first.offset_ == second.offset_[columns]).all() and first.losses_ == second.losses_


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_every_time_alone_or_beside_others(spec: str) -> None:
    """The same seed gives the same bits with any number of threads; another seed does not."""
    models = fit_all([made(spec) for _ in range(3)] + [made(spec.replace("seed=5", "seed=6"))], POSITIVES, threads=4)
    alone = made(spec).fit(POSITIVES)
    first, second, third, other = (model for model in models if isinstance(model, Recipe))
    for model in (first, second, third):
        assert (model.user_ == alone.user_).all() and (model.item_ == alone.item_).all()
    assert (other.item_ != alone.item_).any()


@pytest.mark.parametrize("spec", SPECS)
def test_nothing_is_learnt_of_those_without_pairs(spec: str) -> None:
    """User 4 and item 3 have no factors; a log without positives is learnt in no time, and its lists are random."""
    model = made(spec).fit(POSITIVES)
    assert not model.user_[4].any() and model.user_[[0, 1, 2, 3, 5, 6]].any(axis=1).all()
    assert model.offset_[3] < 0.0 if isinstance(model, BPR | MMMF) else not model.item_[3].any()
    empty = made(spec).fit(POSITIVES.take(np.zeros(len(POSITIVES), dtype=np.bool_)))
    assert not empty.user_.any() and empty.losses_ == () and len(empty.recommend(POSITIVES.users, 6).item) == 42


@pytest.mark.parametrize("spec", SPECS)
def test_an_interrupted_fit_leaves_the_model_as_it_was(spec: str) -> None:
    """Ctrl-C between two epochs ends the fit; what was learnt before is still there, whole."""
    model = made(spec).fit(POSITIVES)
    before = model.item_.copy(), model.items_

    def stop(epoch: int, epochs: int, loss: float) -> None:
        assert epochs == 4 and np.isfinite(loss)
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(rated(SEEN, STARS).positives(">=4"), progress=stop)
    assert (model.item_ == before[0]).all() and model.items_ is before[1]


def test_canonical_strings_and_mistakes() -> None:
    """Every option is told; steps too large, values below 0 and impossible options are refused with a remedy."""
    assert make("pmf(values=true)").learns_values and not make("pmf").learns_values
    assert str(make("nmf(values=true)")).count("values=true") == 1 and "values" not in str(make("nmf"))
    with refuses("diverged"):
        PlainMF(DIM, 200, 10.0, values=True).fit(rated(SEEN, STARS))
    with refuses("out-of-range"):
        NMF(DIM, values=True).fit(rated(SEEN, -STARS))
