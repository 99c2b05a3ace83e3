"""Items that are made in a thread while the last one is worked on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unskew.threads import ahead


def test_items_that_are_made_ahead_are_the_same_and_so_are_errors() -> None:
    """At most one more is made than was taken, and what goes wrong does so at its turn."""
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(4):
            made.append(number)
            yield number
        raise ValueError("the fifth")

    taken = []
    with pytest.raises(ValueError, match="the fifth"):
        for number in ahead(items()):
            taken.append(number)
            assert len(made) <= len(taken) + 1
    assert taken == made == [0, 1, 2, 3]
