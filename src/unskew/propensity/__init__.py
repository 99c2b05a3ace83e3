"""How likely was each interaction to be seen? Known propensities, estimated ones, or uniform (only when asked for)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.core.parts import Family
from unskew.propensity.base import NO_INPUTS, FitInputs, IdColumn, Level, Propensity, Scope, Scored, part_propensity
from unskew.propensity.known import Known
from unskew.propensity.popularity import Popularity
from unskew.propensity.uniform import Uniform

if TYPE_CHECKING:
    from unskew.propensity.calibrated import Calibrated
    from unskew.propensity.checking import check
    from unskew.propensity.checks import Check, Checks
    from unskew.propensity.counted import Counted, from_files
    from unskew.propensity.counting import ValueCounts, count_items, count_values
    from unskew.propensity.crossfit import crossfitted, folds_of, unseen_pairs
    from unskew.propensity.logistic import Logistic
    from unskew.propensity.logistic_mf import LogisticMF
    from unskew.propensity.naive_bayes import NaiveBayes

__all__ = [
    "NO_INPUTS",
    "Calibrated",
    "Check",
    "Checks",
    "Counted",
    "FitInputs",
    "IdColumn",
    "Known",
    "Level",
    "Logistic",
    "LogisticMF",
    "NaiveBayes",
    "Popularity",
    "Propensity",
    "Scope",
    "Scored",
    "Uniform",
    "ValueCounts",
    "check",
    "count_items",
    "count_values",
    "crossfitted",
    "folds_of",
    "from_files",
    "make",
    "part_propensity",
    "register",
    "unseen_pairs",
]


FAMILY: Family[Propensity] = Family(
    "propensity",
    Propensity,
    __name__,
    {
        "calibrated": "calibrated:Calibrated",
        "counted": "counted:Counted",
        "known": "known:Known",
        "logistic": "logistic:Logistic",
        "logistic_mf": "logistic_mf:LogisticMF",
        "naive_bayes": "naive_bayes:NaiveBayes",
        "popularity": "popularity:Popularity",
        "uniform": "uniform:Uniform",
    },
    later=(
        "checks:Check",
        "checks:Checks",
        "checking:check",
        "counted:from_files",
        "counting:ValueCounts",
        "counting:count_items",
        "counting:count_values",
        "crossfit:crossfitted",
        "crossfit:folds_of",
        "crossfit:unseen_pairs",
    ),
)
register, make = FAMILY.register, FAMILY.make  # make: the propensity with this canonical string, popularity(gamma=1)
# What needs scipy is loaded when it is first used: an evaluation without it should not wait for it.
__dir__, __getattr__ = FAMILY.class_names, FAMILY.attribute
