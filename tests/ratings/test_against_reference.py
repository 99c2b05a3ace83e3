"""Every number of an evaluation over pairs against the slow reference, on small logs with all the awkward users.

Drawn are: users with rows, users of the population without rows, users known from training only, users whose training
rows leave them few candidates, held-out pairs that repeat training, predictions with ties, pairs that a model forgot,
rows without a propensity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import unskew as us
from tests.drawn import evaluate_or_reject
from tests.ratings.reference import Judged, Model, Pair, Rule, Seen
from tests.reference import quantile
from unskew.kernels.hashing import pair_uniform
from unskew.log.ids import hash_texts
from unskew.result import Estimate

pytestmark = pytest.mark.usefixtures("made_up_logs")
USERS = [f"u{n}" for n in range(6)]
ITEMS = [f"i{n}" for n in range(7)]
MODELS = ("one", "two", "three")
ZERO = 1e-6  # errors that are 0 come out as roots of roundings
WHOLE = (Phase.explicit, Phase.generate)  # worlds are small as they are drawn, and shrinking them takes minutes
PROPENSITIES = (0.05, 0.1, 0.25, 0.4, 0.5, 0.9, 1.0)
ERRORS = ("mae", "mse", "rmse", "accuracy")
GAINS = ("cg@2", "cg@5", "dcg@1", "dcg@3", "dcg@9")
RULES = {
    "naive": Rule("naive"),
    "ips": Rule("ips"),
    "snips": Rule("snips"),
    "snips(over=user)": Rule("snips", "user"),
    "snips(over=item)": Rule("snips", "item"),
    "clipped(ips, at=0.3)": Rule("ips", floor=0.3),
    "clipped(snips, at=0.3)": Rule("snips", floor=0.3),
    "clipped(snips(over=user), at=0.3)": Rule("snips", "user", 0.3),
    "clipped(snips(over=item), at=0.3)": Rule("snips", "item", 0.3),
}


@dataclass(frozen=True)
class Drawn:
    """One drawn log.

    Args:
        rows: pair → value and propensity (``None`` where it is missing).
        train: pairs seen in training; ``None`` without a training log.
        silent: users of the given population without any row; ``None``: no population is given.
        predicted: per model, pair → prediction; pairs of some rows may be missing.
    """

    rows: Mapping[Pair, tuple[float, float | None]]
    train: tuple[Pair, ...] | None
    silent: tuple[str, ...] | None
    predicted: Mapping[str, Mapping[Pair, float]]
    unseen: bool

    @property
    def read(self) -> dict[Pair, tuple[float, float]]:
        """The rows that can be read."""
        return {pair: (value, p) for pair, (value, p) in self.rows.items() if p is not None}

    @property
    def users(self) -> list[str]:
        """The population: given, else the users of both logs."""
        known = {u for u, _ in self.read} | {u for u, _ in self.train or ()}
        return sorted(known | set(self.silent or ()))

    @property
    def items(self) -> list[str]:
        """The catalogue: the items of both logs."""
        return sorted({i for _, i in self.read} | {i for _, i in self.train or ()})

    def excluded(self, pair: Pair) -> bool:
        """Whether a pair is no candidate, because training held it."""
        return self.unseen and self.train is not None and pair in self.train

    def candidates(self, user: str) -> list[str]:
        return [item for item in self.items if not self.excluded((user, item))]

    def judged(self, threshold: float | None) -> Judged:
        """What is left to judge: readable, outside training, predicted by every model."""
        rows = [
            Seen(u, i, value, p)
            for (u, i), (value, p) in self.read.items()
            if not self.excluded((u, i)) and all((u, i) in self.predicted[m] for m in MODELS)
        ]
        return Judged(self.users, {u: float(len(self.candidates(u))) for u in self.users}, rows, threshold)

    def inputs(self) -> dict[str, Any]:
        """The arguments of evaluate."""
        test = pl.DataFrame(
            [(u, i, value, p) for (u, i), (value, p) in self.rows.items()],
            schema={"user": pl.String, "item": pl.String, "value": pl.Float64, "propensity": pl.Float64},
            orient="row",
        )
        given: dict[str, Any] = {"test": test, "propensity": "known", "feedback": "ratings", "invalid": "drop"}
        if self.train is not None:
            rows = [(u, i, 1.0) for u, i in self.train]
            given["train"] = pl.DataFrame(rows, schema=["user", "item", "value"], orient="row")
            given["candidates"] = "unseen" if self.unseen else "all"
        if self.silent is not None:
            given["users"] = pl.DataFrame({"user": self.users})
        return given

    def frame(self, model: str, ranks: Mapping[Pair, int] | None = None) -> pl.DataFrame:
        """A model's predictions as a table, in an order that means nothing."""
        pairs = sorted(self.predicted[model] if ranks is None else ranks, key=lambda pair: (pair[1], pair[0]))
        columns: dict[str, list[Any]] = {
            "user": [u for u, _ in pairs],
            "item": [i for _, i in pairs],
            "prediction": [self.predicted[model][pair] for pair in pairs],
        }
        if ranks is not None:
            columns["rank"] = [ranks[pair] for pair in pairs]
        return pl.DataFrame(columns)

    def ranks(self, model: str) -> dict[Pair, int]:
        """Every candidate by prediction downwards, ties by the fixed hash of user and item."""
        out = {}
        for user in self.users:
            there = [item for item in self.candidates(user) if (user, item) in self.predicted[model]]
            there.sort(key=lambda item: (-self.predicted[model][user, item], tie(user, item)))
            out.update({(user, item): place for place, item in enumerate(there, 1)})
        return out


