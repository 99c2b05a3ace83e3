"""The main job, from a held-out log and lists to debiased estimates with a verdict: wiring, no formulas.

``run`` walks through the other files: ``question`` (what is asked, parsed), ``inputs`` (logs and lists from whatever
people have), ``align`` with ``rows``, ``lists`` and ``rules`` (one vocabulary, what is dropped), ``measure`` (sums, and
what checks need besides), ``cell_comparisons`` (each pair of models against all checks), ``answer`` (the rows),
``segments`` (parts of users or interactions), ``cautions`` (what a reader should know).
``compare`` asks the same under several propensities, and ``comparison`` says how far the answers move.
"""

from __future__ import annotations

from unskew.evaluation.compare import compare_propensities
from unskew.evaluation.comparison import PropensityComparison
from unskew.evaluation.run import evaluate

__all__ = ["PropensityComparison", "compare_propensities", "evaluate"]
