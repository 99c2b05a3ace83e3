"""One level for all pairs that are read together."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from unskew.inference.simultaneous import Family, single_error


def family(models: int, correlation: float) -> Family:
    covariance = np.full((models, models), correlation) + (1.0 - correlation) * np.eye(models)
    return Family.of(covariance, np.ones((models, models), dtype=np.int64))


def test_one_pair_keeps_the_level() -> None:
    """Nothing is corrected where nothing is compared twice; models that do not differ are no comparison."""
    assert single_error([family(2, 0.3)], 0.95) == pytest.approx(0.05)
    assert single_error([], 0.95) == pytest.approx(0.05)
    same = Family.of(np.ones((3, 3)), np.zeros((3, 3), dtype=np.int64))
    assert same.pairs == ()
    assert single_error([same], 0.95) == pytest.approx(0.05)


@pytest.mark.parametrize("models", [3, 5, 10])
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_the_family_errs_as_often_as_promised(models: int, correlation: float) -> None:
    """Normal draws of equal models: any pair beyond its error probability in 5 % of 40,000 draws (± 0.6 points)."""
    found = family(models, correlation)
    tail = single_error([found], 0.95)
    random = np.random.default_rng(models)
    z = np.linalg.cholesky(found.covariance) @ random.standard_normal((models, 40_000))
    worst = np.max([np.abs(z[a] - z[b]) / e for (a, b), e in zip(found.pairs, found.errors, strict=True)], axis=0)
    p = np.array([math.erfc(one / math.sqrt(2.0)) for one in worst])
    assert np.mean(p < tail) == pytest.approx(0.05, abs=0.006)


def test_it_lies_between_no_correction_and_bonferroni() -> None:
    """Pairs of models share models, so Bonferroni would be too strict; the more models, the smaller the error."""
    before = 0.05
    for models in (3, 4, 8):
        tail = single_error([family(models, 0.0)], 0.95)
        pairs = len(list(combinations(range(models), 2)))
        assert 0.05 / pairs < tail < before
        before = tail


def test_segments_count_as_independent() -> None:
    """Twenty segments of two models: the error of each is that of twenty independent comparisons, 1 − .95^(1/20)."""
    tail = single_error([family(2, 0.0)] * 20, 0.95)
    assert tail == pytest.approx(1.0 - 0.95 ** (1.0 / 20.0), rel=0.1)