def tie(user: str, item: str) -> float:
    """The number that orders equal predictions."""
    texts = [hash_texts(pl.Series([text])) for text in (user, item)]
    return float(pair_uniform(0, *texts)[0])


@st.composite
def drawn(draw: st.DrawFn, *, forgetful: bool = True) -> Drawn:
    pairs = [(u, i) for u in USERS[:5] for i in ITEMS]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=2, max_size=18, unique=True))
    propensity = st.sampled_from(PROPENSITIES) if not forgetful else st.sampled_from((*PROPENSITIES, None))
    rows = {pair: (float(draw(st.integers(0, 5))), draw(propensity)) for pair in chosen}
    train = None
    if draw(st.booleans()):
        train = tuple(draw(st.lists(st.sampled_from([*pairs, ("u5", "i0")]), min_size=1, max_size=12, unique=True)))
    silent = draw(st.sampled_from([None, ("u8",), ("u6", "u7", "u8")]))
    predicted = {}
    for model in MODELS:
        numbers = draw(
            st.lists(st.sampled_from([0.0, 1.0, 2.5, 3.0, 4.6]), min_size=len(pairs) + 7, max_size=len(pairs) + 7)
        )
        every = [(u, i) for u in [*USERS[:5], "u5"] for i in ITEMS]
        predicted[model] = dict(zip(every, numbers, strict=True))
        if forgetful:
            for pair in draw(st.lists(st.sampled_from(chosen), max_size=2)):
                predicted[model].pop(pair, None)
    found = Drawn(rows, train, silent, predicted, draw(st.booleans()))
    judged = found.judged(None)
    if not judged.rows:  # nothing to judge is an error, and has a test of its own
        pair = (chosen[0][0], "i6") if train is None else ("u4", "i6")
        rows |= {pair: (3.0, 0.5)}
        train = None if train is None else tuple(t for t in train if t != pair) or (("u5", "i0"),)
        for model in MODELS:
            predicted[model][pair] = 1.0
        found = Drawn(rows, train, silent, predicted, found.unseen)
    return found


