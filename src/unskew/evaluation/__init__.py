"""The main job, from a held-out log and lists to debiased estimates with a verdict: wiring, no formulas.

``run`` shows the whole walk: a ``request`` is ``read``, coded and aligned (the room ``alignment``), with
``fit_propensity`` in between, then planned (``planning``), given its outcome model (``fit_outcome``), measured,
answered, and worded by the rules in ``warnings``. ``compare`` asks the same under several propensities, and
``comparison`` says how far the answers move.
"""

from __future__ import annotations

from unskew.evaluation.compare import compare_propensities
from unskew.evaluation.comparison import PropensityComparison
from unskew.evaluation.estimate import Estimates, estimate
from unskew.evaluation.request import MOST_PARTS, Request, check_models, parsed_metrics, parsed_targets
from unskew.evaluation.run import evaluate

__all__ = [
    "MOST_PARTS",
    "Estimates",
    "PropensityComparison",
    "Request",
    "check_models",
    "compare_propensities",
    "estimate",
    "evaluate",
    "parsed_metrics",
    "parsed_targets",
]
