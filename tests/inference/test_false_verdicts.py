"""One small row of the study of false verdicts for each kind of world; ``false_verdicts`` runs all of it."""

from __future__ import annotations

import pytest

from tests.worlds import worlds

from .false_verdicts import Row, study
from .verdict_worlds import KINDS

WORLDS = worlds(12, 40)


@pytest.mark.study
@pytest.mark.parametrize("kind", KINDS)
def test_a_default_call_rarely_names_a_winner_among_equal_models(kind: str) -> None:
    """12 worlds of 300 users: at most 5 % + 3 Monte Carlo errors (2 worlds) are decided, and none is refused."""
    found = study(Row(kind, 300, 4.0, 0.7), WORLDS)
    assert found.false <= found.limit
    assert found.refused == 0.0


@pytest.mark.parametrize("kind", ["two lists alike", "own split with its share", "ratings"])
def test_a_better_model_is_found(kind: str) -> None:
    """The answer is not always undecided: 800 users find the better model in most of ten worlds."""
    assert study(Row(kind, 800, 6.0, 0.4), 10).power >= 0.7
