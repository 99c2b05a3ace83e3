"""What Python callers may hand over by mistake: every public function answers with an error of ours, or an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unskew as us
from tests.refusals.test_options import LISTS, LOG, SIDE, TEST, TRAIN
from unskew.errors import InputError, UnskewError
from unskew.log import Ids
from unskew.propensity import Level, Propensity, Scored


class Recommends:
    """A model of the caller's that gives whatever it was made with."""

    def __init__(self, made: Any) -> None:
        self.made = made

    def recommend(self, users: Ids, k: int, *, seen: us.Log | None = None) -> Any:
        return self.made


class Predicts:
    """The same for predictions."""

    def __init__(self, made: Callable[[int], Any]) -> None:
        self.made = made

    def predict(self, users: Any, items: Any) -> Any:
        return self.made(len(users))


def hostile() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Values by name, made anew for each call."""
    yield from (
        ("none", lambda: None),
        ("int", lambda: 5),
        ("float", lambda: 2.5),
        ("bool", lambda: True),
        ("nothing", dict),
        ("mapping", lambda: {"a": 1}),
        ("nested", lambda: {"a": {"b": {"c": 1}}}),
        ("generator", lambda: (x for x in (1, 2))),
        ("list", lambda: [1, 2]),
        ("empty list", list),
        ("set", lambda: {1}),
        ("text", lambda: "no such thing"),
        ("empty", str),
        ("bytes", lambda: b"abc"),
        ("object", object),
        ("array", lambda: np.arange(5)),
        ("matrix", lambda: np.zeros((3, 3))),
        ("series", lambda: pl.Series([1])),
        ("empty frame", pl.DataFrame),
        ("frame without rows", lambda: TEST.to_frame().head(0)),
        ("frame", lambda: TEST.to_frame()),
        ("pandas by index", lambda: TEST.to_frame().to_pandas().set_index(["user", "item"])),
        ("pandas", lambda: TEST.to_frame().to_pandas()),
        ("log", lambda: TEST),
        ("lists", lambda: LISTS["one"]),
        ("no lists", lambda: Recommends(5)),
        ("no numbers", lambda: Predicts(lambda rows: ["x"] * rows)),
        ("infinite", lambda: Predicts(lambda rows: np.full(rows, np.inf))),
        ("too large", lambda: Predicts(lambda rows: np.full(rows, 1e300))),
        ("too few", lambda: Predicts(lambda rows: np.zeros(1))),
    )


OPTIONS = [
    "metrics",
    "estimators",
    "propensity",
    "outcome",
    "in_sample",
    "target",
    "train",
    "feedback",
    "relevant",
    "users",
    "items",
    "share",
    "mcar",
    "candidates",
    "columns",
    "drop_seen",
    "invalid",
    "duplicates",
    "by",
    "level",
    "interval",
    "replicates",
    "refit",
    "seed",
    "per_user",
    "refused",
    "threads",
    "sample",
]
GIVEN: dict[str, Any] = {"train": TRAIN, "propensity": "popularity"}
MODELS = [
    us.models.MostPopular(),
    us.models.ItemKNN(),
    us.models.Factors(epochs=1),
    us.models.MF(1),
    us.models.Random(),
]
FITTED = {str(model): model.fit(LOG) for model in (us.models.make(str(m)) for m in MODELS)}
PROPENSITIES = [
    us.propensity.Popularity(),
    us.propensity.NaiveBayes(),
    us.propensity.LogisticMF(dim=1),
    us.propensity.Logistic(features="none", offsets="item"),
    us.propensity.Calibrated(us.propensity.Popularity(), method="platt", folds=2),
]
OUTCOMES = [
    us.outcome.Means(),
    us.outcome.LogisticMF(dim=1),
    us.outcome.AdamMF(steps=2),
    us.outcome.Crossfit(us.outcome.Means()),
]


def calls(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every place where a value may be put."""
    evaluate: Any = us.evaluate
    yield "models", lambda: evaluate(TEST, value, **GIVEN)
    yield "one model", lambda: evaluate(TEST, {"a": value}, **GIVEN)
    yield "predictions", lambda: evaluate(TEST, {"a": value}, metrics=["mae"], feedback="ratings")
    yield "name", lambda: evaluate(TEST, {value: LISTS["one"]} if value.__hash__ else {"": LISTS["one"]}, **GIVEN)
    for option in OPTIONS:
        yield option, lambda option=option: evaluate(TEST, LISTS, **(GIVEN | {option: value}))  # type: ignore[misc]
    for option in ("sample_size", "repeats", "seed"):
        asked = {"sample": "reg", "repeats": 1, option: value}
        yield f"sample, {option}", lambda asked=asked: evaluate(TEST, LISTS, **asked)  # type: ignore[misc]
    yield "compare", lambda: us.compare_propensities(TEST, LISTS, propensities=value, train=TRAIN)
    for option in ("propensities", "mcar", "feedback", "relevant", "columns", "invalid", "duplicates"):
        yield f"audit {option}", lambda option=option: us.audit(TEST, **{option: value})  # type: ignore[misc]
    yield "check", lambda: us.propensity.check(value, LOG)
    yield "check log", lambda: us.propensity.check("popularity", value)
    yield "check inputs", lambda: us.propensity.check("popularity", LOG, inputs=value)
    for model in MODELS:
        yield f"{model} fit", lambda model=model: us.models.make(str(model)).fit(value)  # type: ignore[misc]
    for name, fitted in FITTED.items():
        yield f"{name} users", lambda fitted=fitted: fitted.recommend(value, 3)  # type: ignore[misc]
        yield f"{name} seen", lambda fitted=fitted: fitted.recommend(LOG.users, 3, seen=value)  # type: ignore[misc]
    for part in (*PROPENSITIES, *OUTCOMES):
        yield f"{part} fit", lambda part=part: part.fit(value)  # type: ignore[misc]
    yield "predict", lambda: us.propensity.Popularity().fit(LOG).predict(value, value)
    yield "outcome predict", lambda: us.outcome.Means().fit(LOG).predict(value, value)
    yield "outcome weights", lambda: us.outcome.Means().fit(LOG, propensity=value)
    yield "mf weights", lambda: us.models.MF(1).fit(LOG, propensity=value)
    yield "learned", lambda: us.outcome.Learned(value)
    for room in (us.models, us.metrics, us.estimators, us.outcome, us.propensity):
        yield f"{room.__name__}.make", lambda room=room: room.make(value)  # type: ignore[misc]
    yield "holdout", lambda: us.split.holdout(value)
    yield "k_fold", lambda: us.split.k_fold(value)
    yield "like", lambda: us.simulate.RatingWorld.like(value)
    yield "positives", lambda: LOG.positives(value)
    yield "find", lambda: us.evaluate(TEST, LISTS, train=TRAIN).verdicts(value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [make for _, make in hostile()], ids=[name for name, _ in hostile()])
