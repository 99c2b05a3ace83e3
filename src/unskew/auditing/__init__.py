"""What kind of log is this, and what can be estimated from it? Counts and sentences; nothing is drawn here.

``run`` reads a log, ``spark`` DataFrames; ``walk`` takes all looks, by questions to parts of the users (``looks``,
``order``, ``tally``). They are ``spread`` (long tails, posteriors against uniform), ``powerlaw`` (the popularity
exponent), ``values`` and ``contrast`` (values, and how they differ from those of an MCAR log), ``times`` (periods and
drift), ``policies``, ``weights`` (propensities, and the effective sample size to expect), ``widths`` (what weighting
does to intervals), ``support`` (which estimators and targets). ``opening`` (how skewed it is), ``findings`` and
``advice`` (what to do) say it in plain words. ``record`` holds the answer.
"""

from __future__ import annotations

from unskew.auditing.advice import Advice
from unskew.auditing.record import Audit
from unskew.auditing.row_findings import Finding
from unskew.auditing.run import audit
from unskew.auditing.support import Support

__all__ = ["Advice", "Audit", "Finding", "Support", "audit"]
