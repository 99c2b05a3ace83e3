"""The factor models of gs23, each as its source defines it: plain_mf, biased_mf, pmf, nmf, mmmf, bpr.

gs23 was run with Cornac, whose steps these are (``docs/model_families.md`` says where we differ, and what became of
the number of epochs). ``factors`` has other steps for the same kinds of loss, ``mf`` predicts ratings, ``svd`` is the
truncated decomposition, and ``wmf`` the weighted one.
"""

from __future__ import annotations

from unskew_papers.models.adam import AdamMF
from unskew_papers.models.bpr import BPR
from unskew_papers.models.factors import Factors, fit_all
from unskew_papers.models.mmmf import MMMF
from unskew_papers.models.nmf import NMF
from unskew_papers.models.plain_mf import BiasedMF, PlainMF
from unskew_papers.models.pmf import PMF

__all__ = ["BPR", "MMMF", "NMF", "PMF", "AdamMF", "BiasedMF", "Factors", "PlainMF", "fit_all"]
