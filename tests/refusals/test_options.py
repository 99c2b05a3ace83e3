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
from unskew import estimators, metrics, models, outcome, propensity
from unskew.errors import InputError, UnskewError
from unskew.estimators import Estimator
from unskew.metrics import RankingMetric, RatingMetric
from unskew.models import Model
from unskew.outcome import Outcome
from unskew.propensity import FitInputs, Propensity
from unskew.simulate import RatingWorld, World, complete, most_active

HOSTILE: dict[str, Any] = {
    "minus one": -1,
    "nought": 0,
    "three": 3,
    "a half": 0.5,
    "huge": 10**30,
    "endless": 10**5000,
    "many": 2_000_000_000,
    "large": 1e308,
    "far": 1e90,
    "tiny": 1e-300,
    "near nothing": 1e-90,
    "nan": float("nan"),
    "inf": float("inf"),
    "minus inf": float("-inf"),
    "true": True,
    "text": "5",
    "empty": "",
    "escape": "\x1b[2J\x00\n" * 50,
    "list": [5],
    "array": np.arange(3),
    "complex": 1j,
    "numpy int": np.int64(3),
    "numpy float": np.float32(0.5),
    "numpy nan": np.float64("nan"),
    "numpy bool": np.bool_(True),
    "frame": pl.DataFrame({"a": [1]}),
}
TEXTS = ["-1", "0", "3", "0.5", "1e30", "1e308", "1e999", "1e-300", "1e90", "nan", "inf", "9" * 5000, "2000000000", "x"]


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
    outcome.Given: {"source": LOG.to_frame().select("user", "item", prediction="value")},
    estimators.Stratified: {"shares": {"1": 0.5, "2": 0.5, "3": 0.0, "4": 0.0, "5": 0.0}},
}
PARTS: list[type] = [
    metrics.Recall,
    metrics.RBP,
    metrics.NDCG,
    metrics.MAP,
    estimators.ExposurePath,
    estimators.Switch,
    estimators.Tilted,
    estimators.GeneralizedStratified,
    estimators.Strata,
    propensity.Known,
    propensity.Uniform,
    propensity.Popularity,
    propensity.NaiveBayes,
    propensity.Logistic,
    propensity.LogisticMF,
    outcome.Census,
    outcome.Means,
    outcome.AdamMF,
    outcome.LogisticMF,
    models.AverageRating,
    models.BPR,
    models.BiasedMF,
    models.Factors,
    models.MF,
    models.MMMF,
    models.NMF,
    models.PMF,
    models.PlainMF,
    models.ItemKNN,
    models.Random,
    models.RecentlyPopular,
    models.SVD,
    models.UserKNN,
    models.WMF,
    World,
    *INNER,
]


def numeric(part: type) -> Iterator[str]:
    """The options that a part takes, as far as their annotation leaves room for a number."""
    for name, option in inspect.signature(part).parameters.items():
        told, given = str(option.annotation), INNER.get(part, {}).get(name)
        room = any(kind in told for kind in ("int", "float", "Strata"))
        if room and "Mapping" not in told and "tuple" not in told and (given is None or isinstance(given, float)):
            yield name


CASES = [(part, option) for part in PARTS for option in numeric(part)]


def numbers(values: Any) -> None:
    """All numbers are finite."""
    assert np.isfinite(np.asarray(values, dtype=np.float64)).all()


def use(part: Any) -> None:
    """Do with a part what it is for."""
    if isinstance(part, RankingMetric):
        numbers(part.table(12))
        numbers([e.value for e in us.evaluate(TEST, LISTS, metrics=[part], train=TRAIN, target="per_user").estimates])
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
        timed = replace(LOG, time=np.arange(len(LOG), dtype=np.int64))
        assert len(part.fit(timed).recommend(LOG.users, 3).item)
    elif isinstance(part, World):
        numbers(part.train.propensity if part.train.propensity is not None else [])


@pytest.mark.filterwarnings("ignore:.*rounds were spent")
@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(("part", "option"), CASES, ids=lambda case: getattr(case, "__name__", str(case)))
def test_a_hostile_option_is_refused_or_harmless(part: type, option: str, value: Any) -> None:
    """No other exception, no NaN, and nothing that grows with the number."""
    given: dict[str, Any] = INNER.get(part, {}) | {option: value}
    if part is estimators.Clipped and option == "at":
        given["quantile"] = None
    if part is World:
        given = {"users": 20, "items": 10, "relevant": 2.0, "impressions": 5.0} | given
    try:
        use(part(**given))
    except UnskewError as problem:
        text = str(problem)
        assert len(text) < 1000 and "\x1b" not in text and "\x00" not in text


