"""unskew: which recommender is really better, when the log only shows what the old one chose to show?

    import unskew as us

    train, test = us.split.holdout(us.read_log("clicks.parquet"), share=0.3, seed=0)
    result = us.evaluate(
        test,
        {"als": "als.parquet", "popular": us.models.MostPopular().fit(train)},
        metrics=["recall@10"],
        propensity="popularity(gamma=1)",  # if exposure explains all of popularity; "known" for a logged column
        train=train,
    )
    print(result)

Submodules and functions are loaded when they are first used, so that ``import unskew`` stays quick.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not from typing: until the command answers Ctrl-C, every import is a moment too long
if TYPE_CHECKING:
    from typing import Any

    from unskew import estimators, log, metrics, models, outcome, propensity, sampling, simulate, spark, split
    from unskew.auditing import Audit, audit
    from unskew.core.errors import InputError, MissingExtraError, RefusedError, UnskewError
    from unskew.cross_validation import CrossValidation
    from unskew.cross_validation.run import cross_validate
    from unskew.design import Plan
    from unskew.design.run import plan
    from unskew.evaluation import PropensityComparison, compare_propensities, evaluate
    from unskew.log import (
        Feedback,
        Log,
        Predictions,
        Recommendations,
        read_log,
        read_predictions,
        read_recommendations,
    )
    from unskew.log.datasets import load
    from unskew.protocols import PolicyImpact, ProtocolComparison, compare_protocols, policy_impact
    from unskew.result import Result
    from unskew.sampling import sample

__version__ = "0.1.0"

_ROOMS = ("estimators", "log", "metrics", "models", "outcome", "propensity", "sampling", "simulate", "spark", "split")
_NAMES = {
    "auditing": ("Audit", "audit"),
    "cross_validation": ("CrossValidation",),
    "cross_validation.run": ("cross_validate",),
    "design": ("Plan",),
    "design.run": ("plan",),
    "core.errors": ("InputError", "MissingExtraError", "RefusedError", "UnskewError"),
    "evaluation": ("PropensityComparison", "compare_propensities", "evaluate"),
    "log": ("Feedback", "Log", "Predictions", "Recommendations", "read_predictions", "read_recommendations"),
    "log.interactions": ("read_log",),
    "log.datasets": ("load",),
    "protocols": ("PolicyImpact", "ProtocolComparison", "compare_protocols", "policy_impact"),
    "result": ("Result",),
    "sampling": ("sample",),
}

__all__ = [
    "Audit",
    "CrossValidation",
    "Feedback",
    "InputError",
    "Log",
    "MissingExtraError",
    "Plan",
    "PolicyImpact",
    "Predictions",
    "PropensityComparison",
    "ProtocolComparison",
    "Recommendations",
    "RefusedError",
    "Result",
    "UnskewError",
    "audit",
    "compare_propensities",
    "compare_protocols",
    "cross_validate",
    "estimators",
    "evaluate",
    "load",
    "log",
    "metrics",
    "models",
    "outcome",
    "plan",
    "policy_impact",
    "propensity",
    "read_log",
    "read_predictions",
    "read_recommendations",
    "sample",
    "sampling",
    "simulate",
    "spark",
    "split",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"unskew.{name}")
    for room, names in _NAMES.items():
        if name in names:
            value = getattr(import_module(f"unskew.{room}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'unskew' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
