"""What is said of folds: in plain words, with remedies that the kind of split has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from unskew.report.fold_warnings import untested


@pytest.mark.parametrize(
    ("where", "average", "remedy"),
    [
        ("sliding_window, email", "macro", "a longer window, or folds put together as pooled, may help."),
        ("sliding_window, email", "pooled", "a longer window may help."),
        ("leave_one_out", "macro", "a log of more users, or folds put together as pooled, may help."),
        ("holdout(share=0.2)", "pooled", "a larger share of the rows may help."),
        ("mine", "pooled", "larger test parts may help."),
    ],
)
def test_untested_ratios_have_a_remedy_that_the_split_has(where: str, average: str, remedy: str) -> None:
    """A leave-one-out has no window, and nothing speaks Python."""
    rows = [(where, SimpleNamespace(model=name, ratio_low=low)) for name, low in (("a", None), ("b", 0.5))]
    assert list(untested(rows, average)) == [
        f"{where}: no ratio of a is tested, since too few users carry its value; {remedy}"
    ]
