"""One small row of the study of false verdicts for each kind of world; ``false_verdicts`` runs all of it."""

from __future__ import annotations

import pytest

from tests.worlds import worlds

from .false_verdicts import Found, Row, page, rows, study
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


def test_the_study_covers_every_kind_from_few_users_to_many() -> None:
    """30 to 2,000 users, one to twenty clicks, even and heavy-tailed exposure; the page has a line for each row."""
    every = rows()
    assert {row.kind for row in every} == set(KINDS)
    assert (min(row.users for row in every), max(row.users for row in every)) == (30, 2_000)
    assert (min(row.clicks for row in every), max(row.clicks for row in every)) == (1.0, 20.0)
    made = [Found(row, 500, 0.2 if n == 0 else 0.01, 0.5, 0.0) for n, row in enumerate(every)]
    text = page(made)
    assert text.count("\n| ") == len(every) + 2
    assert "**1 rows miss**" in text and "20.0% **over**" in text
