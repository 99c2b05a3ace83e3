"""Factors of the propensities: which cancel in which estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.identities.clicks import DCG, RECALL, Click, held_of, quick, some_users, values
from unskew.engine.data import EvaluationData


def scaled(users: Sequence[Sequence[Click]], factors: Sequence[float]) -> EvaluationData:
    return held_of(
        [[replace(c, propensity=c.propensity * f) for c in mine] for mine, f in zip(users, factors, strict=True)],
        relevant=[9.0] * len(users),
    )


@quick
@given(some_users(), st.floats(0.01, 1.0))
def test_a_global_factor_of_the_propensities_cancels(users: list[list[Click]], factor: float) -> None:
    """P → cP leaves snips and gs as they are, per user, pooled, and snips also as a sum."""
    cells = [(e, t, DCG) for e in ("snips", "gs(strata=column(label))") for t in ("per_user", "pooled")]
    cells.append(("snips", "per_user_sum", DCG))
    before, after = (values(scaled(users, [f] * len(users)), cells) for f in (1.0, factor))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


@quick
@given(some_users(), st.integers(1, 12))
def test_quantile_strata_move_along_with_the_propensities(users: list[list[Click]], octaves: int) -> None:
    """Halving all propensities moves the quantile bins with them: gs and quantile clips stay."""
    cells = [(e, "per_user", DCG) for e in ("gs(strata=2)", "clipped(snips, quantile=0.4)")]
    before, after = (values(scaled(users, [f] * len(users)), cells) for f in (1.0, 0.5**octaves))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


@quick
@given(some_users(), st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4))
def test_a_factor_per_user_cancels_inside_users(users: list[list[Click]], factors: list[float]) -> None:
    """P → c_u P leaves per-user snips and gs as they are."""
    cells = [(e, "per_user", DCG) for e in ("snips", "gs(strata=column(label))")]
    before, after = (values(scaled(users, f[: len(users)]), cells) for f in ([1.0] * 4, factors))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


@quick
@given(some_users(), st.floats(0.01, 1.0))
def test_ips_scales_with_the_inverse_factor(users: list[list[Click]], factor: float) -> None:
    """P → cP divides ips by c, under every target."""
    cells = [("ips", t, DCG) for t in ("per_user", "pooled", "per_user_sum")]
    before, after = (values(scaled(users, [f] * len(users)), cells) for f in (1.0, factor))
    np.testing.assert_allclose(np.array(after) * factor, before, rtol=1e-12, atol=1e-14)


def test_what_does_not_cancel() -> None:
    """a factor per user moves pooled snips, and after an absolute clip not even a global one cancels."""
    users = [[Click(1.0, 0.5, 0, (1, 0)), Click(1.0, 0.2, 0, (0, 1))], [Click(1.0, 0.4, 0, (0, 2))]]

    def of(factors: Sequence[float], cell: tuple[str, str, str]) -> float:
        return float(values(scaled(users, factors), [cell])[0][0])

    pooled, clipped = ("snips", "pooled", RECALL), ("clipped(snips, at=0.3)", "per_user", RECALL)
    assert abs(of([1.0, 1.0], pooled) - of([1.0, 0.1], pooled)) > 0.01
    assert abs(of([1.0, 1.0], clipped) - of([0.5, 0.5], clipped)) > 0.01