def test_wrong_things_are_told(make: Callable[[], Any]) -> None:
    """An error of ours, in a few lines; never one from the middle of the work."""
    for where in [name for name, _ in calls(make())]:
        value = make()
        call = dict(calls(value))[where]
        try:
            call()
        except UnskewError as problem:
            assert len(str(problem)) < 1500, where
        except Exception as problem:
            raise AssertionError(f"{where}: {type(problem).__name__}: {problem}") from problem


def lists(**changes: Any) -> us.Recommendations:
    return replace(LISTS["one"], **changes)


LIST = LISTS["one"]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lists(item=LIST.item + 1000), "codes from -1"),
        (lists(item=np.full_like(LIST.item, -7)), "codes from -1"),
        (lists(item=np.zeros_like(LIST.item)), "the same item twice"),
        (lists(rank=LIST.rank - 1), "ranks must lie"),
        (lists(rank=np.ones_like(LIST.rank)), "ranks must ascend"),
        (lists(rank=LIST.rank[1:]), "ranks for"),
        (lists(rank=LIST.rank.astype(float)), "whole numbers"),
        (lists(indptr=LIST.indptr[::-1].copy()), "'indptr'"),
        (lists(indptr=LIST.indptr * 1000), "'indptr'"),
        (lists(users=list(range(40))), "must be Ids"),
    ],
)
def test_lists_that_point_nowhere_are_refused(made: us.Recommendations, words: str) -> None:
    """Kernels would read beyond their arrays; from a caller's model they come the same way."""
    for source in (made, Recommends(made)):
        with pytest.raises(InputError, match=words):
            us.evaluate(TEST, {"a": source}, train=TRAIN)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"item": TEST.item + 1000}, "codes from 0"),
        ({"item": TEST.item[::-1].copy()}, "items must ascend"),
        ({"indptr": TEST.indptr + 1}, "'indptr'"),
        ({"value": np.full(len(TEST), np.nan)}, "'value' must lie"),
        ({"value": np.full(len(TEST), 1e308)}, "'value' must lie"),
        ({"value": np.ones(3)}, "one for each row"),
        ({"propensity": np.zeros(len(TEST))}, "'propensity' must lie"),
        ({"propensity": np.full(len(TEST), 1e-160)}, "'propensity' must lie"),
        ({"time": np.zeros(3, dtype=np.int64)}, "'time' has 3 rows"),
    ],
)
def test_logs_that_do_not_fit_together_are_refused(change: dict[str, Any], words: str) -> None:
    """A log made by hand is looked at before kernels are."""
    with pytest.raises(InputError, match=words):
        us.evaluate(replace(TEST, **change), LISTS, train=TRAIN)
    with pytest.raises(InputError, match=words):
        us.audit(replace(TEST, **change))


