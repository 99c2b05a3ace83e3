"""Sums of terms under every target: the mean of two estimators, written as one, gives the mean of their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.stream.files import THEMED, filled
from unskew import estimators
from unskew.estimators import Batch, Estimator, Need, Over, Standing, Summary, Target, Term
from unskew.estimators.base import OWN, listed, pairs, users
from unskew.estimators.traits import terms_refusal


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


ADDITIVE = ["recall@3", "dcg@4"]
LIKES, PAGES, RATINGS = "implicit: rows, catalogue", "conversions: estimator, dr", "ratings: errors, mse"
PAIRS = (
    (LIKES, "per_user", "naive", "snips", [*ADDITIVE, "map@3"]),
    (LIKES, "per_user", "snips", "gs(strata=3)", [*ADDITIVE, "map@3"]),
    (LIKES, "pooled", "naive", "snips", ADDITIVE),
    (LIKES, "pooled", "snips", "gs(strata=3)", ADDITIVE),
    (PAGES, "per_user_sum", "ips", "snips", ADDITIVE),
    (PAGES, "per_user_sum", "snips(over=list)", "snips", ADDITIVE),
    (PAGES, "per_user_sum(normalised=pooled)", "ips", "ips", ADDITIVE),
    (PAGES, "per_user_sum(normalised=per_user)", "ips", "ips", ADDITIVE),
    (RATINGS, "per_pair", "ips", "snips", ["mae", "mse"]),
    (RATINGS, "per_pair", "snips(over=user)", "snips(over=user)", ["mae", "rmse"]),
    (LIKES, "per_user", "snips", "snips", ["ndcg@3"]),  # the best list is that of the added weights
)


@pytest.mark.parametrize(("call", "target", "one", "two", "asked"), PAIRS)
def test_a_sum_of_terms_is_the_sum_of_its_estimates(
    call: str, target: str, one: str, two: str, asked: list[str]
) -> None:
    """Half of one estimator and half of another is their mean, in the same call."""
    given: dict[str, Any] = filled(THEMED[call]) | {"target": target, "metrics": asked, "refused": "error"}
    if call == PAGES and target != "per_user_sum":
        given["test"] = given["test"].filter(pl.col("value").sum().over("user") > 0)
        given["users"] = given["users"].filter(pl.col("user").is_in(given["test"]["user"].unique().implode()))
    mean = Mean(estimators.make(one), estimators.make(two))
    found: dict[str, dict[tuple[str, str], float]] = {}
    for e in us.evaluate(**given | {"estimators": [*dict.fromkeys((one, two)), mean]}).estimates:
        found.setdefault(e.estimator.split("(one")[0], {})[e.model, e.metric] = e.value
    for cell, value in found["mean"].items():
        assert value == pytest.approx((found[one][cell] + found[two][cell]) / 2.0, rel=1e-12), cell


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


@pytest.mark.parametrize(
    ("kind", "target", "code"),
    [
        ("nothing", "pooled", "wrong-target"),
        ("model", "pooled", "wrong-target"),
        ("listed", "per_user", "wrong-target"),
        ("listed", "per_pair", "wrong-target"),
        ("pairs", "per_user_sum(normalised=pooled)", "not-normalised"),
        ("users", "per_user_sum", "wrong-target"),
        ("own", "per_user", "undeclared-need"),
        ("own", "per_pair", "undeclared-need"),
        ("pairs", "per_user_sum", "undeclared-need"),
        ("pairs", "pooled", None),
        ("users", "per_user", None),
        ("users", "per_pair", None),
        ("own", "per_user_sum", None),
    ],
)
def test_terms_that_mean_nothing_are_refused(kind: str, target: str, code: str | None) -> None:
    """What cannot be divided, or has nothing to divide, says so before anything is computed."""
    assert getattr(terms_refusal(Odd(kind), Target(target)), "code", None) == code
