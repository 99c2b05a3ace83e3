"""The popularity exponent on simulated power laws."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.auditing.powerlaw import power_law


@pytest.mark.parametrize("alpha", [1.7, 2.3, 3.5])
def test_the_exponent_of_a_power_law_comes_back(alpha: float) -> None:
    """Over 40 draws the error is about one standard error: no bias beyond chance, and none above five."""
    rng = np.random.default_rng(int(10 * alpha))
    z = []
    for _ in range(40):
        counts = np.minimum(rng.zipf(alpha, 5000), 10**9)
        law = power_law(counts)
        assert law is not None and law.fits
        assert law.zipf == pytest.approx(1.0 / (law.alpha - 1.0))
        z.append((law.alpha - alpha) / law.se)
    assert abs(np.mean(z)) < 0.7 and 0.5 < np.std(z) < 1.8 and np.abs(z).max() < 5.0


def test_a_tail_starts_where_the_law_does() -> None:
    """Below 20 the counts are even, above they follow the law: the fit starts at about 20."""
    rng = np.random.default_rng(5)
    u = rng.random(4000)
    tail = np.floor(19.5 * (1.0 - u) ** (-1.0 / 1.6) + 0.5).astype(np.int64)
    law = power_law(np.concatenate([tail, rng.integers(1, 20, 6000)]))
    assert law is not None
    assert 15 <= law.from_count <= 40 and law.alpha == pytest.approx(2.6, abs=5 * law.se)


def test_what_is_no_power_law_is_said_not_to_be_one() -> None:
    """Counts of an even catalogue fall far faster than any power: the misfit is noticed."""
    law = power_law(np.random.default_rng(6).poisson(40.0, 20_000))
    assert law is None or not law.fits


@pytest.mark.parametrize("counts", [[5], [3] * 200, list(range(1, 40)), [0, 0, 7]])
def test_too_little_for_an_exponent_is_none(counts: list[int]) -> None:
    """Few items, or few different counts, give no exponent rather than a wild one."""
    assert power_law(np.array(counts)) is None
