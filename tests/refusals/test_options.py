"""Every number that any part takes, with hostile values: refused by an error of ours, or used to a finite end.

The walk finds parts in the registries and options in their signatures, so that a new option cannot be left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew import estimators, metrics, models, outcome, propensity, split
from unskew.core.errors import UnskewError
from unskew.core.parts import options_of
from unskew.estimators import Estimator
from unskew.metrics import RankingMetric, RatingMetric
from unskew.models import Model
from unskew.outcome import Outcome
from unskew.propensity import FitInputs, Propensity
from unskew.simulate import RatingWorld, World, complete, most_active
from unskew.split import Splitter

HOSTILE: list[Any] = [
    *(-1, 0, 3, 0.5, 0.4, 1 - 1e-9, 10**30, 10**5000, 2_000_000_000, 1e308, 1e90, 1e-300, 1e-90, 1j, True),
    *(float("nan"), float("inf"), float("-inf"), np.int64(3), np.float32(0.5), np.float64("nan"), np.bool_(True)),
    *([5], np.arange(3), pl.DataFrame({"a": [1]}), b"1d", "5", "", "\x1b[2J\x00\n" * 50),
    *("1d", "1mo", "1y", "999999999999y", "9999-12-31", "0001-01-01", "2024-02-30"),
    *("Europe/Brussels", "../../etc/passwd", "/etc/passwd"),
]
TEXTS = [
    *("-1", "0", "3", "0.5", "1e30", "1e308", "1e999", "1e-300", "1e90", "nan", "inf", "9" * 5000, "2000000000"),
    *("x", "1d", "d1", "true", "f(1)"),
]


def log() -> us.Log:
    """40 users who saw most of 12 items each, with outcomes and the propensities by which they were drawn."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"user": np.repeat(np.arange(40), 12), "item": np.tile(np.arange(12), 40)}).with_columns(
        value=pl.Series(rng.integers(0, 2, 480).astype(float)), propensity=pl.Series(rng.uniform(0.4, 0.9, 480))
    )
    return us.Log.from_frame(
        frame.filter(pl.Series(rng.uniform(size=480)) < pl.col("propensity")), feedback="conversions"
    )


LOG = log()
ROW = np.arange(len(LOG), dtype=np.int64)
TRAIN, TEST = us.split.holdout(LOG, 0.4, seed=1)
LISTS = {
    name: models.Random(seed).fit(TRAIN).recommend(TRAIN.users, 5, seen=TRAIN)  # two models without a meaning
    for seed, name in enumerate(("one", "other"))
}


def features(key: str, size: int) -> Any:
    return us.log.read_features(pl.DataFrame({key: range(size), "x": np.linspace(-1.0, 1.0, size)}), key)


SIDE = FitInputs(train=LOG, mcar=LOG, user_features=features("user", 40), item_features=features("item", 12))

INNER: dict[type, dict[str, Any]] = {
    estimators.Clipped: {"inner": estimators.SNIPS(), "at": None, "quantile": 0.1},
    outcome.Crossfit: {"inner": outcome.Means()},
    propensity.Calibrated: {"inner": propensity.Popularity(), "method": "platt"},
    split.SlidingWindow: {"min_users": 1, "folds": 2},
    outcome.Given: {"source": LOG.to_frame().select("user", "item", prediction="value")},
    estimators.Stratified: {"shares": {"1": 0.5, "2": 0.5, "3": 0.0, "4": 0.0, "5": 0.0}},
}
ROOMS = (metrics, estimators, propensity, outcome, models, split)


def numeric(part: type) -> Iterator[str]:
    """The options that a part takes, as far as their annotation leaves room for a number."""
    for name, option in inspect.signature(part).parameters.items():
        told, given = str(option.annotation), INNER.get(part, {}).get(name)
        room = issubclass(part, Splitter) or any(kind in told for kind in ("int", "float", "Strata"))
        if room and "Mapping" not in told and "tuple" not in told and (given is None or isinstance(given, int | float)):
            yield name


def parts() -> dict[str, type]:
    """Every registered part that takes a number, and what evaluations take beside them."""
    found = [room.FAMILY.class_of(name) for room in ROOMS for name in sorted(room.FAMILY.built_in)]
    return {part.__name__: part for part in (*found, estimators.Strata, World) if part in INNER or list(numeric(part))}


PARTS = parts()
CASES = [(part, option) for part in PARTS.values() for option in numeric(part)]


def numbers(values: Any) -> None:
    """All numbers are finite."""
    assert np.isfinite(np.asarray(values, dtype=np.float64)).all()


