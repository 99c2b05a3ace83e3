"""What the policy that wrote a log does to the answer: values, ratios and rankings by policy, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core.showing import ShownTable
from unskew.core.text import storable
from unskew.cross_validation import CrossValidation
from unskew.protocols.comparison import MissingProtocol
from unskew.protocols.family import Kind
from unskew.protocols.policy_parts import PolicyGroup
from unskew.result import frame_of, plain

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class PolicyValue:
    """One model on the part of one policy; ratios to the best as in ``ProtocolValue``, for all policies together."""

    split: str
    policy: str
    model: str
    metric: str
    estimator: str
    target: str
    value: float
    low: float
    high: float
    rank: int | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    folds: int


@dataclass(frozen=True)
class PolicyDifference:
    """One ratio between policies, with an interval that holds for all of them together; ``differs`` if 1 is outside.

    ``kind`` says which: ``value``, model by policy over the same by the other; ``ratio``, model over against by policy,
    over the same by the other; ``favour``, model over the geometric mean of all others by policy, over the same by all
    other policies (their geometric mean).
    """

    split: str
    metric: str
    estimator: str
    target: str
    kind: str
    policy: str
    other: str | None
    model: str
    against: str | None
    ratio: float | None
    low: float | None
    high: float | None
    p_adjusted: float
    differs: bool


@dataclass(frozen=True)
class PolicyRanking:
    """Kendall's τ between the rankings of two policies, with all that the data leaves open (``family.py``)."""

    split: str
    metric: str
    estimator: str
    target: str
    policy: str
    other: str
    tau: float
    tau_low: float
    tau_high: float
    pairs: int
    agree: int
    reversed: int
    open: int


@dataclass(frozen=True)
class Correction:
    """How a policy's favour for a model changes when rows are weighed by propensities.

    ``naive`` and ``corrected`` are favours, as in ``PolicyDifference``. ``goes_away`` is naive over corrected, with an
    interval for all corrections together; ``change`` is ``smaller`` or ``larger`` if the corrected favour is decidedly
    nearer to 1 or farther from it, else ``open``.
    """

    split: str
    metric: str
    target: str
    estimator: str
    policy: str
    model: str
    naive: float | None
    naive_differs: bool
    corrected: float | None
    corrected_differs: bool
    goes_away: float | None
    low: float | None
    high: float | None
    change: str


@dataclass(frozen=True)
class PolicyImpact(ShownTable):
    """The same models on the part of a log that each policy wrote.

    Args:
        source: the log.
        groups: users and rows of every policy; ``shared_users`` with rows of several are left out of all of them.
        results: the cross-validation of every split and policy.
        level: of all tests together, over all splits.
        refits: how many fits on halves of the users there were; 0: fitted models are taken as given.
        values_, differences_, rankings_, corrections_: records.
        missing: what a split cannot give.
    """

    source: str
    groups: tuple[PolicyGroup, ...]
    shared_users: int
    shared_rows: int
    results: Mapping[str, Mapping[str, CrossValidation]]
    average: str
    level: float
    equal: bool
    refits: int
    values_: tuple[PolicyValue, ...]
    differences_: tuple[PolicyDifference, ...]
    rankings_: tuple[PolicyRanking, ...]
    corrections_: tuple[Correction, ...]
    missing: tuple[MissingProtocol, ...] = ()

    def table(self) -> pl.DataFrame:
        """One row per split, policy, model, metric, estimator and target."""
        return frame_of(self.values_, PolicyValue)

    def differences(self, kind: str | None = None) -> pl.DataFrame:
        """Tests between policies, all or those of one kind: ``value``, ``ratio`` or ``favour``."""
        return frame_of([d for d in self.differences_ if kind is None or d.kind == kind], PolicyDifference)

    def rankings(self) -> pl.DataFrame:
        """Kendall's τ between the rankings of every two policies."""
        return frame_of(self.rankings_, PolicyRanking)

    def favours(self) -> pl.DataFrame:
        """The models that a policy treats better, or worse, than the other policies do."""
        return self.differences(Kind.FAVOUR)

    def corrections(self) -> pl.DataFrame:
        """How much of every favour goes away when rows are weighed by propensities."""
        return frame_of(self.corrections_, Correction)

    @property
    def differ(self) -> bool:
        """Whether any test finds policies to differ."""
        return any(d.differs for d in self.differences_) or any(r.reversed for r in self.rankings_)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; numbers that do not exist are ``None``."""
        records: dict[str, tuple[Any, ...]] = {
            "policies": self.groups,
            "values": self.values_,
            "differences": self.differences_,
            "rankings": self.rankings_,
            "corrections": self.corrections_,
            "missing": self.missing,
        }
        told = ("source", "shared_users", "shared_rows", "average", "level", "equal", "refits")
        return {
            "schema_version": SCHEMA_VERSION,
            **{name: plain(getattr(self, name)) for name in told},
            **{name: [plain(asdict(row)) for row in rows] for name, rows in records.items()},
            "results": {
                storable(split): {storable(policy): cv.to_dict() for policy, cv in found.items()}
                for split, found in self.results.items()
            },
        }

    def _made_from(self) -> list[Path]:
        return [Path(self.source)]

    def __repr__(self) -> str:
        found = sum(d.differs for d in self.differences_)
        return (
            f"<PolicyImpact {len(self.groups)} policies, {found} of {len(self.differences_)} ratios differ; .table(), "
            ".differences(), .favours(), .rankings(), .corrections(), .to_html()>"
        )
