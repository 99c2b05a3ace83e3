"""The house may only become smaller: ``tests/budget.toml`` is a ratchet that ``python -m tests.budget`` lowers."""

from __future__ import annotations

import pytest

from tests.budget import SLACK, budget, measured, tokens

NOW = measured()
SIZES = [(tree, name) for tree, sizes in NOW.items() for name in sizes]


@pytest.mark.parametrize(("tree", "name"), SIZES, ids=" ".join)
def test_nothing_grows(tree: str, name: str) -> None:
    """Lines, files and tokens of every tree, marks that silence lint, names per door."""
    allowed = budget()[tree][name]
    assert NOW[tree][name] <= allowed, f"{name} of {tree}: {NOW[tree][name]:,}, {allowed:,} allowed; delete something"
    lowest = NOW[tree][name] * (1 + SLACK) + 1
    assert allowed <= lowest, f"{name} of {tree}: lower the budget by `python -m tests.budget`"


def test_what_counts_as_a_token() -> None:
    """Code does; comments, docstrings and layout do not."""
    bare = "def f(x: int) -> int:\n    return x\n"
    told = '"""A module."""\n\n\n# why\ndef f(x: int) -> int:\n    """What."""\n    return x  # so\n'
    assert tokens(bare) == tokens(told) == 12
    assert tokens(bare + 'NAME = "text"\n') == 15