def use(part: Any) -> None:
    """Do with a part what it is for."""
    if isinstance(part, RankingMetric):
        numbers(part.table(12))
        asked: dict[str, Any] = {"metrics": [part], "target": ["per_user", "per_user_sum"], "refused": "skip"}
        numbers([e.value for e in us.evaluate(TEST, LISTS, train=TRAIN, estimators=["naive"], **asked).estimates])
    elif isinstance(part, RatingMetric):
        numbers(part.cost(np.ones(3), np.zeros(3)))
    elif isinstance(part, Estimator):
        options: dict[str, Any] = (
            {"outcome": "means"} if "outcome" in str(part.needs(estimators.Target.PER_USER_SUM)) else {}
        )
        target = sorted(part.valid)[0]
        options |= {"estimators": [part], "propensity": "known", "target": [target], "metrics": ["dcg@5"]}
        found = us.evaluate(TEST, LISTS, train=TRAIN, **options)
        numbers([e.value for e in found.estimates])
    elif isinstance(part, Propensity):
        rows = part.fit(TRAIN, inputs=SIDE).of(TEST).rows
        numbers(rows)
        assert (rows > 0.0).all() and (rows <= 1.0).all()
    elif isinstance(part, Outcome):
        fitted = part.fit(LOG, propensity=LOG.propensity, inputs=SIDE)
        numbers(fitted.of(LOG))
    elif isinstance(part, Model):
        timed = replace(LOG, time=ROW)
        assert len(part.fit(timed).recommend(LOG.users, 3).item)
    elif isinstance(part, Splitter):
        folds = split.make_splits(replace(LOG, time=1_700_000_000 + 50_000 * ROW), part)
        assert all(len(train) and len(test) for train, test in folds) and str(split.make(str(part))) == str(part)
    elif isinstance(part, World):
        numbers(part.train.propensity if part.train.propensity is not None else [])


def harmless(call: Callable[[], object], what: object) -> None:
    """No other exception than ours, in a few words without control characters."""
    try:
        call()
    except UnskewError as problem:
        assert len(str(problem)) < 1000 and not {"\x1b", "\x00"} & set(str(problem)), what
    except Exception as problem:
        raise AssertionError(f"{what}: {type(problem).__name__}: {problem}") from problem


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("part", "option"), CASES, ids=lambda case: getattr(case, "__name__", str(case)))
def test_hostile_options_are_refused_or_harmless(part: type, option: str) -> None:
    """No NaN, and nothing that grows with the number."""
    usual: dict[str, Any] = dict(INNER.get(part, {}))
    if part is estimators.Clipped and option == "at":
        usual["quantile"] = None
    if part is World:
        usual = {"users": 20, "items": 10, "relevant": 2.0, "impressions": 5.0}
    for value in HOSTILE:
        harmless(lambda value=value: use(part(**usual | {option: value})), type(value))  # type: ignore[misc]


NAMED = [
    (room.make, name, entry.name)
    for room in ROOMS
    for name in sorted(room.FAMILY.built_in)
    for entry, _ in options_of(room.FAMILY.class_of(name))
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("make", "name", "option"), NAMED, ids=lambda part: part if isinstance(part, str) else "")
def test_hostile_texts_are_refused_or_harmless(make: Callable[[str], Any], name: str, option: str) -> None:
    """The same by canonical strings, as the command line gives them."""
    inner = {"clipped": "snips, ", "calibrated": "popularity, ", "crossfit": "means, "}.get(name, "")
    for text in TEXTS:
        harmless(lambda text=text: use(make(f"{name}({inner}{option}={text})")), text[:10])  # type: ignore[misc]


SETTINGS = ("level", "replicates", "seed", "threads", "share", "by", "relevant", "interval", "refused", "candidates")


@pytest.mark.parametrize("option", SETTINGS)
def test_hostile_settings_are_refused_or_harmless(option: str) -> None:
    """The options of an evaluation itself."""
    usual: dict[str, Any] = {"interval": "bootstrap", "replicates": 50, "propensity": "popularity"}

    def evaluated(value: Any) -> None:
        found = us.evaluate(TEST, LISTS, train=TRAIN, **usual | {option: value})
        numbers([(e.value, e.low, e.high) for e in found.estimates])

    for value in HOSTILE:
        harmless(lambda value=value: evaluated(value), type(value))  # type: ignore[misc]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_hostile_arguments_of_other_functions(value: Any) -> None:
    """Splits, checks, worlds of ratings, lists."""
    calls: list[Callable[[], Any]] = [
        lambda: us.propensity.check("popularity", LOG, folds=value),
        lambda: us.propensity.check("popularity", LOG, pairs=value),
        lambda: us.propensity.check("popularity", LOG, seed=value), lambda: complete(LOG, rank=value),
        lambda: complete(LOG, penalty=value), lambda: complete(LOG, sweeps=value), lambda: complete(LOG, seed=value),
        lambda: RatingWorld.like(LOG, alpha=value).draw(0), lambda: RatingWorld.like(LOG, share=value).draw(0),
        lambda: RatingWorld.like(LOG, marginals=value).draw(0), lambda: most_active(LOG, users=value),
        lambda: models.MostPopular().fit(LOG).recommend(LOG.users, value),
    ]  # fmt: skip
    for number, call in enumerate(calls):
        harmless(call, number)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_parts_are_used_by_this_walk(part: type) -> None:
    """With the usual options nothing is refused: the walk reaches what each part is for."""
    cut_off = {"k": 5} if issubclass(part, RankingMetric) and part is not metrics.RPrecision else {}
    use(part(**INNER.get(part, {}) | cut_off))
