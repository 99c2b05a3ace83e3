"""What Python callers may hand over by mistake: every public function answers with an error of ours, or an answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.refusals.test_options import LISTS, LOG, TEST, TRAIN
from tests.said import refusal
from unskew.core.errors import InputError, UnskewError
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
        ("none", lambda: None), ("int", lambda: 5), ("float", lambda: 2.5), ("bool", lambda: True), ("nothing", dict),
        ("mapping", lambda: {"a": 1}), ("nested", lambda: {"a": {"b": {"c": 1}}}),
        ("generator", lambda: (x for x in (1, 2))), ("list", lambda: [1, 2]), ("empty list", list),
        ("set", lambda: {1}), ("text", lambda: "no such thing"), ("empty", str), ("bytes", lambda: b"abc"),
        ("object", object), ("array", lambda: np.arange(5)), ("matrix", lambda: np.zeros((3, 3))),
        ("series", lambda: pl.Series([1])), ("empty frame", pl.DataFrame),
        ("frame without rows", lambda: TEST.to_frame().head(0)), ("frame", lambda: TEST.to_frame()),
        ("pandas by index", lambda: TEST.to_frame().to_pandas().set_index(["user", "item"])),
        ("pandas", lambda: TEST.to_frame().to_pandas()), ("log", lambda: TEST), ("lists", lambda: LISTS["one"]),
        ("no lists", lambda: Recommends(5)), ("no numbers", lambda: Predicts(lambda rows: ["x"] * rows)),
        ("infinite", lambda: Predicts(lambda rows: np.full(rows, np.inf))),
        ("too large", lambda: Predicts(lambda rows: np.full(rows, 1e300))),
        ("too few", lambda: Predicts(lambda rows: np.zeros(1))),
    )  # fmt: skip


OPTIONS = sorted(
    set(inspect.signature(us.evaluate).parameters) - {"test", "models", "engine", "memory", "answers", "users_are"}
)
GIVEN: dict[str, Any] = {"train": TRAIN, "propensity": "popularity"}
MODELS = [us.models.make(text) for text in ("most_popular", "item_knn", "factors(epochs=1)", "mf(dim=1)", "random")]
FITTED = {str(model): us.models.make(str(model)).fit(LOG) for model in MODELS}
PROPENSITIES = [
    us.propensity.make(text)
    for text in (
        "popularity", "naive_bayes", "logistic_mf(dim=1)", "logistic(features=none, offsets=item)",
        "calibrated(popularity, method=platt, folds=2)",
    )
]  # fmt: skip
OUTCOMES = [us.outcome.make(text) for text in ("means", "logistic_mf(dim=1)", "adam_mf(steps=2)", "crossfit(means)")]


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


LIST = LISTS["one"]


@pytest.mark.parametrize(
    "change",
    [
        {"item": LIST.item + 1000},
        {"item": np.full_like(LIST.item, -7)},
        {"item": np.zeros_like(LIST.item)},
        {"rank": LIST.rank - 1},
        {"rank": np.ones_like(LIST.rank)},
        {"rank": LIST.rank[1:]},
        {"rank": LIST.rank.astype(float)},
        {"indptr": LIST.indptr[::-1].copy()},
        {"indptr": LIST.indptr * 1000},
        {"users": list(range(40))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_lists_that_point_nowhere_are_refused(change: dict[str, Any]) -> None:
    """Kernels would read beyond their arrays; from a caller's model they come the same way."""
    made = replace(LIST, **change)
    for source in (made, Recommends(made)):
        assert isinstance(refusal(us.evaluate, TEST, {"a": source}, train=TRAIN), InputError)


@pytest.mark.parametrize(
    "change",
    [
        {"item": TEST.item + 1000},
        {"item": TEST.item[::-1].copy()},
        {"indptr": TEST.indptr + 1},
        {"value": np.full(len(TEST), np.nan)},
        {"value": np.full(len(TEST), 1e308)},
        {"value": np.ones(3)},
        {"propensity": np.zeros(len(TEST))},
        {"propensity": np.full(len(TEST), 1e-160)},
        {"time": np.zeros(3, dtype=np.int64)},
        *({"position": made} for made in (np.ones(len(TEST)), pl.Series([1.0] * len(TEST)), pl.Series([1, 2]))),
    ],
    ids=lambda change: next(iter(change)),
)
def test_logs_that_do_not_fit_together_are_refused(change: dict[str, Any]) -> None:
    """A log made by hand is looked at before kernels are; the array is named."""
    ((name, _),) = change.items()
    for call in (partial(us.evaluate, models=LISTS, train=TRAIN), us.audit):
        problem = refusal(call, replace(TEST, **change))
        assert isinstance(problem, InputError) and (name in str(problem) or name == "item")


class Own(Propensity):
    """A propensity of the caller's."""

    name = "own"
    level = Level.ABSOLUTE

    def __init__(self, made: Any) -> None:
        self.made = made

    def of(self, log: us.Log) -> Any:
        return self.made


@pytest.mark.parametrize(
    "made",
    [
        None,
        np.ones(len(TEST)),
        Scored(np.ones(3)),
        *(Scored(np.full(len(TEST), p)) for p in (0, -0.5, 2, np.inf, 1e-200)),
    ],
)
def test_own_propensities_are_checked(made: Any) -> None:
    """What cannot be weighed by is refused by the name of the propensity."""
    assert "'own'" in str(refusal(us.evaluate, TEST, LISTS, propensity=Own(made)))


def test_predictions_whose_ranks_are_tied_are_refused() -> None:
    """Ranks of an array in memory are looked at as those of a file are."""
    frame = pl.DataFrame({"user": "u", "item": ["a", "b", "c"], "prediction": [1.0, 2.0, 3.0], "rank": [2, 1, 3]})
    made = replace(us.Predictions.from_frame(frame), rank=np.array([2, 1, 2], dtype=np.int32))
    assert "'u'" in str(refusal(us.evaluate, TEST, {"a": made}, metrics=["recall@2"]))


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
    asked: Any = {"outcome": model, "estimators": ["direct"], "metrics": ["dcg@5"]}
    assert isinstance(refusal(us.evaluate, TEST, LISTS, **asked), InputError)


@pytest.mark.parametrize("by", ["user", "item", "value", "propensity", "relevant", "time", "session"])
def test_columns_that_make_no_segments(by: str) -> None:
    """Such segments would be one per user, or none, or too many: every one is evaluated anew."""
    frame = pl.DataFrame({"user": range(1200), "item": [0, 1] * 600, "session": range(1200)})
    lists = {"a": pl.DataFrame({"user": range(1200), "item": [0] * 1200, "rank": [1] * 1200})}
    users = pl.DataFrame({"user": range(1200), "relevant": [12] * 1200})
    assert by in str(refusal(us.evaluate, frame, lists, users=users, by=by))