def makers() -> Iterator[tuple[Callable[[str], Any], str, str]]:
    """Every registered name, with every option that its own error says it has."""
    families: tuple[Any, ...] = (metrics, estimators, propensity, outcome, models)
    for make, family in ((room.make, room.FAMILY) for room in families):
        for name in family.names():
            try:
                make(f"{name}(nothing_of_that_name=1)")
            except InputError as problem:
                told = str(problem)
            known = told.split("(known: ")[1].split(")")[0].split(", ") if "(known: " in told else []
            yield from ((make, name, option) for option in known if option != "none")


@pytest.mark.filterwarnings("ignore:.*rounds were spent")
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:10])
@pytest.mark.parametrize(
    ("make", "name", "option"), list(makers()), ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_hostile_text_is_refused_or_harmless(make: Callable[[str], Any], name: str, option: str, text: str) -> None:
    """The same by canonical strings, as the command line gives them."""
    inner = {"clipped": "snips, ", "calibrated": "popularity, ", "crossfit": "means, "}.get(name, "")
    try:
        use(make(f"{name}({inner}{option}={text})"))
    except UnskewError as problem:
        assert len(str(problem)) < 1000


SETTINGS = ("level", "replicates", "seed", "threads", "share", "by", "relevant", "interval", "refused", "candidates")


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("option", SETTINGS)
def test_a_hostile_setting_is_refused_or_harmless(option: str, value: Any) -> None:
    """The options of an evaluation itself."""
    given: dict[str, Any] = {"interval": "bootstrap", "replicates": 50, "propensity": "popularity"} | {option: value}
    try:
        found = us.evaluate(TEST, LISTS, train=TRAIN, **given)
    except UnskewError as problem:
        assert len(str(problem)) < 1000
    else:
        numbers([(e.value, e.low, e.high) for e in found.estimates])


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_hostile_arguments_of_other_functions(value: Any) -> None:
    """Splits, checks, worlds of ratings, lists."""
    calls: list[Callable[[], Any]] = [
        lambda: us.split.holdout(LOG, value),
        lambda: us.split.holdout(LOG, seed=value),
        lambda: us.split.holdout(LOG, by=value),
        lambda: us.split.k_fold(LOG, value),
        lambda: us.split.k_fold(LOG, seed=value),
        lambda: us.propensity.check("popularity", LOG, folds=value),
        lambda: us.propensity.check("popularity", LOG, pairs=value),
        lambda: us.propensity.check("popularity", LOG, seed=value),
        lambda: complete(LOG, rank=value),
        lambda: complete(LOG, penalty=value),
        lambda: complete(LOG, sweeps=value),
        lambda: complete(LOG, seed=value),
        lambda: RatingWorld.like(LOG, alpha=value).draw(0),
        lambda: RatingWorld.like(LOG, share=value).draw(0),
        lambda: RatingWorld.like(LOG, marginals=value).draw(0),
        lambda: most_active(LOG, users=value),
        lambda: models.MostPopular().fit(LOG).recommend(LOG.users, value),
    ]
    for call in calls:
        try:
            call()
        except UnskewError as problem:
            assert len(str(problem)) < 1000


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_parts_are_used_by_this_walk(part: type) -> None:
    """With the usual options nothing is refused: the walk reaches what each part is for."""
    use(part(**INNER.get(part, {})) if part is not metrics.Recall else metrics.Recall(5))


def test_the_walk_knows_every_part() -> None:
    """A new part with a number of its own must be put into the list above."""
    here = {part.__name__ for part in PARTS}
    for room in (metrics, estimators, propensity, outcome, models):
        for name in room.__all__:
            part = getattr(room, name)
            if (
                inspect.isclass(part)
                and issubclass(part, RankingMetric | Estimator | Propensity | Outcome | Model)
                and not inspect.isabstract(part)
            ):
                numbers_of_its_own = set(numeric(part)) - {"k"}
                assert part.__name__ in here or not numbers_of_its_own, (part, numbers_of_its_own)
