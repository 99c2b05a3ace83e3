"""``tilted`` against loops over users × items: values, and standard errors that know the model's error."""

from __future__ import annotations

import pytest

from tests.census.reference import World, estimate
from tests.census.worlds import evaluated, small_world

POINTS = ((1.0, 0.0), (4.0, 0.4), (2.5, 0.0), (1.0, 1.2))


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


@pytest.mark.parametrize("target", ["pooled", "per_user_sum"])
@pytest.mark.parametrize(("odds", "slope"), POINTS)
def test_values_and_errors_are_those_of_explicit_loops(world: World, target: str, odds: float, slope: float) -> None:
    """MATHS §15: R, and SE² = m/(m−1) Σ e_u² with e_u = (N_u − R D_u)/D + gᵀH⁻¹ s_u, of models and differences."""
    found = evaluated(
        world, metrics=["recall@3"], estimators=[f"tilted(odds={odds}, slope={slope}, at=corner)"], target=target
    )
    expected = estimate(world, 3, odds, slope, divided=target == "pooled")
    for row in found.estimates:
        assert row.target == target
        assert row.value == pytest.approx(expected.values[row.model], rel=1e-9)
        assert row.se == pytest.approx(expected.errors[row.model], rel=1e-6)
    first = found.verdicts_[0]
    assert (first.a, first.b) == ("near", "far")
    assert first.difference == pytest.approx(expected.values["near"] - expected.values["far"], rel=1e-8)
    assert first.se == pytest.approx(expected.difference_error, rel=1e-6)


def test_the_models_error_is_most_of_it(world: World) -> None:
    """The reference without gᵀH⁻¹ s_u has clearly smaller errors, so that the test above can fail."""
    whole, plain = (estimate(world, 3, 2.0, 0.2, divided=True, with_model=each) for each in (True, False))
    assert whole.errors["near"] > 1.1 * plain.errors["near"]


def test_the_box_holds_every_point_of_its_grid(world: World) -> None:
    """The whole box is 5 × 3 single points; its interval is their hull and its value their mean."""
    found = evaluated(world, metrics=["dcg@5"], estimators=["tilted"], target="pooled")
    table = found.scenarios[0]
    assert table.axes == ("odds", "slope")
    assert len(table.points) == 15
    assert {at[1] for at in table.points} == {0.0, 0.2, 0.4}
    assert min(table.points) == (1.0, 0.0)
    assert max(table.points) == pytest.approx((4.0, 0.4))
    corner = evaluated(world, metrics=["dcg@5"], estimators=["tilted(odds=4, slope=0.4, at=corner)"], target="pooled")
    for each, row, point in zip(table.values, found.estimates, corner.estimates, strict=True):
        assert each.value[-1] == pytest.approx(point.value, rel=1e-12)
        assert row.low == min(each.low)
        assert row.high == max(each.high)
        assert row.value == pytest.approx(sum(each.value) / 15)
