"""What would an unseen pair have yielded? Models of y for direct and doubly robust estimates.

make("logistic_mf(dim=10)").fit(log, propensity=p).of(pairs)        # in sample, as saito20
crossfit(make("means(shrink=10)"), log, folds=5).of(pairs)          # q of a pair from a model that has not seen it
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unskew.core.parts import Family
from unskew.log.log import Invalid
from unskew.outcome.base import Outcome, Rows
from unskew.outcome.crossfitting import Crossfit, crossfit
from unskew.outcome.given import Given
from unskew.outcome.means import Means

if TYPE_CHECKING:
    from unskew.outcome.census import Census
    from unskew.outcome.factored import Factored, Found, refuse_graded, with_rows
    from unskew.outcome.learned import Learned
    from unskew.outcome.logistic_mf import LogisticMF
    from unskew.outcome.recalibrated import EDGE, FEWEST, level_and_slope

__all__ = [
    "EDGE",
    "FEWEST",
    "Census",
    "Crossfit",
    "Factored",
    "Found",
    "Given",
    "Learned",
    "LogisticMF",
    "Means",
    "Outcome",
    "Rows",
    "crossfit",
    "level_and_slope",
    "make",
    "refuse_graded",
    "register",
    "with_rows",
]


FAMILY: Family[Outcome] = Family(
    "outcome",
    Outcome,
    __name__,
    {
        "census": "census:Census",
        "crossfit": "crossfitting:Crossfit",
        "given": "given:Given",
        "logistic_mf": "logistic_mf:LogisticMF",
        "means": "means:Means",
        "sklearn": "learned:Learned",
    },
    later=(
        "factored:Factored",
        "factored:Found",
        "factored:refuse_graded",
        "factored:with_rows",
        "recalibrated:EDGE",
        "recalibrated:FEWEST",
        "recalibrated:level_and_slope",
    ),
)
register, __dir__ = FAMILY.register, FAMILY.class_names
__getattr__ = FAMILY.attribute  # what needs scipy or scikit-learn is loaded when it is first used


def make(
    text: str | Outcome,
    *,
    columns: Mapping[str, str] | None = None,
    invalid: Invalid = "error",
    deferred: bool = False,
) -> Outcome:
    """The outcome model with this canonical string, such as ``means(shrink=10)``.

    Args:
        text: the string, or a model, which is given back as it is.
        columns, invalid, deferred: how and when the table of ``given(FILE)`` is read (see ``Given``).
    """
    return FAMILY.make(text, columns=columns, invalid=invalid, deferred=deferred)