class Own(Propensity):
    """A propensity of the caller's."""

    name = "own"
    level = Level.ABSOLUTE

    def __init__(self, made: Any) -> None:
        self.made = made

    def of(self, log: us.Log) -> Any:
        return self.made


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (None, "of\\(log\\) must give"),
        (np.ones(len(TEST)), "of\\(log\\) must give"),
        (Scored(np.ones(3)), "a number for each of"),
        (Scored(np.zeros(len(TEST))), "a propensity of 0"),
        (Scored(np.full(len(TEST), -0.5)), "a propensity of -0.5"),
        (Scored(np.full(len(TEST), 2.0)), "a propensity of 2"),
        (Scored(np.full(len(TEST), np.inf)), "a propensity of inf"),
        (Scored(np.full(len(TEST), 1e-200)), "a propensity of 1e-200"),
    ],
)
def test_own_propensities_are_checked(made: Any, words: str) -> None:
    """What cannot be weighed by is refused by the name of the propensity."""
    with pytest.raises(InputError, match=f"(?s)'own'.*{words}"):
        us.evaluate(TEST, LISTS, propensity=Own(made))


def test_own_propensities_of_single_precision_weigh_alike() -> None:
    """Numbers are those of the same propensities in double precision, weights and shares included."""
    rows: Any = (0.1 + np.arange(len(TEST)) % 7 / 10).astype(np.float32)
    one, other = (
        us.evaluate(TEST, LISTS, propensity=Own(Scored(each)), estimators=["snips"]).table()
        for each in (rows, rows.astype(np.float64))
    )
    assert one.equals(other)


def test_predictions_whose_ranks_are_tied_are_refused() -> None:
    """Ranks of an array in memory are looked at as those of a file are."""
    made = us.Predictions(
        Ids(pl.Series(["u"])), Ids(pl.Series(["a", "b", "c"])), np.array([0, 3]), np.arange(3, dtype=np.int32),
        np.array([1.0, 2.0, 3.0]), np.array([2, 1, 2], dtype=np.int32),
    )  # fmt: skip
    with pytest.raises(InputError, match="rank' says 2 twice for user 'u'"):
        us.evaluate(TEST, {"a": made}, metrics=["recall@2"])


class Guesses(us.outcome.Means):
    """An outcome model of the caller's."""

    def bind(self, users: Ids, items: Ids) -> Any:
        return lambda user, item: np.full(len(user), self.guess)

    guess = np.nan


@pytest.mark.parametrize("guess", [np.nan, np.inf, 1e300])
def test_own_guesses_are_checked(guess: float) -> None:
    """A guess that is no number would make every doubly robust estimate none."""
    model = Guesses().fit(LOG)
    object.__setattr__(model, "guess", guess)
    with pytest.raises(InputError, match="guesses"):
        us.evaluate(TEST, LISTS, outcome=model, estimators=["direct"], metrics=["dcg@5"])


@pytest.mark.parametrize("by", ["user", "item", "value", "propensity", "relevant", "time"])
def test_columns_with_a_meaning_make_no_segments(by: str) -> None:
    """Such segments would be one per user, or none."""
    users = pd.DataFrame({"user": range(40), "relevant": [12] * 40})
    with pytest.raises(InputError, match="makes no segments"):
        us.evaluate(TEST, LISTS, users=users, by=by)


def test_segments_are_few() -> None:
    """Every one is evaluated anew: a column of a million sessions is refused by their number."""
    frame = pl.DataFrame({"user": range(1200), "item": [0, 1] * 600, "session": range(1200)})
    mine = pl.DataFrame({"user": range(1200), "item": [0] * 1200, "rank": [1] * 1200})
    with pytest.raises(InputError, match="1,200 different values"):
        us.evaluate(frame, {"a": mine}, by="session")


def test_side_is_what_it_should_be() -> None:
    """The walk above needs covariates and a random log that serve."""
    assert us.propensity.check("naive_bayes", LOG, inputs=SIDE).checks
