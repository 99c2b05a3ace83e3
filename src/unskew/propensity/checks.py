"""What checks on propensities give back: one record per propensity, and ways to look at several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.showing import Shown
from unskew.core.spec import find

if TYPE_CHECKING:
    from rich.console import RenderableType

SCHEMA_VERSION = 1
_NONE = "No propensity was checked: name some with propensities=[…]."
CLICKS_ONLY = (
    "This log holds positives only, so these checks see clicks, not exposure: reliability and balance cannot show that "
    "a propensity is right about what was shown"
)


@dataclass(frozen=True)
class Bin:
    """Pairs of one group: the mean P, the share that was seen, how many pairs they stand for.

    Where P is known of seen pairs only, ``predicted`` is their harmonic mean, n / Σ 1/P, which should be the share that
    was seen as well; ``error`` is the standard error of the difference.
    """

    predicted: float
    observed: float
    pairs: float
    error: float


@dataclass(frozen=True)
class Overlap:
    """Pairs with low ≤ P < high: how many seen ones, and how many unseen ones (``None`` where P is not known there)."""

    low: float
    high: float
    seen: int
    unseen: float | None


@dataclass(frozen=True, kw_only=True)
class Check:
    """What the checks say of one propensity; ``None`` or empty where they cannot be asked: ``unasked`` says why.

    Args:
        propensity, fitted: as it was asked for, and as it prints once fitted to the whole log.
        rows: seen pairs that have a propensity; the weights are theirs.
        dropped: seen pairs without one (``unsupported=drop``), left out everywhere.
        log_loss_constant, brier_constant: those of one constant for all pairs that have a propensity.
        certain: seen pairs whose P is 1, or was above 1 and was set to 1.
        max_weight_share, top_weight_share: of Σ 1/P, the share of the largest weight and of the largest ⌈1 %⌉.
        clips: share of the seen pairs that a clip there would raise.
        implied_pairs, pairs: Σ 1/P, where it should equal users × items, and that number.
        notes: what is off without doing harm to every estimate, and to which it does.
    """

    propensity: str
    fitted: str
    level: str
    rows: int
    dropped: int
    certain: int
    log_loss: float | None = None
    log_loss_constant: float
    brier: float | None = None
    brier_constant: float
    reliability: tuple[Bin, ...] = ()
    user_balance: tuple[Bin, ...] = ()
    item_balance: tuple[Bin, ...] = ()
    overlap: tuple[Overlap, ...]
    ess: float
    ess_share: float
    max_weight_share: float
    top_weight_share: float
    clips: Mapping[str, float]
    implied_pairs: float | None
    pairs: int
    unasked: tuple[Notice, ...] = ()
    notes: tuple[Notice, ...] = ()
    findings: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Unfit:
    """A propensity that cannot be had from this log, and why."""

    propensity: str
    reason: Notice


@dataclass(frozen=True)
class Checks(Shown):
    """The checks of several propensities on one log, and those that could not be checked.

    ``for c in checks`` goes through the checks, ``checks["popularity(gamma=1)"]`` is one of them.

    Args:
        positives: the log holds positives only, so that "seen" means clicked: agreement says nothing of exposure.
    """

    checks: tuple[Check, ...]
    refused: tuple[Unfit, ...] = ()
    positives: bool = False

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def table(self) -> pl.DataFrame:
        """One row per propensity."""
        keys = (
            "propensity", "fitted", "level", "rows", "log_loss", "log_loss_constant", "brier", "brier_constant", "ess",
            "ess_share", "max_weight_share", "top_weight_share", "implied_pairs",
        )  # fmt: skip
        rows = [{key: getattr(c, key) for key in keys} | {"findings": "; ".join(c.findings)} for c in self.checks]
        return pl.DataFrame(
            rows, schema_overrides={"log_loss": pl.Float64, "brier": pl.Float64, "implied_pairs": pl.Float64}
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; what cannot be asked is ``None`` or empty, and nothing is NaN."""
        return {"schema_version": SCHEMA_VERSION} | asdict(self)

    def to_html(self, path: str | Path, *, anonymous: bool = False) -> None:
        """Write one self-contained page with charts, ``anonymous`` without ids and names of files."""
        if not self:
            raise InputError(_NONE, code="no-propensity")
        super().to_html(path, anonymous=anonymous)

    def __getitem__(self, name: str) -> Check:
        from unskew.propensity import make

        found = {c.propensity: c for c in self.checks}
        return found[find("propensity", name, found, make)]

    def __rich__(self) -> RenderableType:
        return super().__rich__() if self else _NONE

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self else _NONE

    def __repr__(self) -> str:
        flagged = sum(bool(c.findings) for c in self.checks)
        return f"<Checks of {len(self.checks)} propensities, {flagged} flagged; .table(), .to_html()>"