def some(metrics: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """Two metrics, others in every example."""
    return st.lists(st.sampled_from(metrics), unique=True, min_size=2, max_size=2)


def close(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == pytest.approx(expected, rel=1e-9, abs=1e-10)


def compare(result: us.Result, judged: Judged, models: Mapping[str, Model], rules: Mapping[str, Rule]) -> int:
    """All estimates and differences of a result; gives back how many were compared."""
    names, many = list(models), list(models.values())
    for e in result.estimates:
        rule, place = rules[e.estimator], names.index(e.model)
        assert close(e.value, judged.value(e.metric, rule, many[place])), e
        weights = judged.shares(e.metric, rule, many[place])
        error = math.nan if not weights else _error(judged, e, rule, many, place)  # without a hit there is only a bound
        assert e.se == pytest.approx(error, rel=1e-9, abs=ZERO, nan_ok=True), e
        assert e.hits == len(weights), e
        assert close(e.ess, judged.ess(e.metric, rule, many[place])), e
        assert close(e.max_weight_share, judged.max_weight_share(e.metric, rule, many[place])), e
        assert close(e.clipped_share, judged.clipped_share(rule)), e
        assert e.interactions == len(judged.rows)
        assert e.target == "per_pair"
    for v in result.verdicts_:
        rule, a, b = rules[v.estimator], names.index(v.a), names.index(v.b)
        expected = judged.value(v.metric, rule, many[a]) - judged.value(v.metric, rule, many[b])
        assert v.difference == pytest.approx(expected, rel=1e-9, abs=1e-9), v
        if v.metric != "rmse" or min(judged.value(v.metric, rule, m) for m in many) > 1e-6:
            expected = judged.error(v.metric, rule, many, a, b)
            if v.users_apart == 0:  # nobody tells the two apart: nothing to measure an error by
                assert math.isnan(v.se) and not expected > ZERO, v
            else:
                assert v.se == pytest.approx(expected, rel=1e-9, abs=ZERO, nan_ok=True), v
    return len(result.estimates)


def _error(judged: Judged, e: Estimate, rule: Rule, models: list[Model], place: int) -> float:
    return math.nan if rule.over == "item" else judged.error(e.metric, rule, models, place)


@settings(max_examples=25, phases=WHOLE)
@given(world=drawn(), threads=st.sampled_from([1, 3]), errors=some(ERRORS))
def test_errors_of_predictions(world: Drawn, threads: int, errors: list[str]) -> None:
    """mae, mse, rmse, accuracy by every estimator: value, standard error, ess, shares; all drops are counted."""
    given = world.inputs()
    models = {name: world.frame(name) for name in MODELS}
    result = us.evaluate(given.pop("test"), models, metrics=errors, estimators=list(RULES), threads=threads, **given)
    judged = world.judged(None)
    said = {name: Model(world.predicted[name], {}) for name in MODELS}
    assert compare(result, judged, said, RULES) == len(errors) * len(RULES) * len(MODELS)
    dropped = result.inputs["test"]["dropped"]
    inside = [pair for pair in world.read if not world.excluded(pair)]
    forgotten = len([pair for pair in inside if any(pair not in world.predicted[name] for name in MODELS)])
    counts = (len(world.rows) - len(world.read), len(world.read) - len(inside), forgotten)
    assert sorted(dropped.values()) == sorted(count for count in counts if count)


@settings(max_examples=25, phases=WHOLE)
@given(world=drawn(forgetful=False), own=st.booleans(), threads=st.sampled_from([1, 3]), gains=some(GAINS))
def test_gains_of_ranks(world: Drawn, own: bool, threads: int, gains: list[str]) -> None:
    """cg and dcg from ranks that came along (some items unlisted) or that predictions of all candidates make."""
    judged = world.judged(None)
    assume(any(row.value > 0.0 for row in judged.rows))
    given = world.inputs()
    ranks, metrics = {name: world.ranks(name) for name in MODELS}, [*gains, "mae"]
    models = {name: world.frame(name) for name in MODELS}
    if own:  # other ranks than the predictions', with gaps and not for all: no predictions there, so no mae
        ranks = {name: {pair: 2 * rank - 1 for pair, rank in ranks[name].items() if rank != 2} for name in MODELS}
        models, metrics = {name: world.frame(name, ranks[name]) for name in MODELS}, gains
    result = evaluate_or_reject(
        given.pop("test"), {name: us.Predictions.from_frame(frame) for name, frame in models.items()}, metrics=metrics,
        estimators=list(RULES), target="per_pair", threads=threads, **given,
    )  # fmt: skip
    said = {name: Model(world.predicted[name], ranks[name]) for name in MODELS}
    assert compare(result, judged, said, RULES) == len(metrics) * len(RULES) * len(MODELS)


@settings(max_examples=10, phases=WHOLE)
@given(world=drawn(forgetful=False), k=st.sampled_from([1, 3]))
def test_precision_behind_a_threshold(world: Drawn, k: int) -> None:
    """precision@k counts values from the threshold on; errors beside it still compare with the values themselves."""
    judged = world.judged(3.0)
    assume(any(row.value >= 3.0 for row in judged.rows))
    given = world.inputs()
    models = {name: world.frame(name) for name in MODELS}
    metrics = [f"precision@{k}", "dcg@2", "mse"]
    result = evaluate_or_reject(
        given.pop("test"), models, metrics=metrics, estimators=list(RULES), target="per_pair", relevant=">=3", **given
    )
    said = {name: Model(world.predicted[name], world.ranks(name)) for name in MODELS}
    assert compare(result, judged, said, RULES) == len(metrics) * len(RULES) * len(MODELS)


@settings(max_examples=10, phases=WHOLE)
@given(world=drawn(), share=st.sampled_from([0.2, 0.5]))
def test_clips_at_a_quantile(world: Drawn, share: float) -> None:
    """The floor is a quantile over all judged pairs, whatever their value."""
    judged = world.judged(None)
    floor = quantile([row.propensity for row in judged.rows], share)
    rules = {f"clipped(snips, quantile={share})": Rule("snips", floor=floor)}
    given = world.inputs()
    models = {name: world.frame(name) for name in MODELS}
    result = us.evaluate(given.pop("test"), models, metrics=["mae", "rmse"], estimators=list(rules), **given)
    assert compare(result, judged, {n: Model(world.predicted[n], {}) for n in MODELS}, rules) == 2 * len(MODELS)


@settings(max_examples=8, phases=WHOLE)
@given(world=drawn())
def test_rows_per_user_add_up(world: Drawn) -> None:
    """per_user=True: numerators and divisors of every user of the population, in its order."""
    given = world.inputs()
    models = {name: world.frame(name) for name in MODELS}
    kept = [name for name, rule in RULES.items() if rule.over != "item"]
    result = us.evaluate(given.pop("test"), models, metrics=["mae"], estimators=kept, per_user=True, **given)
    judged = world.judged(None)
    for (model, estimator), part in result.per_user().group_by("model", "estimator"):
        expected = judged.columns("mae", RULES[str(estimator)], Model(world.predicted[str(model)], {}))
        found = {u: (a, b) for u, a, b in part.select("user", "numerator", "divisor").iter_rows()}
        assert len(found) == len(judged.users)
        for user, (a, b) in zip(judged.users, expected, strict=True):
            assert close(found[user][0], a) and close(found[user][1], b)
