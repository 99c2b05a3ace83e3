"""What is said of folds: in plain words, with remedies that the kind of split has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.said import only
from unskew.report.fold_warnings import untested


@pytest.mark.parametrize("average", ["macro", "pooled"])
def test_untested_ratios_have_a_remedy_that_the_split_has(average: str) -> None:
    """A leave-one-out has no window, and folds that are pooled already need no pooling."""
    remedies = set()
    for where in ("sliding_window, email", "leave_one_out", "holdout(share=0.2)", "mine"):
        rows = [(where, SimpleNamespace(model=name, ratio_low=low)) for name, low in (("a", None), ("b", 0.5))]
        (said,) = untested(rows, average)
        found = only("few-users", [said], models=["a"])
        assert where in said and ("pooled" in said) == (average == "macro")
        remedies.add(found.fields["larger"])
    assert len(remedies) == 4
