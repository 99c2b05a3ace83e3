"""Recorded results hold: estimates to 1e-9, judgements apart. ``__init__`` says how to record anew."""

from __future__ import annotations

import pytest

from tests.golden import records
from tests.golden.calls import THEMES, run


@pytest.mark.parametrize(("theme", "name"), [(theme, name) for theme, calls in THEMES.items() for name in calls])
def test_a_call_gives_what_was_recorded(theme: str, name: str) -> None:
    """Values, weights, counts and codes; intervals, p-values, words and tipping points."""
    found = records.plain(run(THEMES[theme][name]))
    lines = [
        line
        for kind in records.KINDS
        for line in records.differences(records.recorded(kind, theme)[name], found[kind], f"/{kind}")
    ]
    assert not lines, "\n".join(lines[:10])


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_is_recorded_twice_or_in_vain(theme: str) -> None:
    """Records and calls have the same names."""
    assert all(set(records.recorded(kind, theme)) == set(THEMES[theme]) for kind in records.KINDS)
