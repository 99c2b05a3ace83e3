"""Propensities whose training log exceeds memory: ``counted(naive_bayes, train=train, mcar=mcar.parquet)``.

The inner propensity, ``popularity`` or ``naive_bayes``, needs only counts of its training log, and these are taken from
files that are never held in memory (``counting.py``). It is ready at once, so that an evaluation does not need the
training log; what the users of the test log have seen in training is then not known to it, either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

from unskew.core.errors import InputError
from unskew.core.spec import Spec, show, take
from unskew.log import Ids, Log
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Level, Propensity, Scored, TrainingFiles


@dataclass(frozen=True)
class Counted(Propensity):
    """A propensity that was counted from files.

    Args:
        told: which files were counted, and how, as it was told.
    """

    inner: Propensity
    told: Mapping[str, object] = field(default_factory=dict)

    name = "counted"
    estimated = True
    refits = False  # files have no users whose weight could change
    assumption, level = "", Level.RELATIVE  # those of the inner propensity

    def __post_init__(self) -> None:
        for trait in ("name", "reads", "ignores_activity", "assumption", "level"):  # to others it is what it wraps
            object.__setattr__(self, trait, getattr(self.inner, trait))

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Refused: files have no users whose weight could change."""
        raise InputError(
            f"'{self}' was counted from files, which cannot be counted again for other users: intervals with "
            f"refit=True need the training log in memory. Give train=… and propensity='{self.inner}', or leave "
            "refit=True out.",
            code="no-training-log",
        )

    def counted_over(self, users: Ids, items: Ids) -> Self:
        """The inner propensity for this population and catalogue."""
        return replace(self, inner=self.inner.counted_over(users, items))

    def supported_only(self) -> Self | None:
        """The same around the inner one."""
        inner = self.inner.supported_only()
        return None if inner is None else replace(self, inner=inner)

    def doubts(self, log: Log) -> list[str]:
        """Those of the inner propensity."""
        return self.inner.doubts(log)

    def doubted(self, log: Log) -> Floats | None:
        """Of the inner propensity."""
        return self.inner.doubted(log)

    def doubts_of(self, sums: Floats | None) -> list[str]:
        """Of the inner propensity."""
        return self.inner.doubts_of(sums)

    @property
    def by_parts(self) -> bool:  # type: ignore[override]
        """Counts of values would have to know all users at once."""
        return self.inner.name == "popularity"

    def of(self, log: Log) -> Scored:
        """The inner propensity of every row."""
        return self.inner.of(log)

    def of_items(self, items: Ids) -> Floats | None:
        """The inner propensity of every item."""
        return self.inner.of_items(items)

    @classmethod
    def of_spec(cls, spec: Spec, **context: Any) -> Counted:
        """``counted(naive_bayes, train=FILES, mcar=FILES)``: the files are counted at once."""
        given = take(spec, ("inner",), inner=object, train=str, mcar=str, above=float, user=str, item=str, value=str)
        if "inner" not in given or "train" not in given:
            raise InputError(
                "'counted' wraps another propensity and names the files of its training log: "
                "counted(naive_bayes, train=train, mcar=mcar.parquet).",
                code="missing-argument",
                option="train",
            )
        from unskew.propensity import make

        columns: dict[str, str] = {name: given.pop(name) for name in ("user", "item", "value") if name in given}
        try:
            return from_files(make(str(given.pop("inner"))), given.pop("train"), columns=columns, **given)
        except InputError as problem:
            if "columns=" not in str(problem):
                raise
            raise InputError(
                f"{problem}\nFor counted(…) say it inside: counted(…, value=stars).", code="conflicting-arguments"
            ) from problem

    def __str__(self) -> str:
        told = "".join(f", {key}={show(value)}" for key, value in self.told.items())
        return f"counted({self.inner}{told})"


def from_files(
    inner: Propensity,
    train: str | PathLike[str],
    *,
    mcar: str | PathLike[str] | Log | None = None,
    columns: Mapping[str, str] | None = None,
    above: float | None = None,
) -> Counted:
    """Count a training log that exceeds memory; popularity and naive_bayes can be fitted so.

    Args:
        inner: what to fit.
        train, mcar, columns, above: as in ``TrainingFiles``; ``mcar`` is for naive_bayes, ``above`` for popularity.
    """
    told: dict[str, object] = {"train": str(train)}
    told |= {} if mcar is None else {"mcar": mcar.account.source if isinstance(mcar, Log) else str(mcar)}
    told |= {} if above is None else {"above": above}
    told |= columns or {}
    return Counted(inner.from_files(TrainingFiles(train, mcar, columns, above)), told)
