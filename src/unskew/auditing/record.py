"""What an audit gives back: plain numbers, findings in plain words, and ways to look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unskew.auditing.advice import Advice
from unskew.auditing.contrast import Contrast
from unskew.auditing.places import Places
from unskew.auditing.policies import Policies
from unskew.auditing.powerlaw import PowerLaw
from unskew.auditing.row_findings import Finding
from unskew.auditing.spread import Spread
from unskew.auditing.support import Support
from unskew.auditing.times import Time
from unskew.auditing.values import Values
from unskew.auditing.weights import Expected, Propensities
from unskew.auditing.widths import Width
from unskew.core.showing import Shown
from unskew.propensity.checks import Checks

SCHEMA_VERSION = 2
_UNCHECKED = Checks(())


@dataclass(frozen=True)
class Size:
    """How large the log is.

    Args:
        read: rows of the input.
        dropped: rows left out, by reason.
        duplicates: rows that repeat a pair; only one row of each pair is kept.
        rows: what is left: distinct pairs.
        users, items: those that have a row.
        silent_users, unseen_items: those that the log knows of but that have no row in it (the log is a part).
        density: rows / (users × items).
        notes: what the reader had to say.
    """

    read: int
    dropped: Mapping[str, int]
    duplicates: int
    rows: int
    users: int
    items: int
    silent_users: int
    unseen_items: int
    density: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Audit(Shown):
    """What kind of log this is, and what can be estimated from it.

    Args:
        source: the log's name.
        feedback: what a row says; ``None`` where there are values and nobody said what they mean.
        relevant: the threshold on values, if one was given.
        size: rows, users, items, density, what was dropped.
        users, items: how rows are spread over users and over items.
        dependence: bits by which the posterior of a pair differs from the product of both posteriors.
        exponent: the popularity exponent; ``None`` where too few items make a tail.
        values: ``None`` without values.
        mcar: the comparison with an MCAR log, if one was given.
        time, policies, propensity: ``None`` where the log has no such column.
        places: where on the page items were shown; ``None`` where the log does not say so, or has one place only.
        expected: effective sample sizes to expect on a random hold-out.
        widths: what weighting does to the standard errors of two lists there.
        supports: which estimators and targets this log supports.
        opening: how skewed the log is, and what that means for evaluating on it, in one or two sentences.
        skew: ``hardly``, ``moderately`` or ``heavily``: over items, against chance.
        findings: what all this means for evaluation.
        advice: what to do, with commands that ``unskew evaluate`` accepts.
        checks: the propensities that were asked about, checked on held-out pairs; empty if none was (null in JSON).
    """

    source: str
    feedback: str | None
    relevant: str | None
    size: Size
    users: Spread
    items: Spread
    dependence: float
    exponent: PowerLaw | None
    values: Values | None
    mcar: Contrast | None
    time: Time | None
    policies: Policies | None
    places: Places | None
    propensity: Propensities | None
    expected: tuple[Expected, ...]
    widths: tuple[Width, ...]
    supports: tuple[Support, ...]
    opening: str = ""
    skew: str = ""
    findings: tuple[Finding, ...] = ()
    advice: tuple[Advice, ...] = ()
    checks: Checks = _UNCHECKED

    @property
    def positives(self) -> bool:
        """Whether the log holds positives only, said or not: conversions without a zero are clicks."""
        if self.feedback != "conversions":
            return self.feedback == "implicit"
        return self.relevant is None and self.values is not None and not self.values.zeros

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; what does not exist is ``None``, and nothing is NaN."""
        return {"schema_version": SCHEMA_VERSION} | asdict(self) | ({} if self.checks else {"checks": None})

    def _made_from(self) -> list[Path]:
        return [Path(self.source)]

    def __repr__(self) -> str:
        size = self.size
        warnings = sum(finding.level == "warning" for finding in self.findings)
        return (
            f"<Audit {size.rows:,} rows, {size.users:,} users, {size.items:,} items, {self.skew} skewed, {warnings} "
            "warnings; .opening, .findings, .advice, .supports, .to_html()>"
        )
