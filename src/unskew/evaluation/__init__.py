"""The main job, from a held-out log and lists to debiased estimates with a verdict: wiring, no formulas.

``run`` walks through the other files: ``question`` (what is asked, parsed), ``inputs`` (logs and lists from whatever
people have), ``align`` with ``rows``, ``lists`` and ``rules`` (one vocabulary, what is dropped), ``answer`` (from sums
to estimates and verdicts), ``segments`` (parts of users or interactions), ``cautions`` (what a reader should know).
"""

from __future__ import annotations

from unskew.evaluation.run import evaluate

__all__ = ["evaluate"]
