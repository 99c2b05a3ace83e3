"""Sums of terms under every target: the mean of two estimators, written as one, gives the mean of their values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.engine.passes import first_pass
from tests.identities.test_partitions import many_users
from unskew import estimators, metrics
from unskew.engine.data import EvaluationData
from unskew.engine.listed_pairs import ListedPairs
from unskew.engine.plan import make_plan
from unskew.estimators import Batch, Estimator, Need, Over, Standing, Summary, Target, Term
from unskew.estimators.base import OWN, listed, pairs, users
from unskew.estimators.summary import Histogram
from unskew.estimators.traits import largest_weights_refusal, terms_refusal, traits
from unskew.kernels.arrays import Floats, Ints32
from unskew.metrics import Metric


@dataclass(frozen=True)
class Mean(Estimator):
    """The mean of two estimators: their terms with half the weight."""

    one: Estimator
    two: Estimator
    name = "mean"

    @property
    def normalised(self) -> Over:
        return self.one.normalised

    def needs(self, target: Target) -> frozenset[Need]:
        return self.one.needs(target) | self.two.needs(target)

    def promise(self, target: Target) -> str:
        return ""

    def standing(self, target: Target) -> Standing:
        return Standing.BIASED

    def prepare(self, summary: Summary) -> Mean:
        return replace(self, one=self.one.prepare(summary), two=self.two.prepare(summary))

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        both = (*self.one.terms(batch, target), *self.two.terms(batch, target))
        return tuple(replace(term, seen=None if term.seen is None else 0.5 * term.seen) for term in both)


def predicted(user: Ints32, item: Ints32) -> Floats:
    return np.asarray(0.5 + 0.4 * np.sin(user + item))


def data() -> EvaluationData:
    """Graded values, lists, predictions for all pairs, and ratings with predictions."""
    held = many_users(150, seed=8)
    user = np.repeat(np.arange(held.users, dtype=np.int32), np.diff(held.indptr))
    rng = np.random.default_rng(2)
    return replace(
        held,
        q=predicted(user, held.item),
        q_total=np.full(held.users, 4.0),
        listed=ListedPairs(np.ones(9, dtype=np.bool_), predict=predicted),
        rating=held.value + 1.0,
        predicted=tuple(held.value + rng.normal(1.0, 0.5, len(held.value)) for _ in held.lists),
    )


def values(held: EvaluationData, estimator: Estimator, target: Target, asked: tuple[Metric, ...]) -> list[Floats]:
    assert held.propensity is not None
    summary = Summary(pairs=Histogram.of(held.propensity), levels={"label": tuple("abc")})
    plan = make_plan([(estimator, target, asked)], summary, len(held.lists), 8)
    return [moments.values for moments in first_pass(held, plan, threads=1, block=40).moments]


ADDITIVE = ("recall@3", "dcg@4")
PAIRS = (
    ("per_user", "naive", "snips", (*ADDITIVE, "map@3")),
    ("per_user", "ips", "gs(strata=3)", (*ADDITIVE, "map@3")),
    ("pooled", "naive", "snips", ADDITIVE),
    ("pooled", "ips", "gs(strata=3)", ADDITIVE),
    ("per_user_sum", "ips", "snips", ADDITIVE),
    ("per_user_sum", "snips(over=list)", "snips", ADDITIVE),
    ("per_pair", "ips", "snips", ("dcg@4", "mae")),
    ("per_pair", "snips(over=user)", "snips(over=user)", ("dcg@4", "mae", "rmse")),
    ("per_user_sum(normalised=pooled)", "ips", "ips", ADDITIVE),
    ("per_user_sum(normalised=per_user)", "ips", "ips", ADDITIVE),
)


@pytest.mark.parametrize(("target", "one", "two", "asked"), PAIRS)
def test_a_sum_of_terms_is_the_sum_of_its_estimates(target: str, one: str, two: str, asked: tuple[str, ...]) -> None:
    """Half of one estimator and half of another is their mean, for users who count for both."""
    held, wanted = data(), tuple(metrics.make(name) for name in asked)
    before = np.concatenate([[0.0], np.cumsum(held.value)])
    held = held.of_users(np.flatnonzero(np.diff(before[held.indptr]) > 0.0).astype(np.int32))
    both = estimators.make(one), estimators.make(two)
    found = values(held, Mean(*both), Target(target), wanted)
    for got, a, b in zip(found, *(values(held, e, Target(target), wanted) for e in both), strict=True):
        np.testing.assert_allclose(got, (a + b) / 2.0, rtol=1e-12)


def test_the_ideal_list_of_a_sum_of_terms_has_its_weights() -> None:
    """ndcg of the mean of an estimator and itself is its own: the best list is that of the added weights."""
    held, asked = data(), (metrics.make("ndcg@3"),)
    snips = estimators.make("snips")
    (found,), (own,) = (values(held, e, Target.PER_USER, asked) for e in (Mean(snips, snips), snips))
    np.testing.assert_allclose(found, own, rtol=1e-12)


@dataclass(frozen=True)
class Odd(Estimator):
    """An estimator whose terms are given."""

    kind: str
    name = "odd"

    def needs(self, target: Target) -> frozenset[Need]:
        return frozenset()

    def promise(self, target: Target) -> str:
        return ""

    def standing(self, target: Target) -> Standing:
        return Standing.BIASED

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        one, people = np.ones(len(batch.value)), np.ones(batch.users)
        return {
            "own": (Term(one, OWN),),
            "pairs": (Term(one, pairs(one)),),
            "users": (Term(one, users(people)),),
            "listed": (Term(one, listed(one)),),
            "model": (Term(None, OWN, listed=True),),
            "nothing": (),
        }[self.kind]


def test_terms_that_mean_nothing_are_refused_with_a_reason() -> None:
    """What cannot be divided, or has nothing to divide, says so before anything is computed."""
    for kind, target, words in (
        ("nothing", "pooled", "no terms"),
        ("model", "pooled", "outcome model"),
        ("listed", "per_user", "per_user_sum only"),
        ("listed", "per_pair", "per_user_sum only"),
        ("pairs", "per_user_sum(normalised=pooled)", "no normalised form"),
        ("users", "per_user_sum", "a number per user"),
        ("own", "per_user", "relevant"),
        ("own", "per_pair", "candidates"),
        ("pairs", "per_user_sum", "candidates"),
    ):
        assert words in (terms_refusal(Odd(kind), Target(target)) or ""), (kind, target)
    for kind, target in (("pairs", "pooled"), ("users", "per_user"), ("users", "per_pair"), ("own", "per_user_sum")):
        assert terms_refusal(Odd(kind), Target(target)) is None, (kind, target)
    least = metrics.make("map(divide=min)@3")
    assert largest_weights_refusal(least, Odd("pairs"), Target.PER_USER) is None
    assert "fixed divisor" in (largest_weights_refusal(least, Odd("users"), Target.PER_USER) or "")


def test_traits_are_read_off_the_terms() -> None:
    """Of prepared estimators and of others alike."""
    found = {
        name: traits(estimators.make(name), Target.make(target))
        for name, target in (
            ("naive", "pooled"),
            ("gs(strata=column(genre))", "pooled"),
            ("stratified(shares=nowhere.csv)", "per_user"),
            ("clipped(dr, quantile=0.1)", "per_user_sum"),
            ("direct", "per_user_sum"),
            ("sndr", "per_user_sum"),
            ("snips(over=list)", "per_user_sum"),
        )
    }
    assert {name.split("(")[0] for name, t in found.items() if t.has_sensitivity} == {"naive", "gs", "clipped"}
    assert {name.split("(")[0] for name, t in found.items() if t.corrects_model} == {"clipped", "sndr"}
    assert {name.split("(")[0] for name, t in found.items() if not t.uses_seen_pairs} == {"direct"}
